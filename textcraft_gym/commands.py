"""The forms of a game's commands, as its manual lists them: what a line must look like, and what a call must have."""

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
        head = _PLACEHOLDER.split(form)[0].strip(" [")
        self.name = "_".join(re.findall(r"\w+", head.lower()))
        self.parameters = tuple(
            "_".join(re.findall(r"\w+", name)) for name in _PLACEHOLDER.findall(form)
        )
        begins = re.escape(head) + (r"\s*\[" if "[" in form else r"\b")
        self._begins = re.compile(begins, re.IGNORECASE)
        parts = _PLACEHOLDER.split(form)
        self._literals = parts[::2]
        counted = [r"(\d+)" if name == "count" else r"(\S.*?)" for name in parts[1::2]]
        whole = [
            re.sub(r"(?:\\ )+", r"\\s+", re.escape(part)).replace(r"\[", r"\s*\[")
            for part in parts[::2]
        ]
        pattern = "".join(
            literal + group for literal, group in zip(whole, [*counted, ""], strict=True)
        )
        self._pattern = re.compile(pattern, re.IGNORECASE)
        self._keeps_case = "[" in form  # what stands in brackets is free text

    def begins(self, line: str) -> bool:
        """Return whether a line begins as this command does."""
        return self._begins.match(line) is not None

    def canonical(self, line: str) -> str | None:
        """Return the command that a line is, in the game's spelling; None if it is none of this form."""
        # What stands in brackets may end in any sign; elsewhere the last placeholder would take a
        # full stop, too.
        bare = line.rstrip(" .!;,")
        found = (
            self._pattern.fullmatch(line) if self._keeps_case else None
        ) or self._pattern.fullmatch(bare)
        if not found:
            return None
        as_written = self._filled(found.groups())
        if as_written == found[0] or self._keeps_case:
            return as_written
        return self._filled([value.lower() for value in found.groups()])

    def fill(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the command with these arguments; None if one is missing."""
        if not all(name in arguments for name in self.parameters):
            return None
        values = [_argument(arguments[name]) for name in self.parameters]
        command = self._filled(values)
        head = self._literals[0]
        # Some models repeat the verb in its first argument.
        return (
            command.removeprefix(head)
            if values and values[0].lower().startswith(head.strip().lower() + " ")
            else command
        )

    def _filled(self, values: Sequence[str]) -> str:
        return "".join(a + b for a, b in zip(self._literals, [*values, ""], strict=True))


def manual_forms(manual: str) -> tuple[CommandForm, ...]:
    """Return the forms in a game's manual: the lines below ``Commands:``, each with its description after a dash."""
    _, _, listed = manual.partition("Commands:\n")
    forms = []
    for line in listed.partition("\n\n")[0].splitlines():
        form, _, description = line.partition(" - ")
        forms.append(
            CommandForm(re.sub(r"\[([^\[\]{}]+)\]", r"[{\1}]", form.strip()), description.strip())
        )
    return tuple(forms)


def _argument(value: object) -> str:
    """Return an argument as a command has it: numbers of JSON without a fraction, lists with commas."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return ", ".join(map(_argument, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{_argument(count)} {name}" for name, count in value.items())
    return " ".join(str(value).split())
