"""A shopping session: its moves by the rules of the environment, independent of the web site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from textcraft_gym.envs.webshop.product import Product
from textcraft_gym.envs.webshop.reward import Reward, fits, has_attribute, written
from textcraft_gym.envs.webshop.rules import navigate
from textcraft_gym.envs.webshop.state import START, State, Transition
from textcraft_gym.envs.webshop.tasks import Market, Selection, Task, find_task
from textcraft_gym.envs.webshop.text import observation, recall
from textcraft_gym.registration import SUITE, find

ENV = "WebShopLite-v0"
MAX_ACTIONS = SUITE[ENV].max_episode_steps


class SessionOver(Exception):
    """An action after the end of a session."""


class Move(NamedTuple):
    """An action and its result; the action is None for the start and for a reset."""

    action: str | None
    turn: Transition


class Wanted(NamedTuple):
    """An attribute or option value that the goal asks for, and whether the purchase meets it."""

    name: str
    is_met: bool


class Verdict(NamedTuple):
    """The reward of a purchase and the wishes that it meets."""

    reward: Reward
    attributes: list[Wanted]
    options: list[Wanted]


@dataclass(frozen=True)
class Storefront:
    """A market as ``gym.make`` opens it.

    Attributes:
        market: Products and goals.
        split: The split whose tasks are listed.
        tasks: The tasks of the split.
        num_prev_obs: Number of earlier observations before each.
        num_prev_actions: Number of actions between these.
        env_args: The arguments of ``gym.make``.
        fingerprint: SHA-256 of products and goals.
    """

    market: Market
    split: str
    tasks: tuple[Task, ...] = field(repr=False)
    num_prev_obs: int
    num_prev_actions: int
    env_args: Mapping[str, Any]
    fingerprint: str

    @classmethod
    def open(
        cls,
        split: str,
        env_args: Mapping[str, Any],
    ) -> Storefront:
        """Open the market of the environment with these arguments.

        Raises:
            UnknownName: For a split or an argument that does not exist.
            ShopDataError: If the data cannot be read.
        """
        env = find(ENV).make(split=split, **env_args)
        names = ("market", "tasks", "num_prev_obs", "num_prev_actions", "fingerprint")
        attributes = {name: env.get_wrapper_attr(name) for name in names}
        return cls(split=split, env_args=dict(env_args), **attributes)

    def task(self, task_id: str) -> Task:
        """Return a task of any split.

        Raises:
            UnknownName: If there is none.
        """
        return find_task(Selection(self.market, self.split), task_id)


class Session:
    """One task and the moves that were made.

    Attributes:
        front: The shop.
        task: The task.
        moves: The start, and each action since.
    """

    def __init__(self, front: Storefront, task: Task) -> None:
        self.front = front
        self.task = task
        self.moves = [Move(None, Transition(START))]

    @property
    def last(self) -> int:
        """The number of the last move."""
        return len(self.moves) - 1

    @property
    def is_bought(self) -> bool:
        """Whether the session ended with a purchase."""
        return self.state(self.last).page == "done"

    @property
    def is_over(self) -> bool:
        """Whether it ended with a purchase or at the environment's step limit."""
        return self.is_bought or self.last >= MAX_ACTIONS

    def act(self, action: str) -> None:
        """Play one action.

        Raises:
            SessionOver: If the session is over.
        """
        if self.is_over:
            raise SessionOver
        self.moves.append(Move(action, navigate(self.front.market, self.state(self.last), action)))

    def replay(
        self,
        transcript: list[tuple[str | None, str]],
        restores: Mapping[int, int],
    ) -> None:
        """Play the actions of an episode.

        Args:
            transcript: Its actions and observations; None is a reset or a return.
            restores: The entries that are returns, each with the move that it leads to.
        """
        # The first entry is the reset that began the episode.
        for number, (action, _) in enumerate(transcript[1:], 1):
            if number in restores:
                turn = self.moves[restores[number]].turn
            elif action is None:
                turn = Transition(START)
            else:
                turn = navigate(self.front.market, self.state(self.last), action)
            self.moves.append(Move(action, turn))

    def state(self, number: int) -> State:
        """Return the state after a move."""
        return self.moves[number].turn.state

    def product(self, number: int) -> Product:
        """Return the product that is shown after a move, or was bought."""
        return self.front.market.products[self.state(number).asin]

    def verdict(self, number: int) -> Verdict:
        """Return the verdict on the purchase of a move."""
        state, goal, product = self.state(number), self.task.goal, self.product(number)
        chosen = dict(state.chosen)
        attributes = [Wanted(wanted, has_attribute(product, wanted)) for wanted in goal.attributes]
        options = []
        for wanted in goal.options:
            is_met = any(fits(wanted, value) for value in chosen.values())
            options.append(Wanted(written(wanted), is_met))
        reward = self.front.market.judge(goal, state.asin, chosen)
        return Verdict(reward, attributes, options)

    def score(self, number: int) -> float:
        """Return the reward of a move, 0 unless it was a purchase."""
        if self.state(number).page != "done":
            return 0.0
        return self.verdict(number).reward.score

    def observation(self, number: int) -> str:
        """Return the environment's observation after a move."""
        past = [self._page(number)]
        recalled = max(self.front.num_prev_obs, self.front.num_prev_actions)
        oldest = max(number - recalled, 0)
        for earlier in range(number, oldest, -1):
            action = self.moves[earlier].action
            if action is None:  # nothing is recalled from before a reset
                break
            past[:0] = [self._page(earlier - 1), action]
        return recall(past, self.front.num_prev_obs, self.front.num_prev_actions)

    def _page(self, number: int) -> str:
        turn, instruction = self.moves[number].turn, self.task.goal.instruction
        return observation(self.front.market, instruction, turn, self.score(number))

    def transcript(self) -> list[tuple[str | None, str]]:
        """Return each action with its observation, as in the records of an evaluation."""
        return [(move.action, self.observation(number)) for number, move in enumerate(self.moves)]
