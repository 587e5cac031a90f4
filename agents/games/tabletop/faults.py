"""What was wrong with a table that was not set."""

from __future__ import annotations

from textcraft_gym.agents.contract.attempt import Attempt, Fault
from textcraft_gym.agents.games.tabletop.controller import DONE, MISSED

_LOST = ("is on the floor", "is stuck askew")


def fault(attempt: Attempt) -> Fault | None:
    """Return whether a missed goal was never reached after all, or a goal names what is not there.

    A miss after which the goal could be tried again explains only what went wrong with that goal.
    """
    missed: dict[str, str] = {}
    for goal, answer in attempt.turns:
        if answer.startswith(MISSED):
            missed[goal] = answer
        elif answer.startswith(DONE):
            missed.pop(goal, None)
    refused = attempt.refused
    for goal, answer in missed.items():
        if refused is None or refused[0] == goal or any(lost in answer for lost in _LOST):
            return "miss"
    return "wrong thing" if refused and refused[1].startswith("There is no") else None
