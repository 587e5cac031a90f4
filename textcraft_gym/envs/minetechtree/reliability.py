"""Reliability: how likely a goal that is possible is reached, by kind of goal.

The players of DEPS act through a learned controller, which misses: the paper gives its success for single goals (Wang
et al. 2023, table 18). Those goals stand here for their kinds: one wood for all, one ore for all, one animal for all.
Crafting (but for the two published goals), smelting and equipping are commands in MineDojo, which do not miss.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from textcraft_gym.envs.minetechtree.facts import ANIMALS, FURNACE, ORES, STONE, TABLE, TREES
from textcraft_gym.envs.minetechtree.moves import Equipping, Gathering, Making
from textcraft_gym.errors import UnknownName

Reliability: TypeAlias = Mapping[str, float]
"""The probability of each kind of goal that can miss."""

PUBLISHED: Reliability = MappingProxyType(
    {"log": 0.39, "cobblestone": 0.95, "ore": 0.40, "animal": 0.44, "crafting table": 0.90, "furnace": 0.80}
)
"""Table 18: oak log, cobblestone, iron ore, sheep, crafting table and furnace."""

NAMED: Mapping[str, Reliability] = {"perfect": {}, "published": PUBLISHED}

KINDS = (*PUBLISHED, "craft", "smelt", "equip")

_KIND_OF = (
    {source.name: "log" for source in TREES}
    | {source.name: "ore" for source in ORES}
    | {source.name: "animal" for source in ANIMALS}
    | {STONE.name: "cobblestone", TABLE: "crafting table", FURNACE: "furnace"}
)


def read_reliability(value: Any) -> Reliability:
    """Return the reliability that an argument gives: a name, a number for all kinds, or numbers by kind.

    Raises:
        UnknownName: For a name or a kind that does not exist.
        ValueError: For a number that is not above 0 and at most 1.
    """
    if isinstance(value, str):
        if value not in NAMED:
            raise UnknownName("reliability", value, list(NAMED))
        return NAMED[value]
    by_kind: Mapping[str, Any] = value if isinstance(value, Mapping) else dict.fromkeys(KINDS, value)
    for kind, number in by_kind.items():
        if kind not in KINDS:
            raise UnknownName("kind of goal", kind, KINDS)
        if type(number) not in (int, float) or not 0 < number <= 1:
            raise ValueError(f"expected a reliability above 0 and up to 1, got {number!r}")
    return {kind: by_kind[kind] for kind in KINDS if by_kind.get(kind, 1) < 1}


def kind_of(move: Gathering | Making | Equipping) -> str:
    """Return the kind of goal that a move reaches."""
    if isinstance(move, Gathering):
        return _KIND_OF[move.source.name]
    return _KIND_OF.get(move.item, move.verb) if isinstance(move, Making) else "equip"


def misses(luck: str, item: str, number: int, probability: float) -> bool:
    """Return whether the try of this number, from 1, for an item misses.

    The draw depends on nothing else, so that no order of goals is luckier than another.
    """
    return random.Random(f"{luck}/{item}/{number}").random() >= probability
