"""The simulated model in numbered turns of a thought and an action, which it answers as it does turns of one line."""

from __future__ import annotations

import re
from collections.abc import Callable

from textcraft_gym.agents.adapt.react import THOUGHT
from textcraft_gym.agents.simulated.cues import Cue, read_question

CUES = (Cue.NUMBERED_TURN, Cue.NUMBERED_ACTION)
MAX_THOUGHTS = 5
"""Maximum number of thoughts before an action; what comes after them is the action."""
MAX_THOUGHT = 200
"""Maximum number of characters of a thought, so that there are tokens left for the action."""
GIVING_UP = "finish[]"

_TOLD = f"{THOUGHT} {{anything}}\n"
_TASK = "\nYour task is to: "
_NUMBER = re.compile(r"(\d+):$")
_LINES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?:^|(?<=\n))Thought \d+: ([^\n]*)"), rf"> {THOUGHT} \1\nOK."),
    (re.compile(r"(?:^|(?<=\n))Action \d+: (\S?)"), lambda found: f"> {found[1].lower()}"),
    (re.compile(r"(?:^|(?<=\n))Observation \d+: "), ""),
    (re.compile(r"(?:^|(?<=\n))(?:Thought|Action) \d+:$"), ">"),
)
_COMMAND = re.compile(r"\w+\[")


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
    before, task, transcript = prompt.rstrip().rpartition(_TASK)
    turns = f"{_TOLD}{before}{task}{in_lines(transcript)}"
    thoughts: list[str] = []
    line = play(turns)
    while line.startswith(THOUGHT) and len(thoughts) < MAX_THOUGHTS:
        thoughts.append(line.removeprefix(THOUGHT).strip())
        turns += f" {line}\nOK.\n>"
        line = play(turns)
    action = line if _COMMAND.match(line) else GIVING_UP
    thoughts += [line] if action is GIVING_UP else []
    action = action[:1].upper() + action[1:]
    if read_question(prompt).cue is Cue.NUMBERED_ACTION:
        return f" {action}"
    number = _NUMBER.findall(prompt.rstrip())[-1]
    thought = " ".join(thoughts)[:MAX_THOUGHT] or "I go on."
    return f" {thought}\nAction {number}: {action}"
