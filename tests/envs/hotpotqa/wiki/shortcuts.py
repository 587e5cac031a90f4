"""Players that answer questions about a made wiki without reading all that the answer follows
from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean

from tests.envs.hotpotqa.wiki.reader import RELATIONS, Entry, Reader, size
from textcraft_gym.envs.hotpotqa.wiki.corpus import Corpus, Question
from textcraft_gym.envs.hotpotqa.wiki.kinds import KINDS, Relation

Player = Callable[[Question], str]


def share(questions: Iterable[Question], answer: Player) -> float:
    """Return the share of exact matches."""
    return fmean(answer(question) == question.answer for question in questions)


def relations_of(question: Question) -> list[tuple[str, Relation]]:
    """Return the relation that a question asks for, which every way to read it has, and the kind of
    things."""
    return [
        (kind, relation)
        for kind, relation in RELATIONS
        for pattern in (relation.question, relation.same, *relation.compare)
        if pattern
        and question.question.startswith((start := pattern.split("{}"))[0])
        and question.question.endswith(start[-1])
    ]


class Guesser:
    """Answers from one page as well as that can be: what it says of what is asked for, or else
    another value alike."""

    def __init__(self, reader: Reader) -> None:
        self.entries = {entry.title: entry for entry in reader.entries}
        sizes = defaultdict(list)
        for entry in reader.entries:
            for relation in KINDS[entry.kind].relations:
                if relation.compare:
                    sizes[entry.kind, relation.name].append(size(entry.values[relation.name][0]))
        self.median = {key: sorted(values)[len(values) // 2] for key, values in sizes.items()}

    def answer(self, question: Question, title: str) -> str:
        """Return the answer to a question from the page of a title."""
        entry = self.entries.get(title)
        if entry is None:
            return ""
        for kind, relation in relations_of(question):
            if relation.same and question.type == "comparison":
                return "no"
            if question.type == "comparison":
                if kind != entry.kind or relation.name not in entry.values:
                    continue
                is_low = size(entry.values[relation.name][0]) < self.median[kind, relation.name]
                wants_low = question.question.startswith(relation.compare[0].split("{}")[0])
                if is_low == wants_low:
                    return entry.name
                others = self._others(question, entry)
                return others[0] if others else ""
            if kind == entry.kind and relation.name in entry.values:
                return entry.values[relation.name][0]
        alike = {relation.value for _, relation in relations_of(question)}
        for relation in KINDS[entry.kind].relations:
            if relation.value in alike and relation.name in entry.values:
                return entry.values[relation.name][0]
        return ""

    def says(self, question: Question, title: str) -> bool:
        """Return whether the page of a title says something of what is asked for."""
        entry = self.entries.get(title)
        return entry is not None and any(
            kind == entry.kind and relation.name in entry.values
            for kind, relation in relations_of(question)
        )

    def _others(self, question: Question, entry: Entry) -> list[str]:
        return [
            name
            for name in re.split(", (?:the \\w+ )*| or (?:the \\w+ )*|\\?", question.question)[1:3]
            if name != entry.name
        ]


def most_frequent(corpus: Corpus, reader: Reader) -> Player:
    """Return a player with the answer that most training questions have."""
    answer = Counter(question.answer for question in corpus.splits["train"]).most_common(1)[0][0]
    return lambda question: answer


def best_of_search(corpus: Corpus, reader: Reader) -> Player:
    """Return a player that reads the page that a search for the whole question finds."""
    guesser = Guesser(reader)
    return lambda question: guesser.answer(question, corpus.wiki.similar(question.question, 1)[0])


def best_of_ten(corpus: Corpus, reader: Reader) -> Player:
    """Return a player that reads the likeliest of the question's ten pages that says something of
    what is asked."""
    guesser = Guesser(reader)

    def answer(question: Question) -> str:
        titles = corpus.wiki.similar(question.question, 10, among=question.titles)
        saying = [title for title in titles if guesser.says(question, title)]
        return guesser.answer(question, saying[0]) if saying else ""

    return answer


def first_hop(corpus: Corpus, reader: Reader) -> Player:
    """Return a player that reads the first page of evidence only."""
    guesser = Guesser(reader)
    return lambda question: guesser.answer(question, question.gold[0][0])


SHORTCUTS: Mapping[str, Callable[[Corpus, Reader], Player]] = {
    "the most frequent answer": most_frequent,
    "the best page of a search for the question": best_of_search,
    "the best of the ten pages that says what is asked": best_of_ten,
    "an expert without its second hop": first_hop,
}
