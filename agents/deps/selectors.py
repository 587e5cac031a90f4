"""DEPS's selector: which goals can be pursued now, and which of them is: the one that is likely reached soonest.

How likely each is taken is the softmax of its horizon, the time until it is reached, with the sign turned round. What a
selector has to say is the horizon of each; one that keeps to the order of the plan, or has no preference, says so in
the same way.

Source: Wang et al., Describe, Explain, Plan and Select, 2023, section 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from textcraft_gym.agents.contract.controller import Controller, RangingController, Scene
from textcraft_gym.agents.contract.goals import KINDS, Goal, has, is_reached
from textcraft_gym.agents.deps.horizon import learned_horizon

TAU = 10.0
"""So many ticks make one goal less likely than another by a factor of e."""


class Selector(Protocol):
    """Says how soon each of several goals is reached.

    Attributes:
        env_args: What the environment must be made with.
    """

    env_args: ClassVar[Mapping[str, Any]]

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Return a time for each goal, in ticks; ``info`` is that of the last step."""


class FixedSelector:
    """Keeps to the order of the plan."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Put off all but the first."""
        return [0.0, *[math.inf] * (len(goals) - 1)]


class RandomSelector:
    """Takes one goal as readily as another."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Say the same of all."""
        return [0.0] * len(goals)


class LearnedSelector:
    """Knows from the trajectories of another player how long goals take; it sees nothing but texts.

    Raises:
        ValueError: If nothing was learned for the game.
    """

    env_args: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, controller: RangingController, game: str) -> None:
        self.controller = controller
        self.horizon = learned_horizon(game)

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Return what is expected of each."""
        return [self.horizon.expected(self.controller.errand(goal, scene)) for goal in goals]


class OracleSelector:
    """Is told by the environment how long things take. What is made takes as long at any time, and is made at once."""

    env_args: ClassVar[Mapping[str, Any]] = {"costs": True}

    def __init__(self, controller: RangingController) -> None:
        self.controller = controller

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        """Return what each takes."""
        errands = [self.controller.errand(goal, scene) for goal in goals]
        costs = [info["costs"].get(errand.item, (0, 0)) for errand in errands]
        return [walk + each * errand.amount for errand, (walk, each) in zip(errands, costs, strict=True)]


SELECTORS = ("fixed", "random", "learned", "oracle")


def make_selector(name: str, controller: Controller, game: str) -> Selector:
    """Return a selector by its name.

    Raises:
        ValueError: If there is none of that name, or the game has nothing by which it could tell horizons.
    """
    if name == "fixed":
        return FixedSelector()
    if name == "random":
        return RandomSelector()
    if name not in SELECTORS:
        raise ValueError(f"expected selector to be one of {', '.join(SELECTORS)}, got {name!r}")
    if not isinstance(controller, RangingController):
        raise ValueError(f"nothing takes time in the game {game}: the selector is fixed or random there")
    return LearnedSelector(controller, game) if name == "learned" else OracleSelector(controller)


def candidates(pending: Mapping[int, Sequence[Goal]], held: Mapping[str, int]) -> dict[int, Sequence[Goal]]:
    """Return the goals that can be pursued now, by their numbers, and those of their alternatives that can.

    Their materials and tool are held, and they use up nothing that is in reserve for another goal. Where there is none,
    it is the first that has all it takes, or the first. What is reached takes nothing any more.

    Args:
        pending: The alternatives of each goal that is not finished.
        held: What is held.
    """
    reached = {step: ways[:1] for step, ways in pending.items() if any(is_reached(one, held) for one in ways)}
    left = {step: ways for step, ways in pending.items() if step not in reached}
    can = {step: [one for one in ways if _is_ready(one, held)] for step, ways in left.items()}
    free = {
        step: [one for one in ways if not any(_eats(one, left[other], held) for other in left if other != step)]
        for step, ways in can.items()
    }
    now = {step: ways for step in pending if (ways := reached.get(step) or free[step])}
    if now or not left:
        return now
    first = next((step for step in left if can[step]), next(iter(left)))
    return {first: can[first] or left[first]}


def choose(
    can: Mapping[int, Sequence[Goal]], horizons: Callable[[Sequence[Goal]], Sequence[float]], number: float
) -> tuple[int, Goal]:
    """Return a goal's number and its alternative that is reached soonest, the first of equals.

    Args:
        can: The goals that can be pursued, with their alternatives.
        horizons: Returns the time of each of some alternatives.
        number: From 0 to 1, drawn by chance.
    """
    ways = [(step, goal) for step, goals in can.items() for goal in goals]
    soonest: dict[int, tuple[float, Goal]] = {}
    for (step, goal), time in zip(ways, horizons([goal for _, goal in ways]), strict=True):
        if step not in soonest or time < soonest[step][0]:
            soonest[step] = time, goal
    step = list(soonest)[draw([time for time, _ in soonest.values()], number)]
    return step, soonest[step][1]


def draw(horizons: Sequence[float], number: float, tau: float = TAU) -> int:
    """Return a place, each as likely as the softmax of ``-horizon / tau`` makes it, by a number from 0 to 1."""
    least = min(horizons)
    weights = [math.exp((least - horizon) / tau) for horizon in horizons]
    left = number * sum(weights)
    for place, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return place
    return horizons.index(least)


def _is_ready(goal: Goal, held: Mapping[str, int]) -> bool:
    return all(has(held, name) >= count for name, count in goal.needs.items())


def _eats(goal: Goal, others: Sequence[Goal], held: Mapping[str, int]) -> bool:
    """Whether a goal uses up what another has in reserve, and leaves that no alternative which can be pursued."""
    spared = [other for other in others if not _uses_up(goal, other, held)]
    return len(spared) < len(others) and not any(_is_ready(other, held) for other in spared)


def _uses_up(goal: Goal, other: Goal, held: Mapping[str, int]) -> bool:
    """Whether enough of something, material or tool, is there for another goal, and no longer after this one."""
    return any(has(held, name) >= count > has(held, name) - _uses(goal, name) for name, count in other.needs.items())


def _uses(goal: Goal, name: str) -> int:
    """Return how many of a thing a goal uses up at the most, where it may take any of a kind."""
    kind = name.rpartition(" ")[2]
    return has(goal.uses, name) + (goal.uses.get(kind, 0) if kind in KINDS and kind != name else 0)
