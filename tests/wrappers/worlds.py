"""Small environments to wrap, and ways to play them."""

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
from gymnasium.spaces import Discrete

from textcraft_gym import tasks
from textcraft_gym.spaces import AnyText

NONSENSE = "no such action 🪵 \0"


def easy(env_id: str) -> str:
    """The task that takes the fewest actions."""
    return min(tasks(env_id), key=lambda task: task.optimal_length).id


def steps(env: gym.Env, seed: int, count: int = 12) -> list:
    """What random commands lead to, with a mistake now and then; over the end of episodes and new ones.

    The commands are drawn from what the innermost environment says, so that it does not matter what
    wraps it.
    """
    number = random.Random(seed)
    seen: list = [env.reset()]
    for _ in range(count):
        seen.append(env.step(draw(env, seen[-1][-1], number)))
        if seen[-1][2] or seen[-1][3]:
            seen.append(env.reset())
    return seen


def draw(env: gym.Env, info: dict[str, Any], number: random.Random) -> Any:
    """An action: mostly one that does something."""
    if isinstance(env.action_space, Discrete):
        return number.choice([place for place, on in enumerate(info["action_mask"]) if on])
    choices = [*info["admissible_commands"], NONSENSE, *info.get("expert_plan", [])[:1] * 5]
    return number.choice(choices)


class Corridor(gym.Env[str, str]):
    """A foreign world: rooms in a row, the last of which wins, and a pit; it lists no commands
    unless asked to."""

    def __init__(self, rooms: int = 4, admissible: bool = False, crowd: int = 0) -> None:
        self.rooms = rooms
        self.admissible = admissible
        self.crowd = crowd
        self.observation_space = AnyText()
        self.action_space = AnyText()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = 0
        return "room 0", self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.place += {"on": 1, "back": -1}.get(action, 0)
        self.place = max(0, self.place)
        won = self.place == self.rooms
        return f"room {self.place}", float(won), won, False, self._info()

    def _info(self) -> dict[str, Any]:
        commands = [
            "on",
            *(["back"] if self.place else []),
            *(f"wave {number}" for number in range(self.crowd)),
        ]
        return {"admissible_commands": commands} if self.admissible else {}
