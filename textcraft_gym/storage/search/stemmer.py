"""Porter's stemmer as its author programmed it, which is Lucene's PorterStemFilter.

The library follows Porter's paper instead. His program leaves words of two letters alone, undoubles
any consonant (``trekking``), and has the endings ``bli`` (``possibly``) and ``logi``
(``technology``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

# Porter's measure m > 0: a vowel, then a consonant; y is a vowel after a consonant.
_POSITIVE_MEASURE = re.compile("(?:[aeiou]|(?<=[^aeiou])y)(?:[^aeiouy]|(?<=[aeiou])y)")


def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if len(word) < 3:
        return word
    stemmed = _porter()(word)
    # The program undoubles any consonant but l, s and z after removing -ed or -ing.
    is_doubled = stemmed[-1] == stemmed[-2:-1] and stemmed[-1] not in "aeioulsz"
    if is_doubled and word in (f"{stemmed}ed", f"{stemmed}ing"):
        return stemmed[:-1]
    if stemmed.endswith("bli") and _POSITIVE_MEASURE.search(stemmed[:-3]):
        return _porter()(f"{stemmed[:-1]}e")
    if stemmed.endswith("logi") and _POSITIVE_MEASURE.search(stemmed[:-4]):
        return stemmed[:-1]
    return stemmed


@cache
def _porter() -> Callable[[str], str]:
    """Return the library's stemmer: it is compiled, and imported where words are searched."""
    from Stemmer import Stemmer

    stemmer: Callable[[str], str] = Stemmer("porter", 0).stemWord
    return stemmer
