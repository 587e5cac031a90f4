"""ADaPT's skills for WebShop: search, shortlist and match; the executor makes the purchase."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.skill import Known, Skill
from textcraft_gym.agents.games.webshop.pages import ASIN, has_search, product_in_view, query, read_item, read_listings
from textcraft_gym.agents.prompts import Prompts, Template

SHORTLIST_TOKENS = 400
MATCH_TOKENS = 100
SHORTLISTED = "Shortlisted: "
FOUND = "Product found: "

_QUERY = re.compile(r"search(?: for)? (.+)", re.IGNORECASE)


class Search:
    """Searches for the words of the step, without a model; fails if nothing is found."""

    def fits(self, step: str) -> bool:
        """Return whether the step is ``search for ...``."""
        return _QUERY.match(step) is not None

    def attempt(self, play: Play, step: str, known: Known) -> Generator[Request, Any, str | None]:
        """Search."""
        found = _QUERY.match(step)
        words = found[1].strip(" \"'") if found else step
        if not has_search(last_page(play)):
            yield from play.act("click[back to search]")
        page = (yield from play.act(query(words))).observation
        return in_view(play) if read_listings(page) else None


class Shortlist:
    """Has a model name the promising products on a page of results; fails if it names none."""

    def __init__(self, prompt: Template) -> None:
        self.prompt = prompt

    def fits(self, step: str) -> bool:
        """Return whether the step is ``shortlist ...``."""
        return step.lower().startswith("shortlist")

    def attempt(self, play: Play, step: str, known: Known) -> Generator[Request, Any, str | None]:
        """Ask for the ASINs of products that the page in view lists."""
        page = last_page(play)
        prompt = self.prompt.fill(situation=known.situation, task=step, information=page)
        completion = yield from play.ask(prompt, role="shortlist", max_tokens=SHORTLIST_TOKENS)
        play.note(completion.text)
        listed = [listing.asin for listing in read_listings(page)]
        named = [asin for asin in dict.fromkeys(ASIN.findall(completion.text.upper())) if asin in listed]
        return f"{SHORTLISTED}{', '.join(named)}\n{in_view(play)}" if named else None


class Match:
    """Opens the shortlisted products in turn until a model says that one matches the instruction."""

    def __init__(self, prompt: Template) -> None:
        self.prompt = prompt

    def fits(self, step: str) -> bool:
        """Return whether the step is ``match ...``."""
        return step.lower().startswith("match")

    def attempt(self, play: Play, step: str, known: Known) -> Generator[Request, Any, str | None]:
        """Show the model the page, the description and the features of each product; fail if none matches."""
        shortlist = known.information.partition("\n")[0]
        named = ASIN.findall(shortlist) if shortlist.startswith(SHORTLISTED) else []
        for asin in named or [listing.asin for listing in read_listings(last_page(play))]:
            page = (yield from play.act(f"click[{asin.lower()}]")).observation
            if read_item(page) is None:  # a product of an earlier page, which the current page does not list
                continue
            for part in ("description", "features"):
                more = (yield from play.act(f"click[{part}]")).observation
                yield from play.act("click[< prev]")
                page += f"\n{part.capitalize()}:\n{more}"
            prompt = self.prompt.fill(situation=known.situation, task=step, information=page)
            completion = yield from play.ask(prompt, role="match", max_tokens=MATCH_TOKENS)
            play.note(completion.text)
            if completion.text.strip().lower().startswith("yes"):
                return in_view(play)
            yield from play.act("click[< prev]")
        return None


def make_skills(prompts: Prompts) -> tuple[Skill, ...]:
    """Return the skills, made with the prompts ``shortlist`` and ``match``."""
    return Search(), Shortlist(prompts.of("shortlist", "webshop")), Match(prompts.of("match", "webshop"))


def last_page(play: Play) -> str:
    """Return the page in view: the last answer that is a page, and not an error."""
    pages = (step.observation for _, step in reversed(play.history) if step.observation.startswith("\n"))
    return next(pages, play.first.observation).strip()


def in_view(play: Play) -> str:
    """Return the ASIN of the product in view, if there is one, and the page."""
    asin = product_in_view((action, step.observation) for action, step in play.history)
    found = f"{FOUND}{asin}\n" if asin else ""
    return f"{found}The page in view:\n{last_page(play)}"


def report_page(play: Play) -> Generator[Request, Any, str]:
    """Report the page in view."""
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
