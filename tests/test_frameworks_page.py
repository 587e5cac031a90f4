"""The adapters in docs/frameworks.md play; each is tested with its framework where that is
installed."""

from __future__ import annotations

import asyncio
import gc
import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym

PAGE = (Path(__file__).parents[1] / "docs" / "frameworks.md").read_text(encoding="utf-8")
BLOCKS = dict(
    re.findall(r"## ([^\n]+)\n(?:(?!\n## ).)*?```python[^\n]*\n(.*?)```", PAGE, re.DOTALL)
)
# The frameworks' own imports warn.
pytestmark = pytest.mark.filterwarnings("default")


def block(framework: str, package: str | None = None) -> dict[str, Any]:
    """The names that a block defines, with its package imported first."""
    if package:
        pytest.importorskip(package, reason=f"{framework} is not installed", exc_type=ImportError)
    names: dict[str, Any] = {}
    exec(BLOCKS[framework], names)
    return names


def plan(env_id: str, seed: int, task: str | None = None) -> tuple[str, list[str]]:
    """The first observation of an episode, and the actions that win it."""
    options = None if task is None else {"task": task}
    observation, info = gym.make(env_id, expert=True).reset(seed=seed, options=options)
    return observation, list(info["expert_plan"])


def test_page__has_a_block_for_each_framework():
    assert list(BLOCKS) == ["SkyRL", "GEM", "TextArena", "verl", "verl-agent", "TALES"]
    for name, code in BLOCKS.items():
        compile(code, name, "exec")


def test_skyrl__is_won():
    names = block("SkyRL", "skyrl_gym")
    task = textcraft_gym.tasks("ALFWorld-v0")[0].id
    first, actions = plan("ALFWorld-v0", 3, task)
    env = import_module("skyrl_gym").make(
        "textgame", env_config={}, extras={"task": task, "seed": 3}
    )
    system = {"role": "system", "content": "Play."}
    assert env.init([system]) == ([system, {"role": "user", "content": first}], {})
    steps = [env.step(f"I try this.\nAction: {action}") for action in actions]
    assert [step["done"] for step in steps] == [False] * (len(actions) - 1) + [True]
    assert (steps[-1]["reward"], steps[-1]["metadata"]) == (1, {"won": True})
    assert set(steps[0]["observations"][0]) == {"role", "content"}
    assert names["TextGame"]().init([])[0][0]["role"] == "user"


def test_gem__is_won_and_spawned_in_the_middle():
    block("GEM", "gem")
    first, actions = plan("TextCraft-v0", 5)
    env = import_module("gem").make("game:TextGame", seed=5)
    assert env.reset()[0] == first
    env.step(actions[0])
    twin = env.spawn(same_state=True)
    for action in actions[1:]:
        step = env.step(f"Action: {action}")
        assert twin.step(action)[:4] == step[:4]
    assert step[1:4] == (1, True, False)
    vector = import_module("gem").make_vec(["game:TextGame"] * 2, seed=5)
    assert vector.reset()[0][0] == first


def test_textarena__is_won():
    block("TextArena", "textarena")
    first, actions = plan("WebShopLite-v0", 2)
    env = import_module("textarena").make("TextGame-v0")
    env.reset(num_players=1, seed=2)
    player, seen = env.get_observation()
    assert player == 0
    assert first in str(
        [message for _, message, _ in seen] if isinstance(seen, list) else seen
    ).replace("\\n", "\n")
    for action in actions:
        done, _ = env.step(action)
    rewards, info = env.close()
    assert done
    assert (rewards[0], info[0]["reason"]) == (1, "won")


def test_verl__is_won_by_each_trajectory_alone():
    names = block("verl", "verl.tools.base_tool")
    tool = names["PlayTool"]({"env_id": "TextCraft-v0"}, None)
    assert tool.name == "step"
    row = names["rows"]("TextCraft-v0", "dev", seeds=[7])[4]
    kwargs = row["extra_info"]["tools_kwargs"]
    first, actions = plan("TextCraft-v0", 7, kwargs["step"]["create_kwargs"]["task"])
    assert row["prompt"][0]["content"] == first

    class Trajectory(SimpleNamespace):
        __hash__ = object.__hash__

    trajectory, other = Trajectory(tools_kwargs=kwargs), Trajectory(tools_kwargs=kwargs)

    def call(data: Trajectory, action: str) -> tuple[str, float, bool]:
        instance, _ = asyncio.run(tool.create(create_kwargs=kwargs["step"]["create_kwargs"]))
        response, reward, metrics = asyncio.run(
            tool.execute(instance, {"action": action}, agent_data=data)
        )
        asyncio.run(tool.release(instance))
        return response.text, reward, metrics["won"]

    assert call(other, "inventory")[0] == "Inventory: You are not carrying anything."
    played = [call(trajectory, action) for action in actions]
    assert [reward for _, reward, _ in played] == [0] * (len(actions) - 1) + [1]
    assert call(trajectory, "inventory") == ("The episode is over: reset begins another.", 0, True)
    assert len(tool.games) == 2
    del trajectory
    gc.collect()
    assert len(tool.games) == 1


def test_verl_agent__plays_groups_alike_and_counts_rewards_once():
    starts = textcraft_gym.starts("TextCraft-v0", "dev", limit=2)
    games = block("verl-agent")["Games"]("TextCraft-v0", starts, group_n=2)
    seen, infos = games.reset()
    assert seen["anchor"] == [start.observation for start in starts for _ in range(2)]
    assert [info["task"] for info in infos] == [start.task for start in starts for _ in range(2)]
    plans = [plan("TextCraft-v0", start.seed, start.task)[1] for start in starts for _ in range(2)]
    total = 0.0
    for turn in range(max(map(len, plans)) + 3):
        seen, rewards, over, infos = games.step(
            [(*actions, "inventory")[min(turn, len(actions))] for actions in plans]
        )
        total += rewards.sum()
        assert all(info["is_action_valid"] for info in infos)
    assert total == 4
    assert over.all()
    games.reset()
    games.over[:] = [True, False, False, False]
    for turn in range(max(map(len, plans))):
        seen, rewards, *_ = games.step(
            [(*actions, "inventory")[min(turn, len(actions))] for actions in plans]
        )
        total += rewards.sum()
    assert total == 7
    games.reset()
    assert not games.step(["nonsense"] * 4)[3][0]["is_action_valid"]


def test_tales__is_won_along_its_walkthrough():
    env = block("TALES")["tales"]
    _, info = env.reset(seed=4)
    for moves, action in enumerate(info["extra.walkthrough"], 1):
        observation, score, over, info = env.step(action)
        assert info["moves"] == moves
    assert (score, over, info["won"], info["lost"], info["feedback"]) == (
        1,
        True,
        True,
        False,
        observation,
    )
    assert info["score"] == info["max_score"]
