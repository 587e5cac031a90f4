"""What to change where a model's answers were often useless: success then says little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from textcraft_gym.reports.tables import read_for_commands

OFTEN = 0.1
"""Share of useless answers above which there is advice."""

_LENGTH = (
    "raise the agent option max_tokens=N, "
    "and the model option reasoning_tokens=N where the model reasons"
)
_ADVICE = {
    "empty": (
        "had no text",
        f"an answer may be spent on reasoning: {_LENGTH}; or try the model option endpoint=chat",
    ),
    "cut": ("were cut off", f"the limit of tokens is too low: {_LENGTH}"),
    "no_command": (
        "held no command of the game",
        "the model answers in another form: "
        "try the agent options form=chat or form=tools, and reading=lenient",
    ),
}
"""What each kind of reply is, and its likely cause with the options that help."""


def advice(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for the most frequent kinds of useless answers, two at most.

    There is none unless more than ``OFTEN`` of all answers are useless.

    Args:
        records: Episode records, whose ``replies`` count the answers by kind and ``calls`` all of
            them; those without a command are told of the answers that were read for one.
    """
    counts: Counter[str] = Counter()
    answers = 0
    for record in records:
        counts.update(record["replies"])
        answers += sum(record["calls"].values())
    if sum(counts[kind] for kind in _ADVICE) <= OFTEN * answers:
        return []

    lines = []
    for kind in sorted(_ADVICE, key=lambda kind: -counts[kind])[:2]:
        if counts[kind]:
            meaning, remedy = _ADVICE[kind]
            among = read_for_commands(counts) if kind == "no_command" else answers
            lines.append(f"{counts[kind]} of {among} answers {meaning}: {remedy}.")
    return lines
