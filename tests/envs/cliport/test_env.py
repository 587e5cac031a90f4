"""The adapter, on a stand-in for the simulator: what it sends, and what it says."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

from tests.agents.scripted import ScriptedModel
from textcraft_gym import UnknownName, run_episode
from textcraft_gym.agents.deps.deps import DEPAgent
from textcraft_gym.agents.games import TABLETOP
from textcraft_gym.envs.cliport.env import TASKS, CLIPortMissing
from textcraft_gym.errors import Unsupported

GOALS = [
    "put the red block on the lightest brown block",
    "put the blue block on the middle brown block",
]


class StandIn:
    """Stands in for CLIPort's ``Environment``, which needs PyBullet; written from what CLIPort's evaluation calls.

    It is told the goals of its task in order, and rewards the first one that is left if the action names it.
    """

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.seed = name, seed
        self.task = SimpleNamespace(lang_goals=list(GOALS))
        self.info: dict[str, Any] = {"lang_goal": GOALS[0], 7: ("pose",)}
        self.acts: list[Any] = []

    def reset(self) -> dict[str, Any]:
        return {"color": "image 0"}

    def step(self, act: dict[str, Any]) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        self.acts.append(act)
        hit = bool(self.task.lang_goals) and act["goal"] == self.task.lang_goals[0]
        if hit:
            self.task.lang_goals.pop(0)
        return {"color": f"image {len(self.acts)}"}, hit / len(GOALS), not self.task.lang_goals, self.info


def policy(observation: Any, info: Any) -> dict[str, Any]:
    return {"goal": info["lang_goal"], "seen": observation["color"], "pose": info[7]}


def begin(**arguments: Any) -> tuple[gym.Env[str, str], str]:
    env = gym.make("CLIPort-v0", simulator=StandIn, **{"policy": policy, **arguments})
    return env, env.reset(seed=0, options={"task": "stack-block-pyramid/3"})[0]


def test_reset__makes_the_task_with_its_seed_and_names_what_is_there():
    env, said = begin()
    simulator = env.unwrapped._simulator
    assert (simulator.name, simulator.seed) == ("stack-block-pyramid-seq-seen-colors", 3)
    assert said.startswith(
        "On the table is named: blue, brown, red.\nGoals left: 15.\nGoals are: put the <color> block"
    )
    assert said.endswith("\n\nYour task is to: stack the blocks into a pyramid.")
    assert begin(describe=lambda simulator: f"Seed {simulator.seed}.")[1].startswith("Seed 3.\nGoals left: 15.")


def test_goal__is_given_to_the_policy_with_what_is_seen():
    env, _ = begin()
    said, reward, terminated, truncated, info = env.step(GOALS[1])
    assert (said, reward, terminated, truncated) == (f"Missed: {GOALS[1]}", 0.0, False, False)
    assert (info["missed"], info["goals_left"], info["score"]) == (True, 14, 0.0)
    assert env.step(GOALS[0])[:3] == (f"Done: {GOALS[0]}", 0.5, False)
    *_, info = step = env.step(GOALS[1])
    assert step[:4] == (f"Done: {GOALS[1]}", 0.5, True, False)
    assert (info["won"], info["score"]) == (True, 100.0)
    acts = env.unwrapped._simulator.acts
    assert [act["goal"] for act in acts] == [GOALS[1], *GOALS]
    assert acts[1] == {"goal": GOALS[0], "seen": "image 1", "pose": ("pose",)}


def test_goal__of_another_form_or_without_a_policy_is_not_played():
    env, _ = begin()
    assert env.step("fly")[4]["invalid_reason"] == "unknown_goal"
    assert env.step("pack the star in the brown box")[4]["invalid_reason"] == "unknown_goal"
    env, _ = begin(policy=None)
    said, *_, info = env.step(GOALS[0])
    assert info["invalid_reason"] == "no_policy"
    assert (
        env.unwrapped.explain(GOALS[0], "no_policy")
        == said
        == 'No policy was given: gym.make("CLIPort-v0", policy=...).'
    )
    assert info["goals_left"] == 15


def test_goals__truncate_when_they_are_spent():
    env, _ = begin(goals=2)
    assert env.step("look")[0] == "On the table is named: blue, brown, red.\nGoals left: 2."
    assert [env.step(GOALS[1])[3] for _ in range(2)] == [False, True]


def test_dep__plays_it():
    env, _ = begin()
    plan = "\n".join(f"{number}. {goal}" for number, goal in enumerate(GOALS, 1))
    models = {"planner": ScriptedModel(plan), "executor": ScriptedModel()}
    episode = run_episode(env, DEPAgent(TABLETOP), task="stack-block-pyramid/3", seed=0, model=models)
    assert episode.won
    assert episode.reward == 1.0


def test_names__are_checked_and_what_cannot_be_done_is_refused():
    env, _ = begin()
    with pytest.raises(UnknownName, match="towers-of-hanoi/x"):
        env.reset(options={"task": "towers-of-hanoi/x"})
    with pytest.raises(UnknownName, match="unknown split"):
        begin(split="train")
    with pytest.raises(Unsupported, match="CLIPort-v0 offers no snapshot"):
        env.unwrapped.snapshot()
    assert [task.id for task in env.unwrapped.tasks][:2] == ["assembling-kits/0", "assembling-kits/1"]
    assert len(env.unwrapped.tasks) == 5 * len(TASKS)


def test_env__passes_gymnasiums_check():
    check_env(gym.make("CLIPort-v0", simulator=StandIn).unwrapped, skip_render_check=True)


def test_missing__simulator_is_named():
    if find_spec("cliport") is not None:
        pytest.skip("CLIPort is installed")
    with pytest.raises(CLIPortMissing, match=r"CLIPort is not installed.*github.com/cliport/cliport"):
        gym.make("CLIPort-v0")
