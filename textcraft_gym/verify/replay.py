"""Replays a recorded episode in its world, and yields each mismatch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
"""Fields that a replay determines, beside the transcript and the task's."""

SUMMED = ("calls", "tokens", "k_max", "trace", "limit", "error", "traceback", "claimed_success")
"""Fields that a replay cannot know, and that must agree with each other."""


class Difference(NamedTuple):
    """A mismatch between a run folder and its replay.

    Attributes:
        where: The file, and of an episode the line, the task and the step.
        what: What is recorded there, and what the replay gives.
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class RecordedActions:
    """Plays the actions of a transcript, with its resets and its returns to earlier moments.

    Args:
        transcript: The transcript, as an ``Episode`` has it.
        restores: The returns, each as the index of its entry and of that whose moment it leads to.
        after: Called after each entry with its index, 0 for the first observation.
    """

    def __init__(
        self,
        transcript: Sequence[tuple[str | None, str]],
        restores: Iterable[tuple[int, int]] = (),
        after: Callable[[int], None] = lambda index: None,
    ) -> None:
        self.transcript = transcript
        self.after = after
        self.restores = dict(restores)

    def episode(self, play: Play) -> Routine:
        """Play on until an action is refused because the episode is over."""
        over = False
        kept = set(self.restores.values())
        moments = {0: (yield from play.snapshot())} if 0 in kept else {}
        self.after(0)
        for index, (action, _) in enumerate(self.transcript[1:], 1):
            if index in self.restores:
                moment = moments.get(self.restores[index])
                if moment is None:  # the episode was over there: no agent could have kept it
                    return None
                yield from play.restore(moment)
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
            self.after(index)
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
    """Yield each mismatch between a well-formed record and its replay, or within it.

    Args:
        env: The environment of the run.
        record: A record with a transcript.
        planned: The episode that it records.
        spec: The run.
        max_steps: The run's maximum number of actions in an episode.
    """
    transcript: Sequence[tuple[str | None, str]] = record["transcript"]
    recorded = RecordedActions(transcript, record["restores"])
    runner = EpisodeRunner(
        env,
        recorded,
        planned.job,
        None,
        max_steps,
        spec.max_calls,
        won_at=spec.won_at,
    )
    runner.advance()
    episode = runner.episode
    if runner.failure:
        yield f"cannot be replayed: {episode.error}"

    # The record is believed where a replay cannot know why an episode ended.
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


def inconsistencies(
    record: Mapping[str, Any],
    task: str,
    max_calls: int,
) -> Iterator[str]:
    """Yield where the parts of a well-formed record do not agree with each other.

    Args:
        record: The record.
        task: The task of the whole trace.
        max_calls: The run's maximum number of completions.
    """
    yield from _wrong_end(record)

    trace, transcript = record["trace"], record["transcript"]
    if (trace["task"], trace["role"], trace["depth"]) != (task, "agent", 0):
        root = f"role {shown(trace['role'])}, depth {trace['depth']}"
        yield f"the trace is of {shown(trace['task'])}, {root}"
    claimed = record["claimed_success"]
    if record["error"] is None and trace["outcome"] is not claimed:
        yield f"claimed_success: recorded {claimed}, in the trace {trace['outcome']}"

    nodes = list(_walk(trace))
    entries: list[int] = []
    for node in nodes:
        entries += _entries(node)
    if sorted(entries) != list(range(len(transcript))):
        yield f"the trace does not hold each of the {len(transcript)} transcript entries once"
        return  # without them no count can be compared

    yield from _wrong_steps(nodes, transcript)
    yield from _wrong_sums(record, nodes, max_calls)
    yield from _wrong_depth(record, nodes)


def _wrong_end(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield each error, limit or traceback that the stop reason contradicts."""
    reason = record["stop_reason"]
    for name in ("error", "limit"):
        if (record[name] is not None) != (reason == name):
            yield f"stop_reason {reason!r} with the {name} {shown(record[name])}"
    if record["traceback"] is not None and record["error"] is None:
        yield "traceback without an error"


def _entries(node: Mapping[str, Any]) -> list[int]:
    """Return the indices of the transcript's entries among the parts of a node."""
    return [part for part in node["parts"] if type(part) is int]


def _wrong_steps(
    nodes: Iterable[Mapping[str, Any]],
    transcript: Sequence[tuple[str | None, str]],
) -> Iterator[str]:
    """Yield each node whose number of steps is not that of its actions."""
    for node in nodes:
        actions = 0
        for entry in _entries(node):
            if transcript[entry][0] is not None:  # no reset
                actions += 1
        if node["steps"] != actions:
            part = f"part {shown(node['task'])} of the trace"
            yield f"{part}: recorded {node['steps']} steps, counted {actions}"


def _wrong_sums(
    record: Mapping[str, Any],
    nodes: Sequence[Mapping[str, Any]],
    max_calls: int,
) -> Iterator[str]:
    """Yield each number of calls or tokens that the trace or the run's limit contradicts."""
    for name in ("calls", "tokens"):
        counts = record[name].values()
        total, in_trace = sum(counts), sum(node[name] for node in nodes)
        if in_trace != total or min(counts, default=0) < 0:
            recorded = shown(record[name])
            yield f"{name}: recorded {recorded}, {total} in total, {in_trace} in the trace"
    if sum(record["calls"].values()) > max_calls:
        yield f"calls: recorded {shown(record['calls'])}, more than max_calls {max_calls}"


def _wrong_depth(record: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield an error if ``k_max`` is impossible.

    It is the depth of the deepest part with an action or an executor's call. Of a part with calls
    alone the trace does not tell whose they are, so it gives only bounds.
    """
    lowest = highest = 0
    for node in nodes:
        if node["steps"]:
            lowest = max(lowest, node["depth"])
        if node["steps"] or node["calls"]:
            highest = max(highest, node["depth"])
    if record["calls"].keys() == {"executor"}:
        lowest = highest
    if not lowest <= record["k_max"] <= highest:
        yield f"k_max: recorded {record['k_max']}, in the trace {lowest} to {highest}"


def _first_difference(
    transcript: Sequence[tuple[str | None, str]],
    episode: Episode,
) -> Iterator[str]:
    """Yield the first step at which the transcript and the replay differ."""
    pairs = zip(transcript, episode.transcript, strict=False)
    for step, ((action, recorded), (_, replayed)) in enumerate(pairs):
        if recorded != replayed:
            yield f"step {step}, {_action(action)}: {_parted(recorded, replayed)}"
            return
    step = len(episode.transcript)
    if step < len(transcript):
        yield f"step {step}, {_action(transcript[step][0])}: recorded after the episode's end"


def _action(action: str | None) -> str:
    return "a reset" if action is None else f"action {shown(action)}"


def _parted(recorded: str, replayed: str) -> str:
    """Return both texts from a little before the first character in which they differ."""
    first = min(len(recorded), len(replayed))
    for index, pair in enumerate(zip(recorded, replayed, strict=False)):
        if pair[0] != pair[1]:
            first = index
            break
    start = max(0, first - MAX_SHOWN // 4)
    dots = "..." if start else ""
    return f"recorded {dots}{shown(recorded[start:])}, replayed {dots}{shown(replayed[start:])}"


def _walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for part in node["parts"]:
        if isinstance(part, dict):
            yield from _walk(part)


def _same(recorded: Any, replayed: Any) -> bool:
    """Return whether two values are written alike: 1 and true are not, nor are 1 and 1.0."""
    return json.dumps(recorded) == json.dumps(replayed)
