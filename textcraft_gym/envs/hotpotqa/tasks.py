"""HotpotQA's tasks: the questions of a corpus, and their splits."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.envs.hotpotqa import text
from textcraft_gym.envs.hotpotqa.expert import plan
from textcraft_gym.envs.hotpotqa.rules import Scope, Sentences, World
from textcraft_gym.envs.hotpotqa.text import Dialect
from textcraft_gym.envs.hotpotqa.wiki.corpus import Corpus, Question
from textcraft_gym.envs.hotpotqa.wiki.made import SPLITS as MADE_SPLITS
from textcraft_gym.envs.hotpotqa.wiki.made import made_corpus
from textcraft_gym.envs.hotpotqa.wiki.official import read_corpus
from textcraft_gym.errors import UnknownName

MADE = "made"
PAGES = 5000
"""Number of pages of a made wiki by default."""
LEVELS = ("easy", "medium", "hard")

_KEPT_SEARCHES, _KEPT_LENGTH = 1 << 12, 200
_REACT_SEED, _REACT_DEV, _REACT_COUNT = 233, 7405, 500


class Library:
    """A wiki with its questions, open; a copy of it is the same object.

    Args:
        corpus: The wiki and the questions.
        opened_by: The arguments of ``open_library``, with which another process opens it after
            unpickling.

    Attributes:
        page, find: As those of the wiki.
        splits: The questions by split; ``react`` has those that ReAct is evaluated on, where the
            data has them.
    """

    def __init__(
        self,
        corpus: Corpus,
        opened_by: tuple[Any, ...],
    ) -> None:
        self._wiki = corpus.wiki
        self.page = corpus.wiki.page
        self.find = corpus.wiki.find
        self._divided = corpus.splits
        self.splits: Mapping[str, Sequence[Question]] = {
            **corpus.splits,
            **_of_react(corpus.splits),
        }
        self._opened_by = opened_by
        self._searched: dict[tuple[str, int, Sequence[str] | None], list[str]] = {}

    def __len__(self) -> int:
        return len(self._wiki)

    def __iter__(self) -> Iterator[str]:
        return iter(self._wiki)

    def __copy__(self) -> Library:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Library:
        return self

    def __reduce__(self) -> Any:
        return open_library, self._opened_by

    def similar(
        self,
        entity: str,
        count: int = 5,
        *,
        among: Sequence[str] | None = None,
    ) -> list[str]:
        """Return titles of pages that a search finds, as those of the wiki; the last are kept."""
        key = entity, count, among
        titles = self._searched.get(key)
        if titles is None:
            if len(self._searched) >= _KEPT_SEARCHES:
                self._searched.clear()
            titles = self._wiki.similar(entity, count, among=among)
            if len(entity) <= _KEPT_LENGTH:
                self._searched[key] = titles
        return titles

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of pages and questions."""
        contents = hashlib.sha256(self._wiki.fingerprint.encode())
        for split, questions in self._divided.items():
            contents.update(repr([split, *map(tuple, questions)]).encode(errors="surrogatepass"))
        return contents.hexdigest()

    @cached_property
    def vocabulary(self) -> str:
        """A text with every word of pages, questions and answers of the game."""
        parts = [text.WORDS, *self]
        for title in self:
            page = self.page(title)
            if page:
                parts += chain.from_iterable(page.paragraphs)
        for questions in self._divided.values():
            for question in questions:
                parts += (question.question, question.answer)
        return "\n".join(parts)

    @cached_property
    def places(self) -> Mapping[str, tuple[str, int]]:
        """The split of each question, and its number in it, by its id."""
        places = {}
        for split, questions in self._divided.items():
            for number, question in enumerate(questions):
                places[question.id] = split, number
        return places

    def questions(self, split: str) -> Sequence[tuple[int, Question]]:
        """Return the questions of a split, or of ``all``, with their numbers in their own split.

        Raises:
            UnknownName: If there is no such split.
        """
        if split == "all":
            return list(chain.from_iterable(map(enumerate, self._divided.values())))
        if split not in self.splits:
            raise UnknownName.of("split", split, [*self.splits, "all"])
        if split in self._divided:
            return list(enumerate(self.splits[split]))
        return [(self.places[question.id][1], question) for question in self.splits[split]]


class Reading(NamedTuple):
    """How a player reads a library: everything of a world but the question; see ``World``."""

    library: Library
    dialect: Dialect
    sentences: Sentences
    scope: Scope


@dataclass(frozen=True)
class Task:
    """One question.

    Attributes:
        id: Its id in the data.
        number: Its number in its split of the data.
        question: The question.
        reading: How it is played.
    """

    id: str
    number: int
    question: Question = field(repr=False, compare=False)
    reading: Reading = field(repr=False, compare=False)

    @property
    def world(self) -> World:
        """The question, the wiki, and how both are read."""
        return World(self.reading.library, self.question, *self.reading[1:])

    @property
    def group(self) -> str:
        """Its type and level, ``bridge hard``."""
        return f"{self.question.type} {self.question.level}"

    @property
    def depth(self) -> int:
        """Its level: 1 is easy, 2 medium, 3 hard, and 0 another."""
        if self.question.level not in LEVELS:
            return 0
        return LEVELS.index(self.question.level) + 1

    @cached_property
    def optimal_length(self) -> int:
        """Length of the expert's plan, which reads all evidence; 0 if there is no known answer."""
        return len(plan(self.world))

    @property
    def content(self) -> str:
        """The question, the answer, and the pages and sentences that it follows from."""
        question, wiki = self.question, self.reading.library
        lines = [question.question, question.answer]
        for title in sorted({title for title, _ in question.gold}):
            lines.append(title)
            page = wiki.page(title)
            if page:
                lines += chain.from_iterable(page.paragraphs)
        return "\n".join(lines)


def open_library(
    data: str | Path | Corpus = MADE,
    pages: int = PAGES,
    seed: int = 0,
) -> Library:
    """Return the library of made pages, of a folder of the original's data, or of a corpus.

    Those that were opened last are kept, so that equal arguments return the same object; but not
    that of a corpus.

    Raises:
        WikiDataError: If the data cannot be read.
        ValueError: If a number is out of bounds.
    """
    if isinstance(data, Corpus):
        return Library(data, (data,))
    if data == MADE:
        return _made(pages, seed)
    folder = Path(data).expanduser()
    stamps = []
    for file in sorted(folder.iterdir()) if folder.is_dir() else [folder]:
        if file.is_file():
            stat = file.stat()
            stamps.append((file, stat.st_size, stat.st_mtime_ns))
    return _read(folder, tuple(stamps))


def split_names(data: str | Path | Corpus = MADE) -> tuple[str, ...]:
    """Return the names of the splits of some data, without building the pages of a made wiki."""
    divided = MADE_SPLITS if data == MADE else open_library(data).splits
    return (*divided, "all")


@lru_cache(maxsize=32)
def split_tasks(reading: Reading, split: str) -> tuple[Task, ...]:
    """Return the tasks of a split.

    Raises:
        UnknownName: If there is no such split.
    """
    questions = reading.library.questions(split)
    return tuple(Task(question.id, number, question, reading) for number, question in questions)


def find_task(reading: Reading, name: object) -> Task:
    """Return a task by its id, from any split.

    Raises:
        UnknownName: If there is none.
    """
    library = reading.library
    if not isinstance(name, str) or name not in library.places:
        raise UnknownName.of("task", name, list(library.places))
    split, number = library.places[name]
    return Task(name, number, library.splits[split][number], reading)


@lru_cache(maxsize=4)
def _made(pages: int, seed: int) -> Library:
    return Library(made_corpus(pages=pages, seed=seed), (MADE, pages, seed))


@lru_cache(maxsize=1)  # they are large
def _read(folder: Path, stamps: tuple[Any, ...]) -> Library:
    """Return the library of a folder; changed files, which the stamps tell, make another one."""
    return Library(read_corpus(folder), (folder,))


def _of_react(splits: Mapping[str, Sequence[Question]]) -> Mapping[str, Sequence[Question]]:
    """Return the questions that ReAct is evaluated on, in its order, as a split.

    There are none if the data is not HotpotQA's.
    """
    dev = splits.get("dev", ())
    if len(dev) != _REACT_DEV:
        return {}
    order = list(range(_REACT_DEV))
    random.Random(_REACT_SEED).shuffle(order)  # the program's own draw
    return {"react": [dev[number] for number in order[:_REACT_COUNT]]}
