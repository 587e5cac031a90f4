"""DEPS's selector: of the goals that can be pursued now, prefer the one that is likely reached soonest.

The probability of each goal is the softmax of its negative horizon, the time until it is reached. A selector returns
horizons; those that keep to the plan's order or pick at random do so through the horizons that they return.

Source: Wang et al., Describe, Explain, Plan and Select, 2023, section 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from textcraft_gym.agents.contract.controller import Controller, Scene, SubgoalController
from textcraft_gym.agents.contract.goals import KINDS, Goal, has, is_reached
from textcraft_gym.agents.deps.horizon import learned_horizon

TAU = 10.0
"""Temperature of the softmax, in ticks."""


class Selector(Protocol):
    """Estimates the horizons of goals.

    Attributes:
        env_args: The ``gym.make`` arguments that it requires.
    """

    env_args: ClassVar[Mapping[str, Any]]

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Return the horizon of each goal, in ticks; ``info`` is that of the last step."""


class FixedSelector:
    """Keeps to the order of the plan."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Return 0 for the first goal and infinity for the others."""
        return [0.0, *[math.inf] * (len(goals) - 1)]


class RandomSelector:
    """Picks uniformly at random."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Return the same horizon for every goal."""
        return [0.0] * len(goals)


class LearnedSelector:
    """Estimates horizons from the text alone, by a regression fitted to another player's trajectories.

    Raises:
        ValueError: If none was fitted for the game.
    """

    env_args: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, controller: SubgoalController, game: str) -> None:
        self.controller = controller
        self.horizon = learned_horizon(game)

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Return the expected ticks of each goal's subgoal."""
        return [self.horizon.expected(self.controller.subgoal(goal, scene)) for goal in goals]


class OracleSelector:
    """Reads the true costs from ``info["costs"]``; an item without a cost is made at once."""

    env_args: ClassVar[Mapping[str, Any]] = {"costs": True}

    def __init__(self, controller: SubgoalController) -> None:
        self.controller = controller

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Return the ticks of each goal's subgoal: the walk, and the work on each missing item."""
        subgoals = [self.controller.subgoal(goal, scene) for goal in goals]
        costs = [info["costs"].get(subgoal.item, (0, 0)) for subgoal in subgoals]
        return [walk + each * subgoal.amount for subgoal, (walk, each) in zip(subgoals, costs, strict=True)]


SELECTORS = ("fixed", "random", "learned", "oracle")


def make_selector(name: str, controller: Controller, game: str) -> Selector:
    """Return a selector by its name.

    Raises:
        ValueError: If there is none of that name, or the game's controller cannot estimate horizons.
    """
    if name == "fixed":
        return FixedSelector()
    if name == "random":
        return RandomSelector()
    if name not in SELECTORS:
        raise ValueError(f"expected selector to be one of {', '.join(SELECTORS)}, got {name!r}")
    if not isinstance(controller, SubgoalController):
        raise ValueError(f"nothing takes time in the game {game}: the selector is fixed or random there")
    return LearnedSelector(controller, game) if name == "learned" else OracleSelector(controller)


def candidates(pending: Mapping[int, Sequence[Goal]], held: Mapping[str, int]) -> dict[int, Sequence[Goal]]:
    """Return the goals that can be pursued now, by their numbers, each with those of its alternatives that can.

    An alternative is ready if its materials and tool are held, and free if it also takes nothing that another goal has
    in reserve. Goals that are reached already take nothing and need no reserve. If no goal is reached or free, the
    candidate is the first that is ready, or else the first of all.

    Args:
        pending: The alternatives of each goal that is not finished.
        held: The inventory.
    """
    reached = {step: ways[:1] for step, ways in pending.items() if _any_reached(ways, held)}
    unreached = {step: ways for step, ways in pending.items() if step not in reached}
    ready = {step: _ready(ways, held) for step, ways in unreached.items()}
    free = {step: _free(ways, _without(unreached, step), held) for step, ways in ready.items()}
    possible = {step: ways for step in pending if (ways := reached.get(step) or free[step])}
    if possible or not unreached:
        return possible
    # Each goal waits for what another has in reserve, so one of them must take it.
    first = next((step for step, ways in ready.items() if ways), next(iter(unreached)))
    return {first: ready[first] or unreached[first]}


def choose(
    can: Mapping[int, Sequence[Goal]], horizons: Callable[[Sequence[Goal]], Sequence[float]], uniform: float
) -> tuple[int, Goal]:
    """Return the number of the goal to pursue next, and its alternative with the shortest horizon.

    Args:
        can: The goals that can be pursued, with their alternatives.
        horizons: Returns the horizon of each of some alternatives.
        uniform: A draw from [0, 1), by which the goal is sampled.
    """
    ways = [(step, goal) for step, goals in can.items() for goal in goals]
    soonest: dict[int, tuple[float, Goal]] = {}
    for (step, goal), horizon in zip(ways, horizons([goal for _, goal in ways]), strict=True):
        if step not in soonest or horizon < soonest[step][0]:
            soonest[step] = horizon, goal
    step = list(soonest)[sample_index([horizon for horizon, _ in soonest.values()], uniform)]
    return step, soonest[step][1]


def sample_index(horizons: Sequence[float], uniform: float, tau: float = TAU) -> int:
    """Return an index, sampled from the softmax of ``-horizon / tau`` by a draw from [0, 1)."""
    shortest = min(horizons)
    weights = [math.exp((shortest - horizon) / tau) for horizon in horizons]
    left = uniform * sum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return horizons.index(shortest)  # rounding left a rest


def _any_reached(ways: Sequence[Goal], held: Mapping[str, int]) -> bool:
    return any(is_reached(way, held) for way in ways)


def _ready(ways: Sequence[Goal], held: Mapping[str, int]) -> list[Goal]:
    return [way for way in ways if _is_ready(way, held)]


def _without(goals: Mapping[int, Sequence[Goal]], step: int) -> list[Sequence[Goal]]:
    return [ways for other, ways in goals.items() if other != step]


def _is_ready(goal: Goal, held: Mapping[str, int]) -> bool:
    return all(has(held, name) >= count for name, count in goal.needs.items())


def _free(ready: Sequence[Goal], others: Sequence[Sequence[Goal]], held: Mapping[str, int]) -> list[Goal]:
    """Return the ready alternatives that block no other goal."""
    return [way for way in ready if not any(_blocks(way, ways, held) for ways in others)]


def _blocks(goal: Goal, others: Sequence[Goal], held: Mapping[str, int]) -> bool:
    """Return whether a goal takes another's reserve and leaves that no alternative that is ready."""
    spared = [other for other in others if not _takes_reserve(goal, other, held)]
    return len(spared) < len(others) and not _ready(spared, held)


def _takes_reserve(goal: Goal, other: Goal, held: Mapping[str, int]) -> bool:
    """Return whether enough of a material or tool is held for another goal, and no longer after this one."""
    return any(
        has(held, name) >= count > has(held, name) - _most_used(goal, name) for name, count in other.needs.items()
    )


def _most_used(goal: Goal, name: str) -> int:
    """Return how many of an item a goal may use up: its own share, and that of its kind."""
    kind = name.rpartition(" ")[2]
    # A goal that uses any planks may take oak planks, but has() counts members for a kind only.
    of_kind = goal.uses.get(kind, 0) if kind in KINDS and kind != name else 0
    return has(goal.uses, name) + of_kind
