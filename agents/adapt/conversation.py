"""How an executor talks with a model: as a text that goes on line by line, in messages, or by calls of tools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

from textcraft_gym.agents.contract.model import Completion, Dialogue, Form, Message, Tool, ToolCall
from textcraft_gym.agents.prompts import Prompts, Template
from textcraft_gym.commands import CommandForm
from textcraft_gym.replies import CommandReader, Turn

NO_CALL = "That is no command of the game."
"""The answer to a call that names no tool, or lacks an argument."""


@dataclass(frozen=True)
class Instructions:
    """What a model is told before its first turn, in each form.

    Attributes:
        prompt: The paper's prompt: instructions, examples and the task, for a model that continues
            it.
        chat: How to reply in messages.
        tools: How to reply by calls.
        manual: The game's commands, which stand in place of examples in lines where these are
            tools.
        reader: Reads the commands.
    """

    prompt: Template
    chat: str
    tools: str
    manual: str
    reader: CommandReader

    @cached_property
    def offered(self) -> tuple[Tool, ...]:
        """The tools of the game, made once for all turns."""
        return tools_of(self.reader)

    def begin(self, form: Form, **values: str) -> Dialogue:
        """Return the dialogue before the first turn; its text is the paper's prompt in each form."""
        text = self.prompt.fill(**values)
        if form == "line":
            return Dialogue(text, [Message("user", text)])
        head, task = self.prompt.halves()
        told = f"{head.text}\n\n{self.chat}" if form == "chat" else f"{self.manual}\n\n{self.tools}"
        asked = task.fill(**values).removesuffix(">").rstrip()
        return Dialogue(text, [Message("system", told), Message("user", asked)])


def instructions(prompts: Prompts, game: str, variant: str, form: Form | None) -> Instructions:
    """Return the instructions of the prompt ``react/<game><variant>`` for a form, None for any.

    Raises:
        PromptError: If there is no such prompt.
    """
    prompt = prompts.of("react", f"{game}{variant}")
    reader = prompts.commands(game)
    chat = prompts.instruction("chat") if form in ("chat", None) else ""
    tools = manual = ""
    if form in ("tools", None) and reader.forms:
        tools, manual = prompts.instruction("tools"), prompts.manual(game)
    return Instructions(prompt, chat, tools, manual, reader)


@dataclass
class Talk:
    """The dialogue of one attempt.

    Attributes:
        form: How the executor talks with the model.
        dialogue: What was said so far.
        temperature, sample: Those of each request.
        lines: The turns and answers so far, for whoever called the executor.
    """

    form: Form
    dialogue: Dialogue
    temperature: float
    sample: int
    lines: list[str]

    def add(self, turn: Turn, observation: str) -> None:
        """Add a turn with its answer."""
        thought = turn._replace(action="").line if turn.action and turn.thought else ""
        before = f" {thought}\nOK.\n>" if thought else ""
        said = f"{thought}\n{turn.action}" if thought else turn.line
        self.dialogue = self.dialogue.extended(
            f"{before} {turn.line}\n{observation}\n>",
            Message("assistant", said),
            Message("user", observation),
        )

    def add_calls(self, completion: Completion) -> None:
        """Add the calls of a completion, before the result of each."""
        self.dialogue = self.dialogue.extended(
            "", Message("assistant", completion.text, completion.tool_calls)
        )

    def add_result(self, call: ToolCall, turn: Turn, observation: str) -> None:
        """Add the result of a call."""
        result = Message("tool", observation, tool_call_id=call.id)
        self.dialogue = self.dialogue.extended(f" {turn.line}\n{observation}\n>", result)


def read_call(reader: CommandReader, call: ToolCall) -> Turn:
    """Return the turn of a call; without an action if it names no command."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    command = reader.call(call.name, arguments)
    return Turn(command or "", known=command is not None)


def tools_of(reader: CommandReader) -> tuple[Tool, ...]:
    """Return a tool for each verb of a game."""
    names = dict.fromkeys(form.name for form in reader.forms)
    return tuple(_tool([form for form in reader.forms if form.name == name]) for name in names)


def _tool(forms: list[CommandForm]) -> Tool:
    """Return the tool of one verb; what not all of its forms have is optional."""
    longest = max(forms, key=lambda form: len(form.parameters))
    shortest = min(forms, key=lambda form: len(form.parameters))
    properties = {
        name: {"type": "integer" if name == "count" else "string"} for name in longest.parameters
    }
    lines = [
        f"{form.form} - {form.description}" if form.description else form.form for form in forms
    ]
    required = [
        name for name in longest.parameters if longest is shortest or name in shortest.parameters
    ]
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return Tool(forms[0].name, "; ".join(lines), schema)
