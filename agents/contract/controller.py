"""Controllers, which pursue the goals of a plan in a game."""

from __future__ import annotations

import difflib
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.goals import Goal

SIMILARITY = 0.6
"""Minimum ``difflib`` ratio at which two names are taken to be the same."""


class Scene(NamedTuple):
    """The state that a controller observes before it pursues a goal.

    Attributes:
        held: The inventory, as counts.
        inventory_text: The game's text of the inventory.
        view_text: The game's text of the surroundings.
        distances: Steps to each source in view, the nearest first; None where the game does not
            tell them.
        sight: How the game tells distances: ``exact``, ``rough`` or ``names``.
        place: Name of the surroundings; empty for none.
    """

    held: dict[str, int]
    inventory_text: str
    view_text: str = ""
    distances: dict[str, int | None] = {}
    sight: str = "exact"
    place: str = ""


class Subgoal(NamedTuple):
    """The first thing to get or make for a goal, from which its horizon is estimated.

    Attributes:
        verb: The kind of action: ``mine``, ``craft``.
        item: The item to get or make.
        amount: Missing number of the item.
        steps: Distance to its source in steps, as the game tells it; 0 if there is no walk or it is
            not told.
        source: Source of the item in the world; empty for an item that is made.
        tool: The tool or station that is used; empty for none.
        place: Name of the surroundings in which it begins; empty for none.
    """

    verb: str
    item: str
    amount: int
    steps: int = 0
    source: str = ""
    tool: str = ""
    place: str = ""


class Controller(Protocol):
    """Reads the goals of plans and pursues them, in one game.

    Attributes:
        env_args: The ``gym.make`` arguments that it requires.
        feedback: What the planner is told of a failed goal by default: ``terse``, which goal it is,
            or ``reason``, what ``pursue`` returned as well.
    """

    env_args: ClassVar[Mapping[str, Any]]
    feedback: ClassVar[str]

    def goals(self, plan: str) -> list[Goal]:
        """Parse the goals of a plan that a model wrote."""

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Observe the inventory and the surroundings."""

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the alternatives of a goal, each of which suffices; at least one."""

    def pursue(
        self,
        play: Play,
        goal: Goal,
        scene: Scene,
    ) -> Generator[Request, Any, str | None]:
        """Pursue a goal and return why it failed; None if it was reached."""


@runtime_checkable
class SubgoalController(Controller, Protocol):
    """A controller of a game with a clock.

    It reduces goals to subgoals, whose time can be estimated.
    """

    def subgoal(self, goal: Goal, scene: Scene) -> Subgoal:
        """Return the first thing to get or make for a goal."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to ``name``, or None if none is similar.

    Ties are broken alphabetically.
    """
    names = sorted(known)
    if name in names:
        return name
    close = difflib.get_close_matches(name, names, n=1, cutoff=SIMILARITY)
    return next(iter(close), None)
