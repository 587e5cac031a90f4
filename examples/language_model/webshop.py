"""Training examples of WebShop-lite, in the short prompts that the agents send.

The shops are generated ones for training alone, with other products than the shop that agents are
measured in, half of them shown as ADaPT's program shows them and half as ReAct's. The teacher knows
what an instruction means, and of the products what their pages say.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import dialogue
from dialogue import Branch, Example, completion, numbered, remembered
from shopper import Shopper, Wish, option_values
from teacher import COMPLETED

from textcraft_gym.agents.games.webshop.game_profile import PROFILE
from textcraft_gym.agents.games.webshop.pages import Listing, content, query, read_listings, wanted
from textcraft_gym.agents.games.webshop.skills import FOUND
from textcraft_gym.envs.webshop.actions import click
from textcraft_gym.envs.webshop.catalogue import Catalogue
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.rules import BUY, World, apply, read
from textcraft_gym.envs.webshop.state import START, Mode, Shop, State, Transition

TRAINING_SHOPS = range(1, 200)
"""Seeds of the shops for training; that of the registered environment is 0."""
LONGEST = 6500
"""Maximum number of characters of a dialogue with its situation: about 2,600 tokens."""
SHORTEST = 400
"""The number of characters that a dialogue needs at least."""
BEGINNINGS, QUESTIONS = 0.5, 0.1
"""Shares of the examples: beginnings alone, and questions of SimpleMatch and DetailMatch."""
TIGHT = 0.5
"""Share of the customers whose bound is close to the price: few products exceed other bounds."""


class Failure(NamedTuple):
    """A trial that failed.

    Attributes:
        transcript: The trial.
        learnt: Why it failed, and a new plan.
        words: The words to search for next.
        avoided: The product that is not bought again; empty for none.
    """

    transcript: str
    learnt: str
    words: str
    avoided: str = ""


class TrainingShop:
    """A shop, as both programs show it, and the goals of its customers.

    Args:
        seed: Seed of the shop.
    """

    def __init__(self, seed: int) -> None:
        catalogue = Catalogue.load(seed=seed)
        modes: tuple[Mode, ...] = ("adapt", "react")
        self.shops = [Shop(catalogue, mode=mode) for mode in modes]
        self.goals = list(catalogue.goals)


def tightened(goal: Goal) -> Goal:
    """Return a goal whose bound is the next ten dollars, beyond which more products are."""
    bound = 10.0 * math.floor(goal.product.price / 10 + 1)
    if not bound < goal.price_upper < math.inf:
        return goal
    instruction = goal.instruction.replace(f"{goal.price_upper:.2f}", f"{bound:.2f}")
    return replace(goal, instruction=instruction, price_upper=bound)


@lru_cache(maxsize=4)
def training_shop(seed: int) -> TrainingShop:
    """Return a shop for training."""
    return TrainingShop(seed)


class Situation(dialogue.Situation):
    """A customer in a shop.

    Args:
        shop: The shop.
        goal: The customer's goal.

    Attributes:
        wish: What the instruction asks for, in the words of listings.
        query: The search for all that the instruction names.
        results: The page of its results.
    """

    profile = PROFILE

    def __init__(self, shop: Shop, goal: Goal) -> None:
        self.world, self.wish = World(shop, goal), Wish.of(goal)
        super().__init__(read(self.world, Transition(START)))
        words = re.findall(r"[a-z0-9-]+", wanted(goal.instruction))
        self.words = " ".join(dict.fromkeys(filter(content, words)))
        search = query(f"{self.words} {self.wish.words}")
        self.query = search.removeprefix("search[").removesuffix("]")
        self.results = self.after(START, f"search[{self.query}]")

    @classmethod
    def drawn(cls, rng: random.Random) -> Iterator[Situation]:
        """Yield customers without end, most of those who may be tempted to buy a wrong product."""
        while True:
            shop = training_shop(rng.choice(TRAINING_SHOPS))
            for goal in rng.sample(shop.goals, 40):  # a shop takes a moment to build
                chosen = tightened(goal) if rng.random() < TIGHT else goal
                situation = cls(rng.choice(shop.shops), chosen)
                if rng.random() < situation.share:
                    yield situation

    def example(self, rng: random.Random) -> Example:
        """Return dialogues about the situation, its beginnings, or a question of the skills."""
        drawn = rng.random()
        if drawn < BEGINNINGS:
            plans = (self.first_plan(), self.full_plan())
            return Example(self.text, (self.beginning(rng), rng.choice(plans)))
        if drawn < BEGINNINGS + QUESTIONS:
            return self.question(rng)
        kinds = {
            self.goal: 12,
            self.opening: 3,
            self.buying: 2,
            self.plans: 2,
            self.another_trial: 3,
        }
        return self.filled(kinds, rng, shortest=SHORTEST, longest=LONGEST)

    # -- The executor

    def goal(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield an episode, up to a purchase or to results without a product that fits."""
        yield self.whole(rng, "goal", "react")

    def beginning(self, rng: random.Random) -> Branch:
        """Return an episode up to the search: many of them teach what instructions mean."""
        shopper = self.shopper(self.sentence, START, rng)
        shopper.think(self.wish.understood)
        shopper.turn(f"search[{self.query}]", None)
        return Branch("beginning", tuple(shopper.spans))

    def whole(
        self,
        rng: random.Random,
        kind: str,
        agent: str,
        *,
        information: str = "",
        avoided: Iterable[str] = (),
        words: str = "",
    ) -> Branch | None:
        """Return an episode."""
        shopper = self.shopper(self.sentence, START, rng, information, avoided=avoided)
        shopper.shop(f"search[{words or self.query}]")
        return self.short(shopper.branch(kind, agent))

    def opening(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield the step that opens a product, after a search for all of it or the goods alone."""
        yield self.open_step(rng.choice((self.query, self.query, self.wish.words)), rng)

    def open_step(self, words: str, rng: random.Random) -> Branch | None:
        """Return the step that opens a product, after a search."""
        return self.short(self.opened(words, rng).branch("open"))

    def opened(self, words: str, rng: random.Random) -> Shopper:
        """Return the teacher who has opened a product that fits, or has failed."""
        results = self.after(START, f"search[{words}]")
        shopper = self.shopper(self.open_text, results, rng, self.information(results))
        if read_listings(shopper.page) and shopper.find():
            shopper.end(COMPLETED)
        return shopper

    def buying(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield the step that buys a product from the results or from its page in view."""
        opened = self.opened(self.query, rng).state
        if opened.page == "item" and (self.match is None or rng.random() < 0.5):
            yield self.buy_in_view(opened, rng)
        else:
            yield self.buy_found(rng)

    def buy_in_view(self, state: State, rng: random.Random) -> Branch | None:
        """Return the purchase of the product in view."""
        shopper = self.shopper(self.buy_text, state, rng, self.information(state))
        shopper.buy_in_view()
        return self.short(shopper.branch("buy"))

    def buy_found(self, rng: random.Random) -> Branch | None:
        """Return the purchase of the product that SimpleMatch names."""
        if self.match is None:
            return None
        information = self.information(self.results, self.match.asin)
        shopper = self.shopper(self.buy_text, self.results, rng, information)
        shopper.buy_found(self.match)
        return self.short(shopper.branch("buy"))

    def short(self, branch: Branch | None) -> Branch | None:
        """Return a dialogue unless it is too long."""
        if branch and len(self.text) + len(branch.text) <= LONGEST:
            return branch
        return None

    # -- The planners

    @property
    def open_text(self) -> str:
        """The step that opens a product."""
        return f"open {self.wish}"

    @property
    def buy_text(self) -> str:
        """The step that buys it."""
        return f"Buy[{self.wish.options}]"

    @property
    def match_text(self) -> str:
        """The step that names a product."""
        return f"SimpleMatch[{self.wish}]"

    def detail_text(self, listing: Listing) -> str:
        """Return the step that reads the page of a product."""
        return f"DetailMatch[{listing.asin}, {self.wish}]"

    def plans(self, rng: random.Random) -> Iterator[Branch]:
        """Yield one or two plans: the first of ADaPT, those after a failure, and one in full."""
        made = [self.first_plan(), self.next_plan(), self.full_plan()]
        state = self.opened(self.wish.words, rng).state
        if state.page == "results":
            made.append(self.last_plan(state))
        yield from rng.sample(made, rng.choice((1, 2)))

    def first_plan(self) -> Branch:
        """Return ADaPT's first plan."""
        plan = f"# {self.wish.understood}\n{self.steps(self.match_text)}"
        return self.completion("plan", self.sentence, plan)

    def full_plan(self) -> Branch:
        """Return a plan in full."""
        plan = f"# {self.wish.understood}\n{self.steps(self.open_text)}"
        return self.completion("full plan", self.sentence, plan)

    def steps(self, choosing: str, words: str = "") -> str:
        """Return a plan: to search, to choose a product, and to buy it."""
        return numbered([f"Search[{words or self.query}]", choosing, self.buy_text])

    def next_plan(self) -> Branch:
        """Return the plan after a failed SimpleMatch: read pages that may fit, or search again."""
        details = [self.detail_text(listing) for listing in self.candidates]
        steps = [*details, f"Search[{self.wish.words}]", self.open_text]
        labels = [f"Step {number}" for number in range(1, len(steps) + 1)]
        order = " OR ".join([*labels[:-2], f"({labels[-2]} AND {labels[-1]})"])
        plan = f"{numbered(steps)}\nExecution Order: ({order})"
        information = f"{self.information(self.results)}\nWhat failed so far: {self.match_text}"
        return self.completion("plan", self.match_text, plan, information=information)

    def last_plan(self, state: State) -> Branch:
        """Return the plan after that failed too: search in the instruction's words."""
        failed = [self.match_text, *map(self.detail_text, self.candidates), self.open_text]
        information = f"{self.information(state)}\nWhat failed so far: {'; '.join(failed)}"
        steps = numbered([f"Search[{self.words}]", self.open_text])
        return self.completion("plan", self.open_text, steps, information=information)

    # -- Several trials

    def another_trial(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield the lesson of a failed trial, and the trial after it; one may have come before."""
        trials = [self.failure(rng) for _ in range(rng.choice((1, 1, 2)))]
        failures = [*filter(None, trials)]
        if not failures:
            return
        *earlier, learnt = [failure.learnt for failure in failures]
        reflection = self.short(self.reflection_of(failures[-1].transcript, learnt, earlier))
        trial = self.whole(
            rng,
            "next trial",
            "reflexion",
            information=remembered([*earlier, learnt]),
            avoided=[failure.avoided for failure in failures],
            words=failures[-1].words,
        )
        yield from rng.sample((reflection, trial), 2)  # rarely is there room for both

    def failure(self, rng: random.Random) -> Failure | None:
        """Return a trial that found nothing, or a bad purchase; None if neither is possible."""
        failure = self.found_nothing(rng) if rng.random() < 0.7 else None
        return failure or self.bad_purchase(rng)

    def found_nothing(self, rng: random.Random) -> Failure | None:
        """Return a trial that found nothing, after which the search is for what is wanted alone."""
        shopper = self.shopper(self.sentence, START, rng, slips=False)
        shopper.shop(f"search[{self.query}]")
        if shopper.won:
            return None
        words = self.wish.words
        return Failure(shopper.transcript, self.lesson("I found nothing that fits.", words), words)

    def bad_purchase(self, rng: random.Random) -> Failure | None:
        """Return a purchase without the wanted options, or of another product, to be avoided."""
        right = [listing for listing in self.listings if self.is_right(listing)]
        others = [listing for listing in self.listings if listing not in right]
        values = option_values(self.world.goal)
        if right and values and rng.random() < 0.6:
            listing, avoided = right[0], ""
            reason = f"did not choose {', '.join(values)}"
        elif others:
            listing = rng.choice(others)
            avoided, reason = listing.asin, self.reason(listing)
        else:
            return None
        learnt = self.lesson(f"I bought {listing.asin}: {reason}.", self.query)
        return Failure(self.purchase(listing, rng), learnt, self.query, avoided)

    def reason(self, listing: Listing) -> str:
        """Return why it was wrong to buy a product."""
        objection = self.wish.objection(listing)
        if objection:
            return objection
        unsaid = self.wish.unsaid(listing.title)
        return f"did not check {', '.join(unsaid)}" if unsaid else "not right"

    def lesson(self, reason: str, words: str) -> str:
        """Return what is learnt from a trial: why it failed, and a new plan."""
        return f"{reason} New plan:\n{self.steps(self.open_text, words)}"

    def purchase(self, listing: Listing, rng: random.Random) -> str:
        """Return the transcript of a purchase in which no value is chosen."""
        shopper = self.shopper(self.sentence, START, rng)
        shopper.think(self.wish.understood)
        shopper.play(f"search[{self.query}]")
        shopper.think(self.wish.verdict(listing))
        for target in (listing.asin, BUY):
            shopper.play(click(target))
        return shopper.transcript

    # -- The skills

    def question(self, rng: random.Random) -> Example:
        """Return a question of SimpleMatch or DetailMatch; its prompts begin with instructions."""
        if not self.listings or rng.random() < 0.5:
            return self.simple_question()
        return self.detail_question(rng.choice(self.candidates or self.listings))

    def simple_question(self) -> Example:
        """Return SimpleMatch's question: a title shows all that is wanted, or none does."""
        page = self.page(self.results)
        prompt = self.template("simple_match").fill(
            situation=self.text, task=self.match_text, information=page
        )
        answer = []
        for listing in self.listings:
            answer.append(self.wish.verdict(listing))
            if listing == self.match:
                break
        answer.append(self.match.asin if self.match else "none")
        return _question(prompt, "simple match", "\n".join(answer))

    def detail_question(self, listing: Listing) -> Example:
        """Return DetailMatch's question about a product."""
        item, page, _, _ = apply(self.world, self.results, click(listing.asin))
        _, features, _, _ = apply(self.world, item, click("features"))
        pages = f"{page}\nFeatures:\n{features}"
        task = self.detail_text(listing)
        prompt = self.template("detail_match").fill(
            situation=self.text, task=task, information=pages
        )
        return _question(prompt, "detail match", self.detail_answer(listing, pages))

    def detail_answer(self, listing: Listing, pages: str) -> str:
        """Return what a product's pages say of each thing wanted, up to the first it lacks."""
        objection = self.wish.objection(listing)
        if objection:
            return f"{objection}. So: No"
        lacking = {*self.wish.unsaid(pages)}
        lacking |= {*self.wish.lacking(listing.title, self.world.shop.options(listing.asin))}
        answers = []
        for name in (*self.wish.attributes, *self.wish.values):
            if name in lacking:
                answers.append(f"{name} no")
                return f"{', '.join(answers)}. So: No"
            answers.append(f"{name} yes")
        return f"{', '.join(answers)}. So: Yes"

    # -- What is known

    @property
    def listings(self) -> list[Listing]:
        """The products on the first page of results."""
        return read_listings(self.page(self.results))

    @property
    def candidates(self) -> list[Listing]:
        """Those of them that nothing on the page speaks against."""
        return [listing for listing in self.listings if not self.wish.objection(listing)]

    @property
    def match(self) -> Listing | None:
        """The first of them whose title shows all that is wanted; None if there is none."""
        for listing in self.candidates:
            if not self.wish.unsaid(listing.title):
                return listing
        return None

    @property
    def share(self) -> float:
        """The share of such customers that is taught: the rarer the more."""
        if self.is_tempting:
            return 1.0
        return 0.5 if self.is_easy else 0.7

    @property
    def is_tempting(self) -> bool:
        """Whether nothing looks right on the page of results, or what does first is wrong."""
        return not self.candidates or not self.is_right(self.candidates[0])

    @property
    def is_easy(self) -> bool:
        """Whether the first result is right, and its title shows it."""
        return self.match is not None and self.match == self.listings[0] and not self.is_tempting

    def is_right(self, listing: Listing) -> bool:
        """Return whether a product, with the values that are wanted, is worth the whole reward."""
        option_of = self.world.shop.options(listing.asin)
        chosen: dict[str, str] = {}
        for value in self.wish.values:
            if value in option_of:
                chosen[option_of[value]] = value
        return self.world.shop.judge(self.world.goal, listing.asin, chosen).score == 1.0

    def after(self, state: State, action: str) -> State:
        """Return the state after an action."""
        return apply(self.world, state, action)[0]

    def page(self, state: State) -> str:
        """Return the page of a state as agents keep it."""
        return read(self.world, Transition(state)).strip()

    def information(self, state: State, asin: str = "") -> str:
        """Return what a step reads of those before it: the chosen product, and the page in view."""
        page = f"The page in view:\n{self.page(state)}"
        asin = asin or state.asin
        return f"{FOUND}{asin}\n{page}" if asin else page

    def shopper(
        self,
        task: str,
        state: State,
        rng: random.Random,
        information: str = "",
        *,
        avoided: Iterable[str] = (),
        slips: bool = True,
    ) -> Shopper:
        """Return the teacher at the beginning of a task."""
        prompt = self.prompt(task, information)
        return Shopper(self.world, state, prompt, self.wish, avoided=avoided, slips=slips, rng=rng)


def _question(prompt: str, kind: str, answer: str) -> Example:
    """Return a question that no other dialogue shares the situation of."""
    head, mark, rest = prompt.partition("\n\nYour task is to: ")
    return Example(head, (completion(kind, mark + rest, answer),))


examples = Situation.examples
