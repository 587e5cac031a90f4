"""DEPS's selector: among the goals possible now, prefer the one likely to be reached soonest.

The probability of each goal is the softmax of its negative horizon, the time until it is reached. A
selector returns horizons; ``fixed`` and ``random`` return constant ones that keep the plan's order
or make all goals equally likely.

Source: Wang et al., Describe, Explain, Plan and Select, 2023, section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from textcraft_gym.agents.contract.controller import Controller, Scene, SubgoalController
from textcraft_gym.agents.deps.horizon import has_horizons, learned_horizons
from textcraft_gym.goals import KINDS, Goal, has, is_reached

TAU = 10.0
"""Temperature of the softmax, in ticks; our choice, since the paper's equation 2 has none (1)."""


class Selector(Protocol):
    """Estimates the horizons of goals.

    Attributes:
        env_args: The ``gym.make`` arguments that it requires.
    """

    env_args: ClassVar[Mapping[str, Any]]

    def horizons(
        self,
        goals: Sequence[Goal],
        scene: Scene,
        info: Mapping[str, Any],
    ) -> list[float]:
        """Return the horizon of each goal, in ticks; ``info`` is that of the last step."""


class FixedSelector:
    """Keeps to the order of the plan."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def horizons(
        self,
        goals: Sequence[Goal],
        scene: Scene,
        info: Mapping[str, Any],
    ) -> list[float]:
        """Return 0 for the first goal and infinity for the others."""
        return [0.0, *[math.inf] * (len(goals) - 1)]


class RandomSelector:
    """Picks uniformly at random."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def horizons(
        self,
        goals: Sequence[Goal],
        scene: Scene,
        info: Mapping[str, Any],
    ) -> list[float]:
        """Return the same horizon for every goal."""
        return [0.0] * len(goals)


class NearestSelector:
    """Picks the goal with the nearest source; what is made at once is nearest of all."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, controller: SubgoalController) -> None:
        self.controller = controller

    def horizons(
        self,
        goals: Sequence[Goal],
        scene: Scene,
        info: Mapping[str, Any],
    ) -> list[float]:
        """Return 0 for the nearest goals and infinity for the others."""
        steps = [self.controller.subgoal(goal, scene).steps for goal in goals]
        nearest = min(steps, default=0)
        horizons = [math.inf] * len(steps)
        for index, distance in enumerate(steps):
            if distance == nearest:
                horizons[index] = 0.0
        return horizons


class LearnedSelector:
    """Estimates horizons from text, by a regression on another player's trajectories.

    Raises:
        ValueError: If none was fitted for the game.
    """

    env_args: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, controller: SubgoalController, game: str) -> None:
        self.controller = controller
        self.fitted = learned_horizons(game)

    def horizons(
        self,
        goals: Sequence[Goal],
        scene: Scene,
        info: Mapping[str, Any],
    ) -> list[float]:
        """Return the expected ticks of each goal's subgoal."""
        horizon = self.fitted[scene.sight]
        return [horizon.expected(self.controller.subgoal(goal, scene)) for goal in goals]


SELECTORS = ("fixed", "random", "nearest", "learned")


def default_selector(controller: Controller, game: str) -> str:
    """Return DEPS's own selector where one was learned for a game, else ``fixed``."""
    if isinstance(controller, SubgoalController) and has_horizons(game):
        return "learned"
    return "fixed"


def make_selector(name: str, controller: Controller, game: str) -> Selector:
    """Return a selector by its name.

    Raises:
        ValueError: If there is none of that name, or the game's controller cannot estimate
            horizons.
    """
    if name == "fixed":
        return FixedSelector()
    if name == "random":
        return RandomSelector()
    if name not in SELECTORS:
        raise ValueError(f"expected selector to be one of {', '.join(SELECTORS)}, got {name!r}")
    if not isinstance(controller, SubgoalController):
        raise ValueError(
            f"nothing takes time in the game {game}: the selector is fixed or random there"
        )
    return LearnedSelector(controller, game) if name == "learned" else NearestSelector(controller)


def candidates(
    pending: Mapping[int, Sequence[Goal]],
    held: Mapping[str, int],
) -> dict[int, Sequence[Goal]]:
    """Return the goals that are possible now, by number, each with its possible alternatives.

    An alternative is ready if its materials and tool are held, and free if it also takes nothing
    that is reserved for another goal. Goals that are already reached take nothing and need no
    reserve. If no goal is reached or free, the candidate is the first ready one, or else the first
    of all.

    Args:
        pending: The alternatives of each goal that is not finished.
        held: The inventory.
    """
    unreached = {step: goals for step, goals in pending.items() if not _any_reached(goals, held)}
    possible: dict[int, Sequence[Goal]] = {}
    for step, goals in pending.items():
        if step in unreached:
            others = [unreached[other] for other in unreached if other != step]
            goals = _free(_ready(goals, held), others, held)
        else:
            goals = goals[:1]  # by whichever alternative it was reached, nothing is left to do
        if goals:
            possible[step] = goals
    if possible or not unreached:
        return possible
    # A deadlock: each goal waits for items reserved for another, so one of them must take them.
    return _first_ready(unreached, held)


def _first_ready(
    unreached: Mapping[int, Sequence[Goal]],
    held: Mapping[str, int],
) -> dict[int, Sequence[Goal]]:
    """Return the first goal that is ready, reserves aside; the first of all if none is."""
    for step, goals in unreached.items():
        ready = _ready(goals, held)
        if ready:
            return {step: ready}
    step, goals = next(iter(unreached.items()))
    return {step: goals}


def choose(
    can: Mapping[int, Sequence[Goal]],
    horizons: Callable[[Sequence[Goal]], Sequence[float]],
    uniform: float,
    tau: float = TAU,
) -> tuple[int, Goal]:
    """Return the number of the goal to pursue next, and its alternative with the shortest horizon.

    Args:
        can: The possible goals, with their alternatives.
        horizons: Returns the horizon of each of some alternatives.
        uniform: A draw from [0, 1), by which the goal is sampled.
        tau: Temperature of the softmax, in ticks.
    """
    alternatives = [(step, goal) for step, goals in can.items() for goal in goals]
    estimates = horizons([goal for _, goal in alternatives])
    # A goal counts once, by its soonest alternative, however many it has.
    soonest: dict[int, tuple[float, Goal]] = {}
    for (step, goal), horizon in zip(alternatives, estimates, strict=True):
        if step not in soonest or horizon < soonest[step][0]:
            soonest[step] = horizon, goal
    index = sample_index([horizon for horizon, _ in soonest.values()], uniform, tau)
    step = list(soonest)[index]
    _, goal = soonest[step]
    return step, goal


def sample_index(
    horizons: Sequence[float],
    uniform: float,
    tau: float = TAU,
) -> int:
    """Return an index, sampled from the softmax of ``-horizon / tau`` by a draw from [0, 1)."""
    shortest = min(horizons)  # subtracted, so that not all weights underflow to 0
    weights = [math.exp((shortest - horizon) / tau) for horizon in horizons]
    # The inverse of the cumulative distribution, unnormalised.
    left = uniform * sum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return horizons.index(shortest)  # rounding may leave a remainder


def _any_reached(goals: Sequence[Goal], held: Mapping[str, int]) -> bool:
    return any(is_reached(goal, held) for goal in goals)


def _ready(goals: Sequence[Goal], held: Mapping[str, int]) -> list[Goal]:
    return [goal for goal in goals if _is_ready(goal, held)]


def _is_ready(goal: Goal, held: Mapping[str, int]) -> bool:
    return all(has(held, name) >= count for name, count in goal.needs.items())


def _free(
    ready: Sequence[Goal],
    others: Sequence[Sequence[Goal]],
    held: Mapping[str, int],
) -> list[Goal]:
    """Return the ready alternatives that block no other goal."""
    return [goal for goal in ready if not any(_blocks(goal, other, held) for other in others)]


def _blocks(
    goal: Goal,
    others: Sequence[Goal],
    held: Mapping[str, int],
) -> bool:
    """Return whether a goal takes another's reserve and leaves it no ready alternative."""
    spared = [other for other in others if not _takes_reserve(goal, other, held)]
    return len(spared) < len(others) and not _ready(spared, held)


def _takes_reserve(
    goal: Goal,
    other: Goal,
    held: Mapping[str, int],
) -> bool:
    """Return whether a goal takes so much that too little is left for another."""
    for name, count in other.needs.items():
        now = has(held, name)
        if now >= count > now - _most_used(goal, name):
            return True
    return False


def _most_used(goal: Goal, name: str) -> int:
    """Return the most of an item that a goal may use up: its own share plus its kind's."""
    used = has(goal.uses, name)
    kind = name.rpartition(" ")[2]
    # A goal that uses any planks may take oak planks, but has() counts members for a kind only.
    if kind in KINDS and kind != name:
        used += goal.uses.get(kind, 0)
    return used
