"""WebShop-lite as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from textcraft_gym.envs.text_env import Settings, Step, TextEnv
from textcraft_gym.envs.webshop.expert import Expert
from textcraft_gym.envs.webshop.feedback import explain
from textcraft_gym.envs.webshop.files import GoalKind
from textcraft_gym.envs.webshop.goals import SPLITS
from textcraft_gym.envs.webshop.reward import Nouns, default_nouns
from textcraft_gym.envs.webshop.rules import World, admissible_commands, apply, read
from textcraft_gym.envs.webshop.state import START, Mode, State, Transition
from textcraft_gym.envs.webshop.steps import holds
from textcraft_gym.envs.webshop.tasks import (
    GoalFilter,
    Selection,
    Task,
    draw_task,
    find_task,
    goal_numbers,
    open_market,
    selected_tasks,
)
from textcraft_gym.envs.webshop.text import recall
from textcraft_gym.envs.webshop.thoughts import thoughts
from textcraft_gym.envs.webshop.vocabulary import vocabulary
from textcraft_gym.errors import between, require, true_or_false

MAX_RECALLED = 100


class WebShopLiteEnv(TextEnv):
    """Search and click in a shop of a thousand products or more, and buy one that fits a wish.

    **Actions** (any string; others, and clicks on targets that are not on the page, change
    nothing):

    - ``search[words]``: search for products, in the modes ``react`` and ``adapt`` from the first
      page only.
    - ``click[target]``: click a button, a product's ASIN (``click[b0abc12345]``) or an option
      value, in upper or lower case. ``< Prev`` and ``Next >`` turn pages; ``< Prev`` of a product
      leads back to the results and forgets its options, ``Back to Search`` forgets everything,
      ``Buy Now`` buys.

    **Observation**: text, the page as one of four programs prints it, byte for byte those of the
    papers on the same data.

    - ``react``: as ReAct and Reflexion read it, the instruction on the first page only. Of each
      page of ten results it shows the first three and hides the others, which would open all the
      same. A click on an option answers ``You have clicked v.``, an invalid action
      ``Invalid action!``, and the purchase ``Your score (min 0.0, max 1.0): r``.
    - ``adapt``: as ADaPT reads it: below the three products stand the ASINs of the other seven, and
      an invalid action answers ``Invalid action! Try a different action.``
    - ``text``: the texts of the page on one line, separated by `` [SEP] ``, as WebShop's baselines
      read it.
    - ``text_rich``: a line each, with ``[button]`` and ``[clicked button]`` marks.

    **Reward**: 0 until the purchase, then 0 to 1: the fraction of wanted attributes, options and
    price bound that it meets, times the match of its type of product with the wanted one (see
    ``reward.py``).

    **Episode end**: terminates with ``click[buy now]``, and a step after that raises
    ``gymnasium.error.ResetNeeded``. Registered with a limit of 100 steps.

    **Info**: ``task`` (goal number and ASIN), ``won`` (bool: whether the score is 1, which the
    papers call success); after the purchase ``score``, its parts ``r_type``, ``r_att``,
    ``r_option`` and ``r_price``, None where none was wanted, their weights ``w_att``, ``w_option``
    and ``w_price``, and what the type score follows from, ``query_match``, ``category_match`` and
    ``title_score``; after an action that did nothing ``invalid_reason``, one of ``rules.REASONS``;
    ``admissible_commands`` and ``expert_plan`` (lists of str) if asked for. The plan is empty if
    the expert knows no purchase with a reward of 1.

    **Reset options**: ``{"task": "17-B0ABC12345"}`` plays that task, from any split. Otherwise the
    seed draws one of the split: human goals uniformly, synthetic ones by weights that favour rare
    attributes, as in the original.

    Args:
        split: ``dev`` (goals 500 to 1499), ``test`` (0 to 499), ``train`` (the rest) or ``all``;
            ``adapt_test`` and ``adapt_dev`` are ADaPT's parts of test, goals 0 to 99 and 100 to
            139. The default is dev, so that test is used only on purpose.
        data: ``generated`` (the default), or a folder or product file of the original's data.
        mode: ``react`` (the default, as in the prompts of the reference agents), ``adapt``,
            ``text`` or ``text_rich``.
        products_per_page: Number of products that a page of results shows with title and price. In
            the modes ``react`` and ``adapt`` 1 to 10 of the ten on each page, by default 3;
            elsewhere the whole page, 1 to 50, by default
            10. ``Next >`` leads to the next page in any case.
        show_attrs: Whether a product has a page of its attributes, which the reward counts.
        admissible: Whether info lists the admissible actions; of searches those for the
            instruction, its clauses, its telling words, and the pairs of these that follow each
            other, 50 at most.
        expert: Whether info has a shortest plan by these searches. Where none of them finds a
            product that fits, it searches for the title of one, which no player can know and which
            is not among the admissible actions.
        nouns: Returns the nouns of a title, which the reward compares to tell types of product
            apart. The default takes every word but function words and numbers; the original uses a
            part-of-speech tagger.
        goals: ``human`` for those written by people, or ``synthetic`` for one of each combination
            of options.
        num_products: Number of products: of a generated shop 71 to 50,000, by default 1,000; of
            files the first entries of the file of products, by default all.
        filter_goals: Called with the number of each goal of the split and the goal; False leaves it
            out.
        limit_goals: Number of goals to draw from those, by their weights, the same as in the
            original; -1 for all.
        num_prev_obs: Number of earlier observations that precede each observation, 0 to 100,
            separated by `` [SEP] ``.
        num_prev_actions: Number of actions that stand between these, 0 to 100.
        render_mode: ``ansi`` renders the last action and its answer, ``human`` prints them.

    Raises:
        UnknownName: For an unknown split, task, mode or kind of goals.
        ValueError: If a number is out of bounds, or the split has no goals.
        ShopDataError: If the data cannot be read.

    **Ids**: ``WebShopLite-v0``.

    **Source**: Yao et al., WebShop: Towards Scalable Real-World Web Interaction with Grounded
    Language Agents, 2022.

    **Versions**: v0.
    """

    game_profile = "webshop"
    splits = tuple(SPLITS)
    thoughts = staticmethod(thoughts)

    def __init__(
        self,
        split: str = "dev",
        *,
        data: str | Path = "generated",
        mode: Mode = "react",
        products_per_page: int | None = None,
        show_attrs: bool = False,
        admissible: bool = False,
        expert: bool = False,
        nouns: Nouns | None = None,
        goals: GoalKind = "human",
        num_products: int | None = None,
        filter_goals: GoalFilter | None = None,
        limit_goals: int = -1,
        num_prev_obs: int = 0,
        num_prev_actions: int = 0,
        render_mode: str | None = None,
    ) -> None:
        require("webshop", "Stemmer", "rapidfuzz")
        super().__init__(admissible=admissible, expert=expert, render_mode=render_mode)
        true_or_false("show_attrs", show_attrs)
        self.market = open_market(
            data,
            goals,
            mode,
            products_per_page,
            show_attrs,
            nouns or default_nouns,
            num_products,
        )
        self._data = data
        self._filter_goals = filter_goals
        self._limit_goals = limit_goals
        self.set_split(split)
        between("num_prev_obs", num_prev_obs, 0, MAX_RECALLED)
        between("num_prev_actions", num_prev_actions, 0, MAX_RECALLED)
        self.num_prev_obs = num_prev_obs
        self.num_prev_actions = num_prev_actions
        self._recalled = 2 * max(num_prev_obs, num_prev_actions)
        self._past: tuple[str, ...] = ()
        self._state: State = START

    def _set_split(self, split: str) -> None:
        selection = Selection(self.market, split, self._filter_goals, self._limit_goals)
        if not goal_numbers(selection):
            count = len(self.market.catalogue.goals)
            kept = " that filter_goals keeps" if self.market.catalogue.split(split) else ""
            raise ValueError(
                f"split {split!r} of {self._data} has no goal{kept}: "
                f"there are {count} goals, of which the first 500 are test"
            )
        self.split, self._selection = split, selection

    # Not built in __init__, since a large catalogue has a hundred thousand goals.
    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the split."""
        return selected_tasks(self._selection)

    @tasks.setter
    def tasks(self, tasks: Iterable[Any]) -> None:
        raise self.unsupported("choice of tasks", "its tasks are those of the split")

    @property
    def fingerprint(self) -> str:
        """SHA-256 of products and goals: runs with equal fingerprints play the same shop."""
        return self.market.catalogue.fingerprint

    def explain(self, action: str, reason: str) -> str:
        """Explain why the last action did nothing, given its ``invalid_reason``."""
        return explain(self.market, self._state, action, reason)

    def holds(self, step: str) -> bool | None:
        """Return whether a step of a plan is done in the current state; None if it cannot tell."""
        return holds(self._state, step)

    @property
    def vocabulary(self) -> str:
        """A text with every word that an observation may contain."""
        return vocabulary(self.market.catalogue)

    def possible_commands(self, tasks: Iterable[str] | None = None) -> list[str]:
        """Refuse.

        Raises:
            Unsupported: Always.
        """
        raise self.unsupported("possible_commands", "searches are free text")

    def _find_task(self, name: Any) -> Task:
        return find_task(self._selection, name)

    def _draw_task(self, draw: int) -> Task:
        return draw_task(self._selection, draw)

    def _begin(self, task: Task, draw: int) -> str:
        self._set_up(task)
        self._state = START
        observation = read(self._world, Transition(START))
        self._past = (observation,) if self._recalled else ()
        return observation

    def _play(self, action: str) -> Step:
        self._state, observation, reason, _ = apply(self._world, self._state, action)
        if self._recalled:
            # Observations and actions in turn, the present observation last.
            self._past = (*self._past[-self._recalled + 1 :], action, observation)
            observation = recall(self._past, self.num_prev_obs, self.num_prev_actions)
        info: dict[str, Any] = {"task": self.task.id, "won": False}
        if reason:
            info["invalid_reason"] = reason
        over = self._state.page == "done"
        score = self._purchase(info) if over else 0.0
        self._inform(info)
        return observation, score, over, False, info

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"task": self.task.id, "won": False}
        self._inform(info)
        return info

    def _inform(self, info: dict[str, Any]) -> None:
        """Add the admissible commands and the expert's plan, if they were asked for."""
        if self.admissible:
            info["admissible_commands"] = admissible_commands(
                self.market,
                self._state,
                self.goal.instruction,
            )
        if self._expert:
            info["expert_plan"] = self._expert.plan(self._state) or []

    def _purchase(self, info: dict[str, Any]) -> float:
        """Return the score of the purchase, and add it and its parts to info."""
        reward = self.market.judge(self.goal, self._state.asin, dict(self._state.chosen))
        info |= reward._asdict()
        info["won"] = reward.score == 1.0
        return reward.score

    def _set_up(self, task: Task) -> None:
        self.goal = task.goal
        self._world = World(self.market, task.goal)
        self._expert = Expert(self.market, task.goal) if self.expert else None

    def _settings(self) -> Settings:
        market = self.market
        return "WebShop-lite", (
            ("data", market.catalogue.fingerprint),
            ("goals", market.goals),
            ("mode", market.mode),
            ("products_per_page", market.products_per_page),
            ("show_attrs", market.show_attrs),
            ("num_prev_obs", self.num_prev_obs),
            ("num_prev_actions", self.num_prev_actions),
        )

    def _position(self) -> tuple[State, tuple[str, ...]]:
        return self._state, self._past

    def _go_back(
        self,
        task: Task,
        draw: int,
        position: tuple[State, tuple[str, ...]],
    ) -> None:
        if self.task != task:
            self._set_up(task)
        self._state, self._past = position
