"""Many games stepped in one call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from textcraft_gym.registration import TABLE, make

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Step = tuple[tuple[str, ...], np.ndarray[Any, np.dtype[np.float64]], Flags, Flags, dict[str, Any]]
_NUMBERS = (bool, int, float)


class TextVectorEnv(VectorEnv[tuple[str, ...], Sequence[str], np.ndarray[Any, Any]]):
    """Plays n environments of one id, as ``gym.make_vec(id, n, "sync")`` does, in less time.

    Observations, rewards, ends and info are the same, and so is what happens at an end: the step after it resets that
    environment, whatever its action. What is saved is the work of Gymnasium around each single step, which takes
    longer than the games of TextCraft and ALFWorld themselves: they go about twice as fast where info is asked for
    nothing more. WebShop and the tech tree, whose games take longer, gain little. It takes no wrappers, which stand
    around single environments: ``gym.make_vec`` does.

    Args:
        id: A registered id.
        num_envs: How many, 1 or more.
        max_episode_steps: After how many steps an episode is truncated; by default the limit of the id, and -1 for
            none.
        **arguments: Those of ``gym.make``.

    Raises:
        UnknownName: For an id or an argument that does not exist.
        ValueError: For a number below 1.
    """

    def __init__(self, id: str, num_envs: int, *, max_episode_steps: int | None = None, **arguments: Any) -> None:
        if type(num_envs) is not int or num_envs < 1:
            raise ValueError(f"expected num_envs of 1 or more, got {num_envs!r}")
        self.envs = [make(id, **arguments).unwrapped for _ in range(num_envs)]
        self.max_episode_steps = TABLE[id].max_episode_steps if max_episode_steps is None else max_episode_steps
        if type(self.max_episode_steps) is not int or (self.max_episode_steps < 1 and self.max_episode_steps != -1):
            raise ValueError(f"expected max_episode_steps of 1 or more, or -1 for none, got {max_episode_steps!r}")
        self.num_envs = num_envs
        first = self.envs[0]
        self.spec = first.spec
        self.render_mode = first.render_mode
        self.metadata = {**first.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over = [True] * num_envs
        self._counts: list[int] | None = None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Begin an episode in each environment.

        Args:
            seed: One for each, or the first of a series.
            options: Those of every environment's ``reset``.

        Raises:
            ValueError: If there are more or fewer seeds than environments.
        """
        seeds = [seed + place for place in range(self.num_envs)] if isinstance(seed, int) else seed
        seeds = [None] * self.num_envs if seeds is None else list(seeds)
        if len(seeds) != self.num_envs:
            raise ValueError(f"expected {self.num_envs} seeds, got {len(seeds)}")
        begun = [env.reset(seed=one, options=options) for env, one in zip(self.envs, seeds, strict=True)]
        self._over = [False] * self.num_envs
        self._counts = [0] * self.num_envs
        return tuple([observation for observation, _ in begun]), _gathered([info for _, info in begun])

    def step(self, actions: Sequence[str]) -> Step:
        """Play an action in each environment, or begin an episode where the last one is over.

        Raises:
            ResetNeeded: Before the first ``reset``.
            ValueError: If there are more or fewer actions than environments.
        """
        if self._counts is None:
            raise ResetNeeded("no episode was begun: call reset() before step()")
        if len(actions) != self.num_envs:
            raise ValueError(f"expected {self.num_envs} actions, got {len(actions)}")
        observations: list[str] = []
        rewards = np.zeros(self.num_envs)
        terminations: list[bool] = []
        truncations: list[bool] = []
        infos: list[dict[str, Any]] = []
        counts, limit = self._counts, self.max_episode_steps
        for place, (env, action, over) in enumerate(zip(self.envs, actions, self._over, strict=True)):
            if over:
                observation, info = env.reset()
                terminated = truncated = False
                counts[place] = 0
            else:
                observation, reward, terminated, truncated, info = env.step(action)
                counts[place] += 1
                truncated = truncated or counts[place] == limit
                if reward:
                    rewards[place] = reward
            observations.append(observation)
            terminations.append(terminated)
            truncations.append(truncated)
            infos.append(info)
        self._over = [a or b for a, b in zip(terminations, truncations, strict=True)]
        return tuple(observations), rewards, np.array(terminations), np.array(truncations), _gathered(infos)

    def call(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        """Return what each environment's method of this name returns, or its attribute."""
        found = [getattr(env, name) for env in self.envs]
        return tuple([one(*arguments) if callable(one) else one for one in found])

    def close_extras(self, **_: Any) -> None:
        """Close each environment."""
        for env in self.envs:
            env.close()


def _gathered(infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what each environment tells, in the form of Gymnasium's vectors: an array and who tells, for each key."""
    gathered: dict[str, Any] = {}
    for key in dict.fromkeys(chain.from_iterable(infos)):
        told = np.array([key in info for info in infos])
        sample = infos[int(told.argmax())][key]  # the first that tells decides on the type
        if type(sample) in _NUMBERS:
            gathered[key] = np.array([info.get(key, 0) for info in infos], dtype=type(sample))
        else:
            gathered[key] = np.fromiter((info.get(key) for info in infos), dtype=object, count=len(infos))
        gathered[f"_{key}"] = told
    return gathered
