"""Expert trajectories for training: dialogues in ShareGPT's format, optionally with thoughts, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.agents.baselines.expert import ExpertAgent
from textcraft_gym.cache import atomic_write
from textcraft_gym.errors import Unsupported, at_least
from textcraft_gym.evaluation.episode import Episode, run_episode
from textcraft_gym.registration import default_split, make_for
from textcraft_gym.task import Task, task_hash
from textcraft_gym.wrappers.think_actions import ANSWER, THOUGHTS
from textcraft_gym.wrappers.transcript_recorder import message

Demonstration: TypeAlias = dict[str, Any]
Turns: TypeAlias = list[dict[str, Any]]
Thoughts: TypeAlias = Callable[[Any, Sequence[str]], list[str]]
"""Returns the thought before each action of a task's plan; empty for no thought."""


class Written(NamedTuple):
    """Number of demonstrations written, and of tasks without one."""

    demonstrations: int
    left_out: int


def demonstrations(
    env_id: str,
    split: str | None = None,
    *,
    thoughts: bool = False,
    seed: int = 0,
    limit: int | None = None,
    **env_args: Any,
) -> Iterator[Demonstration | None]:
    """Yield a demonstration of each task of a split, None where the expert does not win within the registered steps.

    A demonstration has ``item_id``, ``env``, ``split``, ``seed``, ``task``, ``task_hash`` (see ``task_hash``),
    ``conversations``, ``optimal_length`` and ``won``. The conversation begins with the observation of the reset; each
    turn is ``{"from": "human" or "gpt", "value": ..., "loss": ...}``, with a loss on the turns of ``gpt``: an action,
    or a thought in the format of ``ReActAgent``, ``think: ...``, answered by ``OK.`` without a step. The same arguments
    give the same demonstrations on every machine.

    Args:
        env_id: An id of the table.
        split: The split; by default that of ``gym.make``.
        thoughts: Add thoughts before actions.
        seed: The seed of every reset.
        limit: Maximum number of tasks.
        env_args: Further arguments of ``gym.make``.

    Raises:
        UnknownName: For an environment, split or argument that does not exist.
        Unsupported: For thoughts of an environment that offers none.
        ValueError: If seed or limit are out of bounds.
    """
    at_least("seed", seed, 0)
    if limit is not None:
        at_least("limit", limit, 1)
    split = split or default_split(env_id)
    chosen = {} if split is None else {"split": split}
    with closing(make_for(ExpertAgent(), env_id, **chosen, **env_args)) as env:
        if thoughts and not env.has_wrapper_attr("thoughts"):
            raise Unsupported(f"{env_id} offers no thoughts: it has no method thoughts(task, plan)")
        think: Thoughts = env.get_wrapper_attr("thoughts") if thoughts else _no_thoughts
        tasks: Sequence[Task] = env.get_wrapper_attr("tasks")[:limit]
        # A lost task yields None instead of nothing, so that callers can count it.
        for task in tasks:
            episode = run_episode(env, ExpertAgent(), task=task.id, seed=seed)
            actions = [action for action, _ in episode.transcript if action is not None]
            yield (
                {
                    "item_id": f"{env_id}/{task.id}",
                    "env": env_id,
                    "split": split,
                    "seed": seed,
                    "task": task.id,
                    "task_hash": task_hash(env_id, task),
                    "conversations": _dialogue(episode, think(task, actions)),
                    "optimal_length": task.optimal_length,
                    "won": True,
                }
                if episode.won
                else None
            )


def write_demonstrations(found: Iterator[Demonstration | None], file: str | Path) -> Written:
    """Write demonstrations as JSON lines; the file is written atomically.

    Raises:
        OSError: If it cannot be written.
    """
    demos = list(found)
    lines = [json.dumps(demo) + "\n" for demo in demos if demo is not None]
    atomic_write(Path(file), "".join(lines))
    return Written(len(lines), len(demos) - len(lines))


def _no_thoughts(task: Task, actions: Sequence[str]) -> list[str]:
    return [""] * len(actions)


def _dialogue(episode: Episode, thoughts: Sequence[str]) -> Turns:
    (_, opening), *turns = episode.transcript
    dialogue = [message("human", opening)]
    for (action, observation), thought in zip(turns, thoughts, strict=True):
        if thought:
            dialogue += [message("gpt", f"{THOUGHTS[0]} {thought}"), message("human", ANSWER)]
        dialogue += [message("gpt", str(action)), message("human", observation)]
    return dialogue
