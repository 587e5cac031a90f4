"""A closed wiki: pages by title, and a search by BM25 over titles and texts.

Everything is in flat arrays, so that a wiki of a million pages is open at once where its arrays are
mapped from a file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.envs.hotpotqa.wiki.corpus import Page
from textcraft_gym.storage.arrays import (
    Append,
    Arrays,
    Names,
    Records,
    RecordWriter,
    in_memory,
    write_records,
)
from textcraft_gym.storage.progress import progress_bar
from textcraft_gym.storage.search.bm25 import Index, IndexWriter

MAX_QUERY = 1000
"""Number of characters of an entity that a search reads."""

_KEPT_PAGES = 1 << 12
_KEPT_NAMES = 1 << 16
_MAX_KEPT_NAME = 200
_BRACKETS = re.compile(r"\s*\([^()]*\)$")


class ClosedWiki:
    """A wiki, immutable, so that any number of environments share one.

    A page is found by its exact title; else by a title or a redirect that differs in case, blanks
    or underscores; else without the round brackets at the end of either: ``Mercer (film)`` by
    ``Mercer`` if no other title is ``Mercer`` but for brackets, and ``Mercer`` by
    ``Mercer (film)``.

    Args:
        arrays: Those that ``write_wiki`` writes.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._pages, self._titles = Records(arrays, "pages"), Records(arrays, "titles")
        self._exact = Names(arrays, "exact")
        self._alike = Names(arrays, "alike")
        self._bare = Names(arrays, "bare")
        self._index = Index(arrays)
        self._fingerprint = arrays["fingerprint"].tobytes().hex()
        self._read: dict[int, Page] = {}
        self._found: dict[str, int | None] = {}

    @classmethod
    def of(
        cls,
        pages: Iterable[Page],
        redirects: Mapping[str, str] | None = None,
    ) -> ClosedWiki:
        """Return the wiki of these pages; of pages with the same title, the first.

        Args:
            pages: The pages.
            redirects: The title of a page for each of its other names.

        Raises:
            ValueError: If a redirect leads nowhere.
        """
        return cls(in_memory(lambda append: write_wiki(append, pages, redirects)))

    def __copy__(self) -> ClosedWiki:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ClosedWiki:
        return self

    def __len__(self) -> int:
        return len(self._titles)

    def __iter__(self) -> Iterator[str]:
        return (self._titles[index] for index in range(len(self)))

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of the pages and redirects, the same on every machine."""
        return self._fingerprint

    def page(self, title: str) -> Page | None:
        """Return the page with exactly this title."""
        return self._page(self._exact.first(title))

    def find(self, entity: str) -> Page | None:
        """Return the page with this title: exactly, then in any case or by a redirect, then bare.

        A bare title is one without brackets.
        """
        try:
            return self._page(self._found[entity])
        except KeyError:
            index = self._find(entity)
        if len(entity) <= _MAX_KEPT_NAME:
            if len(self._found) >= _KEPT_NAMES:
                self._found.clear()
            self._found[entity] = index
        return self._page(index)

    def similar(
        self,
        entity: str,
        count: int = 5,
        *,
        among: Sequence[str] | None = None,
    ) -> list[str]:
        """Return titles of pages that a search finds, the best first, of all or ``among`` these.

        Pages of equal score are in the order of their titles.
        """
        documents = None
        if among is not None:
            known = {index for index in map(self._exact.first, among) if index is not None}
            documents = np.array(sorted(known), np.int64)
        indices = self._index.search(entity[:MAX_QUERY], count, documents)
        return [self._titles[index] for index in indices]

    def _page(self, index: int | None) -> Page | None:
        if index is None:
            return None
        page = self._read.get(index)
        if page is None:
            if len(self._read) >= _KEPT_PAGES:
                self._read.clear()
            title, paragraphs = self._pages[index]
            page = self._read[index] = Page(title, tuple(map(tuple, paragraphs)))
        return page

    def _find(self, entity: str) -> int | None:
        index = self._exact.first(entity)
        if index is not None:
            return index
        name = _alike(entity)
        index = self._alike.first(name)
        if index is not None:
            return index
        bare = _bare(name)
        if bare == name:
            return self._bare.only(name)
        return self._alike.first(bare)


def write_wiki(
    append: Append,
    pages: Iterable[Page],
    redirects: Mapping[str, str] | None = None,
) -> int:
    """Write the arrays of a wiki, and return the number of its pages; see ``ClosedWiki.of``."""
    if redirects is None:
        redirects = {}
    indices: dict[str, int] = {}
    contents = hashlib.sha256(json.dumps(sorted(redirects.items())).encode())

    def append_page(name: str, part: NDArray[Any]) -> None:
        contents.update(part.data)
        append(name, part)

    records = RecordWriter(append_page, "pages")
    with IndexWriter() as index:
        for page in pages:
            if page.title not in indices:
                indices[page.title] = len(indices)
                records.add(page)
                index.add("\n".join([page.title, *map(" ".join, page.paragraphs)]))
        records.close()
        write_records(append, "titles", indices)
        # Of pages and redirects alone: the index follows from them.
        append("fingerprint", np.frombuffer(contents.digest(), np.uint8))
        with progress_bar("Writing the search index") as bar:
            index.write(append, keys=[*indices], exact_lengths=True, progress=bar)

    _write_names(append, indices, redirects)
    return len(indices)


def _write_names(
    append: Append,
    indices: Mapping[str, int],
    redirects: Mapping[str, str],
) -> None:
    """Write the names by which pages are found: exact, alike, and without brackets."""
    titles = [(_alike(title), index) for title, index in indices.items()]
    others: dict[str, int] = {}
    for name, title in redirects.items():
        if title not in indices:
            raise ValueError(f"expected the redirect {name!r} to lead to a page, got {title!r}")
        others[_alike(name)] = indices[title]

    bare = []
    for name, index in titles:
        short = _bare(name)
        if short != name:
            bare.append((short, index))

    Names.write(append, "exact", indices.items())
    # Titles come first, so that a redirect never hides one.
    Names.write(append, "alike", [*titles, *others.items()])
    Names.write(append, "bare", bare)


def _alike(name: str) -> str:
    """Return what names have in common that differ in case, blanks or underscores only."""
    return " ".join(name.replace("_", " ").casefold().split())


def _bare(name: str) -> str:
    """Return a name without the round brackets at its end, unless there is nothing before them."""
    return _BRACKETS.sub("", name) or name
