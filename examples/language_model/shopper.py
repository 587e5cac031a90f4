"""The teacher in WebShop: it words what is wanted as listings do, and reads pages for it.

It plays by the rules of the environment itself, and judges a product by what its pages say. Its
thoughts name a thing before they decide about it, and what is wanted before a search, behind what
the instruction calls it where that differs. A price and its bound are written with as many digits,
and compared digit by digit, down to the first that differ, since a small model compares what stands
side by side only; each value is looked up as soon as a product is open:

    think: tights is leggings; dries fast is moisture wicking. leggings: moisture wicking;
        xx-large, short; below 60.
    think: B02JXPWRSL: no leggings.
        B02MBQ5NM0: yoga pants. 023.95 against 060: 0 0, 2 6, below. moisture wicking: to check.
    think: xx-large: size. short: in the title. To check: moisture wicking.
    think: moisture wicking: yes. All is here.

After a look it says what is left to check, or that all is here; after a wrong product, where it
goes on:

    think: After B02MBQ5NM0: B01QM4P2WT: leggings. 070.00 against 060: 0 0, 7 6, above.
        B07TN2KD5V: no title.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from dialogue import Branch
from teacher import FAILED, Teacher, compared

from textcraft_gym.agents.games.webshop.game_profile import PROFILE
from textcraft_gym.agents.games.webshop.pages import (
    ASIN,
    INVALID,
    Listing,
    read_item,
    read_listings,
)
from textcraft_gym.envs.webshop import rules
from textcraft_gym.envs.webshop.actions import click
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.product_templates import (
    ProductTemplate,
    attributes,
    choices,
    product_templates,
)
from textcraft_gym.envs.webshop.rules import BUY, NEXT, PREVIOUS, World, read
from textcraft_gym.envs.webshop.state import State, Transition

PRODUCTS = 6
"""Number of products that a search is worth."""
DETAILS = ("features", "description")
"""The pages that say more of a product."""
SLIP_CHANCE = 0.08
"""Chance of a mistake at a click on a product or a value."""


LONG_THOUGHT, VERDICTS = 260, 2
"""Characters and verdicts that a thought has at most: agents cut off at 100 tokens."""


_BETWEEN_PARTS = re.compile(r", | \(| - | \| ")


class Wish(NamedTuple):
    """What a customer wants, in the words of listings.

    Attributes:
        kinds: The names of such goods in titles, the usual one first.
        attributes: The attributes that are wanted.
        values: The values of options that are wanted: to choose, or in the title of the goods.
        most: The highest price, in dollars.
        meanings: What words of the instruction mean, where listings have others.
    """

    kinds: tuple[str, ...]
    attributes: tuple[str, ...]
    values: tuple[str, ...]
    most: float
    meanings: tuple[str, ...] = ()

    @classmethod
    def of(cls, goal: Goal) -> Wish:
        """Return the wish behind an instruction."""
        kinds = tuple(name.lower() for name in _templates()[goal.product.query].names)
        values = [*option_values(goal), *title_values(goal)]
        values.sort(key=goal.instruction.lower().find)
        return cls(kinds, goal.attributes, tuple(values), goal.price_upper, tuple(meanings(goal)))

    def __str__(self) -> str:
        parts = [f"{self.kinds[0]}: {', '.join(self.attributes)}", self.options]
        if not math.isinf(self.most):
            parts.append(f"below {dollars(self.most)}")
        return "; ".join(parts)

    @property
    def understood(self) -> str:
        """What is wanted, behind what the instruction calls it."""
        whole = f"{'; '.join(self.meanings)}. {self}."
        return whole if self.meanings and len(whole) < LONG_THOUGHT else f"{self}."

    @property
    def options(self) -> str:
        """The values as a step names them."""
        return ", ".join(self.values) or "no option"

    @property
    def words(self) -> str:
        """The words to search for."""
        return " ".join((self.kinds[0], *self.attributes, *self.values))

    def kind_of(self, title: str) -> str:
        """Return the name of the goods in a title, the longest one; empty for other goods."""
        named = [kind for kind in self.kinds if plain(kind) in plain(title)]
        return max(named, key=len, default="")

    def unsaid(self, text: str) -> list[str]:
        """Return the wanted attributes that a text does not name."""
        return [name for name in self.attributes if not _says(plain(text), name)]

    def lacking(self, title: str, offered: Collection[str]) -> list[str]:
        """Return the wanted values that a product neither offers nor has in its title."""
        named = title_parts(title)
        return [value for value in self.values if value not in offered and value not in named]

    def comparison(self, price: float) -> str:
        """Return a price against the highest one, digit by digit; empty if none is too high."""
        if math.isinf(self.most):
            return ""
        one, other = f"{price:06.2f}", f"{self.most:06.2f}"
        return f"{one} against {other.removesuffix('.00')}: {compared(one, other)}"

    def objection(self, listing: Listing) -> str:
        """Return why a product is wrong, as its line of the results says; empty if it does not."""
        if not listing.title:
            return ""
        kind = self.kind_of(listing.title)
        if not kind:
            return f"no {self.kinds[0]}"
        return f"{kind}. {self.comparison(listing.price)}" if listing.price > self.most else ""

    def verdict(self, listing: Listing) -> str:
        """Return what the line of a product says for it or against it."""
        if not listing.title:
            return f"{listing.asin}: no title."
        objection = self.objection(listing)
        if objection:
            return f"{listing.asin}: {objection}."
        unsaid = self.unsaid(listing.title)
        said = [f"{name}: {'to check' if name in unsaid else 'yes'}" for name in self.attributes]
        parts = [self.kind_of(listing.title), self.comparison(listing.price), *said]
        return f"{listing.asin}: {'. '.join(filter(None, parts))}."


class Shopper(Teacher):
    """One dialogue of the teacher.

    Args:
        world: The shop and the goal.
        state: The state at the beginning.
        prompt: The prompt from the end of the situation on.
        wish: What is wanted.
        avoided: The products that an earlier trial bought.
        slips: Whether it makes mistakes.
        rng: Draws the mistakes.
    """

    profile, apply = PROFILE, staticmethod(rules.apply)
    game: World
    state: State

    def __init__(
        self,
        world: World,
        state: State,
        prompt: str,
        wish: Wish,
        *,
        avoided: Iterable[str] = (),
        slips: bool = True,
        rng: random.Random,
    ) -> None:
        super().__init__(world, state, prompt, rng=rng)
        self.wish = wish
        self.avoided = set(avoided)
        self.seen: set[str] = set()
        self.left = ""
        self.chance = SLIP_CHANCE if slips else 0.0

    # -- What is said and done

    @property
    def won(self) -> bool:
        """Whether the episode is over, by a purchase."""
        return self.state.page == "done"

    @property
    def page(self) -> str:
        """The page in view."""
        return read(self.game, Transition(self.state))

    def play(self, action: str, *, learnt: bool = True) -> str:
        """Play an action and return its answer; an invalid one spoils the dialogue."""
        answer = super().play(action, learnt=learnt)
        self.failed = self.failed or answer.startswith(INVALID)
        return answer

    def press(self, target: str, option: str = "") -> str:
        """Click a product or a value, sometimes after a click on what is no button."""
        if self.rng.random() < self.chance and self.mistake(_mistaken(target, option, self.rng)):
            self.think(f"The button is {target}.")
        return self.play(click(target))

    def mistake(self, target: str) -> bool:
        """Click an unlearnt button if it exists; return whether there is none."""
        _, answer, reason, _ = self.apply(self.game, self.state, click(target))
        if reason:
            self.turn(click(target), answer, learnt=False)
        return bool(reason)

    def branch(self, kind: str, agent: str = "adapt") -> Branch | None:
        """Return the dialogue; None also if what was bought is not all that is wanted."""
        if self.won and not self.answer.endswith(": 1.0"):
            return None
        return super().branch(kind, agent)

    # -- Tasks

    def shop(self, query: str) -> None:
        """Do the whole task, from the first page."""
        self.think(self.wish.understood)
        self.play(query)
        if self.find():
            self.buy()

    def find(self) -> bool:
        """Open the first result that has all that is wanted; return whether there is one.

        Where there is none among some products, it says that it failed.
        """
        verdicts, fitting = self.weigh(results(self.page))
        if fitting is None:
            return self.turn_page(verdicts)
        self.judge([*verdicts, self.wish.verdict(fitting)])
        return self.open(fitting) or self.find()

    def judge(self, verdicts: Sequence[str], *, end: str = "") -> None:
        """Think verdicts, a few at a time, after the product from which it came back."""
        for start in range(0, len(verdicts), VERDICTS):
            after = f"After {self.left}: " if self.left else ""
            self.left = ""
            thought = after + " ".join(verdicts[start : start + VERDICTS])
            if end and start + VERDICTS >= len(verdicts):
                self.end(f"think: {thought} {end}")
            else:
                self.think(thought)

    def weigh(self, listings: Sequence[Listing]) -> tuple[list[str], Listing | None]:
        """Return the verdicts on new products before the first that may be right, and that one."""
        wrong = []
        for listing in listings:
            if listing.asin in self.seen:
                continue
            if len(self.seen) >= PRODUCTS:
                break
            self.seen.add(listing.asin)
            if listing.asin in self.avoided:
                wrong.append(f"{listing.asin}: bought before.")
            elif self.wish.objection(listing):
                wrong.append(self.wish.verdict(listing))
            else:
                return wrong, listing
        return wrong, None

    def turn_page(self, wrong: Sequence[str]) -> bool:
        """Go on with the next page of results, or give up; return whether a product is found."""
        verdicts = [*wrong, "None fits."]
        if len(self.seen) >= PRODUCTS or f"[{NEXT}]" not in self.page.lower():
            self.judge(verdicts, end=FAILED)
            return False
        self.judge(verdicts)
        self.play(click(NEXT))
        return self.find()

    def open(self, listing: Listing) -> bool:
        """Open a product; return whether it has all that is wanted, else go back to the results."""
        self.seen.add(listing.asin)
        self.press(listing.asin)
        if self.has_all(listing):
            return True
        self.play(click(PREVIOUS))
        self.left = listing.asin
        return False

    def has_all(self, listing: Listing) -> bool:
        """Return whether the product in view has all that is wanted; its line may have no title."""
        if not listing.title and (item := read_item(self.page)):
            listing = listing._replace(title=item.title, price=item.price)
            self.think(self.wish.verdict(listing))
            if self.wish.objection(listing):
                return False
        hidden = self.wish.unsaid(listing.title)
        return self.offers(listing.title, hidden) and self.looks(hidden)

    def offers(self, title: str, hidden: Sequence[str]) -> bool:
        """Look up the wanted values in the product in view; return whether it has all of them."""
        missing = self.wish.lacking(title, self.options)
        if missing and self.rng.random() < 6 * self.chance:
            self.insist(missing[0])
        if missing:
            there = self.wish.values[: self.wish.values.index(missing[0])]
            self.think(" ".join([*self.places(there), f"{missing[0]}: not here."]))
        else:
            self.look_up(hidden)
        return not missing

    def look_up(self, hidden: Sequence[str] = ()) -> None:
        """Say where the wanted values are in the product in view, and what is left to check."""
        places = [*self.places(self.wish.values)] or ["No option is named."]
        self.think(" ".join([*places, remaining(hidden)]))

    def places(self, values: Iterable[str]) -> Iterator[str]:
        """Yield where each value is in the product in view, which has them all."""
        for value in values:
            yield f"{value}: {self.options.get(value, 'in the title')}."

    @property
    def options(self) -> dict[str, str]:
        """The option of each value of the product in view."""
        return self.game.shop.options(self.state.asin)

    def insist(self, value: str) -> None:
        """Take a value to be here and click it, some of the times again and again, all unlearnt."""
        option = self.rng.choice([*self.options.values(), "in the title"])
        self.think(f"{value}: {option}.", learnt=False)
        for again in range(self.rng.choice((1, 1, 2, 3))):
            if again:
                self.think(f"The button is {value}.", learnt=False)
            self.mistake(value)

    def looks(self, hidden: list[str]) -> bool:
        """Look into the product in view for attributes; return whether all are found."""
        for page in DETAILS:
            if not hidden:
                break
            missing = self.wish.unsaid(self.play(click(page)))
            answers = [f"{name}: {'no' if name in missing else 'yes'}." for name in hidden]
            hidden = [name for name in hidden if name in missing]
            is_last = hidden and page == DETAILS[-1]
            self.think(" ".join([*answers, "Not all is here." if is_last else remaining(hidden)]))
            self.play(click(PREVIOUS))
        return not hidden

    def choose(self) -> None:
        """Choose the values that are wanted, of the product in view; some stand in its title."""
        if self.wish.attributes and self.rng.random() < self.chance:
            name = self.rng.choice(self.wish.attributes)
            if self.mistake(name):
                self.think(f"{name} is no button.")
        for value in self.wish.values:
            if value in self.options:
                self.press(value, self.options[value])

    def buy(self) -> None:
        """Buy the product in view."""
        self.choose()
        self.play(click(BUY))

    def buy_in_view(self) -> None:
        """Look up the wanted values in the product in view, and buy it."""
        self.look_up()
        self.buy()

    def buy_found(self, listing: Listing) -> None:
        """Buy a product from the results, or another one if it lacks what is wanted."""
        self.think(f"{self.wish}.")
        if self.open(listing) or self.find():
            self.buy()


def remaining(hidden: Sequence[str]) -> str:
    """Return what of a product is left to check."""
    return f"To check: {', '.join(hidden)}." if hidden else "All is here."


def results(page: str) -> list[Listing]:
    """Return the products on a page of results, in order; some of them without a title."""
    listings = {listing.asin: listing for listing in read_listings(page)}
    asins = re.findall(rf"^\[({ASIN.pattern})\]", page, re.MULTILINE)
    return [listings.get(asin) or Listing(asin, "", 0.0) for asin in asins]


def dollars(bound: float) -> str:
    """Return a bound, which most often has no cents."""
    return f"{bound:.2f}".removesuffix(".00")


def option_values(goal: Goal) -> tuple[str, ...]:
    """Return the values of options that a goal names, in some goals each with its option."""
    return tuple(option if isinstance(option, str) else option[1] for option in goal.options)


def title_values(goal: Goal) -> Iterator[str]:
    """Yield what an instruction says of options that its product has in its title alone."""
    named = title_parts(goal.product.title)
    for option, choice in _templates()[goal.product.query].options:
        if option in goal.product.options:
            continue
        for value in choices()[choice].values:
            if value in named and _stands_in(value, goal.instruction.lower()):
                yield value


def title_parts(title: str) -> list[str]:
    """Return the parts of a title, of which the last ones may be values of options."""
    return [part.strip(" )") for part in _BETWEEN_PARTS.split(title.lower())]


def _stands_in(value: str, text: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text))


def meanings(goal: Goal) -> Iterator[str]:
    """Yield what each phrase of an instruction is called in listings, if it is called otherwise."""
    instruction = goal.instruction.lower()
    template = _templates()[goal.product.query]
    nouns = [phrase.noun.lower() for phrase in template.noun_phrases]
    kind = template.names[0].lower()
    noun = max((noun for noun in nouns if noun in instruction), key=len, default=kind)
    if plain(noun) != plain(kind):
        yield f"{noun} is {kind}"
    for name in goal.attributes:
        if plain(name) not in plain(instruction):
            phrase = _phrase(name, instruction)
            if phrase:
                yield f"{phrase} is {name}"


def _phrase(name: str, instruction: str) -> str:
    """Return how an instruction names an attribute: a clause without its verb, or an adjective."""
    attribute = attributes()[name]
    clauses = [clause.lower().partition(" ")[2] for clause in attribute.sentences]
    said = [*clauses, attribute.adjective.lower()]
    return max((form for form in said if form in instruction), key=len, default="")


def plain(text: str) -> str:
    """Return a text as it is compared: ``Non-Slip`` is what an instruction calls ``non slip``."""
    return text.lower().replace("-", " ")


def _says(text: str, attribute: str) -> bool:
    return any(plain(name) in text for name in (attribute, *attributes()[attribute].titles))


def _mistaken(target: str, option: str, rng: random.Random) -> str:
    """Return a target misread: with the name of its option, or without one character."""
    if option and rng.random() < 0.5:
        return f"{option} {target}"
    index = rng.randrange(len(target))
    return target[:index] + target[index + 1 :] or option


@lru_cache(maxsize=1)
def _templates() -> dict[str, ProductTemplate]:
    return {template.query: template for template in product_templates()}
