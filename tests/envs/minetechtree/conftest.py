from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from textcraft_gym.envs.minetechtree.facts import SOURCES
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import FIRST, Aim, Game, Place, Point, State, World

PLACES = {
    "oak trees": Point(10, 0),
    "birch trees": Point(0, -20),
    "cows": Point(-30, 0),
    "sheep": Point(0, 40),
    "stone": Point(0, 0, 4),
    "coal ore": Point(3, 0, 12),
    "iron ore": Point(0, 5, 20),
    "diamond ore": Point(2, 2, 56),
}


class Turn(NamedTuple):
    state: State
    text: str
    reason: str = ""
    why: str = ""


@pytest.fixture(scope="session")
def game() -> Game:
    """A small world in which everything is at a known place, and a diamond the goal."""
    places = tuple(Place(SOURCES[name], at) for name, at in PLACES.items())
    return Game(
        World(places, (("forest", Point(0, 0)), ("plains", Point(0, 60)))),
        (Aim("minecraft:diamond"),),
        5000,
    )


def holding(**items: int) -> State:
    return FIRST._replace(inventory={f"minecraft:{item}": count for item, count in items.items()})


@pytest.fixture(scope="session")
def play(game: Game) -> Callable[[State, str], Turn]:
    return lambda state, action: Turn(*apply(game, state, action))
