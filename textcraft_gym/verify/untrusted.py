"""A run that may be from anybody: its config is checked before anything that it names is made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
"""Maximum number of wrappers of such a run, each of which may double what is read."""


def check_bounds(config: Mapping[str, Any], folder: str | Path) -> None:
    """Make sure that a run is small enough to be rechecked.

    Raises:
        RunError: If it has too many tasks, repeats or wrappers.
    """
    for name, most in (("limit", MAX_LIMIT), ("repeats", MAX_REPEATS)):
        if (config[name] or 0) > most:
            raise RunError(f"{folder}: expected {name} of {most} or less, got {config[name]}")
    if len(config["wrappers"]) > MAX_WRAPPERS:
        raise RunError(
            f"{folder}: expected {MAX_WRAPPERS} wrappers or less, got {len(config['wrappers'])}"
        )


def foreign_spec(
    config: Mapping[str, Any],
    trusted: Collection[str],
    env_args: Mapping[str, Any],
    split: str | None,
    prompts: str | Path | None,
) -> RunSpec:
    """Return the spec of a run, without its models, which a replay does not ask.

    Raises:
        RunError: If the environment or a wrapper is not the suite's nor trusted, or an argument
            names a pipe or device.
    """
    # A recorder would write the episodes to its file again, and changes nothing that the agent
    # reads.
    kept = [name for name in config["wrappers"] if split_fields(name)[:1] != ["TranscriptRecorder"]]
    for name in (
        config["env"],
        *(split_fields(wrapper)[0] for wrapper in kept if split_fields(wrapper)),
    ):
        if not is_trusted(name, trusted):
            named = (
                ("code of a module", "name the module")
                if ":" in name
                else ("what is not the suite's", "name it")
            )
            raise RunError(
                f"the run names {named[0]}, {name!r}: if you trust it, {named[1]} with --trust"
            )
    split = split or config["split"]
    prompts = prompts or config["prompts"]
    for named in (
        *env_args.values(),
        prompts,
        *((split, split.rpartition(":")[0]) if split else ()),
    ):
        if isinstance(named, str) and _is_endless(named):
            raise RunError(f"the run names {named!r}, which is no file")
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
        raise RunError(f"the config cannot be read: {error}") from error


def is_trusted(name: str, trusted: Collection[str]) -> bool:
    """Return whether a name is one of a world, a wrapper or an agent of the suite, or one that the user trusts.

    Others that are installed, such as Gymnasium's worlds, are not the suite's, and neither is
    MineDojo's game.

    Args:
        name: The name, or the ``module:name``.
        trusted: Names, and modules.
    """
    module, colon, _ = name.rpartition(":")
    if not colon:
        return name in (*BUNDLED, *wrappers.__all__, *AGENTS, *trusted)
    return any(f"{module}.".startswith(f"{known}.") for known in trusted if known)


def _is_endless(path: str) -> bool:
    try:
        return Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())
    except (OSError, ValueError):  # no path at all
        return False
