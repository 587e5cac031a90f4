"""WebShop's tasks: the goals of a catalogue, numbered in the order of the original, of which splits are slices."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

from textcraft_gym.envs.webshop.catalogue import GENERATED, Catalogue
from textcraft_gym.envs.webshop.expert import Expert
from textcraft_gym.envs.webshop.files import GoalKind
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.reward import Nouns, default_nouns, written
from textcraft_gym.envs.webshop.state import Mode, Shop
from textcraft_gym.errors import UnknownName

GOAL_KINDS = ("human", "synthetic")

_MOST_DIGITS = 9

OpenedBy: TypeAlias = "tuple[str | Path, GoalKind, Mode, int | None, bool, Nouns]"


class Market(Shop):
    """A shop with the goals of its customers. Equal arguments open the same object, and copies are that object, too.

    Args:
        catalogue: Products and goals.
        opened_by: The arguments of ``open_market``, with which another process opens it after unpickling.
    """

    def __init__(self, catalogue: Catalogue, opened_by: OpenedBy) -> None:
        _, self.goals, mode, products_per_page, show_attrs, nouns = opened_by
        super().__init__(catalogue, mode=mode, products_per_page=products_per_page, show_attrs=show_attrs, nouns=nouns)
        self.catalogue = catalogue
        self._opened_by = opened_by

    def __reduce__(self) -> Any:
        return open_market, self._opened_by


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
        return "1 option" if count == 1 else f"{count} options"

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
            [goal.instruction, *sorted(goal.attributes), *sorted(map(written, goal.options)), bound, goal.product.title]
        )


def open_market(
    data: str | Path = GENERATED,
    goals: GoalKind = "human",
    mode: Mode = "react",
    products_per_page: int | None = None,
    show_attrs: bool = False,
    nouns: Nouns = default_nouns,
) -> Market:
    """Return the market of a data set, the same object as long as the data is unchanged.

    Raises:
        UnknownName: If there is no such mode or kind of goals.
        ValueError: For synthetic goals of generated data, which has none.
        ShopDataError: If the data cannot be read.
    """
    if goals not in GOAL_KINDS:
        raise UnknownName("kind of goals", goals, GOAL_KINDS)
    if data == GENERATED and goals != "human":
        raise ValueError(f"expected goals='human' for generated data, got {goals!r}")
    return _market(Catalogue.load(data, goals=goals), (data, goals, mode, products_per_page, show_attrs, nouns))


@lru_cache(maxsize=32)
def split_tasks(market: Market, split: str) -> tuple[Task, ...]:
    """Return the tasks of a split, in order.

    Raises:
        UnknownName: If there is no such split.
    """
    return tuple(task_at(market, index) for index in market.catalogue.split(split))


def draw_task(market: Market, split: str, seed: int) -> Task:
    """Return a task of a split: human goals are drawn uniformly, synthetic ones by their weights.

    Args:
        market: The market.
        split: A split that is not empty.
        seed: A random integer of 64 bits.
    """
    indices = market.catalogue.split(split)
    if market.goals == "human":
        return task_at(market, indices[seed % len(indices)])
    cumulative = _cumulative_weights(market, split)
    position = bisect(cumulative, seed / (1 << 64) * cumulative[-1])
    return task_at(market, indices[min(position, len(indices) - 1)])  # rounding may reach the end


def find_task(market: Market, split: str, task_id: object) -> Task:
    """Return a task of any split by its id.

    Raises:
        UnknownName: If there is none; the message suggests ids of ``split``.
    """
    number, _, _ = str(task_id).partition("-")
    if number.isdecimal() and len(number) <= _MOST_DIGITS and int(number) < len(market.catalogue.goals):
        task = task_at(market, int(number))
        if task.id == task_id:
            return task
    raise UnknownName("task", task_id, [task.id for task in split_tasks(market, split)])


def task_at(market: Market, number: int) -> Task:
    """Return the task of the goal with this number, which must exist."""
    return Task(f"{number}-{market.catalogue.goals[number].product.asin}", number, market)


@lru_cache(maxsize=8)
def _market(catalogue: Catalogue, opened_by: OpenedBy) -> Market:
    """Return a market, cached by catalogue: changed files make another catalogue."""
    return Market(catalogue, opened_by)


@lru_cache(maxsize=32)
def _cumulative_weights(market: Market, split: str) -> list[float]:
    goals = market.catalogue.goals
    return list(accumulate(goals[index].weight for index in market.catalogue.split(split)))
