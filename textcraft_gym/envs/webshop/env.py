"""WebShop-lite as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from textcraft_gym.envs.text_env import Settings, Step, TextEnv
from textcraft_gym.envs.webshop import text
from textcraft_gym.envs.webshop.expert import Expert
from textcraft_gym.envs.webshop.feedback import explain
from textcraft_gym.envs.webshop.files import GoalKind
from textcraft_gym.envs.webshop.reward import Nouns, default_nouns
from textcraft_gym.envs.webshop.rules import World, admissible_commands, apply, read
from textcraft_gym.envs.webshop.state import START, State, Transition
from textcraft_gym.envs.webshop.tasks import Task, draw_task, find_task, open_market, split_tasks
from textcraft_gym.envs.webshop.text import MODES, Mode
from textcraft_gym.envs.webshop.thoughts import thoughts
from textcraft_gym.envs.webshop.vocabulary import vocabulary
from textcraft_gym.errors import UnknownName


class WebShopLiteEnv(TextEnv):
    """Buy what an instruction asks for, in a shop of a thousand products or more, by searching and clicking.

    **Actions** (any string; what is none of these, or is not on the page, changes nothing):

    - ``search[words]``: see the products that the words find, from any page.
    - ``click[what]``: click a button, a product's number (``click[b0abc12345]``) or the value of an option, in any case
      of letters. ``< Prev`` and ``Next >`` turn pages; ``< Prev`` of a product leads back to the results and forgets
      its options, ``Back to Search`` forgets everything, ``Buy Now`` buys.

    **Observation**: text, the page in one of three formats, byte for byte those of the papers on the same data.

    - ``react``: as ReAct, Reflexion and ADaPT read it, the instruction on the first page only. Three products a page.
      A click on an option answers ``You have clicked v.``, what does nothing ``Invalid action!``, and the purchase
      ``Your score (min 0.0, max 1.0): r``.
    - ``text``: the texts of the page on one line, separated by `` [SEP] ``, as WebShop's baselines read it.
    - ``text_rich``: a line each, with ``[button]`` and ``[clicked button]`` marks.

    **Reward**: 0 until the purchase. That earns 0 to 1: how many of the attributes, the options and the bound on the
    price are met, times how much it is the kind of thing that was asked for (see ``reward.py``).

    **Episode end**: terminates with ``click[buy now]``, and a step after that raises ``gymnasium.error.ResetNeeded``.
    Registered with a limit of 100 steps.

    **Info**: ``task`` (goal number and ASIN), ``won`` (bool: whether the score is 1, which the papers call success);
    after the purchase ``score`` and its parts ``r_type``, ``r_att``, ``r_option`` and ``r_price``, None where nothing
    of the kind was asked for; after an action that did nothing ``invalid_reason``, one of ``rules.REASONS``;
    ``admissible_commands`` and ``expert_plan`` (lists of str) if asked for. The plan is empty where no purchase that
    the expert knows earns 1.

    **Reset options**: ``{"task": "17-B0ABC12345"}`` plays that task, of whichever split. Otherwise the seed draws
    one of the split: human goals evenly, synthetic ones the more often the rarer their attributes are, as in the
    original.

    Args:
        split: ``dev`` (goals 500 to 1499), ``test`` (0 to 499), ``train`` (the rest) or ``all``; ``adapt_test`` and
            ``adapt_dev`` are ADaPT's parts of test, goals 0 to 99 and 100 to 139. The default is dev, so that test is
            only seen when asked for.
        data: ``generated`` (the default), or a folder or file of products of the original's data.
        mode: ``react`` (the default, since the prompts of reference agents are written in it), ``text`` or
            ``text_rich``.
        products_per_page: How many products a page of results has, 1 to 50; by default 3 in the mode ``react``, as in
            ReAct, else 10.
        show_attrs: Whether a product has a page of its attributes, by which it is judged.
        admissible: Whether info lists the actions that do something now; of searches only that for the instruction.
        expert: Whether info holds a shortest plan from here.
        nouns: Finds the nouns of a title, by which kinds of things are told apart. The default takes every word but
            function words and numbers; the original asks a tagger.
        goals: ``human`` as people wrote them, or ``synthetic`` ones for every choice of options.
        render_mode: ``ansi`` renders the last action and its answer.

    Raises:
        UnknownName: For a split, task, mode or kind of goals that does not exist; it lists what does.
        ValueError: For a number of products a page that is out of bounds, or a split without goals.
        ShopDataError: For data that cannot be read.

    **Ids**: ``WebShopLite-v0``.

    **Source**: Yao et al., WebShop: Towards Scalable Real-World Web Interaction with Grounded Language Agents, 2022.

    **Versions**: v0.
    """

    game_profile = "webshop"
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
        render_mode: str | None = None,
    ) -> None:
        super().__init__(admissible=admissible, expert=expert, render_mode=render_mode)
        if mode not in MODES:
            raise UnknownName("mode", mode, list(MODES))
        if products_per_page is None:
            products_per_page = text.PRODUCTS_PER_PAGE[mode]
        self.market = open_market(data, goals, products_per_page, show_attrs, nouns or default_nouns)
        self.split = split
        if not self.market.catalogue.split(split):
            count = len(self.market.catalogue.split("all"))
            raise ValueError(
                f"split {split!r} of {data} has no goal: there are {count}, of which test are the first 500"
            )
        self.mode: Mode = mode
        self._state: State = START

    # Not made in __init__, since a large catalogue has a hundred thousand goals.
    @property
    def tasks(self) -> tuple[Task, ...]:  # type: ignore[override]
        """The tasks of the split."""
        return split_tasks(self.market, self.split)

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of products and goals: runs with the same one play the same."""
        return self.market.catalogue.fingerprint

    def explain(self, action: str, reason: str) -> str:
        """Return what was missing for the last action, which did nothing for this ``invalid_reason``."""
        return explain(self.market, self._state, action, reason)

    @property
    def vocabulary(self) -> str:
        """A text with every word in it that the shop's pages and instructions say."""
        return vocabulary(self.market.catalogue)

    def possible_commands(self, tasks: Iterable[str] | None = None) -> list[str]:
        """Refuse.

        Raises:
            Unsupported: Always.
        """
        raise self.unsupported("possible_commands", "searches are free text")

    def _find_task(self, name: Any) -> Task:
        return find_task(self.market, self.split, name)

    def _draw_task(self, draw: int) -> Task:
        return draw_task(self.market, self.split, draw)

    def _begin(self, task: Task, draw: int) -> str:
        self._set_up(task)
        self._state = START
        return read(self._world, Transition(START))

    def _play(self, action: str) -> Step:
        self._state, observation, reason, _ = apply(self._world, self._state, action)
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
        """Add what the caller of ``gym.make`` asked for."""
        if self.admissible:
            info["admissible_commands"] = admissible_commands(self.market, self._state, self.goal.instruction)
        if self._expert:
            info["expert_plan"] = self._expert.plan(self._state) or []

    def _purchase(self, info: dict[str, Any]) -> float:
        """Return the score of the purchase, and add it and its parts to info."""
        reward = self.market.judge(self.goal, self._state.asin, dict(self._state.chosen))
        info |= {name: getattr(reward, name) for name in ("r_type", "r_att", "r_option", "r_price", "score")}
        info["won"] = reward.score == 1.0
        return reward.score

    def _set_up(self, task: Task) -> None:
        self.goal = task.goal
        self._world = World(self.market, task.goal, self.mode)
        self._expert = Expert(self.market, task.goal) if self.expert else None

    def _settings(self) -> Settings:
        market = self.market
        return "WebShop-lite", (
            ("data", market.catalogue.fingerprint),
            ("goals", market.goals),
            ("mode", self.mode),
            ("products_per_page", market.products_per_page),
            ("show_attrs", market.show_attrs),
        )

    def _position(self) -> State:
        return self._state

    def _go_back(self, task: Task, draw: int, position: State) -> None:
        if self.task != task:
            self._set_up(task)
        self._state = position
