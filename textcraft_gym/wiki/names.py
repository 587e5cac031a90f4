"""Names that are made up, and the draws that made things are made of: the same on every machine and Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_ONSETS = "b br d dr f g gr h j k kl l m n p pr r s sk sl st t th tr v w y z".split()
_VOWELS = "a e i o u a e i o ae ei ia".split()
_MIDDLES = "b d l ll lm ld lv m mb n nd nn nt r rd rk rl rm rn rr rv s sk st t v z".split()
_CODAS = "ck k l ld lm n nd nn r rd rk rn s sk th x".split()
_FIRST_NAMES = 200
_FIRST_ENDINGS = "a e o an en in is or us".split()
_PLACE_ENDINGS = "bury by dale ford gate ham haven holm mouth stead ton wick".split()
_REGION_ENDINGS = "ia land mark shire".split()
_WORK_PATTERNS = (
    "The {noun} of {word}",
    "{word}'s {noun}",
    "A {noun} for {word}",
    "The Last {noun} of {word}",
    "Leaving {word}",
    "Return to {word}",
    "{word} by Night",
)
_NOUNS = (
    "Bell Bridge Candle Clock Compass Crown Door Ferry Garden Harbour Harvest Island Kite Ladder Lantern Letter Map "
    "Mill Mirror Mountain Orchard Piano River Shadow Stair Summer Tide Tower Train Umbrella Voyage Window Winter"
).split()
_PATTERNS = {
    "band": ("The {word}s", "{word} Parade", "{word} Union", "{word} and the Tides", "The {word} Quartet"),
    "club": ("{word} Rovers", "{word} Athletic", "{word} United", "{word} Wanderers"),
    "school": ("{word} College", "{word} Academy", "{word} Institute"),
    "studio": ("{word} Pictures", "{word} Films"),
    "label": ("{word} Records", "{word} Music"),
    "publisher": ("{word} Press", "{word} Books"),
    "building": ("{word} Bridge", "{word} Theatre", "{word} Lighthouse", "{word} Museum", "{word} Tower"),
    "prize": ("{word} Prize", "{word} Medal", "{word} Award"),
    "lake": ("Lake {word}",),
    "river": ("{word}",),
    "alias": ("{word}",),
}


class Draw:
    """Draws from a seed, of which only ``random`` is used: the one method that later Pythons promise to keep."""

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
        self._first = [self._word(_FIRST_ENDINGS) for _ in range(_FIRST_NAMES)]

    def name(self, kind: str) -> str:
        """Make up the name of something of a kind."""
        if kind == "region":
            return self._word(_REGION_ENDINGS)
        if kind == "town":
            return self._word(_PLACE_ENDINGS)
        if kind in ("film", "novel", "album"):
            return self._draw.pick(_WORK_PATTERNS).format(noun=self._draw.pick(_NOUNS), word=self._word(_CODAS))
        if kind in _PATTERNS:
            return self._draw.pick(_PATTERNS[kind]).format(word=self._word(_CODAS))
        return f"{self._draw.pick(self._first)} {self._word(_CODAS)}"

    def _word(self, endings: Sequence[str]) -> str:
        pick = self._draw.pick
        parts = [pick(_ONSETS), pick(_VOWELS)]
        while True:
            parts += [pick(_MIDDLES), pick(_VOWELS)]
            word = "".join([*parts[: -1 if endings is not _CODAS else None], pick(endings)]).capitalize()
            # A word that is taken gets another syllable; a longer one is never part of a shorter.
            if word not in self._taken:
                self._taken.add(word)
                return word
