"""The trajectories of a run folder, for training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.manual import manual
from textcraft_gym.registration import SUITE
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.storage.trajectories import Trajectory

DEFAULT_GAME = "default"


def run_trajectories(folder: str | Path, *, won_only: bool = False) -> Iterator[Trajectory | None]:
    """Yield the trajectory of each episode of a run, None of one without an action, and where only wins are wanted.

    Of an episode with several trials or branches it is the way to the last action (see
    ``last_way``), with which the agents of the suite end when they win. ``won`` and ``reward`` are
    the episode's. The system message is the game's manual, whatever the agent told its model; an
    agent's thoughts are no actions, and not part of it.

    Args:
        folder: The run folder; an unfinished one has the episodes that ended.
        won_only: Leave out episodes that were not won, or of which that is not known.

    Raises:
        RunError: If it is no run folder.
    """
    config = read_config(folder)
    system = _manual(config)
    for record in read_records(folder):
        turns = last_way(record["transcript"], dict(record["restores"]))
        if not turns or (won_only and record["won"] is not True):
            yield None
            continue
        yield Trajectory(
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
    transcript: Sequence[tuple[str | None, str]], restores: Mapping[int, int]
) -> list[tuple[str, str]]:
    """Return what the player read and answered on the way to its last action, without what it took back.

    The way begins at the last reset before that action; a return to an earlier moment goes on from
    there.

    Args:
        transcript: The transcript of an episode.
        restores: The entries that are returns, each with the entry whose moment it leads to.
    """
    actions = [index for index, (action, _) in enumerate(transcript) if action is not None]
    index = actions[-1] if actions else 0
    way: list[tuple[str, str]] = []
    while actions:
        action, _ = transcript[index]
        if index in restores:
            index = restores[index]
        elif action is None:
            break
        else:
            index -= 1
            way.append((transcript[index][1], action))
    return way[::-1]


def _manual(config: Mapping[str, Any]) -> str:
    """Return the manual of a run's game; to ask a foreign world for its own would run code that the folder names."""
    if config["env"] not in SUITE:
        return Prompts().manual(DEFAULT_GAME)
    # Of the arguments only the dialect changes the manual.
    return manual(
        config["env"],
        **{name: value for name, value in config["env_args"].items() if name == "dialect"},
    )
