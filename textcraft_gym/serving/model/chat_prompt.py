"""A chat as the prompt of a model of this suite."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textcraft_gym.agents.contract.model import Dialogue, Message

_GOALS = ("Goal: ", "Your task is to: ")
_QUESTION = re.compile(
    r"""
    ^(?: > | Answer: | Action: | As\ the\ game\ takes\ it: | Judgement:
         | (?:Thought|Action)\ \d+: )$
    | (?: Your\ answer: | \b(?:Flaws|New\ plan|Revision|Summary|Thought): )$
    | ^(?: Are\ there\ errors\ of\ syntax | def\ solution\( | Detail\ match | From\ which\ step
         | Mend\ this | Next\ goal | Plan\ as\ goals | Plan\ as\ numbered | Program | Reflection
         | Simple\ match | Thoughts\ and\ plan | Thoughts,\ then\ the\ answer | Why\ did\ it\ fail )
    """,
    re.VERBOSE,
)
"""The last line of a prompt of this suite's agents that asks for anything but a plan."""


def chat_prompt(messages: Sequence[Message]) -> Dialogue:
    """Return the prompt of a chat: chat models get its messages, and others its text.

    The text has the turns as ReAct's prompts have them, ``> command`` and the answer below it,
    whoever wrote the chat: the agents of this suite get the text back that they made their messages
    from, and those of others need not know the form. The ``>`` that asks for a command is added
    where it is missing, unless the chat ends with another question of this suite's prompts, or is
    one message that does not end with a goal.
    """
    pieces: list[str] = []
    # The last piece that is not blank. To search the whole text each time would be quadratic.
    last = ""
    separator = ""
    for role, content, *_ in messages:
        if role == "assistant":
            piece = f"{missing_cue(last)} {content}"
            separator = "\n"
        else:
            piece = f"{separator}{content}"
            if content and not separator:
                separator = "\n\n"
        pieces.append(piece)
        if piece.strip():
            last = piece
    if len(messages) > 1 or any(goal in _last_line(last) for goal in _GOALS):
        pieces.append(missing_cue(last))
    return Dialogue("".join(pieces), messages)


def missing_cue(text: str) -> str:
    """Return what asks for a command, empty where the text ends with a question."""
    return "" if _QUESTION.search(_last_line(text)) else "\n>"


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]
