"""Small tables, and ways to play on them."""

from __future__ import annotations

from collections.abc import Iterable

from textcraft_gym.envs.tabletop.rules import apply
from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    HANOI,
    KITS,
    PACKING,
    PYRAMID,
    Game,
    Rates,
    State,
    Thing,
    World,
    first_state,
)

ALWAYS_HIT = Rates()
COLOURS = ("red", "green", "blue", "pink", "cyan", "white")


def blocks(*colours: str) -> tuple[Thing, ...]:
    return tuple(Thing(colour, "block") for colour in colours)


MATCHING = World(BOWLS, blocks("red", "green", "red", "gray"), ("green", "red", "pink"))
STACKING = World(PYRAMID, blocks(*COLOURS))
RINGS = World(HANOI, tuple(Thing(colour, "ring") for colour in COLOURS[:3]))
BOXING = World(
    PACKING, tuple(Thing("", shape) for shape in ("star", "letter E shape", "ring")), wanted=1
)
KIT = World(
    KITS,
    (
        Thing("red", "star"),
        Thing("blue", "star"),
        Thing("pink", "letter E shape"),
        Thing("gray", "ring"),
        Thing("cyan", "heart"),
    ),
    ("star", "ring", "star", "letter E shape", "heart"),
)
WORLDS = (MATCHING, STACKING, RINGS, BOXING, KIT)


def play(
    world: World,
    actions: Iterable[str],
    state: State | None = None,
    rates: Rates = ALWAYS_HIT,
    luck: str = "",
) -> tuple[State, str, str]:
    """The state after some actions, and the last answer with its reason."""
    state, text, reason = state or first_state(world), "", ""
    for action in actions:
        state, text, reason, _ = apply(Game(world, 15, rates, luck), state, action)
    return state, text, reason
