"""The model behind a double of a server: it knows how boats are built in TextCraft, and says what
comes next."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tests.doubles.server import Request

TASK = "minecraft:birch_boat"
"""The task, of the split ``test``. A demonstration in the prompts begins with its first command,
too."""
PLAN = (
    ("get 2 birch logs", "Got 2 birch logs"),
    ("craft 4 birch planks using 1 birch logs", "Crafted 4 minecraft:birch_planks"),
    ("craft 4 birch planks using 1 birch logs", "Crafted 4 minecraft:birch_planks"),
    ("craft 1 birch boat using 5 birch planks", "Crafted 1 minecraft:birch_boat"),
)
"""The commands that win it, each with the game's answer; a boat of another wood takes the same."""
PLANNED = "Step 1: craft birch boat\nExecution Order: (Step 1)"
"""The plan that it writes for an agent that asks for one: the executor does the whole."""
THOUGHT = (
    "The goal takes planks, and planks take logs.\nSo I look at what I hold, and take what is next."
)
"""What it thinks where it thinks aloud: two lines without a command."""


class Words(NamedTuple):
    """What the model writes: a command, or a plan if the agent asks for one."""

    text: str
    is_plan: bool = False


def next_words(request: Request) -> Words:
    """Return the next command of the plan, or a plan if the prompt asks for one."""
    if "Execution Order" in told_by_the_game(request):
        return Words(PLANNED, is_plan=True)
    left = commands_left(request)
    return Words(left[0] if left else "think: The boat is there. Task completed!")


def commands_left(request: Request) -> list[str]:
    """Return the commands that are still to play, by what the game has answered so far."""
    # The demonstrations of a prompt stand before its goal.
    transcript = told_by_the_game(request).rpartition("Goal:")[2]
    wood = "jungle" if transcript.lstrip().startswith("craft jungle boat") else "birch"
    plan = [
        (command.replace("birch", wood), answer.replace("birch", wood)) for command, answer in PLAN
    ]
    played = 0
    for line in transcript.splitlines():
        played += played < len(plan) and line.strip() == plan[played][1]
    return [command for command, _ in plan[played:]]


def arguments_of(command: str) -> tuple[str, dict[str, Any]]:
    """Return a command as a call: its verb, which is the function, and the arguments by name."""
    verb, count, rest = command.split(" ", 2)
    item, _, ingredients = rest.partition(" using ")
    return verb, {"count": int(count), "item": item} | (
        {"ingredients": ingredients} if ingredients else {}
    )


def told_by_the_game(request: Request) -> str:
    """Return what was not written by the model: the text of users and tools, or the whole prompt of a text to continue.

    A command that the model only imagined to have been answered has not been played.
    """
    messages = request.body.get("messages")
    if messages is None:
        return str(request.body.get("prompt", ""))
    return "\n".join(
        message["content"] for message in messages if message["role"] in ("user", "tool")
    )


def finish(request: Request, text: str) -> tuple[str, str]:
    """Return a text as far as a server lets it come, and why it ends: at a stop sequence or at the token limit.

    A word with the space before it counts as one token.
    """
    sequences = request.body.get("stop") or []
    for sequence in [sequences] if isinstance(sequences, str) else sequences:
        text = text.split(sequence, 1)[0]
    words = re.findall(r"\s*\S+", text)
    limit = token_limit(request)
    return (text, "stop") if len(words) <= limit else ("".join(words[:limit]), "length")


def token_limit(request: Request) -> int:
    """Return the maximum number of tokens to write, by either of its names."""
    return int(
        request.body.get("max_tokens") or request.body.get("max_completion_tokens") or 1_000_000
    )
