"""Explains in words why an action did nothing, using only information on the page."""

from __future__ import annotations

from textcraft_gym.envs.webshop.actions import SEARCH, parse
from textcraft_gym.envs.webshop.rules import NOT_ON_PAGE, NOTHING_TYPED, clickables
from textcraft_gym.envs.webshop.state import Shop, State

FORMS = "Actions are: search[words]; click[what]."
_ECHOED = 200


def explain(
    shop: Shop,
    state: State,
    action: str,
    reason: str,
) -> str:
    """Explain why an action did nothing, given the code of ``rules.REASONS``."""
    if reason == NOTHING_TYPED:
        return "A search needs words: search[words]."
    if reason == NOT_ON_PAGE:
        name, target = parse(action)
        missing = "search box" if name == SEARCH else repr(target[:_ECHOED])
        targets = ", ".join(clickables(shop, state))
        return f"There is no {missing} on this page. There is: {targets}."
    return FORMS
