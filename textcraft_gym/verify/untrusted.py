"""Validates an untrusted run's config before anything it names is imported."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from textcraft_gym import wrappers
from textcraft_gym.agents.registry import AGENTS
from textcraft_gym.errors import RunError
from textcraft_gym.plugins import split_fields
from textcraft_gym.registration import BUNDLED
from textcraft_gym.runs.run_spec import RunSpec

MAX_LIMIT = 200_000
"""Maximum number of tasks of a run that is rechecked."""
MAX_REPEATS = 1000
"""Maximum number of episodes of each task of such a run."""
MAX_WRAPPERS = 16
"""Maximum number of wrappers of such a run: each may double what is read."""


def check_bounds(config: Mapping[str, Any], folder: str | Path) -> None:
    """Make sure that a run is small enough to be rechecked.

    Raises:
        RunError: If it has too many tasks, repeats or wrappers.
    """
    for name, most in (("limit", MAX_LIMIT), ("repeats", MAX_REPEATS)):
        if (config[name] or 0) > most:
            raise RunError(f"{folder}: expected at most {most} as {name}, got {config[name]}")
    wrappers = len(config["wrappers"])
    if wrappers > MAX_WRAPPERS:
        raise RunError(f"{folder}: expected at most {MAX_WRAPPERS} wrappers, got {wrappers}")


def foreign_spec(
    config: Mapping[str, Any],
    trusted: Collection[str],
    env_args: Mapping[str, Any],
    split: str | None,
    prompts: str | Path | None,
) -> RunSpec:
    """Return the spec of a run, without its models: a replay asks none.

    Raises:
        RunError: If the environment or a wrapper is neither the suite's nor trusted, or an argument
            names a pipe or a device.
    """
    kept = _replayed_wrappers(config["wrappers"])
    _check_trust(config["env"], trusted)
    for wrapper in kept:
        for name in split_fields(wrapper)[:1]:
            _check_trust(name, trusted)

    split = split or config["split"]
    prompts = prompts or config["prompts"]
    for argument in (*env_args.values(), prompts, split):
        _check_path(argument)
    # A split may be a file with a part behind a colon.
    _check_path((split or "").rpartition(":")[0])
    numbers = {
        name: config[name]
        for name in ("seed", "limit", "max_steps", "max_calls", "won_at", "repeats", "temperature")
    }
    try:
        return RunSpec(
            config["env"],
            split,
            config["agent"],
            config["agent_args"],
            model=None,
            prompts=prompts,
            env_args=env_args,
            wrappers=tuple(kept),
            tasks=None if config["tasks"] is None else tuple(config["tasks"]),
            **numbers,
        )
    except ValueError as error:
        raise RunError(f"invalid config: {error}") from error


def _replayed_wrappers(wrappers: Sequence[str]) -> list[str]:
    """Return the wrappers of a run, without those that record its episodes.

    A recorder would write them to its file again, and changes nothing that the agent reads.
    """
    return [wrapper for wrapper in wrappers if split_fields(wrapper)[:1] != ["TranscriptRecorder"]]


def _check_trust(name: str, trusted: Collection[str]) -> None:
    if not is_trusted(name, trusted):
        raise RunError(
            f"{name!r}, which the run names, is not part of the suite: {how_to_trust(name)}"
        )


def how_to_trust(name: str) -> str:
    """Return what to add to the command for a name that is not trusted."""
    module, _, _ = name.rpartition(":")
    return f"if you trust it, add --trust {shlex.quote(module or name)}"


def _check_path(argument: Any) -> None:
    """Make sure that an argument names no pipe or device, whose reading may never end."""
    if isinstance(argument, str) and _is_endless(argument):
        raise RunError(f"the run names {argument!r}, which is not a regular file")


def is_trusted(name: str, trusted: Collection[str]) -> bool:
    """Return whether a name is a world, wrapper or agent of the suite, or one that is trusted.

    Others that are installed, such as Gymnasium's worlds, are not the suite's, and neither is
    MineDojo's game.

    Args:
        name: The name, or the ``module:name``.
        trusted: Names, and modules.
    """
    module, colon, _ = name.rpartition(":")
    if not colon:
        return name in (*BUNDLED, *wrappers.__all__, *AGENTS, *trusted)
    # With the dots: to trust ``game`` and what is in it is not to trust ``game_of_others``.
    return any(f"{module}.".startswith(f"{known}.") for known in trusted if known)


def _is_endless(path: str) -> bool:
    try:
        return Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())
    except (OSError, ValueError):  # not a path
        return False
