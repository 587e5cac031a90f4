"""The info of TextWorld: the keys that users of alfworld and tale-suite read, with the values that
they find there."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from tests.envs.alfworld.memoised import memoised
from textcraft_gym import tasks
from textcraft_gym.envs.alfworld.env import ALFWorldEnv
from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.export import export_game
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.generator import generate

KEYS = {"feedback", "score", "max_score", "lost", "moves", "extra.gamefile", "extra.walkthrough"}


class TalesEnv:
    """A game on the real engine, with the infos that tale-suite asks for and those that it sets
    itself."""

    def __init__(self, file: Path) -> None:
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
        from textworld.envs.wrappers import Filter

        requested = {
            "score": True,
            "max_score": True,
            "won": True,
            "lost": True,
            "feedback": True,
            "moves": True,
        }
        infos = textworld.EnvInfos(**requested, extras=["walkthrough", "gamefile"])
        self.env = textworld.start(
            str(file), infos, wrappers=[AlfredDemangler, AlfredInfos, Filter]
        )

    def reset(self) -> dict[str, Any]:
        observation, info = self.env.reset()
        return {**info, "feedback": observation, "score": 0, "max_score": 1}

    def step(self, action: str) -> dict[str, Any]:
        observation, _, done, info = self.env.step(action)
        return {**info, "feedback": observation, "score": int(done), "max_score": 1}


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", [1, 4, 5])
def test_textworld_info__is_that_of_the_real_engine(number: int, tmp_path: Path):
    made = tasks("ALFWorld-v0", "valid_unseen")[number]
    walkthrough = ["look", *expert_plan(Game(generate(made.id)), Game(generate(made.id)).first)]
    file = export_game(generate(made.id), made.id, tmp_path, walkthrough)
    env = gym.make(
        "ALFWorld-v0", games=file, textworld_info=True, admissible=True, max_episode_steps=-1
    )
    uniform = random.Random(number).random
    with memoised():
        real = TalesEnv(file)
        _, info = env.reset(seed=0)
        assert {key: info[key] for key in (*KEYS, "won")} == real.reset()
        won = False
        for turn in range(60):
            some = ["fly", "examine"] if turn % 10 == 7 else info["admissible_commands"]
            command = some[int(uniform() * len(some))]
            if turn >= 40 and not won:  # the plan of that moment
                (command, *_) = expert_plan(env.unwrapped.game, env.unwrapped._state)
            _, _, won, _, info = env.step(command)
            infos = real.step(command)
            assert (
                infos["extra.gamefile"] is None
            )  # alfworld tells it at the reset only; here it is in every info
            assert {key: info[key] for key in (*KEYS, "won")} == {
                **infos,
                "extra.gamefile": str(file),
            }
            if won:
                break
    assert won
    assert info["score"] == 1
    assert info["moves"] < turn


def test_textworld_info__is_there_if_asked_for():
    env = ALFWorldEnv(textworld_info=True)
    observation, info = env.reset(seed=3)
    assert not KEYS & ALFWorldEnv().reset(seed=3)[1].keys()
    plan = info["extra.walkthrough"]
    expected = {
        "max_score": 1,
        "lost": False,
        "extra.gamefile": info["gamefile"],
        "extra.walkthrough": list(plan),
    }
    assert {key: info[key] for key in KEYS} == {
        **expected,
        "feedback": observation,
        "score": 0,
        "moves": 0,
    }
    assert len(plan) == env.task.optimal_length
    for turn, command in enumerate(plan):
        answer, _, won, _, info = env.step("fly")
        assert {key: info[key] for key in KEYS} == {
            **expected,
            "feedback": answer,
            "score": 0,
            "moves": turn,
        }
        answer, _, won, _, info = env.step(command)
        moved = {"feedback": answer, "score": int(won), "moves": turn + 1}
        assert {key: info[key] for key in KEYS} == {**expected, **moved}
    assert won
    info["extra.walkthrough"].clear()
    assert env.reset(options={"task": env.task.id})[1]["moves"] == 0
    assert env.step("look")[4]["extra.walkthrough"] == plan


def test_textworld_info__counts_on_from_a_snapshot():
    env, other = ALFWorldEnv(textworld_info=True), ALFWorldEnv(textworld_info=True)
    env.reset(seed=3)
    for command in ("look", "fly", "inventory"):
        env.step(command)
    other.restore(env.snapshot())
    assert other.step("look") == env.step("look")
    assert env.step("look")[4]["moves"] == 4
