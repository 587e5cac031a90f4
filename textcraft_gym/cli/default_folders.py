"""Where runs go if ``--out`` names no folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import count
from pathlib import Path

from textcraft_gym.cli.terminal import say
from textcraft_gym.errors import RunError
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_folder import RunFolder
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import plan

RUNS = Path("runs")
MAX_PART = 60
"""Maximum number of characters of a part of a folder's name."""


def folder_of_run(spec: RunSpec) -> Path:
    """Return the folder of a run, ``runs/ENV-AGENT-MODEL``, and say it.

    The same command names the same folder, and so resumes. Where another run is in it, the name
    ends with a number.
    """
    described = spec.described()
    parts = [spec.env.rpartition(":")[2], described["agent"]]
    if spec.asked:
        parts.append(described["model"])
    return free_folder(parts, lambda folder: holds(folder, spec))


def free_folder(parts: Iterable[str], is_ours: Callable[[Path], bool]) -> Path:
    """Return the first folder of a name that is not there or that is ours, and say it."""
    name = "-".join(filter(None, map(short_name, parts)))
    for number in count(1):
        folder = RUNS / (name if number == 1 else f"{name}-{number}")
        if not folder.exists() or is_ours(folder):
            break
    say(f"The folder is {folder}; --out names another.", error=True)
    return folder


def holds(folder: Path, spec: RunSpec) -> bool:
    """Return whether a folder is free for a run: it is not there, or holds no other one."""
    if not folder.exists():
        return True
    with closing(Run(spec)) as run:
        identity = plan(run).identity
    try:
        RunFolder(folder).check(identity)
    except RunError:
        return False
    return True


def short_name(described: str) -> str:
    """Return the name in a description of an agent or a model: ``gpt-4o`` of ``openai:gpt-4o,...``.

    A class is named without its module, a file without its folder.
    """
    name, _, _ = described.partition(",")
    last = re.split(r"[:/\\]", name)[-1] or name
    return re.sub(r"[^\w.+-]+", "-", last).strip("-.")[:MAX_PART]
