"""The search engine: a document of words for each product, and BM25 as Lucene computes it, ties and rounding included.

Lucene's defaults are easily stated but not what other engines do: its tokenizer, stop words and stemmer decide what a
word is, and the length of a document is kept in one byte. Each of these changes the order of results.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias
from unicodedata import category, name

import numpy as np
from numpy.typing import NDArray
from Stemmer import Stemmer

Arrays: TypeAlias = "dict[str, NDArray[Any]]"

K1 = np.float32(0.9)
B = np.float32(0.4)

_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


class Index:
    """Finds documents.

    Args:
        documents: Their texts.
        keys: What equal scores are ordered by, one for each document; read after the documents.
    """

    def __init__(self, documents: Iterable[str], keys: Sequence[str]) -> None:
        self._use(_invert(documents, keys))

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Index:
        """Return the index that ``arrays`` was taken from."""
        index = cls.__new__(cls)
        index._use(dict(arrays))
        return index

    def _use(self, arrays: Arrays) -> None:
        self.arrays = arrays
        terms = arrays["terms"].tobytes().decode().split("\n")
        self._terms = {term: number for number, term in enumerate(terms)}
        self._starts, self._weights = arrays["starts"], arrays["weights"]
        self._documents, self._factors, self._ranks = arrays["documents"], arrays["factors"], arrays["ranks"]

    def search(self, words: str, count: int = 50) -> list[int]:
        """Return the numbers of the best documents that have one of the words at least, best first."""
        scores = self.scores(words)
        if scores is None:
            return []
        found = np.flatnonzero(scores)
        if len(found) > count:
            reached = scores[found]
            least = np.partition(reached, len(found) - count)[len(found) - count]
            found = found[reached >= least]
        order = np.lexsort((self._ranks[found], -scores[found]))
        return [int(number) for number in found[order[:count]]]

    def scores(self, words: str) -> NDArray[np.float32] | None:
        """Return the score of each document, 0 where it has none of the words; None if no document has one."""
        asked = Counter(number for term in analyze(words) if (number := self._terms.get(term)) is not None)
        if not asked:
            return None
        parts, documents = [], []
        for number, times in asked.items():
            postings = slice(self._starts[number], self._starts[number + 1])
            weight = np.float32(times) * self._weights[number]
            parts.append(weight - weight / (np.float32(1) + self._factors[postings]))
            documents.append(self._documents[postings])
        # Terms are scored in single precision, summed in double, and the sum is rounded to single.
        sums = np.bincount(np.concatenate(documents), np.concatenate(parts), minlength=len(self._ranks))
        return sums.astype(np.float32)


def document(title: str, description: str, bullets: Sequence[str], options: Mapping[str, Sequence[str]]) -> str:
    """Return the text by which a product is found: of its features, only the first stands in it."""
    choices = ", and ".join(f"{option}: {', '.join(values)}" for option, values in options.items())
    return " ".join((title, description, bullets[0] if bullets else "", choices)).lower()


def analyze(text: str) -> list[str]:
    """Return the terms of a text, in their order."""
    return [term for token in _tokenizer().findall(text) if (term := _term(token))]


def quantise(length: int) -> int:
    """Return the length that Lucene remembers of a document of so many terms: all up to 40, then ever fewer."""
    exact = 24
    if length < exact:
        return length
    shift = max(0, (length - exact).bit_length() - 4)
    return exact + (((length - exact) >> shift) << shift)


# Words


@lru_cache(maxsize=1 << 16)
def _term(token: str) -> str:
    """Return the term that a token counts as; nothing for a stop word."""
    if len(token) > 1 and token[-1] in "sS" and token[-2] in "'\u2019\uff07":
        token = token[:-2]
    word = token.lower()
    return "" if word in STOP_WORDS else stem(word)


_porter: Callable[[str], str] = Stemmer("porter", 0).stemWord
_MEASURED = re.compile("(?:[aeiou]|(?<=[^aeiou])y)(?:[^aeiouy]|(?<=[aeiou])y)")


def stem(word: str) -> str:
    """Return what is left of a word without its endings: Porter's stemmer as he programmed it, and Lucene after him.

    The library follows the paper instead. His program leaves words of two letters alone, halves any doubled consonant
    (``trekking``), and has the endings ``bli`` (``possibly``) and ``logi`` (``technology``).
    """
    if len(word) < 3:
        return word
    left = _porter(word)
    if left[-1] == left[-2:-1] and left[-1] not in "aeioulsz" and word in (f"{left}ed", f"{left}ing"):
        return left[:-1]
    if left.endswith("bli") and _MEASURED.search(left[:-3]):
        return _porter(f"{left[:-1]}e")
    if left.endswith("logi") and _MEASURED.search(left[:-4]):
        return left[:-1]
    return left


@cache
def _tokenizer() -> re.Pattern[str]:
    """Return a pattern of words after Unicode's rules for word boundaries (UAX #29) and Lucene's choice among them.

    A word is letters and digits; a mark such as an apostrophe or a colon may stand between two letters, a comma or a
    point between two digits, an underscore anywhere. Ideographs stand alone, and emoji are words.
    """
    letters, digits, marks, katakana, ideographs = _character_classes()
    inner = f"(?<=[{letters}{marks}])[{_IN_WORDS}](?=[{letters}])"
    numeric = f"(?<=[{digits}{marks}])[{_IN_NUMBERS}](?=[{digits}])"
    run = f"[{letters}{digits}{marks}]+"
    word = f"(?<!_)_*[{letters}{digits}]{run[:-1]}*(?:(?:_+|{inner}|{numeric}){run})*_*"
    emoji = f"[{_EMOJI}][\ufe0f\U0001f3fb-\U0001f3ff]*"
    sequence = f"{emoji}(?:\u200d{emoji})*"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"
    return re.compile(f"{word}|[{katakana}]+|[{ideographs}]|{flag}|{sequence}|[\u00a9\u00ae\u2122\u3030\u303d]\ufe0f")


_IN_BOTH = "'.\u2018\u2019\u2024\ufe52\uff07\uff0e"
_IN_WORDS = f":\u00b7\u2027\ufe13\ufe55\uff1a{_IN_BOTH}"
_IN_NUMBERS = f",;\u037e\u066c\u2044\ufe50\ufe54\uff0c\uff1b{_IN_BOTH}"
_EMOJI = (
    "\u203c\u2049\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab"
    "\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615\u2618\u261d\u2620\u2622\u2623\u2626\u262a\u262e"
    "\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u267f\u2692-\u2697"
    "\u2699\u269b\u269c\u26a0\u26a1\u26aa\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8\u26ce\u26cf\u26d1\u26d3"
    "\u26d4\u26e9\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712\u2714\u2716\u271d\u2721"
    "\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797\u27a1\u27b0\u27bf\u2934"
    "\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3297\u3299\U0001f004\U0001f0cf\U0001f170\U0001f171\U0001f17e"
    "\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f201\U0001f202\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f250"
    "\U0001f251\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff"
)


def _character_classes() -> tuple[str, str, str, str, str]:
    """Return letters, digits, marks, katakana and ideographs as Unicode has them, each to stand in brackets."""
    kinds: dict[str, list[int]] = {kind: [] for kind in ("letters", "digits", "marks", "katakana", "ideographs")}
    for code in (*range(0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x10000)):
        group = category(character := chr(code))
        if group[0] == "L" or group == "Nl":
            kinds[_script(character)].append(code)
        elif group == "Nd":
            kinds["digits"].append(code)
        elif group[0] == "M" or (group == "Cf" and code != 0x200B):
            kinds["marks"].append(code)
    kinds["letters"] += (*range(0xAC00, 0xD7A4), *range(0x1D400, 0x1D7CC))  # Korean; bold and script letters in titles
    kinds["digits"] += range(0x1D7CE, 0x1D800)
    kinds["ideographs"] += (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000), *range(0x20000, 0x32000))
    letters, digits, marks, katakana, ideographs = map(_ranges, kinds.values())
    return letters, digits, marks, katakana, ideographs


def _script(character: str) -> str:
    if "\u3000" <= character <= "\u9fff" or "\uf900" <= character <= "\uffff":
        called = name(character, "")
        if "KATAKANA" in called:
            return "katakana"
        if called.startswith(("CJK", "IDEOGRAPHIC", "HIRAGANA")):
            return "ideographs"
    return "letters"


def _ranges(codes: Iterable[int]) -> str:
    ends: list[list[int]] = []
    for code in sorted(codes):
        if ends and ends[-1][1] == code - 1:
            ends[-1][1] = code
        else:
            ends.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ends)


# Postings


class _Numbers(dict[str, int]):
    """The number of each token's term, given out as they come; -1 for a stop word."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        term = _term.__wrapped__(token)
        number = self[token] = self.terms.setdefault(term, len(self.terms)) if term else -1
        return number


def _invert(documents: Iterable[str], keys: Sequence[str]) -> Arrays:
    """Return, for each term, the documents that have it, and what Lucene makes of how often and how long."""
    numbers = _Numbers()
    terms, times, sizes, lengths = array("i"), array("i"), array("i"), array("q")
    find = _tokenizer().findall
    for text in documents:
        counts = Counter(map(numbers.__getitem__, find(text)))
        counts.pop(-1, None)
        terms.extend(counts)
        times.extend(counts.values())
        sizes.append(len(counts))
        lengths.append(counts.total())
    if len(keys) != len(sizes):
        raise ValueError(f"expected a key for each of {len(sizes)} documents, got {len(keys)}")
    owners = np.repeat(np.arange(len(sizes), dtype=np.int32), np.frombuffer(sizes, np.int32))
    term = np.frombuffer(terms, np.int32)
    order = np.argsort(term, kind="stable")
    owners = owners[order]
    often = np.bincount(term, minlength=len(numbers.terms))
    ranks = np.empty(len(keys), np.int32)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys), dtype=np.int32)
    return {
        "terms": np.frombuffer("\n".join(numbers.terms).encode(), np.uint8),
        "starts": np.concatenate(([0], np.cumsum(often))),
        "weights": _rarity(often, sum(1 for size in sizes if size)),
        "documents": owners,
        "factors": np.frombuffer(times, np.int32)[order].astype(np.float32) * _brevity(lengths)[owners],
        "ranks": ranks,
    }


def _rarity(often: NDArray[np.int64], documents: int) -> NDArray[np.float32]:
    """Return the inverse document frequency of each term."""
    return np.asarray(np.log(1 + (documents - often + 0.5) / (often + 0.5)), np.float32)


def _brevity(lengths: Sequence[int]) -> NDArray[np.float32]:
    """Return, for each document, by what a term's frequency is multiplied: the less, the longer the document is."""
    counted = sum(1 for length in lengths if length)
    average = np.float32(sum(lengths) / max(counted, 1)) or np.float32(1)
    kept = np.array([quantise(length) for length in lengths], np.float32)
    one = np.float32(1)
    return np.asarray(one / (K1 * ((one - B) + B * kept / average)), np.float32)
