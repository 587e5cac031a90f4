"""An inverted index with BM25 scores as Lucene computes them, ties and rounding included.

Two details of Lucene's decide the order of results: scores are in single precision, and the length
of a document is stored in a single byte. The latter can be left out.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.storage.arrays import Append, Arrays, Names, in_memory
from textcraft_gym.storage.progress import Progress
from textcraft_gym.storage.search.analyzer import analyze, to_term
from textcraft_gym.storage.search.tokenizer import tokenize

K1 = np.float32(0.9)
"""Saturation of term frequency."""
B = np.float32(0.4)
"""Strength of the normalisation by document length, 0 to 1."""
SMALL = 1 << 16
"""Number of documents up to which all that contain a term are scored."""
SEEDS, SEED_TERMS = 1000, 3
"""Numbers of documents of a term, and of the rarest terms, that show how good the best are."""
BLOCK = 1 << 22
"""Number of words, or of postings, that are sorted or merged at a time while an index is built."""

_ROUNDED = 1 - 1e-6
"""Factor by which a bound is lowered, since scores are rounded."""


class Index:
    """Finds documents; made by ``build``, or from the arrays that an ``IndexWriter`` wrote.

    Args:
        arrays: The inverted index, perhaps among others. Postings are grouped by term: those of
            term ``i`` are at ``starts[i]`` up to ``starts[i + 1]`` of ``documents`` and ``tf_norm``
            (term frequency times length norm). ``idf`` and ``peaks`` (the highest ``tf_norm``) are
            by term, ``ranks`` (the order of documents of equal score) by document. Names begin with
            ``index.``.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._term_id = lru_cache(maxsize=1 << 16)(Names(arrays, "index.terms").first)
        names = ("starts", "idf", "peaks", "documents", "tf_norm", "ranks")
        self._starts, self._idf, self._peaks, self._documents, self._tf_norm, self._ranks = (
            arrays[f"index.{name}"] for name in names
        )

    @classmethod
    def build(
        cls,
        documents: Iterable[str],
        keys: Sequence[str],
        *,
        exact_lengths: bool = False,
    ) -> Index:
        """Index documents in memory.

        Args:
            documents: Their texts.
            keys: The sort key of each document among those of equal score.
            exact_lengths: Compute with the lengths of documents as they are, not as Lucene stores
                them.
        """
        with IndexWriter() as writer:
            for text in documents:
                writer.add(text)
            return cls(in_memory(partial(writer.write, keys=keys, exact_lengths=exact_lengths)))

    def search(
        self,
        query: str,
        count: int = 50,
        among: NDArray[np.int64] | None = None,
    ) -> list[int]:
        """Return the indices of the best documents that contain a term of the query, best first.

        Args:
            query: Words.
            count: Maximum number of results.
            among: The documents to search in, in their order; by default all.
        """
        terms = self._terms(query)
        if not terms:
            return []
        if among is not None:
            documents = among.astype(np.int32)
            scores = _scores(terms, documents)
        elif len(self._ranks) <= SMALL:
            scores = _all_scores(terms, len(self._ranks))
            documents = np.flatnonzero(scores).astype(np.int32)
            scores = scores[documents]
        else:
            documents = _candidates(terms, count, len(self._ranks))
            scores = _scores(terms, documents)
        matching = scores > 0
        if np.count_nonzero(matching) > count:
            # Sort only the documents that reach the score of the last result: with ties, there may
            # be more than count.
            matching = scores >= _last_of(scores, count)
        documents, scores = documents[matching], scores[matching]
        # lexsort goes by its last key first.
        order = np.lexsort((self._ranks[documents], -scores))
        return [int(document) for document in documents[order[:count]]]

    def scores(self, query: str) -> NDArray[np.float32] | None:
        """Return the score of each document, 0 without a term; None if no document has one."""
        terms = self._terms(query)
        return _all_scores(terms, len(self._ranks)) if terms else None

    def _terms(self, query: str) -> list[_Term]:
        """Return the distinct terms of a query that documents contain, in its order."""
        terms = []
        for term, tf in Counter(analyze(query)).items():
            term_id = self._term_id(term)
            if term_id is None:
                continue
            postings = slice(self._starts[term_id], self._starts[term_id + 1])
            terms.append(
                _Term(
                    weight=np.float32(tf) * self._idf[term_id],
                    documents=self._documents[postings],
                    tf_norm=self._tf_norm[postings],
                    highest=self._peaks[term_id],
                )
            )
        return terms


class _Term(NamedTuple):
    """A term of a query: its weight, its postings by document, and their highest ``tf_norm``."""

    weight: np.float32
    documents: NDArray[np.int32]
    tf_norm: NDArray[np.float32]
    highest: np.float32

    def scores(self, postings: Any = slice(None)) -> NDArray[np.float32]:
        """Return the scores of postings.

        This is the form in which Lucene computes BM25: an equivalent one would round differently.
        """
        scores: NDArray[np.float32] = self.weight - self.weight / (
            np.float32(1) + self.tf_norm[postings]
        )
        return scores

    def scores_of(self, documents: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the scores of documents, 0 where they do not contain the term."""
        places = np.minimum(self.documents.searchsorted(documents), len(self.documents) - 1)
        return np.where(self.documents[places] == documents, self.scores(places), np.float32(0))

    def peak(self) -> float:
        """Return the highest score of a document."""
        return float(self.weight - self.weight / (np.float32(1) + self.highest))

    def best(self, count: int) -> NDArray[np.int32]:
        """Return documents of the highest scores."""
        if len(self.documents) <= count:
            return self.documents
        return self.documents[np.argpartition(self.tf_norm, -count)[-count:]]


def _all_scores(terms: Sequence[_Term], count: int) -> NDArray[np.float32]:
    """Return the score of each of ``count`` documents."""
    # As in Lucene: each term is scored in single precision, they are added in double, and the sum
    # is rounded.
    return _sums(terms, count).astype(np.float32)


def _scores(terms: Sequence[_Term], documents: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return the scores of some documents, the same as those among the scores of all."""
    sums = np.zeros(len(documents))
    for term in terms:
        sums += term.scores_of(documents)
    return sums.astype(np.float32)


def _sums(terms: Sequence[_Term], count: int) -> NDArray[np.float64]:
    documents = np.concatenate([term.documents for term in terms])
    sums: NDArray[np.float64] = np.bincount(
        documents,
        np.concatenate([term.scores() for term in terms]),
        minlength=count,
    )  # type: ignore[assignment]  # of weights, not counts
    return sums


def _candidates(
    terms: Sequence[_Term],
    count: int,
    size: int,
) -> NDArray[np.int32]:
    """Return documents with the best ``count`` of all among them.

    A document that has only terms of low scores, such as frequent words, cannot be among the best,
    so that the long lists of these need not be read. Source: Turtle and Flood, Query evaluation:
    strategies and optimizations, 1995, whose MaxScore this is, with whole lists in the place of
    single documents.
    """
    # The best documents of the rarest terms give a bound for the score of the last result.
    by_length = sorted(terms, key=lambda term: len(term.documents))
    seeds = np.unique(np.concatenate([term.best(SEEDS) for term in by_length[:SEED_TERMS]]))
    enough = _last_of(_scores(terms, seeds), count)

    # Terms that together cannot reach the bound are optional. (The index decides between equal
    # peaks, since terms have no order.)
    by_peak = sorted(((term.peak(), index, term) for index, term in enumerate(terms)), reverse=True)
    optional: list[tuple[float, _Term]] = []
    left = 0.0
    while len(by_peak) > 1 and (left + by_peak[-1][0]) < enough * _ROUNDED:
        peak, _, term = by_peak.pop()
        optional.append((peak, term))
        left += peak

    # A candidate reaches the bound with all optional terms; each that is added narrows them.
    sums = _sums([term for _, _, term in by_peak], size)
    # Above 0, since a document without any of these terms cannot reach the bound.
    least = max(enough * _ROUNDED - left, np.finfo(np.float64).tiny)
    documents = np.flatnonzero(sums >= least).astype(np.int32)
    sums = sums[documents]
    for peak, term in reversed(optional):
        if len(documents) <= SEEDS:
            break
        enough = max(enough, _last_of(sums, count))
        kept = sums + left >= enough * _ROUNDED
        documents, sums = documents[kept], sums[kept]
        sums += term.scores_of(documents)
        left -= peak
    return documents


def _last_of(scores: NDArray[Any], count: int) -> float:
    """Return the score of the last of the best ``count``; 0 if there are fewer."""
    place = len(scores) - count
    if count <= 0 or place < 0:
        return 0.0
    return float(np.partition(scores, place)[place])


def quantise(length: int) -> int:
    """Return a document length as Lucene reads it back from a byte: exact to 40, then coarser."""
    # Lucene's NUM_FREE_VALUES: the bytes that its floating-point form of a length does not need.
    exact = 24
    if length < exact:
        return length
    # Four significant bits are kept, as in Lucene's SmallFloat.intToByte4.
    dropped_bits = max(0, (length - exact).bit_length() - 4)
    return exact + (((length - exact) >> dropped_bits) << dropped_bits)


class _TermIds(dict[str, int]):
    """The id of each token's term, assigned in order of appearance; -1 for a stop word."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        term = to_term(token)
        term_id = self[token] = self.terms.setdefault(term, len(self.terms)) if term else -1
        return term_id


class _Run(NamedTuple):
    """Postings of a block in a spool, grouped by term: the documents, then the term frequencies.

    Attributes:
        offset: Where they begin, in bytes.
        starts: The index of the first posting of each term that was known, and their number.
    """

    offset: int
    starts: NDArray[np.int32]


class IndexWriter:
    """Builds an index of any size in the memory of a block of postings and of the terms.

    Postings are sorted block by block, spooled to a temporary file, and merged at the end. That
    file has no name, so that nothing is left of it if the process is killed.
    """

    def __init__(self) -> None:
        self._term_ids = _TermIds()
        self._lengths = array("q")
        self._spool, self._runs = _spool(), list[_Run]()
        # The block: the term of each word, -1 for stop words, and the number of words of each
        # document.
        self._terms, self._counts = array("i"), array("i")

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: object,
        trace: TracebackType | None,
    ) -> None:
        self._spool.close()

    def add(self, text: str) -> None:
        """Add a document."""
        before = len(self._terms)
        self._terms.extend(map(self._term_ids.__getitem__, tokenize(text)))
        self._counts.append(len(self._terms) - before)
        if len(self._terms) >= BLOCK:
            self._sort()

    def write(
        self,
        append: Append,
        *,
        keys: Sequence[str],
        exact_lengths: bool = False,
        progress: Progress = lambda done, total: None,
    ) -> None:
        """Write the arrays of an index.

        Args:
            append: Takes them.
            keys: The sort key of each document among those of equal score.
            exact_lengths: Compute with the lengths of documents as they are, not as Lucene stores
                them.
            progress: Called with the number of postings that are written, and of all.

        Raises:
            ValueError: If there is not one key for each document.
        """
        self._sort()
        lengths = np.frombuffer(self._lengths, np.int64)
        if len(keys) != len(lengths):
            raise ValueError(f"expected {len(lengths)} keys, one a document, got {len(keys)}")
        doc_freq = np.zeros(len(self._term_ids.terms), np.int64)
        for run in self._runs:
            doc_freq[: len(run.starts) - 1] += np.diff(run.starts)
        starts = np.concatenate(([0], np.cumsum(doc_freq)))
        self._write_postings(append, starts, _length_norm(lengths, exact_lengths), progress)
        ranks = np.empty(len(keys), np.int32)
        ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys), dtype=np.int32)
        append("index.starts", starts)
        append("index.idf", _idf(doc_freq, int(np.count_nonzero(lengths))))
        append("index.ranks", ranks)
        Names.write(append, "index.terms", self._term_ids.terms.items())

    def _write_postings(
        self,
        append: Append,
        starts: NDArray[np.int64],
        length_norm: NDArray[np.float32],
        progress: Progress,
    ) -> None:
        """Merge the runs, for as many terms at a time as fill a block."""
        peaks = np.empty(len(starts) - 1, np.float32)
        append("index.documents", np.empty(0, np.int32))  # an array even without postings
        with _spool() as tf_norms:  # one array is written at a time
            first = 0
            while first < len(peaks):
                end = max(int(starts.searchsorted(starts[first] + BLOCK, "right")) - 1, first + 1)
                documents, tf = self._merged(first, starts[first : end + 1])
                tf_norm = tf.astype(np.float32) * length_norm[documents]
                peaks[first:end] = np.maximum.reduceat(tf_norm, starts[first:end] - starts[first])
                append("index.documents", documents)
                tf_norms.write(tf_norm.tobytes())
                progress(int(starts[end]), int(starts[-1]))
                first = end
            tf_norms.seek(0)
            append("index.tf_norm", np.empty(0, np.float32))
            while part := tf_norms.read(4 * BLOCK):
                append("index.tf_norm", np.frombuffer(part, np.float32))
        append("index.peaks", peaks)

    def _sort(self) -> None:
        """Spool the postings of the block, and begin another."""
        first_document = len(self._lengths)
        terms = np.frombuffer(self._terms, np.int32)
        counts = np.frombuffer(self._counts, np.int32)
        owners = np.repeat(np.arange(len(self._counts)), counts)[terms >= 0]
        self._lengths.extend(np.bincount(owners, minlength=len(self._counts)))
        # Term and document in one number: sorted, equal ones are the occurrences that a posting
        # counts.
        words = terms[terms >= 0].astype(np.int64) << 32 | (owners + first_document)
        words.sort()
        postings = np.flatnonzero(np.diff(words, prepend=-1))
        tf = np.diff(postings, append=len(words)).astype(np.int32)
        words = words[postings]
        doc_freq = np.bincount(words >> 32, minlength=len(self._term_ids.terms))
        offset = self._spool.tell()
        self._spool.write((words & 0xFFFFFFFF).astype(np.int32).tobytes())
        self._spool.write(tf.tobytes())
        self._runs.append(_Run(offset, np.concatenate(([0], np.cumsum(doc_freq))).astype(np.int32)))
        self._terms, self._counts = array("i"), array("i")

    def _merged(
        self,
        first: int,
        starts: NDArray[np.int64],
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return documents and term frequencies of successive terms.

        Args:
            first: The first of the terms.
            starts: The index of the first posting of each of them, and of the next term.
        """
        starts = starts - starts[0]
        documents, tf = (np.empty(starts[-1], np.int32) for _ in range(2))
        filled = starts[:-1].copy()
        for run in self._runs:
            # A term that was not known yet has no postings.
            terms = np.minimum(np.arange(first, first + len(starts)), len(run.starts) - 1)
            bounds = run.starts[terms]
            counts = np.diff(bounds)
            places = np.arange(bounds[0], bounds[-1]) + np.repeat(filled - bounds[:-1], counts)
            documents[places] = self._read(run.offset, bounds[0], len(places))
            tf[places] = self._read(run.offset, run.starts[-1] + bounds[0], len(places))
            filled += counts
        return documents, tf

    def _read(
        self,
        offset: int,
        start: np.int32,
        count: int,
    ) -> NDArray[np.int32]:
        self._spool.seek(offset + 4 * int(start))
        return np.frombuffer(self._spool.read(4 * count), np.int32)


def _spool() -> SpooledTemporaryFile[bytes]:
    """Return a stream that is kept in memory as long as it is small."""
    return SpooledTemporaryFile(4 * BLOCK)


def _idf(doc_freq: NDArray[np.int64], documents: int) -> NDArray[np.float32]:
    """Return the inverse document frequency of each term, by the number of documents with terms."""
    return np.asarray(np.log(1 + (documents - doc_freq + 0.5) / (doc_freq + 0.5)), np.float32)


def _length_norm(lengths: NDArray[np.int64], exact: bool) -> NDArray[np.float32]:
    """Return the factor of term frequencies, ``1 / (k1 * (1 - b + b * length / average))``."""
    # Lucene leaves documents without a term out of its statistics.
    average = np.float32(int(lengths.sum()) / max(int(np.count_nonzero(lengths)), 1))
    if average == 0:
        average = np.float32(1)  # no document has a term, so that any average will do
    if not exact:
        lengths = np.array([quantise(length) for length in lengths.tolist()])
    # In single precision throughout, and in this order, as Lucene computes it.
    unit = np.float32(1)
    read_back = lengths.astype(np.float32)
    return np.asarray(unit / (K1 * ((unit - B) + B * read_back / average)), np.float32)
