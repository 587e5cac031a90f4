"""Rechecks a run folder: every recorded action is played again, and everything that follows from that is compared."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import gymnasium as gym

from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.errors import RunError
from textcraft_gym.printable import printable
from textcraft_gym.registration import SUITE
from textcraft_gym.reports.advice import advice
from textcraft_gym.reports.metrics import summarise_by_group
from textcraft_gym.reports.records import (
    Key,
    Record,
    Records,
    key_of,
    light,
    read_bounded,
    read_config,
    read_lines,
)
from textcraft_gym.reports.tables import markdown, several_codes
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import Plan, plan
from textcraft_gym.verify.replay import REPLAYED, SUMMED, Difference, differences
from textcraft_gym.verify.untrusted import check_bounds, foreign_spec, is_trusted

MAX_KEPT = 1000
"""Maximum number of differences that are kept; the others are counted. As many other messages are."""

_TASK = ("task", "group", "depth", "optimal_length")
NOT_RECHECKED = (
    "the model's name and answers",
    "the agent's thoughts",
    "names, depths and outcomes of the parts of the trace",
    "numbers of calls and tokens beyond their sums in the trace",
    "cost",
    "claimed_success",
    "errors, which limit was met, and whether an agent stopped by itself or for want of calls",
    "times",
)
"""What a replay cannot know."""


@dataclass
class Verification:
    """Outcome of a recheck.

    Attributes:
        episodes: Number of records replayed.
        steps: Number of actions replayed.
        seconds: Duration of the replays.
        errors: Number of episodes of which the last record is an error; no success rate counts
            them.
        count: Number of differences.
        differences: The first of them.
        unverifiable: What could not be rechecked here.
        notes: What a reader should know and is no difference.
    """

    episodes: int = 0
    steps: int = 0
    seconds: float = 0.0
    errors: int = 0
    count: int = 0
    differences: list[Difference] = field(default_factory=list)
    unverifiable: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def identical(self) -> bool:
        """Whether everything was rechecked, and nothing differs."""
        return not self.count and not self.unverifiable

    def lines(self, run: str, shown: int) -> list[str]:
        """Return the outcome as text.

        Args:
            run: The name of the run.
            shown: Maximum number of differences listed.
        """
        outcome = (
            f"{self.count} difference{'s' * (self.count != 1)}"
            if self.count
            else "identical"
            if self.identical
            else "identical as far as it can be rechecked"
        )
        rate = f" ({self.steps / self.seconds:,.0f} a second)" if self.seconds else ""
        lines = [f"{run}: {outcome}; {self.episodes} episodes, {self.steps:,} steps replayed{rate}"]
        lines += [f"  {difference}" for difference in self.differences[:shown]]
        if self.count > shown:
            lines.append(f"  and {self.count - shown} more")
        lines += [f"  cannot be rechecked: {what}" for what in self.unverifiable[:shown]]
        if len(self.unverifiable) > shown:
            lines.append(f"  and {len(self.unverifiable) - shown} more")
        if self.errors:
            ended = "1 episode" if self.errors == 1 else f"{self.errors} episodes"
            lines.append(
                f"  {ended} ended with an error, which no rate counts; why is not rechecked"
            )
        lines += [f"  note: {note}" for note in self.notes]
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        differences = [difference._asdict() for difference in self.differences]
        return {
            **asdict(self),
            "identical": self.identical,
            "differences": differences,
            "not_rechecked": not_rechecked(),
        }

    def differs(self, where: str, what: str) -> None:
        """Add a difference."""
        self.count += 1
        if self.count <= MAX_KEPT:
            self.differences.append(Difference(printable(where), printable(what)))

    def leaves_out(self, what: str) -> None:
        """Add something that could not be rechecked."""
        if len(self.unverifiable) < MAX_KEPT:
            self.unverifiable.append(printable(what))


def verify(
    folder: str | Path,
    *,
    trusted: Collection[str] = (),
    env_args: Mapping[str, Any] | None = None,
    split: str | None = None,
    prompts: str | Path | None = None,
) -> Verification:
    """Replay every recorded action of a run in the world that its config names, and compare all that follows from it.

    Compared are the tasks, the game's data and the prompts by their digests; of each episode the
    observations, reward, win, steps, trials and end; whether every task was played once; the sums
    within a record; the summary and the report.

    Args:
        folder: The run folder.
        trusted: Modules that may be imported, and worlds and agents outside of the suite that may
            be made, because the run names them.
        env_args: Replacements of arguments of the environment, such as a path that differs on this
            machine.
        split: Replacement of the split.
        prompts: Replacement of the set or folder of prompts.

    Raises:
        RunError: If the folder cannot be read, or its world cannot be had here.
    """
    config = read_config(folder)
    check_bounds(config, folder)
    spec = foreign_spec(config, trusted, {**config["env_args"], **(env_args or {})}, split, prompts)
    found = Verification()
    try:
        run = _run(spec, config, trusted, found)
        planned = plan(run)
        # In the suite's worlds what agents need is added to info, which only wrappers read: without
        # it they are faster.
        if spec.env in SUITE and not spec.wrappers:
            run.close()
            run = Run(replace(spec, agent=_substitute))
        env = run.env
    except Exception as error:  # worlds of others can raise anything
        why = printable(f"{type(error).__name__}: {error}")
        raise RunError(f"{folder}: its world cannot be had here: {why}") from error
    _compare_identity(config, planned, found)
    with closing(run):
        records = _replay_all(Path(folder), env, planned, found)
    # With the task's own values, so that a wrong group does not stop the summary.
    _compare_summary(
        Path(folder),
        config,
        [light(record) | planned.episodes[key_of(record)].about for record in records],
        found,
    )
    return found


def not_rechecked() -> list[str]:
    """Return the fields of records that a recheck does not look at beyond their type, and what it cannot know."""
    checked = (*_TASK, *REPLAYED, "transcript", *SUMMED)
    return [
        *NOT_RECHECKED,
        *(
            name.name
            for name in fields(Episode)
            if name.name not in (*checked, "cost") and name.compare
        ),
    ]


def _run(
    spec: RunSpec, config: Mapping[str, Any], trusted: Collection[str], found: Verification
) -> Run:
    """Return the run, with a substitute that reads no prompts for an agent that cannot be made here."""
    name: str = config["agent"]
    run = Run(spec)
    try:
        if not is_trusted(name, trusted):
            raise RunError("it is not trusted")
        _ = run.agent
    except Exception as error:  # agents of others can raise anything
        why = f"the agent {name!r} cannot be made here: {error}"
        if config["prompts_sha256"] == Prompts().sha256:
            found.notes.append(printable(f"{why}; it read no prompts"))
        else:
            found.leaves_out(f"the prompts, since {why}")
        return Run(replace(spec, agent=_substitute, prompts=None))
    return run


def _substitute(observation: str, info: Mapping[str, Any]) -> str:
    return ""


def _compare_identity(config: Mapping[str, Any], planned: Plan, found: Verification) -> None:
    """Compare the digests of the game's data, the tasks and the prompts with those of this installation."""
    about = {
        "env_sha256": "the game's data are others",
        "tasks_sha256": "the tasks are others",
        "prompts_sha256": "the prompts are others",
    }
    for name, meaning in about.items():
        known = name != "prompts_sha256" or planned.run.spec.agent is not _substitute
        if known and config[name] != planned.identity[name]:
            found.differs(
                "config.json",
                f"{name}: recorded {config[name]}, here {planned.identity[name]}: {meaning}",
            )
    if mixed := several_codes(config):
        found.notes.append(printable(mixed))
    if config["version"] != planned.identity["version"]:
        found.notes.append(
            f"played with version {config['version']!r}, rechecked with {planned.identity['version']}"
        )


def _replay_all(
    folder: Path, env: gym.Env[str, str], planned: Plan, found: Verification
) -> Records:
    """Replay every record, and return the last one for each episode, in the order of the run."""
    records = Records(folder / "episodes.jsonl")
    for line in read_lines(folder):
        started = time.perf_counter()
        if line.record is None:
            found.differs(f"episodes.jsonl:{line.number}", line.wrong)
        elif _is_counted(env, planned, line.number, line.record, records, found):
            records.add(line.record, line.start)
        found.seconds += time.perf_counter() - started
    found.errors = len(records) - len(records.done)
    missing = [_named(key) for key in planned.episodes if key not in records.played]
    if missing:
        others = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        count = f"{len(missing)} of {len(planned.episodes)} episodes are missing"
        found.differs("episodes.jsonl", f"{count}: {', '.join(missing[:10])}{others}")
    return records.chosen(planned.episodes)


def _is_counted(
    env: gym.Env[str, str],
    planned: Plan,
    line: int,
    record: Record,
    earlier: Records,
    found: Verification,
) -> bool:
    """Recheck the record of a line, and return whether it is one of the run."""
    key = key_of(record)
    where = f"episodes.jsonl:{line}, {_named(key)}"
    episode = planned.episodes.get(key)
    if episode is None:
        found.differs(where, "the run has no such episode")
        return False
    if earlier.is_done(key):
        found.differs(
            where,
            "the episode is there twice, and only an error may be followed by another attempt",
        )
    if record["transcript"]:
        found.episodes += 1
        found.steps += record["steps"]
        for what in differences(
            env, record, episode, planned.run.spec, planned.identity["max_steps"]
        ):
            found.differs(where, what)
    else:
        found.leaves_out(f"{where}: it has no transcript")
        if (
            not record["error"] and record["limit"] != "seconds"
        ):  # whose process may have been ended
            found.differs(where, "it has no transcript and no error")
    return True


def _compare_summary(
    folder: Path, config: Mapping[str, Any], records: Sequence[Record], found: Verification
) -> None:
    """Compare the summary and the report with what the records come to."""
    if not (folder / "summary.json").exists() and not config.get("finished"):
        found.notes.append("the run is not finished, and has no summary")
        return
    summaries = summarise_by_group(records)
    try:
        summary = json.loads(read_bounded(folder / "summary.json"))
        report = read_bounded(folder / "report.md")
    except (OSError, ValueError, RecursionError) as error:
        found.differs("summary.json, report.md", f"cannot be read: {error}")
        return
    for where, recorded, here in _leaves(
        summary, json.loads(json.dumps({k: asdict(v) for k, v in summaries.items()}))
    ):
        found.differs("summary.json", f"{where}: recorded {recorded}, recomputed {here}")
    # A folder may have been renamed since: then the run goes by the name that the report has.
    held = report.partition("\n| ")[2].partition("\n| ")[2].partition(" | ")[0]
    if report not in (markdown({name: summaries}, advice(records)) for name in (folder.name, held)):
        found.differs("report.md", "it is not the table of the records")


def _named(key: Key) -> str:
    task, repeat = key
    return f"{task}, repeat {repeat}" if repeat else task


def _leaves(recorded: Any, here: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield each place at which two values of JSON differ, with both values."""
    if isinstance(recorded, dict) and isinstance(here, dict):
        for key in [*here, *(key for key in recorded if key not in here)]:
            yield from _leaves(
                recorded.get(key, "nothing"), here.get(key, "nothing"), f"{path}.{key}".lstrip(".")
            )
    elif json.dumps(recorded) != json.dumps(here):
        yield path or "it", json.dumps(recorded)[:100], json.dumps(here)[:100]
