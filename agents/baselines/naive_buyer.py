"""The naive buyer, the rule baseline of WebShop's paper: searches and buys the first result."""

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
    """Buys the first product that the instruction's words find, with no option chosen.

    It reads every format.

    In a game without such an instruction it does nothing. Source: Yao et al., WebShop, 2022.

    Attributes:
        games: The games that it plays.
    """

    asks: ClassVar[bool] = False
    games: ClassVar[tuple[str, ...]] = ("webshop",)

    def episode(self, play: Play) -> Routine:
        """Search, open, buy: the purchase is its claim of success."""
        instruction = _INSTRUCTION.search(play.first.observation)
        if instruction is None:
            return None
        results = yield from play.act(query(instruction[1]))
        # The page repeats the instruction, which may name another product.
        product = ASIN.search(results.observation.replace(instruction[1], ""))
        if product:
            yield from play.act(f"click[{product[0].lower()}]")
            yield from play.act("click[buy now]", claim=True)
        return None
