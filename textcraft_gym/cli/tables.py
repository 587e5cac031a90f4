"""Tables, recipe trees and the progress bar of the command line, rendered with Rich."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Column, Table
from rich.tree import Tree

from textcraft_gym.agents.redaction import redact
from textcraft_gym.agents.registry import AGENTS, why_not
from textcraft_gym.cli.console import Console
from textcraft_gym.printable import printable
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.book import name_of_ingredient
from textcraft_gym.recipes.pack import Pack
from textcraft_gym.recipes.recipe import name_of
from textcraft_gym.recipes.splits import Leakage, Splits
from textcraft_gym.registration import SUITE, find
from textcraft_gym.reports.compare import Comparison
from textcraft_gym.reports.metrics import ALL
from textcraft_gym.reports.records import Record, Records
from textcraft_gym.reports.tables import (
    PASSES,
    SUCCESS,
    Rows,
    Runs,
    effort_table,
    pass_rows,
    replies_table,
    success_rows,
)
from textcraft_gym.reports.tally import Tally
from textcraft_gym.runs.estimate import HEADINGS, Estimate, notes, row_of, total
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import play_run, raise_stop
from textcraft_gym.runs.sweep import Results, legend
from textcraft_gym.runs.sweep import table as sweep_table
from textcraft_gym.task import Task, describe_task

_is_terminal = (
    sys.stdout is not None and sys.stdout.isatty()
)  # it is None where standard output is closed
console = Console(width=None if _is_terminal or "COLUMNS" in os.environ else 160)
LEFT_ALIGNED = ("group", "such as", "summary", "split", "game", "shows", "worlds")
"""Headings of text columns; the first column is always text, and all others are numbers."""
PROSE = ("summary", "such as", "shows")
"""Headings of columns that wrap."""
MIN_PROSE_WIDTH = 20
SECONDS_BETWEEN_LINES = 60.0
"""Minimum time between two lines about a run where no terminal shows a progress bar."""


def show_runs(runs: Runs) -> None:
    """Print success by group, and for runs with model calls their number, tokens and claims of success."""
    _show_by_group("Success by group", SUCCESS, success_rows(runs))
    if effort := effort_table(runs):
        _show_by_group(
            "Model calls per episode, and the agent's claims of success", effort[0], effort[1:]
        )
    if replies := replies_table(runs):
        _show_by_group("Replies that could not be taken as they were", replies[0], replies[1:])
    if passes := pass_rows(runs):
        table = _table("Success with k attempts at a task", PASSES)
        for row in passes:
            table.add_row(*map(escape, row))
        _print(table)


def _show_by_group(title: str, headings: Sequence[str], rows: Rows) -> None:
    table = _table(title, headings)
    above = ""
    for run, group, *cells in rows:
        whole = group == ALL
        table.add_row(
            "" if run == above else _one_line(run),
            _one_line(group),
            *cells,
            style="bold" if whole else "",
            end_section=whole,
        )
        above = run
    _print(table)


def suite_rows() -> list[dict[str, Any]]:
    """Return a row for each environment of the suite."""
    return [
        {
            "id": world.id,
            "game": world.profile,
            "split": world.default_split,
            "step limit": world.spec.max_episode_steps,
            "summary": world.summary,
        }
        for world in map(find, SUITE)
    ]


def agent_rows() -> list[dict[str, Any]]:
    """Return a row for each agent with, for each game, ``plays`` or the reason why not."""
    games = list(dict.fromkeys(find(env_id).profile for env_id in SUITE))
    return [
        {"agent": agent} | {game: why_not(agent, game) or "plays" for game in games}
        for agent in AGENTS
    ]


def show_agents(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print which agent plays which game."""
    table = _table("Agents, and the games that they play", list(rows[0]))
    for row in rows:
        agent, *games = row.values()
        table.add_row(agent, *("plays" if game == "plays" else "-" for game in games))
    _print(table)


def show_rows(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows with the same keys as a table."""
    table = _table(title, list(rows[0]))
    for row in rows:
        table.add_row(*("-" if cell is None else _one_line(str(cell)) for cell in row.values()))
    _print(table)


def show_sweep(results: Results) -> None:
    """Print the table of a sweep."""
    headings, *rows = sweep_table(results)
    table = _table("Sweep", headings)
    for row in rows:
        table.add_row(*map(_one_line, row))
    _print(table)
    console.print(_one_line(legend(results)))


def show_comparison(first: str, second: str, found: Comparison) -> None:
    """Print the differences of the second run from the first."""
    table = _table(f"{second} against {first}, task by task", ("", "tasks", "such as"))
    once = found.repeats == 1
    table.add_row("both won" if once else "both won equally often", str(found.both))
    table.add_row("neither won", str(found.neither))
    for run, tasks in ((first, found.lost), (second, found.gained)):
        who = f"only {run} won" if once else f"{run} won more often"
        table.add_row(_one_line(who), str(len(tasks)), _one_line(_some(tasks)))
    _print(table)
    if found.difference is not None:
        test = "McNemar's exact p" if once else "exact p of the sign-flip test over tasks"
        console.print(
            f"Difference of success: {100 * found.difference:+.1f} points (95% interval {100 * found.low:+.1f} to "
            f"{100 * found.high:+.1f}) over {found.tasks} tasks; {test} = {found.p_value:.2g}."
        )
    if found.left_out:
        console.print(
            f"{found.left_out} tasks are left out: only one run has them, or one has only errors on them."
        )


def evaluate_with_progress(spec: RunSpec, out: Path, bar_on: Console = console) -> Records:
    """Run an evaluation and show how it is doing: on a terminal in a progress bar, else in a line now and then.

    Raises:
        RunStopped: If the run stops before its last episode.
    """
    named = Run(spec).spec.described()
    arguments = (
        f"{key}={textwrap.shorten(redact(str(value)), 40)}"
        for key, value in named["agent_args"].items()
    )
    title = " ".join([named["agent"], *arguments, "on", spec.env, named["split"] or ""])
    title = printable(f"{title.strip()}, {named['model']}" if spec.asked else title.strip())
    shown = (
        _Bar(title, bar_on) if bar_on.is_terminal or bar_on.is_jupyter else _Lines(title, bar_on)
    )
    tally = Tally(0)

    def started(total: int, done: Records) -> None:
        nonlocal tally
        tally = Tally(total, done, spec.max_cost)
        shown.show(tally)

    def ended(record: Record) -> None:
        tally.add(record)
        shown.show(tally)

    with shown:
        return play_run(spec, out, on_start=started, on_episode=ended, on_stop=raise_stop)


class _Bar:
    """A progress bar on a terminal."""

    def __init__(self, title: str, console: Console) -> None:
        self.title = title
        so_far = TextColumn(
            "{task.description}", markup=False, table_column=Column(no_wrap=False, overflow="fold")
        )
        self.progress = Progress(
            BarColumn(bar_width=20), MofNCompleteColumn(), so_far, console=console
        )
        self.bar = self.progress.add_task("", visible=False)

    def __enter__(self) -> None:
        self.progress.start()

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()

    def show(self, tally: Tally) -> None:
        if not self.progress.tasks[0].visible:
            self.progress.print(self.title, markup=False, highlight=False)
        self.progress.update(
            self.bar,
            total=tally.total,
            completed=tally.ended,
            description=tally.line(),
            visible=True,
        )


class _Lines:
    """A line at the end and, in a long run, every minute: for logs."""

    def __init__(self, title: str, console: Console) -> None:
        self.title, self.console = title, console
        self.line = ""
        self.printed = time.monotonic()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self._print()

    def show(self, tally: Tally) -> None:
        self.line = f"{self.title}: {tally.ended} of {tally.total} episodes, {tally.line()}"
        if time.monotonic() - self.printed >= SECONDS_BETWEEN_LINES:
            self._print()

    def _print(self) -> None:
        if self.line:
            self.console.print(self.line, markup=False, highlight=False, soft_wrap=True)
        self.line, self.printed = "", time.monotonic()


def show_estimates(estimates: Mapping[str, Estimate]) -> None:
    """Print what the missing episodes of runs are expected to take, and what these numbers are worth."""
    shown = dict(estimates)
    if len(shown) > 1:
        shown["all"] = total(list(estimates.values()))
    width = (
        len(HEADINGS)
        if any(estimate.seconds for estimate in shown.values())
        else HEADINGS.index("time")
    )
    table = _table(
        "Expected, and from the cheapest to the dearest tenth of episodes",
        ("run", *HEADINGS[:width]),
    )
    for name, estimate in shown.items():
        table.add_row(_one_line(name), *row_of(estimate)[:width])
    _print(table)
    for note in dict.fromkeys(note for estimate in estimates.values() for note in notes(estimate)):
        console.print(note, markup=False, highlight=False)


def show_tasks(tasks: Iterable[Task]) -> None:
    """Print tasks with their depth and optimal length, and their group unless it only repeats the depth.

    A game's tasks may have further ``details``, texts by heading.
    """
    described = [(describe_task(task), getattr(task, "details", {})) for task in tasks]
    headings = list(dict.fromkeys(heading for _, details in described for heading in details))
    is_grouped = any(task["group"] not in (ALL, f"depth {task['depth']}") for task, _ in described)
    table = _table(
        "Tasks",
        ("task", *(["group"] if is_grouped else []), "depth", "shortest solution", *headings),
    )
    for task, details in described:
        group = [_one_line(task["group"])] if is_grouped else []
        shortest = "-" if task["optimal_length"] is None else str(task["optimal_length"])
        others = [_one_line(str(details.get(heading, ""))) for heading in headings]
        table.add_row(_one_line(task["task"]), *group, str(task["depth"]), shortest, *others)
    _print(table)


def show_guidance(tasks: Iterable[Task]) -> None:
    """Print MineDojo's prompt and guidance for the tasks that it has as well: those with a ``specification``.

    Raises:
        MineDojoMissing: If MineDojo's files are not installed.
    """
    for task in tasks:
        read_specification = getattr(task, "specification", None)
        found = read_specification() if read_specification else None
        if found:
            console.print(
                f"[bold]{escape(task.id)}[/]: {escape(found.prompt)}\n{escape(found.guidance)}\n"
            )


def show_tree(book: RecipeBook, item: str) -> None:
    """Print the recipe tree of an item, down to base items; a repeated subtree is drawn once."""
    drawn: set[str] = set()  # recipes can form cycles, such as ingot and block

    def grow(branch: Tree, item: str) -> None:
        drawn.add(item)
        for recipe in book.recipes.get(item, ()):
            made = branch.add(f"[dim]makes {recipe.makes} from[/dim]")
            for slot in recipe.slots:
                members = book.members[slot.ingredient]
                node = made.add(
                    f"{slot.amount} {_named(book, members[0]) if len(members) == 1 else _choice(slot.ingredient)}"
                )
                for member in members:
                    twig = node if len(members) == 1 else node.add(_named(book, member))
                    if member in drawn and member in book.recipes:
                        twig.add("[dim]as above[/dim]")
                    else:
                        grow(twig, member)

    root = Tree(_named(book, item))
    grow(root, item)
    console.print(root)


def tree_rows(book: RecipeBook, item: str) -> list[dict[str, Any]]:
    """Return a row for each recipe of an item's tree, with its ingredients; the item's own recipes come first."""
    pending, found = [item], dict[str, None]()
    while pending:
        current = pending.pop(0)
        if current not in found:
            found[current] = None
            slots = (slot for recipe in book.recipes.get(current, ()) for slot in recipe.slots)
            pending += [member for slot in slots for member in book.members[slot.ingredient]]
    return [
        {
            "item": crafted,
            "makes": recipe.makes,
            "takes": [
                {"any_of": list(book.members[slot.ingredient]), "amount": slot.amount}
                for slot in recipe.slots
            ],
        }
        for crafted in found
        for recipe in book.recipes.get(crafted, ())
    ]


def recipe_stats(pack: Pack, book: RecipeBook) -> dict[str, Any]:
    """Return counts of a book's recipes, items and depths."""
    return {
        "origin": str(pack.origin),
        "recipe files": len(pack.recipes),
        "recipe types": dict(
            Counter(str(file.data.get("type")) for file in pack.recipes.values()).most_common()
        ),
        "item tags": len(pack.tags),
        "tags": book.tags,
        "recipes in use": sum(map(len, book.recipes.values())),
        "craftable items": len(book.recipes),
        "base items": len(book.base_items),
        "craftable items by depth": {
            str(depth): n for depth, n in sorted(Counter(book.depths.values()).items())
        },
    }


def show_stats(stats: Mapping[str, Any]) -> None:
    """Print the counts of ``recipe_stats``."""
    table = _table(f"Recipes of {stats['origin']}", ("", "count"))
    for name, value in stats.items():
        if isinstance(value, Mapping):
            for kind, count in value.items():
                table.add_row(
                    f"  {_one_line(kind)}" if name == "recipe types" else f"  depth {kind}",
                    str(count),
                )
        elif name not in ("origin", "tags"):
            table.add_row(name, str(value))
    _print(table)


def show_splits(item_depths: Mapping[str, int], splits: Splits) -> None:
    """Print the number of tasks by split and depth."""
    depths = sorted({item_depths[item] for items in splits.values() for item in items})
    table = _table("Splits", ("split", "tasks", *(f"depth {depth}" for depth in depths)))
    for name, items in splits.items():
        counts = Counter(item_depths[item] for item in items)
        table.add_row(_one_line(name), str(len(items)), *(str(counts[depth]) for depth in depths))
    _print(table)


def show_leakage(found: Leakage, train: str, test: str) -> None:
    """Print the intermediates of test that also occur in train."""
    table = _table(f"Overlap of {train} with {test}", (f"intermediates of {test}", "n", "such as"))
    for met_as, text in (
        ("goal", f"goals in {train}"),
        ("intermediate", f"only intermediates in {train}"),
        ("unseen", "unseen"),
    ):
        items = [name_of(item) for item, how in found.intermediates.items() if how == met_as]
        table.add_row(text, str(len(items)), _one_line(_some(items)))
    untouched = sum(not met for met in found.goals.values())
    _print(table)
    console.print(
        f"{untouched} of {len(found.goals)} {test} goals have no intermediate that occurs in {train}."
    )


def _table(title: str, headings: Sequence[str]) -> Table:
    table = Table(
        title=_one_line(title),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for index, heading in enumerate(headings):
        is_text = index == 0 or heading in LEFT_ALIGNED
        table.add_column(
            _one_line(heading),
            justify="left" if is_text else "right",
            no_wrap=heading not in PROSE,
            overflow="fold",
        )
    return table


def _print(table: Table) -> None:
    """Print a table at its full width even where the terminal is narrower: an id that wraps cannot be copied."""
    natural = Measurement.get(console, console.options.update(width=10_000), table).maximum
    for column in table.columns:
        if column.header in PROSE:  # only prose may wrap
            widest = max((len(str(cell)) for cell in column.cells), default=0)
            natural -= max(0, widest - MIN_PROSE_WIDTH)
    width = console.width
    console.width = max(width, natural)  # print(width=...) cannot exceed the console's width
    console.print(table)
    console.width = width


def _one_line(text: str) -> str:
    """Return a text for a cell: a line break in it would look like another row, and markup is text, too."""
    return escape(printable(text))


def _named(book: RecipeBook, item: str) -> str:
    style = "bold" if item in book.recipes else "green"
    return f"[{style}]{_one_line(book.names[item])}[/]"


def _choice(ingredient: tuple[str, ...]) -> str:
    return f"[cyan]{_one_line(name_of_ingredient(ingredient))}[/] [dim]any of[/dim]"


def _some(items: Sequence[str], shown: int = 6) -> str:
    return ", ".join(items[:shown]) + (", ..." if len(items) > shown else "")
