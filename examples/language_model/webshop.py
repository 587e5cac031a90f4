"""Training examples of WebShop-lite, in the short prompts that the agents send.

The shops are generated ones for training alone, with other products than the shop that agents are measured in. The
teacher knows which product is right, and says what can be seen of it: the words of its title that the instruction has,
and its price.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import dialogue
from dialogue import LONGEST, Branch, Example, completion, numbered
from teacher import COMPLETED, FAILED, Teacher

from textcraft_gym.agents.games.webshop.game_profile import PROFILE
from textcraft_gym.agents.games.webshop.pages import Listing, bound, content, query, read_listings, wanted
from textcraft_gym.agents.games.webshop.skills import FOUND
from textcraft_gym.envs.webshop import rules
from textcraft_gym.envs.webshop.actions import click, search
from textcraft_gym.envs.webshop.catalogue import Catalogue
from textcraft_gym.envs.webshop.expert import Expert
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.reward import has_attribute
from textcraft_gym.envs.webshop.rules import BUY, PREVIOUS, World, apply, read
from textcraft_gym.envs.webshop.state import START, Shop, State, Transition

TRAINING_SHOPS = range(1, 200)
"""Seeds of the shops for training; that of the registered environment is 0."""
SEARCH, OPEN, CHOOSE, PURCHASE = "search for", "open a product that fits", "choose the options", "buy the product"
"""The steps of a plan in full."""
DETAILS = ("features", "description")
"""The pages that say more of a product."""
BUY_STEP = "Buy[the options named]"


class TrainingShop:
    """A shop and the goals of its customers.

    Args:
        seed: Seed of the shop.
    """

    def __init__(self, seed: int) -> None:
        catalogue = Catalogue.load(seed=seed)
        self.shop = Shop(catalogue, mode="react")
        self.goals = list(catalogue.goals)


@lru_cache(maxsize=4)
def training_shop(seed: int) -> TrainingShop:
    """Return a shop for training."""
    return TrainingShop(seed)


class Shopper(Teacher):
    """One dialogue of the teacher."""

    profile, apply = PROFILE, staticmethod(rules.apply)
    state: State


class Situation(dialogue.Situation):
    """A customer in a shop, and the page of results of a search for all that the instruction names.

    Args:
        shop: The shop.
        goal: The customer's goal.

    Attributes:
        right: The right product on that page; None if there is none.
        plan_left: The teacher's actions there; empty if no product is right.
    """

    profile = PROFILE

    def __init__(self, shop: Shop, goal: Goal) -> None:
        self.world, self.goal = World(shop, goal), goal
        super().__init__(read(self.world, Transition(START)))
        self.wanted = wanted(goal.instruction)
        words = re.findall(r"[a-z0-9-]+", self.wanted)
        self.words = " ".join(dict.fromkeys(word for word in words if content(word)))
        self.results, page, _, _ = apply(self.world, START, search(self.words))
        self.page = page.strip()
        self.listings = read_listings(self.page)
        plan = Expert(shop, goal).plan(self.results) or []
        shown = {click(listing.asin.lower()): listing for listing in self.listings}
        self.right = shown.get(plan[0]) if plan else None
        self.plan_left = plan if self.right else []

    @classmethod
    def drawn(cls, rng: random.Random) -> Iterator[Situation]:
        """Yield customers without end."""
        while True:
            shop = training_shop(rng.choice(TRAINING_SHOPS))
            for goal in rng.sample(shop.goals, 40):  # a shop takes a moment to build
                yield cls(shop.shop, goal)

    def example(self, rng: random.Random) -> Example:
        """Return dialogues about the situation, or a question of the skills."""
        if self.right is None:
            branch = self.nothing_fits(rng)
            return Example(self.text, (branch,) if branch else ())
        if rng.random() < 0.3:
            return self.match(rng)
        kinds: list[Callable[[random.Random], Iterable[Branch | None]]] = [
            self.whole,
            self.buying,
            self.plans,
            self.steps,
            self.reflection,
        ]
        rng.shuffle(kinds)
        room = LONGEST - len(self.text)
        branches: list[Branch] = []
        for kind in kinds:
            for branch in kind(rng):
                if branch and len(branch.text) <= room:
                    room -= len(branch.text)
                    branches.append(branch)
        return Example(self.text, tuple(branches))

    # -- The executor -------------------------------------------------------------------------------------------------

    def whole(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield an episode, which ends with the purchase of the first product that is seen to fit, or may fit."""
        if not self.opens_right:
            return
        shopper = self.shopper(self.sentence, START, rng)
        shopper.play(query(self.words))
        shopper.think(self.evidence(self.known_right))
        shopper.play(self.plan_left[0])
        if not self.looks(shopper):
            return
        self.choose(shopper)
        shopper.play(click(BUY))
        yield shopper.branch("goal", "react")

    def buying(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield the step of ADaPT that buys a product: one that is found on the page of results, or is in view."""
        state, page = self.results, self.page
        in_view = rng.random() < 0.3
        if in_view:
            state, page, _, _ = apply(self.world, state, self.plan_left[0])
        shopper = self.shopper(BUY_STEP, state, rng, self.told(page, self.known_right.asin))
        if not in_view:
            shopper.play(self.plan_left[0])
        self.choose(shopper)
        shopper.play(click(BUY))
        yield shopper.branch("buy")

    def steps(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield one or two steps of a plan in full; the one that opens a product only if nothing speaks for another."""
        searching, opening, *others = self.all_steps(rng)
        made = [searching, *others, *[opening] * self.opens_right]
        yield from rng.sample(made, rng.choice((1, 2)))

    def nothing_fits(self, rng: random.Random) -> Branch | None:
        """Return the step that opens a product, where no title shows anything that is wanted at its price."""
        wanted = self.goal.attributes
        some = [
            one
            for one in self.listings
            if self.cheap(one) and any(_plain(each) in _plain(one.title) for each in wanted)
        ]
        if some or not wanted or not self.listings:
            return None
        shopper = self.shopper(OPEN, self.results, rng, self.told(self.page))
        shopper.end(f"think: No product in view shows any of it at its price. {FAILED}")
        return shopper.branch("step")

    def all_steps(self, rng: random.Random) -> list[Branch | None]:
        """Return the steps of a plan in full, each with what the one before left."""
        asin = self.known_right.asin
        searching = self.shopper(f"{SEARCH} {self.words}", START, rng)
        searching.play(query(self.words))
        searching.end(COMPLETED)
        opening = self.shopper(OPEN, searching.state, rng, self.told(self.page))
        opening.think(self.evidence(self.known_right))
        page = opening.play(self.plan_left[0])
        opening.end(COMPLETED)
        choosing = self.shopper(CHOOSE, opening.state, rng, self.told(page, asin))
        self.choose(choosing)
        choosing.end(COMPLETED)
        buying = self.shopper(PURCHASE, choosing.state, rng, self.told(page, asin))
        buying.play(click(BUY))
        return [shopper.branch("step") for shopper in (searching, opening, choosing, buying)]

    def looks(self, shopper: Shopper) -> bool:
        """Look into the product in view for what its title does not show; return whether all is found."""
        title = _plain(self.known_right.title)
        hidden = [attribute for attribute in self.goal.attributes if _plain(attribute) not in title]
        for page in DETAILS if hidden else ():
            seen = _plain(shopper.play(click(page)))
            found = [attribute for attribute in hidden if _plain(attribute) in seen]
            shopper.think(f"It is {', '.join(found)}." if found else f"{', '.join(hidden)} is not said here.")
            shopper.play(click(PREVIOUS))
            hidden = [attribute for attribute in hidden if attribute not in found]
            if not hidden:
                break
        return not hidden

    def choose(self, shopper: Shopper) -> None:
        """Choose the options that are wanted, in three tenths of the dialogues after a click on what is no button."""
        option_of = self.world.shop.options(shopper.state.asin)
        said = " ".join(f"{option_of[value]}: {value}." for value in self.values)
        shopper.think(said or "No option is named.")
        for value in self.values:
            if shopper.rng.random() < 0.15:
                wrong = click(f"{option_of[value]} {value}")
                _, answer, reason, _ = apply(self.world, shopper.state, wrong)
                if reason:
                    shopper.turn(wrong, answer, learnt=False)
                    shopper.think(f"The button is {value}.")
            shopper.play(click(value))

    # -- The planners -------------------------------------------------------------------------------------------------

    def plans(self, rng: random.Random) -> Iterator[Branch]:
        """Yield one or two of: the first plan of ADaPT, that after a failed SimpleMatch, and one in full."""
        made = [self.first_plan(), self.next_plan(), self.full_plan()]
        yield from rng.sample(made, rng.choice((1, 2)))

    def first_plan(self) -> Branch:
        """Return ADaPT's first plan."""
        return self.completion("plan", self.sentence, numbered([f"Search[{self.words}]", self.simple_match, BUY_STEP]))

    def next_plan(self) -> Branch:
        """Return the plan to look into the products in view, the likeliest first, or to search again."""
        told = f"{self.told(self.page)}\nWhat failed so far: {self.simple_match}"
        likely = [f"DetailMatch[{listing.asin}, {self.wanted}]" for listing in self.ranked()]
        fewer = " ".join(self.words.split()[:3])
        steps = [*likely, f"Search[{fewer}]", self.simple_match]
        labels = [f"Step {number}" for number in range(1, len(steps) + 1)]
        order = f"({' OR '.join([*labels[:-2], f'({labels[-2]} AND {labels[-1]})'])})"
        plan = f"{numbered(steps)}\nExecution Order: {order}"
        return self.completion("plan", self.simple_match, plan, information=told)

    def full_plan(self) -> Branch:
        """Return a plan in full."""
        return self.completion("full plan", self.sentence, self.full_steps())

    def full_steps(self) -> str:
        """Return the text of a plan in full."""
        return numbered([f"{SEARCH} {self.words}", OPEN, CHOOSE, PURCHASE])

    def reflection(self, rng: random.Random) -> Iterator[Branch]:
        """Yield what is learnt from a purchase of the right product without its options, or of another product."""
        shopper = self.shopper(self.sentence, START, rng)
        shopper.play(query(self.words))
        right = self.known_right.asin
        others = [listing.asin for listing in self.listings if not self.is_right(listing.asin)]
        if self.values and rng.random() < 0.6:
            bought, lesson = right, f"I bought {right}, but I did not choose {' and '.join(self.values)}."
        elif others:
            bought = rng.choice(others)
            lesson = f"I bought {bought}, and it was not right. {right} may be."
        else:
            return
        shopper.play(click(bought.lower()))
        shopper.play(click(BUY))
        learnt = f" {lesson} New plan:\n{self.full_steps()}"
        yield self.completion("reflection", self.sentence, learnt, transcript=shopper.transcript)

    # -- The skills ---------------------------------------------------------------------------------------------------

    def match(self, rng: random.Random) -> Example:
        """Return a question of SimpleMatch or DetailMatch, whose prompts begin with instructions."""
        if rng.random() < 0.5:
            return self.simple_question()
        return self.detail_question(rng.choice([self.known_right, *self.listings]).asin)

    def simple_question(self) -> Example:
        """Return SimpleMatch's question: a title shows every attribute that is wanted, or nothing is named."""
        prompt = self.template("simple_match").fill(situation=self.text, task=self.simple_match, information=self.page)
        answer = "The titles do not show all of it.\nnone"
        if self.shows_all(self.known_right):
            answer = f"{self.evidence(self.known_right)}\n{self.known_right.asin}"
        return _question(prompt, "simple match", answer)

    def detail_question(self, asin: str) -> Example:
        """Return DetailMatch's question about a product."""
        item, page, _, _ = apply(self.world, self.results, click(asin.lower()))
        _, features, _, _ = apply(self.world, item, click("features"))
        task = f"DetailMatch[{asin}, {self.wanted}]"
        seen = f"{page}\nFeatures:\n{features}"
        prompt = self.template("detail_match").fill(situation=self.text, task=task, information=seen)
        shown = [attribute for attribute in self.goal.attributes if _plain(attribute) in _plain(f"{page} {features}")]
        missing = [value for value in self.values if value not in self.world.shop.options(asin)]
        if self.is_right(asin):
            return _question(prompt, "detail match", f"Yes, {', '.join([*shown, *self.values]) or 'it fits'}.")
        product = self.world.shop.products[asin]
        missing += [attribute for attribute in self.goal.attributes if not has_attribute(product, attribute)]
        reasons = [f"no {one}" for one in missing]
        most, price = bound(self.goal.instruction), next(one.price for one in self.listings if one.asin == asin)
        reasons += [f"${price} is above {most:.2f}"] if price > most else []
        return _question(prompt, "detail match", f"No, {', '.join(reasons) or 'another kind'}.")

    # -- What is known ------------------------------------------------------------------------------------------------

    @property
    def known_right(self) -> Listing:
        """The right product on the page of results."""
        assert self.right  # noqa: S101
        return self.right

    @property
    def shown(self) -> Listing | None:
        """The first product in view whose title and price show all that is wanted; None if there is none."""
        return next(filter(self.shows_all, self.ranked()), None)

    @property
    def opens_right(self) -> bool:
        """Whether the first product that is seen to fit, or else the likeliest, is the right one."""
        return (self.shown or self.ranked()[0]) == self.right

    def shows_all(self, listing: Listing) -> bool:
        """Return whether the title and price of a product show all that is wanted."""
        title = _plain(listing.title)
        return self.cheap(listing) and all(_plain(attribute) in title for attribute in self.goal.attributes)

    def cheap(self, listing: Listing) -> bool:
        """Return whether a product costs no more than the instruction says."""
        return listing.price <= bound(self.goal.instruction)

    @property
    def values(self) -> list[str]:
        """The values of the options that are wanted."""
        return [action.removeprefix("click[").removesuffix("]") for action in self.plan_left[1:-1]]

    @property
    def simple_match(self) -> str:
        """The step that names the right product."""
        return f"SimpleMatch[{self.wanted}]"

    def is_right(self, asin: str) -> bool:
        """Return whether a product, with the right options, is worth the whole reward."""
        plan = Expert(self.world.shop, self.goal).plan(State("item", self.results.results, asin=asin)) or [PREVIOUS]
        return not any(PREVIOUS in action or "back to search" in action for action in plan)

    def ranked(self) -> list[Listing]:
        """Return the products in view that are cheap enough, those with most of the wanted words first."""
        words, most = content(self.wanted), bound(self.goal.instruction)
        cheap = [listing for listing in self.listings if listing.price <= most] or self.listings
        return sorted(cheap, key=lambda listing: -len(words & content(listing.title)))

    def evidence(self, listing: Listing) -> str:
        """Return what speaks for a product: the words of its title that are wanted, and its price."""
        words = content(self.wanted)
        title = re.findall(r"[a-z0-9-]+", listing.title.lower())
        shared = list(dict.fromkeys(word for word in title if content(word) & words))
        return f"{listing.asin}: {' '.join(shared)}. ${listing.price} is below {bound(self.goal.instruction):.2f}."

    def told(self, page: str, asin: str = "") -> str:
        """Return what a step reads of those before it."""
        return f"{FOUND}{asin}\nThe page in view:\n{page.strip()}" if asin else f"The page in view:\n{page.strip()}"

    def shopper(self, task: str, state: State, rng: random.Random, information: str = "") -> Shopper:
        """Return the teacher at the beginning of a task."""
        return Shopper(self.world, state, self.prompt(task, information), rng=rng)


def _plain(text: str) -> str:
    """Return a text as it is compared: ``Non-Slip`` is what an instruction calls ``non slip``."""
    return text.lower().replace("-", " ")


def _question(prompt: str, kind: str, answer: str) -> Example:
    """Return a question that no other dialogue shares the situation of."""
    head, mark, rest = prompt.partition("\n\nYour task is to: ")
    return Example(head, (completion(kind, mark + rest, answer),))


examples = Situation.examples
