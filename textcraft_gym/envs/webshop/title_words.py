"""The rarer words of titles: names of sellers, and phrases about animals, places, people and the like.

They are composed of lists in ``data/title_words.txt``, so that a shop has as many different words
as a real one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from textcraft_gym.envs.shuffle import Uniform, pick
from textcraft_gym.envs.webshop.product_templates import blocks

_FIELD = re.compile(r"\{(\w+)\}")
_PLURALS = (
    (r"man$", "men"),
    (r"([^aeiou])y$", r"\1ies"),
    (r"(s|x|ch|sh)$", r"\1es"),
    (r"(f|fe)$", "ves"),
)
_LETTERS = "ABCDEFGHJKLMNPRSTVWXZ"


@lru_cache(maxsize=1)
def title_words() -> dict[str, tuple[str, ...]]:
    """Return the lists of words by kind, and the phrases of each department by purpose, ``garden extras``."""
    lines = (line.split(": ", 1) for block in blocks("title_words") for line in block)
    return {name: tuple(words.split("; ")) for name, words in lines}


def compose(rng: Uniform, department: str, purpose: str) -> str:
    """Compose a phrase.

    Args:
        rng: Draws the phrase and the words in it.
        department: The department of the product.
        purpose: ``sellers``, ``kinds`` (before the name of a product), ``features`` (after "with"),
            ``uses`` (after "for"), ``extras`` or ``names`` (both anywhere).
    """
    phrase = pick(rng, title_words()[f"{department} {purpose}"])
    return _FIELD.sub(lambda field: _draw(rng, field[1]), phrase)


def _draw(rng: Uniform, kind: str) -> str:
    if kind == "code":
        letters = "".join(pick(rng, _LETTERS) for _ in range(2))
        return f"{letters}{int(rng() * 900) + 100}{pick(rng, _LETTERS) if rng() < 0.4 else ''}"
    if kind == "number":
        return str(int(rng() * 180) + 20)
    words = title_words()
    return (
        pick(rng, words[kind])
        if kind in words
        else _plural(pick(rng, words[kind.removesuffix("s")]))
    )


def _plural(noun: str) -> str:
    for pattern, ending in _PLURALS:
        plural, count = re.subn(pattern, ending, noun)
        if count:
            return plural
    return f"{noun}s"
