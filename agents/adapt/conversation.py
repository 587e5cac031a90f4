"""How an executor talks with a model: a text continued line by line, messages, or tool calls."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
        """Return the dialogue before the first turn; its text is always the paper's prompt."""
        text = self.prompt.fill(**values)
        if form == "line":
            return Dialogue(text, [Message("user", text)])
        head, task = self.prompt.halves()
        system = f"{self.manual}\n\n{self.tools}"
        if form == "chat":
            system = f"{head.text}\n\n{self.chat}"
        user = task.fill(**values).removesuffix(">").rstrip()
        return Dialogue(text, [Message("system", system), Message("user", user)])


def instructions(
    prompts: Prompts,
    game: str,
    variant: str,
    form: Form | None,
) -> Instructions:
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
        text, reply = f" {turn.line}\n{observation}\n>", turn.line
        if turn.action and turn.thought:
            # In lines a thought is a turn of its own, which the paper's prompt answers by OK.
            thought = turn._replace(action="").line
            text = f" {thought}\nOK.\n>{text}"
            reply = f"{thought}\n{turn.action}"
        self.dialogue = self.dialogue.extended(
            text,
            Message("assistant", reply),
            Message("user", observation),
        )

    def add_calls(self, completion: Completion) -> None:
        """Add the calls of a completion, before the result of each."""
        self.dialogue = self.dialogue.extended(
            "",
            Message("assistant", completion.text, completion.tool_calls),
        )

    def add_result(
        self,
        call: ToolCall,
        turn: Turn,
        observation: str,
    ) -> None:
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
    forms: dict[str, list[CommandForm]] = {}
    for form in reader.forms:
        forms.setdefault(form.name, []).append(form)
    return tuple(map(_tool, forms.values()))


def _tool(forms: list[CommandForm]) -> Tool:
    """Return the tool of one verb; what not all of its forms have is optional."""
    longest = max(forms, key=lambda form: len(form.parameters))
    shortest = min(forms, key=lambda form: len(form.parameters))
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name in longest.parameters:
        properties[name] = {"type": "integer" if name == "count" else "string"}
        if name in shortest.parameters:
            required.append(name)
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return Tool(forms[0].name, "; ".join(map(_described, forms)), schema)


def _described(form: CommandForm) -> str:
    """Return a form of a command with its description, if it has one."""
    if not form.description:
        return form.form
    return f"{form.form} - {form.description}"
