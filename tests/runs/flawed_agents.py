"""Agents that raise and a model with limits, by name, so that a run folder names them."""

from __future__ import annotations

from typing import Any, ClassVar

from tests.doubles import Crafter
from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.model import Completion, ModelError


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


class Idle:
    """Gives up before its first action."""

    def episode(self, play: Play) -> Routine:
        return False
        yield


class SmallContext:
    """Plays well in a context of 3,400 characters, and says to some tasks nothing."""

    def __init__(self) -> None:
        self.model = Crafter(9)

    def complete(self, prompt: Any, **how: Any) -> Completion:
        if len(prompt) > 3400:
            raise ModelError("400: this model's maximum context length is 3400 characters")
        completion = self.model.complete(prompt, **how)
        return (
            completion if len(prompt) % 11 else completion._replace(text="", finish_reason="length")
        )
