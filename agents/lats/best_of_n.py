"""Best-of-n: whole attempts, sampled one after the other from the beginning; the best is scored.

Like LATS it reads the environment's reward, which ends it at the first success, and goes back; it
neither judges nor chooses between actions.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.lats.branches import Branch, Brancher, Rollback, Tree
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import at_least


class BestOfNAgent:
    """Attempts the task up to n times, until an attempt succeeds.

    Args:
        profile: The game to play.
        prompts: Source of the prompts ``lats`` and ``lats_value``.
        n: Maximum number of attempts.
        temperature, rollback, settings: As in ``LATSAgent``, for one attempt, without
            ``lookahead``.

    Raises:
        ValueError: If an argument is out of bounds.
        PromptError: If the game has no such prompts.
    """

    uses: ClassVar[tuple[str, ...]] = ("turns", "max_tokens")

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        # As many attempts as LATS has first turns.
        n: int = 10,
        temperature: float = 1.0,
        rollback: Rollback = "snapshot",
        settings: Settings | None = None,
    ) -> None:
        at_least("n", n, 1)
        self.settings = settings_for("best_of_n", profile.name, settings)
        self.brancher = Brancher(
            profile,
            prompts or Prompts(),
            self.settings,
            temperature=temperature,
            rollback=rollback,
        )
        self.n = n
        self.max_steps = n * self.settings.turns

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        return (yield from self.brancher.episode(play, self.search))

    def search(self, tree: Tree) -> Generator[Request, Any, None]:
        """Attempt the task until an attempt succeeds."""
        for _ in range(self.n):
            node: Branch = tree.root
            while not node.terminal:
                children: list[Branch] = []
                yield from tree.grow(node, 1, children)
                node.children += children
                if not children:  # the sample was no action
                    break
                node = children[-1]
            if node.solved:
                break
