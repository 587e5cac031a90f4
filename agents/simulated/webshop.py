"""How the simulated model shops: all it knows of the shop it reads in the prompt.

It keeps in mind what the instruction asks for, clause by clause, and every product that it looked at, until it buys.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.games.webshop.pages import (
    ASIN,
    INVALID,
    Item,
    Listing,
    bound,
    chosen,
    content,
    product_in_view,
    query,
    read_item,
    read_listings,
    wanted,
    wishes,
)
from textcraft_gym.agents.simulated.span import too_much

MARK = "WebShop"
ENOUGH = 0.4
"""It takes a product of whose clauses it finds so many of the words, where it has seen all that is shown of it."""
LOOKS = 4
"""It opens so many products of a page at most."""
WORDS = 8
"""It searches for so many words at most."""

_TASK = "\n\nYour task is to: "
_INSTRUCTION = re.compile(rf"{MARK} *\nInstruction: *\n(.+)")
_BEGUN = "think: I keep in mind"
_TRIED = re.compile(r"I bought ([A-Z0-9]{10})")


def answer(prompt: str, span: int, chance: random.Random | None) -> str:
    """Go on from a prompt: with a turn, a plan, a choice, a verdict or a reflection, as its last line asks."""
    before, _, after = prompt.rpartition(_TASK)
    head, *turns = after.split("\n> ")
    task, _, information = head.partition("\n")
    told = _INSTRUCTION.findall(before)
    if not told:
        return "task failed! I see no instruction."
    mind = Mind(told[-1].strip(), information, span, chance.random() if chance else None)
    mind.look_back(turns)
    asked = prompt.rstrip().rpartition("\n")[2]
    if asked == ">":
        return mind.turn(task)
    if asked.startswith("Shortlist"):
        return mind.shortlist()
    if asked.startswith("Verdict"):
        return mind.verdict(information)
    if asked.startswith("Reflection"):
        return mind.reflect()
    return mind.plan(task, in_full="in full" in asked)


class Mind:
    """One look at a prompt: what is wanted, which page is in view, and what was looked at."""

    def __init__(self, instruction: str, information: str, span: int, chance: float | None) -> None:
        self.wanted = wanted(instruction)
        self.wishes = wishes(instruction)
        self.most = bound(instruction)
        self.span = span
        self.chance = chance
        self.begun = False
        self.page = information.partition("The page in view:\n")[2]
        self.information = information
        self.turns: list[tuple[str, str]] = []
        self.texts: dict[str, str] = {}
        self.clicked: set[str] = set()
        self.avoided = set(_TRIED.findall(information))
        self.in_view = "".join(ASIN.findall(information.partition("Product found: ")[2].partition("\n")[0]))

    def look_back(self, turns: Iterable[str]) -> None:
        """Read the transcript: what was seen of which product, and which options were chosen."""
        for turn in turns:
            action, _, said = turn.partition("\n")
            self.begun = self.begun or action.startswith(_BEGUN)
            if action.startswith("think:"):
                continue
            self.turns.append((action, said))
            if said.startswith(("You have clicked ", INVALID)):
                self.clicked.add(action.removeprefix("click[").removesuffix("]"))
            elif said.lstrip().startswith("["):
                self.page = said
                self.in_view = product_in_view(self.turns)
                if self.in_view:
                    self.texts[self.in_view] = f"{self.texts.get(self.in_view, '')}\n{said}"
                else:
                    self.clicked = set()

    def turn(self, task: str) -> str:
        """Return the next line."""
        item, listings = read_item(self.page), read_listings(self.page)
        if not self.begun:
            things = self.things()
            return self.complaint() or f"{_BEGUN} {', '.join(things)}: {len(things)}"
        if task.startswith("search"):
            if listings:
                return "Task completed!"
            return "task failed! Nothing is found." if self.turns else query(task.removeprefix("search for "))
        if task.startswith(("open", "shortlist", "match")) and item:
            return "Task completed!"
        if item:
            return self._at(item, choose=task.startswith("choose"), sure=task.startswith(("buy the", "choose")))
        if listings:
            return self._among(listings)
        if self.in_view:
            return "click[< prev]"
        return query(self.words()) if not self.turns else "task failed! I find nothing like it."

    def things(self) -> list[str]:
        """Return what must be kept in mind: the clauses of the instruction, and the products looked at."""
        return [" ".join(sorted(wish)) for wish in self.wishes] + list(self.texts)

    def complaint(self, *more: str) -> str | None:
        """Return what it says where that, and some more things, are too much; None where they are not."""
        return too_much([[*self.things(), *more]], self.span)

    def words(self) -> str:
        """Return the words to search for, as they stand in the instruction."""
        words = list(dict.fromkeys(word for word in re.findall(r"[a-z0-9-]+", self.wanted) if content(word)))
        if self.chance is not None:
            random.Random(f"{self.chance}/query").shuffle(words)
        return " ".join(words[:WORDS])

    def shortlist(self) -> str:
        """Return the products of the page in view that may be what is asked for."""
        likely = self._ranked(read_listings(self.information))[:LOOKS]
        return self.complaint() or ", ".join(one.asin for one in likely) or "none"

    def verdict(self, page: str) -> str:
        """Return whether a product is what is asked for."""
        if complaint := self.complaint():
            return complaint
        item = read_item(page)
        share = self._share(page)
        fits = item and item.price <= self.most and share >= ENOUGH
        return f"{'Yes' if fits else 'No'}, I find {100 * share:.0f}% of it."

    def plan(self, task: str, *, in_full: bool) -> str:
        """Return a plan: to search, to look, to buy."""
        if complaint := self.complaint():
            return complaint
        words = self.words()
        if "What failed so far" in self.information:  # with fewer words, something else is found
            words = " ".join(words.split()[:3])
        steps = [f"search for {words}"]
        if not task.startswith("search"):
            looks = (("open a product that fits", "choose the options"), ("shortlist products", "match products"))
            steps += looks[not in_full]
        if not task.startswith(("search", "match", "shortlist")):
            steps.append("buy the product")
        return write_plan([step] for step in steps)

    def reflect(self) -> str:
        """Return what was bought, so that something else is bought the next time."""
        tried = [f"I bought {self.in_view}, and it was not right."] if self.in_view else ["I bought nothing."]
        return f"{' '.join(tried)} New plan:\nStep 1: look at other products\nStep 2: choose every option that is named"

    def _at(self, item: Item, *, choose: bool, sure: bool) -> str:
        """Return the next line on a product's page."""
        seen = self.texts.get(self.in_view, "")
        new = seen.count("[Buy Now]") < 2 and all(action != "click[features]" for action, _ in self.turns[-3:])
        if not sure and self.in_view and new:
            return "click[features]"
        if not sure and self._share(seen) < ENOUGH and len(self.texts) < LOOKS:
            return self.complaint() or "click[< prev]"
        for values in item.options.values():
            value = chosen(values, self.wanted)
            if value and value not in self.clicked:
                return f"click[{value}]"
        return "Task completed!" if choose else "click[buy now]"

    def _among(self, listings: list[Listing]) -> str:
        """Return the next line on a page of results."""
        left = [one for one in self._ranked(listings) if one.asin not in self.texts]
        if not left:
            more = "[Next >]" in self.page and len(self.texts) < LOOKS
            return "click[next >]" if more else "task failed! Nothing fits."
        return self.complaint(left[0].asin) or f"click[{left[0].asin.lower()}]"

    def _ranked(self, listings: list[Listing]) -> list[Listing]:
        affordable = [one for one in listings if one.price <= self.most and one.asin not in self.avoided]
        said = content(self.wanted)
        return sorted(affordable, key=lambda one: -len(said & content(one.title)))

    def _share(self, text: str) -> float:
        """Return how many of the words of the clauses a text has."""
        words = content(text)
        wanted = [word for wish in self.wishes for word in wish]
        return sum(word in words for word in wanted) / len(wanted) if wanted else 1.0
