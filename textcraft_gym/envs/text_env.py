"""The base of all text environments."""

from __future__ import annotations

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import (
    Any,
    ClassVar,
    NamedTuple,
    NoReturn,
    Protocol,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded

from textcraft_gym.errors import ELSEWHERE, UnknownName, Unsupported, true_or_false
from textcraft_gym.printable import print_lines
from textcraft_gym.spaces import AnyText

Step: TypeAlias = tuple[str, float, bool, bool, dict[str, Any]]
Settings: TypeAlias = tuple[str, tuple[tuple[str, Any], ...]]
Env = TypeVar("Env", bound="TextEnv")


class Snapshot(NamedTuple):
    """A moment of an episode, to be kept, compared, pickled and sent to other processes.

    Attributes:
        settings: The game, and the arguments and data that it plays by; a snapshot fits every
            environment with equal settings.
        task: The id of the task.
        draw: The random integer of the reset.
        position: The state of the game.
        last: The last action and its answer; the action is None after a reset.
        over: True if the episode is over.
        seed: The last seed of ``reset``.
        random: The state of ``np_random``, from which the next resets draw.
    """

    settings: Settings
    task: str
    draw: int
    position: Any
    last: tuple[str | None, str]
    over: bool
    seed: int | None
    random: str


def snapshot_of(env: gym.Env[Any, Any]) -> Any:
    """Return the snapshot of an environment, through its wrappers.

    Raises:
        Unsupported: If it has no method ``snapshot``, or cannot go back as it is made.
    """
    if not env.has_wrapper_attr("snapshot"):
        name = env.spec.id if env.spec else type(env.unwrapped).__name__
        raise Unsupported(f"{name} offers no snapshot: it has no method snapshot")
    return env.get_wrapper_attr("snapshot")()


def of_depths(tasks: Sequence[Any], depths: Any) -> tuple[Any, ...]:
    """Return the tasks of a depth or of several; all of them if None.

    Raises:
        ValueError: If there are no tasks of one of the depths, or no depths.
    """
    if depths is None:
        return tuple(tasks)
    if isinstance(depths, Iterable) and not isinstance(depths, str):
        depths = chosen = list(depths)
    else:
        chosen = [depths]
    known = sorted({task.depth for task in tasks})
    if not chosen or not all(depth in known for depth in chosen):
        few = ",".join(map(str, known[:2]))
        raise ValueError(
            f"expected depths among {known}, those of the split, as in depths=[{few}], "
            f"got {depths!r}"
        )
    return tuple(task for task in tasks if task.depth in chosen)


def plain_seed(seed: Any) -> Any:
    """Return NumPy's integers as Python's, since Gymnasium refuses them as seeds."""
    if isinstance(seed, np.integer):
        return int(seed)
    return seed


def checked_options(options: Any) -> dict[str, Any]:
    """Return the options of a reset by name; none for None.

    Raises:
        TypeError: If they are no mapping, but the id of a task, say.
    """
    if options is not None and not isinstance(options, Mapping):
        shown = options if isinstance(options, str) else "..."
        raise TypeError(f"expected options as in {{'task': {shown!r}}}, got {options!r}")
    return dict(options or {})


class TextEnv(gym.Env[str, str], ABC):
    """A game of text with named tasks.

    ``reset(seed=...)`` draws a task from the split, ``reset(options={"task": id})`` plays that one.
    A step before the first reset or after the end raises ``ResetNeeded``, an action that is no
    string ``TypeError``, and an argument that the environment does not take ``UnknownName``, with
    near names.

    A subclass sets ``tasks`` and implements ``_find_task``, ``_begin``, ``_info`` and ``_play``;
    for snapshots ``_settings``, ``_position`` and ``_go_back`` as well. It may also offer, by these
    names:

    - ``fingerprint``: a SHA-256 of the game's data, the same on every machine; equal ones play the
      same game.
    - ``explain(action, reason)``: in words, why the last action did nothing, given its
      ``invalid_reason``.
    - ``holds(step)``: whether a step of a plan, in words, is done in the current state; None if the
      state cannot tell.
    - ``vocabulary``: a text with every word that the game writes, apart from words echoed from an
      action.
    - ``possible_commands(tasks=None)``: every command that can ever be admissible in these tasks,
      by default those of the split.
    - ``thoughts(task, plan)``: a thought for each action of a plan that wins, an empty one where
      there is nothing to say.

    Args:
        admissible: List ``admissible_commands`` in info.
        expert: Add an ``expert_plan`` to info.
        render_mode: ``ansi`` renders the last action and its answer; ``human`` prints them, at each
            reset and step.

    Attributes:
        game_profile: The agents' profile of this game, a name or ``module:NAME``.
        splits: The names of the splits; where they depend on arguments of ``gym.make``, a function
            of those that returns them.
        default_split: In the same way, the split that is played where none is named, if it is not
            the default of the argument ``split``.
        task: The task of the episode, None before the first reset.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi"], "render_fps": 1}
    game_profile: ClassVar[str] = "default"
    splits: ClassVar[Sequence[str] | Callable[..., Sequence[str]]] = ()
    default_split: ClassVar[str | Callable[..., str] | None] = None
    _tasks: Sequence[Any] | None = None

    def __new__(
        cls: type[Env],
        *arguments: Any,
        **named: Any,
    ) -> Env:
        """Check the names of arguments: Python's own error does not suggest near names."""
        known = _parameters(cls.__init__)
        for name in named:
            if known and name not in known:
                note = ELSEWHERE.get(name, "")
                raise UnknownName.of(f"argument of {cls.__name__}", name, known, note)
        return super().__new__(cls)

    def __init__(
        self,
        *,
        admissible: bool = False,
        expert: bool = False,
        render_mode: str | None = None,
    ) -> None:
        true_or_false("admissible", admissible)
        true_or_false("expert", expert)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise UnknownName.of("render_mode", render_mode, self.metadata["render_modes"])
        self.admissible = admissible
        self.expert = expert
        self.render_mode = render_mode
        self.observation_space = AnyText()
        self.action_space = AnyText()
        self.task: Any = None
        self._draw = 0
        self._over = True
        self._last: tuple[str | None, str] = None, ""

    @property
    def tasks(self) -> Sequence[Any]:
        """The tasks that the next resets draw from; set to tasks or their ids.

        Raises:
            UnknownName: For a task that does not exist.
            ValueError: For anything but a list with one task or more.
            Unsupported: For a choice of tasks in a world whose split has them all.
        """
        if self._tasks is None:
            raise AttributeError(f"{type(self).__name__} has no tasks")
        return self._tasks

    @tasks.setter
    def tasks(self, tasks: Any) -> None:
        # The first are the world's own, which it may need to find any.
        if self._tasks is not None:
            if isinstance(tasks, str) or not isinstance(tasks, Iterable):
                raise ValueError(f"expected a list of tasks or of their ids, got {tasks!r}")
            tasks = tuple(self._find_task(getattr(task, "id", task)) for task in tasks)
            if not tasks:
                raise ValueError("expected one task or more, got none")
        self._tasks = tasks

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[str, dict[str, Any]]:
        """Begin a task: the one in ``options``, or one that the seed draws from the split.

        Raises:
            UnknownName: For a task or an option that does not exist.
            TypeError: For options that are no mapping, or if ``_begin`` returns no text, or
                ``_info`` no dictionary.
        """
        super().reset(seed=plain_seed(seed))
        # Raw bits are stable across NumPy versions; the values that its distributions make of them
        # are not.
        draw = int(self.np_random.bit_generator.random_raw())
        task = self._chosen(checked_options(options))
        if task is None:
            task = self._draw_task(draw)
        self.task, self._draw = task, draw
        text = self._begin(task, draw)
        self._check("_begin", text, str)
        self._over = False
        self._last = None, text
        self._show()
        info = self._info()
        self._check("_info", info, dict)
        return text, info

    def step(self, action: str) -> Step:
        """Play one action.

        Raises:
            ResetNeeded: Before the first reset and after the end of an episode.
            TypeError: If the action is not a string, or ``_play`` returns no step.
        """
        # Which of the two it is matters only for the message, not to every step.
        if self._over or not isinstance(action, str):
            self._refuse(action)
        step = self._play(action)
        # No more is checked here, which every step pays for: episodes check what they keep.
        try:
            self._over = step[3] or step[2]
        except (TypeError, LookupError):
            raise self._no_step(step) from None
        if self.render_mode:
            self._last = action, step[0]
            self._show()
        return step

    def render(self) -> str | None:
        """Return the last action and its answer, or the text of the reset; None unless ``ansi``.

        With ``human`` they are printed already.
        """
        return self._rendered() if self.render_mode == "ansi" else None

    def snapshot(self) -> Snapshot:
        """Return this moment of the episode.

        Through wrappers it is ``env.get_wrapper_attr("snapshot")()``. Wrappers of this suite add
        their own state; Gymnasium's do not: a ``TimeLimit`` counts every step since the reset, so
        that an environment that is searched is made with ``max_episode_steps=-1``.

        Raises:
            ResetNeeded: Before the first reset.
            Unsupported: If the game cannot go back.
        """
        if self.task is None:
            raise ResetNeeded("no episode has started: call reset() before snapshot()")
        random = json.dumps(self.np_random.bit_generator.state, default=np.ndarray.tolist)
        moment = self.task.id, self._draw, self._position(), self._last, self._over
        return Snapshot(self._settings(), *moment, self._np_random_seed, random)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a moment of this environment, or of one with equal settings.

        Its split may be another. The same actions then lead to the same observations and infos,
        byte for byte, if the info options are equal.

        Raises:
            ValueError: For anything but a snapshot of the same game with the same arguments.
            Unsupported: If the game cannot go back.
        """
        if not isinstance(snapshot, Snapshot):
            raise ValueError(f"expected a Snapshot, got {type(snapshot).__name__}")
        if snapshot.settings != self._settings():
            expected, got = _described(self._settings()), _described(snapshot.settings)
            raise ValueError(f"expected a snapshot of {expected}, got one of {got}")
        task = self._find_task(snapshot.task)
        self._go_back(task, snapshot.draw, snapshot.position)
        self.task = task
        self._draw = snapshot.draw
        self._last = snapshot.last
        self._over = snapshot.over
        self.np_random.bit_generator.state = json.loads(snapshot.random)
        self._np_random_seed = snapshot.seed

    def set_split(
        self,
        split: str,
        depths: int | Iterable[int] | None = None,
    ) -> None:
        """Draw the tasks of the next resets from a split, as ``gym.make`` does.

        Args:
            split: Its name.
            depths: Only its tasks of a depth or of several, where ``gym.make`` takes them.

        Raises:
            UnknownName, ValueError: As in ``gym.make``.
            Unsupported: Where it does not.
        """
        set_split: Callable[..., None] = self._set_split
        chosen = {} if depths is None else {"depths": depths}
        if chosen and "depths" not in _parameters(type(self)._set_split):
            raise self.unsupported("choice of depths", ELSEWHERE["depths"])
        # As text, since a list, say, cannot be looked up.
        set_split(str(split), **chosen)

    def unsupported(self, capability: str, why: str) -> Unsupported:
        """Return the error that refuses a capability by name: ``X-v0 offers no snapshot: ...``."""
        name = self.spec.id if self.spec else type(self).__name__
        return Unsupported(f"{name} offers no {capability}: {why}")

    def _rendered(self) -> str:
        """Return the last action and its answer, or the text of the reset."""
        action, text = self._last
        return text if action is None else f"> {action}\n{text}"

    def _show(self) -> None:
        """Print the last action and its answer for a person who watches."""
        if self.render_mode == "human":
            print_lines(f"{self._rendered()}\n")

    def _draw_task(self, draw: int) -> Any:
        """Return the task of the split for a random integer of 64 bits."""
        # Of so many bits, the remainder makes no task noticeably likelier.
        if len(self.tasks) == 0:
            raise ValueError(f"{type(self).__name__} has no tasks to draw from")
        return self.tasks[draw % len(self.tasks)]

    def _set_split(self, split: str) -> None:
        """Set the tasks; those that can be chosen by depth have a parameter ``depths``, too."""
        raise self.unsupported("choice of splits", "it is made with one, or has none")

    @abstractmethod
    def _find_task(self, name: Any) -> Any:
        """Return the task of this name, from any split, or raise ``UnknownName``."""

    @abstractmethod
    def _begin(self, task: Any, draw: int) -> str:
        """Begin an episode and return its first text; all that is random depends on ``draw``."""

    @abstractmethod
    def _info(self) -> dict[str, Any]:
        """Return the info of a reset, which includes ``task`` and ``won``."""

    @abstractmethod
    def _play(self, action: str) -> Step:
        """Play one action of an episode that is not over."""

    def _settings(self) -> Settings:
        """Return the name of the game, and each argument that its rules depend on, by name."""
        raise self.unsupported("snapshot", "its game cannot go back")

    def _position(self) -> Any:
        """Return the state of the game as an immutable value."""
        raise self.unsupported("snapshot", "its game cannot go back")

    def _go_back(
        self,
        task: Any,
        draw: int,
        position: Any,
    ) -> None:
        """Continue a task from a position; ``self.task`` and ``self._draw`` are not set yet."""
        raise self.unsupported("snapshot", "its game cannot go back")

    def _chosen(self, options: dict[str, Any]) -> Any:
        for key in options:
            if key != "task":
                raise UnknownName.of("reset option", key, ["task"])
        if "task" not in options:
            return None
        return self._find_task(options["task"])

    def _check(
        self,
        method: str,
        returned: Any,
        expected: type,
    ) -> None:
        if not isinstance(returned, expected):
            raise TypeError(
                f"{type(self).__name__}.{method} must return a {expected.__name__}, "
                f"got {type(returned).__name__}"
            )

    def _no_step(self, returned: Any) -> TypeError:
        got = type(returned).__name__
        if isinstance(returned, tuple):
            got = f"({', '.join(type(part).__name__ for part in returned)})"
        return TypeError(
            f"{type(self).__name__}._play must return (text, reward, terminated, truncated, info), "
            f"of types (str, float, bool, bool, dict), got {got}"
        )

    def _refuse(self, action: Any) -> NoReturn:
        if self._over:
            raise ResetNeeded(
                "the episode is over, or none has started: call reset() before step()"
            )
        raise TypeError(f"expected an action of type str, got {type(action).__name__}")


@runtime_checkable
class Draws(Protocol):
    """An environment whose state can be drawn."""

    def drawing(self) -> str:
        """Return the state drawn in characters, for a terminal."""

    def picture(self) -> str:
        """Return the state as an SVG picture, which a report shows at the end of an episode."""


@cache
def _parameters(constructor: Callable[..., None]) -> tuple[str, ...]:
    """Return the names of the arguments that a constructor takes; none where it takes any."""
    _, *parameters = inspect.signature(constructor).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return ()
    return tuple(parameter.name for parameter in parameters)


def _described(settings: Settings) -> str:
    name, arguments = settings
    written = ", ".join(f"{argument}={value!r}" for argument, value in arguments)
    return f"{name}({written})"
