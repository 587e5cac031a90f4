"""Agents as people write them: an object with ``act``, a class of such, or a function.

Such an agent knows nothing of requests and traces. It is played in threads, so that many of its
episodes wait for their models at once, and no episode has the history of another.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import fields
from typing import Any

from textcraft_gym.agents.contract.agent import Play, Report, Routine, Step
from textcraft_gym.agents.models.event_loop import submit
from textcraft_gym.plugins import one_line

FORMS = (
    "a function (observation[, info]) -> action, or a class or an object with "
    "act(observation[, info]) or episode(play)"
)
"""What an agent can be."""
REPORTED = tuple(field.name for field in fields(Report))
"""What an agent can report of its own calls."""

_ACT = ("observation", "observation, info", "observation, reward, done, info")
_RESET = ("", "observation", "observation, info")
"""The arguments that ``act`` and ``reset`` can have."""
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class OwnAgent:
    """An agent as its author wrote it, as one of the contract.

    - A class is made anew for each episode.
    - An object with ``reset([observation[, info]])`` is reset before each episode, and copied for
      episodes that are played at the same time. One without is copied for each episode, as it is at
      the beginning.
    - A function is called as it is: it is to keep nothing of an episode.

    ``act``, or the call of a function or an object without ``act``, is given the observation; a
    second argument is the info. With four they are the observation, the last reward, whether the
    episode is over, and the info. It returns the action, or a pair of the action and what it took,
    a mapping of fields of ``Report``. It may be a coroutine function.

    Args:
        name: Its name, for messages.
        agent: The object or the function; of a class, the first one that was made.
        make: Makes another one, of a class; None for anything else.

    Raises:
        ValueError: If it is no agent, or cannot be copied; the message is one line.
    """

    asks = False

    def __init__(
        self,
        name: str,
        agent: Any,
        make: Callable[[], Any] | None = None,
    ) -> None:
        self.name = name
        self.max_steps: int | None = getattr(agent, "max_steps", None)
        self.env_args: Mapping[str, Any] = getattr(agent, "env_args", {})
        self._agent = agent
        self._make = make or self._copy
        self._idle = [_Player(name, agent)]
        self._is_reset = False
        if make is None:
            self._is_reset = hasattr(agent, "reset")
            if not self._is_reset:
                self._idle = [_Player(name, self._copy())]

    def play_at_once(self, episodes: int) -> None:
        """Be ready for this many episodes at the same time.

        Raises:
            ValueError: If there can be no copies of an object.
        """
        while self._is_reset and len(self._idle) < episodes:
            self._idle.append(_Player(self.name, self._copy()))

    def episode(self, play: Play) -> Routine:
        """Play until the end."""
        step, player = play.first, self._free()
        try:
            player = yield from play.compute(self._begun, player, step)
            while True:
                reply = yield from play.compute(player.act, step)
                action, took = _read(reply)
                if took is not None:
                    play.report(**{"seconds": player.seconds, **took})
                step = yield from play.act(action)
        finally:
            if player is not None and self._is_reset:
                self._idle.append(player)

    def _free(self) -> _Player | None:
        """Return a player that no episode has; None if one is to be made.

        Raises:
            RuntimeError: If all are busy with episodes that ran out of time.
        """
        for player in self._idle:
            if not player.is_busy:
                self._idle.remove(player)
                return player
        if self._is_reset:
            raise RuntimeError(f"{self.name} has not come back from an episode that was given up")
        return None

    def _begun(self, player: _Player | None, first: Step) -> _Player:
        """Return a player that has forgotten all other episodes, or never knew them."""
        player = player or _Player(self.name, self._make())
        player.begin(first)
        return player

    def _copy(self) -> Any:
        """Return a copy of an object; of a function the function, which has nothing to copy."""
        try:
            return deepcopy(self._agent)
        except Exception as error:  # copying a user's object may raise anything
            raise ValueError(
                f"{self.name} cannot be copied for another episode ({one_line(error)}): "
                "name its class, or give it a reset() and play one episode at a time"
            ) from error


class _Player:
    """One object or function that plays, in one episode at a time.

    Attributes:
        is_busy: Whether it is being called.
        seconds: How long the last call took.
    """

    def __init__(self, name: str, agent: Any) -> None:
        act = getattr(agent, "act", agent)
        if not callable(act):
            raise ValueError(f"{name} is no agent: expected {FORMS}")
        self._act = act
        self._reset = getattr(agent, "reset", None)
        # Read here, so that what cannot be played is refused before the first episode.
        self._takes = _count(f"{name}.act" if act is not agent else name, act, _ACT)
        self._resets_by = 0
        if self._reset is not None:
            self._resets_by = _count(f"{name}.reset", self._reset, _RESET)
        self.is_busy = False
        self.seconds = 0.0

    def begin(self, first: Step) -> None:
        """Forget all episodes before."""
        if self._reset is not None:
            self._call(self._reset, (first.observation, first.info)[: self._resets_by])

    def act(self, step: Step) -> Any:
        """Return what it does after a step."""
        given: tuple[Any, ...] = (step.observation, step.info)[: self._takes]
        if self._takes > 2:
            done = step.terminated or step.truncated
            given = (step.observation, step.reward, done, step.info)
        return self._call(self._act, given)

    def _call(
        self,
        function: Callable[..., Any],
        given: tuple[Any, ...],
    ) -> Any:
        self.is_busy = True
        start = time.perf_counter()
        try:
            result = function(*given)
            return submit(result).result() if inspect.iscoroutine(result) else result
        finally:
            self.seconds = time.perf_counter() - start
            self.is_busy = False


def _count(
    name: str,
    function: Callable[..., Any],
    forms: tuple[str, ...],
) -> int:
    """Return how many arguments to give to a function: those that it needs, and an ``info``.

    Raises:
        ValueError: If it cannot be called in any of the forms.
    """
    counts = [len(form.split(", ")) if form else 0 for form in forms]
    try:
        signature = inspect.signature(function).replace(return_annotation=inspect.Signature.empty)
    except (TypeError, ValueError):  # such as of a compiled function, which tells none
        return 2
    taken = _taken(signature)
    if taken is None or taken not in counts:
        short = re.split("[.:]", name)[-1]
        possible = " or ".join(f"{short}({form})" for form in forms)
        raise ValueError(f"{name} takes {signature}: expected {possible}")
    return taken


def _taken(signature: inspect.Signature) -> int | None:
    """Return how many arguments are given by position; None if one is needed by keyword."""
    taken = 0
    for parameter in signature.parameters.values():
        is_needed = parameter.default is parameter.empty
        if parameter.kind is parameter.VAR_POSITIONAL:
            taken = max(taken, 2)
        elif parameter.kind in _POSITIONAL:
            taken += is_needed or (taken == 1 and parameter.name == "info")
        elif parameter.kind is parameter.KEYWORD_ONLY and is_needed:
            return None
    return taken


def _read(reply: Any) -> tuple[Any, Mapping[str, Any] | None]:
    """Return the action of a reply, and what it reports of its calls; None if it reports nothing.

    Raises:
        ValueError: For a report without any known field.
    """
    if not isinstance(reply, tuple):
        return reply, None
    if len(reply) != 2 or not isinstance(reply[1], Mapping):
        raise ValueError(f"expected an action, or an action and a mapping, got {reply!r}"[:500])
    action, report = reply
    took = {name: report[name] for name in REPORTED if name in report}
    if not took:
        raise ValueError(f"expected some of {', '.join(REPORTED)}, got {', '.join(report)}")
    return action, took
