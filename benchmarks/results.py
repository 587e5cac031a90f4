"""Writes the pages of ``benchmarks/results`` on papers, and on the simulated model that plays them."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import adapt_paper
import deps_paper
import made_worlds
import milestones
from experiments import FAULTS, SEEDS, play_all, read_csv, simulated, write_csv
from paper import Table
from parallel_goals import write_selectors
from spans import STUDIES, SWITCHES

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "results"

PAGES: dict[str, Sequence[Table]] = {
    "adapt": adapt_paper.TABLES,
    "deps": deps_paper.TABLES,
    "model": SWITCHES,
    "spans": [study.table() for study in STUDIES],
}
"""The tables of each page."""

LEGEND = (
    "Every number is of the **simulated model**, not of a language model ([simulated.md](simulated.md)): "
    f"`{simulated()}` unless a\ntable says otherwise. It is the mean of {len(SEEDS)} runs (seeds {SEEDS[0]} to "
    f"{SEEDS[-1]}) ± their standard deviation; in brackets stands the 95%\nWilson interval over the tasks of one run."
)
PUBLISHED = """In parentheses stands the published number, where it is at hand. It cannot be compared with ours by
size, but the order of rows can: *Shape* counts the pairs of rows that come in the published order. Two rows are too
close to tell if they differ by less than two standard errors between runs. Nothing is tuned for agreement: the span and
the faults were fixed before the first table, and a disagreement stands with its likely cause.
"""
HEADS = {
    "adapt": f"""# ADaPT's tables and figures, with a simulated model

Prasad et al., *ADaPT: As-Needed Decomposition and Planning with Language Models*, 2023, whose numbers are of GPT-3.5.

{LEGEND}

{PUBLISHED}""",
    "deps": f"""# DEPS's tables and figures, with a simulated model

Wang et al., *Describe, Explain, Plan and Select*, 2023, whose numbers are of Codex or GPT-3.5 as planner and a learned
controller in Minecraft. Here the controller is a program, in a text world.

{LEGEND}

{PUBLISHED}""",
    "model": f"""# What the simulated model's switches do

{LEGEND}

- `false_claim`: probability of claiming success where the model would admit failure (standard {FAULTS["false_claim"]})
- `slip`: probability of a wrong command or line of a plan (standard {FAULTS["slip"]})
- `misjudge`: probability of a wrong judgement (standard {FAULTS["misjudge"]})
- `exempt_plan`: whether a plan in full is exempt from the span, and written as far as it goes (standard: no)

Each row changes what it names, and leaves the rest standard. Three choices decide how the agents rank: whether the
model ever claims falsely (*false_claim 0* and *1*), whether its plans are exempt from the span (*exempt_plan*), and
whether anything is left to chance: with *no faults* all seeds play alike, but for sampled trials. In a household the
model plans as many places for a step as an attempt has turns to search, which no prompt says.
""",
    "spans": f"""# Success over the simulated model's span

{LEGEND}

The span is the number of things that the model can keep in mind at once ([span.py](../../agents/simulated/span.py)).
""",
}

INDEX = """# Results

## A simulated model

[What it is](simulated.md), and what its numbers are not.

- [ADaPT's tables and figures](adapt.md), beside the published numbers
- [AdaPlanner's rows](adaplanner.md) of the AutoPlan paper, likewise
- [DEPS's tables and figures](deps.md), likewise; [its selectors](selectors.md) in detail
- [AutoPlan's tables and figure](autoplan.md), likewise; its model has no faults
- [What the model's switches do](model.md): false claims, slips, misjudgements, the exemption of plans from the span
- [Every agent at every span](spans.md), in four worlds
- [Made recipe worlds](made_worlds.md): how hard they are, and how deep agents come in them, with both models
- [LATS](lats.md) beside the agents that it is compared with, and success against calls
- [HotpotQA](hotpotqa.md), beside published accuracies, and what shortcuts answer there
- [The tabletop](tabletop.md), beside DEPS's numbers; the rates of its controller are made to fit one row of these

## A trained language model

[How deep agents come](language_model.md) with a model whose training data is known, and how deep in
[made recipe worlds](made_worlds.md), beside the simulated one.

## Small networks

Trained on TextCraft by `make learn`: [MaskablePPO](learning.md) and [behaviour cloning](behaviour_cloning.md).
"""
SIMULATED = f"""# The simulated model of these results

Every number of ours in [adapt.md](adapt.md), [adaplanner.md](adaplanner.md), [deps.md](deps.md),
[selectors.md](selectors.md), [model.md](model.md) and [spans.md](spans.md) is of the **simulated model**, not of a
language model; [autoplan.md](autoplan.md), [lats.md](lats.md), [hotpotqa.md](hotpotqa.md) and
[tabletop.md](tabletop.md) say what they play with. They show how each algorithm behaves with a player that knows the
game, but can keep only a limited number of things in mind at once (the *span*), claims success where it should admit
failure, writes wrong commands, and misjudges what it sees, each with a fixed probability. They say nothing about how
well a language model plays.

The standard model is `{simulated()}`: the default span, and faults at
round numbers, the same in every world. Every experiment is played with {len(SEEDS)} seeds
(AdaPlanner's with 3), of which none was left out.
[results.csv](results.csv) and [adaplanner.csv](adaplanner.csv) have all of them by task group. `make results`
reproduces these pages byte for byte on every machine.
"""


def main() -> None:
    """Play the missing runs, and write the folder; with ``--pages`` write the pages from ``results.csv`` alone."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pages", action="store_true", help="play nothing: write the pages from results.csv")
    RESULTS.mkdir(exist_ok=True)
    numbers, reached = RESULTS / "results.csv", RESULTS / "milestones.csv"
    if not parser.parse_args().pages:
        found = play_all(
            (experiment for page in PAGES.values() for table in page for experiment in table.experiments), RUNS
        )
        write(numbers, write_csv(found))
        by_model = {name: milestones.play(model) for name, model in deps_paper.DIAMOND_MODELS.items()}
        write(reached, milestones.write_csv(by_model))
        write_selectors(RESULTS)
        made_worlds.write(RESULTS, RUNS)
    made_worlds.write_pages(RESULTS)
    for name, text in pages(numbers.read_text(encoding="utf-8"), reached.read_text(encoding="utf-8")).items():
        write(RESULTS / name, text)


def pages(numbers: str, reached: str) -> dict[str, str]:
    """Return all files that follow from the CSV files of experiments and of milestones, by name."""
    found = read_csv(numbers)
    diamond = deps_paper.figure_9(list(csv.DictReader(io.StringIO(reached))))
    tables: Mapping[str, Sequence[Table]] = {**PAGES, "deps": [*PAGES["deps"], diamond, deps_paper.NOT_HERE]}
    files = {
        f"{name}.md": "\n".join([HEADS[name], *(table.markdown(found) for table in tables[name])]) for name in HEADS
    }
    figures = {f"{study.name}.svg": study.svg(found) for study in STUDIES}
    return {"README.md": INDEX, "simulated.md": SIMULATED, **files, **figures}


def write(file: Path, text: str) -> None:
    """Write a file of the folder."""
    file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
