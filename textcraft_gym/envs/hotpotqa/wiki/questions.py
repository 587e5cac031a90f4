"""Asks questions about a made wiki whose answer takes several of its pages.

A bridge question names one thing and asks about another, which is found on the way: *In which town
was the director of the film X born?* A comparison names two. The easy ones take two pages that are
found by their titles, with the evidence in view; those of medium level have a name that several
things share or another name on the way, or evidence further down; the hard ones take a page more,
and a comparison two.

No page has both the name in a bridge question and its answer, and none two things that are
compared. What is compared is nearly equal, so that one page does not tell which is more; and of
questions for yes or no half are for either.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from textcraft_gym.envs.hotpotqa.wiki.articles import ALIAS, Article
from textcraft_gym.envs.hotpotqa.wiki.corpus import Question
from textcraft_gym.envs.hotpotqa.wiki.facts import Facts, Thing, Value, written
from textcraft_gym.envs.hotpotqa.wiki.kinds import BORN, KINDS, Relation
from textcraft_gym.envs.hotpotqa.wiki.names import Draw

PATTERN = {
    ("bridge", "easy"): 4,
    ("bridge", "medium"): 6,
    ("bridge", "hard"): 5,
    ("comparison", "easy"): 1,
    ("comparison", "medium"): 2,
    ("comparison", "hard"): 2,
}
"""Number of questions of each type and level among any twenty from the start of a split."""
TITLES = 10
"""Number of pages that come with a question."""
SHOWN = 5
"""Number of sentences at the start of a page that are in view."""

_ALIAS = 0.2
"""Probability that a question has another name of a thing, where it has one."""
_OPPOSITE = {"yes": "no", "no": "yes"}
_NEAR = 30
"""Things are compared whose ranks differ by at most their number divided by this."""


class Path(NamedTuple):
    """A way from a thing to what is asked.

    Attributes:
        words: How a question names what is at its end.
        end: What is there.
        things: The things on the way, in order.
        relations: The relations that lead from each to the next.
        evidence: The things, each with what a sentence says of it: the name of a relation, or that
            of its other name.
        is_easy: Whether all that is found by its title, in view.
    """

    words: str
    end: Thing
    things: tuple[Thing, ...]
    relations: tuple[Relation, ...]
    evidence: tuple[tuple[Thing, str], ...]
    is_easy: bool


class Asker:
    """Draws questions.

    Args:
        facts: The facts.
        articles: The page of each thing.
        draw: The source of everything.
    """

    def __init__(
        self,
        facts: Facts,
        articles: Mapping[Thing, Article],
        draw: Draw,
    ) -> None:
        self._facts = facts
        self._articles = articles
        self._draw = draw
        self._naming: dict[str, set[Thing]] = defaultdict(set)
        for thing, article in articles.items():
            for name in article.names:
                self._naming[name].add(thing)
        self._having: dict[tuple[str, str, Value], list[Thing]] = defaultdict(list)
        self._sorted: dict[tuple[str, str], list[Thing]] = defaultdict(list)
        for thing in facts.things:
            for relation in _relations(thing):
                self._having[thing.kind, relation.name, thing.facts[relation.name]].append(thing)
                if relation.compare:
                    self._sorted[thing.kind, relation.name].append(thing)

        self._index: dict[tuple[str, Thing], int] = {}
        for (_, name), things in self._sorted.items():
            things.sort(key=lambda thing: (thing.facts[name], thing.title))  # used at once
            for index, thing in enumerate(things):
                self._index[name, thing] = index

    def questions(self) -> Iterator[Question]:
        """Yield questions, all of different wording, without end, in the order of ``PATTERN``."""
        waiting: dict[tuple[str, str], list[Question]] = defaultdict(list)
        words: set[str] = set()
        balance: Counter[str] = Counter()
        while True:
            groups = list(Counter(PATTERN).elements())
            for group in self._draw.shuffled(groups):
                while not waiting[group]:
                    question = self._ask(*group)
                    if not question or question.question in words:
                        continue
                    # Of yes and no, the one that there are fewer of.
                    if balance[question.level + question.answer] > 0:
                        continue
                    if question.answer in _OPPOSITE:
                        balance[question.level + question.answer] += 1
                        balance[question.level + _OPPOSITE[question.answer]] -= 1
                    words.add(question.question)
                    waiting[question.type, question.level].append(question)
                yield waiting[group].pop(0)

    def _ask(self, type_: str, level: str) -> Question | None:
        is_hard = level == "hard"
        if type_ == "bridge":
            return self._bridge(1 + is_hard)
        return self._compare(int(is_hard))

    def _bridge(self, hops: int) -> Question | None:
        """Ask about the end of a path; None if this draw makes no good question."""
        path = self._path(self._draw.pick(self._facts.things), hops, may_have_alias=True)
        if not path:
            return None
        relation = self._draw.pick(_relations(path.end))
        value = path.end.facts[relation.name]
        if isinstance(value, Thing) and (not value.is_plain or value in path.things):
            return None
        answer, words = written(value), relation.question.format(path.words)
        pages = self._pages_naming(path.things[:1])
        if answer in words or any(answer in self._articles[page].text for page in pages):
            return None
        return self._question(words, answer, "bridge", hops > 1, relation, path)

    def _compare(self, hops: int) -> Question | None:
        """Compare what is at the ends of two paths; None if this draw makes no good question."""
        first = self._path(self._draw.pick(self._facts.things), hops, may_have_alias=hops > 0)
        if not first:
            return None
        comparable = _comparable(first.end)
        if not comparable:
            return None
        relation = self._draw.pick(comparable)
        end = self._partner(first.end, relation)
        if not end:
            return None
        second = self._path_back(end, first.relations, first.things[0].kind)
        if not second or self._pages_naming(first.things) & self._pages_naming(second.things):
            return None
        pattern, answer = self._comparison(relation, first, second)
        if not answer:
            return None
        paths = self._draw.shuffled((first, second))
        words = pattern.format(*(path.words for path in paths))
        return self._question(words, answer, "comparison", hops > 0, relation, *paths)

    def _comparison(
        self,
        relation: Relation,
        first: Path,
        second: Path,
    ) -> tuple[str, str]:
        """Return the pattern of a comparison and its answer, empty if it would have two names."""
        if not relation.compare:
            is_same = first.end.facts[relation.name] is second.end.facts[relation.name]
            return relation.same, "yes" if is_same else "no"
        for path in (first, second):
            if path.end.alias or (path.relations and path.end.is_shared):
                return "", ""
        more = self._draw.between(0, 1)
        return relation.compare[more], (first, second)[more].end.name

    def _partner(self, thing: Thing, relation: Relation) -> Thing | None:
        """Draw what a thing is compared with.

        It is something that has a little more, or that has the same or not.
        """
        value = thing.facts[relation.name]
        if relation.compare:
            things = self._sorted[thing.kind, relation.name]
            index = self._index[relation.name, thing]
            index += self._draw.between(1, max(2, len(things) // _NEAR))
            if index < len(things) and things[index].facts[relation.name] != value:
                return things[index]
            return None
        alike = self._having[thing.kind, relation.name, value]
        others = alike if self._draw.chance(0.5) else self._facts.of_kind[thing.kind]
        other = self._draw.pick(others)
        return other if other is not thing else None

    def _path(
        self,
        start: Thing,
        hops: int,
        *,
        may_have_alias: bool,
    ) -> Path | None:
        """Draw a path of so many steps from a thing; None if it leads nowhere, or back."""
        path = self._begin(start, may_have_alias=may_have_alias)
        for _ in range(hops):
            onward = [relation for relation in _relations(path.end) if relation.noun]
            if not onward:
                return None
            path = self._step(path, self._draw.pick(onward))
        return path if len(set(path.things)) == len(path.things) else None

    def _path_back(
        self,
        end: Thing,
        relations: Sequence[Relation],
        kind: str,
    ) -> Path | None:
        """Draw a path of one step or none that leads to a thing; None if there is none."""
        if not relations:
            return self._begin(end, may_have_alias=False)
        starts = self._having[kind, relations[0].name, end]
        if not starts:
            return None
        start = self._begin(self._draw.pick(starts), may_have_alias=True)
        return self._step(start, relations[0])

    def _begin(self, start: Thing, *, may_have_alias: bool) -> Path:
        if start.alias and may_have_alias and self._draw.chance(_ALIAS):
            name = start.alias if start.kind in BORN else start.with_kind(start.alias)
            return Path(
                name,
                start,
                (start,),
                (),
                ((start, ALIAS),),
                is_easy=False,
            )
        name = start.named if start.kind in BORN else start.with_kind(start.name)
        return Path(
            name,
            start,
            (start,),
            (),
            (),
            is_easy=not start.is_shared,
        )

    def _step(self, path: Path, relation: Relation) -> Path:
        end = path.end.facts[relation.name]
        # The values of a relation with a noun have pages.
        assert isinstance(end, Thing)  # noqa: S101
        evidence = (*path.evidence, *self._said(path.end, relation))
        is_easy = path.is_easy and self._is_easy(path.end, relation)
        words = relation.noun.format(path.words)
        return Path(words, end, (*path.things, end), (*path.relations, relation), evidence, is_easy)

    def _said(
        self,
        thing: Thing,
        relation: Relation,
    ) -> list[tuple[Thing, str]]:
        """Return what says a relation: a sentence, and the one with the other name of the value."""
        value, sentence = thing.facts[relation.name], self._articles[thing].said(relation.name)
        if isinstance(value, Thing) and value.alias and value.alias in sentence:
            return [(thing, relation.name), (value, ALIAS)]
        return [(thing, relation.name)]

    def _is_easy(self, thing: Thing, relation: Relation) -> bool:
        """Return whether the value of a relation is in view, and if it has a page, by its title."""
        article = self._articles[thing]
        has_page = isinstance(thing.facts[relation.name], Thing)
        if has_page and relation.name not in article.links:
            return False
        return article.sentences[relation.name] < SHOWN

    def _pages_naming(self, things: Sequence[Thing]) -> set[Thing]:
        """Return the things on whose pages there is a name of one of these."""
        pages: set[Thing] = set()
        for thing in things:
            pages |= self._naming[thing.name]
            if thing.alias:
                pages |= self._naming[thing.alias]
        return pages

    def _question(
        self,
        words: str,
        answer: str,
        type_: str,
        is_hard: bool,
        relation: Relation,
        *paths: Path,
    ) -> Question:
        """Return a question about a relation of what is at the ends of paths."""
        # A dict, since it keeps the order.
        evidence: dict[tuple[str, int], None] = {}
        is_easy = True
        for path in paths:
            for thing, name in (*path.evidence, *self._said(path.end, relation)):
                evidence[thing.title, self._articles[thing].sentences[name]] = None
            is_easy = is_easy and path.is_easy and self._is_easy(path.end, relation)

        gold = tuple(evidence)
        if is_hard:
            level = "hard"
        elif is_easy:
            level = "easy"
        else:
            level = "medium"
        digest = hashlib.sha256(json.dumps([words, answer, gold]).encode()).hexdigest()
        return Question(digest[:24], words, answer, type_, level, gold, self._titles(paths, gold))

    def _titles(
        self,
        paths: Sequence[Path],
        gold: Sequence[tuple[str, int]],
    ) -> tuple[str, ...]:
        """Return the titles of the pages of evidence, and of others that could have the answer."""
        titles = dict.fromkeys(title for title, _ in gold)
        of_start = self._facts.of_kind[paths[0].things[0].kind]
        of_end = self._facts.of_kind[paths[0].end.kind]
        # Most could have the answer; the last third is of the kind that the question names.
        threshold = TITLES - max(1, (TITLES - len(titles)) // 3)
        while len(titles) < TITLES:
            things = of_start if len(titles) >= threshold else of_end
            titles[self._draw.pick(things).title] = None
        return tuple(self._draw.shuffled(list(titles)))


def _relations(thing: Thing) -> list[Relation]:
    return [relation for relation in KINDS[thing.kind].relations if relation.name in thing.facts]


def _comparable(thing: Thing) -> list[Relation]:
    return [relation for relation in _relations(thing) if relation.compare or relation.same]
