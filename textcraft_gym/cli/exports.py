"""The trajectories of a run folder, for training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.manual import manual
from textcraft_gym.registration import SUITE
from textcraft_gym.reports.records import Record, read_config, read_records
from textcraft_gym.storage.trajectories import Trajectory

DEFAULT_GAME = "default"


def run_trajectories(
    folder: str | Path,
    *,
    won_only: bool = False,
    limit: int | None = None,
) -> Iterator[Trajectory | None]:
    """Yield the trajectory of each episode of a run, None for one that is left out.

    An episode without an action is left out, and with ``won_only`` one that was not won. With
    several trials or branches, the trajectory is the way to the last action (see ``last_way``),
    with which the agents of the suite end when they win. ``won`` and ``reward`` are the episode's.
    The system message is the game's manual, whatever the agent told its model; an agent's thoughts
    are no actions, and not part of it.

    Args:
        folder: The run folder; an unfinished one has the episodes that ended.
        won_only: Leave out episodes that were not won, or of which that is not known.
        limit: Maximum number of trajectories; None for all.

    Raises:
        RunError: If it is no run folder.
    """
    config = read_config(folder)
    system = _manual(config)
    wanted = 0
    for record in read_records(folder):
        if wanted == limit:
            return
        turns = last_way(record["transcript"], dict(record["restores"]))
        is_wanted = record["won"] is True or not won_only
        if turns and is_wanted:
            wanted += 1
            yield _trajectory(config, record, turns, system)
        else:
            yield None


def _trajectory(
    config: Mapping[str, Any],
    record: Record,
    turns: Sequence[tuple[str, str]],
    system: str,
) -> Trajectory:
    return Trajectory(
        config["env"],
        record["task"],
        record["seed"],
        turns,
        won=record["won"],
        reward=record["reward"],
        system=system,
        about={
            "split": config["split"],
            "agent": config["agent"],
            "model": config.get("model"),
            "repeat": record["repeat"],
            "stop_reason": record["stop_reason"],
        },
    )


def last_way(
    transcript: Sequence[tuple[str | None, str]],
    restores: Mapping[int, int],
) -> list[tuple[str, str]]:
    """Return what the player read and answered on the way to its last action.

    The way begins at the last reset before that action, and leaves out what was taken back: a
    return to an earlier moment continues from there.

    Args:
        transcript: The transcript of an episode.
        restores: The entries that are returns, each with the entry whose moment it leads to.
    """
    actions = [index for index, (action, _) in enumerate(transcript) if action is not None]
    if not actions:
        return []

    # Backwards from the last action: an action follows the entry before it, a return the entry
    # that it leads to.
    way: list[tuple[str, str]] = []
    index = actions[-1]
    while True:
        action, _ = transcript[index]
        if index in restores:
            index = restores[index]
        elif action is None:
            return way[::-1]
        else:
            index -= 1
            _, observation = transcript[index]
            way.append((observation, action))


def _manual(config: Mapping[str, Any]) -> str:
    """Return the manual of a run's game."""
    # To ask a foreign world for its own would run code that the folder names.
    if config["env"] not in SUITE:
        return Prompts().manual(DEFAULT_GAME)
    # Of the arguments only the dialect changes the manual.
    dialect = config["env_args"].get("dialect")
    return manual(config["env"], **({} if dialect is None else {"dialect": dialect}))
