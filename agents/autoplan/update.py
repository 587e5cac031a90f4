"""AutoPlan's update: the request for a new plan, from the old one and its episodes."""

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
            notes = [part for part in node["parts"] if isinstance(part, str)]
            said[node["role"]] = "\n".join(notes)[:MAX_TEXT]
    return Experience(objective, won, **said)


def update_prompt(
    wording: Wording,
    plan: str,
    experiences: Sequence[Experience],
) -> str:
    """Return the request for a new plan, in a dialogue of its own."""
    texts = [_experience_text(wording, experience) for experience in experiences]
    return wording.fill("update", plan=plan or NO_PLAN, experiences="\n\n".join(texts))


def _experience_text(wording: Wording, experience: Experience) -> str:
    return wording.fill(
        "experience",
        objective=experience.objective,
        result="succeeded" if experience.won else "failed",
        summary=experience.summary or NOTHING,
        flaws=experience.flaws or NOTHING,
        revision=experience.revision or NOTHING,
    )


def new_plan(text: str) -> str:
    """Return the plan that a completion is, as a text that a file can hold."""
    # Lone surrogates cannot be written, and files of other systems end lines in other ways.
    whole = "\n".join(text.encode(errors="replace").decode().strip().splitlines())
    return whole[:MAX_PLAN].strip()


def calls_by_role(trace: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return the calls and the tokens of each role in a trace, as records hold it."""
    by_role: dict[str, tuple[int, int]] = {}
    for node in walk(trace):
        if node["calls"]:
            calls, tokens = by_role.get(node["role"], (0, 0))
            by_role[node["role"]] = calls + node["calls"], tokens + node["tokens"]
    return by_role


def walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the nodes of a trace, parents first."""
    yield node
    for part in node["parts"]:
        if isinstance(part, Mapping):
            yield from walk(part)
