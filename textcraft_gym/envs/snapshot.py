"""Going back to an earlier moment of an episode, as tree search does."""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import Any, NamedTuple, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded

World: TypeAlias = tuple[str, tuple[tuple[str, Any], ...]]


class Snapshot(NamedTuple):
    """A moment of an episode: a small value that can be kept, compared, pickled and sent to other processes.

    Attributes:
        world: What the environment plays by; a snapshot fits every environment that has the same.
        task: Which task is played.
        over: Whether the episode is over.
        position: Where the game stands.
        seed: The last seed of ``reset``.
        random: The state of ``np_random``, from which the next resets draw.
    """

    world: World
    task: str
    over: bool
    position: Any
    seed: int | None
    random: str


class RestorableEnv(gym.Env[str, str]):
    """An environment that takes snapshots of its episode and goes back to them.

    ``env.get_wrapper_attr("snapshot")()`` reaches it through any wrappers. Wrappers of this suite put what they
    remember into the snapshot; Gymnasium's do not, so a ``TimeLimit`` counts every step that was ever played since
    the reset: make an environment that is searched with ``max_episode_steps=-1``.
    """

    task: Any
    _over: bool

    def snapshot(self) -> Snapshot:
        """Return this moment.

        Raises:
            ResetNeeded: If no episode was begun.
            SnapshotError: If it plays by an engine that cannot go back, as ALFWorld's real one.
        """
        if not hasattr(self, "task"):
            raise ResetNeeded("no episode was begun: call reset() before snapshot()")
        random = json.dumps(self.np_random.bit_generator.state, default=np.ndarray.tolist)
        return Snapshot(self._world(), self.task.id, self._over, self._position(), self._np_random_seed, random)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a moment, of this environment or of one that plays by the same rules; its split may be another.

        What follows is then what followed the first time, byte for byte, if info is asked for the same things.

        Raises:
            ValueError: For what is no snapshot, or one of another game or of the same with other arguments.
        """
        if not isinstance(snapshot, Snapshot):
            raise ValueError(f"expected what snapshot() returned, got {type(snapshot).__name__}")
        if snapshot.world != self._world():
            raise ValueError(
                f"expected a snapshot of {_described(self._world())}, got one of {_described(snapshot.world)}"
            )
        self._go_back(snapshot)
        self._over = snapshot.over
        self.np_random.bit_generator.state = json.loads(snapshot.random)
        self._np_random_seed = snapshot.seed

    @abstractmethod
    def _world(self) -> World:
        """Return the name of the game, and by name the arguments and data that it plays by."""

    @abstractmethod
    def _position(self) -> Any:
        """Return where the game stands, as an immutable value."""

    @abstractmethod
    def _go_back(self, snapshot: Snapshot) -> None:
        """Play the task of a snapshot, from its position on."""


def _described(world: World) -> str:
    name, arguments = world
    return f"{name}({', '.join(f'{argument}={value!r}' for argument, value in arguments)})"
