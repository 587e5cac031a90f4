"""Prompt templates, in files ``<agent>/<game>.txt``: bundled sets, which a folder can replace.

The set ``standard``, whose files are here, instructs a model and shows it examples. ``short``, in
the folder of that name, says no more than what is the case, for a model that was trained on it.
What a set or a folder lacks is taken from ``standard``.

A template is sent verbatim except for the placeholders ``{situation}``, ``{task}`` and
``{information}`` (in a reflection also ``{transcript}``). A line with only a placeholder is dropped
if its value is empty. In a game that has dialects a line may begin with ``[dialect 0.3] ``: then it
is part of the prompt in that dialect only.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from textcraft_gym.commands import manual_forms
from textcraft_gym.replies import CommandReader

STANDARD = "standard"
SETS = (STANDARD, "short")
"""The bundled sets of prompts."""

_PLACEHOLDER = re.compile(r"^\{(\w+)\}\n|\{(\w+)\}", re.MULTILINE)
_DIALECT = re.compile(r"^\[dialect (\S+)\] (.*\n?)", re.MULTILINE)


class PromptError(ValueError):
    """A prompt cannot be read, or lacks a placeholder that its agent fills."""


@dataclass(frozen=True)
class Template:
    """The text of one file, with placeholders."""

    text: str

    def fill(self, **values: str) -> str:
        """Return the text with values for its placeholders; other words in braces are kept."""

        def value(match: re.Match[str]) -> str:
            whole_line, name = match[1], match[1] or match[2]
            if name not in values:
                return match[0]
            if whole_line and values[name]:
                return values[name] + "\n"
            return values[name]

        # One pass, so that a placeholder in a value is not filled.
        return _PLACEHOLDER.sub(value, self.text)

    def halves(self) -> tuple[Template, Template]:
        """Return the instructions with their examples, and the task from the situation on."""
        head, _, tail = self.text.partition("{situation}")
        return Template(head.rstrip()), Template("{situation}" + tail)


class Prompts:
    """A source of prompts: a bundled set, or a folder that replaces some of the standard ones.

    Args:
        source: The name of a set in ``SETS``, or a folder with a file ``<agent>/<game>.txt`` for
            every prompt that it replaces (``./short`` for a folder with the name of a set); None
            for the standard set.
        dialect: The dialect of the game; None, or one that a prompt does not mark, for the first
            that it marks.

    Attributes:
        folder: The folder; None for a bundled set.
        read: The texts of the prompts that were read so far, by ``<agent>/<game>.txt``.
        replaced: Those that the folder replaces.

    Raises:
        PromptError: If there is neither such a set nor such a folder.
    """

    def __init__(
        self,
        source: str | Path | None = None,
        dialect: str | None = None,
    ) -> None:
        self.dialect = dialect
        name = STANDARD if source is None else str(source)
        self.folder = None if name in SETS else Path(name)
        if self.folder is not None and not self.folder.is_dir():
            raise PromptError(
                f"{name} is no folder of prompts, and no bundled set: {', '.join(SETS)}"
            )
        self._set = name if name in SETS else STANDARD
        self.read: dict[str, str] = {}
        self.replaced: set[str] = set()

    def of(
        self,
        agent: str,
        game: str,
        *,
        needs: tuple[str, ...] = (),
    ) -> Template:
        """Return an agent's prompt for a game.

        Raises:
            PromptError: If there is none, or it lacks a placeholder.
        """
        return Template(self._text(agent, game, ("situation", "task", "information", *needs)))

    def example(self, agent: str, name: str) -> str:
        """Return the example ``<agent>/examples/<name>.txt``, which an agent's prompt includes.

        Raises:
            PromptError: If there is none.
        """
        return self._text(f"{agent}/examples", name)

    def manual(self, game: str) -> str:
        """Return a game's manual, its list of commands, for a chat model without an agent.

        Raises:
            PromptError: If there is none.
        """
        return self._text("chat", game)

    def commands(self, game: str) -> CommandReader:
        """Return the reader of the commands in a game's manual; without a manual it has no forms.

        A bundled manual is not counted among the prompts that were read, since no model reads it
        so.
        """
        is_own = self._own(f"chat/{game}.txt") is not None
        try:
            text = self.manual(game) if is_own else self._bundled("chat", f"{game}.txt")
        except PromptError:
            return CommandReader()
        return CommandReader(manual_forms(_in_dialect(text, self.dialect)))

    def instruction(self, form: str) -> str:
        """Return how a model is told to reply in a form, ``chat`` or ``tools``.

        Raises:
            PromptError: If there is no such instruction.
        """
        return self._text("form", form)

    def _text(
        self,
        folder: str,
        name: str,
        needs: tuple[str, ...] = (),
    ) -> str:
        path = f"{folder}/{name}.txt"
        own = self._own(path)
        if own:
            self.replaced.add(path)
            where = str(own)
            text = own.read_text(encoding="utf-8-sig")  # some editors begin with a mark
        else:
            where = path
            text = self._bundled(folder, f"{name}.txt")
        # An agent whose prompt lacks a part of the request would fail without a trace.
        for needed in needs:
            if "{" + needed + "}" not in text:
                raise PromptError(f"{where} lacks the placeholder {{{needed}}}")
        self.read[path] = _in_dialect(text, self.dialect)
        return self.read[path].rstrip("\n")

    def _own(self, path: str) -> Path | None:
        """Return the folder's file that replaces a prompt; None if there is none."""
        if self.folder is None:
            return None
        file = self.folder / path
        return file if file.is_file() else None

    def _bundled(self, agent: str, file: str) -> str:
        """Return a text of the set, or the standard one if the set lacks it."""
        here = files(__name__)
        for folder in (here / self._set, here):
            bundled = folder / agent / file
            if bundled.is_file():
                return bundled.read_text(encoding="utf-8")
        raise PromptError(
            f"there is no prompt {agent}/{file}: put one into a folder and name that with --prompts"
        )

    @property
    def sha256(self) -> str:
        """A digest of the prompts that were read so far."""
        return hashlib.sha256(repr(sorted(self.read.items())).encode()).hexdigest()


def _in_dialect(text: str, dialect: str | None) -> str:
    """Return a text without the lines of other dialects, and without the marks."""
    marked = [match[1] for match in _DIALECT.finditer(text)]
    if dialect not in marked:
        dialect = next(iter(marked), None)
    return _DIALECT.sub(lambda match: match[2] if match[1] == dialect else "", text)
