"""Whether steps of plans hold in a shop made by hand."""

from __future__ import annotations

import pytest

from tests.envs.webshop.test_rules import TO_LAMP, walk
from textcraft_gym.envs.webshop.steps import holds

CHOSEN = (*TO_LAMP, "click[dark blue]", "click[large]")


@pytest.mark.parametrize(
    ("clicks", "step", "held"),
    [
        ((), "Search[lamp]", False),
        (TO_LAMP[:1], "Search[reading lamp]", True),
        (TO_LAMP[:1], "search for a lamp", True),
        (("search[nothing of this]",), "Search[nothing of this]", False),
        (TO_LAMP, "Search[lamp]", False),
        (CHOSEN, "Buy[dark blue, large]", False),
        ((*CHOSEN, "click[buy now]"), "Buy[dark blue, large]", True),
        ((*CHOSEN, "click[buy now]"), "Buy[large, Dark Blue]", True),
        ((*CHOSEN, "click[buy now]"), "Buy[dark blue]", False),  # more than was named
        ((*CHOSEN, "click[buy now]"), "Buy[dark blue, small]", False),
        ((*CHOSEN[:3], "click[buy now]"), "Buy[dark blue, large]", False),
        ((*TO_LAMP, "click[buy now]"), "Buy[no option]", True),
        ((*TO_LAMP, "click[buy now]"), "Buy[large]", False),
        (TO_LAMP[:1], "SimpleMatch[lamp: energy efficient]", None),
        (TO_LAMP, "DetailMatch[B0LAMP0001, energy efficient]", None),
        (TO_LAMP, "open lamp: energy efficient; large; below 30", None),
    ],
)
def test_holds__asks_the_customers_state(clicks: tuple[str, ...], step: str, held: bool | None):
    assert holds(walk(*clicks), step) is held
