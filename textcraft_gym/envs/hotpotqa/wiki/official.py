"""Reads the original's data as streams, in each of its JSON shapes, and checks it.

A folder has files of questions, of pages, or of both. The name of a file of questions tells their
split. A question comes with its pages, either as lists, ``[title, [sentence, ...]]``, or as
columns, ``title`` and ``sentences``; or it has none, as in the files ``*_simplified.json``. Files
of pages are an object ``{title: [sentence, ...]}``, or a list of objects with ``title`` and
``text``. The wiki has the pages of all files. It is cached, as are the questions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, overload

from textcraft_gym.envs.hotpotqa.wiki.closed_wiki import ClosedWiki, write_wiki
from textcraft_gym.envs.hotpotqa.wiki.corpus import Corpus, Page, Question
from textcraft_gym.errors import DataError
from textcraft_gym.storage.arrays import Append, Arrays, Records, RecordWriter, cached
from textcraft_gym.storage.json_stream import JSONStreamError, read_items, read_members
from textcraft_gym.storage.progress import progress_bar

FORMAT = 2
"""Version of the cached file and of the code that computes it; other versions are ignored."""
UNKNOWN = "unknown"
"""The type or level of a question where the data does not tell it."""

_SPLITS = {"train": "train", "dev": "dev", "valid": "dev", "test": "test"}
"""Splits by a word in the name of a file; other files are of the split ``dev``."""
_TYPES = ("bridge", "comparison")
_LEVELS = ("easy", "medium", "hard")
_SHOWN = 60


class WikiDataError(DataError):
    """Invalid data of a wiki; nothing is loaded in part."""


class StoredQuestions(Sequence[Question]):
    """The questions of a split, made on access."""

    def __init__(self, arrays: Arrays, split: str) -> None:
        self._records = Records(arrays, split)

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> list[Question]: ...
    def __getitem__(self, index: int | slice) -> Question | list[Question]:
        positions = range(len(self))[index]
        if isinstance(positions, range):
            return [self[position] for position in positions]
        question = Question(*self._records[positions])
        gold = tuple((title, number) for title, number in question.gold)
        return question._replace(gold=gold, titles=tuple(question.titles))


def read_corpus(data: str | Path) -> Corpus:
    """Read the original's data, from the cache if its files are unchanged.

    Args:
        data: A folder, of which all files ``*.json`` are read, or one file.

    Returns:
        The corpus, with those of the splits ``train``, ``dev`` and ``test`` that there are
        questions of. Sentences are as the data has them, with the blanks around them. An answer
        that the data does not tell is empty.

    Raises:
        WikiDataError: If something is missing or cannot be read.
    """
    path = Path(data).expanduser()
    files = _find_files(path)
    names = [str(file.resolve()) for file in files]
    stats = [file.stat() for file in files]
    sizes = [[stat.st_size, stat.st_mtime_ns] for stat in stats]
    stamp = json.dumps([FORMAT, [[name, *size] for name, size in zip(names, sizes, strict=True)]])
    digest = hashlib.sha256(json.dumps(names).encode()).hexdigest()[:16]
    arrays = cached(f"wiki-{digest}.arrays", stamp, lambda append: _write(append, path, files))
    splits = {}
    for split in dict.fromkeys(_SPLITS.values()):
        if split in arrays:
            splits[split] = StoredQuestions(arrays, split)
    return Corpus(ClosedWiki(arrays), splits)


def _find_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise WikiDataError.at(path, "no such file or folder")
    # Simplified files last: a question is kept as it is read first, and they give no pages.
    files = sorted(path.glob("*.json"), key=lambda file: ("simplified" in file.name, file.name))
    if not files:
        raise WikiDataError.at(path, "expected files *.json, got none")
    return files


def _write(
    append: Append,
    path: Path,
    files: Sequence[Path],
) -> None:
    """Write the wiki and the questions as arrays."""
    reader = _Reader(append)
    pages = write_wiki(append, chain.from_iterable(map(reader.pages, files)))
    if not reader.questions:
        raise WikiDataError.at(path, "expected questions, got pages only")
    if not pages:
        raise WikiDataError.at(
            path,
            "expected pages: simplified questions need a file that has them",
        )
    for records in reader.questions.values():
        records.close()


class _Reader:
    """Yields the pages of files, and records the questions on the way.

    A question that is read again, as those of another setting are, gives its pages only. One
    without an id is known by its text, and has the name of its file and its number there for an id.

    Args:
        append: Takes the arrays of questions, after those of pages.

    Attributes:
        questions: The questions by split.
    """

    def __init__(self, append: Append) -> None:
        self._append = append
        self.questions: dict[str, RecordWriter] = {}
        self._ids: set[str] = set()
        self._earlier: set[str] = set()

    def pages(self, file: Path) -> Iterator[Page]:
        """Yield the pages of a file, which may repeat those of others."""
        split = _split_of(file)
        texts: set[str] = set()
        for entry in _entries(file):
            if isinstance(entry.name, str):
                yield Page(entry.name, entry.paragraphs(entry.value))
            elif entry.has("question"):
                context = entry.context()
                yield from context
                self._record(entry, split, tuple(page.title for page in context))
                texts.add(entry.value["question"])
            elif entry.has("title"):
                yield Page(entry.text("title"), entry.paragraphs(entry.get("text"), "text"))
            else:
                raise entry.error("expected a question or a title among its keys")

        self._earlier |= texts

    def _record(
        self,
        entry: _Entry,
        split: str,
        titles: tuple[str, ...],
    ) -> None:
        question = entry.text("question")
        id = entry.text("_id" if entry.has("_id") else "id", "")
        known = id in self._ids if id else question in self._earlier
        if known:
            return
        id = id or f"{entry.file.stem}-{entry.name}"
        self._ids.add(id)
        type_, level = entry.one_of("type", _TYPES), entry.one_of("level", _LEVELS)
        answer = entry.text("answer", "")
        record = Question(id, question, answer, type_, level, entry.gold(), titles)
        if split not in self.questions:
            self.questions[split] = RecordWriter(self._append, split, deferred=True)
        self.questions[split].add(record)


class _Entry:
    """An entry of a file.

    Attributes:
        file: The file.
        name: Its index in a list, or its key in an object.
        value: What it is.
    """

    def __init__(
        self,
        file: Path,
        name: int | str,
        value: Any,
    ) -> None:
        self.file = file
        self.name = name
        self.value = value

    def error(self, problem: str, key: str | None = None) -> WikiDataError:
        """Return an error that names the place."""
        name = self.name if isinstance(self.name, int) else repr(_shortened(self.name))
        return WikiDataError.at(self.file, problem, name, key)

    def has(self, key: str) -> bool:
        """Return whether there is the key."""
        if not isinstance(self.value, dict):
            raise self.error(f"expected an object, got {_shown(self.value)}")
        return key in self.value

    def get(self, key: str) -> Any:
        """Return a value; None if there is none."""
        return self.value.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text."""
        value = self.get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, str):
            return value
        if self.has(key):
            raise self.error(f"expected a text, got {_shown(value)}", key)
        raise self.error("is missing", key)

    def one_of(self, key: str, known: Sequence[str]) -> str:
        """Return one of the known texts, or that it is unknown."""
        value = self.text(key, UNKNOWN)
        if value not in (*known, UNKNOWN):
            raise self.error(f"expected {' or '.join(known)}, got {_shown(value)}", key)
        return value

    def context(self) -> list[Page]:
        """Return the pages of a question, in either shape."""
        pages = []
        for title, sentences in self._pairs("context", "title", "sentences"):
            if not isinstance(title, str) or not isinstance(sentences, list):
                raise self.error(
                    f"expected titles with a list of sentences, got {_shown([title, sentences])}",
                    "context",
                )
            pages.append(Page(title, self.paragraphs(sentences, "context")))
        return pages

    def paragraphs(
        self,
        value: Any,
        key: str | None = None,
    ) -> tuple[tuple[str, ...], ...]:
        """Return the paragraphs of a page.

        Of a text they are its lines; sentences are one; lists of sentences are one for each.
        """
        if isinstance(value, str):
            return tuple((line,) for line in value.split("\n") if line.strip())
        if _is_texts(value):
            return (tuple(value),)
        if isinstance(value, list) and all(map(_is_texts, value)):
            return tuple(map(tuple, value))
        raise self.error(f"expected a text or a list of sentences, got {_shown(value)}", key)

    def gold(self) -> tuple[tuple[str, int], ...]:
        """Return the supporting facts of a question, in either shape."""
        pairs = self._pairs("supporting_facts", "title", "sent_id")
        for title, number in pairs:
            if not isinstance(title, str) or type(number) is not int or number < 0:
                raise self.error(
                    f"expected titles with the number of a sentence, got {_shown([title, number])}",
                    "supporting_facts",
                )
        return tuple(pairs)

    def _pairs(
        self,
        key: str,
        first: str,
        second: str,
    ) -> list[tuple[Any, Any]]:
        """Return pairs that are given as a list of pairs, or as two columns."""
        value = self.get(key)
        if value is None:
            return []
        if isinstance(value, dict):
            return self._columns(key, first, second)
        if not isinstance(value, list):
            raise self.error(f"expected a list, or an object of lists, got {_shown(value)}", key)
        for pair in value:
            if not isinstance(pair, list) or len(pair) != 2:
                raise self.error(f"expected pairs, got {_shown(pair)}", key)
        return [(pair[0], pair[1]) for pair in value]

    def _columns(
        self,
        key: str,
        first: str,
        second: str,
    ) -> list[tuple[Any, Any]]:
        columns = self.get(key)
        left, right = columns.get(first), columns.get(second)
        if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
            return list(zip(left, right, strict=True))
        raise self.error(
            f"expected lists {first!r} and {second!r} of one length, got {_shown(columns)}",
            key,
        )


def _split_of(file: Path) -> str:
    for word, split in _SPLITS.items():
        if word in file.stem.lower():
            return split
    return "dev"


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _entries(file: Path) -> Iterator[_Entry]:
    """Yield the entries of a file; an error in its JSON is reported with the index of the entry."""
    index = 0
    try:
        with progress_bar(f"Reading {file.name}") as progress:
            size = file.stat().st_size

            def on_read(read: int) -> None:
                progress(read, size)

            if _is_object(file):
                for key, source in read_members(file, on_read):
                    yield _Entry(file, key, json.loads(source))
                    index += 1
            else:
                for value in read_items(file, on_read):
                    yield _Entry(file, index, value)
                    index += 1
    except JSONStreamError as error:
        raise WikiDataError.at(file, str(error), index) from error


def _is_object(file: Path) -> bool:
    # A byte order mark and blanks may come before the first bracket.
    with file.open("rb") as stream:
        return stream.read(256).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    return _shortened(repr(value))


def _shortened(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}..."
