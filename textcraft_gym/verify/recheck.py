"""Rechecks a run folder: replays every recorded action, and compares all that follows from it."""

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
from textcraft_gym.agents.registry import installed_agents
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.errors import RunError
from textcraft_gym.printable import printable
from textcraft_gym.registration import INFO_OF, SUITE
from textcraft_gym.reports.metrics import summarise_by_group
from textcraft_gym.reports.notes import episodes_and_attempts, notes
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
from textcraft_gym.verify.cells import changes
from textcraft_gym.verify.replay import REPLAYED, SUMMED, Difference, differences
from textcraft_gym.verify.untrusted import (
    check_bounds,
    foreign_spec,
    how_to_trust,
    is_trusted,
)

MAX_KEPT = 1000
"""Maximum number of differences kept, and of other messages; further ones are only counted."""

_TASK = ("task", "group", "family", "depth", "optimal_length")
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
class Findings:
    """What a recheck found.

    Attributes:
        count: Number of differences.
        differences: The first of them.
        unverifiable: What could not be rechecked here.
        notes: What a reader should know and is no difference.
    """

    count: int = 0
    differences: list[Difference] = field(default_factory=list)
    unverifiable: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def identical(self) -> bool:
        """Whether everything was rechecked, and nothing differs."""
        return not self.count and not self.unverifiable

    def lines(self, name: str, shown: int) -> list[str]:
        """Return the outcome as text.

        Args:
            name: The name of what was rechecked.
            shown: Maximum number of differences listed.
        """
        lines = [f"{name}: {self._in_words()}; {self._about()}"]
        lines += _listed([str(difference) for difference in self.differences], self.count, shown)

        unverifiable = [f"cannot be rechecked: {part}" for part in self.unverifiable]
        lines += _listed(unverifiable, len(unverifiable), shown)
        return lines + [f"  note: {note}" for note in self.notes]

    def _in_words(self) -> str:
        if self.count:
            return "1 difference" if self.count == 1 else f"{self.count} differences"
        return "identical" if self.identical else "identical as far as it can be rechecked"

    def _about(self) -> str:
        """Return how much was rechecked."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        differences = [difference._asdict() for difference in self.differences]
        return {**asdict(self), "identical": self.identical, "differences": differences}

    def differs(self, where: str, what: str) -> None:
        """Add a difference."""
        self.count += 1
        if self.count <= MAX_KEPT:
            self.differences.append(Difference(printable(where), printable(what)))

    def leaves_out(self, what: str) -> None:
        """Add something that could not be rechecked."""
        if len(self.unverifiable) < MAX_KEPT:
            self.unverifiable.append(printable(what))


@dataclass
class Verification(Findings):
    """Outcome of a recheck of a run.

    Attributes:
        episodes: Number of episodes with a record.
        attempts: Number of earlier attempts at them, replayed as well, by what ended them (see
            ``Records``).
        steps: Number of actions replayed.
        seconds: Duration of the replays.
        errors: Number of episodes of which the last record is an error; no success rate counts
            them.
        asked: Whether a model was asked, whose answers a replay cannot know.
    """

    episodes: int = 0
    attempts: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    seconds: float = 0.0
    errors: int = 0
    asked: bool = False

    @property
    def identical(self) -> bool:
        """Whether everything was rechecked, and nothing differs; not without an action."""
        return bool(self.steps) and super().identical

    def lines(self, name: str, shown: int) -> list[str]:
        """Return the outcome as text, with the number of failed episodes."""
        if not self.errors:
            return super().lines(name, shown)
        failed = "1 failed episode" if self.errors == 1 else f"{self.errors} failed episodes"
        note = f"{failed}: no rate counts them, and their errors are not rechecked"
        return replace(self, errors=0, notes=[note, *self.notes]).lines(name, shown)

    def _in_words(self) -> str:
        if not self.steps and not self.count:
            return "nothing could be rechecked, since no action was recorded"
        return super()._in_words()

    def _about(self) -> str:
        rate = f" ({self.steps / self.seconds:,.0f} a second)" if self.seconds else ""
        episodes = episodes_and_attempts(self.episodes, self.attempts)
        return f"{episodes}, {self.steps:,} steps replayed{rate}"

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        return {**super().as_json(), "not_rechecked": not_rechecked()}


def _listed(
    items: Sequence[str],
    count: int,
    shown: int,
) -> list[str]:
    """Return the first items as lines, and one that counts the rest."""
    lines = [f"  {item}" for item in items[:shown]]
    if count > shown:
        lines.append(f"  and {count - shown} more")
    return lines


def verify(
    folder: str | Path,
    *,
    trusted: Collection[str] = (),
    env_args: Mapping[str, Any] | None = None,
    split: str | None = None,
    prompts: str | Path | None = None,
) -> Verification:
    """Replay a run in the world that its config names, and compare all that follows.

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
        RunError: If the folder cannot be read, or its world cannot be made here.
    """
    config = read_config(folder)
    check_bounds(config, folder)
    spec = foreign_spec(config, trusted, {**config["env_args"], **(env_args or {})}, split, prompts)
    outcome = Verification()
    try:
        run = _run(spec, config, trusted, outcome)
        planned = plan(run)
        if spec.env in SUITE and not spec.wrappers:
            run.close()
            run = _without_agent(spec)
        env = run.env
    except Exception as error:  # a user's world may raise anything
        why = printable(f"{type(error).__name__}: {error}")
        raise RunError(f"{folder}: the world cannot be made here: {why}") from error
    _compare_identity(config, planned, outcome)
    with closing(run):
        records = _replay_all(Path(folder), env, planned, outcome)
    # With the task's own values, so that a wrong group does not stop the summary.
    as_planned = [light(record) | planned.episodes[key_of(record)].about for record in records]
    _compare_summary(Path(folder), config, as_planned, outcome)
    return outcome


def not_rechecked() -> list[str]:
    """Return what a recheck does not look at: fields, beyond their type, and the unknowable."""
    # NOT_RECHECKED has a sentence for the cost.
    checked = {*_TASK, *REPLAYED, "transcript", *SUMMED, "cost"}
    names = list(NOT_RECHECKED)
    for episode_field in fields(Episode):
        if episode_field.compare and episode_field.name not in checked:
            names.append(episode_field.name)
    return names


def world_alone(folder: str | Path, trusted: Collection[str] = ()) -> Run:
    """Return a run in the world of a run folder, without its agent, models and prompts.

    Raises:
        RunError: If the folder cannot be read, or names what is not trusted.
    """
    config = read_config(folder)
    check_bounds(config, folder)
    return _without_agent(foreign_spec(config, trusted, config["env_args"], None, None))


def _without_agent(spec: RunSpec) -> Run:
    """Return a run of a substitute for the agent.

    In the suite's worlds an agent's needs change only info, which only wrappers read: without them
    the replay is faster.
    """
    needed = spec.env_args
    if spec.env in SUITE and not spec.wrappers:
        needed = {name: needed[name] for name in needed if name not in INFO_OF}
    return Run(replace(spec, agent=_substitute, agent_args={}, prompts=None, env_args=needed))


def _run(
    spec: RunSpec,
    config: Mapping[str, Any],
    trusted: Collection[str],
    outcome: Verification,
) -> Run:
    """Return the run.

    A substitute that reads no prompts stands in for an agent that cannot be made here.
    """
    name: str = config["agent"]
    run = Run(spec)
    try:
        if is_trusted(name, trusted):
            _ = run.agent
            return run
        is_known = ":" in name or name in installed_agents()
        why = how_to_trust(name) if is_known else "no agent here has this name"
    except Exception as error:  # a user's agent may raise anything
        why = f"it cannot be made here: {error}"
    # The digest of a source that was never read.
    if config["prompts_sha256"] == Prompts().sha256:
        outcome.notes.append(printable(f"replayed without the agent {name!r}: {why}"))
    else:
        outcome.leaves_out(f"prompts of the agent {name!r}: {why}")
    return Run(replace(spec, agent=_substitute, agent_args={}, prompts=None))


def _substitute(observation: str, info: Mapping[str, Any]) -> str:
    return ""


def _compare_identity(
    config: Mapping[str, Any],
    planned: Plan,
    outcome: Verification,
) -> None:
    """Compare the digests of the game's data, the tasks and the prompts with those here."""
    digests = {"env_sha256": "game data differ", "tasks_sha256": "tasks differ"}
    # A substitute reads no prompts: there is nothing to compare.
    if planned.run.spec.agent is not _substitute:
        digests["prompts_sha256"] = "prompts differ"
    for name, meaning in digests.items():
        recorded, here = config[name], planned.identity[name]
        if recorded != here:
            outcome.differs("config.json", f"{name}: recorded {recorded}, here {here}: {meaning}")

    needed = getattr(planned.run.agent, "env_args", {})
    for name in needed:
        if name not in config["env_args"]:
            outcome.differs("config.json", f"env_args: the agent asks for {name}={needed[name]}")

    if mixed := several_codes(config):
        outcome.notes.append(printable(mixed))
    recorded, here = config["version"], planned.identity["version"]
    if recorded != here:
        outcome.notes.append(printable(f"played with version {recorded!r}, rechecked with {here}"))


def _replay_all(
    folder: Path,
    env: gym.Env[str, str],
    planned: Plan,
    outcome: Verification,
) -> Records:
    """Replay every record, and return the last one for each episode, in the order of the run."""
    records = Records(folder / "episodes.jsonl")
    for line in read_lines(folder):
        started = time.perf_counter()  # after the line was read
        if line.record is None:
            outcome.differs(f"episodes.jsonl:{line.number}", line.wrong)
        elif _is_counted(env, planned, line.number, line.record, records, outcome):
            records.add(line.record, line.start)
        outcome.seconds += time.perf_counter() - started

    outcome.episodes, outcome.attempts = len(records), dict(records.attempts)
    outcome.errors = len(records) - len(records.done)
    missing = [_named(key) for key in planned.episodes if key not in records.played]
    if missing:
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        count = f"{len(missing)} of {len(planned.episodes)} episodes are missing"
        outcome.differs("episodes.jsonl", f"{count}: {', '.join(missing[:10])}{more}")
    return records.chosen(planned.episodes)


def _is_counted(
    env: gym.Env[str, str],
    planned: Plan,
    line: int,
    record: Record,
    earlier: Records,
    outcome: Verification,
) -> bool:
    """Recheck the record of a line, and return whether it is one of the run."""
    key = key_of(record)
    where = f"episodes.jsonl:{line}, {_named(key)}"
    episode = planned.episodes.get(key)
    if episode is None:
        outcome.differs(where, "the run has no such episode")
        return False
    if earlier.is_done(key):
        outcome.differs(where, "duplicate episode: only a failed episode may be retried")

    if not record["transcript"]:
        outcome.leaves_out(f"{where}: no transcript")
        # At a limit of time its process may have been ended, and its transcript lost.
        if not record["error"] and record["limit"] != "seconds":
            outcome.differs(where, "no transcript, and no error")
        return True

    outcome.asked |= bool(record["calls"])
    outcome.steps += record["steps"]
    max_steps = planned.identity["max_steps"]
    for difference in differences(env, record, episode, planned.run.spec, max_steps):
        outcome.differs(where, difference)
    return True


def _compare_summary(
    folder: Path,
    config: Mapping[str, Any],
    records: Sequence[Record],
    outcome: Verification,
) -> None:
    """Compare the summary and the report with those of the records."""
    if not (folder / "summary.json").exists() and not config.get("finished"):
        outcome.notes.append("the run is unfinished: it has no summary")
        return
    summaries = summarise_by_group(records)
    try:
        summary = json.loads(read_bounded(folder / "summary.json"))
        report = read_bounded(folder / "report.md")
    except (OSError, ValueError, RecursionError) as error:
        outcome.differs("summary.json, report.md", f"cannot be read: {error}")
        return

    # Through JSON, as the summary was: a tuple becomes a list.
    expected = json.loads(json.dumps({name: asdict(row) for name, row in summaries.items()}))
    for where, recorded, here in _leaves(summary, expected):
        outcome.differs("summary.json", f"{where}: recorded {recorded}, recomputed {here}")

    # The report names the folder as it was called then: its third line begins with that name.
    held = report.partition("\n| ")[2].partition("\n| ")[2].partition(" | ")[0]
    below = notes(records, config)
    expected_reports = [markdown({name: summaries}, below) for name in (folder.name, held)]
    if report not in expected_reports:
        for change in changes(report, expected_reports[-1], ".md"):
            outcome.differs("report.md", str(change))


def _named(key: Key) -> str:
    task, repeat = key
    return f"{task}, repeat {repeat}" if repeat else task


def _leaves(
    recorded: Any,
    here: Any,
    path: str = "",
) -> Iterator[tuple[str, str, str]]:
    """Yield each path at which two JSON values differ, with both values."""
    if isinstance(recorded, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*here, *recorded]):
            below = f"{path}.{key}".lstrip(".")
            yield from _leaves(recorded.get(key, "nothing"), here.get(key, "nothing"), below)
    elif json.dumps(recorded) != json.dumps(here):
        yield path or "all", json.dumps(recorded)[:100], json.dumps(here)[:100]
