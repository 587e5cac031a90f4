"""A tree of actions, shared by the searches.

Each action is sampled from a model, played from its parent's moment, and judged.

A turn is a thought and an action with the turn's number, in ReAct's form. The model's own word that
the task is done, or cannot be done, ends a branch without being played.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean
from typing import Any, Literal, TypeAlias, get_args

from textcraft_gym.agents.adapt.react import COMPLETED, FAILED, read_numbered
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.contract.model import Dialogue, Message
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import Unsupported, at_least, number

Rollback: TypeAlias = Literal["snapshot", "replay"]
"""How a search goes back: by a snapshot, or by a reset and its actions again, which are counted."""

UNJUDGED = -1.0
"""Value where the model gives no score."""
MAX_SCORE = 10
MAX_FAILURE = 6000
"""Maximum number of characters of a failed attempt that a judge is shown: the last ones."""

_SCORE = re.compile(r"\bscore\b\D*?\b(10|[1-9])\b", re.IGNORECASE)


@dataclass(eq=False)
class Branch:
    """A node of the tree: an action and what it led to.

    Attributes:
        parent: The node before it; None for the root.
        turn: The thought and the action as the model wrote them.
        action: The action.
        observation: What the environment answered.
        reward: Sum of rewards from the root.
        solved: Whether the environment says that the task is done.
        ended: Whether the attempt ended here, by the environment or by the model's word.
        terminal: Whether nothing can follow, since the attempt ended or the tree is not to grow
            deeper.
        moment: The moment after it, to go back to.
        children: The nodes that were expanded from it.
        simulated: The nodes that a simulation played from it, which are not searched.
        visits: Number of rewards that were fed back through it.
        value: The model's judgement before the first visit; then the mean of these rewards.
        closed: Whether every way on from it has ended.
    """

    parent: Branch | None = None
    turn: str = ""
    action: str = ""
    observation: str = ""
    reward: float = 0.0
    solved: bool = False
    ended: bool = False
    terminal: bool = False
    moment: object = None
    children: list[Branch] = field(default_factory=list)
    simulated: list[Branch] = field(default_factory=list)
    visits: int = 0
    value: float = 0.0
    closed: bool = False

    def __post_init__(self) -> None:
        self.depth: int = self.parent.depth + 1 if self.parent else 0

    def path(self) -> list[Branch]:
        """Return the nodes after the root down to this one."""
        path: list[Branch] = []
        node = self
        while node.parent:
            path.append(node)
            node = node.parent
        return path[::-1]

    def walk(self) -> Iterator[Branch]:
        """Yield this node and all below it, those of simulations included."""
        yield self
        for node in (*self.children, *self.simulated):
            yield from node.walk()

    def transcript(self) -> str:
        """Return the turns from the root to here with their observations."""
        return "\n".join(f"{node.turn}\n{node.answer()}" for node in self.path())

    def answer(self) -> str:
        """Return the observation as a prompt has it."""
        return f"Observation {self.depth}: {self.observation}"


class Brancher:
    """Samples, plays and judges for one agent.

    Args:
        profile: The game to play.
        prompts: Source of the prompts ``lats`` and ``lats_value``.
        settings: ``turns`` is the maximum depth of the tree, ``max_tokens`` that of a turn and of a
            judgement.
        temperature: Sampling temperature.
        judgements: Number of judgements of one node, whose mean is its value.
        rollback: How it goes back.

    Raises:
        ValueError: If an argument is out of bounds.
        PromptError: If the game has no such prompts.
    """

    def __init__(
        self,
        profile: GameProfile,
        prompts: Prompts,
        settings: Settings,
        *,
        temperature: float = 1.0,
        judgements: int = 1,
        rollback: Rollback = "snapshot",
    ) -> None:
        if rollback not in get_args(Rollback):
            raise ValueError(f"expected rollback to be snapshot or replay, got {rollback!r}")
        number("temperature", temperature)
        if not 0 <= temperature <= 2:
            raise ValueError(f"expected a temperature from 0 to 2, got {temperature!r}")
        at_least("judgements", judgements, 1)
        self.profile = profile
        self.settings = settings
        self.temperature = temperature
        self.judgements = judgements
        self.rollback = rollback
        self.act_prompt = prompts.of("lats", profile.name)
        self.reader = prompts.commands(profile.name)
        self.value_prompt = prompts.of("lats_value", profile.name, needs=("transcript",))

    def begin(self, play: Play) -> Generator[Request, Any, Tree]:
        """Return the tree of an episode, which has only its root."""
        situation, task = self.profile.read(play.first.observation)
        won = play.first.won
        root = Branch(observation=play.first.observation, solved=won, ended=won, terminal=won)
        tree = Tree(self, play, situation, task, root)
        root.moment = yield from tree.keep()
        return tree

    def episode(
        self,
        play: Play,
        search: Callable[[Tree], Generator[Request, Any, Any]],
    ) -> Routine:
        """Play one episode by a search; return its claim (see ``Tree.answer``).

        The search ends where a budget is spent.
        """
        tree = yield from self.begin(play)
        with suppress(EpisodeOver), play.sub(tree.task, "search", 1) as node:
            yield from search(tree)
        node.outcome = tree.answer()
        return node.outcome


@dataclass(eq=False)
class Tree:
    """The tree of one episode.

    Attributes:
        brancher: Its prompts and bounds.
        play: The episode.
        situation, task: What the first observation says.
        root: The node of the first observation.
        lessons: Reflections on failed attempts, which later actions are sampled with.
        failures: The same with the attempts, which a judge is shown.
        failed: Reward and last action of each attempt that failed in another way than those before.
        here: The node that the environment is at; None while it is on its way.
        counter: Counts the requests to models, so that equal prompts are answered anew.
    """

    brancher: Brancher
    play: Play
    situation: str
    task: str
    root: Branch
    lessons: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    failed: set[tuple[float, str]] = field(default_factory=set)
    here: Branch | None = None
    counter: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.here = self.here or self.root

    def grow(
        self,
        node: Branch,
        n: int,
        children: list[Branch],
    ) -> Generator[Request, Any, None]:
        """Sample ``n`` turns at a node and play each distinct action, until one solves the task.

        The children are added to the list one by one, so that what was played is known even if a
        budget ends here.
        """
        # Equal actions lead to one child, with the thought that came first.
        number = node.depth + 1
        turns: dict[str, str] = {}
        for reply in (yield from self._sample(node, n)):
            turn = read_numbered(self.play, self.brancher.reader, reply, number)
            action = turn.action[:1].lower() + turn.action[1:]
            is_said = says_end(action)
            self.play.count(turn._replace(known=bool(action) and (turn.known or is_said)))
            if action:
                thought = " ".join(turn.thought.split())
                turns.setdefault(action, f"Thought {number}: {thought}\nAction {number}: {action}")
        for action, text in turns.items():
            child = Branch(node, text, action)
            if says_end(action):  # said, and not played
                child.observation = "The attempt ends here."
                child.reward = node.reward
                child.ended = child.terminal = True
                children.append(child)
            else:
                yield from self._go_to(node)  # each child begins at the node's own moment
                children.append(child)
                yield from self._play(child)
            if child.solved:
                return

    def judge(self, node: Branch) -> Generator[Request, Any, float]:
        """Return the model's judgement of an attempt, 0.1 to 1; ``UNJUDGED`` without one."""
        brancher = self.brancher
        prompt = brancher.value_prompt.fill(
            situation=self.situation,
            task=self.task,
            # As in the released program, failed attempts are its examples of the lowest score.
            information="\n\n".join(self.failures),
            transcript=node.transcript(),
        )
        completions = yield from self.play.ask_many(
            prompt,
            n=brancher.judgements,
            role="judge",
            max_tokens=brancher.settings.max_tokens,
            temperature=brancher.temperature,
            sample=next(self.counter),
        )
        return fmean(read_score(completion.text) for completion in completions)

    def keep(self) -> Generator[Request, Any, object]:
        """Return the moment that the environment is at; None where a search replays."""
        if self.brancher.rollback == "replay":
            return None
        try:
            return (yield from self.play.snapshot())
        except Unsupported as refusal:
            raise Unsupported(
                f"{refusal}; with rollback=replay a search plays its actions again"
            ) from refusal

    def answer(self) -> bool | None:
        """Return the claim of the best node: of a solved one that of its action, else False.

        The tree is written into the trace, with the way to that node marked.
        """
        chosen = best(self.root.walk())
        way = {self.root, *chosen.path()}

        def write(node: Branch, role: str) -> None:
            if node in way:
                role = "chosen branch"
            with self.play.sub(describe(node), role, node.depth) as part:
                if node.terminal:
                    part.outcome = node.solved
                for child in node.children:
                    write(child, "branch")
                for child in node.simulated:
                    write(child, "simulated branch")

        write(self.root, "branch")
        return self.brancher.profile.claim(chosen.action) if chosen.solved else False

    def _sample(
        self,
        node: Branch,
        n: int,
    ) -> Generator[Request, Any, list[str]]:
        brancher = self.brancher
        head = brancher.act_prompt.fill(
            situation=self.situation,
            task=self.task,
            information="\n\n".join(self.lessons),
        )
        dialogue = Dialogue(head, [Message("user", head)])
        for step in node.path():
            dialogue = dialogue.extended(
                f"\n{step.turn}\n{step.answer()}",
                Message("assistant", step.turn),
                Message("user", step.answer()),
            )
        turn = node.depth + 1
        completions = yield from self.play.ask_many(
            dialogue.extended(f"\nThought {turn}:"),
            n=n,
            stop=(f"\nObservation {turn}:",),
            max_tokens=brancher.settings.max_tokens,
            temperature=brancher.temperature,
            sample=next(self.counter),
        )
        return [completion.text for completion in completions]

    def _play(self, node: Branch) -> Generator[Request, Any, None]:
        """Play a node's action from the moment of its parent, and record the result."""
        profile, parent = self.brancher.profile, node.parent
        self.here = None
        over: EpisodeOver | None = None
        try:
            step = yield from self.play.act(node.action, claim=profile.claim(node.action))
        except EpisodeOver as end:
            over, step = end, end.step
        finished = step.terminated or step.truncated
        node.observation = step.observation
        node.reward = (parent.reward if parent else 0.0) + step.reward
        node.solved = step.won
        node.ended = finished or step.won
        node.terminal = node.ended or node.depth >= self.brancher.settings.turns
        if over and not finished:  # the budget is spent
            raise over
        if not node.terminal:
            self.here = node
            node.moment = yield from self.keep()

    def _go_to(self, node: Branch) -> Generator[Request, Any, None]:
        if self.here is node:
            return
        if self.brancher.rollback == "replay":
            yield from self.play.replay(step.action for step in node.path())
        else:
            yield from self.play.restore(node.moment)
        self.here = node


def says_end(action: str) -> bool:
    """Return whether a turn says that the task is completed or failed, which is no command."""
    return COMPLETED in action.lower() or FAILED in action.lower()


def describe(node: Branch) -> str:
    """Return a node in words: its action, visits and value, and the UCT by which it is selected."""
    if node.parent is None:
        actions = sum(1 for _ in node.walk()) - 1
        return f"search tree of {actions} actions, visits {node.visits}, value {node.value:.2f}"
    text = f"{node.action}: visits {node.visits}, value {node.value:.2f}"
    if node.terminal:
        return f"{text}, reward {node.reward:g}"
    bound = uct(node) if node.parent.visits else math.inf
    if not math.isinf(bound):
        text += f", UCT {bound:.2f}"
    if node.closed:
        text += ", closed"
    return text


def uct(node: Branch) -> float:
    """Return the upper confidence bound of a node: its mean reward plus an exploration term."""
    if not node.visits:
        # Unvisited nodes go first, but not those that the judge gave no score.
        return math.inf if node.value >= 0 else node.value
    # UCB1 with the paper's weight of 1; the root, which has no parent, counts its own visits.
    visits = node.parent.visits if node.parent else node.visits
    # The value is a mean: the released program divides it by the visits once more.
    return node.value + math.sqrt(2 * math.log(visits) / node.visits)


def best(nodes: Iterable[Branch]) -> Branch:
    """Return the node of the highest reward, the first of equal ones; solved nodes first."""

    def rank(node: Branch) -> tuple[bool, float, bool]:
        reward = node.reward if node.terminal else 0.0
        return node.solved, reward, node.terminal

    return max(nodes, key=rank)


def read_score(text: str) -> float:
    """Return the last score (1 to 10) of a judgement, divided by 10; ``UNJUDGED`` without one."""
    # Reasons come before the score; the released program takes the first number of all.
    scores = _SCORE.findall(text)
    if not scores:
        return UNJUDGED
    return int(scores[-1]) / MAX_SCORE
