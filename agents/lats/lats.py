"""LATS: Monte-Carlo tree search over the turns of ReAct, with a model that acts, judges and reflects.

Source: Zhou et al., Language Agent Tree Search Unifies Reasoning, Acting and Planning in Language
Models, 2023, with the numbers of its released program for WebShop. It reads the environment's
reward while it searches, and goes back in the environment; an agent that does neither plays another
game.

Three things of the release are done as its paper means them. It gives the judgements of the
children that have not ended to the first children, so that beside one that has ended they slip to
the wrong one: here each child has its own. It divides the mean reward of a node by its visits once
more when it selects: here the mean itself is the value. And it takes any ``10`` in a judgement for
the score: here it is the number after the word.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.lats.branches import (
    MAX_FAILURE,
    Branch,
    Brancher,
    Rollback,
    Tree,
    best,
    uct,
)
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import at_least

NOT_ENDED = -0.5
"""Reward that is fed back from a simulation that comes to no end."""
MAX_REFLECTIONS = 3
"""Maximum number of failed attempts that are reflected on."""
MAX_REFLECTION = 4000
"""Maximum number of characters of a reflection: the first ones."""


class LATSAgent:
    """Searches until an attempt succeeds or the iterations are spent; it claims success if one did.

    Args:
        profile: The game to play.
        prompts: Source of the prompts ``lats``, ``lats_value`` and ``reflexion``.
        iterations: Maximum number of iterations.
        samples: Number of turns that are sampled at a node.
        root_samples: The same at the root.
        judgements: Number of judgements of one node, whose mean is its value.
        temperature: Temperature of all samples and judgements.
        reflection_tokens: Maximum number of tokens of a reflection; 0 for no reflections.
        rollback: ``snapshot`` to go back by snapshots of the environment; ``replay`` to reset it
            and play the actions again, which are counted as steps.
        settings: ``turns`` is the maximum depth of the tree, ``lookahead`` bounds the turns of a
            simulation, and ``max_tokens`` the tokens of a turn or judgement.

    Raises:
        ValueError: If a number is out of bounds.
        PromptError: If the game has no such prompts.
    """

    uses: ClassVar[tuple[str, ...]] = ("turns", "lookahead", "max_tokens")

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        iterations: int = 30,
        samples: int = 5,
        root_samples: int = 10,
        judgements: int = 1,
        temperature: float = 1.0,
        reflection_tokens: int = 256,
        rollback: Rollback = "snapshot",
        settings: Settings | None = None,
    ) -> None:
        for name, number in (
            ("iterations", iterations),
            ("samples", samples),
            ("root_samples", root_samples),
        ):
            at_least(name, number, 1)
        at_least("reflection_tokens", reflection_tokens, 0)
        prompts = prompts or Prompts()
        self.settings = settings_for("lats", profile.name, settings)
        self.brancher = Brancher(
            profile,
            prompts,
            self.settings,
            temperature=temperature,
            judgements=judgements,
            rollback=rollback,
        )
        self.reflection = prompts.of("reflexion", profile.name, needs=("transcript",))
        self.iterations = iterations
        self.samples = samples
        self.root_samples = root_samples
        self.reflection_tokens = reflection_tokens
        # Every action that the iterations can sample: only replayed ones can be more.
        self.max_steps = root_samples + iterations * samples * (1 + self.settings.lookahead)

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        return (yield from self.brancher.episode(play, self.search))

    def search(self, tree: Tree) -> Generator[Request, Any, None]:
        """Iterate until an attempt succeeds or every branch has ended."""
        for _ in range(self.iterations):
            node = select(tree.root)
            if node is None or (yield from self.iterate(tree, node)):
                break

    def iterate(self, tree: Tree, node: Branch) -> Generator[Request, Any, bool]:
        """Expand, evaluate, simulate, backpropagate and reflect once; return whether an attempt succeeded."""
        yield from tree.grow(
            node, self.samples if node.parent else self.root_samples, node.children
        )
        if not node.children:  # no sample was an action
            node.closed = True
            return False
        if node.children[-1].solved:
            backpropagate(node.children[-1], node.children[-1].reward)
            return True
        yield from self.evaluate(tree, node.children)
        end, reward = yield from self.simulate(
            tree, max(node.children, key=lambda child: child.value)
        )
        backpropagate(end, reward)
        if not end.solved:
            yield from self.reflect(tree, end)
        return end.solved

    def evaluate(self, tree: Tree, children: list[Branch]) -> Generator[Request, Any, None]:
        """Value each child by the model's judgement, in relation to the largest; one that has ended comes first."""
        for child in children:
            if not child.terminal:
                child.value = yield from tree.judge(child)
        largest = max([child.value for child in children if not child.terminal], default=0.0)
        for child in children:
            if largest > 0:
                child.value = (largest + 1 if child.terminal else child.value) / largest
            elif child.terminal:
                child.value = 1.0

    def simulate(self, tree: Tree, node: Branch) -> Generator[Request, Any, tuple[Branch, float]]:
        """Play on from a node to an end, by the child that ended or was judged best; return the last and its reward."""
        for _ in range(self.settings.lookahead):
            if node.terminal:
                break
            children = node.simulated
            yield from tree.grow(node, self.samples, children)
            if not children:
                break
            ended = [child for child in children if child.terminal]
            if not ended:
                yield from self.evaluate(tree, children)
            node = best(ended) if ended else max(children, key=lambda child: child.value)
        return node, node.reward if node.ended else NOT_ENDED

    def reflect(self, tree: Tree, end: Branch) -> Generator[Request, Any, None]:
        """Have the model say why an attempt failed, if none failed so before; later prompts have that in them."""
        failure = end.reward, end.action
        partly = end.reward > 0 or not self.brancher.profile.partial_credit
        if not (end.terminal and partly and self.reflection_tokens) or failure in tree.failed:
            return
        tree.failed.add(failure)
        if len(tree.failed) > MAX_REFLECTIONS:
            return
        prompt = self.reflection.fill(
            situation=tree.situation,
            task=tree.task,
            information="\n\n".join(tree.lessons),
            transcript=end.transcript(),
        )
        with tree.play.sub(tree.task, "reflection", 1):
            completion = yield from tree.play.ask(
                prompt,
                role="reflection",
                max_tokens=self.reflection_tokens,
                temperature=self.brancher.temperature,
                sample=next(tree.counter),
            )
            tree.play.note(completion.text)
        reflection = completion.text.strip()[:MAX_REFLECTION]
        tree.lessons.append(f"From an earlier trial: {reflection}")
        tree.failures.append(f"{end.transcript()[-MAX_FAILURE:]}\n\n{reflection}\nThe score is 1.")


def select(root: Branch) -> Branch | None:
    """Return the node to expand: from the root the child of the highest UCT, again and again.

    A node from which every way has ended is closed; None if the root is.
    """
    node = root
    while node.children:
        left = [child for child in node.children if not (child.terminal or child.closed)]
        if left:
            node = max(left, key=uct)
        else:
            node.closed = True
            if node.parent is None:
                return None
            node = node.parent
    return None if node.terminal or node.closed else node


def backpropagate(node: Branch | None, reward: float) -> None:
    """Count a visit of a node and of all above it, and move their mean rewards towards the reward."""
    while node:
        node.value = (node.value * node.visits + reward) / (
            node.visits + 1
        )  # a first visit drops the judgement
        node.visits += 1
        node = node.parent
