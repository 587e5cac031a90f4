"""Controllers: how the goals of a plan are pursued in a game."""

from __future__ import annotations

import difflib
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.goals import Goal

SIMILAR = 0.6


class Scene(NamedTuple):
    """What can be seen before a goal is pursued.

    Attributes:
        held: What is held, and how many.
        told: The same in the words of the game.
        seen: What else there is to see, in the words of the game.
        around: How many steps away things are, the nearest first, where the game says so.
    """

    held: dict[str, int]
    told: str
    seen: str = ""
    around: dict[str, int] = {}


class Errand(NamedTuple):
    """What the pursuit of a goal comes to.

    Attributes:
        verb: What is done.
        item: What is come by.
        amount: How many of it are missing.
        steps: How far it is; 0 where one need not walk.
        source: Where it is from; empty for what is made.
        tool: What is used for it.
    """

    verb: str
    item: str
    amount: int
    steps: int = 0
    source: str = ""
    tool: str = ""


class Controller(Protocol):
    """Knows the skills of a game.

    Attributes:
        env_args: What the environment must be made with.
    """

    env_args: ClassVar[Mapping[str, Any]]

    def goals(self, plan: str) -> list[Goal]:
        """Return the goals of a plan as a model wrote it."""

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Return what can be seen."""

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the ways to reach a goal, of which one will do; never none."""

    def pursue(self, play: Play, goal: Goal, scene: Scene) -> Generator[Request, Any, str | None]:
        """Pursue a goal and return why it failed; None if it did not."""


@runtime_checkable
class RangingController(Controller, Protocol):
    """One of a game in which it takes time to come by things."""

    def errand(self, goal: Goal, scene: Scene) -> Errand:
        """Return what the pursuit of a goal comes to."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like a name, the first of equals in order; None if none is like it."""
    names = sorted(known)
    return name if name in names else next(iter(difflib.get_close_matches(name, names, n=1, cutoff=SIMILAR)), None)
