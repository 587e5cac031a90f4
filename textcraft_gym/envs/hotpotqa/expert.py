"""An expert that knows the right answer and its evidence: it reads the evidence, and answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

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
"""Maximum length of a plan, which is ReAct's limit: further lookups are left out."""

_WORD = re.compile(r"\w{3,}")


class Visit(NamedTuple):
    """What a plan does about a page of evidence.

    Attributes:
        title: The page.
        search: The action that opens it.
        lookups: The lookups on it.
        results: What they show.
    """

    title: str
    search: str
    lookups: Sequence[str]
    results: Sequence[str]


def plan(world: World, state: State = START) -> list[str]:
    """Return the rest of a plan: open each page of evidence, look up the rest, and answer.

    It searches by the names that it has read and looks up what a player may think of, so that its
    actions are admissible; where neither leads to the evidence, it takes the page's title, or a
    word of the sentence. It is empty at the end, and where the data does not tell the answer.
    """
    if state.answer is not None or not world.question.answer:
        return []
    actions: list[str] = []
    for visit in _visits(world):
        is_read = set(visit.results) <= set(state.looked_up)
        unread = [] if is_read else visit.lookups
        if visit.title == state.page:
            # The open page comes first, whatever its place: another search would close it.
            actions = [*unread, *actions]
        elif visit.title not in state.opened or unread:
            actions += [visit.search, *unread]
    return [*actions, finish(world.question.answer)]


@lru_cache(maxsize=256)  # a plan is asked for at each step, of each environment of a vector
def _visits(world: World) -> tuple[Visit, ...]:
    """Return the visits of a plan from the start."""
    pages = evidence(world)
    read = [world.question.question]
    # The lookups that the limit leaves beside a search for each page and the answer.
    spare = LONGEST - len(pages) - 1
    visits: list[Visit] = []
    for page in pages:
        lookups = _lookup(world, page)[: max(spare, 0)]
        spare -= len(lookups)
        shown_by = [_first_result(world, page, lookup) for lookup in lookups]
        visits.append(Visit(page.title, search(_name_in(world, read, page)), lookups, shown_by))
        read += [shown(world, page), *shown_by]
    return tuple(visits)


def _first_result(world: World, page: Page, lookup: str) -> str:
    _, word = parse(lookup)
    return results(world, page.title, word)[0][:MAX_SENTENCE]


def evidence(world: World) -> list[Page]:
    """Return the pages of evidence, as far as a search for their titles opens them."""
    pages = []
    for title in dict.fromkeys(title for title, _ in world.question.gold):
        page = find(world, title)
        if page:
            pages.append(page)
    return pages


def thoughts(world: World, actions: Sequence[str]) -> list[str]:
    """Return the thought before each action of a plan from the start."""
    written: list[str] = []
    known = ""
    for action in actions:
        verb, argument = parse(action)
        if verb == SEARCH:
            if known:
                written.append(f"{known} Next I search for {argument}.")
            else:
                written.append(f"I begin with {argument}.")
            page = find(world, argument)
            known = " ".join(_gold_sentences(world, page.title)) if page else ""
        elif verb == LOOKUP:
            written.append(f"What I need is further down the page, with the word {argument}.")
        else:
            written.append(f"{known} So the answer is {argument}.".strip())
    return [" ".join(thought.split()) for thought in written]


def _name_in(
    world: World,
    read: Iterable[str],
    page: Page,
) -> str:
    """Return the name by which what was read speaks of a page; its title where it does not.

    A player does not know that a title has brackets, or that a name leads to another title.
    """
    for words in read:
        for name in titles_in(world, words):
            if find(world, name) == page:
                return name
    return page.title


def _lookup(world: World, page: Page) -> list[str]:
    """Return the lookup of the first sentence of evidence that a search does not show, or none."""
    seen = shown(world, page)
    for sentence in _gold_sentences(world, page.title):
        core = sentence.rstrip(".")
        if core in seen:
            continue
        for word in chain(lookups_on(world, State(page.title)), _words_of(core, world)):
            matches = results(world, page.title, word)
            if matches and matches[0].rstrip(".") in core:
                return [look_up(word)]
    return []


def _words_of(sentence: str, world: World) -> list[str]:
    """Return the words of a sentence: those of the question first.

    Names, which a player does not know yet, are last.
    """
    known = {word.lower() for word in _WORD.findall(world.question.question)}

    def rank(word: str) -> tuple[bool, bool, int]:
        return word.lower() not in known, word[0].isupper(), -len(word)

    words = [word for word in _WORD.findall(sentence) if word.lower() not in COMMON]
    return sorted(words, key=rank)


def _gold_sentences(world: World, title: str) -> list[str]:
    """Return the sentences of a page that are evidence, as the data gives them."""
    page = world.wiki.page(title)
    if page is None:
        return []
    parts = list(chain.from_iterable(page.paragraphs))
    gold = []
    for name, index in world.question.gold:
        if name == title and index < len(parts):
            gold.append(parts[index].strip())
    return gold
