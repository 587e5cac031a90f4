"""Thoughts for demonstrations: the reasoning of a customer who follows a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence

from textcraft_gym.envs.webshop.actions import parse, search
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.queries import searches
from textcraft_gym.envs.webshop.rules import BUY, NEXT, navigate
from textcraft_gym.envs.webshop.state import START, State, Transition
from textcraft_gym.envs.webshop.tasks import Task


def thoughts(task: Task, plan: Sequence[str]) -> list[str]:
    """Return the thought before each action of a winning plan."""
    written: list[str] = []
    state = START
    for action in plan:
        turn = navigate(task.market, state, action)
        written.append(_thought(task, state, action, turn))
        state = turn.state
    return written


def _thought(
    task: Task,
    before: State,
    action: str,
    turn: Transition,
) -> str:
    after = turn.state
    _, target = parse(action)
    if turn.chosen:
        option = task.market.options(after.asin)[turn.chosen]
        return f"Of {option} I choose {turn.chosen}, which is what was asked for."
    if action == search(task.goal.instruction):
        return "I search in the words of the instruction, which say what it must be."
    if action in searches(task.goal.instruction):
        return "I search for what tells most in the instruction."
    if after.page == "results" and target not in (NEXT, BUY) and before.page != "results":
        return "I search in the words in which a shop would describe what is asked for."
    if after.page == "results":
        return "Nothing on this page is what I want, so I look at another."
    if after.page == "done":
        return f"{_summary(before)}, so I buy it."
    if after.page == "item":
        product = task.market.products[after.asin]
        price = _in_bounds(task.goal, product.price_tag)
        return f"{product.title} is what was asked for{price}. I look at it."
    return ""


def _in_bounds(goal: Goal, price_tag: str) -> str:
    """Return the clause about the price, which meets the bound if there is one."""
    if math.isinf(goal.price_upper):
        return f", and costs {price_tag}"
    return f", and at {price_tag} within the {goal.price_upper:.2f} dollars that it may cost"


def _summary(state: State) -> str:
    """Return the clause about the product and the chosen options."""
    chosen = " and ".join(value for _, value in state.chosen)
    if not chosen:
        return "The product fits, and no option was asked for"
    return f"The product fits, with {chosen} chosen"
