"""Agents that raise, by name, so that a run folder names them."""

from __future__ import annotations

from typing import ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine


class Stumbling:
    """Looks around, begins again, looks around and stumbles."""

    def episode(self, play: Play) -> Routine:
        yield from play.act("inventory")
        yield from play.reset()
        yield from play.act("look")
        raise LookupError("over its own feet")


class Once:
    """Raises on the first attempt at a task."""

    failed: ClassVar[set[str]] = set()

    def episode(self, play: Play) -> Routine:
        yield from play.act("inventory")
        task = play.first.info["task"]
        if task not in self.failed:
            self.failed.add(task)
            raise ConnectionError("no model today")
        return False
