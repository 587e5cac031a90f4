"""Items that differ in their colour or their wood alone, such as the sixteen beds."""

from __future__ import annotations

import re
from functools import cache

COLOURS = (
    *("white", "orange", "magenta", "light_blue", "yellow", "lime", "pink", "gray", "light_gray"),
    *("cyan", "purple", "blue", "brown", "green", "red", "black"),
)
"""Minecraft's dyes."""
WOODS = (
    *("oak", "spruce", "birch", "jungle", "acacia", "dark_oak", "crimson", "warped"),
    *("mangrove", "cherry", "bamboo", "pale_oak"),
)
"""Minecraft's woods, those of later versions than 1.16 last."""
# The longest first, so that a light blue bed is no "light_* bed".
_VARIANT = "|".join(sorted((*COLOURS, *WOODS), key=len, reverse=True))
_WORD = re.compile(rf"(?<![a-z])(?:{_VARIANT})(?![a-z])")


@cache
def family(item: str) -> str:
    """Return the id of an item with its first colour or wood left open: ``minecraft:*_bed``."""
    return _WORD.sub("*", item, count=1)
