"""The teacher in WebShop for agents that think before each action.

It is a customer who knows which product is right.

It says what can be seen: the words of a title that the instruction has, the price, and the options
that are named.
"""

from __future__ import annotations

import random
import re

from player import Move, Replayed, in_steps, still_open
from shopper import option_values

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


class Buyer(Replayed):
    """Plays one episode."""

    apply, start = staticmethod(apply), START

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, World(task.market, task.goal), rng)
        self.shop, self.goal = task.market, task.goal
        self.expert = Expert(self.shop, self.goal)
        self.wanted = wanted(self.goal.instruction)
        self.named = option_values(self.goal)

    @property
    def is_known(self) -> bool:
        """Whether a search that the instruction suggests leads to a product that fits."""
        plan = self.expert.plan()
        return bool(plan) and plan[0] in searches(self.goal.instruction)

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
        shared: dict[str, None] = {}
        for word in re.findall(r"[a-z0-9-]+", product.title.lower()):
            if content(word) & words:
                shared[word] = None
        budget = bound(self.goal.instruction)
        below = f" is below {budget:.2f}" if budget < 1e6 else ""
        return f"{asin}: {' '.join(shared) or 'none of it'}. {product.price_tag}{below}."

    def lacking(self, state: State) -> str:
        """Return what speaks against the product in view."""
        title, offered = self.shop.products[state.asin].title.lower(), self.shop.options(state.asin)
        lacks = [attribute for attribute in self.goal.attributes if attribute.lower() not in title]
        lacks += [value for value in self.named if value not in offered]
        if lacks:
            return f"I do not see {', '.join(lacks)} here."
        return "It is not the one that I want."

    def others(self, prompt: str) -> list[Move]:
        """Return clicks on other products, a look at details and an early purchase."""
        state, _ = self.read(prompt)
        if state.page == "item":
            return [Move("I buy it.", click(BUY)), Move("I read on.", click("description"))]
        if state.page != "results":
            return []
        return [Move("It may do.", click(asin.lower())) for asin in self.shop.shown(state)]

    def judgement(self, prompt: str) -> tuple[str, float]:
        """Return what is to say of an attempt, and how far it has come."""
        state, reason = self.read(prompt)
        if state.page == "done":
            return self.verdict(state)
        if state.page == "index":
            return "Nothing is found yet.", still_open(0.0)
        opinion, share = self.opinion(state)
        if not reason:
            return opinion, share
        if state.page != "results" and self.fits(state):
            share -= 1 / 4
        return f"The last action did nothing. {opinion}", share

    def opinion(self, state: State) -> tuple[str, float]:
        """Return what is to say of the results or the product in view, and how far it has come."""
        left = self.expert.plan(state) or []
        if state.page == "results":
            if left and parse(left[0])[1].upper() in self.shop.products:
                return "A product in view may do.", 0.4
            return "Nothing in view fits.", 0.25
        if not self.fits(state):
            return self.lacking(state), 0.15
        chosen = ", ".join(value for _, value in state.chosen) or "nothing yet"
        return f"It fits. Chosen: {chosen}.", 1 - len(left) / 10

    def verdict(self, state: State) -> tuple[str, float]:
        """Return what is to say of a purchase, and what it is worth."""
        score = self.score(state)
        if score == 1:
            return "It is what was asked for.", 1.0
        return self.lacking(state), score / 3

    def score(self, state: State) -> float:
        """Return what a purchase is worth."""
        return self.shop.judge(self.goal, state.asin, dict(state.chosen)).score

    def reflection(self, prompt: str) -> str:
        """Return what is learnt from a purchase that was not right."""
        state, _ = self.read(prompt.partition("\n\nReflection:")[0])
        chosen = dict(state.chosen).values()
        left = [value for value in self.named if value not in chosen]
        why = self.lacking(state)
        if left and self.fits(state):
            why = f"I did not choose {', '.join(left)}."
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
