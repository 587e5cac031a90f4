"""How often the controller misses, and when.

The rates of ``cliport`` are made numbers: chosen so that a player who repeats each goal of the task
until it is reached comes to about what CLIPort's policy with the oracle's termination comes to in
the paper (60, 100, 100, 40 and 80%).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Literal, TypeAlias

from textcraft_gym.envs.tabletop.state import BOWLS, HANOI, KINDS, KITS, PACKING, PYRAMID, Rates

Outcome: TypeAlias = Literal["hit", "miss", "spoil"]

RELIABILITIES: Mapping[str, Mapping[str, Rates]] = {
    "oracle": dict.fromkeys(KINDS, Rates()),
    "cliport": {
        # Five objects, each of which ends in its hole, not askew in it: (0.84 / 0.93) ** 5 = 0.60.
        KITS: Rates(hit=0.84, spoil=0.09),
        # A miss spoils nothing here: who repeats the goal wins in the end, hence 1.00.
        HANOI: Rates(hit=0.95),
        BOWLS: Rates(hit=0.95),
        # One object, which ends in the box or on the floor: 0.36 / 0.90 = 0.40.
        PACKING: Rates(hit=0.36, spoil=0.54),
        # Three blocks that can bring another one down: (0.90 / 0.97) ** 3 = 0.80.
        PYRAMID: Rates(hit=0.90, spoil=0.07),
    },
}
"""The rates of each controller by kind of task."""


def outcome(
    rates: Rates,
    luck: str,
    thing: int,
    number: int,
) -> Outcome:
    """Return how the try of this number to move a thing ends.

    The draw depends on nothing else, so that no order of goals is luckier than another.
    """
    draw = random.Random(f"{luck}/{thing}/{number}").random()
    if draw < rates.hit:
        return "hit"
    return "spoil" if draw < rates.hit + rates.spoil else "miss"
