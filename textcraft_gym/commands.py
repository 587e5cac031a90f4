"""The forms of a game's commands, as its manual lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_INGREDIENTS = re.compile(r"\{count\} \{item\}(?:, \{count\} \{item\})+")
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


class CommandForm:
    """One form of a game's commands, such as ``get {count} {item}`` or ``search[{words}]``.

    Args:
        form: The form. ``{count}`` stands for a number, any other name in braces for a text.
        description: What the command does.

    Attributes:
        name: The words before the first placeholder as an identifier: ``go_to``.
        parameters: The names of the placeholders as identifiers, in order.
    """

    def __init__(self, form: str, description: str = "") -> None:
        form = _INGREDIENTS.sub("{ingredients}", form)
        self.form = form
        self.description = description
        self._keeps_case = "[" in form  # what stands in brackets is free text

        # Literals and placeholders in turn; the first and the last are literals.
        parts = _PLACEHOLDER.split(form)
        self._literals, placeholders = parts[::2], parts[1::2]
        head = self._literals[0].strip(" [")
        self.name = _identifier(head.lower())
        self.parameters = tuple(_identifier(placeholder) for placeholder in placeholders)

        begins = re.escape(head) + (r"\s*\[" if self._keeps_case else r"\b")
        self._begins = re.compile(begins, re.IGNORECASE)
        pattern = _tolerant(self._literals[0])
        for placeholder, literal in zip(placeholders, self._literals[1:], strict=True):
            pattern += r"(\d+)" if placeholder == "count" else r"(\S.*?)"
            pattern += _tolerant(literal)
        self._pattern = re.compile(pattern, re.IGNORECASE)

    def begins(self, line: str) -> bool:
        """Return whether a line begins as this command does."""
        return self._begins.match(line) is not None

    def canonical(self, line: str) -> str | None:
        """Return a line as a command, in the game's spelling; None if it has another form."""
        match = self._pattern.fullmatch(line) if self._keeps_case else None
        if match is None:
            # What stands in brackets may end in any sign; elsewhere the last placeholder would
            # take a full stop, too.
            match = self._pattern.fullmatch(line.rstrip(" .!;,"))
        if match is None:
            return None
        as_written = self._filled(match.groups())
        if as_written == match[0] or self._keeps_case:
            return as_written
        return self._filled([value.lower() for value in match.groups()])

    def fill(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the command with these arguments; None if one is missing."""
        if not all(name in arguments for name in self.parameters):
            return None
        values = [_argument(arguments[name]) for name in self.parameters]
        command = self._filled(values)
        head = self._literals[0]
        # Some models repeat the verb in its first argument.
        if values and values[0].lower().startswith(head.strip().lower() + " "):
            return command.removeprefix(head)
        return command

    def _filled(self, values: Sequence[str]) -> str:
        command = self._literals[0]
        for value, literal in zip(values, self._literals[1:], strict=True):
            command += value + literal
        return command


def manual_forms(manual: str) -> tuple[CommandForm, ...]:
    """Return the forms in a game's manual.

    They are the lines below ``Commands:``, each with its description after a dash.
    """
    _, _, listed = manual.partition("Commands:\n")
    forms = []
    for line in listed.partition("\n\n")[0].splitlines():
        form, _, description = line.partition(" - ")
        # A manual writes search[words] where a form has search[{words}].
        form = re.sub(r"\[([^\[\]{}]+)\]", r"[{\1}]", form.strip())
        forms.append(CommandForm(form, description.strip()))
    return tuple(forms)


def _identifier(words: str) -> str:
    return "_".join(re.findall(r"\w+", words))


def _tolerant(literal: str) -> str:
    """Return the pattern of a literal with any blanks where it has some, or before a bracket."""
    # Blanks are read from their first on: from each of them, the time would grow with their square.
    spaced = re.sub(r"(?:\\ )*\\\[", r"(?<!\\s)\\s*\\[", re.escape(literal))
    return re.sub(r"(?:\\ )+", r"(?<!\\s)\\s+", spaced)


def _argument(value: object) -> str:
    """Return an argument as a command has it: whole numbers, and lists with commas."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return ", ".join(map(_argument, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{_argument(count)} {name}" for name, count in value.items())
    return " ".join(str(value).split())
