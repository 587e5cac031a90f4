"""What was wrong with a household task that was claimed to be done."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.attempt import Attempt, Fault

_TASK = re.compile(r"Your task is to: (?P<task>[^\n]*)")
_NEEDS = {
    "You clean ": re.compile(r"\bclean\b"),
    "You heat ": re.compile(r"\b(?:heat|hot)\b"),
    "You cool ": re.compile(r"\bcool\b"),
    "You turn on ": re.compile(r"\b(?:look at|examine)\b"),
}
"""What the game answers when a part of a task is done, and the words of tasks with that part."""
_PUT = ("You put ", "You move ")


def fault(attempt: Attempt) -> Fault | None:
    """Return whether a claimed task lacks its cleaning, heating, cooling or lamp, or an object."""
    task = _TASK.search(attempt.opening)
    if task is None or not attempt.claimed:
        return None
    answers = [answer for _, answer in attempt.turns]
    for answer, words in _NEEDS.items():
        if words.search(task["task"]) and not any(text.startswith(answer) for text in answers):
            return "missing part"
    if "two " in task["task"] and sum(text.startswith(_PUT) for text in answers) < 2:
        return "wrong count"
    return None
