"""Where the numbers of the pages come from: each with the file that it follows from."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import tarfile
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import gymnasium as gym

import textcraft_gym
from textcraft_gym.papers import PAPERS
from textcraft_gym.verify.board import BOARD, read_board

ROOT = Path(__file__).parents[1]
RESULTS = Path("benchmarks/results")
GATES = RESULTS / "training/gates.csv"
RUNS = RESULTS / "papers/runs.tar.xz"
EXPERIMENT = RESULTS / "experiment.csv.gz"
LOG = Path("agents/models/adapters/training.jsonl")

sys.path.append(str(ROOT / "examples/language_model"))
import gates  # noqa: E402

Record = dict[str, Any]


class Number(NamedTuple):
    """A number as a page writes it.

    Attributes:
        text: Its digits, with a percent sign or an interval where it has one.
        source: The file, and where in it.
    """

    text: str
    source: str

    @property
    def percent(self) -> Number:
        """The number with a percent sign, before its interval."""
        value, *interval = self.text.split(" ", maxsplit=1)
        return self._replace(text=" ".join([f"{value}%", *interval]))


class Share(NamedTuple):
    """A share of tasks, in percent.

    Attributes:
        value: The share.
        tasks: Number of tasks.
        bounds: Its 95% interval; empty where the source has none.
        source: The file, and where in it.
    """

    value: float
    tasks: int
    bounds: tuple[float, ...]
    source: str

    @property
    def won(self) -> Number:
        """Number of tasks won."""
        return Number(f"{round(self.value * self.tasks / 100)}", self.source)

    @property
    def lost(self) -> Number:
        """Number of tasks lost."""
        return Number(f"{self.tasks - round(self.value * self.tasks / 100)}", self.source)

    @property
    def count(self) -> Number:
        """Tasks won of all: ``188 of 200``."""
        return Number(f"{self.won.text} of {self.tasks}", self.source)

    @property
    def number(self) -> Number:
        """The share with one digit: ``94.0``."""
        return Number(f"{self.value:.1f}", self.source)

    @property
    def of(self) -> Number:
        """Number of tasks."""
        return Number(f"{self.tasks}", self.source)

    @property
    def interval(self) -> Number:
        """The share with its interval: ``94.0 [90, 97]``."""
        low, high = self.bounds
        return Number(f"{self.value:.1f} [{low:.0f}, {high:.0f}]", self.source)


def rows_of(file: Path) -> list[dict[str, str]]:
    """Return the rows of a table, which may be compressed."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(ROOT / file, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@cache
def shipped() -> Number:
    """Return the digest of the adapter that ships, with its weights."""
    (digest,) = {row["digest"] for row in rows_of(GATES) if not row["adapter"]}
    return Number(digest, str(GATES))


def packed(table: str, row: str, column: str) -> Share:
    """Return a cell of the papers' tables as the packaged adapter played it: ``adapt/table2``."""
    file = RESULTS / "papers" / f"{table.replace('/', '-')}.csv"
    (cell,) = (each for each in rows_of(file) if (each["row"], each["column"]) == (row, column))
    if "sha256-" in cell["model"].replace(shipped().text, ""):
        raise LookupError(f"{file}: expected a run of {shipped().text}, got {cell['model']}")
    bounds = tuple(float(cell[name]) for name in ("low", "high") if cell[name])
    return Share(float(cell["value"]), int(cell["tasks"]), bounds, f"{file}: {row}, {column}")


def published(table: str, row: str, column: str) -> Number:
    """Return a cell of the papers' tables as the paper prints it."""
    paper, key = table.split("/")
    printed = PAPERS[paper][key]
    index = [each.heading for each in printed.columns].index(column)
    cell = printed.row(row).published[index]
    if cell is None:
        raise LookupError(f"{table} has no number for {row} in {column}")
    return Number(f"{cell.value:g}", f"textcraft_gym/papers/{paper}.py: {key}, {row}, {column}")


def published_rows(table: str, columns: Sequence[str]) -> Iterator[tuple[str, str, list[Number]]]:
    """Yield the key, the label and the cells of each row of which the paper prints all columns."""
    paper, key = table.split("/")
    printed = PAPERS[paper][key]
    headings = [column.heading for column in printed.columns]
    for row in printed.rows:
        if row.published and all(row.published[headings.index(column)] for column in columns):
            yield row.key, row.label, [published(table, row.key, column) for column in columns]


def published_wins(table: str, row: str, played: str) -> Number:
    """Return how many tasks a row of a paper won over all columns, from its percentages.

    Args:
        table: The table, such as ``autoplan/table3a``.
        row: The row.
        played: Another row, whose packed runs tell the number of tasks of each column.
    """
    paper, key = table.split("/")
    won = 0
    for column in PAPERS[paper][key].columns:
        share = float(published(table, row, column.heading).text)
        won += round(share / 100 * packed(table, played, column.heading).tasks)
    return Number(str(won), f"textcraft_gym/papers/{paper}.py: {key}, {row}")


def won_in_all(table: str, row: str) -> Number:
    """Return how many tasks the packaged adapter won in all columns of a row."""
    paper, key = table.split("/")
    shares = [packed(table, row, column.heading) for column in PAPERS[paper][key].columns]
    return Number(str(sum(int(share.won.text) for share in shares)), shares[0].source)


def gate(row: str, adapter: str = "") -> Share:
    """Return what the packaged adapter won of a gate, or an earlier one by its name.

    It is that of PyTorch where both players have played it.
    """
    counts = gate_counts(row, adapter)
    share = 100 * counts["won"] / counts["episodes"]
    return Share(share, counts["episodes"], (), f"{GATES}: {adapter or shipped().text}, {row}")


def gate_counts(row: str, adapter: str = "") -> dict[str, int]:
    """Return the counts of a gate, those of PyTorch where both players have played it."""
    played = gate_rows(row, adapter)
    counts = played.get("PyTorch") or next(iter(played.values()))
    return {column: int(counts[column]) for column in gates.COUNTS}


def gate_rows(row: str, adapter: str = "") -> dict[str, dict[str, str]]:
    """Return the rows of a gate by player."""
    return {
        each["player"]: each
        for each in rows_of(GATES)
        if each["row"] == row and Path(each["adapter"]).stem == adapter
    }


def gate_success(row: str, player: str) -> Number:
    """Return what the packaged adapter won of a gate by a player, with its interval if known."""
    played = gate_rows(row).get(player)
    source = f"{GATES}: {shipped().text}, {player}, {row}"
    if played is None:
        return Number("-", source)
    text = str(gates.Count(int(played["won"]), int(played["episodes"])))
    if played["low"]:
        text += f" {gates.bounds(float(played['low']), float(played['high']))}"
    return Number(text, source)


def gate_names(adapter: str = "") -> list[str]:
    """Return the gates that an adapter played, each once."""
    played = (row["row"] for row in rows_of(GATES) if Path(row["adapter"]).stem == adapter)
    return list(dict.fromkeys(played))


@cache
def log_of(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a log."""
    return [json.loads(line) for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]


def logged(text: str, file: Path = LOG) -> Number:
    """Return a number of a training's log."""
    return Number(text, str(file))


def trainings() -> dict[str, Path]:
    """Return the logs of the adapters that played gates, by name; the shipped one's has none."""
    names = dict.fromkeys(row["adapter"] for row in rows_of(GATES))
    return {Path(name).stem: Path(name).with_suffix(".jsonl") if name else LOG for name in names}


class Rewarded(NamedTuple):
    """A line of a log of learning from reward.

    Attributes:
        line: The line.
        source: The log.
    """

    line: dict[str, Any]
    source: str

    def count(self, name: str) -> Number:
        """Return a count of the line."""
        return Number(str(self.line[name]), self.source)

    @property
    def share(self) -> Number:
        """The share that was won: ``22.5% (18)``."""
        won, of = self.line["won"], self.line["of"]
        return Number(f"{won / of:.1%} ({won})", self.source)

    def bounds(self, name: str) -> Number:
        """Return an interval, in percent: ``[14.7, 32.8]``."""
        low, high = (f"{100 * bound:.1f}" for bound in self.line[name])
        return Number(f"[{low}, {high}]", self.source)

    def gain(self, before: Rewarded) -> Number:
        """Return the difference to another test, in points: ``+18.8``."""
        points = 100 * (self.line["won"] - before.line["won"]) / self.line["of"]
        return Number(f"{points:+.1f}", self.source)


def rewarded(name: str, kind: str) -> list[Rewarded]:
    """Return the lines of a kind, ``test`` or ``round``, of a log of learning from reward."""
    file = RESULTS / f"training/{name}.jsonl"
    return [Rewarded(line, f"{file}: {kind} {line[kind]}") for line in log_of(file) if kind in line]


def board() -> Iterator[tuple[Any, str]]:
    """Yield the lines of the board, each with the run that it follows from."""
    for entry in read_board(ROOT / BOARD):
        yield entry, f"{BOARD.parent}/runs/{entry.run}"


def tasks(world: str, split: str = "all") -> Number:
    """Return the number of tasks of a split."""
    count = len(textcraft_gym.tasks(world, split))
    return Number(str(count), f"textcraft_gym.tasks({world!r}, {split!r})")


def tested(text: str, test: str) -> Number:
    """Return a number that a test measures, as ``file::test``."""
    file, name = test.split("::")
    if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8"):
        raise LookupError(f"there is no test {test}")
    return Number(text, test)


def stated(text: str, page: str) -> Number:
    """Return a number of another page, which says how it was measured."""
    body = (ROOT / page).read_text(encoding="utf-8")
    if not re.search(rf"(?<![\d.,]){re.escape(text)}(?![\d.,]*\d)", body):
        raise LookupError(f"{page} has no {text}")
    return Number(text, page)


class Run:
    """A packed run of the packaged adapter.

    Args:
        name: The beginning of its folder's name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def records(self) -> list[Record]:
        """Its episodes."""
        (records,) = (
            records for folder, records in packed_runs().items() if folder.startswith(self.name)
        )
        return records

    def number(self, text: str | int, what: str) -> Number:
        """Return what was counted in it."""
        return Number(str(text), f"{RUNS}: {self.name}, {what}")

    def group(self, group: str) -> Number:
        """Return how many tasks of a group were won: ``16 of 112``."""
        won = [record["won"] for record in self.records if record["group"] == group]
        return self.number(f"{sum(won)} of {len(won)}", group)


@cache
def packed_runs() -> dict[str, list[Record]]:
    """Return the packed episodes of the packaged adapter, of seed 0, by the folders' names."""
    runs = {}
    with tarfile.open(ROOT / RUNS) as archive:
        for member in archive:
            _, setting, *_, seed, file = member.name.split("/")
            lines = archive.extractfile(member)
            if lines is None or seed != "seed0":
                continue
            if file == "config.json" and shipped().text in str(json.load(lines)["model"]):
                runs[setting] = []
            elif file == "episodes.jsonl" and setting in runs:
                runs[setting] = [json.loads(line) for line in lines]
    return runs


class Invalid(NamedTuple):
    """The actions of a run that its game refused.

    Attributes:
        actions: Number of all actions.
        refused: Number of those that were refused.
        repeated: Number of these that had been refused before in the same episode.
        held: Number of these that follow a thought that all parts are held.
    """

    actions: int
    refused: int
    repeated: int
    held: int

    @property
    def new(self) -> float:
        """Share of refused ones among the actions that repeat none."""
        return (self.refused - self.repeated) / (self.actions - self.repeated)


def invalid(records: Sequence[Record]) -> Invalid:
    """Count the actions of a run that its game refused."""
    actions = refused = repeated = held = 0
    for record in records:
        before: set[str] = set()
        thought = ""
        for part in said(record["trace"]):
            if isinstance(part, str):
                thought = part
                continue
            action, answer = record["transcript"][part]
            actions += bool(action)
            if action and answer.startswith(gates.REFUSALS):
                refused += 1
                repeated += action in before
                before.add(action)
                lacks = answer.startswith("Could not find enough")
                held += lacks and "Held: " in thought and ", so " not in thought
    return Invalid(actions, refused, repeated, held)


def said(part: Record) -> Iterator[int | str]:
    """Yield the actions of a trace, by their numbers, and what the model said, in order."""
    for each in part["parts"]:
        if isinstance(each, dict):
            yield from said(each)
        else:
            yield each


def wrong_purchases(records: Sequence[Record]) -> dict[str, int]:
    """Count what the purchases of lost episodes lack, by the parts of the reward."""
    counts = dict.fromkeys(("all", "r_att", "r_option", "r_price", "r_type"), 0)
    env = gym.make("WebShopLite-v0", split="test", mode="adapt")
    for record in records:
        if record["won"]:
            continue
        _, info = env.reset(options={"task": record["task"]})
        for action, _ in record["transcript"][1:]:
            *_, info = env.step(action)
        if "r_att" in info:
            counts["all"] += 1
            for part in ("r_att", "r_option", "r_price", "r_type"):
                counts[part] += info[part] not in (None, 1.0)
    return counts


def explanations(records: Sequence[Record]) -> tuple[int, int]:
    """Count the explanations of DEPS's lost episodes: those that blame chance, and all."""
    every = [
        each
        for record in records
        if not record["won"]
        for each in said(record["trace"])
        if isinstance(each, str) and "I lacked " in each and "({" not in each
    ]
    return sum("I lacked nothing: it was missed" in each for each in every), len(every)


class Trainings(NamedTuple):
    """What the three earlier adapters of the experiment won with one setting.

    Attributes:
        runs: The episodes of each training seed.
        source: The file and the setting.
    """

    runs: list[list[dict[str, str]]]
    source: str

    def shares(self, group: str = "") -> list[float]:
        """Return the success of each training seed, in percent, in a group or in all tasks."""
        return [
            100 * fmean(float(row["won"]) for row in run if group in ("", row["group"]))
            for run in self.runs
        ]

    def mean(self, group: str = "") -> Number:
        """Return the mean over the training seeds: ``40.2``."""
        return Number(f"{fmean(self.shares(group)):.1f}", f"{self.source}, {group or 'all'}")

    def spread(self, group: str = "") -> Number:
        """Return the mean over the training seeds ± their standard deviation: ``40.2 ± 4.3``."""
        shares = self.shares(group)
        return Number(
            f"{fmean(shares):.1f} ± {stdev(shares):.1f}", f"{self.source}, {group or 'all'}"
        )

    def score(self) -> Number:
        """Return the mean reward, in percent."""
        means = [100 * fmean(float(row["reward"]) for row in run) for run in self.runs]
        return Number(f"{fmean(means):.1f}", f"{self.source}, score")


def experiment(world: str, player: str) -> Trainings:
    """Return a setting of the experiment: ``TextCraft-v0 test`` and ``adapt d_max=4 trained``."""
    name = f"{world} {player} max_calls=150"
    runs: dict[str, list[dict[str, str]]] = {}
    for row in experiment_rows():
        if row["experiment"] == name:
            runs.setdefault(row["seed"], []).append(row)
    if not runs:
        raise LookupError(f"the experiment has no {name}")
    return Trainings(list(runs.values()), f"{EXPERIMENT}: {name}")


@cache
def experiment_rows() -> list[dict[str, str]]:
    """Return the episodes of the experiment."""
    return rows_of(EXPERIMENT)
