"""The rarer words of titles: sellers, and phrases about animals, places, people and the like.

They are composed of lists in ``data/title_words.txt``, so that a shop has as many different words
as a real one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

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
    """Return the words by kind, and the phrases by department and purpose, ``garden extras``."""
    lists: dict[str, tuple[str, ...]] = {}
    for line in chain.from_iterable(blocks("title_words")):
        name, words = line.split(": ", 1)
        lists[name] = tuple(words.split("; "))
    return lists


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
        code = pick(rng, _LETTERS) + pick(rng, _LETTERS) + str(int(rng() * 900) + 100)
        if rng() < 0.4:
            code += pick(rng, _LETTERS)
        return code
    if kind == "number":
        return str(int(rng() * 180) + 20)
    words = title_words()
    if kind in words:
        return pick(rng, words[kind])
    return _plural(pick(rng, words[kind.removesuffix("s")]))


def _plural(noun: str) -> str:
    for pattern, ending in _PLURALS:
        plural, count = re.subn(pattern, ending, noun)
        if count:
            return plural
    return f"{noun}s"
