"""The command ``textcraft-gym papers``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import Json, Wide
from textcraft_gym.cli.terminal import print_json
from textcraft_gym.papers import PAPERS
from textcraft_gym.papers.reproduce import DATA_ARGUMENT, Job, Reproduction, installed_data
from textcraft_gym.papers.table import Paper, Setting, Table
from textcraft_gym.runs.estimate import Estimate, estimate
from textcraft_gym.runs.run_spec import RunSpec

RANKED = ("name", "episodes", "calls", "shows", "tokens", "runs", "worlds")
MARKS = {
    "+": "at least: some of its runs have no figures yet.",
    "*": "on generated data, unless reproduce gets the original's with --data.",
}

app = typer.Typer(add_completion=False)


@app.command()
def papers(as_json: Json = False, wide: Wide = False) -> None:
    """List the papers' tables and what each takes.

    Calls and tokens are estimates for one model and one seed. A world with * is played on generated
    data, since the original's is not installed; reproduce takes it with --data.
    """
    rows = []
    for paper in PAPERS.values():
        rows += [_row(paper, table) for table in paper.tables]
    if as_json:
        print_json(rows)
        return

    shown = list(map(_shown, rows))
    headings = tables.show_rows("Tables of the papers", shown, RANKED)
    printed = "".join(row[heading] for row in shown for heading in headings)
    for mark, meaning in MARKS.items():
        if mark in printed:
            tables.print_words(f"{mark} {meaning}")
    missing = "; ".join(f"{paper.key}/{_missing(paper)}" for paper in PAPERS.values())
    tables.print_words(f"Not reproduced, and reproduce NAME says why: {missing}.")
    tables.print_words(
        "To play one: textcraft-gym reproduce NAME --model MODEL (--dry-run estimates)."
    )


def _missing(paper: Paper) -> str:
    """Return the tables of a paper that are not here; those of one reason are a range."""
    names = []
    for _, keys in groupby(paper.missing, key=paper.missing.__getitem__):
        first, *others = keys
        names.append(f"{first} to {others[-1]}" if others else first)
    return ", ".join(names)


def _shown(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row for people, with marks; see ``MARKS``."""
    more = "+" if row["without figures"] else ""
    worlds = []
    for env in row["worlds"]:
        game, _, _ = env.partition("-v")
        worlds.append(f"{game}*" if env in row["made data"] else game)
    return {
        **{name: str(row[name]) for name in ("name", "shows", "runs", "episodes")},
        "calls": f"{_in_tenths(row['calls'] / 1000)}k{more}",
        "tokens": f"{_in_tenths(row['tokens'] / 1e6)}M{more}",
        "worlds": ", ".join(worlds),
    }


def _in_tenths(value: float) -> str:
    """Return a number with one decimal; a small one is not 0."""
    return "<0.1" if 0 < value < 0.05 else f"{value:,.1f}"


def _row(paper: Paper, table: Table) -> dict[str, Any]:
    """Return what a table plays, and what a run of each setting is expected to take."""
    estimates = {setting: _expected(setting) for setting in table.settings}
    asking = [amounts for setting, amounts in estimates.items() if setting.asks]
    calls, tokens, unknown = _sums(asking)

    worlds = dict.fromkeys(setting.env for setting in table.settings)
    made = [env for env in worlds if env in DATA_ARGUMENT and env not in installed_data()]
    _, _, subject = table.title.partition(": ")
    return {
        "name": f"{paper.key}/{table.key}",
        "shows": subject or table.title,
        "rows": len(table.rows),
        "runs": len(table.settings),
        "episodes": sum(amounts.planned for amounts in estimates.values()),
        "calls": calls,
        "tokens": tokens,
        "without figures": unknown,
        "worlds": list(worlds),
        "made data": made,
    }


def _sums(estimates: Sequence[Estimate]) -> tuple[int, int, int]:
    """Return the calls and tokens of runs, and the number of runs for which they are not known."""
    calls = tokens = 0.0
    unknown = 0
    for amounts in estimates:
        if amounts.calls and amounts.prompt_tokens and amounts.completion_tokens:
            calls += amounts.calls.mean
            tokens += amounts.prompt_tokens.mean + amounts.completion_tokens.mean
        else:
            unknown += 1
    return round(calls), round(tokens), unknown


@cache
def _expected(setting: Setting) -> Estimate:
    """Return what a run of a setting is expected to take with a model without a price."""
    # A setting may need two models; which ones they are does not change the estimate.
    models = ("openai:any", "openai:other")
    reproduction = Reproduction({}, models, 1, {}, RunSpec(""))
    return estimate(reproduction.spec(Job(setting, 0, 0)))
