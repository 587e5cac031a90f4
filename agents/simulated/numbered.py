"""The simulated model in numbered turns of a thought and an action, which it answers as it does turns of one line.

Reflections and judgements of an attempt in such turns are answered in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from textcraft_gym.agents.adapt.react import THOUGHT
from textcraft_gym.agents.simulated.cues import Cue, read_question

CUES = (Cue.NUMBERED_TURN, Cue.NUMBERED_ACTION, Cue.REFLECTION, Cue.JUDGEMENT)
MAX_THOUGHTS = 8
"""Maximum number of thoughts before an action; what comes after them is the action."""
MAX_THOUGHT = 600
"""Maximum number of characters of a thought, so that there are tokens left for the action."""
BETWEEN = "; "
"""What stands between the thoughts of a turn."""
GIVING_UP = "finish[]"
"""What it plays where it has no answer to a question."""

_TOLD = f"{THOUGHT} {{anything}}\n"
_TASK = re.compile(r"\n(?:Your task is to|Goal): ")
_NUMBER = re.compile(r"(\d+):$")
_LINES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?:^|(?<=\n))Thought \d+: ([^\n]*)"), lambda found: _thoughts(found[1])),
    (re.compile(r"(?:^|(?<=\n))Action \d+: (\S?)"), lambda found: f"> {found[1].lower()}"),
    (re.compile(r"(?:^|(?<=\n))Observation \d+: "), ""),
    (re.compile(r"(?:^|(?<=\n))(?:Thought|Action) \d+:$"), ">"),
)
_COMMAND = re.compile(r"\w+\[")
_FINISHES = re.compile(r"\bfinish\[", re.IGNORECASE)


def _thoughts(text: str) -> str:
    """Return the thoughts of a turn as lines with their answers."""
    return "\n".join(f"> {THOUGHT} {thought}\nOK." for thought in text.split(BETWEEN))


def in_lines(transcript: str) -> str:
    """Return a transcript of numbered turns as one of lines; another as it is."""
    for pattern, line in _LINES:
        transcript = pattern.sub(line, transcript)
    return transcript


def answer(prompt: str, play: Callable[[str], str]) -> str:
    """Return the answer to a prompt in numbered turns.

    Args:
        prompt: The prompt.
        play: Returns the next line of a player under ReAct. A line that is no action gives up.
    """
    asked = prompt.rstrip()
    start = max((found.end() for found in _TASK.finditer(asked)), default=0)
    cue = read_question(asked).cue
    turns = f"{asked[:start]}{in_lines(asked[start:])}"
    if cue in (Cue.REFLECTION, Cue.JUDGEMENT):
        return play(turns)
    turns = f"{_TOLD}{turns}"
    thoughts: list[str] = []
    line = play(turns)
    while line.startswith(THOUGHT) and len(thoughts) < MAX_THOUGHTS:
        thoughts.append(line.removeprefix(THOUGHT).strip())
        turns += f" {line}\nOK.\n>"
        line = play(turns)
    action = line
    if _FINISHES.search(asked[:start]) and not _COMMAND.match(line):
        thoughts, action = [*thoughts, line], GIVING_UP
    action = action[:1].upper() + action[1:]
    if cue is Cue.NUMBERED_ACTION:
        return f" {action}"
    number = _NUMBER.findall(asked)[-1]
    thought = BETWEEN.join(thoughts)[:MAX_THOUGHT] or "I go on."
    return f" {thought}\nAction {number}: {action}"
