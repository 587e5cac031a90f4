"""Stable-Baselines3's form of a vector of games (extra ``[rl]``)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from textcraft_gym.errors import needs
from textcraft_gym.registration import find
from textcraft_gym.vector import TextVectorEnv
from textcraft_gym.wrappers import ActionMasking, SubgoalReward, TokenIds

with needs("rl"):
    from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv, VecMonitor

OWN_ARGUMENTS = ("length", "actions", "gamma", "max_episode_steps", "disable_env_checker")
"""What ``make_env`` and ``gym.make`` take beside the arguments of an environment."""


def make_env(
    id: str,
    *,
    length: int = 128,
    actions: int = 64,
    gamma: float | None = None,
    **arguments: Any,
) -> gym.Env[Any, Any]:
    """Make an environment of token ids, with a discrete action for each admissible command.

    Args:
        id: An id of an environment of text that lists admissible commands.
        length: Number of tokens of an observation.
        actions: Number of actions; commands beyond them are not offered.
        gamma: The learner's discount, for ``SubgoalReward``; None for the game's own reward.
        **arguments: Those of ``gym.make``.

    Raises:
        UnknownName: For an id or an argument that does not exist.
    """
    note = "SB3VecEnv takes a sync vector with wrappers." if "wrappers" in arguments else ""
    find(id).check_arguments(arguments, OWN_ARGUMENTS, note)
    if gamma is None:
        game = gym.make(id, admissible=True, **arguments)
    else:
        game = SubgoalReward(gym.make(id, admissible=True, expert=True, **arguments), gamma)
    return ActionMasking(TokenIds(game, length), actions, overflow="drop")


def make_vec(
    id: str,
    n: int,
    *,
    processes: bool = False,
    **arguments: Any,
) -> VecMonitor:
    """Make a ``VecEnv`` of n such environments that logs the rewards and lengths of episodes.

    Args:
        id: An id of an environment of text that lists admissible commands.
        n: Number of environments.
        processes: Whether each environment has a process of its own, which pays for slow games
            only.
        **arguments: Those of ``make_env``.
    """
    made = partial(make_env, id, **arguments)
    if processes:
        return VecMonitor(SubprocVecEnv([made] * n))
    return VecMonitor(SB3VecEnv(SyncVectorEnv([made] * n, autoreset_mode=AutoresetMode.SAME_STEP)))


class SB3VecEnv(VecEnv):  # type: ignore[misc, unused-ignore]
    """A vector of Gymnasium's as a ``VecEnv``.

    The algorithms of Stable-Baselines3 and sb3-contrib need observations and actions that are no
    text: give it a ``sync`` vector with ``TokenIds`` and ``ActionMasking`` as ``wrappers``. A
    ``TextVectorEnv`` plays faster, and suits a ``VecEnvWrapper`` that reads text: its observations
    are a tuple of strings, and ``set_options([{"task": id}, ...])`` gives each environment a task
    of its own in the next reset.

    Args:
        vector: A ``TextVectorEnv`` or ``SyncVectorEnv`` with ``autoreset_mode="SameStep"``, as
            algorithms of Stable-Baselines3 expect the first observation of the next episode with
            the end of the last.

    Raises:
        ValueError: For a vector with another autoreset.
    """

    def __init__(self, vector: TextVectorEnv | SyncVectorEnv[Any, Any]) -> None:
        mode = vector.metadata["autoreset_mode"]
        if mode is not AutoresetMode.SAME_STEP:
            raise ValueError(
                f"expected a vector with autoreset_mode='SameStep', got {mode.value!r}"
            )
        self.vector: Any = vector
        super().__init__(
            vector.num_envs,
            vector.single_observation_space,
            vector.single_action_space,
        )

    def reset(self) -> Any:
        """Start an episode in each environment, with the seeds and options that were set for it."""
        options = self._options
        if isinstance(self.vector, TextVectorEnv):
            others = [dict(own) for own in options]
            tasks = [own.pop("task", None) for own in others]
            observations, infos = self.vector.reset(
                seed=self._seeds,
                options=_shared(others),
                tasks=tasks,
            )
        else:
            observations, infos = self.vector.reset(seed=self._seeds, options=_shared(options))
        self.reset_infos = self._listed(infos)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: Any) -> None:
        """Keep the actions of the next step."""
        self.actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Play them; the info of an episode that ends has its ``terminal_observation``."""
        observations, rewards, terminations, truncations, infos = self.vector.step(self.actions)
        listed = self._listed(infos)
        over = terminations | truncations
        for index in np.flatnonzero(over).tolist():
            # The vector resets at once: its info is that of the next episode, with the last inside.
            first = listed[index]
            last = first.pop("final_info")
            last_observation = first.pop("final_obs")
            self.reset_infos[index] = first
            listed[index] = {**last, "terminal_observation": last_observation}
        # There Stable-Baselines3 goes on from the value of the last observation.
        cut_off = truncations & ~terminations
        for info, truncated in zip(listed, cut_off.tolist(), strict=True):
            info["TimeLimit.truncated"] = truncated
        return observations, rewards.astype(np.float32), over, listed

    def close(self) -> None:
        """Close the vector."""
        self.vector.close()

    def get_attr(
        self,
        attr_name: str,
        indices: Any = None,
    ) -> list[Any]:
        """Return an attribute of each environment."""
        return [env.get_wrapper_attr(attr_name) for env in self._some(indices)]

    def set_attr(
        self,
        attr_name: str,
        value: Any,
        indices: Any = None,
    ) -> None:
        """Set an attribute of each environment."""
        for env in self._some(indices):
            env.set_wrapper_attr(attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: Any = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Return the results of a method of each environment, such as ``action_masks``."""
        methods = self.get_attr(method_name, indices)
        return [method(*method_args, **method_kwargs) for method in methods]

    def env_is_wrapped(
        self,
        wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]],
        indices: Any = None,
    ) -> list[bool]:
        """Return whether each environment has a wrapper of this class around it."""
        return [_has(env, wrapper_class) for env in self._some(indices)]

    def get_images(self) -> Sequence[None]:
        """Return nothing: these games have no pictures."""
        return [None] * self.num_envs

    def _some(self, indices: Any) -> list[Any]:
        return [self.vector.envs[index] for index in self._get_indices(indices)]

    def _listed(self, infos: Any) -> list[dict[str, Any]]:
        """Return the infos of the single environments."""
        if isinstance(infos, list):
            return infos
        return [_own(infos, index) for index in range(self.num_envs)]


def _shared(options: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the options of all environments, which a vector takes for all at once."""
    if any(own != options[0] for own in options):
        raise ValueError(f"expected the same options for each environment, got {list(options)}")
    return dict(options[0])


def _own(infos: dict[str, Any], index: int) -> dict[str, Any]:
    """Return the info of one environment from the arrays and masks of all."""
    own: dict[str, Any] = {}
    for key, values in infos.items():
        mask = infos.get(f"_{key}")
        if mask is None or not mask[index]:
            continue
        value = _own(values, index) if isinstance(values, dict) else values[index]
        if isinstance(value, np.generic):
            value = value.item()
        own[key] = value
    return own


def _has(env: gym.Env[Any, Any], wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]]) -> bool:
    while isinstance(env, gym.Wrapper):
        if isinstance(env, wrapper_class):
            return True
        env = env.env
    return False
