"""What a verdict on the published order of rows takes: how many episodes, and how many seeds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from textcraft_gym.papers.results import (
    families,
    is_told_apart,
    published_orders,
    published_rate,
)
from textcraft_gym.papers.table import Order, Setting, Table
from textcraft_gym.reports.paired import (
    SIGNIFICANT,
    decidable,
    episodes_for_power,
    mcnemar_p_value,
)

CHANCE = 0.8
"""The chance of a verdict that a number of seeds is given for."""


def needs(table: Table, tasks: Mapping[Setting, Counter[str]]) -> Iterator[str]:
    """Yield a sentence for each family of pairs of rows.

    Args:
        table: The table, of the rows that are to be played.
        tasks: The number of tasks of each group, and of all, by setting.
    """
    counts = {}
    for order in published_orders(table):
        if is_told_apart(table, order):
            count = _tasks(table, order, tasks)
            if count:
                counts[order] = count
    for name, orders in families(table, counts).items():
        level = SIGNIFICANT / len(orders)
        most = decidable([counts[order] for order in orders])
        sentence = f"in {name} at most {most} of {len(orders)} pairs of rows can have a verdict."
        episodes = []
        for order in orders:
            if mcnemar_p_value(counts[order], 0) < level:  # else no number of seeds is enough
                above, below = (published_rate(table, order.column, key) for key in order[:2])
                number = episodes_for_power(above, below, level, CHANCE)
                episodes.append((number, math.ceil(number / counts[order])))
        if episodes:
            fewest, most_episodes = (end(number for number, _ in episodes) for end in (min, max))
            least, most_seeds = (end(seeds for _, seeds in episodes) for end in (min, max))
            sentence += (
                f" If they differ as published, it takes about {_range(fewest, most_episodes)} "
                f"episodes of each row, --seeds {_range(least, most_seeds)} (p < "
                f"{SIGNIFICANT:g} adjusted for all, with a chance of {CHANCE:.0%})."
            )
        if few := len(orders) - len(episodes):
            sentence += f" {few} of them have too few tasks for any number of seeds."
        yield sentence


def _tasks(table: Table, order: Order, tasks: Mapping[Setting, Counter[str]]) -> int:
    """Return the number of tasks that two rows share in a column; 0 if one is not to be played."""
    index, column = table.column(order.column)
    counts = []
    for key in (order.above, order.below):
        setting = table.row(key).setting(index)
        counts.append(tasks[setting][column.group] if setting and setting in tasks else 0)
    return min(counts)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
