"""The network of the examples, and the player that follows it."""

from __future__ import annotations

from typing import Any

import torch
from crafting import COMMAND_TRAITS, KINDS, RECIPE_TRAITS, Graph, Reader
from torch import Tensor, nn

WIDTH = 32
HOPS = 5
"""How often each recipe listens to those that miss what it makes: more often than TextCraft's trees are deep."""


class Scorer(nn.Module):
    """Scores each command by what the recipes say that miss what it makes.

    The same weights serve every recipe and every command, so that it makes no difference in which order they stand and
    what things are called: what is learnt of some goals holds for others.
    """

    def __init__(self) -> None:
        super().__init__()
        self.recipe = nn.Linear(RECIPE_TRAITS, WIDTH)
        self.recipe_hears = nn.Linear(KINDS * WIDTH, WIDTH)
        self.command = nn.Linear(COMMAND_TRAITS, WIDTH)
        self.command_hears = nn.Linear(KINDS * WIDTH, WIDTH)
        self.score = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))
        self.value = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))

    def forward(self, graph: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the scores of the commands, (batch, COMMANDS), and what the state is worth, (batch, 1)."""
        told = self.recipe(graph["recipes"])
        recipes = torch.tanh(told)
        for _ in range(HOPS):
            recipes = torch.tanh(told + self.recipe_hears(heard(graph["recipe_fills"], recipes)))
        told = self.command(graph["commands"])
        commands = torch.tanh(told + self.command_hears(heard(graph["command_fills"], recipes)))
        there = graph["commands"][:, :, -1:]
        most = commands.masked_fill(there == 0, -1).amax(dim=1)
        mean = (commands * there).sum(dim=1) / there.sum(dim=1)
        return self.score(commands).squeeze(-1), self.value(torch.cat([most, mean], dim=1))


def heard(fills: Tensor, recipes: Tensor) -> Tensor:
    """Return what each row hears, one kind of filling beside the other: the sum over the recipes that miss it."""
    rows, kinds = fills.shape[1:3]
    return (fills.flatten(1, 2) @ recipes).unflatten(1, (rows, kinds)).flatten(2)


def batch(*graphs: Graph) -> dict[str, Tensor]:
    """Return graphs as one batch."""
    return {name: torch.stack([torch.from_numpy(graph[name]) for graph in graphs]) for name in graphs[0]}


class GreedyPlayer:
    """An agent for ``run_episode``: always plays the command with the highest score."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._reader = Reader()
        self._played = ""

    def __call__(self, observation: str, info: dict[str, Any]) -> str:
        """Choose a command."""
        commands: list[str] = info["admissible_commands"]
        graph = self._reader.read(self._played, observation, commands)
        with torch.no_grad():
            scores, _ = self._scorer(batch(graph))
        self._played = commands[int(scores[0, : len(commands)].argmax())]
        return self._played
