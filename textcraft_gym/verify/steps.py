"""Claims about the steps of plans, checked by replaying the world to the end of each step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import gymnasium as gym

from textcraft_gym.episodes.episode import EpisodeRunner
from textcraft_gym.reports.metrics import ALL, summarise_by_group
from textcraft_gym.reports.records import key_of, read_records
from textcraft_gym.reports.step_claims import StepClaim, StepClaims, step_claim
from textcraft_gym.runs.runner import Planned, plan
from textcraft_gym.verify.recheck import world_alone
from textcraft_gym.verify.replay import RecordedActions

PLANNERS = ("planner",)
"""Roles of the parts that make plans; what is attempted after the first is a step of one."""
ATTEMPTS = ("executor", "skill")
"""Roles of the parts that attempt a step."""


@runtime_checkable
class TellsSteps(Protocol):
    """An environment whose state tells whether a step of a plan is done."""

    def holds(self, step: str) -> bool | None:
        """Return whether a step is done; None if the state cannot tell."""


class Step(NamedTuple):
    """A claim about a step of a plan.

    Attributes:
        task: The step in words.
        done: Whether the agent said that it is done, not that it failed.
        end: Index of the last entry of the transcript before the claim.
    """

    task: str
    done: bool
    end: int


def step_claims(folder: str | Path, *, trusted: Collection[str] = ()) -> StepClaims:
    """Return the claims of a run about steps of plans, counted by group.

    Only episodes with such claims are replayed.

    Args:
        folder: The run folder.
        trusted: Modules and names outside of the suite that may be made, because the run names
            them.

    Raises:
        RunError: If the folder cannot be read, or its world cannot be made here.
    """
    claimed = [record for record in read_records(folder) if list(steps_of(record["trace"]))]
    if not claimed:
        return {}
    counts: dict[str, Counter[StepClaim]] = {
        name: Counter() for name in summarise_by_group(claimed)
    }
    with closing(world_alone(folder, trusted)) as run:
        planned = plan(run)
        max_steps = planned.identity["max_steps"]
        for record in claimed:
            episode = planned.episodes[key_of(record)]
            of_episode = Counter(_claims(run.env, record, episode, max_steps))
            counts[record["group"]] += of_episode
            counts[ALL] += of_episode
    return counts


def steps_of(trace: Mapping[str, Any]) -> Iterator[Step]:
    """Yield the claims about steps of plans in a trace, in order.

    A step is an attempt that follows a plan. One that the game or a budget ended is no claim.
    """
    planned, end = False, 0

    def walk(node: Mapping[str, Any]) -> Iterator[Step]:
        nonlocal planned, end
        planned |= node["role"] in PLANNERS
        is_step = planned and node["role"] in ATTEMPTS
        for part in node["parts"]:
            if isinstance(part, int):
                end = part
            elif isinstance(part, Mapping):
                yield from walk(part)
        if is_step and node["outcome"] is not None:
            yield Step(node["task"], node["outcome"], end)

    yield from walk(trace)


def _claims(
    env: gym.Env[str, str],
    record: Mapping[str, Any],
    planned: Planned,
    max_steps: int,
) -> Iterator[StepClaim]:
    """Yield the claims of an episode, each against the state at its step's end."""
    world = env.unwrapped
    ending: defaultdict[int, list[Step]] = defaultdict(list)
    for step in steps_of(record["trace"]):
        ending[step.end].append(step)
    claims: list[StepClaim] = []

    def judge(index: int) -> None:
        for step in ending.pop(index, ()):
            held = world.holds(step.task) if isinstance(world, TellsSteps) else None
            claims.append(step_claim(step.done, held))

    recorded = RecordedActions(record["transcript"], record["restores"], judge)
    EpisodeRunner(env, recorded, planned.job, None, max_steps, record["steps"]).advance()
    yield from claims
    for steps in ending.values():  # what could not be replayed
        for step in steps:
            yield step_claim(step.done, None)
