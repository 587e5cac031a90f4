"""The rules: what an action does with the pages of a wiki, and what an answer is worth."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

from textcraft_gym.envs.hotpotqa import text
from textcraft_gym.envs.hotpotqa.text import Dialect
from textcraft_gym.envs.hotpotqa.wiki.corpus import Page, Question, Wiki
from textcraft_gym.envs.turn import Turn

Sentences: TypeAlias = Literal["period", "given"]
Scope: TypeAlias = Literal["wiki", "question"]

SEARCH, LOOKUP, FINISH, THINK = "search", "lookup", "finish", "think"

UNKNOWN_COMMAND = "unknown_command"
NO_SUCH_PAGE = "no_such_page"
NO_PAGE = "no_page"
NO_MORE_RESULTS = "no_more_results"
REASONS = (UNKNOWN_COMMAND, NO_SUCH_PAGE, NO_PAGE, NO_MORE_RESULTS)

# As in ReAct's program.
SHOWN = 5
"""Number of sentences that a search shows of a page, and of titles that it lists without one."""
MAX_TITLES, MAX_LOOKUPS, MAX_ANSWERS = 40, 20, 100
"""Maximum numbers of searches, of lookups and of answers among the admissible commands."""

# Wikipedia's words on a page of namesakes, by which ReAct's program knows one.
_AMBIGUOUS = "may refer to:"
_LONGEST_TITLE = 8
_MARKS = "\"'.,;:?!"
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_UNALIKE = ("yes", "no", "noanswer")
_WORD = re.compile(r"\w+")
COMMON = frozenset(
    _WORD.findall(
        """about after also and are been before between both but did does for from had has have her
        his how into its more most name named not one only other same than that the their them then
        there these they this two was were what when where which while who whom whose why with
        year"""
    )
)
"""Words that tell nothing about what is looked for."""


RELATIONS = (
    *(
        "born in",
        "native of",
        "lived in",
        "house in",
        "attended",
        "pupil of",
        "won the",
        "received the",
        "influence",
    ),
    *(
        "lies in",
        "belongs to",
        "capital of",
        "lake",
        "mayor",
        "river",
        "inhabitants",
        "based in",
        "seat in",
    ),
    *(
        "comes from",
        "founded by",
        "founder",
        "band was formed",
        "singer",
        "contract with",
        "label",
        "designed by",
    ),
    *(
        "produced by",
        "producing",
        "directed by",
        "director",
        "written by",
        "author",
        "brought out",
        "publisher",
    ),
    *("leading part", "based on", "source"),
)
"""What pages say of people, places, works and companies: lookups without having read it."""
_AUXILIARIES = (
    "are",
    "can",
    "could",
    "did",
    "do",
    "does",
    "had",
    "has",
    "have",
    "is",
    "was",
    "were",
    "will",
    "would",
)
_DATE, _NUMBER = r"\d{1,2} [A-Z]\w+ \d{4}", r"\d[\d,.]*\d|\d"
_CAPITALS = r"[A-Z][\w'-]*(?: (?:(?:of|the|and|in|to) )*[A-Z\d][\w'-]*)*"
_NAME = re.compile(f"{_DATE}|{_NUMBER}|{_CAPITALS}")


class World(NamedTuple):
    """A player with a question and a wiki.

    Attributes:
        wiki: The wiki.
        question: The question.
        dialect: The program whose texts are used.
        sentences: How pages are divided into sentences: ``period``, at every full stop and blank,
            or ``given``, as the data does.
        scope: Whether all pages of the wiki are found, or only those that the data gives with the
            question.
    """

    wiki: Wiki
    question: Question
    dialect: Dialect = "react"
    sentences: Sentences = "period"
    scope: Scope = "wiki"


class State(NamedTuple):
    """The state of a player. Equal states have equal answers to every action.

    Attributes:
        page: Title of the open page; empty if none is open.
        keyword: The word that was looked up last on it; None if none was.
        passed: Number of its results that were shown.
        listed: Titles that the last search listed, where it found no page.
        opened: Titles of all pages that were opened, in order.
        looked_up: The results of lookups, in the order in which they were first read.
        answer: The answer that was given; None before the end.
    """

    page: str = ""
    keyword: str | None = None
    passed: int = 0
    listed: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    looked_up: tuple[str, ...] = ()
    answer: str | None = None


START = State()


def apply(
    world: World,
    state: State,
    action: str,
) -> Turn[State]:
    """Play an action, any string; after an answer, everything is answered as that was."""
    if state.answer is not None:
        return state, text.finished(world.dialect, is_right(world.question, state.answer)), "", ""
    verb, argument = parse(action)
    if verb == SEARCH:
        return _search(world, state, argument)
    if verb == LOOKUP:
        return _look_up(world, state, argument)
    if verb == FINISH:
        right = is_right(world.question, argument)
        return state._replace(answer=argument), text.finished(world.dialect, right), "", ""
    # Reflexion's program has no action for a thought.
    if verb == THINK and world.dialect != "reflexion":
        return state, text.THOUGHT, "", ""
    return state, text.invalid(world.dialect, action.strip()), UNKNOWN_COMMAND, ""


def parse(action: str) -> tuple[str, str]:
    """Return the verb of an action and what its brackets hold; both empty if it has not that form.

    The first letter may be a capital, as in ReAct's prompts.
    """
    verb, _, rest = action.strip().partition("[")
    verb = verb[:1].lower() + verb[1:]
    if verb in (SEARCH, LOOKUP, FINISH, THINK) and rest.endswith("]"):
        return verb, rest[:-1]
    return "", ""


def search(entity: str) -> str:
    """Return the action that searches for a page."""
    return f"{SEARCH}[{entity}]"


def look_up(keyword: str) -> str:
    """Return the action that looks a word up on the open page."""
    return f"{LOOKUP}[{keyword}]"


def finish(answer: str) -> str:
    """Return the action that answers the question."""
    return f"{FINISH}[{answer}]"


def find(world: World, entity: str) -> Page | None:
    """Return the page that a search opens; None if it lists titles instead."""
    page = _named(world, entity)
    if page is None or _is_ambiguous(page):
        return None
    return page


def sentences(page: Page, kind: Sentences) -> list[str]:
    """Return the sentences of a page as ReAct's program reads it.

    Paragraphs of one or two words are left out. Divided at full stops, each sentence has one more
    full stop than the text where it ends a paragraph.
    """
    prose = [paragraph for paragraph in page.paragraphs if _is_prose(paragraph)]
    if kind == "given":
        parts = chain.from_iterable(prose)
        return [sentence for part in parts if (sentence := part.strip())]
    divided = []
    for paragraph in prose:
        for line in _joined(paragraph).split("\n"):
            for part in line.strip().split(". "):
                sentence = part.strip()
                if sentence:
                    # The last one has its own full stop still, and gets a second, as in ReAct.
                    divided.append(f"{sentence}.")
    return divided


def results(
    world: World,
    title: str,
    keyword: str,
) -> list[str]:
    """Return a page's sentences with a keyword, in any case; none if there is no such page."""
    page = world.wiki.page(title)
    if page is None:
        return []
    lowered = keyword.lower()
    return [part for part in sentences(page, world.sentences) if lowered in part.lower()]


def admissible_commands(world: World, state: State) -> list[str]:
    """Return searches, lookups and answers that a player can think of, all of which do something.

    The searches are for the titles in view: those in the question and in what was read, those of
    the opened pages, and those that the last search listed; at first those that a search for the
    whole question would list. Looked up are the question's words, and ``RELATIONS``. Once a page is
    open, the answers are the names, dates and numbers in view, and yes and no where the question
    asks for these; before, an empty one where there is nothing else to do.
    """
    if state.answer is not None:
        return []
    titles = dict.fromkeys(_titles_in_view(world, state))
    if state.page:
        titles[state.page] = None
    searches = [search(title) for title in titles if find(world, title)]
    lookups = [look_up(word) for word in lookups_on(world, state)]
    answers = [finish(answer) for answer in _answers_in_view(world, state)]
    commands = searches[:MAX_TITLES] + lookups[:MAX_LOOKUPS] + answers[:MAX_ANSWERS]
    return commands or [finish("")]


def lookups_on(world: World, state: State) -> Iterator[str]:
    """Yield what can be looked up without knowing the open page, and has a result left on it."""
    if not state.page:
        return
    words = dict.fromkeys(_WORD.findall(world.question.question))
    telling = [word for word in words if len(word) > 2 and word.lower() not in COMMON]
    for word in dict.fromkeys((*telling, *RELATIONS)):
        passed = state.passed if word == state.keyword else 0
        if len(results(world, state.page, word)) > passed:
            yield word


def is_right(question: Question, answer: str) -> bool:
    """Return whether an answer is the right one but for case, punctuation, articles and blanks.

    A question whose answer the data does not tell has no right one.
    """
    return bool(question.answer) and normalised(answer) == normalised(question.answer)


def f1(question: Question, answer: str) -> float:
    """Return the harmonic mean of precision and recall of an answer's words.

    It is 0 where one of the two is yes or no and they differ.

    Source: the evaluation of HotpotQA (Yang et al. 2018).
    """
    given, right = normalised(answer), normalised(question.answer)
    if given != right and (given in _UNALIKE or right in _UNALIKE):
        return 0.0
    given_words, right_words = given.split(), right.split()
    common = (Counter(given_words) & Counter(right_words)).total()
    if not common:
        return 0.0
    return 2 * common / (len(given_words) + len(right_words))


def normalised(answer: str) -> str:
    """Return an answer in lower case, without punctuation, articles and surplus blanks."""
    # In the order of HotpotQA's own evaluation: punctuation before articles.
    return " ".join(_ARTICLE.sub(" ", answer.lower().translate(_NO_PUNCTUATION)).split())


def _search(
    world: World,
    state: State,
    entity: str,
) -> Turn[State]:
    page = _named(world, entity)
    if page and not _is_ambiguous(page):
        opened = state.opened
        if page.title not in opened:
            opened = (*opened, page.title)
        after = State(page.title, opened=opened, looked_up=state.looked_up)
        return after, shown(world, page), "", ""
    # ReAct's program searches again in brackets where a name may refer to several pages, which
    # lists these.
    query = f"[{entity}]" if page else entity
    titles = _similar(world, query)
    if page:
        titles = [title for title in titles if title != page.title]
    listed = tuple(titles[:SHOWN])
    # Where nothing is found, Reflexion's program closes the open page; ReAct's keeps it and its
    # lookup.
    if world.dialect == "reflexion":
        after = State(listed=listed, opened=state.opened, looked_up=state.looked_up)
    else:
        after = state._replace(listed=listed)
    return after, text.not_found(world.dialect, query, listed), NO_SUCH_PAGE, ""


def _look_up(
    world: World,
    state: State,
    keyword: str,
) -> Turn[State]:
    if not state.page:
        return state, text.no_page(world.dialect), NO_PAGE, ""
    matches = results(world, state.page, keyword)
    passed = state.passed if keyword == state.keyword else 0
    if passed >= len(matches):
        # Also a word without results is the last one: that of before begins anew when it comes
        # back.
        after = state._replace(keyword=keyword, passed=passed)
        return after, text.NO_MORE_RESULTS, NO_MORE_RESULTS, ""
    answer = text.result(passed + 1, len(matches), matches[passed])
    looked_up = dict.fromkeys((*state.looked_up, matches[passed][: text.MAX_SENTENCE]))
    after = state._replace(keyword=keyword, passed=passed + 1, looked_up=tuple(looked_up))
    return after, answer, "", ""


def shown(world: World, page: Page) -> str:
    """Return what a search shows of a page: its first sentences."""
    return text.page(sentences(page, world.sentences)[:SHOWN])


def _named(world: World, entity: str) -> Page | None:
    """Return the page of a name, which may be one that only lists others."""
    # AutoPlan's tool opens a page by its exact title only.
    page = world.wiki.page(entity) if world.dialect == "autoplan" else world.wiki.find(entity)
    if page and world.scope == "question" and page.title not in world.question.titles:
        return None
    return page


def _similar(world: World, entity: str) -> list[str]:
    among = world.question.titles if world.scope == "question" else None
    # One more than is listed, since an ambiguous page is left out of its own list.
    return world.wiki.similar(entity, SHOWN + 1, among=among)


def _is_ambiguous(page: Page) -> bool:
    return any(_AMBIGUOUS in part for part in chain.from_iterable(page.paragraphs))


def _is_prose(paragraph: Sequence[str]) -> bool:
    return _joined(paragraph).strip().count(" ") >= 2


def _joined(paragraph: Sequence[str]) -> str:
    """Return the text of a paragraph; in the original's data the blank begins a sentence."""
    blank = "" if any(part[:1].isspace() for part in paragraph[1:]) else " "
    return blank.join(paragraph)


def _titles_in_view(world: World, state: State) -> Iterator[str]:
    yield from state.listed
    if state == START:
        yield from titles_in(world, world.question.question)
        yield from _similar(world, world.question.question)[:SHOWN]
    for words in _read(world, state):
        yield from titles_in(world, words)


def _read(world: World, state: State) -> Iterator[str]:
    """Yield the question, then what was read, the last first: results of lookups, opened pages."""
    yield world.question.question
    yield from reversed(state.looked_up)
    for title in reversed(state.opened):
        page = world.wiki.page(title)
        if page:
            yield shown(world, page)


def _answers_in_view(world: World, state: State) -> Iterator[str]:
    """Yield yes and no if the question asks for them, then titles and names in view, each once."""
    if not state.opened:
        return
    answers: dict[str, None] = {}
    first_word = world.question.question.partition(" ")[0]
    if first_word.lower() in _AUXILIARIES:
        answers.update(yes=None, no=None)
    answers.update(dict.fromkeys(_titles_in_view(world, state)))
    for words in _read(world, state):
        for name in _NAME.findall(words):
            answers[name.removesuffix("'s")] = None
    for answer in answers:
        if answer.lower() not in COMMON:
            yield answer


def titles_in(world: World, words: str) -> Iterator[str]:
    """Yield the titles in a text, at each capital letter or digit the longest one.

    Of namesakes that differ by a kind in brackets, ``the director Mercer`` is ``Mercer (director)``
    as well.
    """
    parts, start = words.split(), 0
    while start < len(parts):
        taken = 1
        first = parts[start].lstrip("\"'([")[:1]
        if first.isupper() or first.isdigit():
            kind = parts[start - 1] if start else ""
            for end in range(min(start + _LONGEST_TITLE, len(parts)), start, -1):
                names = list(_titles_of(world, " ".join(parts[start:end]), kind))
                if names:
                    yield from names
                    taken = end - start
                    break
        start += taken


def _titles_of(
    world: World,
    words: str,
    kind: str,
) -> Iterator[str]:
    """Yield words that are a title without the punctuation around them, or with a kind."""
    # With brackets first, which may be its own: ``Mercer (film)``.
    names = [words.strip(around).removesuffix("'s") for around in (_MARKS, f"{_MARKS}()[]")]
    for name in dict.fromkeys(names):
        page = find(world, name)
        if page and len(page.title) > 2:
            yield name
            break
    namesake = f"{names[-1]} ({kind})"
    page = find(world, namesake) if kind.isalpha() else None
    if page and page.title == namesake:
        yield namesake
