"""The best order of a plan's goals, which no selector can beat: an exact search over all orders by the true rules.

A selector decides which of the possible goals is pursued next, and which of its alternatives. The search tries every
decision with the agent's own controller on the rules of the world, walks included, and finds the cheapest sequence that
wins (Dijkstra 1959). Orders that lead to the same goals left, place and inventory are merged: the future is the same
for them, and only the one with the fewest ticks can be best.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator, Mapping
from itertools import count
from typing import Any

from textcraft_gym.agents.contract.agent import Act, Play, Request, Step
from textcraft_gym.agents.contract.goals import Goal, is_reached
from textcraft_gym.agents.deps.selector import candidates
from textcraft_gym.agents.games.minetechtree.controller import TechTreeController
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import FIRST, Game, State, is_won

CONTROLLER = TechTreeController(Prompts())
NOWHERE = Step("", 0.0, False, False, {})


def fewest_ticks(game: Game, goals: Mapping[int, Goal]) -> int | None:
    """Return the ticks of the best order in which the goals of a plan win; None if they win in none.

    Args:
        game: A world in which nothing is left to chance, and distances are told exactly.
        goals: The goals of the plan, by number.
    """
    order = count()  # of entries with equal ticks, which cannot be compared
    queue = [(0, next(order), frozenset(goals), FIRST)]
    best: dict[object, int] = {}
    while queue:
        ticks, _, pending, state = heapq.heappop(queue)
        if is_won(game, state):
            return ticks
        if ticks > best.get(_future(pending, state), ticks):
            continue
        for step, after in _decisions(game, {number: goals[number] for number in sorted(pending)}, state):
            left = pending - {step}
            key = _future(left, after)
            if after.ticks < best.get(key, game.limit + 1):
                best[key] = after.ticks
                heapq.heappush(queue, (after.ticks, next(order), left, after))
    return None


def _future(pending: frozenset[int], state: State) -> object:
    """Return all that the rest of a game depends on, but for the ticks."""
    inventory, equipped = frozenset(state.inventory.items()), frozenset(state.equipped.items())
    return pending, state.at, inventory, equipped, state.obtained


def _decisions(game: Game, pending: Mapping[int, Goal], state: State) -> Iterator[tuple[int, State]]:
    """Yield each goal that a selector may pick, by number, with the state after it; not those that fail."""
    scene, _ = _played(game, state, CONTROLLER.look(Play(NOWHERE)))
    possible = candidates({step: CONTROLLER.alternatives(goal, scene) for step, goal in pending.items()}, scene.held)
    for step, goals in possible.items():
        for goal in goals:
            if is_reached(goal, scene.held):
                yield step, state
                continue
            reason, after = _played(game, state, CONTROLLER.pursue(Play(NOWHERE), goal, scene))
            if reason is None:
                yield step, after


def _played(game: Game, state: State, routine: Generator[Request, Any, Any]) -> tuple[Any, State]:
    """Return what a routine of the controller returns, and the state that it leads to; it ends with a win."""
    request = next(routine)
    while True:
        if not isinstance(request, Act):
            raise TypeError(f"expected a controller that only acts, got {request!r}")
        state, answer, *_ = apply(game, state, request.text)
        if is_won(game, state):
            return None, state
        try:
            request = routine.send(Step(answer, 0.0, False, False, {}))
        except StopIteration as stop:
            return stop.value, state
