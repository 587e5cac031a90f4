"""Cues: the last lines of the agents' prompts, by which the simulated model recognises the kind of request.

A prompt whose last line is not a cue asks for a plan. The lines are in ``agents/prompts``; the two that follow a failed
goal are in ``agents/deps``, and those about a function in ``agents/adaplanner``. A user's prompt is understood if it
ends with a line of the same form.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple


class Cue(Enum):
    """Kind of answer that a prompt asks for."""

    ACTION = auto()
    ANSWER = auto()
    CHOICE = auto()
    DETAIL_MATCH = auto()
    EXPLANATION = auto()
    FIRST_CHANGE = auto()
    FLAWS = auto()
    FORM = auto()
    FUNCTION = auto()
    GOALS = auto()
    JUDGEMENT = auto()
    MENDED_PLAN = auto()
    NEW_PLAN = auto()
    NEXT_GOAL = auto()
    NUMBERED_ACTION = auto()
    NUMBERED_STEPS = auto()
    NUMBERED_TURN = auto()
    PLAN = auto()
    PROGRAM = auto()
    QUESTION = auto()
    REFLECTION = auto()
    REVISION = auto()
    SIMPLE_MATCH = auto()
    SUMMARY = auto()
    SYNTAX = auto()
    THOUGHT = auto()
    TURN = auto()


CUES: tuple[tuple[re.Pattern[str], Cue], ...] = tuple(
    (re.compile(pattern), cue)
    for pattern, cue in (
        (r"Your answer:$", Cue.CHOICE),  # controller: the number of a command
        (r"^>$", Cue.TURN),  # react, and the executor of ADaPT, Plan-and-Execute, Try-Again and Reflexion
        (r"^Why did it fail", Cue.EXPLANATION),  # DEPS, after a goal failed
        (r"^Mend this", Cue.MENDED_PLAN),  # DEPS and the zero-shot planner, after a goal failed
        (r"^Plan as goals", Cue.GOALS),  # deps
        (r"^Thoughts and plan", Cue.GOALS),  # chain_of_thought
        (r"^Thoughts, then the answer", Cue.ANSWER),  # chain_of_thought without tools
        (r"^Plan as numbered", Cue.NUMBERED_STEPS),  # deps in a household
        (r"^Next goal", Cue.NEXT_GOAL),  # inner_monologue
        (r"^Program", Cue.PROGRAM),  # code_as_policies, and progprompt "with checks"
        (r"^def solution\(", Cue.FUNCTION),  # adaplanner
        (r"^Are there errors of syntax", Cue.SYNTAX),  # adaplanner, before a function is played
        (r"^From which step", Cue.FIRST_CHANGE),  # adaplanner, after a function was mended
        (r"^Answer:$", Cue.QUESTION),  # adaplanner, for a question of a function
        (r"^Reflection", Cue.REFLECTION),  # reflexion, and lats after a failed attempt
        (r"^Judgement:$", Cue.JUDGEMENT),  # lats and tree_of_thoughts: how likely an attempt is to succeed
        (r"^Simple match", Cue.SIMPLE_MATCH),  # ADaPT's skill of matching listed products
        (r"^Detail match", Cue.DETAIL_MATCH),  # ADaPT's skill of matching an opened product
        (r"^Thought \d+:$", Cue.NUMBERED_TURN),  # lats, react in numbered turns, and where an action was left out
        (r"^Action \d+:$", Cue.NUMBERED_ACTION),
        (r"\bThought:$", Cue.THOUGHT),  # autoplan: the two parts of a turn, and the form of its action
        (r"^Action:$", Cue.ACTION),
        (r"^As the game takes it:$", Cue.FORM),
        (r"\bSummary:$", Cue.SUMMARY),  # autoplan: what is asked after an episode
        (r"\bFlaws:$", Cue.FLAWS),
        (r"\bRevision:$", Cue.REVISION),
        (r"\bNew plan:$", Cue.NEW_PLAN),  # autoplan's update
    )
)
"""The pattern of each cue, searched for in the last line of a prompt; the first match counts."""


class Question(NamedTuple):
    """The request of a prompt.

    Attributes:
        cue: Kind of answer.
        in_full: Whether a plan should be detailed down to actions, not one level down.
        checked: Whether a program should assert a condition before each step.
    """

    cue: Cue
    in_full: bool
    checked: bool


def read_question(prompt: str) -> Question:
    """Return the request in the last line of a prompt."""
    line = prompt.rstrip().rpartition("\n")[2]
    cue = next((cue for pattern, cue in CUES if pattern.search(line)), Cue.PLAN)
    return Question(cue, in_full="in full" in line, checked="checks" in line)
