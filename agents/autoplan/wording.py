"""The words of AutoPlan: prompts in sections, those of a game before those of any game."""

from __future__ import annotations

import re
from collections.abc import Mapping

from textcraft_gym.agents.contract.game_profile import DEFAULT
from textcraft_gym.agents.prompts import PromptError, Prompts, Template

SECTIONS = (
    "game",
    "opening",
    "plan",
    "thought",
    "planned_thought",
    "action",
    "formalizer",
    "succeeded",
    "failed",
    "rejected",
    "summary",
    "flaws",
    "revision",
    "experience",
    "update",
)
"""What a prompt is made of: a file has them under lines such as ``=== opening``."""

_HEADING = re.compile(r"^=== (\w+)\n", re.MULTILINE)


class Wording:
    """The sections of the prompt ``autoplan/<game>``, with ``autoplan/default`` as fallback.

    Args:
        prompts: Source of the prompts.
        game: Name of the game.

    Raises:
        PromptError: If there is no such prompt, or it has an unknown section, or lacks one that the
            default lacks, too.
    """

    def __init__(self, prompts: Prompts, game: str) -> None:
        self._sections = {**_read(prompts, DEFAULT.name), **_read(prompts, game)}
        for name in SECTIONS:
            if name not in self._sections:
                raise PromptError(
                    f"autoplan/{game}.txt and autoplan/{DEFAULT.name}.txt have no section {name}"
                )

    def fill(self, section: str, **values: str) -> str:
        """Return a section with its placeholders filled; ``{game}`` is the game's own section."""
        if section != "game":
            values["game"] = self.fill("game")
        return self._sections[section].fill(**values).rstrip()


def _read(prompts: Prompts, game: str) -> Mapping[str, Template]:
    _, *parts = _HEADING.split(prompts.of("autoplan", game).text)
    sections: dict[str, Template] = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        if name not in SECTIONS:
            raise PromptError(
                f"autoplan/{game}.txt: expected a section of {', '.join(SECTIONS)}, got {name}"
            )
        sections[name] = Template(text.rstrip("\n"))
    return sections
