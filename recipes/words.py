"""The words of made books: forms such as ``rod``, and roots that no other seed has.

An item's name is a root and a form: ``velkin rod``, ``ember silk lantern``. A root is a number,
spelt in syllables or words, so that different numbers are different roots; and each seed has
numbers of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from math import prod
from typing import Literal, TypeAlias

from textcraft_gym.recipes.pack import BUNDLED, read_pack

Names: TypeAlias = Literal["invented", "borrowed"]

MAX_SEED = 9_999
SHORT_ROOTS = 1 << 7
"""Number of a seed's short roots: two syllables, or with a small seed two borrowed words."""
LONG_ROOTS = 3 << 9
"""Number of its other roots; with more there would not be enough borrowed ones for all seeds."""


@cache
def words(kind: str) -> tuple[str, ...]:
    """Return the words of one kind: forms (``raw``, ``crafted``, ``tagged``), or parts of roots."""
    words: list[str] = []
    for line in (BUNDLED / "words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{kind}: "):
            words += line.split()[1:]
    return tuple(words)


# What a root takes one element of each of. The length of each list is a power of 2; and consonants
# and vowels alternate, so that an invented word can be cut in one way only.
_SHORT = {"invented": "onset vowel middle vowel coda", "borrowed": "nature material"}
_LONG = {
    "invented": "onset vowel middle vowel middle vowel coda",
    "borrowed": "look nature material",
}


def roots(names: Names, seed: int) -> Iterator[str]:
    """Yield the roots of a seed, none of them of another seed or of the other kind of names.

    No root consists of Minecraft's words alone.
    """
    first_long = (MAX_SEED + 1) * SHORT_ROOTS + seed * LONG_ROOTS
    own = chain(
        range(seed * SHORT_ROOTS, (seed + 1) * SHORT_ROOTS),
        range(first_long, first_long + LONG_ROOTS),
    )
    shorts = prod(_sizes(_SHORT[names]))
    for number in own:
        if number < shorts:
            parts = _spell(number, _SHORT[names])
        else:
            parts = _spell(number - shorts, _LONG[names])
        root = [*parts] if names == "borrowed" else ["".join(parts)]
        if not _taken(names).issuperset(root):
            yield "_".join(root)


@cache
def _taken(names: Names) -> frozenset[str]:
    """Return the words of which a root must not consist."""
    pack = read_pack()
    taken = set(re.findall("[a-z]+", repr([pack.recipes, pack.tags])))
    # An invented word must not happen to be a real one that is used here.
    used = ("raw", "crafted", "tagged", "nature", "material", "look") if names == "invented" else ()
    return frozenset(taken.union(*map(words, used)))


def _sizes(kinds: str) -> list[int]:
    return [len(words(kind)) for kind in kinds.split()]


def _spell(number: int, kinds: str) -> list[str]:
    """Write a number with one word of each kind.

    Different numbers below the product of the kinds' sizes differ.
    """
    bits = prod(_sizes(kinds)).bit_length() - 1
    # Each line can be undone, so that numbers stay different; together they scatter neighbours.
    for _ in range(3):
        number = (number * 0x9E3779B1 + 0x7F4A7C15) & ((1 << bits) - 1)
        number ^= number >> (bits // 2 + 1)
    parts = []
    for kind in kinds.split():
        number, index = divmod(number, len(words(kind)))
        parts.append(words(kind)[index])
    return parts
