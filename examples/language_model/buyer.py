"""The teacher in WebShop for agents that think before each action.

It is a customer who knows which product is right.

It says what can be seen: the words of a title that the instruction has, the price, and the options
that are named.
"""

from __future__ import annotations

import random
import re

from player import Move, Searched, in_steps, still_open

from textcraft_gym.agents.games.webshop.pages import bound, content, wanted
from textcraft_gym.envs.webshop.actions import click, parse
from textcraft_gym.envs.webshop.catalogue import GENERATED, Catalogue
from textcraft_gym.envs.webshop.env import WebShopLiteEnv
from textcraft_gym.envs.webshop.expert import Expert
from textcraft_gym.envs.webshop.queries import searches
from textcraft_gym.envs.webshop.reward import default_nouns
from textcraft_gym.envs.webshop.rules import BACK_TO_SEARCH, BUY, NEXT, PREVIOUS, World, apply
from textcraft_gym.envs.webshop.state import START, State
from textcraft_gym.envs.webshop.tasks import Market, Selection, Task

SEARCHING = "I search in the words of the instruction."
PLAN = (
    "search in the words of the instruction",
    "open a product that has all of it",
    "choose the options",
    "buy it",
)
"""The plan of a purchase."""

_TURN = re.compile(r"^Action \d+: (.+)$", re.MULTILINE)


class Buyer(Searched):
    """Plays one episode.

    Args:
        task: The goal.
        rng: Draws what else may be done.
    """

    def __init__(self, task: Task, rng: random.Random) -> None:
        self.task, self.rng = task, rng
        self.shop, self.goal = task.market, task.goal
        self.world = World(self.shop, self.goal)
        self.expert = Expert(self.shop, self.goal)
        self.wanted = wanted(self.goal.instruction)
        self.named = [
            option if isinstance(option, str) else option[1] for option in self.goal.options
        ]

    @property
    def is_known(self) -> bool:
        """Whether a search that the instruction suggests leads to a product that fits."""
        plan = self.expert.plan()
        return bool(plan) and plan[0] in searches(self.goal.instruction)

    def read(self, prompt: str) -> tuple[State, str]:
        """Return the state after an attempt in a prompt, and why its last action did nothing."""
        state, reason = START, ""
        for action in _TURN.findall(prompt.rpartition("\nThought 1:")[2]):
            state, _, reason, _ = apply(self.world, state, action)
        return state, reason

    def move(self, prompt: str, *, errs: bool = False) -> Move:
        """Return the next turn."""
        state, _ = self.read(prompt)
        action = (self.expert.plan(state) or [click(BUY)])[0]
        return Move(self.thought(state, action), action)

    def thought(self, state: State, action: str) -> str:
        """Return the thought before an action."""
        verb, target = parse(action)
        if verb == "search":
            return SEARCHING
        if target == NEXT:
            return "No product in view has all of it."
        if target == BUY:
            return "The options are chosen." if self.goal.options else "No option is named."
        if state.page == "item" and target in self.shop.options(state.asin):
            return f"{self.shop.options(state.asin)[target]}: {target}."
        if target.upper() in self.shop.products:
            return self.evidence(target.upper())
        return f"{self.lacking(state)} I go back."

    def evidence(self, asin: str) -> str:
        """Return what speaks for a product: the wanted words in its title, and its price."""
        product, words = self.shop.products[asin], content(self.wanted)
        shared = [
            word
            for word in re.findall(r"[a-z0-9-]+", product.title.lower())
            if content(word) & words
        ]
        below = (
            f" is below {bound(self.goal.instruction):.2f}"
            if bound(self.goal.instruction) < 1e6
            else ""
        )
        words_shared = " ".join(dict.fromkeys(shared)) or "none of it"
        return f"{asin}: {words_shared}. {product.price_tag}{below}."

    def lacking(self, state: State) -> str:
        """Return what speaks against the product in view."""
        title, offered = self.shop.products[state.asin].title.lower(), self.shop.options(state.asin)
        lacks = [attribute for attribute in self.goal.attributes if attribute.lower() not in title]
        lacks += [value for value in self.named if value not in offered]
        return (
            f"I do not see {', '.join(lacks)} here." if lacks else "It is not the one that I want."
        )

    def others(self, prompt: str) -> list[Move]:
        """Return clicks on other products, a look at details and an early purchase."""
        state, _ = self.read(prompt)
        if state.page == "item":
            return [Move("I buy it.", click(BUY)), Move("I read on.", click("description"))]
        shown = self.shop.shown(state) if state.page == "results" else ()
        return [Move("It may do.", click(asin.lower())) for asin in shown]

    def judgement(self, prompt: str) -> tuple[str, float]:
        """Return what is to say of an attempt, and how far it has come."""
        state, reason = self.read(prompt)
        vain = "The last action did nothing. " if reason else ""
        left = self.expert.plan(state) or []
        if state.page == "done":
            score = self.score(state)
            return (
                ("It is what was asked for.", 1.0)
                if score == 1
                else (self.lacking(state), score / 3)
            )
        if state.page == "index":
            return "Nothing is found yet.", still_open(0.0)
        if state.page == "results":
            fits = bool(left) and parse(left[0])[1].upper() in self.shop.products
            return (
                (f"{vain}A product in view may do.", 0.4)
                if fits
                else (f"{vain}Nothing in view fits.", 0.25)
            )
        if not self.fits(state):
            return f"{vain}{self.lacking(state)}", 0.15
        chosen = ", ".join(value for _, value in state.chosen)
        return f"{vain}It fits. Chosen: {chosen or 'nothing yet'}.", 1 - len(left) / 10 - bool(
            reason
        ) / 4

    def score(self, state: State) -> float:
        """Return what a purchase is worth."""
        return self.shop.judge(self.goal, state.asin, dict(state.chosen)).score

    def reflection(self, prompt: str) -> str:
        """Return what is learnt from a purchase that was not right."""
        state, _ = self.read(prompt.partition("\n\nReflection:")[0])
        chosen = dict(state.chosen).values()
        left = [value for value in self.named if value not in chosen]
        why = (
            f"I did not choose {', '.join(left)}."
            if left and self.fits(state)
            else self.lacking(state)
        )
        return f"I bought {state.asin}. {why} New plan:\n{in_steps(PLAN)}"

    def fits(self, state: State) -> bool:
        """Return whether the product in view is right once its options are chosen."""
        left = self.expert.plan(state._replace(page="item", sub_page="")) or []
        return bool(left) and parse(left[0])[1] not in (PREVIOUS, BACK_TO_SEARCH)


class TrainingShopEnv(WebShopLiteEnv):
    """The shop of a seed for training, with all of its goals.

    Args:
        seed: The seed.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        arguments = (GENERATED, "human", "react", None, False, default_nouns, None)
        self.market = Market(Catalogue.load(seed=seed), arguments)
        self._selection = Selection(self.market, "all")
