"""AutoPlan's update: the request for a new plan, made of a plan and of what was learned in the episodes with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from textcraft_gym.agents.autoplan.autoplan import MAX_PLAN, MAX_TEXT
from textcraft_gym.agents.autoplan.wording import Wording

NO_PLAN, NOTHING = "There is none yet.", "none"


class Experience(NamedTuple):
    """What is told of one episode; a reflection that was not asked for, or not given, is empty.

    Attributes:
        objective: The task in words.
        won: Whether it was done.
        summary: What was done, in steps.
        flaws: The flaws of it.
        revision: How to mend them.
    """

    objective: str
    won: bool
    summary: str = ""
    flaws: str = ""
    revision: str = ""


def experience(trace: Mapping[str, Any], *, won: bool) -> Experience:
    """Return the experience of an episode by its trace, as records hold it."""
    said: dict[str, str] = {}
    objective = ""
    for node in walk(trace):
        if node["role"] == "executor":
            objective = node["task"]
        elif node["role"] in ("summary", "flaws", "revision"):
            said[node["role"]] = "\n".join(part for part in node["parts"] if isinstance(part, str))[
                :MAX_TEXT
            ]
    return Experience(objective, won, **said)


def update_prompt(wording: Wording, plan: str, experiences: Sequence[Experience]) -> str:
    """Return the request for a new plan, in a dialogue of its own."""
    told = [
        wording.fill(
            "experience",
            objective=one.objective,
            result="succeeded" if one.won else "failed",
            summary=one.summary or NOTHING,
            flaws=one.flaws or NOTHING,
            revision=one.revision or NOTHING,
        )
        for one in experiences
    ]
    return wording.fill("update", plan=plan or NO_PLAN, experiences="\n\n".join(told))


def new_plan(text: str) -> str:
    """Return the plan that a completion is, as a text that a file can hold."""
    whole = "\n".join(text.encode(errors="replace").decode().strip().splitlines())
    return whole[:MAX_PLAN].strip()


def calls_by_role(trace: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return the calls and the tokens of each role in a trace, as records hold it."""
    found: dict[str, tuple[int, int]] = {}
    for node in walk(trace):
        if node["calls"]:
            calls, tokens = found.get(node["role"], (0, 0))
            found[node["role"]] = calls + node["calls"], tokens + node["tokens"]
    return found


def walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the nodes of a trace, parents first."""
    yield node
    for part in node["parts"]:
        if isinstance(part, Mapping):
            yield from walk(part)
