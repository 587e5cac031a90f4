"""How the simulated model judges an attempt: by the share of the task that the attempt's own words show as done."""

from __future__ import annotations

from textcraft_gym.agents.adapt.react import FAILED
from textcraft_gym.agents.simulated.faults import Draws

WORST, BEST = 1, 10
REFUSED = 0.2
"""Share that an attempt loses by a last action that changed nothing."""


def judgement(share: float, last_action: str, *, refused: bool, draws: Draws) -> str:
    """Return a judgement with its score.

    Args:
        share: Share of the task that is done, from 0 to 1.
        last_action: The last action of the attempt; by one that gives up nothing can be reached any more.
        refused: Whether it changed nothing.
        draws: The draws of the request; a misjudgement turns the scale around.
    """
    if FAILED in last_action.lower():
        share = 0.0
    share = min(1.0, max(0.0, share - REFUSED * refused))
    score = WORST + round((BEST - WORST) * share)
    if draws.errs("misjudge", "judgement"):
        score = WORST + BEST - score
    return f"About {100 * share:.0f}% of it is done. The score is {score}."
