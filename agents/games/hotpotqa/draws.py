"""Random actions of what a question and the pages read so far name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from textcraft_gym.agents.contract.attempt import Turn
from textcraft_gym.agents.contract.draws import pick

_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]*)*")
_WORD = re.compile(r"\b[a-z]{3,}\b")


def draw(opening: str, turns: Sequence[Turn], rng: Random) -> str:
    """Return a search or an answer of a name that was read, or a look for a question's word."""
    question = opening.removeprefix("Question: ").partition(" ")[2]
    text = "\n".join([question, *(answer for _, answer in turns)])
    names = list(dict.fromkeys(_NAME.findall(text))) or ["nothing"]
    words = _WORD.findall(question) or ["the"]
    actions = (
        f"search[{pick(names, rng)}]",
        f"lookup[{pick(words, rng)}]",
        f"finish[{pick([*names, 'yes', 'no'], rng)}]",
    )
    return pick(actions, rng)
