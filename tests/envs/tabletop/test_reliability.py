"""How often the controller misses: the made rates come to the published first column."""

from __future__ import annotations

import gymnasium as gym
import pytest

from tests.envs.tabletop.tables import KIT, STACKING, play
from textcraft_gym.envs.tabletop.expert import plan
from textcraft_gym.envs.tabletop.reliability import RELIABILITIES, outcome
from textcraft_gym.envs.tabletop.rules import apply, is_won
from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    HANOI,
    KITS,
    PACKING,
    PYRAMID,
    Game,
    Rates,
    first_state,
)
from textcraft_gym.envs.tabletop.tasks import LIMIT, split_tasks

PUBLISHED = {KITS: 60, HANOI: 100, BOWLS: 100, PACKING: 40, PYRAMID: 80}
"""CLIPort's policy with the oracle's termination, success in per cent."""


@pytest.mark.parametrize("kind", PUBLISHED)
def test_cliport__repeated_until_done_comes_to_the_published_success(kind: str):
    """The task's own goals in order, each repeated until it is reached, on 100 tables with 10 draws
    each."""
    won = 0
    tables = [task for task in split_tasks("test") if task.group == kind]
    for task in tables:
        for draw in range(10):
            game = Game(task.world, LIMIT, RELIABILITIES["cliport"][kind], f"{task.id}/{draw}")
            state, goals = first_state(task.world), plan(task.world)
            while goals and state.goals < LIMIT:
                state, text, *_ = apply(game, state, goals[0])
                if text.startswith("Done:"):
                    goals = goals[1:]
            won += is_won(task.world, state)
    assert 100 * won / (10 * len(tables)) == pytest.approx(PUBLISHED[kind], abs=4)


def test_outcome__is_as_likely_as_the_rates_say():
    rates = Rates(0.6, 0.3)
    results = [
        outcome(rates, "luck", thing, number) for thing in range(50) for number in range(100)
    ]
    shares = {result: results.count(result) / len(results) for result in set(results)}
    assert shares == {
        result: pytest.approx(share, abs=0.02)
        for result, share in (("hit", 0.6), ("spoil", 0.3), ("miss", 0.1))
    }


def test_outcome__does_not_depend_on_what_is_done_between():
    rates = RELIABILITIES["cliport"][KITS]
    heart, ring = "put the cyan heart in the heart hole", "put the gray ring in the ring hole"
    for luck in map(str, range(40)):
        alone = play(KIT, [heart], rates=rates, luck=luck)[0].at[4]
        assert play(KIT, [ring, ring, heart], rates=rates, luck=luck)[0].at[4] == alone


def test_oracle__never_misses():
    assert all(rates == Rates() for rates in RELIABILITIES["oracle"].values())


def test_misses__are_told_in_info_and_depend_on_task_and_seed():
    env = gym.make("Tabletop-v0", reliability="cliport")
    seen = set()
    for seed in range(12):
        played = []
        for _ in range(2):
            env.reset(seed=seed, options={"task": "packing-shapes/0"})
            goal = plan(env.unwrapped.task.world)[0]
            played.append(env.step(goal))
        assert played[0] == played[1]
        said, _, _, _, info = played[0]
        assert info.get("missed", False) == said.startswith("Missed: ") == (not info["won"])
        assert "invalid_reason" not in info
        seen.add(said)
    assert len(seen) > 1


def test_fall__is_mended_by_who_sees_it():
    """The goals of the task come to nothing after a fall, a new plan from the table does not."""
    state, _, _ = play(STACKING, plan(STACKING)[:5])
    state, _, _ = play(STACKING, plan(STACKING)[5:], state, Rates(0.0, 1.0))
    assert not is_won(STACKING, play(STACKING, plan(STACKING)[5:], state)[0])
    assert is_won(STACKING, play(STACKING, plan(STACKING, state), state)[0])
