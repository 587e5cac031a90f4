"""The network of the examples, and its greedy player."""

from __future__ import annotations

from typing import Any

import torch
from crafting import COMMAND_FEATURES, KINDS, RECIPE_FEATURES, Graph, Reader
from torch import Tensor, nn

WIDTH = 32
HOPS = 5
"""Rounds of message passing between recipes: more than the depth of TextCraft's recipe trees."""


class Scorer(nn.Module):
    """Scores each command by messages from the recipes that miss the item it makes.

    All recipes share their weights, and so do all commands. The scores depend neither on their
    order nor on item names, so that the network generalises to new goals.
    """

    def __init__(self) -> None:
        super().__init__()
        self.recipe = nn.Linear(RECIPE_FEATURES, WIDTH)
        self.recipe_messages = nn.Linear(KINDS * WIDTH, WIDTH)
        self.command = nn.Linear(COMMAND_FEATURES, WIDTH)
        self.command_messages = nn.Linear(KINDS * WIDTH, WIDTH)
        self.score = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))
        self.value = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))

    def forward(self, graph: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the commands' scores, (batch, COMMANDS), and the state's value, (batch, 1)."""
        embedded = self.recipe(graph["recipes"])
        recipes = torch.tanh(embedded)
        for _ in range(HOPS):
            recipes = torch.tanh(
                embedded + self.recipe_messages(messages(graph["recipe_fills"], recipes))
            )
        embedded = self.command(graph["commands"])
        commands = torch.tanh(
            embedded + self.command_messages(messages(graph["command_fills"], recipes))
        )
        present = graph["commands"][:, :, -1:]
        maximum = commands.masked_fill(present == 0, -1).amax(dim=1)
        mean = (commands * present).sum(dim=1) / present.sum(dim=1)
        return self.score(commands).squeeze(-1), self.value(torch.cat([maximum, mean], dim=1))


def messages(fills: Tensor, recipes: Tensor) -> Tensor:
    """Return each row's messages, concatenated by match: sums over the recipes missing the item."""
    rows, kinds = fills.shape[1:3]
    return (fills.flatten(1, 2) @ recipes).unflatten(1, (rows, kinds)).flatten(2)


def batch(*graphs: Graph) -> dict[str, Tensor]:
    """Return graphs as one batch."""
    return {
        name: torch.stack([torch.from_numpy(graph[name]) for graph in graphs]) for name in graphs[0]
    }


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
