"""Runs as a paper's table has them: a row for each agent, a column for each group of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.agents.models.spec import name_and_options
from textcraft_gym.reports.agent_names import agent_names
from textcraft_gym.reports.compare import verdicts
from textcraft_gym.reports.differences import as_sentence, differences
from textcraft_gym.reports.metrics import (
    ALL,
    Errors,
    Pooled,
    groups,
    pool_by_group,
)
from textcraft_gym.reports.notes import advantages, exposures, is_told, unfinished
from textcraft_gym.reports.pools import Pool
from textcraft_gym.reports.profiles import profile_of

Config: TypeAlias = Mapping[str, Any]

TOLD, OTHER = "†", "‡"
"""Marks of agents that are told more than others, and of runs on other tasks than the first."""


class Column(NamedTuple):
    """A group of tasks of a world, and its heading."""

    world: str
    group: str
    heading: str


@dataclass(frozen=True)
class Cell:
    """Success in a group of tasks; numbers are shares from 0 to 1.

    Attributes:
        rate: The mean over tasks.
        low, high: Its 95% interval over tasks.
        between_runs: The standard deviation between the runs of several seeds; None for one run.
        tasks: Number of tasks.
        families: Number of families of these tasks.
        mark: ``OTHER`` if the tasks are others than those of the world's first run; else empty.
        is_best: Whether no rival on the same tasks has a higher rate, and some a lower one; rows
            with the mark ``TOLD`` are no rivals.
    """

    rate: float
    low: float
    high: float
    between_runs: float | None
    tasks: int
    families: int
    mark: str
    is_best: bool


@dataclass(frozen=True)
class Row:
    """The runs of an agent in all worlds.

    Attributes:
        agent: The agent, and what else tells it from other rows.
        is_told: Whether it is told more than others.
        so_far: How far its runs are; empty if they are finished.
        cells: Its success by column; groups without a rate are left out.
    """

    agent: str
    is_told: bool
    so_far: str
    cells: Mapping[Column, Cell]

    @property
    def label(self) -> str:
        """The agent with its mark, and how far it is."""
        marked = f"{self.agent}{TOLD}" if self.is_told else self.agent
        return f"{marked} ({self.so_far})" if self.so_far else marked


@dataclass(frozen=True)
class PaperTable:
    """A table for a paper.

    Attributes:
        columns: World by world, the last of each for all its tasks.
        rows: In the order of the runs.
        notes: What a reader must know, as sentences.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str]

    @property
    def worlds(self) -> dict[str, int]:
        """The number of columns of each world."""
        counts: dict[str, int] = {}
        for column in self.columns:
            counts[column.world] = counts.get(column.world, 0) + 1
        return counts


class _World(NamedTuple):
    """The runs of a world and split: by row, and the names of those on the same tasks."""

    name: str
    env: str
    runs: dict[str, Pool]
    sets: list[list[str]]


def paper_table(pooled: Sequence[Pool], *, errors: Errors = "exclude") -> PaperTable:
    """Return the table of runs, in which runs of several seeds are one.

    Args:
        pooled: The runs.
        errors: Whether episodes that broke are left out, or count as lost.
    """
    labels = _labels(pooled)
    worlds = _worlds(pooled, labels, errors)
    no_rivals = {labels[pool.name] for pool in pooled if is_told(pool.config)}
    columns: list[Column] = []
    cells: dict[str, dict[Column, Cell]] = {label: {} for label in labels.values()}
    for world in worlds:
        summaries = {}
        for label, pool in world.runs.items():
            summaries[label] = pool_by_group(list(pool.runs.values()), errors=errors)
        of_world = _columns(world, summaries)
        columns += of_world
        for column in of_world:
            for label, cell in _cells(world, column, summaries, no_rivals).items():
                cells[label][column] = cell
    rows = []
    for label, of_row in cells.items():
        state = _so_far(pool for pool in pooled if labels[pool.name] == label)
        rows.append(Row(label, label in no_rivals, state, of_row))
    return PaperTable(columns, rows, list(_notes(pooled, worlds, rows)))


def _labels(pooled: Sequence[Pool]) -> dict[str, str]:
    """Return the label of each run: its agent, with as much more as tells it from others.

    Runs of one label are of one row, each in its world.
    """
    agents = agent_names(str(pool.config["agent"]) for pool in pooled)
    labels: dict[str, str] = {}
    for parts in (1, 2, 3):
        labels = {pool.name: ", ".join(_parts(pool.config, agents)[:parts]) for pool in pooled}
        places = {(labels[pool.name], _place(pool.config)) for pool in pooled}
        models = {(labels[pool.name], _model(pool.config)) for pool in pooled}
        if len(places) == len(pooled) and len(models) == len(set(labels.values())):
            return labels
    counts = Counter(labels.values())
    return {
        name: label if counts[label] == 1 else f"{label}: {name}" for name, label in labels.items()
    }


def _parts(config: Config, agents: Mapping[str, str]) -> list[str]:
    model = _model(config)
    options = config.get("agent_args") or {}
    parts = [agents[str(config["agent"])]]
    if model:
        parts.append(model)
    return [*parts, *(f"{name} {value}" for name, value in options.items())]


def _model(config: Config) -> str:
    name, _ = name_and_options(str(config.get("model") or ""))
    return name


def _place(config: Config) -> tuple[str, str]:
    return str(config["env"]), str(config["split"])


def _worlds(
    pooled: Sequence[Pool],
    labels: Mapping[str, str],
    errors: Errors,
) -> list[_World]:
    by_place: dict[tuple[str, str], dict[str, Pool]] = {}
    for pool in pooled:
        by_place.setdefault(_place(pool.config), {})[labels[pool.name]] = pool

    names = Counter(_short(env) for env, _ in by_place)
    worlds = []
    for (env, split), runs in by_place.items():
        name = _short(env) if names[_short(env)] == 1 else f"{env} {split}"
        ranked = verdicts({label: pool.records for label, pool in runs.items()}, errors=errors)
        sets = [[standing.run for standing in verdict.standings] for verdict in ranked]
        worlds.append(_World(name, env, runs, sets))
    return worlds


def _short(env: str) -> str:
    return env.rpartition(":")[2].rpartition("-v")[0] or env


def _columns(world: _World, summaries: Mapping[str, Mapping[str, Pooled]]) -> list[Column]:
    """Return the groups in the order of the papers, as far as the world's profile has one."""
    short = profile_of(world.env).groups
    played = groups(summaries.values())
    ordered = [group for group in short if group in played]
    ordered += [group for group in played if group not in short]
    columns = [Column(world.name, group, short.get(group, group)) for group in ordered]
    return [*columns, Column(world.name, ALL, "All")]


def _cells(
    world: _World,
    column: Column,
    summaries: Mapping[str, Mapping[str, Pooled]],
    no_rivals: Set[str],
) -> dict[str, Cell]:
    """Return the cells of a column by the labels of their rows."""
    rates = _rates(summaries, column.group)
    cells = {}
    for number, labels in enumerate(world.sets):
        played = [label for label in labels if label in rates]
        rivals = [label for label in played if label not in no_rivals]
        of_rivals = [rates[label] for label in rivals]
        for label in played:
            pooled = summaries[label][column.group]
            cells[label] = Cell(
                rate=rates[label],
                low=pooled.low,
                high=pooled.high,
                between_runs=pooled.between_runs,
                tasks=pooled.tasks,
                families=pooled.families,
                mark=OTHER if number else "",
                is_best=label in rivals and rates[label] == max(of_rivals) > min(of_rivals),
            )
    return cells


def _rates(summaries: Mapping[str, Mapping[str, Pooled]], group: str) -> dict[str, float]:
    """Return the success in a group by row; rows without a rate are left out."""
    rates = {}
    for label, by_group in summaries.items():
        pooled = by_group.get(group)
        if pooled is not None and pooled.rate is not None:
            rates[label] = pooled.rate
    return rates


def _so_far(pooled: Iterable[Pool]) -> str:
    """Return how far the runs of a row are; empty if they are finished."""
    states: list[str] = []
    for pool in pooled:
        configs = dict.fromkeys(pool.runs, pool.config)
        states += unfinished(pool.runs, configs).values()
    return "; ".join(states)


def _notes(
    pooled: Sequence[Pool],
    worlds: Sequence[_World],
    rows: Sequence[Row],
) -> Iterator[str]:
    yield "Success in %, with 95% intervals over tasks."
    seeds = max(len(pool.runs) for pool in pooled)
    if seeds > 1:
        yield f"± is the standard deviation between the runs of {seeds} seeds."
    yield f"Tasks: {', '.join(_tasks(worlds, rows))}."
    yield from _settings(worlds)
    yield from exposures(pooled)
    for text in advantages(pool.config for pool in pooled):
        yield f"{TOLD} {text}"
    others = {cell.tasks for row in rows for cell in row.cells.values() if cell.mark}
    if others:
        yield f"{OTHER} On other tasks, and not compared."


def _settings(worlds: Sequence[_World]) -> Iterator[str]:
    """Yield the settings in which the runs of each world differ."""
    for world in worlds:
        configs = {label: pool.config for label, pool in world.runs.items()}
        if sentence := as_sentence(differences(configs)):
            yield f"{world.name}: {sentence}" if len(worlds) > 1 else sentence


def _tasks(worlds: Sequence[_World], rows: Sequence[Row]) -> Iterator[str]:
    """Yield the number of tasks and families of each world; where rows differ, from least on."""
    for world in worlds:
        numbers, families = set(), set()
        for row in rows:
            for column, cell in row.cells.items():
                if column.world == world.name and column.group == ALL:
                    numbers.add(cell.tasks)
                    families.add(cell.families)
        tasks = _range(numbers)
        yield f"{world.name} {tasks}" + (f" in {_range(families)} families" * (families != numbers))


def _range(numbers: Set[int]) -> str:
    least, most = min(numbers, default=0), max(numbers, default=0)
    return str(most) if least == most else f"{least} to {most}"
