"""LATS beside the agents that it is compared with, with the simulated model: success, cost, and success against calls.

``python benchmarks/lats.py`` plays what ``runs/lats`` lacks, and an interrupted start is continued; ``--pages`` writes
the page and its figure from the CSV file alone.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from adapt_paper import TABLE_2_WEBSHOP
from experiments import simulated
from figure import Panel, Point, figure
from results import write

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.evaluation.records import Record
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.evaluation.success import wilson_interval

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "lats"
NUMBERS, PAGE, FIGURE = "lats.csv", "lats.md", "lats.svg"
SEEDS = (0, 1)
LIMIT = 50
"""Maximum number of tasks of a world: as many as the authors' program plays in WebShop."""
CALLS = (10, 20, 50, 100, 200, 500, 1000)
"""Numbers of calls by which successes are counted; the last one is the bound of an episode."""

WORLDS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "WebShop": ("WebShopLite-v0", "adapt_test", {"mode": "adapt"}),
    "HotpotQA": ("HotpotQA-v0", "dev", {}),
    "TextCraft": ("TextCraft-v0", "test", {}),
    "ALFWorld": ("ALFWorld-v0", "valid_unseen", {}),
}
AGENTS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "ReAct": ("react", {}),
    "Try Again": ("try_again", {}),
    "Reflexion": ("reflexion", {}),
    "ADaPT": ("adapt", {}),
    "best of 10": ("best_of_n", {}),
    "tree of thoughts, breadth": ("tree_of_thoughts", {}),
    "tree of thoughts, depth": ("tree_of_thoughts", {"order": "depth"}),
    "LATS": ("lats", {}),
}
DRAWN = ("LATS", "Reflexion", "Try Again", "ADaPT", "best of 10")
"""The lines of the figure."""
READS = {"Try Again", "Reflexion", "best of 10", "LATS"}
"""Agents that go on until the environment says that they won, or pays."""
GOES_BACK = {"best of 10", "tree of thoughts, breadth", "tree of thoughts, depth", "LATS"}
NAMES = {
    "ReAct": "ReAct",
    "Try Again": "Try Again with ReAct",
    "Reflexion": "Reflexion",
    "ADaPT": "ADaPT",
    "LATS": "LATS",
}
"""The agents that ADaPT's table 2 has, by its names."""


class Outcome(NamedTuple):
    """What the episodes of one agent in one world came to, over all seeds.

    Attributes:
        world, agent: Their names.
        episodes: Number of episodes.
        errors: Those that ended with an error.
        won: Those that were won.
        reward: Sum of rewards, of each episode that of its best branch or trial.
        steps: Actions played, in all branches.
        restores: Returns to earlier moments.
        nodes: Nodes of the search trees.
        calls, judge, tokens: Completions of all roles, of the judge, and their tokens.
        won_by: Episodes that were won and took at most so many calls, for each number of ``CALLS``.
    """

    world: str
    agent: str
    episodes: int
    errors: int
    won: int
    reward: float
    steps: int
    restores: int
    nodes: int
    calls: int
    judge: int
    tokens: int
    won_by: tuple[int, ...]


def spec(world: str, agent: str, seed: int) -> RunSpec:
    """Return a run."""
    env, split, env_args = WORLDS[world]
    name, args = AGENTS[agent]
    return RunSpec(env, split, name, args, simulated(), env_args=env_args, seed=seed, limit=LIMIT)


def play(world: str, agent: str, seed: int) -> list[Record]:
    """Play the missing episodes of a run, and return all."""
    folder = f"{world}_{agent}".replace(" ", "_").replace(",", "")
    return evaluate(spec(world, agent, seed), RUNS / folder / f"seed{seed}")


def outcome(world: str, agent: str, records: Sequence[Record]) -> Outcome:
    """Return what some episodes came to."""
    played = [record for record in records if not record["error"]]
    calls = [sum(record["calls"].values()) for record in played]
    return Outcome(
        world,
        agent,
        len(records),
        len(records) - len(played),
        sum(record["won"] for record in played),
        round(sum(record["reward"] for record in played), 6),
        sum(record["steps"] for record in played),
        sum(len(record["restores"]) for record in played),
        sum(map(_nodes, played)),
        sum(calls),
        sum(record["calls"].get("judge", 0) for record in played),
        sum(sum(record["tokens"].values()) for record in played),
        tuple(
            sum(record["won"] and asked <= most for record, asked in zip(played, calls, strict=True)) for most in CALLS
        ),
    )


def _nodes(record: Record) -> int:
    """Return the number of nodes of a search tree without its root."""

    def count(node: Mapping[str, Any]) -> int:
        inner = sum(count(part) for part in node["parts"] if isinstance(part, dict))
        return inner + (node["role"].endswith("branch") and node["depth"] > 0)

    return count(record["trace"])


def write_numbers(found: Sequence[Outcome]) -> str:
    """Return outcomes as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Outcome._fields)
    writer.writerows((*one[:-1], " ".join(map(str, one.won_by))) for one in found)
    return text.getvalue()


def read_numbers(text: str) -> dict[tuple[str, str], Outcome]:
    """Return the outcomes that ``write_numbers`` wrote, by world and agent."""
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        counts = {
            name: int(row[name]) for name in Outcome._fields if name not in ("world", "agent", "reward", "won_by")
        }
        won_by = tuple(map(int, row["won_by"].split()))
        one = Outcome(row["world"], row["agent"], reward=float(row["reward"]), won_by=won_by, **counts)
        found[one.world, one.agent] = one
    return found


HEAD = f"""# LATS and the agents that it is compared with, with a simulated model

Zhou et al., *Language Agent Tree Search Unifies Reasoning, Acting and Planning in Language Models*, 2023; the published
numbers are those of table 2 of Prasad et al., *ADaPT*, 2023. [What the agents do](../../docs/lats.md).

Every number of ours is of the **simulated model**, not of a language model ([simulated.md](simulated.md)):
`{simulated()}`.
It is over seeds {" and ".join(map(str, SEEDS))} of the first {LIMIT} tasks of a split, with at most {CALLS[-1]} calls
an episode for every agent; in brackets stands the 95% Wilson interval.

**LATS reads the environment's reward while it searches, and goes back in the environment.** ADaPT and ReAct do neither.
Two columns say so for each agent: *reads the reward* is to go on until the environment says that the task is won, and
*goes back* is to return to an earlier moment by a snapshot. The score of a search is that of its best branch.

In parentheses stands the published number, of GPT-3.5, where it is at hand. It cannot be compared with ours by size.
Nothing is tuned for agreement: the span and the faults are those of every other page.
"""


def page(numbers: str) -> str:
    """Return the page from the text of its CSV file."""
    found = read_numbers(numbers)
    return "\n".join([HEAD, *(section(world, found) for world in WORLDS), costs(found), reading()])


def section(world: str, found: Mapping[tuple[str, str], Outcome]) -> str:
    """Return the table of a world."""
    env, split, _ = WORLDS[world]
    published = {row.label: row.published for row in TABLE_2_WEBSHOP.rows} if world == "WebShop" else {}
    rows = []
    for agent in AGENTS:
        one = found[world, agent]
        played = one.episodes - one.errors
        low, high = wilson_interval(one.won, played)
        theirs = published.get(NAMES.get(agent, ""), (None, None))
        rows.append(
            (
                agent,
                _beside(100 * one.reward / played, theirs[0]),
                f"{_beside(100 * one.won / played, theirs[1])} [{100 * low:.1f}-{100 * high:.1f}]",
                "yes" if agent in READS else "no",
                "yes" if agent in GOES_BACK else "no",
            )
        )
    table = markdown_table(("", "score", "success (%)", "reads the reward", "goes back"), rows)
    return f"## {world}\n\n`{env}`, split `{split}`.\n\n{table}"


def costs(found: Mapping[tuple[str, str], Outcome]) -> str:
    """Return the table of costs and the figure."""
    rows = []
    for (world, agent), one in found.items():
        played = one.episodes - one.errors
        per = [one.calls, one.judge, one.tokens, one.steps, one.restores, one.nodes]
        rows.append((world, agent, *(f"{number / played:,.0f}" for number in per)))
    table = markdown_table(("", "", "calls", "of the judge", "tokens", "actions", "returns", "nodes"), rows)
    return f"""## Cost

Means of an episode: completions of all roles, those of the judge among them, tokens of all as the simulated model
counts them, actions of all branches and trials, returns to earlier moments, and nodes of the search tree.

{table}
![Success against calls]({FIGURE})

The share of tasks that are won with at most so many calls, with 95% intervals; simulated.
"""


def reading() -> str:
    """Return what the numbers mean."""
    return """## What the simulated model can show

It draws among ways that are equally good and errs by chance, so that sampled turns differ and a search finds what one
attempt missed. What exceeds its span it cannot do in any sample: such a task ends with the first node, for a search
does not divide it, as ADaPT does. It judges from the words of an attempt alone, by the share of the task that they
show as done, and is wrong as often as its fault `misjudge` says; a language model errs in other ways. The tree of
thoughts goes by these judgements alone and stops at the first attempt that ends, right or wrong; in depth it leaves
what is given the lowest score, 1, as this judge gives it to the beginning of a task in a household, where nothing is
found yet.
"""


def curves(found: Mapping[tuple[str, str], Outcome]) -> str:
    """Return the figure: success against calls."""
    panels = []
    for world in WORLDS:
        lines = {}
        for agent in DRAWN:
            one = found[world, agent]
            played = one.episodes - one.errors
            lines[agent] = [Point(won / played, *wilson_interval(won, played)) for won in one.won_by]
        panels.append(Panel(world, "calls of an episode", list(map(str, CALLS)), lines))
    return figure("Success (%) against model calls, simulated model; LATS reads the reward and goes back", panels)


def _beside(ours: float, theirs: float | None) -> str:
    return f"{ours:.1f}" if theirs is None else f"{ours:.1f} ({theirs:.1f})"


def main() -> None:
    """Play the missing runs, and write the page, its figure and its CSV file."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pages", action="store_true", help="play nothing: write the page from its CSV file")
    if not parser.parse_args().pages:
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            # The longest runs first: those of the last agent in the last world.
            runs = {
                (world, agent): [pool.submit(play, world, agent, seed) for seed in SEEDS]
                for world in reversed(WORLDS)
                for agent in reversed(AGENTS)
            }
            found = [
                outcome(world, agent, [record for run in runs[world, agent] for record in run.result()])
                for world in WORLDS
                for agent in AGENTS
            ]
        write(RESULTS / NUMBERS, write_numbers(found))
    numbers = (RESULTS / NUMBERS).read_text(encoding="utf-8")
    write(RESULTS / PAGE, page(numbers))
    write(RESULTS / FIGURE, curves(read_numbers(numbers)))


if __name__ == "__main__":
    main()
