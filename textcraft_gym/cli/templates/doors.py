"""Doors: open the door of the right colour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym

from textcraft_gym.agents.contract.game_profile import DEFAULT, last_turn
from textcraft_gym.envs.text_env import Settings, Step, TextEnv
from textcraft_gym.errors import UnknownName


@dataclass(frozen=True)
class Door:
    """A task: the colour of a door, its row in tables, and its fewest actions."""

    id: str
    group: str
    optimal_length: int = 1


WARM, COLD = (
    [Door("red", "warm"), Door("orange", "warm")],
    [Door("blue", "cold"), Door("green", "cold")],
)
SPLITS: Mapping[str, Sequence[Door]] = {"train": WARM, "test": COLD, "all": [*WARM, *COLD]}

NOTHING = "Nothing happens."
PROFILE = replace(DEFAULT, no_op=(NOTHING,), report=last_turn(NOTHING))
"""How agents read the game; the default profile splits the first observation."""


class DoorsEnv(TextEnv):
    """Open the door of the given colour with ``open COLOUR``; the reward is 1."""

    game_profile = "doors:PROFILE"
    splits = tuple(SPLITS)

    def __init__(
        self,
        split: str = "test",
        *,
        admissible: bool = False,
        expert: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(admissible=admissible, expert=expert, render_mode=render_mode)
        if split not in SPLITS:
            raise UnknownName.of("split", split, list(SPLITS))
        self.tasks = SPLITS[split]
        self._opened: tuple[str, ...] = ()

    def _find_task(self, name: Any) -> Door:
        doors = {door.id: door for door in SPLITS["all"]}
        if name not in doors:
            raise UnknownName.of("task", name, list(doors))
        return doors[name]

    def _begin(self, task: Door, draw: int) -> str:
        self._opened = ()
        colours = ", ".join(self._closed())
        return (
            f"You see doors of these colours: {colours}. You open one by: open COLOUR.\n\n"
            f"Task: open the {task.id} door."
        )

    def _play(self, action: str) -> Step:
        verb, _, colour = action.partition(" ")
        if verb != "open" or colour not in self._closed():
            info = {**self._info(), "invalid_reason": "no_effect"}
            return NOTHING, 0.0, False, False, info
        self._opened = (*self._opened, colour)
        info = self._info()
        return f"The {colour} door opens.", float(info["won"]), info["won"], False, info

    def _info(self) -> dict[str, Any]:
        won = self.task.id in self._opened
        info: dict[str, Any] = {"task": self.task.id, "won": won}
        if self.admissible:
            commands = [f"open {colour}" for colour in self._closed()]
            info["admissible_commands"] = [] if won else commands
        if self.expert:
            info["expert_plan"] = [] if won else [f"open {self.task.id}"]
        return info

    def _closed(self) -> list[str]:
        return [door.id for door in SPLITS["all"] if door.id not in self._opened]

    def _settings(self) -> Settings:
        return "Doors", ()

    def _position(self) -> tuple[str, ...]:
        return self._opened

    def _go_back(self, task: Door, draw: int, position: tuple[str, ...]) -> None:
        self._opened = position


gym.register("Doors-v0", entry_point="doors:DoorsEnv", max_episode_steps=10)
