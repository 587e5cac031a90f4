"""An independent judge of shortest plans: the same question put to the MILP solver of scipy
(HiGHS)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from textcraft_gym.recipes import RecipeBook

MANY = 300
"""More than 30 crafts of at most 9 ingredients use up. Ten thousand is so much that some versions
of HiGHS go wrong."""


def minimum_actions(book: RecipeBook, goal: str, held: Mapping[str, int]) -> int:
    """Return the fewest gets and crafts whose sum of materials makes one more of ``goal``, whatever
    their order."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    costs: list[float] = []
    balance: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    equal: list[dict[int, float]] = []
    got: dict[int, int] = {}

    def variable(cost: float) -> int:
        costs.append(cost)
        return len(costs) - 1

    closure = [goal]
    for item in closure:
        for recipe in book.recipes.get(item, ()):
            crafts = variable(1)
            balance[item][crafts] += recipe.makes
            for ingredient, count in recipe.slots:
                members = book.members[ingredient]
                closure += [member for member in members if member not in closure]
                # How many units (where a slot takes a mix) or whole slots (where it does not) each
                # member fills.
                fills = {variable(0): member for member in members}
                equal.append(
                    {**dict.fromkeys(fills, 1.0), crafts: -float(count if book.mixes else 1)}
                )
                for fill, member in fills.items():
                    balance[member][fill] -= 1 if book.mixes else count
        if item not in book.recipes:
            amount, action = variable(0), variable(1)
            balance[item][amount] += 1
            got[amount] = action

    rows, low, high = [], [], []

    def constrain(row: Mapping[int, float], least: float, most: float) -> None:
        line = np.zeros(len(costs))
        line[list(row)] = list(row.values())
        rows.append(line), low.append(least), high.append(most)

    for item, row in balance.items():
        constrain(row, (item == goal) - (held.get(item, 0) if item != goal else 0), np.inf)
    for row in equal:
        constrain(row, 0, 0)
    for amount, action in got.items():
        constrain({amount: 1, action: -MANY}, -np.inf, 0)
    bounds = [1 if cost and index in got.values() else MANY for index, cost in enumerate(costs)]
    result = milp(
        costs,
        integrality=np.ones(len(costs)),
        bounds=Bounds(0, bounds),
        constraints=LinearConstraint(rows, low, high),
    )
    assert result.success, result.message
    return round(result.fun)
