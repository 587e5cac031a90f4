"""What the examples' network is shown of TextCraft: which command makes what, and which listed recipe still misses it.

All of it is read off the text: the listed recipes, the goal, the admissible commands, and the answers to the commands
that were played. Neither the expert nor the recipe book is asked, and no item's name is known beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

Name: TypeAlias = tuple[str, ...]
"""An item's name as words."""
Floats: TypeAlias = NDArray[np.float32]
Graph: TypeAlias = dict[str, Floats]

COMMANDS = 64
"""How many commands are shown, the first ones; a player at random rarely sees more."""
RECIPES = 36
"""How many listed recipes are shown, the first ones; 3 of TextCraft's 397 tasks list more."""
COMMAND_TRAITS = 5
"""What is told of a command: whether it gets, crafts, makes the goal, how much of it is held, and that it is there."""
RECIPE_TRAITS = 2
"""What is told of a recipe: whether it makes the goal, and that it is there."""
KINDS = 2
"""How a thing fills what a recipe asks for: by its whole name, or as one of a kind (``oak planks`` as ``planks``)."""

PROMPT = "Crafting commands:\n"
LINE = re.compile(r"(get|craft) (\d+) (.+?)(?: using (.+))?")
GOAL = re.compile(r"Goal: craft (.+)\.")
DONE = ("Got ", "Crafted ")

SPACE = Dict(
    {
        "commands": Box(0, np.inf, (COMMANDS, COMMAND_TRAITS), np.float32),
        "recipes": Box(0, 1, (RECIPES, RECIPE_TRAITS), np.float32),
        "command_fills": Box(0, 1, (COMMANDS, KINDS, RECIPES), np.float32),
        "recipe_fills": Box(0, 1, (RECIPES, KINDS, RECIPES), np.float32),
    }
)
"""A graph: what is told of each command and each recipe, and which of them makes, by kind, what which recipe misses."""


class Line(NamedTuple):
    """A command, or a recipe as the prompt lists it."""

    verb: str
    makes: Name
    amount: int
    uses: tuple[tuple[Name, int], ...]


def read_line(text: str) -> Line:
    """Read ``get 1 oak logs`` or ``craft 4 stick using 2 planks``; any other text makes nothing."""
    found = LINE.fullmatch(text)
    if found is None:
        return Line("", (), 0, ())
    verb, count, makes, using = found.groups()
    uses = [part.partition(" ") for part in using.split(", ")] if using else []
    return Line(verb, tuple(makes.split()), int(count), tuple((tuple(name.split()), int(n)) for n, _, name in uses))


def kind_of_filling(name: Name, asked: Name) -> int | None:
    """Return how a thing fills what a recipe asks for: 0 by its whole name, 1 as one of a kind, None if not."""
    if name == asked:
        return 0
    return 1 if name[-len(asked) :] == asked else None


class Reader:
    """Reads an episode observation by observation, and keeps count of what is held."""

    def read(self, action: str, observation: str, commands: Sequence[str]) -> Graph:
        """Return what there is to see.

        Args:
            action: What was played; it does not matter where the observation is a prompt.
            observation: The answer to it, or the prompt, with which a new episode begins.
            commands: The admissible commands.

        Raises:
            ValueError: For a prompt of another game.
        """
        if observation.startswith(PROMPT):
            self._begin(observation)
        elif observation.startswith(DONE):
            self._change(read_line(action))
        return self._graph([read_line(command) for command in commands[:COMMANDS]])

    def _begin(self, prompt: str) -> None:
        goal = GOAL.search(prompt)
        if goal is None:
            raise ValueError(f"expected the prompt of a TextCraft task, got {prompt[:80]!r}")
        recipes = [read_line(line) for line in prompt.partition("\n\n")[0].split("\n")[1:]][:RECIPES]
        self._goal: Name = tuple(goal[1].split())
        self._held: dict[Name, int] = {}
        self._asked = [asked for recipe in recipes for asked in recipe.uses]
        self._amounts = np.array([amount for _, amount in self._asked])
        owners = [number for number, recipe in enumerate(recipes) for _ in recipe.uses]
        self._owners: Floats = np.eye(RECIPES, dtype=np.float32)[owners]
        self._known: dict[Name, Floats] = {}
        self._recipes: Floats = np.zeros((RECIPES, RECIPE_TRAITS), np.float32)
        self._made: Floats = np.zeros((RECIPES, KINDS, len(owners)), np.float32)
        for number, recipe in enumerate(recipes):
            self._recipes[number] = recipe.makes == self._goal, 1
            self._made[number] = self._filled(recipe.makes)

    def _change(self, played: Line) -> None:
        for name, count in (*((name, -count) for name, count in played.uses), (played.makes, played.amount)):
            self._held[name] = self._held.get(name, 0) + count

    def _filled(self, name: Name) -> Floats:
        """Return what a thing fills of all that the recipes ask for, by kind."""
        if name not in self._known:
            self._known[name] = np.zeros((KINDS, len(self._asked)), np.float32)
            for number, (asked, _) in enumerate(self._asked):
                kind = kind_of_filling(name, asked)
                if kind is not None:
                    self._known[name][kind, number] = 1
        return self._known[name]

    def _missing(self) -> NDArray[np.bool_]:
        """Return what nothing that is held is enough for, of all that the recipes ask for."""
        missing = np.ones(len(self._asked), dtype=np.bool_)
        for name, held in self._held.items():
            missing &= (held < self._amounts) | ~self._filled(name).any(axis=0)
        return missing

    def _graph(self, commands: Sequence[Line]) -> Graph:
        missing = self._owners * self._missing()[:, None]
        told = np.zeros((COMMANDS, COMMAND_TRAITS), np.float32)
        made = np.zeros((COMMANDS, KINDS, len(missing)), np.float32)
        for number, command in enumerate(commands):
            held = np.log1p(self._held.get(command.makes, 0))
            told[number] = command.verb == "get", command.verb == "craft", command.makes == self._goal, held, 1
            made[number] = self._filled(command.makes)
        return {
            "commands": told,
            "recipes": self._recipes,
            "command_fills": np.minimum(made @ missing, 1),
            "recipe_fills": np.minimum(self._made @ missing, 1),
        }


class CraftingGraph(gym.Wrapper[Any, Any, Any, Any]):
    """Shows TextCraft as ``Reader`` reads it. It wraps an ``ActionMasking(env, COMMANDS, overflow="drop")``."""

    def __init__(self, env: gym.Env[str, Any]) -> None:
        super().__init__(env)
        self.observation_space = SPACE
        self._reader = Reader()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Graph, dict[str, Any]]:
        """Begin a task."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._reader.read("", observation, info["admissible_commands"]), info

    def step(self, action: Any) -> tuple[Graph, Any, bool, bool, dict[str, Any]]:
        """Play the command of a number."""
        command = self.env.get_wrapper_attr("commands")[int(action)]
        observation, reward, terminated, truncated, info = self.env.step(action)
        graph = self._reader.read(command, observation, info["admissible_commands"])
        return graph, reward, terminated, truncated, info
