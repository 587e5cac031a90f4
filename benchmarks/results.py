"""Writes ``benchmarks/results``: every agent, depth and span with the simulated model, on whole splits."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from figure import Panel, Point, figure
from parallel_goals import write_selectors
from planners import write_planners

from textcraft_gym.display import evaluate_with_progress
from textcraft_gym.evaluation.metrics import ALL, groups
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.sweep import Cell, Results, grid, sweep

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "results"
AGENTS = ("react", "plan_and_execute", "try_again", "reflexion", "adapt")


@dataclass(frozen=True)
class Study:
    """The sweep of one environment.

    Attributes:
        name: Stem of its file names.
        env: Environment id.
        split: Split, played as a whole.
        spans: Spans of the simulated model.
        d_max: Depths of ADaPT, and numbers of trials of other agents.
        papers_d_max: The ``d_max`` of the ADaPT paper.
        about: Description and notes on the page.
        scored: Whether rewards between 0 and 1 occur.
    """

    name: str
    env: str
    split: str
    spans: range
    d_max: range
    papers_d_max: int
    about: str
    scored: bool = False

    def cells(self) -> list[Cell]:
        """Return the runs."""
        return list(grid(AGENTS, self.d_max, [f"simulated:span={span}" for span in self.spans]))


STUDIES = (
    Study(
        "textcraft",
        "TextCraft-v0",
        "test",
        range(2, 10),
        range(1, 5),
        4,
        """All 200 tasks of TextCraft's test split (77, 112 and 11 of depth 2, 3 and 4).

Notes: the one task that no agent wins at any span is the painting, which in the published game takes wool of any
colour but white, while the model crafts white wool. Plan-and-Execute's plan is truncated to the span; every other
answer that would exceed the span fails.""",
    ),
    Study(
        "alfworld",
        "ALFWorld-v0",
        "valid_unseen",
        range(2, 8),
        range(1, 4),
        3,
        """All 134 generated households of the split `valid_unseen`.

Notes: besides the task, each type of receptacle that was searched for the object counts towards the span, so that an
object in an unusual place exhausts it. Reflexion then searches elsewhere; ADaPT makes each type of receptacle a step of
its own. At large spans Plan-and-Execute fails where its single plan exceeds the paper's token limit for plans and is
truncated.""",
    ),
    Study(
        "webshop",
        "WebShopLite-v0",
        "adapt_test",
        range(3, 11),
        range(1, 4),
        3,
        """The 100 goals of ADaPT's part of WebShop's test split, in the generated shop.

Notes: the clauses of the instruction, usually four to six, and every product that was opened count towards the span.
An agent with a single transcript carries all of them; ADaPT's skills read one page at a time, so that it wins more at
small spans, and about as much as ReAct at large ones. Try-Again and Reflexion restart after a purchase that scores
below 1 and buy something else: they learn the score, which ReAct and ADaPT do not, and lead at large spans. No agent
wins every task, since the model knows no synonyms: it compares words, and buys the product that shares enough of
them. A task is won with a score of 1; the mean score is below.""",
        scored=True,
    ),
    Study(
        "minetechtree",
        "MineTechTree-v0",
        "core71",
        range(2, 13),
        range(1, 5),
        4,
        """The 71 tasks of `core71`, from planks to a diamond, by the groups of the DEPS paper.

Notes: the model knows all recipes, and takes the nearest wood. The ingredients of a recipe, its fuel, and the table,
furnace or tool that it needs count towards the span; an iron pickaxe takes ten other items on the way. An executor has
20 turns, where ReAct alone has 60; with a `d_max` of 1 ADaPT has only those 20. Try-Again gains nothing, since the
temperature does not change the recipes. DEPS and its baselines are on [a separate page](planners.md).""",
    ),
)

HEADING = "Simulated model: tasks won (%) over its span, with 95% Wilson intervals"

INDEX = """# Results of a simulated model

These are results of the **simulated model**, not of a language model. They show how each algorithm behaves with a
player that knows the game, but can keep only a limited number of things in mind at once (the *span*, defined in
[span.py](../../agents/simulated/span.py)). They say nothing about how well a language model plays, and must not be
put into one table with results of a language model.

{studies}
- [MineTechTree-v0: DEPS and its baselines](planners.md)
- [MineTechTree-v0: DEPS's selectors](selectors.md)

All results are for seed 0 and the paper's budgets, at every span and `d_max` listed; nothing is left out, and the seed
was not selected. `d_max` is the maximum depth of ADaPT's decomposition, and the number of trials of Try-Again and
Reflexion, the best of which counts. `make results` reproduces these pages byte for byte on every machine.

Small networks trained on TextCraft have their own pages: [MaskablePPO](learning.md) and
[behaviour cloning](behaviour_cloning.md), written by `make learn`.
"""

TEXT = """# {env}: results of a simulated model

Results of the **simulated model**, not of a language model: see [README.md](README.md).

{about}

Spans from {first} to {last}, `d_max` from 1 to {deepest}; [{name}.csv]({name}.csv) has all numbers by task group.

![Success over span]({name}.svg)

## Tasks won (%), by span

{success}
{score}## ADaPT: mean depth of decomposition by task group, `d_max` {papers_d_max}

{k_max}
## Model calls per episode, by span

{calls}
## Tasks won (%) of {groups}, by span

{by_group}"""


SCORE = """## Mean score (0 to 100), by span

{table}
"""


def main() -> None:
    """Play the missing runs, and write the folder."""
    RESULTS.mkdir(exist_ok=True)
    for study in STUDIES:
        found = sweep(RunSpec(study.env, study.split), study.cells(), RUNS / study.name, run=evaluate_with_progress)
        shutil.copy(RUNS / study.name / "sweep.csv", RESULTS / f"{study.name}.csv")
        write(RESULTS / f"{study.name}.md", report(study, found))
        write(RESULTS / f"{study.name}.svg", figure(HEADING, panels(study, found)))
    write_planners(RESULTS, RUNS / "planners")
    write_selectors(RESULTS)
    listed = "\n".join(f"- [{study.env}, split {study.split}]({study.name}.md)" for study in STUDIES)
    write(RESULTS / "README.md", INDEX.format(studies=listed))


def panels(study: Study, found: Results) -> list[Panel]:
    """Return the plots: the agents with the paper's ``d_max``, and ADaPT at every ``d_max``."""
    spans = [str(span) for span in study.spans]

    def line(agent: str, d_max: int | None) -> list[Point]:
        summaries = [found[Cell(agent, d_max, f"simulated:span={span}")][ALL] for span in study.spans]
        return [Point(summary.rate or 0.0, summary.low, summary.high) for summary in summaries]

    deepest = study.papers_d_max
    agents = {cell.agent: line(cell.agent, deepest if cell.d_max else None) for cell in found}
    adapt = {f"adapt, d_max {d_max}": line("adapt", d_max) for d_max in study.d_max}
    return [
        Panel(f"Every agent, d_max {deepest}", "span", spans, agents),
        Panel("ADaPT by d_max", "span", spans, adapt),
    ]


def report(study: Study, found: Results) -> str:
    """Return the tables as Markdown."""
    rows = list(dict.fromkeys((cell.agent, cell.d_max) for cell in found))
    by_agent = ("agent", "d_max", *(f"span {span}" for span in study.spans))

    def table(value: str) -> str:
        cells = ((agent, str(d_max or "-"), *values(study, found, agent, d_max, value)) for agent, d_max in rows)
        return markdown_table(by_agent, cells)

    adapt = [found[Cell("adapt", study.papers_d_max, f"simulated:span={span}")] for span in study.spans]
    names = groups(found.values())
    return TEXT.format(
        env=study.env,
        name=study.name,
        about=study.about,
        first=study.spans[0],
        last=study.spans[-1],
        deepest=study.d_max[-1],
        papers_d_max=study.papers_d_max,
        success=table("success"),
        score=SCORE.format(table=table("score")) if study.scored else "",
        k_max=markdown_table(
            ("tasks", *by_agent[2:]), [(name, *(f"{by_group[name].k_max:.2f}" for by_group in adapt)) for name in names]
        ),
        calls=table("calls"),
        groups=" / ".join(names),
        by_group=table("by group"),
    )


def values(study: Study, found: Results, agent: str, d_max: int | None, value: str) -> Iterable[str]:
    """Yield the table cells of one agent, span by span."""
    for span in study.spans:
        by_group = found[Cell(agent, d_max, f"simulated:span={span}")]
        if value == "success":
            yield f"{100 * (by_group[ALL].rate or 0):.1f}"
        elif value == "score":
            yield f"{100 * (by_group[ALL].reward or 0):.1f}"
        elif value == "calls":
            yield f"{sum(by_group[ALL].calls.values()):.1f}"
        else:
            yield "/".join(f"{100 * (of.rate or 0):.0f}" for group, of in by_group.items() if group != ALL)


def write(file: Path, text: str) -> None:
    """Write a file of the folder."""
    file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
