"""An inverted index with BM25 scores as Lucene computes them, ties and rounding included.

Two details of Lucene's decide the order of results: scores are in single precision, and the length of a document is
stored in a single byte. The latter can be left out.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.arrays import Arrays
from textcraft_gym.search.analyzer import analyze, to_term
from textcraft_gym.search.tokenizer import tokenize

K1 = np.float32(0.9)
"""Saturation of term frequency."""
B = np.float32(0.4)
"""Strength of the normalisation by document length, 0 to 1."""
SMALL = 1 << 16
"""Number of documents up to which all that contain a term are scored."""
SEEDS, SEED_TERMS = 1000, 3
"""Numbers of documents of a term, and of the rarest terms, from which it is told how good the best documents are."""

_ROUNDED = 1 - 1e-6
"""Factor by which a bound is lowered, since scores are rounded."""


class Index:
    """Finds documents; made by ``build``, or from the arrays of an index that was built before.

    Args:
        arrays: The inverted index. Postings are grouped by term: those of term ``i`` are at ``starts[i]`` up to
            ``starts[i + 1]`` of ``documents`` and ``tf_norm`` (term frequency times length norm). ``terms`` and ``idf``
            are by term, ``ranks`` (the order of documents of equal score) by document.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = dict(arrays)
        terms = arrays["terms"].tobytes().decode().split("\n")
        self._term_ids = {term: term_id for term_id, term in enumerate(terms)}
        self._starts, self._idf = arrays["starts"], arrays["idf"]
        self._documents, self._tf_norm, self._ranks = arrays["documents"], arrays["tf_norm"], arrays["ranks"]

    @classmethod
    def build(cls, documents: Iterable[str], keys: Sequence[str], *, exact_lengths: bool = False) -> Index:
        """Index documents.

        Args:
            documents: Their texts.
            keys: The sort key of each document among those of equal score; read after the documents.
            exact_lengths: Compute with the lengths of documents as they are, not as Lucene stores them.
        """
        return cls(_invert(documents, keys, exact_lengths))

    def search(self, query: str, count: int = 50, among: NDArray[np.int64] | None = None) -> list[int]:
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
            # Sort only the documents that reach the score of the last result: with ties, there may be more than count.
            matching = scores >= _last_of(scores, count)
        documents, scores = documents[matching], scores[matching]
        order = np.lexsort((self._ranks[documents], -scores))
        return [int(document) for document in documents[order[:count]]]

    def scores(self, query: str) -> NDArray[np.float32] | None:
        """Return the score of each document, 0 where it contains no term; None if no document contains one."""
        terms = self._terms(query)
        return _all_scores(terms, len(self._ranks)) if terms else None

    def _terms(self, query: str) -> list[_Term]:
        """Return the distinct terms of a query that documents contain, in its order."""
        term_ids = (self._term_ids.get(term) for term in analyze(query))
        query_tf = Counter(term_id for term_id in term_ids if term_id is not None)
        terms = []
        for term_id, tf in query_tf.items():
            postings = slice(self._starts[term_id], self._starts[term_id + 1])
            weight = np.float32(tf) * self._idf[term_id]
            terms.append(_Term(weight, self._documents[postings], self._tf_norm[postings]))
        return terms


class _Term(NamedTuple):
    """A term of a query: its weight, and its postings in the order of documents."""

    weight: np.float32
    documents: NDArray[np.int32]
    tf_norm: NDArray[np.float32]

    def scores(self, postings: Any = slice(None)) -> NDArray[np.float32]:
        """Return the scores of postings.

        This is the form in which Lucene computes BM25: an equivalent one would round differently.
        """
        scores: NDArray[np.float32] = self.weight - self.weight / (np.float32(1) + self.tf_norm[postings])
        return scores

    def scores_of(self, documents: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the scores of documents, 0 where they do not contain the term."""
        places = np.minimum(self.documents.searchsorted(documents), len(self.documents) - 1)
        return np.where(self.documents[places] == documents, self.scores(places), np.float32(0))

    def peak(self) -> float:
        """Return the highest score of a document."""
        return float(self.weight - self.weight / (np.float32(1) + self.tf_norm.max()))

    def best(self, count: int) -> NDArray[np.int32]:
        """Return documents of the highest scores."""
        if len(self.documents) <= count:
            return self.documents
        return self.documents[np.argpartition(self.tf_norm, -count)[-count:]]


def _all_scores(terms: Sequence[_Term], count: int) -> NDArray[np.float32]:
    """Return the score of each of ``count`` documents."""
    # As in Lucene: each term is scored in single precision, they are added in double, and the sum is rounded.
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
        documents, np.concatenate([term.scores() for term in terms]), minlength=count
    )  # type: ignore[assignment]  # of weights, not counts
    return sums


def _candidates(terms: Sequence[_Term], count: int, size: int) -> NDArray[np.int32]:
    """Return documents with the best ``count`` of all among them.

    A document that has only terms of low scores, such as frequent words, cannot be among the best, so that the long
    lists of these need not be read. Source: Turtle and Flood, Query evaluation: strategies and optimizations, 1995,
    whose MaxScore this is, with whole lists in the place of single documents.
    """
    by_length = sorted(terms, key=lambda term: len(term.documents))
    seeds = np.unique(np.concatenate([term.best(SEEDS) for term in by_length[:SEED_TERMS]]))
    enough = _last_of(_scores(terms, seeds), count)
    by_peak = sorted(((term.peak(), index, term) for index, term in enumerate(terms)), reverse=True)
    optional: list[tuple[float, _Term]] = []
    left = 0.0
    while len(by_peak) > 1 and (left + by_peak[-1][0]) < enough * _ROUNDED:
        peak, _, term = by_peak.pop()
        optional.append((peak, term))
        left += peak
    sums = _sums([term for _, _, term in by_peak], size)
    documents = np.flatnonzero(sums >= max(enough * _ROUNDED - left, np.finfo(np.float64).tiny)).astype(np.int32)
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
    return float(np.partition(scores, len(scores) - count)[len(scores) - count]) if len(scores) >= count > 0 else 0.0


def quantise(length: int) -> int:
    """Return a document length as Lucene reads it back from a byte: exact up to 40, then ever coarser."""
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


def _invert(documents: Iterable[str], keys: Sequence[str], exact_lengths: bool) -> Arrays:
    """Return the arrays of an inverted index."""
    term_ids = _TermIds()
    # One posting for each distinct term of each document, first in the order of documents.
    posting_terms, posting_tf, posting_counts, lengths = array("i"), array("i"), array("i"), array("q")
    for text in documents:
        tf = Counter(map(term_ids.__getitem__, tokenize(text)))
        tf.pop(-1, None)
        posting_terms.extend(tf)
        posting_tf.extend(tf.values())
        posting_counts.append(len(tf))
        lengths.append(tf.total())
    if len(keys) != len(lengths):
        raise ValueError(f"expected a key for each of {len(lengths)} documents, got {len(keys)}")
    # Grouped by term by a stable sort, so that the postings of a term stay in the order of documents.
    terms = np.frombuffer(posting_terms, np.int32)
    order = np.argsort(terms, kind="stable")
    owners = np.repeat(np.arange(len(lengths), dtype=np.int32), np.frombuffer(posting_counts, np.int32))[order]
    tf_by_term = np.frombuffer(posting_tf, np.int32)[order].astype(np.float32)
    doc_freq = np.bincount(terms, minlength=len(term_ids.terms))
    ranks = np.empty(len(keys), np.int32)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys), dtype=np.int32)
    return {
        "terms": np.frombuffer("\n".join(term_ids.terms).encode(), np.uint8),
        "starts": np.concatenate(([0], np.cumsum(doc_freq))),
        "idf": _idf(doc_freq, _count_filled(lengths)),
        "documents": owners,
        "tf_norm": tf_by_term * _length_norm(lengths, exact_lengths)[owners],
        "ranks": ranks,
    }


def _count_filled(lengths: Sequence[int]) -> int:
    """Return the number of documents that have any term: Lucene leaves the others out of its statistics."""
    return sum(1 for length in lengths if length)


def _idf(doc_freq: NDArray[np.int64], documents: int) -> NDArray[np.float32]:
    """Return the inverse document frequency of each term, given the number of documents that have any term."""
    return np.asarray(np.log(1 + (documents - doc_freq + 0.5) / (doc_freq + 0.5)), np.float32)


def _length_norm(lengths: Sequence[int], exact: bool) -> NDArray[np.float32]:
    """Return the factor of term frequencies in each document, ``1 / (k1 * (1 - b + b * length / average))``."""
    average = np.float32(sum(lengths) / max(_count_filled(lengths), 1))
    if average == 0:
        average = np.float32(1)  # no document has a term, so that any average will do
    read_back = np.array(lengths if exact else [quantise(length) for length in lengths], np.float32)
    one = np.float32(1)
    return np.asarray(one / (K1 * ((one - B) + B * read_back / average)), np.float32)
