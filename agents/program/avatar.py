"""Avatars: what stands behind the object ``agent`` of the programs that play a game."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.program.parse import ProgramError
from textcraft_gym.agents.program.values import MAX_TEXT, Value

REPORTED = 3
"""Number of the last actions in a report."""
MAX_ARGUMENT = 200

_PLACE = re.compile(r"\{(\d)\}")


class Method(NamedTuple):
    """A method, which plays one command.

    Attributes:
        command: The command, with ``{0}`` for the first argument.
        value: What the method returns, made from the answer and the arguments.
        parameters: Number of arguments; None for as many as the command has places.
    """

    command: str
    value: Callable[[str, Sequence[str]], Value] = lambda answer, _: answer
    parameters: int | None = None

    @property
    def arity(self) -> int:
        """The number of arguments."""
        if self.parameters is not None:
            return self.parameters
        return len(set(_PLACE.findall(self.command)))


class Avatar:
    """The player of one episode as its program sees it: methods, and attributes that can be read.

    A subclass has the methods of a game in a table; one with attributes keeps its belief up to date
    in ``read``, from the answers alone.

    Args:
        play: The episode.
        situation: The first observation without the task.
    """

    methods: ClassVar[Mapping[str, Method]]
    kinds: ClassVar[tuple[str, ...]] = ("task",)
    """The kinds of tasks, whose solutions are alike."""

    def __init__(self, play: Play, situation: str) -> None:
        self.play = play

    def kind(self, task: str) -> str:
        """Return the kind of a task, one of ``kinds``."""
        return self.kinds[0]

    def attributes(self) -> Mapping[str, Value]:
        """Return the attributes by name."""
        return {}

    def read(self, command: str, answer: str) -> None:
        """Update the belief with the answer to a command."""

    def command(
        self,
        method: str,
        arguments: Sequence[str],
    ) -> str | None:
        """Return the command of a method; None if the method does nothing now."""
        return self.methods[method].command.format(*arguments)

    def attribute(self, name: str) -> Value:
        """Return the value of an attribute."""
        attributes = self.attributes()
        if name not in attributes:
            known = [*attributes, *(f"{method}()" for method in self.methods), "report()"]
            raise ProgramError(f"agent has no {name}; it has {', '.join(known)}")
        return attributes[name]

    def call(
        self,
        name: str,
        arguments: Sequence[Value],
    ) -> Generator[Request, Any, Value]:
        """Play the command of a method and return its value; None if it does nothing now."""
        if name == "report":
            return self.report()
        if name not in self.methods:
            return self.attribute(name)  # says what there is
        method = self.methods[name]
        if len(arguments) != method.arity:
            raise ProgramError(f"agent.{name} takes {method.arity} arguments, not {len(arguments)}")
        texts = [_argument(name, argument) for argument in arguments]
        command = self.command(name, texts)
        if command is None:
            return None
        answer = (yield from self.play.act(command)).observation
        self.read(command, answer)
        return method.value(answer[:MAX_TEXT], texts)

    def report(self) -> str:
        """Return the last actions with their answers, and the attributes that are no lists."""
        lines = ["The last actions and their answers:"]
        for action, step in self.play.history[-REPORTED:]:
            lines += [action, step.observation.strip()]
        # Lists, such as all receptacles, would fill the report.
        for name, value in self.attributes().items():
            if type(value) is not list:
                lines.append(f"agent.{name}: {value!r}")
        return "\n".join(lines)[:MAX_TEXT]


def _argument(method: str, value: Value) -> str:
    if type(value) not in (int, str):
        raise ProgramError(f"agent.{method} takes texts and numbers, not {type(value).__name__}")
    text = " ".join(str(value).split())  # a command is one line
    if len(text) > MAX_ARGUMENT:
        raise ProgramError(f"an argument of agent.{method} is too long")
    return text
