"""How hard made recipe worlds are by depth: writes benchmarks/results/made_worlds.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import gymnasium as gym

from textcraft_gym.envs.textcraft.generator import recipe_pool
from textcraft_gym.recipes.solver import shortest_plan
from textcraft_gym.reports.tables import markdown_table

PAGE = Path(__file__).parent / "results" / "made_worlds.md"
BOOKS: Mapping[str, Sequence[str | None]] = {
    "Minecraft 1.16.5": (None,),
    "invented names": tuple(f"made:depth=12,items=400,seed={seed}" for seed in range(5000, 5005)),
    "borrowed names": tuple(
        f"made:depth=12,items=400,seed={seed},names=borrowed" for seed in range(5000, 5005)
    ),
}
"""The recipes that are measured. Books with a smaller seed are for training language models."""

TEXT = """# Made recipe worlds

`recipes="made:depth=12,items=400,seed=3"` plays TextCraft with recipes that are made for it: any
depth to 12, where Minecraft has 4, under names that no other seed has. Their ingredients, amounts,
results, tags and alternatives are distributed much as in Minecraft 1.16.5.

## Difficulty by depth

All goals of five books of 400 items with either kind of names, and of Minecraft (`TextCraft-v0`).
*Actions* is the length of a shortest plan, proven so for {proven} of the {goals} goals; *listed*
the recipes in the prompt, *needed* those of the goal's tree: the others are distractors. Means over
the goals, and the range of actions. `python benchmarks/made_worlds.py` measures them and writes
this page.

{table}"""
HEADINGS = ("recipes", "depth", "goals", "actions", "characters", "words", "listed", "needed")


class Goal(NamedTuple):
    """Measurements of a goal: its shortest plan, its prompt's length, and the recipes there."""

    proven: bool
    actions: int
    characters: int
    words: int
    listed: int
    needed: int


def measured(books: Iterable[str | None]) -> dict[int, list[Goal]]:
    """Return all goals of some books, by depth."""
    goals: dict[int, list[Goal]] = {}
    for recipes in books:
        env = gym.make("TextCraft-v0", split="all", recipes=recipes)
        book = env.get_wrapper_attr("book")
        for task in env.get_wrapper_attr("tasks"):
            prompt, _ = env.reset(seed=0, options={"task": task.id})
            plan = shortest_plan(book, task.id)
            listed = sum(line.startswith("craft ") for line in prompt.splitlines())
            needed = len(recipe_pool(book, task.id).goal_recipes)
            goal = Goal(plan.proven, plan.length, len(prompt), len(prompt.split()), listed, needed)
            goals.setdefault(task.depth, []).append(goal)
    return dict(sorted(goals.items()))


def row(name: str, depth: int, goals: Sequence[Goal]) -> tuple[str, ...]:
    """Return the row of the goals of one depth."""
    _, actions, *others = zip(*goals, strict=True)
    means = []
    for values, digits in zip(others, (0, 0, 1, 1), strict=True):
        means.append(f"{fmean(values):.{digits}f}")
    return (
        name,
        str(depth),
        str(len(goals)),
        f"{fmean(actions):.1f} ({min(actions)}-{max(actions)})",
        *means,
    )


def page() -> str:
    """Measure all books, and return the page."""
    goals: list[Goal] = []
    rows: list[tuple[str, ...]] = []
    for name, books in BOOKS.items():
        for depth, equally_deep in measured(books).items():
            goals += equally_deep
            rows.append(row(name, depth, equally_deep))
    return TEXT.format(
        proven=sum(goal.proven for goal in goals),
        goals=len(goals),
        table=markdown_table(HEADINGS, rows),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
