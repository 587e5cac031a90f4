"""Whether a step of a plan holds in the shop, as far as a customer's state can tell.

Whether a product meets criteria, as ``SimpleMatch`` and ``DetailMatch`` ask, it cannot.
"""

from __future__ import annotations

import re

from textcraft_gym.envs.webshop.state import State

_SEARCH = re.compile(r"search(?:\[| for | )(.+?)\]?", re.IGNORECASE)
_BUY = re.compile(r"buy\[(.*)\]", re.IGNORECASE)
_NO_OPTION = ("", "no option")


def holds(state: State, step: str) -> bool | None:
    """Return whether results are shown, or a product with just the named options was bought.

    None of any other step.
    """
    line = step.strip()
    if _SEARCH.fullmatch(line):
        return state.page == "results" and bool(state.results)
    if match := _BUY.fullmatch(line):
        return state.page == "done" and _are_chosen(state, match[1].lower())
    return None


def _are_chosen(state: State, options: str) -> bool:
    """Return whether the chosen values are those of a list, whose values may hold commas."""
    # The longest first: one value may be a part of another.
    for _, value in sorted(state.chosen, key=lambda pair: -len(pair[1])):
        before, named, after = options.partition(value.lower())
        if not named:
            return False
        options = before + after
    return options.strip(" ,;") in _NO_OPTION
