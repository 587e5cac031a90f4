"""DEPS's selector: which goals can be pursued now, and which of them is: the one that is likely reached soonest.

How likely each is taken is the softmax of its horizon, the time until it is reached, with the sign turned round. What a
selector has to say is the horizon of each; one that keeps to the order of the plan, or has no preference, says so in
the same way.

Source: Wang et al., Describe, Explain, Plan and Select, 2023, section 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from textcraft_gym.agents.controller import Controller, RangingController, Scene
from textcraft_gym.agents.goals import KINDS, Goal, has, is_reached
from textcraft_gym.agents.horizon import learned_horizon

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


def candidates(pending: Mapping[int, Goal], held: Mapping[str, int]) -> list[int]:
    """Return the numbers of the goals that can be pursued now.

    Their materials and tool are held, and they use up nothing that is in reserve for another goal. Where there is none,
    it is the first that has all it takes, or the first. What is reached takes nothing any more.
    """
    reached = {step for step, goal in pending.items() if is_reached(goal, held)}
    left = {step: goal for step, goal in pending.items() if step not in reached}
    can = [
        step
        for step, goal in pending.items()
        if step in reached or any(_is_ready(one, held) for one in goal.alternatives)
    ]
    free = [
        step
        for step in can
        if step in reached
        or not any(_eats(pending[step], other, held) for number, other in left.items() if number != step)
    ]
    return free or can[:1] or list(pending)[:1]


def ready(alternatives: Sequence[Goal], held: Mapping[str, int]) -> Sequence[Goal]:
    """Return the alternatives whose materials and tool are held; all where there is none."""
    return [one for one in alternatives if _is_ready(one, held)] or alternatives


def choose(horizons: Sequence[float], number: float, tau: float = TAU) -> int:
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


def _eats(goal: Goal, other: Goal, held: Mapping[str, int]) -> bool:
    """Whether another goal has enough of something, material or tool, and has no longer after this one."""
    return any(has(held, name) >= count > has(held, name) - _uses(goal, name) for name, count in other.needs.items())


def _uses(goal: Goal, name: str) -> int:
    """Return how many of a thing a goal uses up at the most, where it may take any of a kind."""
    kind = name.rpartition(" ")[2]
    return has(goal.uses, name) + (goal.uses.get(kind, 0) if kind in KINDS and kind != name else 0)
