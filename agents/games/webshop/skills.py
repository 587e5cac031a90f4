"""The skills with which ADaPT plays WebShop: search, shortlist, match; the executor makes the purchase."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.skill import Known, Skill
from textcraft_gym.agents.games.webshop.pages import ASIN, product_in_view, query, read_item, read_listings
from textcraft_gym.agents.prompts import Prompts, Template

SHORTLIST_TOKENS = 400
MATCH_TOKENS = 100
SHORTLISTED = "Shortlisted: "
FOUND = "Product found: "

_QUERY = re.compile(r"search(?: for)? (.+)", re.IGNORECASE)


class Search:
    """Searches for the words that the step names, without a model; it fails if nothing is found."""

    def fits(self, step: str) -> bool:
        """Whether the step is ``search for ...``."""
        return _QUERY.match(step) is not None

    def attempt(self, play: Play, step: str, known: Known) -> Generator[Request, Any, str | None]:
        """Search."""
        found = _QUERY.match(step)
        words = found[1].strip(" \"'") if found else step
        page = (yield from play.act(query(words))).observation
        return in_view(play) if read_listings(page) else None


class Shortlist:
    """Has a model name the products on a page of results that are worth a look; it fails if there is none."""

    def __init__(self, prompt: Template) -> None:
        self.prompt = prompt

    def fits(self, step: str) -> bool:
        """Whether the step is ``shortlist ...``."""
        return step.lower().startswith("shortlist")

    def attempt(self, play: Play, step: str, known: Known) -> Generator[Request, Any, str | None]:
        """Ask for the numbers of products that the page in view lists."""
        page = last_page(play)
        prompt = self.prompt.fill(situation=known.situation, task=step, information=page)
        completion = yield from play.ask(prompt, role="shortlist", max_tokens=SHORTLIST_TOKENS)
        play.note(completion.text)
        listed = [listing.asin for listing in read_listings(page)]
        named = [asin for asin in dict.fromkeys(ASIN.findall(completion.text.upper())) if asin in listed]
        return f"{SHORTLISTED}{', '.join(named)}\n{in_view(play)}" if named else None


class Match:
    """Opens one shortlisted product after the other until a model says of one that it is what is asked for."""

    def __init__(self, prompt: Template) -> None:
        self.prompt = prompt

    def fits(self, step: str) -> bool:
        """Whether the step is ``match ...``."""
        return step.lower().startswith("match")

    def attempt(self, play: Play, step: str, known: Known) -> Generator[Request, Any, str | None]:
        """Look at the page, the description and the features of each; it fails if none is what is asked for."""
        shortlist = known.information.partition("\n")[0]
        named = ASIN.findall(shortlist) if shortlist.startswith(SHORTLISTED) else []
        for asin in named or [listing.asin for listing in read_listings(last_page(play))]:
            page = (yield from play.act(f"click[{asin.lower()}]")).observation
            if read_item(page) is None:
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


def skills(prompts: Prompts) -> tuple[Skill, ...]:
    """Return the skills, which ask with the prompts ``shortlist`` and ``match``."""
    return Search(), Shortlist(prompts.of("shortlist", "webshop")), Match(prompts.of("match", "webshop"))


def last_page(play: Play) -> str:
    """Return the page in view: the last answer that is one."""
    pages = (step.observation for _, step in reversed(play.history) if step.observation.lstrip().startswith("["))
    return next(pages, play.first.observation).strip()


def in_view(play: Play) -> str:
    """Return the product that was found, if one is in view, and the page."""
    asin = product_in_view((action, step.observation) for action, step in play.history)
    return f"{FOUND}{asin}\n" * bool(asin) + f"The page in view:\n{last_page(play)}"


def inform(play: Play) -> Generator[Request, Any, str]:
    """Tell the page in view."""
    yield from ()
    return in_view(play)


def brief(play: Play, known: Known) -> str:
    """Tell the planner the page in view, if there is any but the first, and what failed."""
    failed = [f"What failed so far: {'; '.join(known.failed)}"] if known.failed else []
    return "\n".join([*([in_view(play)] if play.history else []), *failed])
