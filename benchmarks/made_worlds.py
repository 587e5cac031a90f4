"""Made recipe worlds: how hard they are by depth, and how deep the agents come in them."""

from __future__ import annotations

import argparse
import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import gymnasium as gym
from experiments import FAULTS, SEEDS, Experiment, Found, Result, play, play_all, read_csv, simulated, write_csv
from figure import Panel, Point, figure

from textcraft_gym.agents.models.spec import recorded_spec
from textcraft_gym.envs.textcraft.generator import recipe_pool
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.recipes.solver import shortest_plan

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "results"
PAGE, PLAYED, DIFFICULTY, FIGURE = "made_worlds.md", "made_worlds.csv", "made_difficulty.csv", "made_worlds.svg"

BOOKS = {
    "Minecraft 1.16.5": (None,),
    "invented names": tuple(f"made:depth=12,items=400,seed={seed}" for seed in range(5000, 5005)),
    "borrowed names": tuple(f"made:depth=12,items=400,seed={seed},names=borrowed" for seed in range(5000, 5005)),
}
"""The recipes of the table of difficulty. Books with a smaller seed are for training language models."""
RECIPES = "made:depth=12,items=600,seed=5001"
WORLD = Experiment("TextCraft-v0", "test", "react", env_args=(("recipes", RECIPES),))
DEPTHS = range(2, 13)
D_MAX = (1, 2, 3, 4, 6, 8, 12)
AGENTS = {
    "ReAct": WORLD,
    "Plan-and-Execute": replace(WORLD, agent="plan_and_execute"),
    **{f"ADaPT, d_max {d_max}": replace(WORLD, agent="adapt", args=(("d_max", d_max),)) for d_max in D_MAX},
}
PLOTTED = ("ReAct", "Plan-and-Execute", "ADaPT, d_max 2", "ADaPT, d_max 4", "ADaPT, d_max 12")
MODELS = (simulated(), simulated(**dict.fromkeys(FAULTS, 0)))
"""The models that are played always; the rows of other models stay in the CSV file."""
OTHERS_CALLS, OTHERS_GOALS = 150, 8
"""Completions per episode of other models, and the goals of each depth that they play: they take thousands of times as
long as a simulated one."""


@dataclass(frozen=True)
class OfOthers(Experiment):
    """A run of some goals of each depth, where what one run asked is read again by the others.

    Attributes:
        given: The model as it was given, where that has a key, which names and files have not.
    """

    max_calls: int = OTHERS_CALLS
    workers: int = 8
    given: str = field(default="", repr=False)

    def spec(self, seed: int) -> RunSpec:
        """Return the run with a seed."""
        model, cassette = self.given or self.model, RUNS / "made_worlds.sqlite"
        return replace(super().spec(seed), model=model, tasks=some_goals(), cassette=cassette)


@lru_cache
def some_goals() -> tuple[str, ...]:
    """Return the goals that other models play, drawn from those of each depth."""
    tasks = gym.make(WORLD.env, split=WORLD.split, **dict(WORLD.env_args)).get_wrapper_attr("tasks")
    of_depths = ([task.id for task in tasks if task.depth == depth] for depth in DEPTHS)
    rng = random.Random(0)
    return tuple(goal for goals in of_depths for goal in rng.sample(goals, OTHERS_GOALS))


TEXT = """# Made recipe worlds

`recipes="made:depth=12,items=400,seed=3"` plays TextCraft with recipes that are made for it: any depth to 12, where
Minecraft has 4, under names that no other seed has. Their ingredients, amounts, results, tags and alternatives are
distributed much as in Minecraft 1.16.5.

## Difficulty by depth

All goals of five books of 400 items with either kind of names, and of Minecraft (`TextCraft-v0`). *Actions* is the
length of a shortest plan, proven so for {proven} of the {goals} goals; *listed* the recipes in the prompt, *needed*
those of the goal's tree: the others are distractors. Means over the goals, and the range of actions.
[{difficulty_csv}]({difficulty_csv}) has the numbers.

{difficulty}
## Success by depth

The split `test` of `{recipes}`:
{tasks}. In per cent, the mean of the runs ± their standard
deviation; in brackets stands the 95% Wilson interval over the tasks of one run. Below it is `k_max`, the deepest level
of decomposition at which something was executed, over all episodes. Agents have their default bounds
([budgets.md](../../docs/budgets.md)). [{played_csv}]({played_csv}) has all numbers. Models whose name begins with
`simulated` are the **simulated model**, not a language model ([simulated.md](simulated.md)); they have {seeds} runs.
Other models have one, greedy, of {sample} goals of each depth, with at most {calls} completions an episode besides.

![Success over depth]({figure})

{success}"""


class Difficulty(NamedTuple):
    """Measures of the goals of one depth: counts, and means over the goals."""

    recipes: str
    depth: int
    goals: int
    proven: int
    fewest: int
    most: int
    actions: float
    characters: float
    words: float
    listed: float
    needed: float


def difficulty() -> list[Difficulty]:
    """Measure all goals of the books, by depth."""
    rows = []
    for name, books in BOOKS.items():
        found: dict[int, list[tuple[bool, int, int, int, int, int]]] = {}
        for recipes in books:
            env = gym.make("TextCraft-v0", split="all", recipes=recipes)
            book = env.get_wrapper_attr("book")
            for task in env.get_wrapper_attr("tasks"):
                prompt, _ = env.reset(seed=0, options={"task": task.id})
                plan = shortest_plan(book, task.id)
                listed = sum(line.startswith("craft ") for line in prompt.splitlines())
                needed = len(recipe_pool(book, task.id).goal_recipes)
                of_task = (plan.proven, plan.length, len(prompt), len(prompt.split()), listed, needed)
                found.setdefault(task.depth, []).append(of_task)
        for depth, of_depth in sorted(found.items()):
            proven, actions, *others = zip(*of_depth, strict=True)
            counts = (len(proven), sum(proven), min(actions), max(actions))
            rows.append(Difficulty(name, depth, *counts, fmean(actions), *map(fmean, others)))
    return rows


def write_difficulty(rows: Iterable[Difficulty]) -> str:
    """Return the rows as CSV, numbers with six digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Difficulty._fields)
    writer.writerows([row[0], *(f"{value:.6g}" for value in row[1:])] for row in rows)
    return text.getvalue()


def experiments(model: str, given: str = "") -> dict[str, Experiment]:
    """Return what a model plays, by the name of the agent; others than the simulated ones play the plotted agents.

    Args:
        model: The model as it is recorded.
        given: The same with its key, if it has one.
    """
    if model in MODELS:
        return {name: replace(experiment, model=model) for name, experiment in AGENTS.items()}
    return {
        name: OfOthers(of.env, of.split, of.agent, of.args, model, env_args=of.env_args, given=given)
        for name, of in AGENTS.items()
        if name in PLOTTED
    }


def models(found: Found) -> list[str]:
    """Return the models that have played."""
    react = replace(WORLD, model="").name
    return [name.removeprefix(react).partition(" max_calls=")[0] for name in found if name.startswith(react)]


def pages(played: str, measured: str) -> dict[str, str]:
    """Return the page and its figure, which follow from the CSV files of the agents and of the difficulty."""
    found = read_csv(played)
    tasks = {group: of.tasks for group, of in found[WORLD.name].items()}
    rows = list(csv.DictReader(io.StringIO(measured)))
    page = TEXT.format(
        difficulty=difficulty_table(rows),
        difficulty_csv=DIFFICULTY,
        proven=sum(int(row["proven"]) for row in rows),
        goals=sum(int(row["goals"]) for row in rows),
        recipes=RECIPES,
        tasks=f"{tasks['depth 2']:.0f} goals of depth 2, {tasks['depth 3']:.0f} of each depth from 3 to {DEPTHS[-1]}",
        seeds=len(SEEDS),
        sample=OTHERS_GOALS,
        calls=OTHERS_CALLS,
        played_csv=PLAYED,
        figure=FIGURE,
        success="\n".join(success(model, found) for model in models(found)),
    )
    panels = [panel(model, found) for model in models(found)]
    others = any(not model.startswith("simulated") for model in models(found))
    whose = "Simulated and other models" if others else "Simulated model"
    heading = f"{whose}: goals of made worlds won (%) over depth, mean of the runs, with 95% intervals over tasks"
    return {PAGE: page, FIGURE: figure(heading, panels)}


def difficulty_table(rows: Iterable[Mapping[str, str]]) -> str:
    """Return a row for each kind of recipes and depth."""

    def mean(row: Mapping[str, str], name: str, digits: int = 0) -> str:
        return f"{float(row[name]):.{digits}f}"

    cells = []
    for row in rows:
        actions = f"{mean(row, 'actions', 1)} ({row['fewest']}-{row['most']})"
        prompt = (mean(row, "characters"), mean(row, "words"), mean(row, "listed", 1), mean(row, "needed", 1))
        cells.append((row["recipes"], row["depth"], row["goals"], actions, *prompt))
    return markdown_table(("recipes", "depth", "goals", "actions", "characters", "words", "listed", "needed"), cells)


def success(model: str, found: Found) -> str:
    """Return the tables of a model: success, and ``k_max`` of the agents that decompose."""
    played = {name: found[experiment.name] for name, experiment in experiments(model).items()}

    def rates(depth: int) -> list[str]:
        of_depth = [by_group[f"depth {depth}"] for by_group in played.values()]
        return [
            f"{100 * of.rate:.0f}{f' ± {100 * of.between_runs:.0f}' if len(of.rates) > 1 else ''} "
            f"[{100 * of.low:.0f}, {100 * of.high:.0f}]"
            for of in of_depth
        ]

    adapt = [name for name in played if name.startswith("ADaPT")]
    deepest = [(str(depth), *(f"{played[name][f'depth {depth}'].k_max:.1f}" for name in adapt)) for depth in DEPTHS]
    return "\n".join(
        [
            f"### `{model}`\n",
            markdown_table(("depth", *played), [(str(depth), *rates(depth)) for depth in DEPTHS]),
            markdown_table(("`k_max` at depth", *adapt), deepest),
        ]
    )


def panel(model: str, found: Found) -> Panel:
    """Return the plot of a model and some of the agents."""
    shown = {name: of for name, of in experiments(model).items() if name in PLOTTED}
    lines: dict[str, Sequence[Point]] = {}
    for name, experiment in shown.items():
        by_group = found[experiment.name]
        of_depths = [by_group[f"depth {depth}"] for depth in DEPTHS]
        lines[name] = [Point(of.rate, of.low, of.high) for of in of_depths]
    return Panel(model, "depth", [str(depth) for depth in DEPTHS], lines)


def write(results: Path, runs: Path) -> None:
    """Play with the simulated models, measure the difficulty, and write the CSV files."""
    keep(results, play_all((experiment for model in MODELS for experiment in experiments(model).values()), runs))
    (results / DIFFICULTY).write_text(write_difficulty(difficulty()), encoding="utf-8", newline="\n")


def write_other(results: Path, runs: Path, model: str) -> None:
    """Play with another model, and write each run to the CSV file."""
    for experiment in experiments(recorded_spec(model), model).values():
        keep(results, {experiment.name: played_whole(play(experiment, runs, seeds=[0]), experiment.name)})


def keep(results: Path, found: Found) -> None:
    """Write results to the CSV file of the agents, where others stay."""
    file = results / PLAYED
    before = read_csv(file.read_text(encoding="utf-8")) if file.is_file() else {}
    file.write_text(write_csv({**before, **found}), encoding="utf-8", newline="\n")


def played_whole(results: dict[str, Result], name: str) -> dict[str, Result]:
    """Return the results of a run without broken episodes, which would be missing in its rates.

    Raises:
        RuntimeError: If there are some, as when a prompt is longer than the model's context.
    """
    if broken := results["all"].errors:
        raise RuntimeError(f"{name}: {broken} episodes broke")
    return results


def write_pages(results: Path) -> None:
    """Write the page and its figure from the CSV files."""
    played, measured = ((results / name).read_text(encoding="utf-8") for name in (PLAYED, DIFFICULTY))
    for name, text in pages(played, measured).items():
        (results / name).write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    """Play made worlds with the simulated model, or with others, and write their page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--model", action="append", default=[], help="another model to play with, instead; may be repeated"
    )
    parser.add_argument("--pages", action="store_true", help="play nothing: write the page from the CSV files")
    arguments = parser.parse_args()
    if not arguments.pages:
        for model in arguments.model:
            write_other(RESULTS, RUNS, model)
        if not arguments.model:
            write(RESULTS, RUNS)
    write_pages(RESULTS)


if __name__ == "__main__":
    main()
