"""What the command line shows: tables, a recipe tree, a progress bar. Rich draws; this says what."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.tree import Tree

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.envs.minetechtree.tasks import Task as TechTreeTask
from textcraft_gym.evaluation.compare import Comparison
from textcraft_gym.evaluation.metrics import ALL
from textcraft_gym.evaluation.report import SUCCESS, Rows, Runs, effort_table, success_rows
from textcraft_gym.evaluation.runner import Config, Record, evaluate
from textcraft_gym.evaluation.sweep import Found, legend
from textcraft_gym.evaluation.sweep import table as sweep_table
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.book import name_of_ingredient
from textcraft_gym.recipes.pack import Pack
from textcraft_gym.recipes.recipe import name_of
from textcraft_gym.recipes.splits import Leakage, Splits
from textcraft_gym.task import Task

console = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160)
WORDS = ("group", "such as")
"""Headings of columns of words, which stand left as the first column does; numbers stand right."""


def show_runs(runs: Runs) -> None:
    """Print success by group, and where models were asked, what that took and what the agents took to be won."""
    _show_by_group("Success by group", SUCCESS, success_rows(runs))
    if effort := effort_table(runs):
        _show_by_group("Calls of models an episode, and the agent's own verdict", effort[0], effort[1:])


def _show_by_group(title: str, headings: Sequence[str], rows: Rows) -> None:
    table = _table(title, headings)
    above = ""
    for run, group, *cells in rows:
        whole = group == ALL
        table.add_row(
            "" if run == above else escape(run), escape(group), *cells, style="bold" if whole else "", end_section=whole
        )
        above = run
    console.print(table)


def show_sweep(found: Found) -> None:
    """Print the table of a sweep."""
    headings, *rows = sweep_table(found)
    table = _table("Sweep", headings)
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table, escape(legend(found)))


def show_comparison(first: str, second: str, found: Comparison) -> None:
    """Print how the second run differs from the first."""
    table = _table(f"{second} against {first}, task by task", ("", "tasks", "such as"))
    table.add_row("both won", str(found.both))
    table.add_row("neither won", str(found.neither))
    table.add_row(f"only {escape(first)} won", str(len(found.lost)), escape(_some(found.lost)))
    table.add_row(f"only {escape(second)} won", str(len(found.gained)), escape(_some(found.gained)))
    console.print(table)
    if found.difference is not None:
        console.print(
            f"Difference of success: {100 * found.difference:+.1f} points (95% interval {100 * found.low:+.1f} to "
            f"{100 * found.high:+.1f}) over {found.tasks} tasks; McNemar's exact p = {found.p_value:.2g}."
        )
    if found.left_out:
        console.print(f"{found.left_out} tasks are left out: only one run has them, or one broke on them.")


def evaluate_with_progress(
    config: Config,
    out: Path,
    *,
    workers: int = 1,
    backend: str = "loop",
    cassette: Path | None = None,
    replay_only: bool = False,
) -> list[Record]:
    """Run an evaluation under a progress bar that shows success, calls to models and their cost so far."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[so_far]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        agent = " ".join([config.agent, *(f"{key}={value}" for key, value in config.agent_args.items())])
        bar = progress.add_task(escape(f"{agent} on {config.env} {config.split}"), visible=False, so_far="")
        counts: Counter[str] = Counter()
        cost = 0.0

        def started(total: int, done: list[Record]) -> None:
            progress.update(bar, total=total, visible=True)
            for record in done:
                ended(record)

        def ended(record: Record) -> None:
            nonlocal cost
            counts["errors" if record.get("error") else "won" if record["won"] else "lost"] += 1
            counts["calls"] += sum(record["calls"].values())
            cost += record["cost"]
            so_far = f"won {counts['won']}, errors {counts['errors']}"
            if counts["calls"]:
                so_far += f", calls {counts['calls']}, cost {cost:.2f} ({without_key(config.model)})"
            progress.update(bar, advance=1, so_far=escape(so_far))

        return evaluate(
            config,
            out,
            workers=workers,
            backend=backend,
            cassette=cassette,
            replay_only=replay_only,
            on_start=started,
            on_episode=ended,
        )


def show_tasks(tasks: Iterable[Task]) -> None:
    """Print tasks with their group, unless it only repeats the depth, depth, and the length of a shortest solution.

    A game's tasks may have ``details`` besides, texts by heading.
    """
    tasks = list(tasks)
    details: list[dict[str, str]] = [getattr(task, "details", {}) for task in tasks]
    headings = list(dict.fromkeys(heading for one in details for heading in one))
    is_grouped = any(task.group not in (ALL, f"depth {task.depth}") for task in tasks)
    table = _table("Tasks", ("task", *(["group"] if is_grouped else []), "depth", "shortest solution", *headings))
    for task, more in zip(tasks, details, strict=True):
        group = [escape(task.group)] if is_grouped else []
        others = [escape(more.get(heading, "")) for heading in headings]
        table.add_row(escape(task.id), *group, str(task.depth), str(task.optimal_length), *others)
    console.print(table)


def show_guidance(tasks: Iterable[Task]) -> None:
    """Print what MineDojo says about those of the tasks that it has, too.

    Raises:
        MineDojoMissing: If MineDojo's files are not installed.
    """
    for task in tasks:
        said = task.specification() if isinstance(task, TechTreeTask) else None
        if said:
            console.print(f"[bold]{escape(task.id)}[/]: {escape(said.prompt)}\n{escape(said.guidance)}\n")


def show_tree(book: RecipeBook, item: str) -> None:
    """Print what an item is made of, down to what can be got; what was drawn above is not drawn again."""
    drawn: set[str] = set()

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


def show_stats(pack: Pack, book: RecipeBook) -> None:
    """Print what a book holds."""
    kinds = Counter(str(file.data.get("type")) for file in pack.recipes.values())
    table = _table(f"Recipes of {pack.origin}", ("what", "how many"))
    table.add_row("recipe files", str(len(pack.recipes)), end_section=True)
    for kind, count in kinds.most_common():
        table.add_row(f"  {escape(kind)}", str(count))
    table.add_row("item tags", str(len(pack.tags)), end_section=True)
    table.add_row(f'recipes that count (tags="{book.tags}")', str(sum(map(len, book.recipes.values()))))
    table.add_row("craftable items", str(len(book.recipes)))
    table.add_row("items that are got", str(len(book.base_items)))
    for depth, count in sorted(Counter(book.depths.values()).items()):
        table.add_row(f"  craftable, depth {depth}", str(count))
    console.print(table)


def show_splits(item_depths: Mapping[str, int], splits: Splits) -> None:
    """Print how many tasks of each depth each split has."""
    depths = sorted({item_depths[item] for items in splits.values() for item in items})
    table = _table("Splits", ("split", "tasks", *(f"depth {depth}" for depth in depths)))
    for name, items in splits.items():
        counts = Counter(item_depths[item] for item in items)
        table.add_row(escape(name), str(len(items)), *(str(counts[depth]) for depth in depths))
    console.print(table)


def show_leakage(found: Leakage, train: str, test: str) -> None:
    """Print what train gives away of test."""
    table = _table(f"What {train} gives away of {test}", (f"made on the way in {test}", "n", "such as"))
    for met_as, text in (
        ("goal", f"goals in {train}"),
        ("intermediate", f"only intermediates in {train}"),
        ("unseen", "unseen"),
    ):
        items = [name_of(item) for item, how in found.intermediates.items() if how == met_as]
        table.add_row(text, str(len(items)), escape(_some(items)))
    untouched = sum(not met for met in found.goals.values())
    console.print(table, f"{untouched} of {len(found.goals)} {test} goals have no intermediate that {train} has met.")


def _table(title: str, headings: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place == 0 or heading in WORDS else "right", overflow="fold")
    return table


def _named(book: RecipeBook, item: str) -> str:
    style = "bold" if item in book.recipes else "green"
    return f"[{style}]{escape(book.names[item])}[/]"


def _choice(ingredient: tuple[str, ...]) -> str:
    return f"[cyan]{escape(name_of_ingredient(ingredient))}[/] [dim]any of[/dim]"


def _some(items: Sequence[str], shown: int = 6) -> str:
    return ", ".join(items[:shown]) + (", ..." if len(items) > shown else "")
