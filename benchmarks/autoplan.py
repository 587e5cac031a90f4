"""AutoPlan's tables 3a, 4 and 5 and its figure 3 in ALFWorld, with a simulated model: writes a page.

``python benchmarks/autoplan.py --out FILE`` plays what ``runs/autoplan`` lacks, and an interrupted start is continued.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from textcraft_gym import RunSpec, evaluate, optimise_plan
from textcraft_gym.evaluation.optimise_plan import Iteration
from textcraft_gym.evaluation.report import markdown_table

HERE = Path(__file__).parent
RUNS = HERE.parent / "runs" / "autoplan"
SEEDS = range(5)
ITERATIONS = 3
TRAINING_TASKS = 24
BATCHES = (2, 4, 8)
FEEDBACK = ("HelpfulFeedback",)
TYPES = {
    "Pick": "pick_and_place_simple",
    "Light": "look_at_obj_in_light",
    "Clean": "pick_clean_then_place_in_recep",
    "Heat": "pick_heat_then_place_in_recep",
    "Cool": "pick_cool_then_place_in_recep",
    "Pick Two": "pick_two_obj_and_place",
}
PUBLISHED = {"Pick": 100, "Light": 100, "Clean": 97, "Heat": 96, "Cool": 90, "Pick Two": 82}
"""AutoPlan's success in the paper's table 3a, with GPT-4-0314."""

HEAD = f"""# AutoPlan's tables, with a simulated model

Ouyang and Li, *AutoPlan: Automatic Planning of Interactive Decision-Making Tasks With Large Language Models*, 2023,
whose numbers are of GPT-4. Every number of ours is of the **simulated model**, which begins without rules of a
household and learns them from its plan and from what the game says
([what it can show](../../docs/autoplan.md#with-the-simulated-model)).

Training is on {TRAINING_TASKS} generated games of each type, the test on all of `valid_unseen`. In per cent, the mean
of {len(SEEDS)} runs ± their standard deviation; a run differs from another by the batches that its seed draws.
"""


@dataclass(frozen=True)
class Setting:
    """How a plan is trained and tested.

    Attributes:
        group: The type of tasks.
        batch: Episodes before each update.
        reflect: What is asked after an episode.
        wrappers: Those of training and test alike.
    """

    group: str
    batch: int = 4
    reflect: str = "full"
    wrappers: tuple[str, ...] = FEEDBACK

    def folder(self, seed: int) -> Path:
        """Return the folder of a run."""
        told = "feedback" if self.wrappers else "silent"
        return RUNS / f"{self.group}-{self.batch}-{self.reflect}-{told}-{seed}"

    def train(self, seed: int) -> list[Iteration]:
        """Train a plan."""
        spec = RunSpec(
            "ALFWorld-v0",
            agent_args={"reflect": self.reflect},
            wrappers=self.wrappers,
            seed=seed,
            limit=TRAINING_TASKS,
        )
        return optimise_plan(spec, self.folder(seed), task_type=self.group, batch=self.batch, iterations=ITERATIONS)

    def test(self, seed: int, plan: Path | None) -> tuple[float, float, float]:
        """Return the success with a plan, and the calls and tokens of an episode."""
        spec = RunSpec(
            "ALFWorld-v0",
            "valid_unseen",
            "autoplan",
            {"plan": str(plan)} if plan else {},
            env_args={"task_types": self.group},
            wrappers=self.wrappers,
        )
        records = evaluate(spec, self.folder(seed) / f"test-{plan.stem if plan else 'none'}")
        calls, tokens = (fmean(sum(record[key].values()) for record in records) for key in ("calls", "tokens"))
        return fmean(record["won"] for record in records), calls, tokens

    def rates(self) -> list[str]:
        """Return the success before the first and after each iteration, over the seeds."""
        runs = []
        for seed in SEEDS:
            plans: list[Path | None] = [None, *(iteration.plan for iteration in self.train(seed))]
            runs.append([self.test(seed, plan)[0] for plan in plans])
        return [f"{100 * fmean(rates):.0f} ± {100 * stdev(rates):.0f}" for rates in zip(*runs, strict=True)]


def table(heading: str, rows: Sequence[tuple[str, Setting]], more: Callable[[str], tuple[str, ...]]) -> str:
    """Return a row for each setting: success by iteration, and what else is known of it."""
    headings = ("", "no plan", *(f"iteration {number}" for number in range(1, ITERATIONS + 1)))
    cells = [(name, *setting.rates(), *more(name)) for name, setting in rows]
    extra = ("published",) if more("Heat") else ()
    return f"## {heading}\n\n{markdown_table((*headings, *extra), cells)}"


def cost() -> str:
    """Return the calls and tokens of training and of the test, of the first seed."""
    rows = []
    for name, group in TYPES.items():
        setting = Setting(group)
        done = setting.train(0)
        _, calls, tokens = setting.test(0, done[-1].plan)
        training = [sum(sum(one.calls.values()) for one in done), sum(sum(one.tokens.values()) for one in done)]
        rows.append((name, *map(str, training), f"{calls:.0f}", f"{tokens:.0f}"))
    headings = ("", "calls of training", "tokens of training", "calls of a test episode", "tokens of a test episode")
    return f"## Table 4: cost\n\n{markdown_table(headings, rows)}"


def main() -> None:
    """Play the missing runs and write the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "autoplan.md")
    out: Path = parser.parse_args().out
    heat = Setting(TYPES["Heat"])
    by_type = [(name, Setting(group)) for name, group in TYPES.items()]
    batches = [(f"batch of {size}", Setting(heat.group, batch=size)) for size in BATCHES]
    without = [
        ("AutoPlan", heat),
        ("without flaws and revision", Setting(heat.group, reflect="summary")),
        ("without feedback", Setting(heat.group, wrappers=())),
    ]
    parts = [
        HEAD,
        table("Table 3a: success by type", by_type, lambda name: (str(PUBLISHED[name]),)),
        cost(),
        table("Table 5 and figure 3: batch size, Heat", batches, lambda name: ()),
        table("Without reflection, without feedback (table 6), Heat", without, lambda name: ()),
    ]
    out.write_text("\n".join(parts), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
