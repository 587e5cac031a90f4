"""TextCraft as a graph for the examples' network: commands make what listed recipes miss.

Everything is parsed from the text: the listed recipes, the goal, the admissible commands, and the
answers to the commands played. Neither the expert nor the recipe book is used, and no item name is
known beforehand.
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
"""An item name as words."""
Floats: TypeAlias = NDArray[np.float32]
Graph: TypeAlias = dict[str, Floats]

COMMANDS = 64
"""Maximum number of commands in the graph, the first ones; a random player rarely sees more."""
RECIPES = 36
"""Maximum number of listed recipes in the graph; 3 of TextCraft's 397 tasks list more."""
COMMAND_FEATURES = 6
"""Features of a command: gets, crafts, makes the goal, logs of held and made, present."""
RECIPE_FEATURES = 2
"""Features of a recipe: makes the goal, present."""
KINDS = 2
"""Ways in which an item matches an ingredient: by name, or by kind (``oak planks``)."""

PROMPT = "Crafting commands:\n"
LINE = re.compile(r"(get|craft) (\d+) (.+?)(?: using (.+))?")
GOAL = re.compile(r"Goal: craft (.+)\.")
DONE = ("Got ", "Crafted ")

SPACE = Dict(
    {
        "commands": Box(0, np.inf, (COMMANDS, COMMAND_FEATURES), np.float32),
        "recipes": Box(0, 1, (RECIPES, RECIPE_FEATURES), np.float32),
        "command_fills": Box(0, 1, (COMMANDS, KINDS, RECIPES), np.float32),
        "recipe_fills": Box(0, 1, (RECIPES, KINDS, RECIPES), np.float32),
    }
)
"""A graph: features of commands and recipes, and which makes what another misses, by match."""


class Line(NamedTuple):
    """A command, or a recipe as the prompt lists it."""

    verb: str
    makes: Name
    amount: int
    uses: tuple[tuple[Name, int], ...]


def read_line(text: str) -> Line:
    """Read ``get 1 oak logs`` or ``craft 4 stick using 2 planks``; other text is an empty line."""
    match = LINE.fullmatch(text)
    if match is None:
        return Line("", (), 0, ())
    verb, count, makes, using = match.groups()
    uses: list[tuple[Name, int]] = []
    if using:
        for part in using.split(", "):
            amount, _, name = part.partition(" ")
            uses.append((tuple(name.split()), int(amount)))
    return Line(verb, tuple(makes.split()), int(count), tuple(uses))


def match_kind(name: Name, ingredient: Name) -> int | None:
    """Return how an item matches an ingredient: 0 by its full name, 1 by its kind, else None."""
    if name == ingredient:
        return 0
    if name[-len(ingredient) :] == ingredient:  # the kind is the end of the name
        return 1
    return None


class Reader:
    """Parses an episode observation by observation, and tracks the inventory."""

    def read(self, action: str, observation: str, commands: Sequence[str]) -> Graph:
        """Return the graph after an observation.

        Args:
            action: The last action; ignored if the observation is a prompt.
            observation: The answer to it, or the prompt of a new episode.
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
        lines = prompt.partition("\n\n")[0].split("\n")[1:]
        recipes = [read_line(line) for line in lines[:RECIPES]]
        self._goal: Name = tuple(goal[1].split())
        self._held: dict[Name, int] = {}
        self._ingredients: list[tuple[Name, int]] = []
        owners: list[int] = []
        for index, recipe in enumerate(recipes):
            self._ingredients += recipe.uses
            owners += [index] * len(recipe.uses)
        self._amounts = np.array([amount for _, amount in self._ingredients])
        self._owners: Floats = np.eye(RECIPES, dtype=np.float32)[owners]
        self._known: dict[Name, Floats] = {}
        self._recipes: Floats = np.zeros((RECIPES, RECIPE_FEATURES), np.float32)
        self._made: Floats = np.zeros((RECIPES, KINDS, len(owners)), np.float32)
        for index, recipe in enumerate(recipes):
            self._recipes[index] = recipe.makes == self._goal, 1
            self._made[index] = self._filled(recipe.makes)

    def _change(self, played: Line) -> None:
        for name, count in played.uses:
            self._held[name] = self._held.get(name, 0) - count
        self._held[played.makes] = self._held.get(played.makes, 0) + played.amount

    def _filled(self, name: Name) -> Floats:
        """Return which of all ingredients an item matches, by kind of match."""
        if name not in self._known:
            self._known[name] = np.zeros((KINDS, len(self._ingredients)), np.float32)
            for index, (ingredient, _) in enumerate(self._ingredients):
                kind = match_kind(name, ingredient)
                if kind is not None:
                    self._known[name][kind, index] = 1
        return self._known[name]

    def _missing(self) -> NDArray[np.bool_]:
        """Return which of all ingredients no item held suffices for."""
        missing = np.ones(len(self._ingredients), dtype=np.bool_)
        for name, held in self._held.items():
            missing &= (held < self._amounts) | ~self._filled(name).any(axis=0)
        return missing

    def _graph(self, commands: Sequence[Line]) -> Graph:
        missing = self._owners * self._missing()[:, None]
        features = np.zeros((COMMANDS, COMMAND_FEATURES), np.float32)
        made = np.zeros((COMMANDS, KINDS, len(missing)), np.float32)
        for index, command in enumerate(commands):
            amounts = np.log1p([self._held.get(command.makes, 0), command.amount])
            features[index] = (
                command.verb == "get",
                command.verb == "craft",
                command.makes == self._goal,
                *amounts,
                1,
            )
            made[index] = self._filled(command.makes)
        return {
            "commands": features,
            "recipes": self._recipes,
            "command_fills": np.minimum(made @ missing, 1),
            "recipe_fills": np.minimum(self._made @ missing, 1),
        }


class CraftingGraph(gym.Wrapper[Any, Any, Any, Any]):
    """TextCraft as the graph of ``Reader``, around ``ActionMasking(env, COMMANDS, "drop")``."""

    def __init__(self, env: gym.Env[str, Any]) -> None:
        super().__init__(env)
        self.observation_space = SPACE
        self._reader = Reader()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Graph, dict[str, Any]]:
        """Begin a task."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._reader.read("", observation, info["admissible_commands"]), info

    def step(self, action: Any) -> tuple[Graph, Any, bool, bool, dict[str, Any]]:
        """Play the command of an index."""
        command = self.env.get_wrapper_attr("commands")[int(action)]
        observation, reward, terminated, truncated, info = self.env.step(action)
        graph = self._reader.read(command, observation, info["admissible_commands"])
        return graph, reward, terminated, truncated, info
