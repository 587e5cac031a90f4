"""What a wiki and its questions are, wherever they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol


class Page(NamedTuple):
    """A page.

    Attributes:
        title: Its title, which no other page has.
        paragraphs: Its paragraphs, each as the sentences that the data gives.
    """

    title: str
    paragraphs: tuple[tuple[str, ...], ...]


class Question(NamedTuple):
    """A question that takes several pages.

    Attributes:
        id: Its id, unique in the corpus.
        question: Its text.
        answer: The right answer.
        type: ``bridge`` or ``comparison``.
        level: ``easy``, ``medium`` or ``hard``.
        gold: Titles and numbers of the sentences that the answer follows from; empty where the data
            has none.
        titles: Titles of the pages that the data gives with it, those of ``gold`` among them; empty
            where it has none.
    """

    id: str
    question: str
    answer: str
    type: str
    level: str
    gold: tuple[tuple[str, int], ...]
    titles: tuple[str, ...]


class Wiki(Protocol):
    """Pages that can be found by title and searched."""

    def __len__(self) -> int:
        """Return the number of pages."""

    def __iter__(self) -> Iterator[str]:
        """Yield the titles of the pages, in their order."""

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of the pages, the same on every machine."""

    def page(self, title: str) -> Page | None:
        """Return the page with exactly this title."""

    def find(self, entity: str) -> Page | None:
        """Return the page with this title: exactly, then in any case or by a redirect, then bare.

        A bare title is one without brackets.
        """

    def similar(
        self,
        entity: str,
        count: int = 5,
        *,
        among: Sequence[str] | None = None,
    ) -> list[str]:
        """Return titles of pages that a search finds, the best first, of all or ``among`` these."""


class Corpus(NamedTuple):
    """A wiki and its questions by split."""

    wiki: Wiki
    splits: Mapping[str, Sequence[Question]]
