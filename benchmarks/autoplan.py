"""AutoPlan's tables 3 to 5 and its figure 3, with a simulated model: writes a page, its numbers and its figure.

``python benchmarks/autoplan.py`` plays what ``runs/autoplan`` lacks, and an interrupted start is continued; with
``--page`` it plays nothing, and writes the page from ``results/autoplan.csv``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from autoplan_runs import (
    BATCHES,
    HEAT,
    HOUSEHOLDS,
    ITERATIONS,
    ROLES,
    SETTINGS,
    SILENT,
    SUMMARY_ONLY,
    Kind,
    Row,
    Setting,
    play,
    read_csv,
    write_csv,
)
from figure import Panel, Point, figure

from textcraft_gym.evaluation.compare import two_sample_p_value
from textcraft_gym.evaluation.report import markdown_table

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "autoplan"
SEEDS = range(5)

PUBLISHED = {
    "BUTLER, supervised": (46, 22, 39, 74, 100, 24),
    "AdaPlanner, 1 example": (100, 100, 97, 96, 100, 47),
    "ReAct, 2 examples": (100, 100, 100, 91, 96, 76),
    "Reflexion, 2 examples": (100, 100, 100, 91, 100, 94),
    "AdaPlanner, 0 examples": (0, 0, 0, 0, 0, 0),
    "ReAct, 0 examples": (92, 94, 87, 35, 71, 59),
    "Reflexion, 0 examples": (96, 100, 97, 52, 81, 88),
    "AutoPlan": (100, 100, 97, 96, 90, 82),
}
"""Success in the paper's table 3a, in percent, with GPT-4-0314 where a language model plays."""
PUBLISHED_P = {2: (), 4: (0.44, 0.35, 0.013), 8: (0.007, 0.110, 0.005)}
"""The p-values of a batch of 2 against another in the paper's table 5, by iteration."""


def rates(rows: Iterable[Row], setting: Setting, iteration: int) -> list[float]:
    """Return the success of the runs of a setting after an iteration, in the order of their seeds."""
    return [one.rate for one in rows if one.is_of(setting) and one.iteration == iteration]


def percent(found: Sequence[float]) -> str:
    """Return the mean of rates, with their standard deviation where they differ."""
    spread = f" ± {100 * stdev(found):.0f}" if len(set(found)) > 1 else ""
    return f"{100 * fmean(found):.0f}{spread}"


def success(rows: Sequence[Row], kinds: Sequence[Kind], published: Mapping[str, Sequence[float]]) -> str:
    """Return a part of table 3: success by kind of task, beside what is published."""
    lines = [
        (f"simulated model, {name}", *(percent(rates(rows, Setting(kind), iteration)) for kind in kinds))
        for name, iteration in (("no plan", 0), (f"AutoPlan's plan after {ITERATIONS} iterations", ITERATIONS))
    ]
    lines += [(f"published: {name}", *map(str, numbers)) for name, numbers in published.items()]
    return markdown_table(("", *(kind.name for kind in kinds)), lines)


def cost(rows: Sequence[Row], kinds: Sequence[Kind]) -> str:
    """Return table 4: completions by role and tokens, of training and of the test apart, by task of the test."""
    last = [one for kind in kinds for one in rows if one.is_of(Setting(kind)) and one.iteration == ITERATIONS]
    tasks = sum(one.tasks for one in last)
    lines = []
    for role in ROLES:
        training = sum(one.training_calls.get(role, 0) for one in last) / tasks
        inference = sum(one.test_calls.get(role, 0) * one.tasks for one in last) / tasks
        lines.append((role, f"{training:.2f}", f"{inference:.2f}"))
    training = sum(one.training_tokens for one in last) / tasks
    inference = sum(one.test_tokens * one.tasks for one in last) / tasks
    lines.append(("tokens, read and written", f"{training:.0f}", f"{inference:.0f}"))
    return markdown_table(("calls of the simulated model", "training", "inference"), lines)


def by_iteration(rows: Sequence[Row], settings: Mapping[str, Setting]) -> str:
    """Return the success of settings in their test after each iteration."""
    numbers = range(ITERATIONS + 1)
    lines = [(name, *(percent(rates(rows, of, number)) for number in numbers)) for name, of in settings.items()]
    return markdown_table(("simulated model", "no plan", *map(str, numbers[1:])), lines)


def significance(rows: Sequence[Row]) -> str:
    """Return table 5: p-values of a batch of 2 against the others, by iteration."""
    lines = []
    for size in BATCHES[1:]:
        found = [
            two_sample_p_value(*(rates(rows, Setting(HEAT, batch=one), number) for one in (BATCHES[0], size)))
            for number in range(1, ITERATIONS + 1)
        ]
        pairs = zip(found, PUBLISHED_P[size], strict=True)
        lines.append((f"{BATCHES[0]} against {size}", *(f"{ours:.3f} ({theirs:.3f})" for ours, theirs in pairs)))
    return markdown_table(("simulated model (published)", *map(str, range(1, ITERATIONS + 1))), lines)


def curves(rows: Sequence[Row]) -> str:
    """Return figure 3 as SVG."""

    def point(found: Sequence[float]) -> Point:
        mean, spread = fmean(found), stdev(found)
        return Point(mean, max(0.0, mean - spread), min(1.0, mean + spread))

    numbers = range(ITERATIONS + 1)
    lines = {
        f"batch of {size}": [point(rates(rows, Setting(HEAT, batch=size), number)) for number in numbers]
        for size in BATCHES
    }
    heading = "Simulated model: Heat won (%), mean ± sd"
    return figure(heading, [Panel("", "iterations", [str(number) for number in numbers], lines)])


PAGE = """# AutoPlan's tables and figure, with a simulated model

Ouyang and Li, *AutoPlan: Automatic Planning of Interactive Decision-Making Tasks With Large Language Models*, 2023,
whose numbers are of GPT-4-0314.

Every number of ours is of the **simulated model**, not of a language model. It begins without any rule of a household,
and learns rules only from the plan in its prompt and from what the game says in the same episode
([what it is](../../docs/autoplan.md#with-the-simulated-model)). So its numbers show what the algorithm makes of
reflections, of feedback and of batches, and not how well a language model plays or plans:

- A plan of it is never wrong, misread or forgotten, and so neither is an update. What the paper says of unfaithful
  models, and of plans that get worse, it cannot show.
- It samples nothing. Runs differ only by the tasks that their seed draws, and so by less than a language model's.
- It writes a fixed list of rules in fixed words: the number of tokens says little, and prices nothing.

Each plan is trained on 24 generated games of its type, a batch of 4 before each of {iterations} updates, with
`HelpfulFeedback`, and tested on all games of the type in `valid_unseen`. Success is in per cent, the mean of {seeds}
runs (seeds {first} to {last}) ± their standard deviation where they differ. `python benchmarks/autoplan.py` writes this
page; [autoplan.csv](autoplan.csv) has the numbers of every run.

## Table 3a: success in ALFWorld

{households}
Table 3b is of questions, and stands with the results of HotpotQA.

## Table 4: cost in ALFWorld

Calls for each of the {tasks} games of the test. Those of training, {episodes} episodes with their reflections and
updates, are divided by the number of games, so that both columns can be added; the longer a plan is used, the less it
costs.

{cost}
Published, in dollars a question: AutoPlan 1.8 for training and 1.6 for inference, ReAct with 2 examples 3, Reflexion
17, AdaPlanner 2.1.

## Table 5 and figure 3: batch size, in Heat

After each iteration:

{batches}
![Success over iterations](autoplan.svg)

P-values of Student's t-test between the runs; the published ones are of five runs, too:

{significance}
## Without reflection, without feedback, in Heat

{without}
*Without reflection* asks for summaries alone (the paper's steps b and c are left out; it says that success then swings
between 0 and 30). *Without feedback* leaves `HelpfulFeedback` out (table 6), in training and test.
"""


def page(rows: Sequence[Row]) -> str:
    """Return the page."""
    seeds = sorted({one.seed for one in rows})
    full = Setting(HEAT)
    return PAGE.format(
        iterations=ITERATIONS,
        seeds=len(seeds),
        first=seeds[0],
        last=seeds[-1],
        households=success(rows, HOUSEHOLDS, PUBLISHED),
        tasks=sum(next(one.tasks for one in rows if one.kind == kind.name) for kind in HOUSEHOLDS),
        episodes=len(HOUSEHOLDS) * ITERATIONS * full.batch,
        cost=cost(rows, HOUSEHOLDS),
        batches=by_iteration(rows, {f"batch of {size}": Setting(HEAT, batch=size) for size in BATCHES}),
        significance=significance(rows),
        without=by_iteration(rows, {"AutoPlan": full, "without reflection": SUMMARY_ONLY, "without feedback": SILENT}),
    )


def files(numbers: str) -> dict[str, str]:
    """Return the page and the figure that follow from the numbers."""
    rows = read_csv(numbers)
    return {"autoplan.md": page(rows), "autoplan.svg": curves(rows)}


def main() -> None:
    """Play the missing runs, and write the page; with ``--page`` write it from ``autoplan.csv`` alone."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--page", action="store_true", help="play nothing: write the page from autoplan.csv")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="number of runs of each setting")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the page")
    options = parser.parse_args()
    numbers: Path = options.out / "autoplan.csv"
    if not options.page:
        numbers.write_text(write_csv(play(SETTINGS, range(options.seeds), RUNS)), encoding="utf-8", newline="\n")
    for name, text in files(numbers.read_text(encoding="utf-8")).items():
        (options.out / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
