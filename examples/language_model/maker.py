"""The teacher in TextCraft for the searches: the rest of a shortest plan, and what it is for."""

from __future__ import annotations

import random
from functools import cached_property

from player import Move, Replayed, in_steps, still_open

from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.expert import expert_plan
from textcraft_gym.envs.textcraft.rules import Inventory, apply, world_of
from textcraft_gym.envs.textcraft.tasks import Task
from textcraft_gym.envs.textcraft.thoughts import thoughts


class Maker(Replayed):
    """Plays one episode; the state is the inventory."""

    task: Task
    apply, start = staticmethod(apply), {}

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, world_of(task.book), rng)
        self.book = task.book

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
        thought = thoughts(self.task, left)[0]
        if reason:
            thought = f"That did nothing. {thought}"
        return Move(thought, left[0])

    def others(self, prompt: str) -> list[Move]:
        """Return a look, the last craft too early, and ``get`` of crafted or useless items."""
        held, _ = self.read(prompt)
        left = self.left(held)
        crafted = [item for item in self.book.tree(self.task.id) if item in self.book.recipes]
        base = self.rng.choice(self.book.base_items)
        moves = [
            Move("I look at what I hold.", "inventory"),
            Move("I may need it.", text.get(self.book, base, 1)),
            Move("I get it.", text.get(self.book, self.rng.choice(crafted), 1)),
        ]
        if len(left) > 1:
            moves.append(Move("I craft it at once.", left[-1]))
        return moves

    def judgement(self, prompt: str) -> tuple[str, float]:
        """Return what is held and how much is left to do."""
        held, reason = self.read(prompt)
        left = len(self.left(held))
        judgement = f"Held: {self.listed(held)}. Left: {left} of {self.length}."
        if reason:
            judgement += " The last action did nothing."
        if not left:
            return judgement, 1.0
        return judgement, still_open(1 - left / self.length - bool(reason) / 4)

    def reflection(self, prompt: str) -> str:
        """Return that an attempt came to no end, and a plan."""
        held, _ = self.read(prompt)
        plan = in_steps(self.left({}))
        return f"The turns ended when I held {self.listed(held)}. New plan:\n{plan}"

    def listed(self, held: Inventory) -> str:
        """Return an inventory in words."""
        items = [f"{count} {self.book.names[item]}" for item, count in held.items()]
        return ", ".join(items) or "nothing"
