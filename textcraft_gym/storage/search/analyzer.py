"""Turns text into index terms as Lucene's EnglishAnalyzer does.

Possessives and stop words are removed, and the rest is stemmed.
"""

from __future__ import annotations

from functools import lru_cache

from textcraft_gym.storage.search.stemmer import stem
from textcraft_gym.storage.search.tokenizer import tokenize

_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
_APOSTROPHES = "'\u2019\uff07"


def analyze(text: str) -> list[str]:
    """Return the terms of a text, in order."""
    return [term for token in tokenize(text) if (term := _memoised(token))]


def to_term(token: str) -> str:
    """Return the term of a token; empty for a stop word."""
    if len(token) > 1 and token[-1] in "sS" and token[-2] in _APOSTROPHES:
        token = token[:-2]
    word = token.lower()
    return "" if word in STOP_WORDS else stem(word)


_memoised = lru_cache(maxsize=1 << 16)(to_term)
