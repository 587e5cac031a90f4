"""The config of a run folder that may be from anybody: it is checked before anything that it names is made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from textcraft_gym.agents.loading import split_fields
from textcraft_gym.errors import RunError
from textcraft_gym.evaluation.json_types import is_of_type, type_name
from textcraft_gym.evaluation.run_folder import SCHEMA, read_config
from textcraft_gym.evaluation.run_spec import RunSpec

MAX_LIMIT = 200_000
"""Maximum number of tasks of a run that is rechecked."""
MAX_REPEATS = 1000
"""Maximum number of episodes of each task of such a run."""
MAX_FILE = 1 << 26
"""Maximum length of the config, the summary and the report, in bytes."""

_TEXT = str | None
_CONFIG: Mapping[str, Any] = {
    "env": str,
    "split": _TEXT,
    "agent": str,
    "agent_args": dict[str, Any],
    "prompts": _TEXT,
    "env_args": dict[str, Any],
    "wrappers": list[str],
    "seed": int,
    "limit": int | None,
    "tasks": list[str] | None,
    "max_steps": int,
    "max_calls": int,
    "won_at": float | None,
    "repeats": int,
    "temperature": float,
    "env_sha256": _TEXT,
    "tasks_sha256": str,
    "prompts_sha256": str,
    "version": str,
}
"""Types of the config's keys that a recheck reads."""


def read_foreign_config(folder: str | Path) -> dict[str, Any]:
    """Return the config of a run.

    Raises:
        RunError: If there is none, or it is not one of a run in the current format.
    """
    check_bounded(Path(folder) / "config.json")
    config = read_config(folder)
    if not isinstance(config, dict) or config.get("schema") != SCHEMA:
        found = config.get("schema", 1) if isinstance(config, dict) else None
        raise RunError(f"{folder}: expected a run of format {SCHEMA}, got {found!r}")
    config = {"tasks": None, **config}  # which runs of earlier versions do not name
    for name, expected in _CONFIG.items():
        if name not in config or not is_of_type(config[name], expected):
            found = repr(config[name])[:80] if name in config else "nothing"
            raise RunError(f"{folder}: expected {name} of type {type_name(expected)}, got {found}")
    for name, most in (("limit", MAX_LIMIT), ("repeats", MAX_REPEATS)):
        if (config[name] or 0) > most:
            raise RunError(f"{folder}: expected {name} of {most} or less, got {config[name]}")
    return config


def check_bounded(file: Path) -> None:
    """Make sure that a file can be read whole.

    Raises:
        RunError: If it is missing, none, or too long.
    """
    if not file.is_file():  # a pipe or a device could be read for ever
        raise RunError(f"{file} is no file")
    if file.stat().st_size > MAX_FILE:
        raise RunError(f"{file} is longer than {MAX_FILE >> 20} MiB")


def foreign_spec(
    config: Mapping[str, Any],
    trusted: Collection[str],
    env_args: Mapping[str, Any],
    split: str | None,
    prompts: str | Path | None,
) -> RunSpec:
    """Return the spec of a run, without its models, which a replay does not ask.

    Raises:
        RunError: If the environment or a wrapper is code that is not trusted, or an argument names a pipe or a device.
    """
    # A recorder would write the episodes to its file again, and changes nothing that the agent reads.
    wrappers = [name for name in config["wrappers"] if split_fields(name)[:1] != ["TranscriptRecorder"]]
    for name in (config["env"], *(split_fields(wrapper)[0] for wrapper in wrappers if split_fields(wrapper))):
        if not is_trusted(name, trusted):
            raise RunError(f"the run names code of a module, {name!r}: if you trust it, name the module with --trust")
    split = split or config["split"]
    prompts = prompts or config["prompts"]
    for named in (*env_args.values(), prompts, *((split, split.rpartition(":")[0]) if split else ())):
        if isinstance(named, str) and _is_endless(named):
            raise RunError(f"the run names {named!r}, which is no file")
    numbers = {
        name: config[name] for name in ("seed", "limit", "max_steps", "max_calls", "won_at", "repeats", "temperature")
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
            wrappers=tuple(wrappers),
            tasks=None if config["tasks"] is None else tuple(config["tasks"]),
            **numbers,
        )
    except ValueError as error:
        raise RunError(f"the config cannot be read: {error}") from error


def is_trusted(name: str, trusted: Collection[str]) -> bool:
    """Return whether a name is one of the suite, or of a module that may be imported."""
    module = name.rpartition(":")[0]
    return ":" not in name or any(f"{module}.".startswith(f"{known}.") for known in trusted if known)


def _is_endless(path: str) -> bool:
    try:
        return Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())
    except (OSError, ValueError):  # no path at all
        return False
