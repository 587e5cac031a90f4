"""Behaviour cloning on TextCraft, tested on goals whose intermediates were never goals in training.

Tasks are split by ``make_splits(compositional=True)``: no intermediate of a test goal is a goal of
train. The expert plays the goals of train, a small network learns to imitate it, and then plays the
goals of test.

    python examples/behaviour_cloning.py             # a few minutes
    python examples/behaviour_cloning.py --smoke     # a smoke test of seconds
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import gymnasium as gym
import torch
from crafting import Graph, Reader
from scorecard import play, table
from scorer import GreedyPlayer, Scorer, batch
from torch import Tensor
from torch.nn.functional import cross_entropy

import textcraft_gym
from textcraft_gym.agents.baselines.random_agent import RandomAgent

SEED = 0
FRACTIONS = (0.6, 0.1, 0.3)
"""Train, dev and test: the test part is large, since a tenth of the tasks would be too few."""
PROMPTS, EPOCHS = 8, 12
"""Prompts per goal that the expert plays, and training epochs."""
SMOKE_GOALS, SMOKE_EPOCHS = 40, 24
BATCH, RATE = 128, 2e-3

ABOUT = """# TextCraft, learnt from demonstrations

`examples/behaviour_cloning.py` trains on a compositional split,
`make_splits(fractions={fractions}, seed={seed}, compositional=True)`. The expert plays the {train}
goals of its train part with {prompts} prompts each, using admissible commands. The network of
`examples/scorer.py` imitates it: {choices} decisions, {epochs} epochs. The test goals have {parts}
craftable intermediates. Of these {as_goals} were goals in train, {as_parts} were intermediates
there, and {never} are new.

The table shows greedy play on the test part, each goal once. The game's limit is 100 steps, and the
intervals are Wilson's of 95%. *Untrained* is the network before training. *Random* plays random
admissible commands.

{table}
Demonstrations and training took {learning:.0f} s ({processor:.0f} s of processor time), the whole
{total:.0f} s, in one thread. `make learn` reproduces this file. Digits may differ between machines
and versions of PyTorch.
"""


class Demonstrations(NamedTuple):
    """The observed graph at each step, and the index of the expert's command."""

    graphs: dict[str, Tensor]
    commands: Tensor


class Demonstrator:
    """An agent that follows the expert's plan and records its observations and commands."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.indices: list[int] = []
        self._reader = Reader()
        self._played = ""

    def reset(self) -> None:
        """Begin an episode: with this method the object itself plays, and no copy of it."""
        self._played = ""

    def __call__(self, observation: str, info: dict[str, Any]) -> str:
        """Choose a command."""
        commands: list[str] = info["admissible_commands"]
        self.graphs.append(self._reader.read(self._played, observation, commands))
        self._played = info["expert_plan"][0]
        self.indices.append(commands.index(self._played))
        return self._played


def demonstrate(tasks: Sequence[str], prompts: int) -> Demonstrations:
    """Let the expert play ``prompts`` prompts of every task."""
    env = gym.make("TextCraft-v0", split="all", admissible=True, expert=True)
    demonstrator = Demonstrator()
    for task in tasks:
        for seed in range(prompts):
            textcraft_gym.run_episode(env, demonstrator, task=task, seed=seed)
    return Demonstrations(batch(*demonstrator.graphs), torch.tensor(demonstrator.indices))


def clone(demonstrations: Demonstrations, epochs: int) -> Scorer:
    """Return a network trained on demonstrations."""
    torch.manual_seed(SEED)
    scorer = Scorer()
    optimizer = torch.optim.Adam(scorer.parameters(), lr=RATE)
    graphs, commands = demonstrations
    for epoch in range(epochs):
        losses = []
        for rows in torch.randperm(len(commands)).split(BATCH):
            graph = {name: values[rows] for name, values in graphs.items()}
            scores, _ = scorer(graph)
            present = graph["commands"][:, :, -1] == 1
            # Absent commands get probability 0, as a masked policy would give them.
            loss = cross_entropy(scores.masked_fill(~present, -torch.inf), commands[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1} of {epochs}: loss {fmean(losses):.3f}", flush=True)
    return scorer


def by_depth(tasks: Sequence[str], depths: dict[str, int]) -> dict[str, Sequence[str]]:
    """Return tasks by depth, and all of them."""
    levels = sorted({depths[task] for task in tasks})
    groups: dict[str, Sequence[str]] = {}
    for depth in levels:
        groups[f"depth {depth}"] = [task for task in tasks if depths[task] == depth]
    return {**groups, "all": tasks}


def main() -> None:
    """Learn, and write ``behaviour_cloning.md`` and the weights."""
    parser = argparse.ArgumentParser(
        description="Learn TextCraft from the expert's demonstrations."
    )
    parser.add_argument("--out", type=Path, default=Path("runs/learning"))
    parser.add_argument(
        "--smoke", action="store_true", help="train for seconds only, on a few goals"
    )
    arguments = parser.parse_args()
    started, processor_started = time.perf_counter(), time.process_time()
    torch.set_num_threads(1)  # the network is small: more threads would wait for each other
    arguments.out.mkdir(parents=True, exist_ok=True)
    made = textcraft_gym.make_splits("TextCraft-v0", FRACTIONS, seed=SEED, compositional=True)
    train, test = made.splits["train"], made.splits["test"]
    prompts, epochs = PROMPTS, EPOCHS
    if arguments.smoke:
        train, prompts, epochs = train[:: len(train) // SMOKE_GOALS], 1, SMOKE_EPOCHS
    demonstrations = demonstrate(train, prompts)
    scorer = clone(demonstrations, epochs)
    torch.save(scorer.state_dict(), arguments.out / "behaviour_cloning.pt")
    learning, processor = time.perf_counter() - started, time.process_time() - processor_started
    groups = by_depth(test, made.depths)
    players = {
        "random": RandomAgent(),
        "untrained": GreedyPlayer(Scorer()),
        "cloned": GreedyPlayer(scorer),
    }
    text = ABOUT.format(
        table=table([(name, play(player, groups)) for name, player in players.items()]),
        train=len(train),
        fractions=FRACTIONS,
        seed=SEED,
        prompts=prompts,
        choices=len(demonstrations.commands),
        epochs=epochs,
        parts=len(made.leakage.intermediates),
        as_goals=made.leakage.count("goal"),
        as_parts=made.leakage.count("intermediate"),
        never=made.leakage.count("unseen"),
        learning=learning,
        processor=processor,
        total=time.perf_counter() - started,
    )
    (arguments.out / "behaviour_cloning.md").write_text(text, encoding="utf-8", newline="\n")
    print(text)


if __name__ == "__main__":
    main()
