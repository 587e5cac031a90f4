"""The rules: the click targets of each page, and the page that an action leads to."""

from __future__ import annotations

from typing import NamedTuple

from textcraft_gym.envs.turn import Turn
from textcraft_gym.envs.webshop.actions import CLICK, SEARCH, can_be_clicked, click, parse
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.queries import searches
from textcraft_gym.envs.webshop.state import START, Shop, State, Transition
from textcraft_gym.envs.webshop.text import observation

TYPE_FIRST = "search"
BACK_TO_SEARCH = "back to search"
PREVIOUS = "< prev"
NEXT = "next >"
BUY = "buy now"

UNKNOWN_ACTION = "unknown_action"
NOT_ON_PAGE = "not_on_page"
NOTHING_TYPED = "nothing_typed"
REASONS = (UNKNOWN_ACTION, NOT_ON_PAGE, NOTHING_TYPED)


class World(NamedTuple):
    """One customer in a shop.

    Attributes:
        shop: The shop.
        goal: The customer's goal.
    """

    shop: Shop
    goal: Goal


def apply(
    world: World,
    state: State,
    action: str,
) -> Turn[State]:
    """Play an action, which may be any string; an invalid one changes nothing."""
    move = navigate(world.shop, state, action)
    return move.state, read(world, move), move.reason, ""


def read(world: World, move: Transition) -> str:
    """Return the observation after a move."""
    state, score = move.state, 0.0
    if state.page == "done":
        score = world.shop.judge(world.goal, state.asin, dict(state.chosen)).score
    return observation(world.shop, world.goal.instruction, move, score)


def navigate(shop: Shop, state: State, action: str) -> Transition:
    """Return the next state of an action, without the text of the page."""
    name, argument = parse(action)
    if name == CLICK:
        return _clicked(shop, state, argument)
    if name != SEARCH:
        return Transition(state, UNKNOWN_ACTION)
    if not shop.has_search(state):
        return Transition(state, NOT_ON_PAGE)
    # As in the original, only the way back to the index page forgets what was visited.
    return Transition(State("results", shop.search(argument), visited=state.visited))


def clickables(shop: Shop, state: State) -> tuple[str, ...]:
    """Return the click targets of a page, in the order of the original.

    The search button of the index page is included, though clicking it does nothing without
    ``search[words]``.
    """
    if state.page == "index":
        return (TYPE_FIRST,)
    if state.page == "results":
        back = (PREVIOUS,) if state.number > 1 else ()
        return (BACK_TO_SEARCH, *back, NEXT, *[asin.lower() for asin in shop.shown(state)])
    if state.page == "item":
        targets = (BACK_TO_SEARCH, PREVIOUS, *shop.sub_pages, BUY, *shop.options(state.asin))
        return tuple(dict.fromkeys(targets))  # an option value may be named like a button
    return (BACK_TO_SEARCH, PREVIOUS) if state.page == "sub" else ()


def admissible_commands(
    shop: Shop,
    state: State,
    instruction: str,
) -> list[str]:
    """Return every action that does something; of searches, those that the instruction suggests.

    An option value with an opening bracket is shown but cannot be clicked, since the bracket
    changes how it is parsed.
    """
    commands = [
        click(target)
        for target in clickables(shop, state)
        if target != TYPE_FIRST and can_be_clicked(target)
    ]
    if shop.has_search(state):
        commands += searches(instruction)
    return commands


def _clicked(shop: Shop, state: State, target: str) -> Transition:
    if target == TYPE_FIRST:
        return Transition(state, NOTHING_TYPED if state.page == "index" else NOT_ON_PAGE)
    if state.page == "results":
        after = _from_results(shop, state, target)
    elif state.page == "item":
        after = _from_item(shop, state, target)
    elif state.page == "sub":
        after = _from_sub_page(state, target)
    else:
        after = None
    return after or Transition(state, NOT_ON_PAGE)


def _from_results(shop: Shop, state: State, target: str) -> Transition | None:
    if target == NEXT:  # as in the original, also past the last page
        return Transition(state._replace(number=state.number + 1))
    if target == PREVIOUS and state.number > 1:
        return Transition(state._replace(number=state.number - 1))
    for asin in shop.listed(state):
        if asin.lower() == target:
            return Transition(
                state._replace(page="item", asin=asin, visited=state.visited | {asin})
            )
    return Transition(START) if target == BACK_TO_SEARCH else None


def _from_item(shop: Shop, state: State, target: str) -> Transition | None:
    """Follow a click on a product's page."""
    # Buttons come first: as in the original, a value named like one is the button.
    if target == BUY:
        return Transition(state._replace(page="done"))
    if target in shop.sub_pages:
        return Transition(state._replace(page="sub", sub_page=target))
    # As in the original, options are lost here, but kept on the way back from a sub-page.
    if target == PREVIOUS:
        return Transition(state._replace(page="results", asin="", chosen=()))
    if target == BACK_TO_SEARCH:
        return Transition(START)
    option = shop.options(state.asin).get(target)
    if option is None:
        return None
    chosen = {**dict(state.chosen), option: target}
    return Transition(state._replace(chosen=tuple(sorted(chosen.items()))), chosen=target)


def _from_sub_page(state: State, target: str) -> Transition | None:
    if target == PREVIOUS:
        return Transition(state._replace(page="item", sub_page=""))
    return Transition(START) if target == BACK_TO_SEARCH else None
