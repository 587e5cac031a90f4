"""Fingerprints of an installation's worlds and of the release's: equal ones are the same game.

A world's fingerprint has, for each split, the number of its tasks, a digest of their ids and
contents, and for some of the tasks a digest of what is read and scored when the expert's plan and
random actions are played.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import gymnasium as gym

from textcraft_gym.registration import BUNDLED, World, find
from textcraft_gym.runs.own_code import own_code
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.task import UNGROUPED, Task, task_hash, tasks_of

if TYPE_CHECKING:
    from importlib.abc import Traversable

Fingerprint: TypeAlias = dict[str, dict[str, Any]]
"""For each split ``tasks`` (their number), ``sha256`` of them all, and ``played`` by task."""

FILE = "fingerprints.json"
PLAYED = 8
"""Number of tasks of each split that are played, evenly spaced."""
MAX_STEPS = 25
"""Actions of a random trace."""
PLAYING = ("agents", "envs", "episodes", "recipes", "storage.search", "wrappers")
"""Sub-packages whose code can change an episode."""
PLAYING_MODULES: Mapping[str, tuple[str, ...]] = {
    "textcraft_gym": (
        "commands.py",
        "goals.py",
        "plugins.py",
        "registration.py",
        "replies.py",
        "spaces.py",
        "task.py",
    ),
    "textcraft_gym.runs": ("run.py", "run_spec.py", "runner.py"),
    "textcraft_gym.runs.backends": ("worker.py",),
}
"""Modules of other packages whose code can change an episode."""
NONSENSE = "no such action \N{ELECTRIC LIGHT BULB}"


class Compared(NamedTuple):
    """A world of this installation, or the prompts, beside what the release carries.

    Attributes:
        name: The id of the environment, or ``prompts``.
        size: What was counted, in words.
        sha256: A digest of the fingerprint, by which two installations can be compared.
        changes: The differences from the release; None if the release carries nothing to compare
            with.
    """

    name: str
    size: str
    sha256: str
    changes: list[str] | None

    def lines(self, shown: int) -> list[str]:
        """Return the outcome as text, with so many of the changes at most."""
        changes = self.changes or []
        if self.changes is None:
            outcome = "is not in the release"
        elif not changes:
            outcome = "as released"
        elif len(changes) == 1:
            outcome = "1 difference from the release"
        else:
            outcome = f"{len(changes)} differences from the release"

        lines = [f"{self.name}: {outcome}; {self.size}, {self.sha256}"]
        for change in changes[:shown]:
            lines.append(f"  {change}")
        if len(changes) > shown:
            lines.append(f"  and {len(changes) - shown} more")
        return lines


def compare(env_ids: Iterable[str] = (), **env_args: Any) -> Iterator[Compared]:
    """Yield the worlds of this installation and its prompts, each beside what the release carries.

    Args:
        env_ids: The worlds; by default all that the package plays by itself, with the prompts and
            official games.
        env_args: Arguments of ``gym.make``; with any, nothing is in the release.

    Raises:
        UnknownName, ValueError: As in ``fingerprint``.
    """
    known = released()
    env_ids = tuple(env_ids)
    for env_id in env_ids or BUNDLED:
        here = fingerprint(env_id, **env_args)
        tasks = max(split["tasks"] for split in here.values())
        size = f"{tasks} tasks, {len(here)} splits"
        # Arguments make another game than the released one.
        of_release = None if env_args else known["worlds"].get(env_id)
        differences = None if of_release is None else list(changes(of_release, here))
        yield Compared(env_id, size, digest(here), differences)

    if not env_ids:
        texts = prompts()
        differences = list(changes(known["prompts"], texts))
        yield Compared("prompts", f"{len(texts)} files", digest(texts), differences)
        for folder, (games, sha256) in official_data().items():
            yield Compared(folder, f"{games} official games", sha256, None)


def fingerprint(env_id: str, **env_args: Any) -> Fingerprint:
    """Return the fingerprint of a world.

    Args:
        env_id: An id of the suite, or any whose environment lists tasks.
        env_args: Arguments of ``gym.make``.

    Raises:
        UnknownName: For an environment or an argument that does not exist.
        ValueError: If the environment lists no tasks.
    """
    made: Fingerprint = {}
    hashes: dict[str, str] = {}  # splits share tasks
    world = find(env_id)
    for split in world.splits(env_args) or (world.default_split(env_args),):
        split_args = {} if split is None else {"split": split}
        made[split or UNGROUPED] = _of_split(world, {**env_args, **split_args}, hashes)
    return made


def _of_split(
    world: World,
    env_args: Mapping[str, Any],
    hashes: dict[str, str],
) -> dict[str, Any]:
    """Return the fingerprint of one split.

    ``hashes`` holds the digests of tasks by their ids, and gets those of the split.
    """
    expert_env = _make(world, env_args, expert=True)
    env = _make(world, env_args, admissible=True)
    with closing(expert_env), closing(env):
        tasks = tasks_of(env)
        if tasks is None:
            raise ValueError(f"{world.id} lists no tasks: its episodes differ by their seeds")
        for task in tasks:
            if task.id not in hashes:
                hashes[task.id] = task_hash(world.id, task)
        some = tasks[:: -(-len(tasks) // PLAYED)]
        return {
            "tasks": len(tasks),
            "sha256": digest([[task.id, hashes[task.id]] for task in tasks]),
            "played": {task.id: digest(list(_played(env, expert_env, task))) for task in some},
        }


def code(*own: object) -> str:
    """Return a digest of the sources that can change an episode: worlds, agents, prompts, the loop.

    A comment changes it as well: only an episode shows whether new code changes one.

    Args:
        own: What plays: an agent, a world, wrappers and models. The code of those that are not of
            the suite has a digest of its own, behind a plus sign.
    """
    theirs = own_code(own)
    return f"{_suite()}+{theirs}" if theirs else _suite()


@cache
def _suite() -> str:
    sources = hashlib.sha256()
    for part in PLAYING:
        for source in _sources(files(f"textcraft_gym.{part}")):
            sources.update(source)
    for package, names in PLAYING_MODULES.items():
        for name in names:
            sources.update((files(package) / name).read_bytes())
    return sources.hexdigest()[:16]


def _sources(folder: Traversable) -> Iterator[bytes]:
    """Yield the path and the content of each source file below a folder of the package."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith((".py", ".txt", ".json")):
            yield entry.name.encode()
            yield entry.read_bytes()
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
            yield entry.name.encode()
            yield from _sources(entry)


def prompts() -> dict[str, str]:
    """Return a digest of each bundled prompt."""
    texts = dict(_texts_in(files("textcraft_gym.agents.prompts")))
    return {name: digest(texts[name]) for name in sorted(texts)}


def _texts_in(folder: Traversable, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the content of each text file in a folder of the package and below it."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _texts_in(entry, f"{path}{entry.name}/")
        elif entry.name.endswith(".txt"):
            yield f"{path}{entry.name}", entry.read_text(encoding="utf-8")


def released() -> dict[str, Any]:
    """Return the fingerprints that the release carries."""
    known: dict[str, Any] = json.loads((files(__package__) / FILE).read_text(encoding="utf-8"))
    return known


def changes(known: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    """Yield each difference of a world's or the prompts' fingerprint from that of the release.

    Args:
        known: The fingerprint of the release.
        here: That of this installation.
    """
    for name in dict.fromkeys([*known, *here]):
        if name not in here:
            yield f"{name} is missing here"
        elif name not in known:
            yield f"{name} is not in the release"
        elif isinstance(known[name], dict):
            for change in changes(known[name], here[name]):
                yield f"{name}: {change}"
        elif known[name] != here[name]:
            yield f"{name} is {known[name]} in the release, {here[name]} here"


def digest(value: Any) -> str:
    """Return the first 16 digits of the SHA-256 of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def files_digest(folder: Path, pattern: str) -> tuple[int, str]:
    """Return the number of files in a folder, and a digest of their paths and contents."""
    files = sorted(file for file in folder.glob(pattern) if file.is_file())
    sums = []
    for file in files:
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        sums.append([file.relative_to(folder).as_posix(), sha256])
    return len(files), digest(sums)


def official_data() -> dict[str, tuple[int, str]]:
    """Return number and digest of the official ALFWorld games of each split on this machine."""
    root = Path(os.environ.get("ALFWORLD_DATA") or Path.home() / ".cache" / "alfworld")
    folder = root / "json_2.1.1"
    if not folder.is_dir():
        folder = root
    if not folder.is_dir():
        return {}
    data: dict[str, tuple[int, str]] = {}
    for split in sorted(part for part in folder.iterdir() if part.is_dir()):
        games, sha256 = files_digest(split, "*/*/game.tw-pddl")
        if games:
            data[str(split)] = games, sha256
    return data


def _played(
    env: gym.Env[str, str],
    expert_env: gym.Env[str, str],
    task: Task,
) -> Iterator[Any]:
    """Yield what is read, scored and known along the expert's plan, and along random actions."""
    plan = expert_env.reset(seed=0, options={"task": task.id})[1].get("expert_plan", [])
    observation, info = env.reset(seed=0, options={"task": task.id})
    yield observation
    for action in plan:
        *answer, info = env.step(action)
        yield [action, *answer, info.get("won")]

    # The only method whose values are the same in every Python.
    draw = random.Random(task.id).random
    observation, info = env.reset(seed=1, options={"task": task.id})
    yield observation
    for _ in range(MAX_STEPS):
        choices = [*info.get("admissible_commands", []), NONSENSE]
        action = choices[int(draw() * len(choices))]
        *answer, info = env.step(action)
        yield [action, *answer, info.get("won"), info.get("invalid_reason")]
        if answer[2] or answer[3]:
            break


def _make(
    world: World,
    env_args: Mapping[str, Any],
    **wanted: Any,
) -> gym.Env[str, str]:
    """Make an environment with those of the wanted arguments that it takes."""
    known = {name: value for name, value in wanted.items() if name in world.parameters}
    return world.make(**env_args, **known)


def main(out: str) -> None:
    """Write the fingerprints of this installation into a file, for a release."""
    worlds = {env_id: fingerprint(env_id) for env_id in BUNDLED}
    release = {"worlds": worlds, "prompts": prompts()}
    atomic_write(Path(out), json.dumps(release, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
