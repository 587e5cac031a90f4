"""The steps of plans: what agents claimed of them against the state of the world, as a table.

An agent with plans says of each step whether it is done or failed. A replay asks the world whether
the step holds at that moment (``verify.steps``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from textcraft_gym.reports.tables import Rows

StepClaim: TypeAlias = Literal[
    "done and held",
    "done and not held",
    "failed and held",
    "failed and not held",
    "cannot be told",
]
"""What an agent said of a step, and whether the step held then; or that the state cannot tell."""
StepClaims: TypeAlias = Mapping[str, "Counter[StepClaim]"]
"""The claims of a run, counted by group and over ``all``; empty without any."""

STEP_CLAIMS: tuple[StepClaim, ...] = get_args(StepClaim)
STEPS = ("run", "group", "claims", *STEP_CLAIMS)


def step_claim(done: bool, held: bool | None) -> StepClaim:
    """Return the kind of a claim.

    Args:
        done: Whether the agent said that the step is done, not that it failed.
        held: Whether the step held at that moment; None if the state cannot tell.
    """
    if held is None:
        return "cannot be told"
    if done:
        return "done and held" if held else "done and not held"
    return "failed and held" if held else "failed and not held"


def step_rows(runs: Mapping[str, StepClaims]) -> Rows:
    """Return a row of ``STEPS`` cells for each run and group with claims."""
    rows: Rows = []
    for run, by_group in runs.items():
        for group, counts in by_group.items():
            cells = (str(counts[claim]) for claim in STEP_CLAIMS)
            rows.append((run, group, str(counts.total()), *cells))
    return rows
