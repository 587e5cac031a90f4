"""What was wrong with an answer to a question."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.attempt import Attempt, Fault

_ANSWER = re.compile(r"finish\[.*\S.*\]", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"[A-Z][\w'.-]+(?:(?: (?:of|the|and|for|by|in|from))* [A-Z][\w'.-]*)*")


def fault(attempt: Attempt) -> Fault | None:
    """Return whether a page that the question names was never read, or the answer is wrong."""
    if not attempt.turns or not _ANSWER.fullmatch(attempt.turns[-1][0]):
        return None
    read = " ".join(f"{action} {answer}" for action, answer in attempt.turns[:-1])
    question = attempt.opening.removeprefix("Question: ")
    names = _NAME.findall(question.partition(" ")[2])  # its first word is no name
    return "wrong thing" if all(_is_read(name, read) for name in names) else "missing part"


def _is_read(name: str, read: str) -> bool:
    """Return whether a name was read, or both of what may be two names."""
    return name in read or all(part in read for part in name.split(" and "))
