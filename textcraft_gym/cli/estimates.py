"""What runs are expected to take, as ``--dry-run`` shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain

from textcraft_gym.cli.tables import new_table, print_table, print_words
from textcraft_gym.cli.terminal import print_json
from textcraft_gym.runs.estimate import HEADINGS, Estimate, notes, row_of, total

TITLE = "Estimates, with the range from the cheapest to the dearest 10% of episodes"
RANKED = ("run", "episodes", "calls", "price", "time")
NEEDED = 4
OPTIONAL = ("price", "time")
"""Columns that are left out where no run has anything in them."""
NOTHING = ("-", "0", "0 s")


def show_estimates(estimates: Mapping[str, Estimate], as_json: bool) -> None:
    """Print what the missing episodes of runs are expected to take, and how sure that is."""
    if as_json:
        print_json([{"run": name, **asdict(amounts)} for name, amounts in estimates.items()])
        return
    rows = dict(estimates)
    if len(rows) > 1:
        rows["all"] = total(list(estimates.values()))

    lines = [dict(zip(HEADINGS, row_of(amounts), strict=True)) for amounts in rows.values()]
    # A quantity of which no run knows anything takes no column.
    headings = []
    for heading in HEADINGS:
        if heading not in OPTIONAL or any(line[heading] not in NOTHING for line in lines):
            headings.append(heading)
    table = new_table(TITLE, ("run", *headings), RANKED, NEEDED)
    for name, line in zip(rows, lines, strict=True):
        table.add_row(name, *(line[heading] for heading in headings))
    print_table(table)

    # Runs of one table mostly have the same notes.
    for note in dict.fromkeys(chain.from_iterable(map(notes, estimates.values()))):
        print_words(note)
