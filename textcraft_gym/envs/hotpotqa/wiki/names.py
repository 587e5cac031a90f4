"""Invented names, and the draws behind made things: the same on every machine and Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_SOUNDS = {
    "onset": "b br d dr f g gr h j k kl l m n p pr r s sk sl st t th tr v w y z",
    "vowel": "a e i o u a e i o ae ei ia",
    "middle": "b d l ll lm ld lv m mb n nd nn nt r rd rk rl rm rn rr rv s sk st t v z",
    "coda": "ck k l ld lm n nd nn r rd rk rn s sk th x",
    "first name": "a e o an en in is or us",
    "town": "bury by dale ford gate ham haven holm mouth stead ton wick",
    "region": "ia land mark shire",
    "noun": "Bell Bridge Candle Clock Compass Crown Door Ferry Garden Harbour Harvest Island Kite "
    "Ladder Lantern Letter Map Mill Mirror Mountain Orchard Piano River Shadow Stair Summer Tide "
    "Tower Train Umbrella Voyage Winter",
}
_PARTS = {kind: line.split() for kind, line in _SOUNDS.items()}

_FIRST_NAMES = 200
_WORK_PATTERNS = (
    "The {noun} of {word}",
    "{word}'s {noun}",
    "No {noun} for {word}",
    "The Last {noun} of {word}",
    "Leaving {word}",
    "Return to {word}",
    "{word} by Night",
)
_PATTERNS = {
    "band": (
        "The {word}s",
        "{word} Parade",
        "{word} Union",
        "{word} and the Tides",
        "The {word} Quartet",
    ),
    "club": ("{word} Rovers", "{word} Athletic", "{word} United", "{word} Wanderers"),
    "school": ("{word} College", "{word} Academy", "{word} Institute"),
    "studio": ("{word} Pictures", "{word} Films"),
    "label": ("{word} Records", "{word} Music"),
    "publisher": ("{word} Press", "{word} Books"),
    "building": (
        "{word} Bridge",
        "{word} Theatre",
        "{word} Lighthouse",
        "{word} Museum",
        "{word} Tower",
    ),
    "prize": ("{word} Prize", "{word} Medal", "{word} Award"),
    "lake": ("Lake {word}",),
    "river": ("{word}",),
    "alias": ("{word}",),
}


class Draw:
    """Draws from a seed, by ``random`` alone: the one method that later Pythons promise to keep."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self._random() < probability

    def between(self, low: int, high: int) -> int:
        """Draw an integer from ``low`` to ``high``, both among them."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, some: Sequence[T]) -> T:
        """Draw one of some."""
        return some[int(self._random() * len(some))]

    def shuffled(self, some: Sequence[T]) -> list[T]:
        """Return some in random order."""
        keys = [self._random() for _ in some]
        return [some[index] for index in sorted(range(len(some)), key=keys.__getitem__)]


class Names:
    """Makes up names; no word is in two of them, but for first names and ordinary ones."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._taken: set[str] = set()
        self._first = [self._word("first name") for _ in range(_FIRST_NAMES)]

    def name(self, kind: str) -> str:
        """Make up the name of something of a kind."""
        if kind in ("region", "town"):
            return self._word(kind)
        if kind in ("film", "novel", "album"):
            pattern, noun = self._draw.pick(_WORK_PATTERNS), self._draw.pick(_PARTS["noun"])
            return pattern.format(noun=noun, word=self._word())
        if kind in _PATTERNS:
            return self._draw.pick(_PATTERNS[kind]).format(word=self._word())
        return f"{self._draw.pick(self._first)} {self._word()}"

    def _word(self, ending: str = "coda") -> str:
        def part(kind: str) -> str:
            return self._draw.pick(_PARTS[kind])

        start = part("onset") + part("vowel") + part("middle")
        while True:
            word = start
            if ending == "coda":
                word += part("vowel")
            word = (word + part(ending)).capitalize()
            if word not in self._taken:
                self._taken.add(word)
                return word
            start += part("vowel") + part("middle")  # a word that is taken gets another syllable
