"""Tables of finished runs: their success and effort, and how two of them differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from textcraft_gym.cli.tables import console, examples, new_table, print_table, print_words
from textcraft_gym.reports.compare import Comparison, Verdict, points, test_of
from textcraft_gym.reports.metrics import ALL
from textcraft_gym.reports.step_claims import STEPS, StepClaims, step_rows
from textcraft_gym.reports.success import in_words
from textcraft_gym.reports.tables import (
    PASSES,
    REPLIES,
    Rows,
    Runs,
    effort_table,
    pass_rows,
    percent,
    reply_rows,
    success_table,
)
from textcraft_gym.reports.why import WHY_TITLE, Why, why_examples, why_table

EFFORT_TITLE = "Model calls per episode, and the agent's claims of success"
REPLIES_TITLE = "Replies read for a command of the game"
STEPS_TITLE = "What agents claimed of the steps of plans, against the state of the world"
PASSES_TITLE = "Success with k attempts at a task"
RANKED = (
    "run",
    "group",
    "n",
    "won %",
    "95% interval",
    "tokens",
    "steps",
    "steps / shortest",
    "score",
    "errors",
    "limits",
)
"""Columns by importance, those of calls as they come."""
NEEDED = 5
"""Number of these for which names are cut: success of each group."""
PAIR_WIDTH = 45
"""Width of a table of pairs without the names of the runs."""


def show_lines(lines: Iterable[str]) -> None:
    """Print lines that wrap between words."""
    for line in lines:
        print_words(line)


def show_runs(runs: Runs) -> None:
    """Print success by group, and what else the runs have: model calls, replies, attempts."""
    headings, *rows = success_table(runs)
    _show_by_group("Success by group", headings, rows)

    if effort := effort_table(runs):
        _show_by_group(EFFORT_TITLE, effort[0], effort[1:])
    if replies := reply_rows(runs):
        _show_by_group(REPLIES_TITLE, REPLIES, replies)

    if passes := pass_rows(runs):
        table = new_table(PASSES_TITLE, PASSES, ("run", "k", "pass@k %", "pass^k %"), needed=4)
        for row in passes:
            table.add_row(*row)
        print_table(table)


def show_why(runs: Mapping[str, Why]) -> None:
    """Print why episodes were lost, and a few tasks of each cause."""
    rows = why_table(runs)
    if not rows:
        console.print("No episode was lost.")
        return
    _show_by_group(WHY_TITLE, rows[0], rows[1:])
    table = new_table("Of each cause", ("run", "cause", "meaning", "such as"), needed=2)
    previous = ""
    for run, cause, meaning, tasks in why_examples(runs):
        table.add_row("" if run == previous else run, cause, meaning, ", ".join(tasks))
        previous = run
    print_table(table)


def show_steps(runs: Mapping[str, StepClaims]) -> None:
    """Print the claims about steps of plans, or that there are none."""
    rows = step_rows(runs)
    if rows:
        _show_by_group(STEPS_TITLE, STEPS, rows)
    else:
        console.print("No run has claims about steps of plans.")


def _show_by_group(
    title: str,
    headings: Sequence[str],
    rows: Rows,
) -> None:
    """Print rows of runs and groups; a run's name stands in its first row alone."""
    table = new_table(title, headings, RANKED, NEEDED)
    previous = ""
    for run, group, *numbers in rows:
        is_total = group == ALL
        table.add_row(
            "" if run == previous else run,
            group,
            *numbers,
            style="bold" if is_total else "",
            end_section=is_total,
        )
        previous = run
    print_table(table)


def show_comparison(first: str, second: str, comparison: Comparison) -> None:
    """Print the differences of the second run from the first."""
    is_single = comparison.repeats == 1
    table = new_table(f"{second} against {first}, task by task", ("", "tasks", "such as"))

    both = "both won" if is_single else "both won equally often"
    table.add_row(both, str(comparison.both))
    table.add_row("neither won", str(comparison.neither))
    for run, tasks in ((first, comparison.lost), (second, comparison.gained)):
        winner = f"only {run} won" if is_single else f"{run} won more often"
        table.add_row(winner, str(len(tasks)), examples(tasks))
    print_table(table)

    if comparison.difference is not None:
        found = comparison
        test = test_of(found.tasks, found.families, found.repeats)
        console.print(
            f"Difference of success: {points(comparison.difference)} points "
            f"(95% interval {points(comparison.low)} to {points(comparison.high)}) "
            f"over {in_words(found.tasks, found.families)}; "
            f"exact p of {test} = {found.p_value:.2g}."
        )
    if comparison.left_out:
        console.print(
            f"{_tasks(comparison.left_out)} left out: "
            "one of the runs has no episode of them, or only errors."
        )


def show_standings(verdict: Verdict) -> None:
    """Print the ranking of runs, and the differences of all pairs of them."""
    if not verdict.tasks:
        console.print("There is no task of which all these runs have an outcome.")
        return
    for place, standing in enumerate(verdict.standings, 1):
        rate = percent(standing.won / verdict.tasks)
        rank = f"{place}. " if verdict.pairs else ""
        won = f"{standing.won:.4g} of {in_words(verdict.tasks, verdict.families)}, {rate}"
        show_lines([f"{rank}{standing.run} won {won}."])
    if not verdict.pairs:
        return

    _show_pairs(verdict)
    test = test_of(verdict.tasks, verdict.families, verdict.repeats)
    pairs = f"{len(verdict.pairs)} pairs" if len(verdict.pairs) > 1 else "1 pair"
    below = [f"p is exact, by {test}; p and interval are adjusted for {pairs} (Holm)."]
    if verdict.left_out:
        below.append(f"{_tasks(verdict.left_out)} left out: a run lacks them, or has only errors.")
    if verdict.power:
        below.append(verdict.power)
    show_lines(below)


def _show_pairs(verdict: Verdict) -> None:
    runs = [standing.run for standing in verdict.standings]
    names = {run: run for run in runs}
    longest = max(map(len, runs))
    if 2 * longest + PAIR_WIDTH > console.width:  # their places stand for them
        names = {run: str(place) for place, run in enumerate(runs, 1)}

    table = new_table("All pairs", ("run", "against", "points", "95% interval", "p"), needed=5)
    for pair in verdict.pairs:
        table.add_row(
            names[pair.better],
            names[pair.worse],
            points(pair.comparison.difference),
            f"{points(pair.low)} to {points(pair.high)}",
            f"{pair.p_value:.2g}",
            style="bold" if pair.is_clear else "",
        )
    print_table(table)


def _tasks(count: int) -> str:
    return f"{count} task" if count == 1 else f"{count} tasks"
