"""What to change where a model's answers were often of no use, so that the success says little about the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

OFTEN = 0.1
"""Share of the answers of a run above which something is said about them."""

_LENGTH = "raise the agent option max_tokens=N, and the model option reasoning_tokens=N where the model reasons"
_ADVICE = {
    "empty": (
        "had no text",
        f"an answer may be spent on reasoning: {_LENGTH}; or try the model option endpoint=chat",
    ),
    "cut": ("were cut off", f"the limit of tokens is too low: {_LENGTH}"),
    "no_command": (
        "held no command of the game",
        "the model answers in another form: try the agent options form=chat or form=tools, and reading=lenient",
    ),
}
"""What each kind of reply is, and its likely cause with the options that mend it."""


def advice(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each kind of useless answer; none unless they are more than ``OFTEN`` of all answers.

    Args:
        records: Episode records, whose ``replies`` count the answers by kind and ``calls`` all of
            them.
    """
    counts: Counter[str] = Counter()
    asked = 0
    for record in records:
        counts.update(record["replies"])
        asked += sum(record["calls"].values())
    if sum(counts[kind] for kind in _ADVICE) <= OFTEN * asked:
        return []
    found = sorted((kind for kind in _ADVICE if counts[kind]), key=lambda kind: -counts[kind])
    return [
        f"{counts[kind]} of {asked} answers {_ADVICE[kind][0]}: {_ADVICE[kind][1]}."
        for kind in found[:2]
    ]
