"""Every task of every split is solved by its expert, the rings in the fewest moves."""

from __future__ import annotations

from itertools import product

import gymnasium as gym
import pytest

from tests.envs.tabletop.tables import BOXING, KIT, RINGS, STACKING, play
from textcraft_gym.envs.tabletop.expert import plan
from textcraft_gym.envs.tabletop.rules import is_won, moves_left, parts, parts_done
from textcraft_gym.envs.tabletop.state import KINDS, SIDES, Rates, first_state
from textcraft_gym.envs.tabletop.tasks import split_tasks


@pytest.mark.parametrize("kind", KINDS)
def test_expert__solves_every_task(kind: str):
    for task in split_tasks("all"):
        if task.group == kind:
            state = play(task.world, goals := plan(task.world))[0]
            assert is_won(task.world, state), task.id
            assert len(goals) == task.optimal_length == task.depth
            assert state.goals == state.best == len(goals)


def test_expert__moves_rings_in_the_fewest_moves_from_anywhere():
    """``moves_left`` is compared with brute force in the tests of the rules."""
    for at in product(SIDES, repeat=3):
        state = first_state(RINGS)._replace(at=at)
        goals = plan(RINGS, state)
        assert len(goals) == moves_left(at)
        assert is_won(RINGS, play(RINGS, goals, state)[0])


def test_expert__goes_on_from_anywhere_and_leaves_out_what_is_spoilt():
    state, _, _ = play(STACKING, ["put the white block on the middle brown block"])
    assert is_won(STACKING, play(STACKING, plan(STACKING, state), state)[0])
    state, _, _ = play(KIT, ["put the red star in the top star hole"], rates=Rates(0.0, 1.0))
    goals = plan(KIT, state)
    assert len(goals) == 4
    assert parts_done(KIT, play(KIT, goals, state)[0]) == 4
    state, _, _ = play(BOXING, plan(BOXING), rates=Rates(0.0, 1.0))
    assert plan(BOXING, state) == []


@pytest.mark.parametrize("reliability", ["oracle", "cliport"])
def test_expert__earns_the_share_of_parts_and_exactly_1_where_it_wins(reliability):
    env = gym.make("Tabletop-v0", split="all", expert=True, reliability=reliability)
    won = 0
    for seed in range(100):
        _, info = env.reset(seed=seed)
        total = 0.0
        while info["expert_plan"]:
            _, reward, *_, info = env.step(info["expert_plan"][0])
            total += reward
            world, state = env.unwrapped.game.world, env.unwrapped._state
            assert total == state.best / parts(world)
        won += info["won"]
        assert (total == 1) == info["won"] == (info["score"] == 100)
    assert won == 100 if reliability == "oracle" else 50 < won < 100
