"""What a verdict on the published order of rows takes: how many episodes, and how many seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from textcraft_gym.papers.results import (
    is_told_apart,
    judged_together,
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


class Size(NamedTuple):
    """How many tasks there are, and how many families of them."""

    tasks: int = 0
    families: int = 0


Sizes: TypeAlias = Mapping[Setting, Mapping[str, Size]]
"""The sizes of the groups of tasks, and of all, by setting."""


def needs(table: Table, sizes: Sizes) -> Iterator[str]:
    """Yield a sentence for the pairs of rows that are judged together.

    Args:
        table: The table, of the rows that are to be played.
        sizes: The sizes of what is to be played.
    """
    shared = {}
    for order in published_orders(table):
        if is_told_apart(table, order):
            size = _size(table, order, sizes)
            if size.tasks:
                shared[order] = size
    for name, orders in judged_together(table, shared).items():
        level = SIGNIFICANT / len(orders)
        most = decidable([shared[order].families for order in orders])
        sentence = f"in {name} at most {most} of {len(orders)} pairs of rows can have a verdict."
        episodes = []
        for order in orders:
            size = shared[order]
            if mcnemar_p_value(size.families, 0) < level:  # else no number of seeds is enough
                above, below = (published_rate(table, order.column, key) for key in order[:2])
                number = episodes_for_power(above, below, level, CHANCE)
                episodes.append((number, math.ceil(number / size.tasks)))
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


def _size(table: Table, order: Order, sizes: Sizes) -> Size:
    """Return the size of what two rows share in a column; nothing if one is not to be played."""
    index, column = table.column(order.column)
    of_rows = []
    for key in (order.above, order.below):
        setting = table.row(key).setting(index)
        of_group = sizes.get(setting, {}) if setting else {}
        of_rows.append(of_group.get(column.group, Size()))
    return min(of_rows)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
