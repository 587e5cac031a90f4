"""An expert that knows the right answer and the sentences that it follows from: it reads these, and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textcraft_gym.envs.hotpotqa.rules import (
    COMMON,
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

LONGEST = 7
"""Maximum length of a plan, which is ReAct's limit: what else there would be to look up is left out."""

_WORD = re.compile(r"\w{3,}")


def plan(world: World, state: State = START) -> list[str]:
    """Return the rest of a plan: open each page of evidence, look up what a search does not show, and answer.

    It is empty at the end, and where the data does not tell the answer.
    """
    if state.answer is not None or not world.question.answer:
        return []
    pages = evidence(world)
    actions: list[str] = []
    spare = LONGEST - len(pages) - 1
    for page in pages:
        lookups = _lookup(world, page)[: max(spare, 0)]
        spare -= len(lookups)
        if page.title == state.page:
            looked = state.passed > 0 and lookups == [look_up(state.keyword or "")]
            # The open page comes first, whatever its place: another search would close it.
            actions = [*([] if looked else lookups), *actions]
        elif page.title not in state.opened:
            actions += [search(page.title), *lookups]
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
            words = [word for word in _WORD.findall(core) if word.lower() not in COMMON]
            # Words of the question first, and names, which a player does not know yet, last.
            for word in sorted(words, key=lambda word: (word.lower() not in asked, word[0].isupper(), -len(word))):
                found = results(world, page.title, word)
                if found and found[0].rstrip(".") in core:
                    return [look_up(word)]
    return []


def _gold_sentences(world: World, title: str) -> list[str]:
    """Return the sentences of a page that are evidence, as the data gives them."""
    page = world.wiki.page(title)
    given = [part.strip() for paragraph in page.paragraphs for part in paragraph] if page else []
    return [given[index] for name, index in world.question.gold if name == title and index < len(given)]
