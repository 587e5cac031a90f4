"""What the integrations of other frameworks share: episodes of text, and starts of a split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import islice, product
from typing import Any, NamedTuple

import gymnasium as gym

from textcraft_gym.agents.contract.agent import Step, latched, won_in
from textcraft_gym.episodes.step_limit import registered_limit
from textcraft_gym.errors import at_least, sequence
from textcraft_gym.manual import command_reader
from textcraft_gym.registration import check_is_text, find
from textcraft_gym.task import UNGROUPED, Task, tasks_of
from textcraft_gym.wrappers.registry import make_wrapper

EPISODE_ARGUMENTS = ("split", "max_steps", "wrappers", "read")
"""The arguments of a ``TextEpisode`` beside those of its environment."""
OVER = "The episode is over: reset begins another."
"""The answer to a command after the end of an episode."""
WON, LOST = "The game is won.", "The game is over."
"""The last line of a tool's answer at the end of a game, which tells an agent's loop to stop."""
MARKS = (WON, LOST, OVER)
"""Last lines that mark the end of a game."""


class TextEpisode:
    """An episode for frameworks that call functions with text; it never raises at its end.

    It sums the reward. ``reset`` and ``step`` return what the player reads, the same bytes as
    ``gym.make``'s environment. The object is played as often as wanted: ``reset`` begins the next
    episode. After the end of one, ``step`` answers ``OVER`` and changes nothing.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        split: The split from which tasks are drawn; by default that of ``gym.make``.
        max_steps: Maximum number of commands, at which the episode is over; by default the limit
            registered for the id.
        wrappers: Wrappers around the environment as in an evaluation, ``NAME`` or
            ``module:Class,option=value``, innermost first.
        read: Returns the command in what ``step`` is given; by default it is found as agents find
            it; ``str`` to play a reply as it is.
        env_args: Further arguments of ``gym.make``.

    Attributes:
        env: The environment.
        task: The id of the task; None before the first reset, and for an environment without tasks.
        observation: What the player read last in the game.
        last: The last step; after a reset one with a reward of 0.
        reward: Sum of the rewards.
        won: Whether the episode was won; None if the environment has not said so.
        over: Whether it is over; so it is before the first reset.
        steps: Number of commands played.
        invalid: Number of commands that had no effect.

    Raises:
        UnknownName: For an id, a split, an argument or a wrapper that does not exist.
        ValueError: For an environment that is not of text, or ``max_steps`` below 1.
    """

    def __init__(
        self,
        env_id: str,
        *,
        split: str | None = None,
        max_steps: int | None = None,
        wrappers: Iterable[str] = (),
        read: Callable[[str], str] | None = None,
        **env_args: Any,
    ) -> None:
        find(env_id).check_arguments(env_args, EPISODE_ARGUMENTS)
        if max_steps is not None:
            at_least("max_steps", max_steps, 1)
        self.env = _made(env_id, split, wrappers, env_args)
        self.max_steps = max_steps or registered_limit(self.env)
        self._reader = command_reader(env_id, **env_args)
        self._answered: set[tuple[str, str]] = set()
        self.read = read or self._command
        self.task: str | None = None
        self.last = Step(
            "",
            0.0,
            terminated=False,
            truncated=False,
            info={},
        )
        self.reward = 0.0
        self.won: bool | None = None
        self.over = True
        self.steps = self.invalid = 0

    @property
    def observation(self) -> str:
        """What the player read last in the game."""
        return self.last.observation

    def reset(
        self,
        task: str | None = None,
        seed: int | None = None,
    ) -> str:
        """Begin an episode and return its first observation.

        Args:
            task: A task id; None to have the seed draw one from the split.
            seed: The seed; None to go on from the last, or to begin at random.

        Raises:
            UnknownName: For a task that does not exist.
        """
        options = None if task is None else {"task": task}
        observation, info = self.env.reset(seed=seed, options=options)
        self.task = info.get("task", task)
        self.last = Step(
            observation,
            0.0,
            terminated=False,
            truncated=False,
            info=info,
        )
        self.reward = 0.0
        self.won, self.over = won_in(info), False
        self.steps = self.invalid = 0
        self._answered.clear()
        return observation

    def _command(self, reply: str) -> str:
        return self._reader.read(reply, self._answered).command

    def step(self, reply: str) -> str:
        """Play the command in a reply and return the game's answer, after the end ``OVER``.

        Raises:
            ResetNeeded: Before the first reset.
            TypeError: If the reply is not a string.
        """
        # Before the first reset the environment itself refuses.
        if self.over and self.steps:
            return OVER
        if not isinstance(reply, str):
            raise TypeError(f"expected a reply of text, got {type(reply).__name__}")
        command = self.read(reply)
        observation, reward, terminated, truncated, info = self.env.step(command)
        self._answered.add((command, observation.partition("\n")[0]))
        self.steps += 1
        truncated = truncated or self.steps >= self.max_steps
        self.last = Step(observation, float(reward), terminated, truncated, info)
        self.reward += self.last.reward
        self.won = latched(self.won, info)
        self.over = self.last.terminated or self.last.truncated
        self.invalid += "invalid_reason" in info
        return observation

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


class Start(NamedTuple):
    """The beginning of an episode; the same on every machine.

    Attributes:
        task: The task id; None in an environment without tasks, where the seed decides.
        seed: The seed of the reset.
        group: The row of the result tables in which the task counts.
        observation: The first observation.
    """

    task: str | None
    seed: int
    group: str
    observation: str


def starts(
    env_id: str,
    split: str | None = None,
    *,
    seeds: int | Sequence[int] = 1,
    limit: int | None = None,
    wrappers: Iterable[str] = (),
    **env_args: Any,
) -> list[Start]:
    """Return the starts of a split: every task in the split's order with each seed.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        split: The split; by default that of ``gym.make``.
        seeds: The seeds of each task, or their number, counted from 0.
        limit: Maximum number of starts.
        wrappers: Wrappers around the environment, as those of a ``TextEpisode``.
        env_args: Further arguments of ``gym.make``.

    Raises:
        UnknownName: For an environment, a split, an argument or a wrapper that does not exist.
        ValueError: If seeds or limit are out of bounds.
    """
    find(env_id).check_arguments(env_args, ("split", "seeds", "limit", "wrappers"))
    if isinstance(seeds, int):
        at_least("seeds", seeds, 1)
        seeds = range(seeds)
    for seed in seeds:
        at_least("each seed", seed, 0)
    if limit is not None:
        at_least("limit", limit, 0)
    with closing(_made(env_id, split, wrappers, env_args)) as env:
        tasks: Sequence[Task | None] | None = tasks_of(env)
        if tasks is None:
            tasks = (None,)
        return [_start(env, task, seed) for task, seed in islice(product(tasks, seeds), limit)]


def _start(
    env: gym.Env[str, str],
    task: Task | None,
    seed: int,
) -> Start:
    task_id = None if task is None else task.id
    options = None if task is None else {"task": task_id}
    observation, _ = env.reset(seed=seed, options=options)
    return Start(task_id, seed, getattr(task, "group", UNGROUPED), observation)


def _made(
    env_id: str,
    split: str | None,
    wrappers: Iterable[str],
    env_args: Mapping[str, Any],
) -> gym.Env[str, str]:
    """Return an environment in its wrappers; one without splits is given none."""
    sequence("wrappers", "names", wrappers)
    if split is not None:
        env_args = {"split": split, **env_args}
    env = find(env_id).make(**env_args)
    for wrapper in wrappers:
        env = make_wrapper(wrapper, env)
        check_is_text(env, wrapper.partition(",")[0])
    return env
