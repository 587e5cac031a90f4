"""The tools of a chat request: which of them plays, and how a reply calls it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias
from uuid import uuid4

from pydantic import BaseModel, Field

from textcraft_gym.agents.contract.model import ToolCall
from textcraft_gym.serving.model.refusal import Refused


class Function(BaseModel):
    """A function: its name, and the JSON Schema of its arguments."""

    name: Annotated[str, Field(min_length=1)]
    parameters: dict[str, Any] | None = None

    @property
    def argument(self) -> str | None:
        """The name of the one argument, a string; None for a function with others."""
        properties = (self.parameters or {}).get("properties")
        if not isinstance(properties, dict) or len(properties) != 1:
            return None
        ((name, schema),) = properties.items()
        is_string = isinstance(schema, dict) and schema.get("type") == "string"
        return name if is_string else None


class Tool(BaseModel):
    """A tool that a request offers."""

    type: Literal["function"]
    function: Function


class Named(BaseModel):
    """The function to call."""

    name: str


class NamedTool(BaseModel):
    """The tool to call."""

    type: Literal["function"]
    function: Named


ToolChoice: TypeAlias = Literal["none", "auto", "required"] | NamedTool


class Player(NamedTuple):
    """The tools by which a chat is played.

    Attributes:
        play: Plays a command.
        close: Takes the closing words where a call is required; None to say them as text.
    """

    play: Function
    close: Function | None


def player_of(tools: Sequence[Tool] | None, choice: ToolChoice | None) -> Player | None:
    """Return the tools that play: the first with one string, or the named one.

    Where a call is required, the last other one with one string, such as a library's
    ``final_answer``, ends the chat. None where no tool is offered or wanted.

    Raises:
        Refused: If no such tool is offered.
    """
    if not tools or choice == "none":
        return None
    fitting = _fitting(tools, choice)
    if not fitting:
        offered = ", ".join(tool.function.name for tool in tools)
        raise Refused(
            400,
            f"expected a tool with exactly one argument, a string, got {offered}",
            param="tools",
        )
    close = fitting[-1] if choice == "required" and len(fitting) > 1 else None
    return Player(fitting[0], close)


def _fitting(tools: Sequence[Tool], choice: ToolChoice | None) -> list[Function]:
    """Return the functions with one string; of these the named one alone, if one is named."""
    fitting = [tool.function for tool in tools if tool.function.argument]
    if isinstance(choice, NamedTool):
        return [function for function in fitting if function.name == choice.function.name]
    return fitting


def call_of(function: Function, argument: str) -> ToolCall:
    """Return the call of a function with one argument."""
    arguments = json.dumps({function.argument: argument})
    return ToolCall(f"call_{uuid4().hex[:24]}", function.name, arguments)


def described(call: ToolCall) -> dict[str, Any]:
    """Return a call in OpenAI's form."""
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


class CalledFunction(BaseModel):
    """A function that the assistant called."""

    name: str = ""
    arguments: str = ""


class CalledTool(BaseModel):
    """A tool that the assistant called."""

    function: CalledFunction

    @property
    def said(self) -> str:
        """The command in the call: its one string, else its arguments as they are."""
        try:
            values = list(json.loads(self.function.arguments).values())
        except (ValueError, AttributeError, RecursionError):
            values = []
        is_command = len(values) == 1 and isinstance(values[0], str)
        return values[0] if is_command else self.function.arguments
