"""What is particular about going back in a household."""

from __future__ import annotations

import pytest

from tests.envs.alfworld.household import household
from textcraft_gym.envs.alfworld.env import ALFWorldEnv
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.problem import Goal
from textcraft_gym.errors import Unsupported

GOAL = Goal("pick_and_place_simple", "AppleType", "ShelfType")


def test_fingerprint__tells_games_apart():
    first = Game(household(GOAL, "loc_start"))
    assert first.fingerprint == Game(household(GOAL, "loc_start")).fingerprint
    others = [
        Game(household(GOAL, "loc_table")),
        Game(household(GOAL._replace(otype="MugType"), "loc_start")),
        Game(household(GOAL, "loc_start"), "0.3"),
    ]
    assert len({first.fingerprint, *(other.fingerprint for other in others)}) == 4


def test_restore__of_another_game_of_the_same_name_raises():
    env = ALFWorldEnv()
    env.reset(seed=0)
    snapshot = env.snapshot()
    other = snapshot._replace(position=("another", *snapshot.position[1:]))
    with pytest.raises(ValueError, match="another game with the id"):
        env.restore(other)
    assert env.snapshot() == snapshot


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_snapshot__of_the_real_engine_raises():
    env = ALFWorldEnv(engine="textworld")
    env.reset(seed=0)
    with pytest.raises(Unsupported, match="engine='native'"):
        env.snapshot()
    env.close()
