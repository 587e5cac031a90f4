"""The teacher of any world: a player who knows what to do, says why, and errs on purpose.

It plays by the rules of the environment itself, so that every answer in its dialogues is the
game's.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from dialogue import Branch, Writer

from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.defaults import settings_for

COMPLETED, FAILED = "Task completed!", "task failed!"


class CannotBeHad(Exception):
    """Nothing in the world gives an item."""


class Teacher(Writer):
    """One dialogue of the teacher.

    Args:
        game: What the rules of the environment know of the episode.
        state: The state at the beginning.
        prompt: The prompt from the end of the situation on.
        mistakes: The kinds of mistakes to make, each at the first occasion.
        rng: Draws how they are made.

    Attributes:
        profile: How agents read the world.
        apply: The rules of the environment.
        failed: Whether a line that is to be learnt did nothing; such a dialogue is not used.
    """

    profile: ClassVar[GameProfile]
    apply: ClassVar[Callable[[Any, Any, str], tuple[Any, str, str, str]]]
    game: Any
    state: Any

    def __init__(
        self,
        game: Any,
        state: Any,
        prompt: str,
        *,
        mistakes: Sequence[str] = (),
        rng: random.Random,
    ) -> None:
        super().__init__(prompt)
        self.game, self.state = game, state
        self.mistakes, self.rng = list(mistakes), rng
        self.failed = False

    @property
    def won(self) -> bool:
        """Whether the environment has ended the episode, so that nothing more can be said."""
        return False

    def play(self, action: str, *, learnt: bool = True) -> str:
        """Play an action and return its answer."""
        self.state, answer, _, _ = self.apply(self.game, self.state, action)
        self.turn(action, answer, learnt=learnt)
        return answer

    def think(self, thought: str, *, learnt: bool = True) -> None:
        """Write a thought."""
        self.turn(f"think: {thought}", "OK.", learnt=learnt)

    def end(self, line: str) -> None:
        """Write the last line, unless the environment has ended the episode."""
        if not self.won:
            self.turn(line, None)

    def errs(self, kind: str) -> bool:
        """Return whether to make a mistake now, which then is made once."""
        if kind in self.mistakes:
            self.mistakes.remove(kind)
            return True
        return False

    def fits(self, agent: str = "adapt") -> bool:
        """Return whether the dialogue stays within an agent's turns and patience with no-ops."""
        bounds = settings_for(agent, self.profile.name)
        no_ops = 0
        for span in self.spans[2::2]:  # the answers
            no_ops = no_ops + 1 if span.text.startswith(self.profile.no_op) else 0
            if no_ops >= bounds.patience:
                return False
        return len(self.spans) // 2 <= bounds.turns

    def branch(self, kind: str, agent: str = "adapt") -> Branch | None:
        """Return the dialogue; None if it is spoilt, or beyond an agent's bounds.

        Args:
            kind: What it teaches.
            agent: The agent whose bounds hold: ADaPT's for a step of a plan, ReAct's for a whole
                task.
        """
        if self.failed or not self.fits(agent):
            return None
        return Branch(kind, tuple(self.spans))


def compared(one: str, other: str) -> str:
    """Return the digits of two numbers in pairs, down to the first two that differ, and the result.

    A small model compares digits that stand side by side only.
    """
    width = max(len(one), len(other))
    pairs = []
    for first, second in zip(one.zfill(width), other.zfill(width), strict=True):
        if first.isdigit():
            pairs.append(f"{first} {second}")
        if first != second:
            return f"{', '.join(pairs)}, {'above' if first > second else 'below'}"
    return f"{', '.join(pairs)}, equal"


def a(noun: str) -> str:
    """Return a noun with its article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
