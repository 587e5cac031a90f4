"""The teacher in TextCraft for the searches: the rest of a shortest plan, and what it is for."""

from __future__ import annotations

import random
import re
from functools import cached_property

from player import Move, Searched, in_steps, still_open

from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.expert import expert_plan
from textcraft_gym.envs.textcraft.rules import Inventory, apply, world_of
from textcraft_gym.envs.textcraft.tasks import Task
from textcraft_gym.envs.textcraft.thoughts import thoughts

_TURN = re.compile(r"^Action \d+: (.+)$", re.MULTILINE)


class Maker(Searched):
    """Plays one episode.

    Args:
        task: The goal.
        rng: Draws what else may be done.
    """

    def __init__(self, task: Task, rng: random.Random) -> None:
        self.task, self.rng = task, rng
        self.book = task.book

    def read(self, prompt: str) -> tuple[Inventory, str]:
        """Return what is held after an attempt in a prompt, and why its last action did nothing."""
        held: Inventory = {}
        reason = ""
        for action in _TURN.findall(prompt.rpartition("\nThought 1:")[2]):
            held, _, reason, _ = apply(world_of(self.book), held, action)
        return held, reason

    def left(self, held: Inventory) -> list[str]:
        """Return the rest of a plan."""
        return [] if self.task.id in held else expert_plan(self.book, self.task.id, held)

    @cached_property
    def length(self) -> int:
        """The length of a whole plan."""
        return len(self.left({}))

    def move(self, prompt: str, *, errs: bool = False) -> Move:
        """Return the next turn."""
        held, reason = self.read(prompt)
        left = self.left(held)
        vain = "That did nothing. " if reason else ""
        return Move(f"{vain}{thoughts(self.task, left)[0]}", left[0])

    def others(self, prompt: str) -> list[Move]:
        """Return a look, the last craft too early, and ``get`` of crafted or useless items."""
        held, _ = self.read(prompt)
        left = self.left(held)
        crafted = [item for item in self.book.tree(self.task.id) if item in self.book.recipes]
        base = self.rng.choice(self.book.base_items)
        moves = [
            Move("I look at what I hold.", "inventory"),
            Move("I may need it.", text.get(self.book, base, 1)),
        ]
        moves += [Move("I get it.", text.get(self.book, self.rng.choice(crafted), 1))]
        return moves + ([Move("I craft it at once.", left[-1])] if len(left) > 1 else [])

    def judgement(self, prompt: str) -> tuple[str, float]:
        """Return what is held and how much is left to do."""
        held, reason = self.read(prompt)
        left = len(self.left(held))
        listed = (
            ", ".join(f"{count} {self.book.names[item]}" for item, count in held.items())
            or "nothing"
        )
        vain = " The last action did nothing." if reason else ""
        share = 1 - left / self.length - bool(reason) / 4
        return f"Held: {listed}. Left: {left} of {self.length}.{vain}", still_open(
            share
        ) if left else 1.0

    def reflection(self, prompt: str) -> str:
        """Return that an attempt came to no end, and a plan."""
        held, _ = self.read(prompt)
        listed = (
            ", ".join(f"{count} {self.book.names[item]}" for item, count in held.items())
            or "nothing"
        )
        return f"The turns ended when I held {listed}. New plan:\n{in_steps(self.left({}))}"
