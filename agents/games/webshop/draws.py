"""Random actions of what WebShop's pages show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from textcraft_gym.agents.contract.attempt import Turn
from textcraft_gym.agents.contract.draws import pick
from textcraft_gym.agents.games.webshop.pages import has_search, query

_BUTTON = re.compile(r"\[([^\[\]\n]+)\]")
_INSTRUCTION = re.compile(r"Instruction:\s+(.*?)\s+\[Search\]", re.DOTALL)


def draw(opening: str, turns: Sequence[Turn], rng: Random) -> str:
    """Return a search for successive words of the instruction, or a click on what is shown."""
    page = next((answer for _, answer in reversed(turns) if _BUTTON.search(answer)), opening)
    if has_search(page):
        instruction = _INSTRUCTION.search(opening)
        words = (instruction[1] if instruction else opening).split()
        first = pick(range(len(words)), rng)
        return query(" ".join(words[first : pick(range(first, len(words)), rng) + 1]))
    return f"click[{pick(_BUTTON.findall(page) or ['Back to Search'], rng).lower()}]"
