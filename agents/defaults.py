"""The default settings of each agent in each game, in one table.

Those of TextCraft, ALFWorld and WebShop are the ADaPT paper's (Prasad et al. 2023); the tech tree
has TextCraft's. HotpotQA has those of the papers of ReAct and Reflexion, and ReAct's for agents
that were not played there. Those of planners of goals are the DEPS paper's (Wang et al. 2023);
AutoPlan (Ouyang and Li 2023) and AdaPlanner (Sun et al. 2023) have their own papers'.
``docs/budgets.md`` has them beside the papers' and their code's. An agent's ``settings`` override
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from textcraft_gym.errors import at_least

MAX_DEPTH = 20
"""Largest ``d_max``: far deeper than any task needs, and shallow enough for Python's stack."""
UNSET: Any = None
"""In place of a number that is left to the table."""


@dataclass(frozen=True)
class Settings:
    """Numbers that an agent plays by; each agent uses only those that its ``uses`` names.

    What is left out is the table's number for the agent and the game, so that
    ``Settings(turns=30)`` changes the turns alone. An agent's attribute ``settings`` has them all.

    Attributes:
        turns: Maximum number of turns of one attempt, thoughts included.
        patience: Consecutive no-op turns after which the attempt ends.
        max_tokens: Maximum number of tokens of one turn, or of the answer to a question of a plan.
        chat_tokens: The same of a turn of a chat model, which may think before it acts; if left
            out, ``max_tokens`` bounds both.
        planner_tokens: Maximum number of tokens of a plan.
        d_max: Maximum depth of decomposition; of Try-Again and Reflexion, the maximum number of
            trials.
        lookahead: Maximum number of turns of one simulation of a tree search, of which ``turns`` is
            the depth.

    Raises:
        ValueError: If a number is less than 1, or ``d_max`` is larger than ``MAX_DEPTH``.
    """

    turns: int = UNSET
    patience: int = UNSET
    max_tokens: int = UNSET
    chat_tokens: int = UNSET
    planner_tokens: int = UNSET
    d_max: int = UNSET
    lookahead: int = UNSET

    def __post_init__(self) -> None:
        for name, value in self.chosen().items():
            at_least(name, value, 1)
        if (self.d_max or 1) > MAX_DEPTH:
            raise ValueError(f"expected d_max in 1..{MAX_DEPTH}, got {self.d_max}")

    def chosen(self) -> dict[str, int]:
        """Return the numbers that are set, by name."""
        return {name: value for name, value in vars(self).items() if value is not UNSET}


GENERAL = Settings(
    turns=20,
    patience=8,
    max_tokens=150,
    chat_tokens=512,
    planner_tokens=800,
    d_max=3,
    lookahead=15,
)
"""The numbers that no row of the table states."""

REACT_AT_1 = ("adapt", "reflexion", "try_again")
"""Agents that are ReAct alone at a ``d_max`` of 1, and so have its settings there."""

DEFAULTS: Mapping[tuple[str, str], Settings] = {
    # Attempts at one step of a plan, and single trials.
    ("adapt", "alfworld"): Settings(
        turns=20,
        patience=5,
        max_tokens=100,
        planner_tokens=400,
        d_max=3,
    ),
    ("adapt", "default"): Settings(
        turns=20,
        patience=8,
        max_tokens=150,
        planner_tokens=800,
        d_max=3,
    ),
    # Not played there: each step has ReAct's turns.
    ("adapt", "hotpotqa"): Settings(
        turns=14,
        patience=14,
        max_tokens=100,
        planner_tokens=400,
        d_max=3,
    ),
    # TextCraft's, the most similar published game.
    ("adapt", "minetechtree"): Settings(
        turns=20,
        patience=8,
        max_tokens=150,
        planner_tokens=800,
        d_max=4,
    ),
    # The paper's turns; its program has 40.
    ("adapt", "textcraft"): Settings(
        turns=20,
        patience=8,
        max_tokens=150,
        planner_tokens=800,
        d_max=4,
    ),
    ("adapt", "webshop"): Settings(
        turns=15,
        patience=3,
        max_tokens=100,
        planner_tokens=800,
        d_max=3,
    ),
    ("plan_and_execute", "alfworld"): Settings(
        turns=20,
        patience=5,
        max_tokens=100,
        planner_tokens=400,
    ),
    ("plan_and_execute", "default"): Settings(
        turns=20,
        patience=8,
        max_tokens=150,
        planner_tokens=800,
    ),
    ("plan_and_execute", "hotpotqa"): Settings(
        turns=14,
        patience=14,
        max_tokens=100,
        planner_tokens=400,
    ),
    ("plan_and_execute", "webshop"): Settings(
        turns=15,
        patience=3,
        max_tokens=100,
        planner_tokens=800,
    ),
    ("reflexion", "alfworld"): Settings(turns=20, patience=5, max_tokens=100, d_max=3),
    ("reflexion", "default"): Settings(turns=20, patience=8, max_tokens=150, d_max=3),
    # As published: six thoughts and six actions a trial.
    ("reflexion", "hotpotqa"): Settings(turns=12, patience=12, max_tokens=100, d_max=5),
    ("reflexion", "minetechtree"): Settings(turns=20, patience=8, max_tokens=150, d_max=4),
    ("reflexion", "textcraft"): Settings(turns=20, patience=8, max_tokens=150, d_max=4),
    ("reflexion", "webshop"): Settings(turns=15, patience=3, max_tokens=100, d_max=3),
    ("try_again", "alfworld"): Settings(turns=20, patience=5, max_tokens=100, d_max=3),
    ("try_again", "default"): Settings(turns=20, patience=8, max_tokens=150, d_max=3),
    # ReAct's turns, and Reflexion's trials.
    ("try_again", "hotpotqa"): Settings(turns=14, patience=14, max_tokens=100, d_max=5),
    ("try_again", "minetechtree"): Settings(turns=20, patience=8, max_tokens=150, d_max=4),
    ("try_again", "textcraft"): Settings(turns=20, patience=8, max_tokens=150, d_max=4),
    ("try_again", "webshop"): Settings(turns=15, patience=3, max_tokens=100, d_max=3),
    # Its turns are actions: thoughts are not counted.
    ("autoplan", "default"): Settings(turns=35, max_tokens=50, planner_tokens=1024),
    ("autoplan", "hotpotqa"): Settings(turns=10, max_tokens=50, planner_tokens=1024),
    # One attempt at the whole task, and so three times the turns.
    ("react", "alfworld"): Settings(turns=60, patience=5, max_tokens=100),
    ("react", "default"): Settings(turns=60, patience=8, max_tokens=150),
    # Seven thoughts and as many actions, as ReAct's paper has them.
    ("react", "hotpotqa"): Settings(turns=14, patience=14, max_tokens=100),
    ("react", "webshop"): Settings(turns=45, patience=3, max_tokens=100),
    # Searches; a turn is a thought and an action.
    ("best_of_n", "alfworld"): Settings(turns=20, max_tokens=300),
    ("best_of_n", "default"): Settings(turns=15, max_tokens=300),
    ("best_of_n", "hotpotqa"): Settings(turns=7, max_tokens=150),
    # Not played there: as many actions as an attempt of other agents.
    ("lats", "alfworld"): Settings(turns=20, max_tokens=300, lookahead=20),
    ("lats", "default"): Settings(turns=15, max_tokens=300, lookahead=15),
    ("lats", "hotpotqa"): Settings(turns=7, max_tokens=150, lookahead=4),
    ("lats", "webshop"): Settings(turns=15, max_tokens=300, lookahead=15),
    ("tree_of_thoughts", "alfworld"): Settings(turns=20, max_tokens=300),
    ("tree_of_thoughts", "default"): Settings(turns=15, max_tokens=300),
    ("tree_of_thoughts", "hotpotqa"): Settings(turns=7, max_tokens=150),
    # The plan is a whole function; an answer may list all the places of a household.
    ("adaplanner", "default"): Settings(max_tokens=400, planner_tokens=1400),
    # Planners of goals, whose plans a controller pursues.
    ("chain_of_thought", "default"): Settings(planner_tokens=1024),
    ("code_as_policies", "default"): Settings(planner_tokens=1024),
    ("dep", "default"): Settings(planner_tokens=1024),
    ("deps", "default"): Settings(planner_tokens=1024),
    ("inner_monologue", "default"): Settings(planner_tokens=100),  # it writes one goal at a time
    ("progprompt", "default"): Settings(planner_tokens=1024),
    ("zero_shot", "default"): Settings(planner_tokens=1024),
}
"""A game without a row for an agent uses the agent's row ``default``."""


def settings_for(
    agent: str,
    game: str,
    settings: Settings | None = None,
) -> Settings:
    """Return all the settings of an agent in a game: its defaults, but for those that are given.

    An agent that a ``d_max`` of 1 makes ReAct alone has ReAct's defaults there, so that both have
    the same budget.

    Args:
        agent: Name of the agent.
        game: Name of the game's profile.
        settings: The numbers to play by in place of the table's.
    """
    given = settings.chosen() if settings else {}
    if agent in REACT_AT_1 and given.get("d_max") == 1:
        agent = "react"
    row = DEFAULTS.get((agent, game)) or DEFAULTS.get((agent, "default"), GENERAL)
    if "max_tokens" in given:
        given.setdefault("chat_tokens", given["max_tokens"])
    return Settings(**(GENERAL.chosen() | row.chosen() | given))
