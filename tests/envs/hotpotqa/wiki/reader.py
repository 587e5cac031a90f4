"""Reads a made wiki as its player does, from the texts of pages alone, and answers questions from
what it read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from textcraft_gym.envs.hotpotqa.wiki.corpus import Page
from textcraft_gym.envs.hotpotqa.wiki.kinds import KINDS, Relation

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(eq=False)
class Entry:
    """What a page says: values by relation, each with the number of its sentence."""

    title: str
    kind: str
    name: str
    alias: str = ""
    values: dict[str, tuple[str, int]] = field(default_factory=dict)


class Reader:
    """What is known after reading pages; of some sentences only, if they are given as titles and
    numbers."""

    def __init__(
        self, pages: Iterable[Page], only: Iterable[tuple[str, int]] | None = None
    ) -> None:
        self.entries: list[Entry] = []
        self._named: dict[str, list[Entry]] = defaultdict(list)
        self._things: dict[str, list[Entry]] = {}
        wanted = None if only is None else set(only)
        for page in pages:
            entry = read(page, wanted)
            if entry:
                self.entries.append(entry)
                for name in filter(None, (entry.name, entry.alias)):
                    self._named[name].append(entry)

    def answers(self, question: str) -> set[str]:
        """Return the answers by every way to read a question."""
        answers: set[str] = set()
        for kind, relation in RELATIONS:
            for entry in self.things(_full(relation.question, question)):
                if entry.kind == kind and relation.name in entry.values:
                    answers |= self._written(relation, entry)
            for more, pattern in enumerate(relation.compare):
                for first, second in self._pairs(pattern, question, kind, relation):
                    sizes = [size(entry.values[relation.name][0]) for entry in (first, second)]
                    answers.add((first if (sizes[0] > sizes[1]) == bool(more) else second).name)
            for first, second in (
                self._pairs(relation.same, question, kind, relation) if relation.same else ()
            ):
                values = [
                    self._value(relation, entry) or entry.values[relation.name][0]
                    for entry in (first, second)
                ]
                answers.add("yes" if values[0] == values[1] else "no")
        return answers

    def things(self, words: str) -> list[Entry]:
        """Return what words may stand for: a name, a name with its kind, or what is related to
        something."""
        if not words:
            return []
        if words not in self._things:
            self._things[words] = self._meant(words)
        return self._things[words]

    def _meant(self, words: str) -> list[Entry]:
        words = (
            words.removeprefix("The ")
            if words.startswith("The ") and words not in self._named
            else words
        )
        words = words if words in self._named else words.removeprefix("the ")
        answers = list(self._named.get(words, ()))
        for kind, (start, end) in _PHRASES:
            name = _between(words, start, end)
            answers += [entry for entry in self._named.get(name, ()) if entry.kind == kind]
        for kind, relation, (start, end) in _NOUNS:
            for entry in self.things(_between(words, start, end)):
                if entry.kind == kind and relation.name in entry.values:
                    answers += self._value(relation, entry)
        return list(dict.fromkeys(answers))

    def _pairs(
        self, pattern: str, question: str, kind: str, relation: Relation
    ) -> list[tuple[Entry, Entry]]:
        start, middle, end = pattern.split("{}")
        pairs = []
        both = _between(question, start, end).split(middle)
        for cut in range(1, len(both)):  # a name can have the word between the two as well
            first, second = middle.join(both[:cut]), middle.join(both[cut:])
            pairs += [
                (thing, other) for thing in self.things(first) for other in self.things(second)
            ]
        return [
            pair
            for pair in pairs
            if all(entry.kind == kind and relation.name in entry.values for entry in pair)
        ]

    def _value(self, relation: Relation, entry: Entry) -> list[Entry]:
        words = entry.values[relation.name][0]
        return [thing for thing in self.things(words) if thing.kind == relation.value]

    def _written(self, relation: Relation, entry: Entry) -> set[str]:
        if relation.value not in KINDS:
            return {entry.values[relation.name][0]}
        return {thing.name for thing in self._value(relation, entry)} or {
            entry.values[relation.name][0]
        }


RELATIONS = [
    (kind, relation) for kind, (_, _, relations, _) in KINDS.items() for relation in relations
]
_PHRASES = [
    (kind, phrase.removeprefix("the ").split("{}")) for kind, (_, phrase, *_) in KINDS.items()
]
_NOUNS = [
    (kind, relation, relation.noun.removeprefix("the ").split("{}"))
    for kind, relation in RELATIONS
    if relation.noun
]


def read(page: Page, only: set[tuple[str, int]] | None = None) -> Entry | None:
    """Return what a page says; None if it lists others."""
    name = re.sub(r" \(\w+\)$", "", page.title)
    sentences = [sentence for paragraph in page.paragraphs for sentence in paragraph]
    if f"{name} may refer to:" in sentences:
        return None
    lead = next(sentence for sentence in sentences if not sentence.startswith("For the "))
    kinds = [
        kind
        for kind, (_, _, (relation, *_), _) in KINDS.items()
        if any(_said(pattern, name, kind, lead) for pattern in relation.sentences)
    ]
    assert len(kinds) == 1, (page, kinds)
    entry = Entry(page.title, kinds[0], name)
    for number, sentence in enumerate(sentences):
        if only is not None and (page.title, number) not in only:
            continue
        alias = re.fullmatch(rf"The {entry.kind} is also known as (\w+)\.", sentence)
        entry.alias = alias[1] if alias else entry.alias
        for relation in KINDS[entry.kind].relations:
            for pattern in relation.sentences:
                for subject in (name, f"the {entry.kind}"):
                    value = _said(pattern, subject, entry.kind, sentence)
                    if value:
                        assert (
                            entry.values.setdefault(relation.name, (value, number))[1] == number
                        ), page
    return entry


def size(value: str) -> tuple[int, ...]:
    """Return a number or a date such that they compare."""
    day, *rest = value.split()
    return (
        (int(rest[1]), _MONTHS.index(rest[0]), int(day)) if rest else (int(value.replace(",", "")),)
    )


def _said(pattern: str, subject: str, kind: str, sentence: str) -> str:
    """Return the value in a sentence; empty if it does not say this."""
    an = "an" if kind[0] in "aeiou" else "a"
    marked = pattern.replace("{k}", f"{an} {kind}").replace("{s}", subject)
    return _between(sentence, *(marked[:1].upper() + marked[1:]).split("{v}"))


def _full(pattern: str, text: str) -> str:
    """Return what stands for the brackets of a pattern; empty if a text is another."""
    return _between(text, *pattern.split("{}"))


def _between(text: str, start: str, end: str) -> str:
    fits = text.startswith(start) and text.endswith(end)
    return text[len(start) : len(text) - len(end)] if fits else ""
