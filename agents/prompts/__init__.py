"""The texts that agents send, as files ``<agent>/<game>.txt``, which a folder of the user's can replace.

A file is sent as it stands, but for ``{situation}``, ``{task}`` and ``{information}`` (in a reflection also
``{transcript}``). A line that holds such a name alone is left out where there is nothing to say.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

_PLACE = re.compile(r"^\{(\w+)\}\n|\{(\w+)\}", re.MULTILINE)


class PromptError(ValueError):
    """Prompts that cannot be read, or that leave out what an agent must say."""


@dataclass(frozen=True)
class Template:
    """The text of one file."""

    text: str

    def fill(self, **values: str) -> str:
        """Return the text with the values in their places; other words in braces stay as they are."""

        def place(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            if name not in values:
                return found[0]
            return values[name] + "\n" if found[1] and values[name] else values[name]

        return _PLACE.sub(place, self.text)


class Prompts:
    """The bundled prompts, with those of a folder in their stead.

    Args:
        folder: Holds ``<agent>/<game>.txt`` for every prompt that it replaces.

    Raises:
        PromptError: If there is no such folder.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is not None and not self._folder.is_dir():
            raise PromptError(f"{folder} is no folder of prompts")
        self.read: dict[str, str] = {}
        self.replaced: set[str] = set()

    def of(self, agent: str, game: str, *, needs: tuple[str, ...] = ()) -> Template:
        """Return an agent's prompt for a game.

        Raises:
            PromptError: If there is none, or it has no place for what it needs to say.
        """
        name = f"{agent}/{game}.txt"
        own = self._folder / name if self._folder else None
        if own and own.is_file():
            self.replaced.add(name)
            where, text = str(own), own.read_text(encoding="utf-8")
        else:
            bundled = files(__name__) / agent / f"{game}.txt"
            if not bundled.is_file():
                raise PromptError(f"there is no prompt {name}: put one into a folder and name that with --prompts")
            where, text = name, bundled.read_text(encoding="utf-8")
        for needed in ("situation", "task", "information", *needs):
            if "{" + needed + "}" not in text:
                raise PromptError(f"{where} has no place for {{{needed}}}")
        self.read[name] = text
        return Template(text.rstrip("\n"))

    @property
    def sha256(self) -> str:
        """A digest of what was read so far."""
        return hashlib.sha256(repr(sorted(self.read.items())).encode()).hexdigest()
