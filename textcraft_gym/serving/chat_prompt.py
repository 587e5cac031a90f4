"""A chat as the prompt of a model of this suite."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textcraft_gym.agents.contract.agent import Dialogue, Message
from textcraft_gym.agents.simulated.cues import Cue, read_question

_BEGINS = re.compile(r"(?:Goal|Your task is to): [^\n]*\s*$")


def chat_prompt(messages: Sequence[Message]) -> Dialogue:
    """Return the prompt of a chat: chat models get its messages, and others its text.

    The text has the turns as ReAct's prompts have them, ``> command`` and the answer below it, whoever wrote the chat:
    the agents of this suite get the text back that they made their messages from, and those of others need not know
    the form. The ``>`` that asks for a command is added where it is missing, unless the chat ends with another question
    of this suite's prompts, or is one message that does not end with a goal.
    """
    text, separator = "", "\n\n"
    for role, content in messages:
        if role == "assistant":
            text, separator = f"{_asking(text)} {content}", "\n"
        else:
            text = f"{text}{separator}{content}" if text else content
    is_plain = len(messages) == 1 and not _BEGINS.search(text)
    return Dialogue(text if is_plain else _asking(text), messages)


def _asking(text: str) -> str:
    """Return a text that ends with a question."""
    return text if read_question(text).cue is not Cue.PLAN else f"{text}\n>"
