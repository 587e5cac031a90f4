"""WebShop's tasks: the goals of a catalogue in the order of the original; splits are slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.envs.webshop.catalogue import GENERATED, Catalogue
from textcraft_gym.envs.webshop.expert import Expert
from textcraft_gym.envs.webshop.files import GoalKind
from textcraft_gym.envs.webshop.goals import drawn
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.reward import Nouns, default_nouns, written
from textcraft_gym.envs.webshop.state import Mode, Shop
from textcraft_gym.errors import UnknownName

GOAL_KINDS = ("human", "synthetic")

_MOST_DIGITS = 9

OpenedBy: TypeAlias = "tuple[str | Path, GoalKind, Mode, int | None, bool, Nouns, int | None]"
GoalFilter: TypeAlias = Callable[[int, Goal], bool]
"""Returns whether to keep the goal of this number."""


class Market(Shop):
    """A shop with the goals of its customers.

    Equal arguments open the same object, and copies are that object, too.

    Args:
        catalogue: Products and goals.
        opened_by: The arguments of ``open_market``, with which another process opens it after
            unpickling.
    """

    def __init__(self, catalogue: Catalogue, opened_by: OpenedBy) -> None:
        _, self.goals, mode, products_per_page, show_attrs, nouns, _ = opened_by
        super().__init__(
            catalogue,
            mode=mode,
            products_per_page=products_per_page,
            show_attrs=show_attrs,
            nouns=nouns,
        )
        self.catalogue = catalogue
        self._opened_by = opened_by

    def __reduce__(self) -> Any:
        return open_market, self._opened_by


class Selection(NamedTuple):
    """The goals that are played.

    Attributes:
        market: The market.
        split: Its split.
        filter_goals: Keeps some goals of the split; None keeps all.
        limit_goals: Number of goals to draw from those, by their weights; -1 for all.
    """

    market: Market
    split: str
    filter_goals: GoalFilter | None = None
    limit_goals: int = -1


@dataclass(frozen=True)
class Task:
    """One goal.

    Attributes:
        id: Its number and the ASIN of a product that meets the goal, ``17-B0ABC12345``.
        number: Index of the goal; the papers call it session ``fixed_17``.
    """

    id: str
    number: int
    market: Market = field(repr=False, compare=False)

    @property
    def goal(self) -> Goal:
        """The goal of the customer."""
        return self.market.catalogue.goals[self.number]

    @property
    def group(self) -> str:
        """The number of wanted options, in words."""
        count = len(self.goal.options)
        if count == 0:
            return "no options"
        if count == 1:
            return "1 option"
        return f"{count} options"

    @property
    def family(self) -> str:
        """The product, for which several goals may ask."""
        return self.id.partition("-")[2]

    @property
    def depth(self) -> int:
        """Number of choices to make: the product, and each wanted option."""
        return 1 + len(self.goal.options)

    @cached_property
    def optimal_length(self) -> int:
        """Length of the expert's plan; 0 if it knows no purchase with a reward of 1."""
        return len(Expert(self.market, self.goal).plan() or [])

    @property
    def content(self) -> str:
        """The instruction and the goal, with the title of a product that meets it."""
        goal = self.goal
        bound = f"{goal.price_upper:.2f}"
        return "\n".join(
            [
                goal.instruction,
                *sorted(goal.attributes),
                *sorted(map(written, goal.options)),
                bound,
                goal.product.title,
            ]
        )


def open_market(
    data: str | Path = GENERATED,
    goals: GoalKind = "human",
    mode: Mode = "react",
    products_per_page: int | None = None,
    show_attrs: bool = False,
    nouns: Nouns = default_nouns,
    num_products: int | None = None,
) -> Market:
    """Return the market of a data set, the same object as long as the data is unchanged.

    Raises:
        UnknownName: If there is no such mode or kind of goals.
        ValueError: For synthetic goals of generated data, which has none, or for too small a number
            of products.
        ShopDataError: If the data cannot be read.
    """
    if goals not in GOAL_KINDS:
        raise UnknownName.of("kind of goals", goals, GOAL_KINDS)
    if data == GENERATED and goals != "human":
        raise ValueError(f"expected goals='human' for generated data, got {goals!r}")
    catalogue = Catalogue.load(data, goals=goals, num_products=num_products)
    opened_by = (data, goals, mode, products_per_page, show_attrs, nouns, num_products)
    return _market(catalogue, opened_by)


@lru_cache(maxsize=32)
def goal_numbers(selection: Selection) -> Sequence[int]:
    """Return the numbers of the selected goals, which a filter or a limit does not change.

    Raises:
        UnknownName: If there is no such split.
        ValueError: If ``limit_goals`` is out of bounds.
    """
    market, split, keep, limit = selection
    if type(limit) is not int or not (limit == -1 or limit > 0):
        raise ValueError(f"expected limit_goals >= 1, or -1 for all, got {limit!r}")
    goals = market.catalogue.goals
    numbers: Sequence[int] = market.catalogue.split(split)
    if keep is not None:
        numbers = tuple(number for number in numbers if keep(number, goals[number]))
    if not 0 < limit < len(numbers):
        return numbers
    weights = market.catalogue.weights[np.asarray(numbers)]
    return tuple(numbers[index] for index in drawn(weights.tolist(), limit, len(goals)))


@lru_cache(maxsize=32)
def selected_tasks(selection: Selection) -> tuple[Task, ...]:
    """Return the selected tasks, in order."""
    return tuple(task_at(selection.market, number) for number in goal_numbers(selection))


def draw_task(selection: Selection, seed: int) -> Task:
    """Return one of the selected tasks: human goals uniformly, synthetic ones by their weights.

    Args:
        selection: The goals to draw from, one or more.
        seed: A random integer of 64 bits.
    """
    numbers = goal_numbers(selection)
    if selection.market.goals == "human":
        return task_at(selection.market, numbers[seed % len(numbers)])
    cumulative = _cumulative_weights(selection)
    position = int(cumulative.searchsorted(seed / (1 << 64) * cumulative[-1], "right"))
    position = min(position, len(numbers) - 1)  # rounding may reach the end
    return task_at(selection.market, numbers[position])


def find_task(selection: Selection, task_id: object) -> Task:
    """Return a task by its id, also one that is not selected.

    Raises:
        UnknownName: If there is none; the message suggests selected ones.
    """
    market = selection.market
    number, _, _ = str(task_id).partition("-")
    # Python refuses to read numbers of thousands of digits.
    is_number = number.isdecimal() and len(number) <= _MOST_DIGITS
    if is_number and int(number) < len(market.catalogue.goals):
        task = task_at(market, int(number))
        if task.id == task_id:
            return task
    raise UnknownName.of("task", task_id, [task.id for task in selected_tasks(selection)])


def task_at(market: Market, number: int) -> Task:
    """Return the task of the goal with this number, which must exist."""
    return Task(f"{number}-{market.catalogue.goals[number].product.asin}", number, market)


@lru_cache(maxsize=8)
def _market(catalogue: Catalogue, opened_by: OpenedBy) -> Market:
    """Return a market, cached by catalogue: changed files make another catalogue."""
    return Market(catalogue, opened_by)


@lru_cache(maxsize=32)
def _cumulative_weights(selection: Selection) -> NDArray[np.float64]:
    return np.cumsum(selection.market.catalogue.weights[np.asarray(goal_numbers(selection))])
