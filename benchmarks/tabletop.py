"""The tabletop: DEPS's planners with a simulated model beside the published numbers.

``python benchmarks/tabletop.py`` plays what ``runs/tabletop`` lacks, in parallel processes, and writes the page; an
interrupted start is continued. ``--pages`` writes the page from its CSV file alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from experiments import Experiment, Found, play_all, read_csv, simulated, write_csv
from paper import Claim, Column, Row, Table, Value

from textcraft_gym.evaluation.metrics import ALL

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "tabletop"
PLAYED, PAGE = "tabletop.csv", "tabletop.md"

KINDS: Mapping[str, str] = {
    "assembling-kits": "kits",
    "towers-of-hanoi": "Hanoi",
    "put-block-in-bowl": "bowls",
    "packing-shapes": "packing",
    "stack-block-pyramid": "pyramid",
}
"""The kinds of task, with their headings."""

REPEATER = Experiment("Tabletop-v0", "test", "repeater", env_args=(("reliability", "cliport"),))
ZERO_SHOT, MONOLOGUE, DEP = (replace(REPEATER, agent=agent) for agent in ("zero_shot", "inner_monologue", "dep"))
PUBLISHED: Mapping[str, tuple[Experiment, tuple[float, ...]]] = {
    "CLIPort + oracle": (REPEATER, (60, 100, 100, 40, 80, 76)),
    "GPT (zero-shot)": (ZERO_SHOT, (60, 100, 100, 40, 100, 80)),
    "Inner Monologue": (MONOLOGUE, (60, 40, 82, 60, 40, 56.4)),
    "DEP": (DEP, (60, 100, 100, 40, 100, 80)),
}
"""The rows of the paper's table with its success rates in per cent."""

CAREFUL = simulated(slip=0.0)


def columns(value: Value = "rate") -> tuple[Column, ...]:
    """Return a column for each kind of task, and one for all: their average, since all kinds have as many tasks."""
    by_kind = (Column(heading, kind, value) for kind, heading in KINDS.items())
    return (*by_kind, Column("average", ALL, value, interval=value == "rate"))


def rows(of: Callable[[Experiment], Experiment] = lambda experiment: experiment) -> tuple[Row, ...]:
    """Return the paper's rows, played by changed experiments; the scripted player asks no model."""
    return tuple(
        Row(label, experiment if experiment is REPEATER else of(experiment), published)
        for label, (experiment, published) in PUBLISHED.items()
    )


def careful(experiment: Experiment) -> Experiment:
    """Return an experiment with a model that writes no wrong line."""
    return replace(experiment, model=CAREFUL)


def below(found: Found, lower: Experiment, higher: Experiment) -> bool:
    """Return whether one wins less than another on average."""
    return found[lower.name][ALL].rate < found[higher.name][ALL].rate


def near(found: Found, one: Experiment, other: Experiment, points: float) -> bool:
    """Return whether two win about as often on average."""
    return abs(found[one.name][ALL].rate - found[other.name][ALL].rate) <= points / 100


PLANNERS = (
    Claim("one goal a call wins less than DEP's whole plans", lambda found: below(found, MONOLOGUE, DEP)),
    Claim(
        "no planner wins more than DEP",
        lambda found: not any(below(found, DEP, other) for other in (ZERO_SHOT, MONOLOGUE)),
    ),
)
TABLES = (
    Table(
        "Success (%)",
        "The paper plays each kind five times. `CLIPort + oracle` is the scripted player `repeater`: the task's own "
        "goals in order, each repeated until it is reached; it asks no model. `DEP` is DEPS without its selector.",
        columns(),
        rows(),
        PLANNERS,
        cause="Zero-shot plans have wrong lines here (`slip`), which nothing mends; the next table is without them. "
        "That Inner Monologue packs more than the others in the paper (60% against 40%) is one episode of five.",
    ),
    Table(
        "Success without wrong lines (%)",
        f"The same with `{CAREFUL}`, whose plans have no wrong lines.",
        columns(),
        rows(careful),
        (
            Claim(
                "a whole plan wins as often as the policy with the oracle, within 5 points",
                lambda found: near(found, careful(ZERO_SHOT), REPEATER, 5),
            ),
        ),
        cause="A block that falls brings a zero-shot plan down here, as it does the scripted player, and only who sees "
        "the table and plans anew stacks it again.",
    ),
    Table(
        "CLIPort's score (0 to 100)",
        "The mean sum of rewards, in per cent; the model is the standard one. The paper does not give it.",
        columns("score"),
        tuple(replace(row, published=()) for row in rows()),
    ),
    Table(
        "Model calls",
        "The mean number of completions of an episode, explanations of failures among them.",
        columns("calls"),
        tuple(replace(row, published=()) for row in rows() if row.played is not REPEATER),
    ),
)
HEAD = """# The tabletop, with a simulated model

Wang et al., *Describe, Explain, Plan and Select*, 2023, tables 7 and 8, whose planner is GPT-3.5 and whose controller
is CLIPort's policy in a physical simulation. Here both are made up: every number of a planner is of the **simulated
model**, not of a language model ([simulated.md](simulated.md)), `{model}`
unless a table says otherwise, and the controller misses by **made rates** (`reliability="cliport"`;
[reliability.py](../../textcraft_gym/envs/tabletop/reliability.py)), chosen so that the row `CLIPort + oracle` comes to
about the published one. That this row agrees is therefore no result; what the planners add to it is.

Played are the {tasks:.0f} tables of `test`, 100 of each kind, in {seeds} runs (seeds 0 to {last}): the mean ± the
standard deviation between runs, in brackets the 95% Wilson interval over the tasks of one run. In parentheses stands
the published number. `python benchmarks/tabletop.py` plays and writes this page.

The simulated model reads the table in its prompt, and knows how rings and pyramids go. After each goal of Inner
Monologue it says with the probability `misjudge` that all is done, which costs more the more goals a task takes: so the
five objects of a kit come to less here than in the paper, where the controller was the limit, and the rings to more. A
wrong line of a plan (`slip`) names another colour, place or shape. An object that is spoilt stays so, and no planner
can win against the controller in kits and packing.
"""


def page(played: str) -> str:
    """Return the page that follows from the CSV file."""
    found = read_csv(played)
    seeds = len(found[DEP.name][ALL].rates)
    head = HEAD.format(model=simulated(), tasks=found[DEP.name][ALL].tasks, seeds=seeds, last=seeds - 1)
    return "\n".join([head, *(table.markdown(found) for table in TABLES)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Play what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", action="store_true", help="play nothing: write the page from the CSV file")
    if not parser.parse_args(arguments).pages:
        found = play_all((experiment for table in TABLES for experiment in table.experiments), RUNS)
        (RESULTS / PLAYED).write_text(write_csv(found), encoding="utf-8", newline="\n")
    played = (RESULTS / PLAYED).read_text(encoding="utf-8")
    (RESULTS / PAGE).write_text(page(played), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
