"""The naive buyer: searches for the instruction and buys the first product, the rule baseline of WebShop's paper."""

from __future__ import annotations

import re
from typing import ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.games.webshop.pages import ASIN, query

_INSTRUCTION = re.compile(
    r"Instruction:\s+(?:\[SEP\] )?(.*?)\s+(?:\[SEP\] Search|\[button\] Search|\[Search\])",
    re.DOTALL,
)


class NaiveBuyerAgent:
    """Buys the first product that the instruction's own words find, with no option chosen; it reads every format.

    In a game without such an instruction it does nothing. Source: Yao et al., WebShop, 2022.

    Attributes:
        games: The games that it plays.
    """

    asks: ClassVar[bool] = False
    games: ClassVar[tuple[str, ...]] = ("webshop",)

    def episode(self, play: Play) -> Routine:
        """Search, open, buy: the purchase is its claim of success."""
        if instruction := _INSTRUCTION.search(play.first.observation):
            results = yield from play.act(query(instruction[1]))
            found = ASIN.search(results.observation.replace(instruction[1], ""))
            if found:
                yield from play.act(f"click[{found[0].lower()}]")
                yield from play.act("click[buy now]", claim=True)
        return None
