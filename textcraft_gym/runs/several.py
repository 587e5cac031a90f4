"""Several runs under one limit of money, tokens and time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from textcraft_gym.episodes.budget import Budget
from textcraft_gym.errors import RunStopped
from textcraft_gym.reports.records import Record
from textcraft_gym.runs.run_budget import budget_of, rest_of
from textcraft_gym.runs.run_spec import RunSpec

Name = TypeVar("Name")


class Part(NamedTuple):
    """One of several runs.

    Attributes:
        folder: Its run folder.
        spec: Makes its spec when its turn comes.
        before: Folders of runs that making the spec may play, such as those of a training; parts
            may share them.
    """

    folder: Path
    spec: Callable[[], RunSpec]
    before: tuple[Path, ...] = ()


def play_several(
    parts: Iterable[tuple[Name, Part]],
    limits: RunSpec,
    run: Callable[[RunSpec, Path], Sequence[Record]],
    whole: str,
) -> Iterator[tuple[Name, Sequence[Record]]]:
    """Play runs one after the other, and yield the records of each.

    Args:
        parts: The runs by what they are called.
        limits: A spec with the limits of all runs together.
        run: Plays one run, and raises what it stopped by.
        whole: What the runs are together, in a word.

    Raises:
        RunStopped: If a run stopped, and with it all.
    """
    parts = list(parts)
    folders: dict[Path, None] = {}  # parts may share some
    for _, part in parts:
        folders |= dict.fromkeys((part.folder, *part.before))
    budget = budget_of(limits, folders)
    for name, part in parts:
        # What making the spec plays counts itself what is in its folders.
        _move(budget, limits, part.before, -1)
        spec = part.spec()
        _move(budget, limits, part.before, +1)
        _move(budget, limits, [part.folder], -1)  # the run itself counts what is in its folder
        stopped: RunStopped | None = None
        records: Sequence[Record] = ()
        try:
            records = run(rest_of(spec, budget), part.folder)
        except RunStopped as stop:
            stopped = stop
        _move(budget, limits, [part.folder], +1)
        if stopped:
            raise _of_all(stopped, budget, whole) from stopped
        yield name, records


def _move(
    budget: Budget,
    limits: RunSpec,
    folders: Iterable[Path],
    sign: int,
) -> None:
    """Add what some folders have cost to a budget, or take it away."""
    spent = budget_of(limits, folders)
    budget.spend(sign * spent.cost, sign * spent.tokens)


def _of_all(stop: RunStopped, budget: Budget, whole: str) -> RunStopped:
    """Return what stopped several runs: at their limit that of all, else what stopped the run."""
    if not stop.at_limit:
        return RunStopped(str(stop), at_limit=False)
    how = "Start it again with a higher limit" if budget.is_spent else "Start it again"
    return RunStopped(
        f"stopped at the limit of the {whole}: {budget.state}. {how} to go on.",
        at_limit=True,
    )
