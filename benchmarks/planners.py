"""DEPS with several numbers of re-planning rounds, and its paper's baselines, on the tech tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcraft_gym.display import evaluate_with_progress
from textcraft_gym.evaluation.metrics import ALL, groups
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.sweep import Cell, Results, as_csv, sweep, tidy

SPANS = range(2, 13)
ROUNDS = (0, 1, 3, 5, 12)
"""Those of the paper's table 4, and 12, its limit in use."""


@dataclass(frozen=True)
class Planner:
    """A row of the tables: an agent with its arguments, such as the number of rounds, in a world that may miss."""

    agent: str
    args: tuple[tuple[str, Any], ...] = ()
    reliability: str = "published"

    @property
    def name(self) -> str:
        """Name in the tables."""
        world = [] if self.reliability == "published" else [self.reliability]
        return " ".join([self.agent, *(f"{key}={value}" for key, value in self.args), *world])


PLANNERS = (
    *(Planner("deps", (("rounds", rounds),)) for rounds in ROUNDS),
    Planner("dep", (("rounds", 12),)),
    *(Planner("zero_shot", (("rounds", rounds),)) for rounds in (0, 12)),
    *map(Planner, ("chain_of_thought", "inner_monologue", "progprompt", "code_as_policies")),
    *(Planner(agent, (("rounds", rounds),), "perfect") for agent, rounds in (("deps", 12), ("zero_shot", 0))),
)

TEXT = """# MineTechTree-v0: DEPS and other planners with a simulated model

Results of the **simulated model**, not of a language model: see [README.md](README.md).

The 69 tasks of `table2`, seed 0, spans from {first} to {last}. Actions miss as often as the paper's controller does
(`reliability="published"`), but for the last rows, where all succeed (*perfect*). *Rounds* is the maximum number of
re-plans. [planners.csv](planners.csv) has all numbers by task group.

Notes: a planner without a second plan loses at the first miss; re-plans, or the feedback after each goal that Inner
Monologue gets, make up for it. The model decomposes a failed step in its next plan if something was lacking; its own
explanation changes nothing, so that zero-shot planning with as many rounds does as well as DEPS. With single goals the
selector hardly matters: [selectors](selectors.md) compares them where it does.

## Tasks won (%), by span

{won}
## Model calls per episode, by span

{calls}
## Tasks won (%) of {groups}, by span

{by_group}"""


def play(planner: Planner, spans: Sequence[int], runs: Path) -> Results:
    """Return the results of a planner at each span."""
    env_args = {"reliability": planner.reliability}
    base = RunSpec("MineTechTree-v0", "table2", "", agent_args=dict(planner.args), env_args=env_args)
    cells = [Cell(planner.agent, None, f"simulated:span={span}") for span in spans]
    return sweep(base, cells, runs / planner.name.replace(" ", "_"), run=evaluate_with_progress)


def table(planner: Planner, found: Results) -> list[dict[str, str]]:
    """Return the CSV rows: one for each span and group."""
    rows = ({key: value for key, value in row.items() if key not in ("agent", "d_max")} for row in tidy(found))
    return [{"planner": planner.name, **row} for row in rows]


def write_planners(results: Path, runs: Path) -> None:
    """Play the missing runs, and write the page and its CSV file."""
    found = {planner: play(planner, SPANS, runs) for planner in PLANNERS}
    rows = [row for planner, of in found.items() for row in table(planner, of)]
    (results / "planners.csv").write_text(as_csv(rows), encoding="utf-8", newline="\n")
    (results / "planners.md").write_text(page(found), encoding="utf-8", newline="\n")


def page(found: dict[Planner, Results]) -> str:
    """Return the tables as Markdown."""
    by_span = ("planner", *(f"span {span}" for span in SPANS))
    names = groups(next(iter(found.values())).values())

    def cells(value: str) -> str:
        return markdown_table(
            by_span,
            [(planner.name, *(field(of, value) for of in by_cell.values())) for planner, by_cell in found.items()],
        )

    return TEXT.format(
        first=SPANS[0],
        last=SPANS[-1],
        won=cells("won"),
        calls=cells("calls"),
        groups=" / ".join(names),
        by_group=cells("by group"),
    )


def field(of: dict[str, Any], value: str) -> str:
    """Return a table cell for one planner and span."""
    if value == "won":
        return f"{100 * (of[ALL].rate or 0):.1f}"
    if value == "calls":
        return f"{sum(of[ALL].calls.values()):.1f}"
    return "/".join(f"{100 * (summary.rate or 0):.0f}" for group, summary in of.items() if group != ALL)
