"""LATS: Monte-Carlo tree search over ReAct's turns; the model acts, judges and reflects.

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

import math
from collections.abc import Generator, Iterable
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

# As in the released program.
NOT_ENDED = -0.5
"""Reward that is fed back from a simulation that comes to no end."""
MAX_REFLECTIONS = 3
"""Maximum number of failed attempts that are reflected on."""
MAX_REFLECTION = 4000
"""Maximum number of characters of a reflection: the first ones."""


class LATSAgent:
    """Searches until an attempt succeeds or the iterations are spent.

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
        # The released program's numbers for WebShop.
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

    def iterate(
        self,
        tree: Tree,
        node: Branch,
    ) -> Generator[Request, Any, bool]:
        """Expand, evaluate, simulate, backpropagate, reflect; return whether it succeeded."""
        # Expansion
        # As in the released program, the root has more children than any other node.
        samples = self.samples if node.parent else self.root_samples
        yield from tree.grow(node, samples, node.children)
        if not node.children:  # no sample was an action
            node.closed = True
            return False
        last = node.children[-1]
        if last.solved:  # growing stops at a child that solves the task
            backpropagate(last, last.reward)
            return True

        # Evaluation
        yield from self.evaluate(tree, node.children)

        # Simulation
        end, reward = yield from self.simulate(tree, most_valued(node.children))

        # Backpropagation
        backpropagate(end, reward)

        # Reflection
        if not end.solved:
            yield from self.reflect(tree, end)
        return end.solved

    def evaluate(
        self,
        tree: Tree,
        children: list[Branch],
    ) -> Generator[Request, Any, None]:
        """Judge each child, relative to the best judgement; a terminal child ranks first."""
        # The released program lets scores slip to a sibling where one has ended; here none does.
        largest = -math.inf
        for child in children:
            if not child.terminal:
                child.value = yield from tree.judge(child)
                largest = max(largest, child.value)
        # An ended child gets one more than the largest judgement, before both are divided by it.
        for child in children:
            if child.terminal:
                child.value = (largest + 1) / largest if largest > 0 else 1.0
            elif largest > 0:
                child.value /= largest

    def simulate(
        self,
        tree: Tree,
        node: Branch,
    ) -> Generator[Request, Any, tuple[Branch, float]]:
        """Play on to an end; return the last node and its reward.

        Each step takes the child that ended, else the one judged best.
        """
        for _ in range(self.settings.lookahead):
            if node.terminal:
                break
            children = node.simulated
            yield from tree.grow(node, self.samples, children)
            if not children:
                break
            ended = [child for child in children if child.terminal]
            if ended:
                node = best(ended)
            else:
                yield from self.evaluate(tree, children)
                node = most_valued(children)
        reward = node.reward if node.ended else NOT_ENDED
        return node, reward

    def reflect(
        self,
        tree: Tree,
        end: Branch,
    ) -> Generator[Request, Any, None]:
        """Have the model explain a new kind of failure; later prompts include the reflection."""
        failure = end.reward, end.action
        # Where a part of the task is rewarded, an attempt without a reward teaches nothing.
        can_teach = end.reward > 0 or not self.brancher.profile.partial_credit
        if not end.terminal or not can_teach or not self.reflection_tokens:
            return
        # As in the released program, a failure like one before is not reflected on again.
        if failure in tree.failed:
            return
        tree.failed.add(failure)
        # Each further kind of failure is counted, but prompts are to stay short.
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


def most_valued(children: Iterable[Branch]) -> Branch:
    """Return the child of the highest value, the first of equal ones."""
    return max(children, key=lambda child: child.value)


def select(root: Branch) -> Branch | None:
    """Return the node to expand: from the root the child of the highest UCT, again and again.

    A node from which every way has ended is closed; None if the root is.
    """
    node = root
    while node.children:
        open_children = [
            child for child in node.children if not child.terminal and not child.closed
        ]
        if open_children:
            node = max(open_children, key=uct)
        else:  # every way on has ended: choose again among the siblings
            node.closed = True
            if node.parent is None:
                return None
            node = node.parent
    if node.terminal or node.closed:
        return None
    return node


def backpropagate(node: Branch | None, reward: float) -> None:
    """Count a visit of a node and its ancestors, and update their mean rewards."""
    while node:
        # The first visit drops the judgement, which counts for none.
        node.value = (node.value * node.visits + reward) / (node.visits + 1)
        node.visits += 1
        node = node.parent
