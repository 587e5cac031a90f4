"""Tree of thoughts: the breadth-first and depth-first searches that LATS is compared with.

Source: Yao et al., Tree of Thoughts: Deliberate Problem Solving with Large Language Models, 2023,
Algorithms 1 and 2. It goes by the model's judgements alone, and stops at the first attempt that
ends; it still goes back in the environment.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.lats.branches import Branch, Brancher, Rollback, Tree
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import at_least

Order: TypeAlias = Literal["breadth", "depth"]


class TreeOfThoughtsAgent:
    """Searches by judgements until the first attempt ends.

    Args:
        profile: The game to play.
        prompts: Source of the prompts ``lats`` and ``lats_value``.
        order: ``breadth`` to keep the best nodes of each depth; ``depth`` to follow the best child,
            and go back where all are judged too low.
        samples: Number of turns that are sampled at a node.
        width: Maximum number of nodes that are kept of each depth, in breadth.
        threshold: Judgement from 0 to 1 up to which a node is left out, in depth; by default the
            lowest that a judge can give, as the paper leaves only what is judged impossible.
        judgements, temperature, rollback, settings: As in ``LATSAgent``, without ``lookahead``.

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
        order: Order = "breadth",
        # The paper's numbers.
        samples: int = 5,
        width: int = 5,
        threshold: float = 0.1,
        judgements: int = 1,
        temperature: float = 1.0,
        rollback: Rollback = "snapshot",
        settings: Settings | None = None,
    ) -> None:
        if order not in get_args(Order):
            raise ValueError(f"expected order to be breadth or depth, got {order!r}")
        at_least("samples", samples, 1)
        at_least("width", width, 1)
        if type(threshold) not in (int, float) or not 0 <= threshold <= 1:
            raise ValueError(f"expected a threshold from 0 to 1, got {threshold!r}")
        self.settings = settings_for("tree_of_thoughts", profile.name, settings)
        self.brancher = Brancher(
            profile,
            prompts or Prompts(),
            self.settings,
            temperature=temperature,
            judgements=judgements,
            rollback=rollback,
        )
        self.order = order
        self.samples = samples
        self.width = width
        self.threshold = threshold
        self.max_steps = samples * width * self.settings.turns

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        return (yield from self.brancher.episode(play, self.search))

    def search(self, tree: Tree) -> Generator[Request, Any, Any]:
        """Return the search in the order that was chosen."""
        if self.order == "breadth":
            return self.breadth_first(tree)
        return self.depth_first(tree, tree.root)

    def breadth_first(self, tree: Tree) -> Generator[Request, Any, None]:
        """Expand the best nodes of each depth, until one ends."""
        frontier = [tree.root]
        while frontier and not any(node.terminal for node in frontier):
            # Expand and judge
            children: list[Branch] = []
            for node in frontier:
                children += yield from self.expand(tree, node)
            # Keep the best
            frontier = sorted(children, key=lambda child: -child.value)[: self.width]

    def depth_first(
        self,
        tree: Tree,
        node: Branch,
    ) -> Generator[Request, Any, bool]:
        """Follow the children in the order of their judgements; return whether an attempt ended."""
        if node.terminal:
            return True
        children = yield from self.expand(tree, node)
        for child in sorted(children, key=lambda child: -child.value):
            # A child judged too low is pruned, with all that would be below it.
            if child.value > self.threshold and (yield from self.depth_first(tree, child)):
                return True
        return False

    def expand(
        self,
        tree: Tree,
        node: Branch,
    ) -> Generator[Request, Any, list[Branch]]:
        """Return the children of a node, each with its judgement."""
        yield from tree.grow(node, self.samples, node.children)
        for child in node.children:
            child.value = yield from tree.judge(child)
        return node.children
