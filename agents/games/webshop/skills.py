"""WebShop's modules in ADaPT's paper: Search, SimpleMatch and DetailMatch; the executor buys.

Source: Prasad et al., ADaPT: As-Needed Decomposition and Planning with Language Models, 2023.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.skill import Known, Skill
from textcraft_gym.agents.games.webshop.pages import (
    ASIN,
    has_search,
    product_in_view,
    query,
    read_item,
    read_listings,
)
from textcraft_gym.agents.prompts import Prompts, Template
from textcraft_gym.replies import decision

# ADaPT's numbers.
SIMPLE_MATCH_TOKENS = 400
DETAIL_MATCH_TOKENS = 100
FOUND = "Product found: "

_QUERY = re.compile(r"search(?:\[| for | )(.+?)\]?", re.IGNORECASE)
_SIMPLE_MATCH = re.compile(r"simple ?match\b", re.IGNORECASE)
_DETAIL_MATCH = re.compile(r"detail ?match\b", re.IGNORECASE)


class Search:
    """Searches for the words of the step, without a model; fails if nothing is found."""

    def fits(self, step: str) -> bool:
        """Return whether the step is ``Search[...]`` or ``search for ...``."""
        return _QUERY.fullmatch(step) is not None

    def attempt(
        self,
        play: Play,
        step: str,
        known: Known,
    ) -> Generator[Request, Any, str | None]:
        """Search, from the first page."""
        match = _QUERY.fullmatch(step)
        words = match[1].strip(" \"'") if match else step
        if not has_search(last_page(play)):
            yield from play.act("click[back to search]")
        page = (yield from play.act(query(words))).observation
        if not read_listings(page):
            return None
        return in_view(play)


class SimpleMatch:
    """Has a model name a product that meets every criterion on a page of results, or fails."""

    def __init__(self, prompt: Template) -> None:
        self.prompt = prompt

    def fits(self, step: str) -> bool:
        """Return whether the step is ``SimpleMatch[...]``."""
        return _SIMPLE_MATCH.match(step) is not None

    def attempt(
        self,
        play: Play,
        step: str,
        known: Known,
    ) -> Generator[Request, Any, str | None]:
        """Ask about the page in view, and open nothing."""
        page = last_page(play)
        if not read_listings(page):
            return None
        prompt = self.prompt.fill(situation=known.situation, task=step, information=page)
        completion = yield from play.ask(
            prompt,
            role="simple_match",
            max_tokens=SIMPLE_MATCH_TOKENS,
        )
        play.note(completion.text)
        named = play.understand(lambda text: _named(text, ASIN.findall(page)), completion.text)
        if not named:
            return None
        return f"{FOUND}{named[0]}\nThe page in view:\n{page}"


class DetailMatch:
    """Opens one product and its features, and has a model say whether it meets every criterion."""

    def __init__(self, prompt: Template) -> None:
        self.prompt = prompt

    def fits(self, step: str) -> bool:
        """Return whether the step is ``DetailMatch[...]``."""
        return _DETAIL_MATCH.match(step) is not None

    def attempt(
        self,
        play: Play,
        step: str,
        known: Known,
    ) -> Generator[Request, Any, str | None]:
        """Stay on the product's page if it matches, and go back to the results if it does not."""
        asin = ASIN.search(step.upper())
        if asin is None:
            return None
        page = (yield from play.act(f"click[{asin[0].lower()}]")).observation
        if read_item(page) is None:  # the page in view does not list it
            return None
        features = (yield from play.act("click[features]")).observation
        yield from play.act("click[< prev]")  # back to the product
        prompt = self.prompt.fill(
            situation=known.situation,
            task=step,
            information=f"{page}\nFeatures:\n{features}",
        )
        completion = yield from play.ask(
            prompt,
            role="detail_match",
            max_tokens=DETAIL_MATCH_TOKENS,
        )
        play.note(completion.text)
        if play.understand(_is_yes, completion.text):
            return in_view(play)
        yield from play.act("click[< prev]")  # back to the results
        return None


def _named(text: str, shown: list[str]) -> list[str]:
    """Return the products that the last line names: the lines before it may weigh other ones."""
    answer = text.strip().upper().rpartition("\n")[2]
    return [asin for asin in ASIN.findall(answer) if asin in shown]


def _is_yes(text: str) -> bool:
    return decision(text) is True


def make_skills(prompts: Prompts) -> tuple[Skill, ...]:
    """Return the skills, made with the prompts ``simple_match`` and ``detail_match``."""
    return (
        Search(),
        SimpleMatch(prompts.of("simple_match", "webshop")),
        DetailMatch(prompts.of("detail_match", "webshop")),
    )


def last_page(play: Play) -> str:
    """Return the page in view: the last answer that is a page, and not an error."""
    page = play.first.observation
    for _, step in play.history:
        if step.observation.startswith("\n"):
            page = step.observation
    return page.strip()


def in_view(play: Play) -> str:
    """Return the ASIN of the product in view, if there is one, and the page."""
    report = f"The page in view:\n{last_page(play)}"
    asin = product_in_view((action, step.observation) for action, step in play.history)
    return f"{FOUND}{asin}\n{report}" if asin else report


def report_page(play: Play) -> Generator[Request, Any, str]:
    """Report the page in view."""
    # A report is a generator, though this one plays nothing.
    yield from ()
    return in_view(play)


def brief(play: Play, known: Known) -> str:
    """Give the planner the page in view, unless it is the first one, and the steps that failed."""
    lines = []
    if play.history:
        lines.append(in_view(play))
    if known.failed:
        lines.append(f"What failed so far: {'; '.join(known.failed)}")
    return "\n".join(lines)
