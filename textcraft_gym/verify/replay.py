"""Replays a recorded episode in its world, and says where the record differs from what happens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Routine
from textcraft_gym.episodes.episode import Episode, EpisodeRunner
from textcraft_gym.reports.records import MAX_SHOWN, shown
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import Planned, is_won

STOPPED_BY_AGENT = ("agent", "max_calls")
"""Ends that are not the environment's: a replay cannot tell them apart."""
BROKEN_OFF = ("limit", "error")
"""Ends that a replay cannot know, since an agent can meet them after the environment's."""

REPLAYED = (
    "seed",
    "repeat",
    "reward",
    "won",
    "steps",
    "trials",
    "restores",
    "picture",
    "stop_reason",
)
"""Fields of a record that a replay determines, beside the transcript and those that describe the task."""

SUMMED = ("calls", "tokens", "k_max", "trace", "limit", "error", "traceback", "claimed_success")
"""Fields that a replay cannot know, and which must agree with each other."""


class Difference(NamedTuple):
    """Something that a run folder says, and that is not so.

    Attributes:
        where: The file, and of an episode the line, the task and the step.
        what: What is said there, and what was found.
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class RecordedActions:
    """An agent that plays the actions of a transcript, with its resets and its returns to earlier moments.

    Args:
        transcript: The transcript, as an ``Episode`` has it.
        restores: The returns, each as the index of its entry and of that whose moment it leads to.
    """

    def __init__(
        self, transcript: Sequence[tuple[str | None, str]], restores: Iterable[tuple[int, int]] = ()
    ) -> None:
        self.transcript = transcript
        self.restores = dict(restores)

    def episode(self, play: Play) -> Routine:
        """Play on until an action is refused because the episode is over."""
        over = False
        kept = set(self.restores.values())
        moments = {0: (yield from play.snapshot())} if 0 in kept else {}
        for index, (action, _) in enumerate(self.transcript[1:], 1):
            if index in self.restores:
                if (
                    self.restores[index] not in moments
                ):  # none was kept there, since no episode could
                    return None
                yield from play.restore(moments[self.restores[index]])
                over = False
            elif action is None:
                yield from play.reset()
                over = False
            elif over:
                return None
            else:
                try:
                    yield from play.act(action)
                except EpisodeOver:
                    over = True
            if index in kept and not over:
                moments[index] = yield from play.snapshot()
        return None


def differences(
    env: gym.Env[str, str],
    record: Mapping[str, Any],
    planned: Planned,
    spec: RunSpec,
    max_steps: int,
) -> Iterator[str]:
    """Yield what a well-formed record says that is not so: it is replayed, and its counts are compared.

    Args:
        env: The environment of the run.
        record: A record with a transcript.
        planned: The episode that it is of.
        spec: The run.
        max_steps: Its maximum number of actions.
    """
    transcript: Sequence[tuple[str | None, str]] = record["transcript"]
    recorded = RecordedActions(transcript, record["restores"])
    runner = EpisodeRunner(
        env, recorded, planned.job, None, max_steps, spec.max_calls, won_at=spec.won_at
    )
    runner.advance()
    episode = runner.episode
    if runner.failure:
        yield f"it cannot be replayed: {episode.error}"
    unknown = (*BROKEN_OFF, *STOPPED_BY_AGENT) if episode.stop_reason == "agent" else BROKEN_OFF
    if record["stop_reason"] in unknown:
        episode.stop_reason = record["stop_reason"]
    yield from _first_difference(transcript, episode)
    episode.limit = record["limit"]  # by which an episode is lost
    replayed = {**vars(episode), **planned.about, "won": is_won(episode)}
    for name in (*planned.about, *REPLAYED):
        if not _same(record[name], replayed[name]):
            yield f"{name}: recorded {shown(record[name])}, replayed {shown(replayed[name])}"
    yield from inconsistencies(record, episode.trace.task, spec.max_calls)


def inconsistencies(record: Mapping[str, Any], task: str, max_calls: int) -> Iterator[str]:
    """Yield where the parts of a well-formed record do not agree with each other.

    Args:
        record: The record.
        task: The task of the whole trace.
        max_calls: The run's maximum number of completions.
    """
    if (record["error"] is not None) != (record["stop_reason"] == "error"):
        yield f"stop_reason {record['stop_reason']!r} with the error {shown(record['error'])}"
    if (record["limit"] is not None) != (record["stop_reason"] == "limit"):
        yield f"stop_reason {record['stop_reason']!r} with the limit {shown(record['limit'])}"
    if record["traceback"] is not None and record["error"] is None:
        yield "a traceback without an error"
    trace, transcript = record["trace"], record["transcript"]
    nodes = list(_walk(trace))
    if (trace["task"], trace["role"], trace["depth"]) != (task, "agent", 0):
        yield f"the trace is of {shown(trace['task'])}, role {shown(trace['role'])}, depth {trace['depth']}"
    if record["error"] is None and trace["outcome"] is not record["claimed_success"]:
        yield f"claimed_success is {record['claimed_success']}, and the outcome of the trace {trace['outcome']}"
    played = [part for node in nodes for part in node["parts"] if type(part) is int]
    if sorted(played) != list(range(len(transcript))):
        yield f"the parts of the trace are not the {len(transcript)} entries of the transcript, each once"
        return
    for node in nodes:
        actions = sum(
            transcript[part][0] is not None for part in node["parts"] if type(part) is int
        )
        if node["steps"] != actions:
            yield f"the trace counts {node['steps']} steps in the part {shown(node['task'])}, which has {actions}"
    for name in ("calls", "tokens"):
        counted, total = sum(node[name] for node in nodes), sum(record[name].values())
        if counted != total or min([*record[name].values(), 0]) < 0:
            yield f"{name}: recorded {shown(record[name])}, {total} in all, and {counted} in the trace"
    if sum(record["calls"].values()) > max_calls:
        yield f"calls: recorded {shown(record['calls'])}, more than the {max_calls} of the run"
    yield from _wrong_depth(record, nodes)


def _wrong_depth(record: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield whether ``k_max`` cannot be: it is the depth of the deepest part with an action or an executor's call."""
    lowest = max((node["depth"] for node in nodes if node["steps"]), default=0)
    highest = max((node["depth"] for node in nodes if node["steps"] or node["calls"]), default=0)
    if record["calls"].keys() == {"executor"}:
        lowest = highest
    if not max(lowest, 0) <= record["k_max"] <= max(highest, 0):
        yield f"k_max: recorded {record['k_max']}, in the trace {lowest} to {highest}"


def _first_difference(
    transcript: Sequence[tuple[str | None, str]], episode: Episode
) -> Iterator[str]:
    """Yield the first step at which the transcript and the replay part."""
    for step, (recorded, replayed) in enumerate(zip(transcript, episode.transcript, strict=False)):
        if recorded[1] != replayed[1]:
            yield f"step {step}, {_action(recorded[0])}: {_parted(recorded[1], replayed[1])}"
            return
    step = len(episode.transcript)
    if step < len(transcript):
        yield f"step {step}, {_action(transcript[step][0])}: not played, since the episode is over there"


def _action(action: str | None) -> str:
    return "a reset" if action is None else f"action {shown(action)}"


def _parted(recorded: str, replayed: str) -> str:
    """Return both texts from a little before the first character in which they differ."""
    pairs = enumerate(zip(recorded, replayed, strict=False))
    first = next(
        (index for index, (one, other) in pairs if one != other), min(len(recorded), len(replayed))
    )
    start = max(0, first - MAX_SHOWN // 4)
    dots = "..." if start else ""
    return f"recorded {dots}{shown(recorded[start:])}, replayed {dots}{shown(replayed[start:])}"


def _walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for part in node["parts"]:
        if isinstance(part, dict):
            yield from _walk(part)


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are written alike: 1 and true are not, nor are 1 and 1.0."""
    return json.dumps(one) == json.dumps(other)
