"""The manual in a prompt: what its instructions, its demonstrations and the game's first observation teach the model.

It uses what it has read, and knows nothing else of how to play:

- A command, a marker such as ``think:`` or ``Task completed!``, and the form of a plan's line must be told somewhere
  above the task. Otherwise it writes in its own words, which neither the game nor the agent understands.
- A command or a form that it was told but never shown in a demonstration takes a place in its mind (``span``). In a
  household, where a whole task of the kind is shown, its appliance or lamp takes none, and where only tasks are shown
  that go on after a search, the end of a step that only searches takes one.
- Habits come from the manual as well: to search the likeliest places first, to choose options before a purchase, and
  those of a reader of questions (``hotpotqa.py``). Without them it searches in alphabetical order, and buys at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from textcraft_gym.agents.adapt.react import COMPLETED, FAILED, THOUGHT
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.programs import HEAD

LINE_FORMS = {
    Cue.FUNCTION: r"def solution\(",
    Cue.GOALS: r"\w\(\{",
    Cue.MENDED_PLAN: r"\w\(\{",
    Cue.NEXT_GOAL: r"\w\(\{",
    Cue.PLAN: r"Step \d",
    Cue.PROGRAM: r"\w\(",
    Cue.REFLECTION: r"Step \d",
}
"""Pattern of a line of each kind of plan."""

ALL_DONE = "That is all."
"""The claim of success of a model that has not read how to claim it."""

_TASK = re.compile(r"\n(?:Goal|Your task is to): ")
_EXAMPLE = re.compile(r"\bexamples?\b", re.IGNORECASE)
_FORM = re.compile(r"\w+\[?")
_CALL = re.compile(r"(\s*(?:assert .+ else )?)(\w+)\((\{?)")


@dataclass(frozen=True)
class Manual:
    """The text above a task.

    Attributes:
        text: All of it.
        demonstrations: The part that shows how tasks are done or answers are written; empty without any.
    """

    text: str
    demonstrations: str

    def tells(self, pattern: str) -> bool:
        """Return whether a form or a habit is named anywhere."""
        return re.search(pattern, self.text, re.IGNORECASE) is not None

    def shows(self, pattern: str) -> bool:
        """Return whether a form is used in the demonstrations."""
        return re.search(pattern, self.demonstrations, re.IGNORECASE) is not None

    def unseen(self, forms: list[str]) -> list[str]:
        """Return those commands that no demonstration shows, which it must keep in mind."""
        return [form for form in dict.fromkeys(forms) if not self.shows(_pattern(form))]


def read_manual(prompt: str, mark: str) -> Manual:
    """Return the manual of a prompt in a game whose situations contain ``mark``."""
    tasks = list(_TASK.finditer(prompt))
    text = prompt[: tasks[-1].start()] if tasks else prompt
    before = text.rpartition(mark)[0]  # without the situation of the task itself
    starts = [found.start() for found in [_EXAMPLE.search(before)] if found]
    starts += [before.find(mark)] if mark in before else []
    return Manual(text, before[min(starts) :] if starts else "")


def in_own_words(answer: str, cue: Cue, manual: Manual) -> str:
    """Return an answer with all that the manual does not teach replaced by the model's own words."""
    match cue:
        case Cue.TURN:
            return _line(answer, manual)
        case Cue.PLAN | Cue.REFLECTION | Cue.NUMBERED_STEPS:
            return _steps(answer, manual)
        case Cue.GOALS | Cue.MENDED_PLAN | Cue.NEXT_GOAL | Cue.PROGRAM:
            told = answer != "done" or manual.tells(r"\bdone\b")
            return "\n".join(_call(line, manual) for line in _steps(answer, manual).split("\n")) if told else ALL_DONE
        case Cue.FUNCTION:
            return _function(answer, manual)
        case Cue.CHOICE | Cue.SIMPLE_MATCH:
            return answer if manual.tells(r"\bnumber\b") else "The one that fits."
        case Cue.DETAIL_MATCH:
            return answer if manual.tells(r"\byes\b") else answer.partition(", ")[2]
        case _:
            return answer


def _line(line: str, manual: Manual) -> str:
    """Return a line of a turn."""
    if line.startswith(THOUGHT):
        return line if manual.tells(THOUGHT) else line.removeprefix(THOUGHT).strip()
    if COMPLETED in line.lower():
        return line if manual.tells(COMPLETED) else ALL_DONE
    if line.startswith(FAILED):
        return line if manual.tells(FAILED) else line.removeprefix(f"{FAILED}!").strip()
    form = _FORM.match(line)
    if form is None or manual.tells(_pattern(form[0])):
        return line
    return f"I {' '.join(re.sub(r'[][]', ' ', line).split())}"


def _steps(plan: str, manual: Manual) -> str:
    """Return a plan in steps; an order that it cannot write is left out, so that all steps seem to be needed."""
    lines = plan.split("\n")
    orders = manual.tells("Execution Order") and (manual.tells(r"\b(?-i:OR)\b") or " OR " not in plan)
    lines = [line for line in lines if orders or not line.startswith("Execution Order")]
    if not manual.tells(r"Step \d"):
        lines = [re.sub(r"^Step \d+: ", "- ", line) for line in lines]
    if not manual.tells(r"#\d"):
        lines = [re.sub(r"^#\d+ ", "- ", line) for line in lines]
    return "\n".join(lines)


def _call(line: str, manual: Manual) -> str:
    """Return a goal or a line of a program."""
    call = _CALL.match(line)
    if call is None or manual.tells(rf"\b{call[2]}\({re.escape(call[3])}"):
        return line
    return f"{call[1]}{' '.join(re.findall(r'[a-z0-9]+', line))}"


def _function(source: str, manual: Manual) -> str:
    """Return a function, or what its steps do where no such function is shown; its form is more than can be told."""
    if manual.shows(LINE_FORMS[Cue.FUNCTION]) or not source.startswith(HEAD):
        return source
    return "\n".join(f"I {title}." for title in re.findall(r"print\('\[Step \d+\] (.+)'\)", source))


def _pattern(form: str) -> str:
    """Return a pattern of a command's first word, with the bracket that may follow it."""
    return rf"\b{re.escape(form)}"
