"""An expert that knows the right answer and the sentences that it follows from: it reads these, and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textcraft_gym.envs.hotpotqa.rules import (
    LOOKUP,
    SEARCH,
    START,
    State,
    World,
    find,
    finish,
    look_up,
    parse,
    results,
    search,
    shown,
)
from textcraft_gym.wiki.corpus import Page

_WORD = re.compile(r"\w{3,}")


def plan(world: World, state: State = START) -> list[str]:
    """Return the rest of a plan: open each page of evidence, look up what a search does not show, and answer.

    It is empty at the end, and where the data does not tell the answer.
    """
    if state.answer is not None or not world.question.answer:
        return []
    actions: list[str] = []
    for page in evidence(world):
        is_open = page.title == state.page
        if is_open or page.title not in state.opened:
            lookups = _lookup(world, page)
            looked = is_open and state.keyword is not None and lookups == [look_up(state.keyword)] and state.count > 0
            # The open page comes first, whatever its place: another search would close it.
            step = [*([] if is_open else [search(page.title)]), *([] if looked else lookups)]
            actions = [*step, *actions] if is_open else [*actions, *step]
    return [*actions, finish(world.question.answer)]


def evidence(world: World) -> list[Page]:
    """Return the pages that the answer follows from, as far as a search for their titles opens them."""
    pages = [find(world, title) for title in dict.fromkeys(title for title, _ in world.question.gold)]
    return [page for page in pages if page is not None]


def thoughts(world: World, actions: Sequence[str]) -> list[str]:
    """Return the thought before each action of a plan from the start."""
    written: list[str] = []
    known = ""
    for action in actions:
        verb, argument = parse(action)
        if verb == SEARCH:
            written.append(f"{known} Next I search for {argument}." if known else f"I begin with {argument}.")
            known = " ".join(_gold_sentences(world, argument))
        elif verb == LOOKUP:
            written.append(f"What I need is further down the page, with the word {argument}.")
        else:
            written.append(f"{known} So the answer is {argument}.".strip())
    return [" ".join(thought.split()) for thought in written]


def _lookup(world: World, page: Page) -> list[str]:
    """Return the lookup of the first sentence of evidence that a search does not show; none if it shows all."""
    seen = shown(world, page)
    for sentence in _gold_sentences(world, page.title):
        core = sentence.rstrip(".")
        if core not in seen:
            asked = {word.lower() for word in _WORD.findall(world.question.question)}
            words = sorted(_WORD.findall(core), key=lambda word: (word.lower() not in asked, -len(word)))
            for word in words:
                found = results(world, page.title, word)
                if found and found[0].rstrip(".") in core:
                    return [look_up(word)]
    return []


def _gold_sentences(world: World, title: str) -> list[str]:
    """Return the sentences of a page that are evidence, as the data gives them."""
    page = world.wiki.page(title)
    given = [part.strip() for paragraph in page.paragraphs for part in paragraph] if page else []
    return [given[index] for name, index in world.question.gold if name == title and index < len(given)]
