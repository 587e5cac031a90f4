"""WebShop's tasks: the goals of a catalogue, numbered in the order of the original, by which the papers divide them."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from textcraft_gym.envs.webshop.catalogue import GENERATED, Catalogue
from textcraft_gym.envs.webshop.expert import Expert
from textcraft_gym.envs.webshop.files import GoalKind
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.reward import Nouns, default_nouns
from textcraft_gym.envs.webshop.state import PRODUCTS_PER_PAGE, Shop
from textcraft_gym.errors import UnknownName

GOAL_KINDS = ("human", "synthetic")

_MOST_DIGITS = 9


class Market(Shop):
    """A shop and its customers' goals. Equal arguments open the same one, and copies are the same one, too.

    Args:
        catalogue: Products and goals.
        opened_by: The arguments of ``open_market``, by which another process opens it.
    """

    def __init__(self, catalogue: Catalogue, opened_by: tuple[str | Path, GoalKind, int, bool, Nouns]) -> None:
        _, self.goals, products_per_page, show_attrs, nouns = opened_by
        super().__init__(catalogue, products_per_page=products_per_page, show_attrs=show_attrs, nouns=nouns)
        self.catalogue = catalogue
        self._opened_by = opened_by

    def __reduce__(self) -> Any:
        return open_market, self._opened_by


@dataclass(frozen=True)
class Task:
    """One goal.

    Attributes:
        id: Its number and the ASIN of a product that fits, ``17-B0ABC12345``.
        number: In the order of the original: what the papers call session ``fixed_17``.
    """

    id: str
    number: int
    market: Market = field(repr=False, compare=False)

    @property
    def goal(self) -> Goal:
        """What the customer wants."""
        return self.market.catalogue.goals[self.number]

    @property
    def group(self) -> str:
        """How many options are asked for, in words."""
        options = len(self.goal.options)
        return f"{options or 'no'} option{'s' * (options != 1)}"

    @property
    def depth(self) -> int:
        """How many things are to be chosen: the product, and each option that is asked for."""
        return 1 + len(self.goal.options)

    @cached_property
    def optimal_length(self) -> int:
        """The length of the expert's plan; 0 where it knows no purchase that earns 1."""
        return len(Expert(self.market, self.goal).plan() or [])

    @property
    def content(self) -> str:
        """What the customer says and means, and the title of a product that fits."""
        goal = self.goal
        bound = f"{goal.price_upper:.2f}"
        return "\n".join([goal.instruction, *sorted(goal.attributes), *sorted(goal.options), bound, goal.product.title])


def open_market(
    data: str | Path = GENERATED,
    goals: GoalKind = "human",
    products_per_page: int = PRODUCTS_PER_PAGE,
    show_attrs: bool = False,
    nouns: Nouns = default_nouns,
) -> Market:
    """Return the market of some data, the same object as long as the data is unchanged.

    Raises:
        UnknownName: If there is no such kind of goals.
        ValueError: If a generated shop is asked for synthetic goals, which it has none of.
        ShopDataError: If the data cannot be read.
    """
    if goals not in GOAL_KINDS:
        raise UnknownName("kind of goals", goals, GOAL_KINDS)
    if data == GENERATED and goals != "human":
        raise ValueError(f"expected goals 'human' of generated data, got {goals!r}")
    return _market(Catalogue.load(data, goals=goals), (data, goals, products_per_page, show_attrs, nouns))


@lru_cache(maxsize=32)
def split_tasks(market: Market, split: str) -> tuple[Task, ...]:
    """Return the tasks of a split, in order.

    Raises:
        UnknownName: If there is no such split.
    """
    return tuple(task_at(market, number) for number in market.catalogue.split(split))


def draw_task(market: Market, split: str, word: int) -> Task:
    """Return a task of a split: human goals are drawn evenly, synthetic ones by their weights.

    Args:
        market: Whose task.
        split: Which split; it has a task.
        word: A random number of 64 bits.
    """
    numbers = market.catalogue.split(split)
    if market.goals == "human":
        return task_at(market, numbers[word % len(numbers)])
    chances = _chances(market, split)
    return task_at(market, numbers[min(bisect(chances, word / (1 << 64) * chances[-1]), len(numbers) - 1)])


def find_task(market: Market, split: str, task_id: object) -> Task:
    """Return a task by its id, of whichever split.

    Raises:
        UnknownName: If there is none; it lists those of ``split``.
    """
    number, _, _ = str(task_id).partition("-")
    if number.isdecimal() and len(number) <= _MOST_DIGITS and int(number) < len(market.catalogue.goals):
        found = task_at(market, int(number))
        if found.id == task_id:
            return found
    raise UnknownName("task", task_id, [task.id for task in split_tasks(market, split)])


def task_at(market: Market, number: int) -> Task:
    """Return the task of the goal with this number, which there is."""
    return Task(f"{number}-{market.catalogue.goals[number].product.asin}", number, market)


@lru_cache(maxsize=8)
def _market(catalogue: Catalogue, opened_by: tuple[str | Path, GoalKind, int, bool, Nouns]) -> Market:
    """Keep the last ones; files that changed make another catalogue."""
    return Market(catalogue, opened_by)


@lru_cache(maxsize=32)
def _chances(market: Market, split: str) -> list[float]:
    goals = market.catalogue.goals
    return list(accumulate(goals[number].weight for number in market.catalogue.split(split)))
