"""An expert that knows the right answer and the sentences that it follows from: it reads these, and answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

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
    lookups_on,
    parse,
    results,
    search,
    shown,
    titles_in,
)
from textcraft_gym.envs.hotpotqa.text import MAX_SENTENCE
from textcraft_gym.envs.hotpotqa.wiki.corpus import Page

LONGEST = 7
"""Maximum length of a plan, which is ReAct's limit: what else there would be to look up is left out."""

_WORD = re.compile(r"\w{3,}")


def plan(world: World, state: State = START) -> list[str]:
    """Return the rest of a plan: open each page of evidence, look up what a search does not show, and answer.

    It searches by the names that it has read and looks up what a player may think of, so that its
    actions are admissible; where neither leads to the evidence, it takes the page's title, or a
    word of the sentence. It is empty at the end, and where the data does not tell the answer.
    """
    if state.answer is not None or not world.question.answer:
        return []
    pages = evidence(world)
    actions: list[str] = []
    read = [world.question.question]
    spare = LONGEST - len(pages) - 1
    for page in pages:
        lookups = _lookup(world, page)[: max(spare, 0)]
        spare -= len(lookups)
        found = [
            results(world, page.title, parse(action)[1])[0][:MAX_SENTENCE] for action in lookups
        ]
        unread = [] if set(found) <= set(state.looked_up) else lookups
        if page.title == state.page:
            # The open page comes first, whatever its place: another search would close it.
            actions = [*unread, *actions]
        elif page.title not in state.opened or unread:
            actions += [search(_name_in(world, read, page)), *unread]
        read += [shown(world, page), *found]
    return [*actions, finish(world.question.answer)]


def evidence(world: World) -> list[Page]:
    """Return the pages that the answer follows from, as far as a search for their titles opens them."""
    pages = [
        find(world, title) for title in dict.fromkeys(title for title, _ in world.question.gold)
    ]
    return [page for page in pages if page is not None]


def thoughts(world: World, actions: Sequence[str]) -> list[str]:
    """Return the thought before each action of a plan from the start."""
    written: list[str] = []
    known = ""
    for action in actions:
        verb, argument = parse(action)
        if verb == SEARCH:
            written.append(
                f"{known} Next I search for {argument}." if known else f"I begin with {argument}."
            )
            page = find(world, argument)
            known = " ".join(_gold_sentences(world, page.title)) if page else ""
        elif verb == LOOKUP:
            written.append(f"What I need is further down the page, with the word {argument}.")
        else:
            written.append(f"{known} So the answer is {argument}.".strip())
    return [" ".join(thought.split()) for thought in written]


def _name_in(world: World, read: Iterable[str], page: Page) -> str:
    """Return the name by which what was read speaks of a page; its title where it does not.

    A player does not know that a title has brackets, or that a name leads to another title.
    """
    names = chain.from_iterable(titles_in(world, words) for words in read)
    return next((name for name in names if find(world, name) == page), page.title)


def _lookup(world: World, page: Page) -> list[str]:
    """Return the lookup of the first sentence of evidence that a search does not show; none if it shows all."""
    seen = shown(world, page)
    for sentence in _gold_sentences(world, page.title):
        core = sentence.rstrip(".")
        if core not in seen:
            opened = State(page.title)
            for word in lookups_on(world, opened):
                found = results(world, page.title, word)
                if found[0].rstrip(".") in core:
                    return [look_up(word)]
            asked = {word.lower() for word in _WORD.findall(world.question.question)}
            words = [word for word in _WORD.findall(core) if word.lower() not in COMMON]
            # Words of the question first, and names, which a player does not know yet, last.
            for word in sorted(
                words, key=lambda word: (word.lower() not in asked, word[0].isupper(), -len(word))
            ):
                found = results(world, page.title, word)
                if found and found[0].rstrip(".") in core:
                    return [look_up(word)]
    return []


def _gold_sentences(world: World, title: str) -> list[str]:
    """Return the sentences of a page that are evidence, as the data gives them."""
    page = world.wiki.page(title)
    given = [part.strip() for paragraph in page.paragraphs for part in paragraph] if page else []
    return [
        given[index] for name, index in world.question.gold if name == title and index < len(given)
    ]
