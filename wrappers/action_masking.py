"""Admissible commands as numbered actions with a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete

from textcraft_gym.errors import UnknownName, between
from textcraft_gym.registration import how_to_make
from textcraft_gym.wrappers.text_wrapper import TextWrapper

Overflow: TypeAlias = Literal["raise", "drop"]
Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

NO_COMMAND = ""
MAX_ACTIONS = 1 << 16


class ActionMasking(TextWrapper):
    """Number the admissible commands as discrete actions, with a mask of those that are valid now.

    The environment must list ``admissible_commands`` in its info. The meaning of a number is given
    in one of two ways:

    - ``n``: number ``i`` is the command at index ``i`` of ``info["admissible_commands"]``, in the
      environment's order. It fits any game, for learners that read the commands; the same number is
      another command at the next step.
    - ``commands``: number ``i`` is ``commands[i]``, always. Learners that do not read need this. A
      TextCraft environment lists all that can ever be admissible:
      ``env.unwrapped.possible_commands()``.

    **Actions**: ``Discrete(n)``. A number whose command is not admissible now is the agent's
    mistake and changes
    nothing: with ``commands`` the command is played all the same, with ``n`` the empty text is, and
    the environment gives its usual answer. A number outside of the space raises.

    **Mask**: ``action_masks()``, the name that sb3-contrib calls, returns n booleans.
    ``info["action_mask"]`` is the same as ``int8``, which ``action_space.sample`` takes. Where
    nothing is admissible, as after the end, all are False.

    **Overflow**: commands that have no number, because they are more than ``n`` or not among
    ``commands``, raise; with ``overflow="drop"`` they are not offered, the last of the list first,
    and ``info["dropped_commands"]`` counts them.

    Args:
        env: An environment of text that lists admissible commands.
        n: Number of actions, for numbers by index, 1 to 65,536. Either this or ``commands``.
        commands: The command of each number, for fixed numbers.
        overflow: ``raise`` or ``drop``.

    Raises:
        ValueError: If the environment was made without admissible commands; for ``n`` out of
            bounds; for empty or repeated ``commands``; for both or neither of the two.
        UnknownName: For another ``overflow``.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        n: int | None = None,
        *,
        commands: Sequence[str] | None = None,
        overflow: Overflow = "raise",
    ) -> None:
        if (n is None) == (commands is None):
            raise ValueError("expected either n or commands, got both or neither")
        if n is not None:
            between("n", n, 1, MAX_ACTIONS)
        if overflow not in get_args(Overflow):
            raise UnknownName.of("overflow", overflow, get_args(Overflow))
        self._fixed: dict[str, int] | None = None
        if commands is not None:
            self._fixed = _numbered(commands)
            commands = list(commands)
        super().__init__(env, n=n, commands=commands, overflow=overflow)
        self._expect_text(observations=False)
        if not (env.has_wrapper_attr("admissible") and env.get_wrapper_attr("admissible")):
            raise ValueError(f"{env} lists no admissible commands: {how_to_make('admissible')}")
        self.overflow = overflow
        self._commands = tuple(self._fixed or [NO_COMMAND] * (n or 0))
        self.action_space = Discrete(len(self._commands))
        self._mask: Mask = np.zeros(len(self._commands), dtype=np.bool_)

    @property
    def commands(self) -> tuple[str, ...]:
        """The command that each number plays now; the empty text where it plays nothing."""
        return self._commands

    def action_masks(self) -> Mask:
        """Return for each number whether its command is admissible now."""
        masks: Mask = self._mask.copy()
        return masks

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a task."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._number(info)
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play the command of a number.

        Raises:
            ValueError: For an action outside of the space.
        """
        if not self.action_space.contains(action):
            raise ValueError(f"expected an action in 0..{len(self._commands) - 1}, got {action!r}")
        observation, reward, terminated, truncated, info = self.env.step(
            self._commands[int(action)]
        )
        self._number(info)
        return observation, reward, terminated, truncated, info

    def _number(self, info: dict[str, Any]) -> None:
        """Number the admissible commands, and add the mask to info."""
        admissible: Sequence[str] = info["admissible_commands"]
        size = len(self._commands)
        if self._fixed is None:
            # By index: the commands of the numbers change at every step.
            numbers: list[int] = list(range(min(len(admissible), size)))
            self._commands = (*admissible[:size], *[NO_COMMAND] * (size - len(admissible)))
        else:
            numbers = [self._fixed[command] for command in admissible if command in self._fixed]
        dropped = len(admissible) - len(numbers)
        if dropped and self.overflow == "raise":
            raise ValueError(self._too_many(admissible))
        if dropped:
            info["dropped_commands"] = dropped
        # A new array, since callers and snapshots may keep the last one.
        self._mask = np.zeros(size, dtype=np.bool_)
        self._mask[numbers] = True
        info["action_mask"] = self._mask.astype(np.int8)

    def _too_many(self, admissible: Sequence[str]) -> str:
        advice = "or drop what is left over with overflow='drop'"
        if self._fixed is None:
            n = len(self._commands)
            return f"{len(admissible)} commands are admissible but n is {n}: raise it, {advice}"
        left = next(command for command in admissible if command not in self._fixed)
        return f"the admissible command {left!r} is not among commands: add it, {advice}"

    def _state(self) -> tuple[tuple[str, ...], bytes]:
        return self._commands, self._mask.tobytes()

    def _set_state(self, state: tuple[tuple[str, ...], bytes]) -> None:
        self._commands = state[0]
        self._mask = np.frombuffer(state[1], dtype=np.bool_)


def _numbered(commands: Sequence[str]) -> dict[str, int]:
    # A text is a sequence of texts, too.
    is_text = isinstance(commands, str)
    if is_text or not commands or not all(isinstance(command, str) for command in commands):
        raise ValueError(f"expected a sequence of one or more commands, got {commands!r}")
    numbers: dict[str, int] = {}
    for index, command in enumerate(commands):
        if command in numbers:
            raise ValueError(f"duplicate command {command!r}")
        numbers[command] = index
    return numbers
