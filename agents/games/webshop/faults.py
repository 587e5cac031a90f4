"""What was wrong with a purchase in WebShop."""

from __future__ import annotations

from textcraft_gym.agents.contract.attempt import Attempt, Fault
from textcraft_gym.agents.games.webshop.pages import BUY, chosen, read_item

_BUY = f"click[{BUY}]".lower()


def fault(attempt: Attempt) -> Fault | None:
    """Return whether an option that the instruction names was not chosen, or the product is wrong.

    Without a purchase there is no fault of one.
    """
    if not attempt.turns or attempt.turns[-1][0].lower() != _BUY or attempt.refused:
        return None
    clicked = {action.lower() for action, _ in attempt.turns}
    items = [item for _, page in attempt.turns if (item := read_item(page))]
    for values in items[-1].options.values() if items else ():
        named = chosen(values, attempt.opening)
        if named and f"click[{named}]".lower() not in clicked:
            return "missing part"
    return "wrong thing"
