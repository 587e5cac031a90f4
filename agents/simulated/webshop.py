"""The simulated model in WebShop; all its knowledge of the shop comes from the prompt.

It keeps in mind the clauses of the instruction and every product that it looked at, until it buys.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from textcraft_gym.agents.adapt.react import THOUGHT
from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.games.webshop.pages import (
    ASIN,
    INVALID,
    Item,
    Listing,
    bound,
    chosen,
    content,
    has_search,
    product_in_view,
    query,
    read_item,
    read_listings,
    wanted,
    wishes,
)
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.judging import judgement
from textcraft_gym.agents.simulated.reading import Reading
from textcraft_gym.agents.simulated.span import too_much

MARK = "WebShop"
PROGRESS = re.compile(r"\s*\[|You have clicked ")
"""Matches an observation after an action that changed something."""
ENOUGH = 0.4
"""Minimum share of the clauses' words that a product must match to be bought."""
LOOKS = 4
"""Maximum number of products of a page that it opens."""
HASTE = 0.2
"""Probability, in a draw, of each act without care: not to look at the features, to click any value of an option."""
WORDS = 8
"""Maximum number of words of a query."""

_TASK = "\n\nYour task is to: "
_INSTRUCTION = re.compile(rf"{MARK} *\nInstruction: *\n(.+)")
_STARTED = "I keep in mind"
_BUTTON = re.compile(r"\[([^\[\]\n]+)\]")
_TRIED = re.compile(r"I bought ([A-Z0-9]{10})")


def answer(prompt: str, reading: Reading) -> str:
    """Return the answer to a prompt."""
    before, _, after = prompt.rpartition(_TASK)
    head, *turns = after.split("\n> ")
    task, _, information = head.partition("\n")
    instructions = _INSTRUCTION.findall(before)
    if not instructions:
        return "task failed! I see no instruction."
    mind = Mind(instructions[-1].strip(), information, reading)
    mind.look_back(turns)
    match reading.question.cue:
        case Cue.TURN:
            return mind.turn(task)
        case Cue.SIMPLE_MATCH:
            return mind.simple_match()
        case Cue.DETAIL_MATCH:
            return mind.detail_match(information)
        case Cue.REFLECTION:
            return mind.reflect()
        case Cue.JUDGEMENT:
            return mind.judge()
        case _:
            return mind.plan(task, in_full=reading.question.in_full)


def names(prompt: str, answer: str) -> list[list[str]]:
    """Return the products and buttons of the page in view, the values of each option, and the instruction's words."""
    texts = [turn.partition("\n")[2] for turn in prompt.rpartition(_TASK)[2].split("\n> ")]
    page = next((text for text in reversed(texts) if "[" in text), "")
    item = read_item(page)
    options = list(item.options.values()) if item else []
    buttons = [button.lower() for button in _BUTTON.findall(page)]
    words = re.findall(r"[a-z0-9-]+", "".join(_INSTRUCTION.findall(prompt)[-1:]).lower())
    return [*options, [button for button in buttons if not any(button in values for values in options)], words]


class Mind:
    """The model's reading of one prompt: the clauses, the page in view, and the products looked at."""

    def __init__(self, instruction: str, information: str, reading: Reading) -> None:
        self.wanted = wanted(instruction)
        self.wishes = wishes(instruction)
        self.max_price = bound(instruction)
        self.span = reading.span
        self.draw = reading.rng.random() if reading.rng else None
        self.draws = reading.draws
        self.manual = reading.manual
        # Only who acts needs the commands.
        self.unseen = self.manual.unseen(["search[", "click["]) if reading.question.cue is Cue.TURN else []
        self.started = False
        self.page = information.partition("The page in view:\n")[2]
        self.information = information
        self.turns: list[tuple[str, str]] = []
        self.texts: dict[str, str] = {}
        self.clicked: set[str] = set()
        self.avoided = set(_TRIED.findall(information))
        self.found = "".join(ASIN.findall(information.partition("Product found: ")[2].partition("\n")[0]))
        self.in_view = self.found if read_item(self.page) else ""

    def look_back(self, turns: Iterable[str]) -> None:
        """Read the transcript: the pages of each product, and the options chosen."""
        for turn in turns:
            action, _, observation = turn.partition("\n")
            thought = action.removeprefix(f"{THOUGHT} ")
            self.started = self.started or thought.startswith(_STARTED)
            if thought.startswith(_STARTED) or action.startswith(THOUGHT):
                continue
            self.turns.append((action, observation))
            if observation.startswith(("You have clicked ", INVALID)):
                self.clicked.add(action.removeprefix("click[").removesuffix("]"))
            elif has_search(observation):
                self.page, self.in_view = "", ""
            elif observation.lstrip().startswith("["):
                self.page = observation
                self.in_view = product_in_view(self.turns)
                if self.in_view:
                    self.texts[self.in_view] = f"{self.texts.get(self.in_view, '')}\n{observation}"
                else:
                    self.clicked = set()

    def turn(self, task: str) -> str:
        """Return the next line."""
        item, listings = read_item(self.page), read_listings(self.page)
        step = task.lower()
        if not self.started:
            things = self.things()
            return self.complaint() or f"{THOUGHT} {_STARTED} {', '.join(things)}: {len(things)}"
        if step.startswith("search"):
            if listings:
                return "Task completed!"
            return self._search(task.removeprefix("search for ")) or "task failed! Nothing is found."
        if step.startswith("open") and item:
            return "Task completed!"
        if item:
            return self._at(item, choose=step.startswith("choose"), sure=step.startswith(("buy the", "buy[", "choose")))
        if self.found and self.found not in self.texts:
            return f"click[{self.found.lower()}]"
        if listings:
            return self._among(listings)
        if self.in_view:
            return "click[< prev]"
        return self._search(self.words()) or "task failed! I find nothing like it."

    def things(self) -> list[str]:
        """Return the things to keep in mind: the clauses of the instruction, and the products looked at."""
        return [" ".join(sorted(wish)) for wish in self.wishes] + list(self.texts) + self.unseen

    def complaint(self, *more: str) -> str | None:
        """Return the complaint if the things, and some more, are too much to keep in mind; else None."""
        return too_much([[*self.things(), *more]], self.span)

    def words(self) -> str:
        """Return the words of the query, in the order of the instruction or shuffled by the draw."""
        words = list(dict.fromkeys(word for word in re.findall(r"[a-z0-9-]+", self.wanted) if content(word)))
        if self.draw is not None:
            random.Random(f"{self.draw}/query").shuffle(words)
        return " ".join(words[:WORDS])

    def simple_match(self) -> str:
        """Return the likeliest product of the page in view whose title has every word of every clause."""
        ranked = self._ranked(read_listings(self.information))
        likely = [listing.asin for listing in ranked]
        certain = [listing.asin for listing in ranked if self._share(listing.title) == 1]
        if complaint := self.complaint():
            return likely[0] if likely and self.draws.errs("false_claim") else complaint
        if self.draws.errs("misjudge", "match"):  # a product where none is certain, none where one is
            certain = [] if certain else likely
        return next(iter(certain), "none")

    def detail_match(self, page: str) -> str:
        """Return whether a product matches the instruction."""
        if complaint := self.complaint():
            return complaint
        item = read_item(page)
        share = self._share(page)
        fits = bool(item and item.price <= self.max_price and share >= ENOUGH)
        if self.draws.errs("misjudge", "match"):
            fits = not fits
        return f"{'Yes' if fits else 'No'}, I find {100 * share:.0f}% of it."

    def plan(self, task: str, *, in_full: bool) -> str:
        """Return a plan: search, look, buy."""
        if complaint := self.complaint():
            return complaint
        words, about, step = self.words(), self.wanted, task.lower()
        if "What failed so far" in self.information:  # a shorter query finds other products
            words = " ".join(words.split()[:3])
        if in_full:
            looked = ["open a product that fits", "choose the options", "buy the product"]
            return write_plan([step] for step in [f"search for {words}", *looked])
        if step.startswith("search"):
            return write_plan([[f"Search[{words}]"]])
        search = [f"Search[{words}]", f"SimpleMatch[{about}]"]
        if not step.startswith("simplematch"):
            return write_plan([step] for step in [*search, "Buy[the options named]"])
        likely = self._ranked(read_listings(self.page))[:LOOKS]
        return _any_or([f"DetailMatch[{listing.asin}, {about}]" for listing in likely], search)

    def reflect(self) -> str:
        """Return the product that was bought, so that the next trial buys another."""
        bought = self.in_view
        if self.draws.errs("misjudge", "reflection"):  # another product that it looked at, or none
            bought = next((asin for asin in self.texts if asin != self.in_view), "")
        summary = f"I bought {bought}, and it was not right." if bought else "I bought nothing."
        return f"{summary} New plan:\nStep 1: look at other products\nStep 2: choose every option that is named"

    def judge(self) -> str:
        """Return the judgement of an attempt: how much of the instruction the product in view has, or one listed."""
        item, action, observation = read_item(self.page), *(self.turns[-1] if self.turns else ("", ""))
        share = 0.0
        if item and item.price <= self.max_price:
            named = [value for values in item.options.values() if (value := chosen(values, self.wanted))]
            ready = sum(value in self.clicked for value in named) / len(named) if named else 1.0
            share = (2 * self._share(self.texts.get(self.in_view, self.page)) + ready) / 3
        elif listings := self._ranked(read_listings(self.page)):
            share = self._share(listings[0].title) / 2
        refused = observation.startswith(INVALID)
        return judgement(share, action, refused=refused, draws=self.draws)

    def _search(self, words: str) -> str | None:
        """Return the action that searches, or leads to the page that takes a search; None after a search."""
        if any(action.startswith("search[") for action, _ in self.turns):
            return None
        return "click[back to search]" if self.page else query(words)

    def _at(self, item: Item, *, choose: bool, sure: bool) -> str:
        """Return the next line on a product's page."""
        text = self.texts.get(self.in_view, "")
        # The second view of the page follows the look at its features.
        is_new = text.count("[Buy Now]") < 2 and all(action != "click[features]" for action, _ in self.turns[-3:])
        if not sure and self.in_view and is_new and not self._is_hasty("features"):
            return "click[features]"
        fits = self._share(text) >= ENOUGH
        if self._arrived() and self.draws.errs("misjudge", "fits"):
            fits = not fits
        if not sure and not fits and len(self.texts) < LOOKS:
            return self.complaint() or "click[< prev]"
        # Buy only after every option that the instruction names is chosen, if the manual says so.
        for values in item.options.values() if self.manual.tells("option") else ():
            value = chosen(values, self.wanted)
            if value and value not in self.clicked:
                return f"click[{self._drawn_value(value, values)}]"
        return "Task completed!" if choose else "click[buy now]"

    def _arrived(self) -> bool:
        """Return whether the last action led to the page in view: the moment at which a product is judged."""
        return not self.turns or self.turns[-1][1].lstrip().startswith("[")

    def _among(self, listings: list[Listing]) -> str:
        """Return the next line on a page of results."""
        left = [listing for listing in self._ranked(listings) if listing.asin not in self.texts]
        if not left:
            more = "[Next >]" in self.page and len(self.texts) < LOOKS
            return "click[next >]" if more else "task failed! Nothing fits."
        opened = self._drawn_listing(left).asin
        return self.complaint(opened) or f"click[{opened.lower()}]"

    def _drawn_listing(self, ranked: list[Listing]) -> Listing:
        """Return the likeliest listing; with a draw any of the likely ones, each half as often as the one before."""
        if self.draw is None:
            return ranked[0]
        likely = ranked[:LOOKS]
        return random.Random(f"{self.draw}/listing").choices(likely, [0.5**rank for rank in range(len(likely))])[0]

    def _drawn_value(self, value: str, values: Sequence[str]) -> str:
        """Return the value of an option that the instruction names; with a draw sometimes any of the option's."""
        return random.Random(f"{self.draw}/{value}").choice(values) if self._is_hasty(value) else value

    def _is_hasty(self, about: str) -> bool:
        """Return whether it acts without care; never without a draw."""
        return self.draw is not None and random.Random(f"{self.draw}/hasty/{about}").random() < HASTE

    def _ranked(self, listings: list[Listing]) -> list[Listing]:
        affordable = [
            listing for listing in listings if listing.price <= self.max_price and listing.asin not in self.avoided
        ]
        words = content(self.wanted)
        return sorted(affordable, key=lambda listing: -len(words & content(listing.title)))

    def _share(self, text: str) -> float:
        """Return the share of the clauses' words that a text has."""
        words = content(text)
        wanted = [word for wish in self.wishes for word in wish]
        return sum(word in words for word in wanted) / len(wanted) if wanted else 1.0


def _any_or(alternatives: list[str], last_resort: list[str]) -> str:
    """Return a plan: any of the alternatives, or else all steps of the last resort."""
    lines = [f"Step {number}: {step}" for number, step in enumerate([*alternatives, *last_resort], 1)]
    labels = [line.partition(":")[0] for line in lines]
    first, rest = labels[: len(alternatives)], labels[len(alternatives) :]
    return "\n".join([*lines, f"Execution Order: ({' OR '.join([*first, '(' + ' AND '.join(rest) + ')'])})"])
