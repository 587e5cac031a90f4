"""Reliability: how likely an action that is possible succeeds, by its kind.

The players of DEPS act through a learned controller, which misses. The paper gives its success for
single goals (Wang et al. 2023, table 18): oak and birch logs, cobblestone, iron ore (one, and three
at once), diamonds, sheep, cows, pigs; crafting without a crafting table, crafting at one, smelting,
and equipping, which never misses. Chosen here are

- the oak's rate for the other woods, and that of one iron ore for coal and quartz;
- the rate of one iron ore for two, and that of three for more; of no other item does the amount
  matter.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from textcraft_gym.envs.minetechtree.facts import ANIMALS, ORES, SOURCE_OF, STONE, TABLE, TREES
from textcraft_gym.envs.minetechtree.moves import Equipping, Gathering, Making
from textcraft_gym.errors import UnknownName
from textcraft_gym.recipes.recipe import name_of

Reliability: TypeAlias = Mapping[str, float]
"""The probability of success by kind; a kind without one, even in a wider kind, never misses."""

MANY_ORES = 3
THREE_ORES = f"{MANY_ORES} iron ore"
"""The kind of an action for as many iron ores or more."""

PUBLISHED: Reliability = MappingProxyType(
    {
        "oak log": 0.39,
        "birch log": 0.29,
        "log": 0.39,
        "cobblestone": 0.95,
        THREE_ORES: 0.16,
        "iron ore": 0.40,
        "diamond": 0.35,
        "ore": 0.40,
        "cows": 0.60,
        "sheep": 0.44,
        "pigs": 0.49,
        "craft at a table": 0.90,
        "smelt": 0.80,
    }
)
"""Table 18, but for ``log`` and ``ore``, which are chosen."""

NAMED: Mapping[str, Reliability] = {"perfect": {}, "published": PUBLISHED}

_WIDE_KINDS = (
    {source.name: "log" for source in TREES}
    | {source.name: "ore" for source in ORES}
    | {source.name: "animal" for source in ANIMALS}
    | {STONE.name: "cobblestone"}
)

WIDE_KINDS = (*dict.fromkeys(_WIDE_KINDS.values()), "craft", "smelt", "equip")
"""The kinds that every action is of exactly one of."""


def kinds_of(move: Gathering | Making | Equipping) -> tuple[str, ...]:
    """Return the kinds that a move is of, the narrowest first."""
    if isinstance(move, Equipping):
        return ("equip",)
    if isinstance(move, Making):
        if move.station == TABLE:
            return ("craft at a table", "craft")
        return (move.verb,)
    narrow, wide = _narrow_kind(move.item), _WIDE_KINDS[move.source.name]
    # The paper gives three iron ores a rate of their own, far below that of one.
    if narrow == "iron ore" and move.amount >= MANY_ORES:
        return (THREE_ORES, narrow, wide)
    return (narrow, wide)


def _narrow_kind(item: str) -> str:
    """Return the kind of a gathered item alone: its name, or the animals that drop it."""
    source = SOURCE_OF[item]
    return source.name if source in ANIMALS else name_of(item)


KINDS = tuple(
    dict.fromkeys([*map(_narrow_kind, SOURCE_OF), THREE_ORES, "craft at a table", *WIDE_KINDS])
)


def read_reliability(value: Any) -> Reliability:
    """Return the reliability of an argument: a name, a number for all kinds, or numbers by kind.

    Raises:
        UnknownName: For a name or a kind that does not exist.
        ValueError: For a number that is not above 0 and at most 1.
    """
    if isinstance(value, str):
        if value not in NAMED:
            raise UnknownName.of("reliability", value, list(NAMED))
        return NAMED[value]
    by_kind = value if isinstance(value, Mapping) else dict.fromkeys(WIDE_KINDS, value)
    _check(by_kind)
    if min(by_kind.values(), default=1) == 1:
        return {}
    # A narrow kind that never misses is kept, since a wider one may.
    return {kind: by_kind[kind] for kind in KINDS if kind in by_kind}


def _check(by_kind: Mapping[Any, Any]) -> None:
    for kind, number in by_kind.items():
        if kind not in KINDS:
            raise UnknownName.of("kind of action", kind, KINDS)
        # Not isinstance: True is an int, too.
        if type(number) not in (int, float) or not 0 < number <= 1:
            raise ValueError(f"expected a reliability above 0 and up to 1, got {number!r}")


def probability(reliability: Reliability, move: Gathering | Making | Equipping) -> float:
    """Return the probability that a move succeeds: that of the narrowest kind that has one."""
    for kind in kinds_of(move):
        if kind in reliability:
            return reliability[kind]
    return 1.0


def misses(
    luck: str,
    item: str,
    number: int,
    probability: float,
) -> bool:
    """Return whether the try of this number, from 1, for an item misses.

    The draw depends on nothing else, so that no order of goals is luckier than another.
    """
    return random.Random(f"{luck}/{item}/{number}").random() >= probability
