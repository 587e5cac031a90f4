"""The expert's trajectories, optionally with thoughts, for training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, TypeAlias

from textcraft_gym.agents.baselines.expert import ExpertAgent
from textcraft_gym.episodes.episode import Episode, run_episode
from textcraft_gym.errors import Unsupported, at_least
from textcraft_gym.manual import manual
from textcraft_gym.registration import find
from textcraft_gym.storage.trajectories import Row, Trajectory, find_format, rows
from textcraft_gym.task import Task, task_hash
from textcraft_gym.wrappers.think_actions import ANSWER, THOUGHTS

Thoughts: TypeAlias = Callable[[Any, Sequence[str]], list[str]]
"""Returns the thought before each action of a task's plan; empty for no thought."""

THINK = (
    f"\n\nA reply that begins with {THOUGHTS[0]} is a thought, which the game answers with {ANSWER}"
)
"""End of the system message where the expert thinks."""


def demonstrations(
    env_id: str,
    split: str | None = None,
    *,
    format: str = "sharegpt",
    thoughts: bool = False,
    seed: int = 0,
    limit: int | None = None,
    **env_args: Any,
) -> Iterator[Row | None]:
    """Yield a demonstration of each task of a split, None where the expert does not win.

    A demonstration has ``item_id``, ``env``, ``task``, ``seed``, ``split``, ``task_hash`` (see
    ``task_hash``), ``optimal_length``, ``won``, ``reward`` and a dialogue, by default as
    ``conversations``: it begins with the game's first observation and ends with the last action.
    The system message is the game's manual. The same arguments give the same demonstrations on
    every machine.

    Args:
        env_id: An id of the table.
        split: The split; by default that of ``gym.make``.
        format: The form of the dialogue: ``openai``, ``sharegpt``, ``trl`` (a row for each action)
            or ``verl``.
        thoughts: Add thoughts before actions, in the format of ``ReActAgent``: ``think: ...``,
            answered by ``OK.`` without a step.
        seed: The seed of every reset.
        limit: Maximum number of tasks.
        env_args: Further arguments of ``gym.make``.

    Raises:
        UnknownName: For an environment, split, format or argument that does not exist.
        Unsupported: For thoughts of an environment that offers none.
        ValueError: If seed or limit are out of bounds.
    """
    form = find_format(format)
    for trajectory in expert_trajectories(
        env_id,
        split,
        thoughts=thoughts,
        seed=seed,
        limit=limit,
        **env_args,
    ):
        if trajectory is None:
            yield None
        else:
            yield from rows(trajectory, form)


def expert_trajectories(
    env_id: str,
    split: str | None = None,
    *,
    thoughts: bool = False,
    seed: int = 0,
    limit: int | None = None,
    **env_args: Any,
) -> Iterator[Trajectory | None]:
    """Yield the expert's trajectory for each task of a split, as ``demonstrations`` does."""
    at_least("seed", seed, 0)
    if limit is not None:
        at_least("limit", limit, 1)
    world = find(env_id)
    split = split or world.default_split(env_args)
    chosen = {} if split is None else {"split": split}
    with closing(world.make(ExpertAgent(), **chosen, **env_args)) as env:
        system = manual(env_id, **env_args)
        think: Thoughts = _no_thoughts
        if thoughts:
            if not env.has_wrapper_attr("thoughts"):
                raise Unsupported(f"{env_id} has no thoughts: no method thoughts(task, plan)")
            think = env.get_wrapper_attr("thoughts")
            system += THINK
        tasks: Sequence[Task] = env.get_wrapper_attr("tasks")[:limit]
        for task in tasks:
            episode = run_episode(env, ExpertAgent(), task=task.id, seed=seed)
            if not episode.won:
                yield None  # so that callers can count it
                continue
            actions = [action for action, _ in episode.transcript if action is not None]
            turns = _turns(episode, think(task, actions))
            about = {
                "split": split,
                "task_hash": task_hash(env_id, task),
                "optimal_length": task.optimal_length,
            }
            yield Trajectory(
                env_id,
                task.id,
                seed,
                turns,
                won=True,
                reward=episode.reward,
                system=system,
                about=about,
            )


def _no_thoughts(task: Task, actions: Sequence[str]) -> list[str]:
    return [""] * len(actions)


def _turns(episode: Episode, thoughts: Sequence[str]) -> list[tuple[str, str]]:
    """Return what the expert read and answered, its thoughts included."""
    (_, read), *played = episode.transcript
    turns = []
    for (action, observation), thought in zip(played, thoughts, strict=True):
        if thought:
            turns.append((read, f"{THOUGHTS[0]} {thought}"))
            read = ANSWER
        turns.append((read, str(action)))
        read = observation
    return turns
