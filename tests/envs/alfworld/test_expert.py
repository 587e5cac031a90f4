"""The expert wins from wherever a random player got to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.envs.alfworld.judge import OFFICIAL
from textcraft_gym import tasks
from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.game import NOTHING, Game, State
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import read_game
from textcraft_gym.envs.alfworld.rules import apply, moves

OFFICIAL_GAMES = sorted(OFFICIAL.rglob("game.tw-pddl"))


def wander(game: Game, steps: int, seed: int) -> Iterator[State]:
    """Yield the states of a random walk that acts where it is three times of four."""
    number = random.Random(seed).random
    state = game.first
    for _ in range(steps):
        commands = moves(game, state).commands
        local = [one for one in commands if not one.startswith("go to")]
        choice = local if number() < 0.75 else commands
        state, *_ = apply(game, state, choice[int(number() * len(choice))])
        yield state


def won_by(game: Game, state: State, plan: list[str]) -> bool:
    """Whether a plan of admissible commands ends with the goal, and not before."""
    for command in plan:
        if state.won or command not in moves(game, state).commands:
            return False
        state, *_ = apply(game, state, command)
    return state.won


def stuck(game: Game, state: State) -> bool:
    """Whether what is held can be put nowhere, so that nothing else can ever be taken."""
    kind = game.object_type[state.held] if state.held != NOTHING else ""
    return bool(kind) and not any((place, kind) in game.fits for place in game.receptacle_type)


@pytest.mark.parametrize("seed", range(3))
def test_expert__wins_every_made_game_from_anywhere(seed: int):
    for task in tasks("ALFWorld-v0", "all")[seed::60]:
        game = Game(generate(task.id))
        for state in list(wander(game, 120, seed))[::8]:
            plan = expert_plan(game, state)
            assert plan is not None, task.id
            assert won_by(game, state, plan) or state.won, (task.id, plan)


@pytest.mark.official_games
@pytest.mark.parametrize("file", OFFICIAL_GAMES or [OFFICIAL], ids=lambda file: file.parts[-3])
def test_expert__wins_official_games_from_anywhere_that_has_a_way(file: Path):
    game = Game(read_game(file))
    for seed in range(6):
        for state in list(wander(game, 120, seed))[::4]:
            plan = expert_plan(game, state)
            if plan is None:
                assert stuck(game, state)
            else:
                assert state.won or won_by(game, state, plan)
