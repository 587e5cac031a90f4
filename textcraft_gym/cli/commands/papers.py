"""The command ``textcraft-gym papers``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import Json
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.papers import PAPERS
from textcraft_gym.papers.reproduce import DATA_ARGUMENT, Job, Reproduction, installed_data
from textcraft_gym.papers.table import Paper, Setting, Table
from textcraft_gym.runs.estimate import Estimate, estimate
from textcraft_gym.runs.run_spec import RunSpec

app = typer.Typer(add_completion=False)


@app.command()
def papers(as_json: Json = False) -> None:
    """List the tables of the papers: what each plays, and what that takes for one model and one seed.

    Calls and tokens are estimates. A world with * plays data that the suite makes, since the
    original's is not installed; reproduce takes it with --data.
    """
    rows = [_about(paper, table) for paper in PAPERS.values() for table in paper.tables]
    if as_json:
        print_json(rows)
        return
    tables.show_rows("Tables of the papers", [_shown(row) for row in rows])
    for paper in PAPERS.values():
        for why, names in _by_reason(paper.missing):
            say(f"{paper.key}: {names} not here: {why}.")
    say("* is played on made data, unless reproduce is given the original's with --data.")
    say(
        "textcraft-gym reproduce NAME --model MODEL --out DIR plays one; --dry-run says what it takes."
    )


def _by_reason(missing: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each reason with the tables that it is of: ``table1 is``, ``table9 to table16 are``."""
    for why, of_reason in groupby(missing, key=missing.__getitem__):
        first, *others = of_reason
        yield why, f"{first} to {others[-1]} are" if others else f"{first} is"


def _shown(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row for people: + marks sums that leave out runs without figures, * made data."""
    more = "+" if row["without figures"] else ""
    made = row["made data"]
    worlds = (f"{env.partition('-v')[0]}{'*' if env in made else ''}" for env in row["worlds"])
    return {
        **{name: str(row[name]) for name in ("name", "shows", "runs", "episodes")},
        "calls": f"{row['calls'] / 1000:,.1f}k{more}",
        "tokens": f"{row['tokens'] / 1e6:,.1f}M{more}",
        "worlds": ", ".join(worlds),
    }


def _about(paper: Paper, table: Table) -> dict[str, Any]:
    """Return what a table plays, and what a run of each setting is expected to take."""
    expected = [_expected(setting) for setting in table.settings]
    asked = [one for setting, one in zip(table.settings, expected, strict=True) if setting.asks]
    known = [one for one in asked if one.calls and one.prompt_tokens and one.completion_tokens]
    worlds = dict.fromkeys(setting.env for setting in table.settings)
    wanted = [env for env in worlds if env in DATA_ARGUMENT]
    return {
        "name": f"{paper.key}/{table.key}",
        "shows": table.title.partition(": ")[2] or table.title,
        "rows": len(table.rows),
        "runs": len(table.settings),
        "episodes": sum(one.planned for one in expected),
        "calls": round(sum(one.calls.mean for one in known if one.calls)),
        "tokens": round(
            sum(
                amount.mean
                for one in known
                for amount in (one.prompt_tokens, one.completion_tokens)
                if amount
            )
        ),
        "without figures": len(asked) - len(known),
        "worlds": list(worlds),
        "made data": [env for env in wanted if env not in installed_data()],
    }


@cache
def _expected(setting: Setting) -> Estimate:
    """Return what a run of a setting is expected to take with a model without a price."""
    some = Reproduction({}, ("openai:any", "openai:other"), 1, {}, RunSpec(""))
    return estimate(some.spec(Job(setting, 0, 0)))
