"""Why episodes were lost: one cause for each, from its transcript and its trace alone.

Of the causes that hold for an episode the first in the order of ``CAUSES`` counts: what came first
explains what came after. How an attempt ended is read from the last one, after the last reset.
What a game's answers mean is its profile's (``GameProfile.fault`` and ``GameProfile.holds``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from textcraft_gym.agents.adapt.react import FAILED
from textcraft_gym.agents.contract.attempt import Attempt, Fault, Turn
from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.episodes.episode_limits import EpisodeLimit
from textcraft_gym.reports.metrics import ALL, outcome_of, summarise_by_group
from textcraft_gym.reports.records import light
from textcraft_gym.reports.tables import Rows, markdown_table

Cause: TypeAlias = (
    Literal["model's limit", "no plan", "false step"]
    | Fault
    | Literal["same refusal", "false success", "budget", "gave up", "other"]
)
CAUSES: Mapping[Cause, str] = {
    "model's limit": "the model's context, its answer's length, or its refusal ended it",
    "no plan": "a planner was asked, and no plan could be followed",
    "miss": "an action failed by chance, and was never made up for",
    "false step": "a step of a plan was claimed to be done and was not, nor later",
    "missing part": "what the task needs was never there, or no step of the plan makes it",
    "wrong count": "too few of something, or other amounts than a command takes",
    "wrong thing": "another thing than the one that was needed, or one that the game does not know",
    "same refusal": "the last action was refused, and had been refused before",
    "false success": "the agent claimed success",
    "budget": "the steps, the calls or the agent's turns were spent",
    "gave up": "the agent stopped, with turns left",
    "other": "none of these",
}
"""The causes in the order in which they are looked for, with what they mean."""
EXAMPLES = 3
"""Number of tasks that are named for each cause."""
WHY_TITLE = "Lost episodes by cause"

Record: TypeAlias = Mapping[str, Any]
Part: TypeAlias = Mapping[str, Any]

_ASIDE = ("inventory", "look", "think", "think:")
"""First words of actions that try to change nothing."""
_THOUGHT = ("think", "thought")
_SPENT = ("max_calls", "max_steps", "truncated")
_RUN_LIMITS = get_args(EpisodeLimit)


Why: TypeAlias = Mapping[str, Mapping[Cause, Sequence[str]]]
"""The tasks of the lost episodes of a run, by group and by cause."""


class Example(NamedTuple):
    """Tasks of a run that were lost by a cause.

    Attributes:
        run: The label of the run.
        cause: The cause.
        meaning: What it means.
        tasks: A few of the tasks.
    """

    run: str
    cause: Cause
    meaning: str
    tasks: tuple[str, ...]


class _Claim(NamedTuple):
    """A step that its executor claimed to be done, after an entry of the transcript."""

    step: str
    entry: int


def is_lost(record: Record) -> bool:
    """Return whether an episode is lost, by a limit or otherwise."""
    return outcome_of(record) in ("lost", "limit")


def cause_of(record: Record, profile: GameProfile) -> Cause:
    """Return why an episode was lost.

    Args:
        record: The record of a lost episode, with its long fields.
        profile: How the game is read.
    """
    if record["limit"] and record["limit"] not in _RUN_LIMITS:
        return "model's limit"
    entries = _last_attempt(record)
    attempt = _attempt(record, entries, profile)
    if _has_no_plan(record["trace"], has_acted=bool(_acts(attempt.turns, profile))):
        return "no plan"
    fault = profile.fault(attempt)
    if fault == "miss":
        return fault
    if _claims_falsely(record, entries, profile):
        return "false step"
    if fault:
        return fault
    if _names_nothing(record["trace"]):
        return "wrong thing"
    if _is_stuck(attempt.turns, profile):
        return "same refusal"
    if attempt.claimed:
        return "false success"
    if record["limit"] or record["stop_reason"] in _SPENT or _is_cut_off(record["trace"]):
        return "budget"
    return "gave up" if record["stop_reason"] in ("agent", "terminated") else "other"


def why(records: Iterable[Record], profile: GameProfile) -> Why:
    """Return the tasks of lost episodes by group and by cause, ``all`` at the end.

    Args:
        records: The records of a run, with their long fields.
        profile: How the game is read.
    """
    lost: list[Record] = []
    causes: list[Cause] = []
    for record in records:
        if is_lost(record):
            lost.append(light(record))
            causes.append(cause_of(record, profile))
    found: dict[str, dict[Cause, list[str]]] = {}
    for group in summarise_by_group(lost) if lost else ():
        tasks: dict[Cause, list[str]] = {}
        for record, cause in zip(lost, causes, strict=True):
            if group in (record["group"], ALL):
                tasks.setdefault(cause, []).append(record["task"])
        found[group] = tasks
    return found


def why_table(runs: Mapping[str, Why]) -> Rows:
    """Return headings and rows of the number of lost episodes by cause, for each run and group.

    Only causes that an episode has are columns; empty where none is lost.
    """
    causes = _found(runs.values())
    if not causes:
        return []
    rows: Rows = [("run", "group", "lost", *causes)]
    for run, by_group in runs.items():
        for group, tasks in by_group.items():
            counts = [len(tasks.get(cause, ())) for cause in causes]
            rows.append((run, group, str(sum(counts)), *map(str, counts)))
    return rows


def why_examples(runs: Mapping[str, Why]) -> list[Example]:
    """Return a few tasks for each run and cause, the first that were lost."""
    examples = []
    for run, by_group in runs.items():
        tasks = by_group.get(ALL, {})
        for cause in CAUSES:
            if cause in tasks:
                named = tuple(dict.fromkeys(tasks[cause]))[:EXAMPLES]
                examples.append(Example(run, cause, CAUSES[cause], named))
    return examples


def why_markdown(runs: Mapping[str, Why]) -> str:
    """Return the table and the examples as Markdown; empty where nothing is lost."""
    rows = why_table(runs)
    if not rows:
        return ""
    examples: Rows = []
    for example in why_examples(runs):
        examples.append((example.run, example.cause, example.meaning, ", ".join(example.tasks)))
    tables = (rows, [("run", "cause", "meaning", "such as"), *examples])
    return "\n".join(markdown_table(table[0], table[1:]) for table in tables)


def _found(runs: Iterable[Why]) -> list[Cause]:
    """Return the causes that an episode of some run has, in order."""
    found: set[Cause] = set()
    for by_group in runs:
        found |= by_group.get(ALL, {}).keys()
    return [cause for cause in CAUSES if cause in found]


def _last_attempt(record: Record) -> list[int]:
    """Return the entries of the last attempt, of which the first is its reset.

    Where the agent returned to an earlier moment, only what led there counts.
    """
    returns = dict(record["restores"])
    transcript = record["transcript"]
    entries: list[int] = []
    entry = len(transcript) - 1
    while entry >= 0:
        if entry in returns:
            entry = returns[entry]
            continue
        entries.append(entry)
        if transcript[entry][0] is None:
            break
        entry -= 1
    return entries[::-1]


def _attempt(record: Record, entries: Sequence[int], profile: GameProfile) -> Attempt:
    transcript = record["transcript"]
    turns: list[Turn] = []
    for entry in entries[1:]:
        action, answer = transcript[entry]
        if not answer.startswith("OK."):
            turns.append((action, answer))
    plan = next((_notes(part) for part in _parts(record["trace"], ("planner",))), "")
    return Attempt(
        opening=transcript[entries[0]][1] if entries else "",
        turns=turns,
        refused=_refused(turns, profile),
        plan=plan,
        claimed=record["claimed_success"] is True,
    )


def _refused(turns: Sequence[Turn], profile: GameProfile) -> Turn | None:
    """Return the last action that was to change something, if it was refused."""
    acts = _acts(turns, profile)
    return acts[-1] if acts and profile.refuses(acts[-1][1]) else None


def _acts(turns: Sequence[Turn], profile: GameProfile) -> list[Turn]:
    """Return the actions that were to change something, but for one that gives up."""
    acts = []
    for action, answer in turns:
        first = action.partition(" ")[0]
        if first not in _ASIDE and not (profile.giving_up and action == profile.giving_up):
            acts.append((action, answer))
    return acts


def _is_stuck(turns: Sequence[Turn], profile: GameProfile) -> bool:
    """Return whether one of the last actions, which were all refused, had been refused before."""
    refused = Counter(action for action, answer in turns if profile.refuses(answer))
    last = takewhile(lambda act: profile.refuses(act[1]), reversed(_acts(turns, profile)))
    return any(refused[action] > 1 for action, _ in last)


def _has_no_plan(trace: Part, *, has_acted: bool) -> bool:
    """Return whether a planner was asked, and all its plans failed or led to nothing."""
    planners = [*_parts(trace, ("planner",))]
    if not planners:
        return False
    if all(part["outcome"] is False for part in planners):
        return True
    return not has_acted and not any(_parts(trace, ("executor", "skill")))


def _names_nothing(trace: Part) -> bool:
    """Return whether the last step was one for which a controller knew no action."""
    *_, last = [None, *_parts(trace, ("executor",))]
    return last is not None and last["outcome"] is False and not last["parts"] and not last["calls"]


def _is_cut_off(trace: Part) -> bool:
    """Return whether the last executor ended with an action or a thought that says no end."""
    *_, last = [trace, *_parts(trace, ("executor",))]
    end = last["parts"][-1] if last["parts"] else ""
    if isinstance(end, str):
        words = end.casefold()
        return words.startswith(_THOUGHT) and FAILED not in words
    return isinstance(end, int)


def _claims_falsely(record: Record, entries: Sequence[int], profile: GameProfile) -> bool:
    """Return whether a step of the last attempt was claimed, and did not hold, nor later."""
    transcript = record["transcript"]
    for claim in _claims(record["trace"]):
        ends = [place for place, entry in enumerate(entries) if entry <= claim.entry]
        if not entries or claim.entry < entries[0]:
            continue
        turns = [tuple(transcript[entry]) for entry in entries[1:]]
        held = [profile.holds(claim.step, turns[:end]) for end in range(ends[-1], len(turns) + 1)]
        if held[0] is False and True not in held:
            return True
    return False


def _claims(trace: Part) -> list[_Claim]:
    """Return the steps that executors claimed to be done."""
    claims: list[_Claim] = []

    def visit(part: Part, entry: int) -> int:
        for inner in part["parts"]:
            if isinstance(inner, int):
                entry = inner
            elif isinstance(inner, Mapping):
                entry = visit(inner, entry)
        if part["role"] == "executor" and part["outcome"]:
            claims.append(_Claim(part["task"], entry))
        return entry

    visit(trace, 0)
    return claims


def _parts(trace: Part, roles: Sequence[str]) -> Iterator[Part]:
    """Yield the parts of some roles, in order."""
    for part in trace["parts"]:
        if isinstance(part, Mapping):
            if part["role"] in roles:
                yield part
            yield from _parts(part, roles)


def _notes(part: Part) -> str:
    return "\n".join(note for note in part["parts"] if isinstance(note, str))
