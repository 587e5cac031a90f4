"""Many games in one vector environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal, TypeAlias, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from textcraft_gym.envs.text_env import checked_options, plain_seed
from textcraft_gym.errors import UnknownName, at_least
from textcraft_gym.registration import World, find

T = TypeVar("T")

Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
Infos: TypeAlias = "dict[str, Any] | list[dict[str, Any]]"
Step: TypeAlias = (
    "tuple[tuple[str, ...], np.ndarray[Any, np.dtype[np.float64]], Flags, Flags, Infos]"
)
INFOS = ("dict", "list")
SYNC_TAKES_THEM = 'gym.make_vec(id, n, vectorization_mode="sync", wrappers=[...]) takes wrappers.'
_NUMERIC = (bool, int, float)


class TextVectorEnv(VectorEnv[tuple[str, ...], Sequence[str], np.ndarray[Any, Any]]):
    """Environments of one id, stepped together: ``gym.make_vec(id, n)``.

    Observations, rewards, ends and infos equal those of
    ``gym.make_vec(id, n, vectorization_mode="sync")``, and so do the ways to go on after an end.
    The gain is Gymnasium's overhead around each single step, which is larger than a step of
    TextCraft or ALFWorld: these are about twice as fast with plain infos. WebShop and the tech tree
    gain little. It takes no wrappers, since these wrap single environments; the ``sync`` vector
    does.

    Args:
        id: Any id of an environment of text, ``My-v0`` or ``my_module:My-v0``.
        num_envs: Number of environments, 1 or more.
        max_episode_steps: Steps after which an episode is truncated; by default the limit of the
            id, and -1 for none.
        autoreset_mode: What follows the end of an episode, one of Gymnasium's ``AutoresetMode``:
            ``NextStep`` (the next step resets that environment and ignores its action),
            ``SameStep`` (the same step does, and its info has ``final_obs`` and ``final_info``), or
            ``Disabled`` (nothing, until ``reset`` with a ``reset_mask``).
        infos: ``dict`` for Gymnasium's form, an array and a mask of each key, or ``list`` for the
            infos of the single environments, which costs no time; empty ones for those that a
            ``reset_mask`` leaves out.
        **arguments: Those of ``gym.make``.

    Raises:
        UnknownName: For an id, an argument, a mode or a form of infos that does not exist.
        ValueError: For a number below 1.
    """

    def __init__(
        self,
        id: str,
        num_envs: int,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        infos: Literal["dict", "list"] = "dict",
        **arguments: Any,
    ) -> None:
        at_least("num_envs", num_envs, 1)
        world = find(id)
        note = SYNC_TAKES_THEM if "wrappers" in arguments else ""
        world.check_arguments(arguments, ("max_episode_steps", "autoreset_mode", "infos"), note)
        limit = world.spec.max_episode_steps if max_episode_steps is None else max_episode_steps
        if limit is not None and (type(limit) is not int or (limit < 1 and limit != -1)):
            expected = "max_episode_steps of 1 or more, or -1 for none"
            raise ValueError(f"expected {expected}, got {max_episode_steps!r}")
        if infos not in INFOS:
            raise UnknownName.of("form of infos", infos, INFOS)
        self.max_episode_steps = -1 if limit is None else limit
        self.autoreset_mode = _mode(autoreset_mode)
        self.infos = infos
        self.envs = _make_alike(world, num_envs, arguments)
        self.num_envs = num_envs
        first = self.envs[0]
        self.spec = first.spec
        self.render_mode = first.render_mode
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = (
            first.observation_space,
            first.action_space,
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        # None before the first reset.
        self._observations: tuple[str, ...] | None = None
        self._over = np.ones(num_envs, np.bool_)
        self._counts = np.zeros(num_envs, np.int64)

    def reset(  # type: ignore[override]  # infos may be a list
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
        tasks: Sequence[str | None] | None = None,
        seeds: Sequence[int | None] | None = None,
    ) -> tuple[tuple[str, ...], Infos]:
        """Start an episode in each environment, or in some.

        Args:
            seed: A seed for each environment, or the first of consecutive ones.
            options: Those of every environment's ``reset``. As in Gymnasium's vectors,
                ``reset_mask``, an array of booleans, says which environments to reset: the others
                go on, and keep their observation.
            tasks: The id of a task for each environment; None for one that the seed draws.
            seeds: ``seed``, under the name that goes with ``tasks``.

        Raises:
            ResetNeeded: If the first reset leaves environments out.
            TypeError: If a seed is no integer, the options are no mapping, or the ``reset_mask`` no
                array of booleans.
            UnknownName: For a task or an option that does not exist.
            ValueError: If there are more or fewer seeds, tasks or flags than environments, or no
                flag is set.
        """
        own_seeds = self._seeds(seed, seeds)
        own_tasks = self._for_each("tasks", tasks)
        shared = checked_options(options)
        chosen = self._chosen(shared.pop("reset_mask", None))

        observations = list(self._observations or [""] * self.num_envs)
        infos: list[dict[str, Any]] = [{} for _ in self.envs]
        for index in np.flatnonzero(chosen).tolist():
            own_options = dict(shared)
            if own_tasks[index] is not None:
                own_options["task"] = own_tasks[index]
            observations[index], infos[index] = self.envs[index].reset(
                seed=own_seeds[index],
                options=own_options or None,
            )
        self._observations = tuple(observations)
        self._over[chosen] = False
        self._counts[chosen] = 0
        return self._observations, self._in_form(infos)

    def _seeds(
        self,
        seed: int | Sequence[int | None] | None,
        seeds: Sequence[int | None] | None,
    ) -> list[int | None]:
        """Return a seed for each environment, None where none is given."""
        if seed is not None and seeds is not None:
            raise ValueError("expected seed or seeds, got both")
        first = plain_seed(seed)
        if isinstance(first, int):
            seeds = range(first, first + self.num_envs)
        elif first is not None:
            if np.ndim(first) == 0:
                raise TypeError(f"expected a seed, or one for each environment, got {seed!r}")
            seeds = first
        return [plain_seed(own_seed) for own_seed in self._for_each("seeds", seeds)]

    def step(self, actions: Sequence[str]) -> Step:  # type: ignore[override]  # infos may be a list
        """Play an action in each environment, or start the next episode where the last one is over.

        Raises:
            ResetNeeded: Before the first ``reset``, and after an end if ``autoreset_mode`` is
                ``Disabled``.
            ValueError: If there are more or fewer actions than environments.
        """
        if self._observations is None:
            raise ResetNeeded("no episode has started: call reset() before step()")
        self._for_each("actions", actions)
        over = self._over
        if self.autoreset_mode is AutoresetMode.DISABLED and over.any():
            raise ResetNeeded(
                f"the episodes of environments {np.flatnonzero(over).tolist()} are over: reset them"
            )
        turns = []
        for env, action, ended in zip(self.envs, actions, over.tolist(), strict=True):
            turns.append(_begun(env) if ended else env.step(action))
        # One column for each part of a step, so that NumPy does the bookkeeping of all environments
        # at once.
        observations, rewards, terminated, truncated, infos = zip(*turns, strict=True)
        terminations, truncations = np.array(terminated, np.bool_), np.array(truncated, np.bool_)

        self._counts += 1
        # A step that begins an episode is none of its actions.
        self._counts[over] = 0
        truncations |= self._counts == self.max_episode_steps
        self._over = terminations | truncations
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            observations, infos = self._next_episodes(observations, infos)
        self._observations = observations
        scores = np.array(rewards, np.float64)
        return observations, scores, terminations, truncations, self._in_form(infos)

    def _next_episodes(
        self,
        observations: Sequence[str],
        infos: Sequence[dict[str, Any]],
    ) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...]]:
        """Reset the environments whose episode is over, and keep the end of it in info."""
        first_observations, first_infos = list(observations), list(infos)
        for index in np.flatnonzero(self._over).tolist():
            first_observations[index], info = self.envs[index].reset()
            end = {"final_obs": observations[index], "final_info": infos[index]}
            first_infos[index] = {**end, **info}
        self._counts[self._over] = 0
        self._over = np.zeros_like(self._over)
        return tuple(first_observations), tuple(first_infos)

    def _for_each(
        self,
        what: str,
        values: Sequence[T] | None,
    ) -> Sequence[T | None]:
        """Return a value for each environment, None where none are given."""
        if values is None:
            return [None] * self.num_envs
        if len(values) != self.num_envs:
            raise ValueError(f"expected {self.num_envs} {what}, got {len(values)}")
        return values

    def _chosen(self, mask: Any) -> Flags:
        """Return which environments a ``reset_mask`` chooses; all without one."""
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"expected a reset_mask that is an array of booleans, got {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"expected a reset_mask of {self.num_envs} flags, one of them set, got {mask}"
            )
        if self._observations is None and not mask.all():
            raise ResetNeeded("no episode has started: reset all environments first")
        return mask

    def _in_form(self, infos: Sequence[dict[str, Any]]) -> Infos:
        """Return infos in the form that was asked for."""
        return list(infos) if self.infos == "list" else _gathered(infos)

    def call(
        self,
        name: str,
        *arguments: Any,
        **named: Any,
    ) -> tuple[Any, ...]:
        """Return for each environment the result of its method of this name, or its attribute."""
        results = []
        for env in self.envs:
            attribute = getattr(env, name)
            results.append(attribute(*arguments, **named) if callable(attribute) else attribute)
        return tuple(results)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of the environments: to one value, or to one of a list or tuple each.

        Raises:
            UnknownName: For ``tasks`` that do not exist.
            ValueError: If there are more or fewer values than environments, or no tasks.
        """
        if not isinstance(values, (list, tuple)):
            values = [values] * self.num_envs
        for env, value in zip(self.envs, self._for_each("values", values), strict=True):
            env.set_wrapper_attr(name, value)

    def close_extras(self, **_: Any) -> None:
        """Close each environment."""
        for env in self.envs:
            env.close()


def __getattr__(name: str) -> Callable[..., TextVectorEnv]:
    """Return the entry point of an id's vector.

    A spec can be written as JSON only if it names its entry points.
    """
    if name in gym.registry:
        return partial(TextVectorEnv, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _make_alike(
    world: World,
    count: int,
    arguments: Mapping[str, Any],
) -> list[Any]:
    """Return bare environments of a world, of which the first is made by ``gym.make``.

    The others get its spec: to copy and check that again takes longer than to make a game.
    """
    first: Any = world.make(**arguments).unwrapped
    named = dict(first.spec.kwargs)
    if "render_mode" in named:
        named["render_mode"] = first.render_mode
    others = [world.creator(**named) for _ in range(count - 1)]
    for env in others:
        env.unwrapped.spec = first.spec
    return [first, *(env.unwrapped for env in others)]


def _mode(name: str | AutoresetMode) -> AutoresetMode:
    for mode in AutoresetMode:
        if name in (mode, mode.value):
            return mode
    raise UnknownName.of("autoreset_mode", name, [mode.value for mode in AutoresetMode])


def _begun(env: gym.Env[str, str]) -> tuple[str, float, bool, bool, dict[str, Any]]:
    """Begin the next episode, in the form of a step."""
    observation, info = env.reset()
    return observation, 0.0, False, False, info


def _gathered(infos: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the infos in the form of Gymnasium's vectors.

    That is, for each key, an array and a mask of the environments that have it. Where the values
    are dictionaries, they are gathered in the same way.
    """
    gathered: dict[str, Any] = {}
    for key, having in Counter(chain.from_iterable(infos)).items():
        # Nearly all keys are everywhere: these need no search.
        if having == len(infos):
            present = np.ones(len(infos), np.bool_)
            values = [info[key] for info in infos]
        else:
            present = np.array([key in info for info in infos])
            values = [info[key] for info in infos if key in info]
        gathered[key] = _column(values, present)
        gathered[f"_{key}"] = present
    return gathered


def _column(values: Sequence[Any], present: Flags) -> Any:
    """Return the values of a key as an array, or gathered where they are dictionaries."""
    kind = type(values[0])  # the first that has the key decides the array's type
    if issubclass(kind, dict):
        own = iter(values)
        return _gathered([next(own) if has else {} for has in present])
    dtype = kind if kind in _NUMERIC else object
    array = np.fromiter(values, dtype, len(values))
    return array if len(values) == len(present) else _spread(array, present)


def _spread(values: np.ndarray[Any, Any], present: Flags) -> np.ndarray[Any, Any]:
    """Return values at the places that have one, and 0 or None at the others."""
    spread = np.full(len(present), None if values.dtype == object else 0, values.dtype)
    spread[present] = values
    return spread
