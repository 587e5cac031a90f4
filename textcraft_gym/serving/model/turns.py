"""Chats of an agent that wants a command in every reply: after ``Action:``, or as a tool's call."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.agents.adapt.react import COMPLETED, FAILED, THOUGHT
from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Message,
    Model,
    form_of,
)
from textcraft_gym.agents.models.spec import prompts_of
from textcraft_gym.episodes.model_calls import Answer
from textcraft_gym.replies import CommandReader
from textcraft_gym.serving.model.chat_prompt import chat_prompt, missing_cue
from textcraft_gym.session import MARKS

Ask: TypeAlias = Callable[[Sequence[CompletionRequest]], Coroutine[Any, Any, list[Answer]]]
"""Answers requests to a model."""

MAX_THOUGHTS = 4
"""Maximum number of thoughts before a command."""
_ASKS = re.compile(r"^[\s\"'*]*Action:|\bAction and a colon\b", re.MULTILINE)
"""What a manual has that wants replies with ``Action:``."""
_REPLY = re.compile(r"\s*(?:Thought:(?P<thoughts>.*?))?Action:(?P<command>.*)", re.DOTALL)
_CALLING = "Calling tools:\n"
"""What smolagents writes before the list of an assistant's calls, which it sends as text."""
_HEAD = re.compile(r"\A(?:New task|Observation):\n")
"""What smolagents writes before a task and the answer to a call."""
_AVAILABLE = re.compile(r"\nAVAILABLE ACTIONS: [^\n]*")
"""The line by which AgentGym's client of ALFWorld ends an observation."""


class Turn(NamedTuple):
    """What a model does in a turn.

    Attributes:
        thoughts: What it thinks before.
        command: Its command; empty if it gives none.
        text: What it says in place of a command.
    """

    thoughts: tuple[str, ...]
    command: str
    text: str = ""

    @property
    def labelled(self) -> str:
        """The turn as a reply with ``Thought:`` and ``Action:``."""
        said = f"Action:\n{self.command or self.text}"
        if self.thoughts:
            thoughts = "\n".join(self.thoughts)
            return f"Thought:\n{thoughts}\n\n{said}"
        return said


def asks_for_actions(messages: Sequence[Message]) -> bool:
    """Return whether a chat's manual, before the first reply, wants replies with ``Action:``."""
    return _manual_end(messages) > 0


def _manual_end(messages: Sequence[Message]) -> int:
    """Return the number of messages up to the manual that asks for ``Action:``; 0 without one."""
    for number, message in enumerate(messages, 1):
        if message.role == "assistant":
            break
        if _ASKS.search(message.content):
            return number
    return 0


def end_of(messages: Sequence[Message]) -> str:
    """Return the mark of the game's end in the last message; empty if it has none."""
    last_line = messages[-1].content.rstrip().rpartition("\n")[2]
    return last_line if last_line in MARKS else ""


class Turns:
    """A model's turns in such chats.

    A model that continues texts gets ReAct's turns, one line each, and thinks in lines of its own;
    one that is used to prompts without instructions gets no manual. Chat models get the messages.

    Args:
        model: The model.
        ask: Answers its requests.
    """

    def __init__(self, model: Model, ask: Ask) -> None:
        self.is_line = form_of(model) == "line"
        self.has_manual = prompts_of(model) != "short"
        self.ask = ask

    async def turn(
        self,
        messages: Sequence[Message],
        request: CompletionRequest,
    ) -> tuple[Turn, Completion] | Exception:
        """Return the next turn of a chat, and the completions that it took as one.

        Args:
            messages: The chat.
            request: How to ask a chat model for it.
        """
        if self.is_line:
            played = list(_played(messages if self.has_manual else _without_manual(messages)))
            text = str(chat_prompt(played))
            request = request._replace(
                prompt=f"{text}{missing_cue(text)}",
                stop=(*request.stop, "\n"),
            )
        thoughts: list[str] = []
        total = Completion("")
        for _ in range(MAX_THOUGHTS):
            (answer,) = await self.ask([request])
            if isinstance(answer, Exception):
                return answer
            total = _added(total, answer, request.max_tokens)
            line = answer.text.strip()
            if not (self.is_line and line.lower().startswith(THOUGHT)):
                return _turn(thoughts, answer.text), total
            thoughts.append(line[len(THOUGHT) :].strip())
            request = request._replace(prompt=f"{request.prompt} {line}\nOK.\n>")
        return Turn(tuple(thoughts), ""), total


def _turn(thoughts: Sequence[str], text: str) -> Turn:
    """Return the turn that ends in a reply: a command, or the claim that the task is over."""
    read = CommandReader().read(text)
    if read.thought:
        thoughts = [*thoughts, read.thought]
    if not read.action or read.action.lower().startswith((COMPLETED, FAILED)):
        return Turn(tuple(thoughts), "", read.action)
    return Turn(tuple(thoughts), read.action)


def _added(total: Completion, answer: Completion, limit: int) -> Completion:
    """Return a completion with the usage of another one added, which ended it."""
    usage = dict(total.usage)
    for kind, count in answer.usage.items():
        usage[kind] = usage.get(kind, 0) + count
    is_cut = answer.usage.get("completion_tokens", 0) >= limit
    return total._replace(usage=usage, finish_reason="length" if is_cut else "stop")


def _without_manual(messages: Sequence[Message]) -> Sequence[Message]:
    """Return a chat from the game's first message on."""
    start = _manual_end(messages)
    rest = messages[start:]
    if rest and rest[0].role == "assistant":  # which promises to follow the manual
        rest = rest[1:]
    rest = [message for message in rest if message.role != "system"]
    return rest or messages


def _played(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield a chat's messages in ReAct's form: a turn has a thought or a command, on one line."""
    for message in messages:
        if message.role != "assistant":
            text = _AVAILABLE.sub("", _HEAD.sub("", message.content))
            yield message._replace(content=text)
            continue
        thoughts, command = _divided(message.content)
        for thought in filter(None, map(str.strip, thoughts.splitlines())):
            yield Message("assistant", f"{THOUGHT} {thought}")
            yield Message("user", "OK.")
        yield Message("assistant", " ".join(command.split()))


def _divided(reply: str) -> tuple[str, str]:
    """Return the thoughts and the command of an earlier reply."""
    thoughts, mark, calls = reply.partition(_CALLING)
    if mark:
        return thoughts, _called(calls)
    labelled = _REPLY.fullmatch(reply)
    if labelled:
        return labelled["thoughts"] or "", labelled["command"]
    return "", reply


def _called(calls: str) -> str:
    """Return the argument of the first call in a list as Python writes it, else the list."""
    try:
        (argument,) = ast.literal_eval(calls)[0]["function"]["arguments"].values()
    except (
        ValueError,
        SyntaxError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        MemoryError,
    ):
        return calls
    return str(argument)
