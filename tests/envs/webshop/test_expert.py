"""The expert: no way from anywhere is shorter than its plan."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.envs.webshop.shelf import GOAL, LAMP, MUGS, ODD, Shelf, product, shop
from textcraft_gym.envs.webshop.expert import Expert
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.rules import admissible_commands, navigate
from textcraft_gym.envs.webshop.state import START, Shop, State

CHEAP = product(
    "B0LAMP0002",
    "Tall Reading Lamp Small Red",
    attributes=("energy efficient",),
    options={"look": ("small red", "large red")},
    query="floor lamps",
    product_category=LAMP.product_category,
)
GOALS = {
    "two options": GOAL,
    "one option": replace(GOAL, options=("dark blue",)),
    "no option": replace(GOAL, options=()),
    "second page": Goal("number", MUGS[10], (), (), 20.0),
    "odd": Goal("mug", ODD, (), ("red", "grey"), float("inf")),
}


def earns_all(store: Shop, goal: Goal, state: State) -> bool:
    return state.page == "done" and store.judge(goal, state.asin, dict(state.chosen)).score == 1.0


def fewest(store: Shop, goal: Goal, state: State) -> int | None:
    """How many actions it takes at least, with whatever is admissible."""
    reached, steps = {state}, 0
    seen = {state}
    while reached and steps < 9:
        if any(earns_all(store, goal, customer) for customer in reached):
            return steps
        steps += 1
        next_states = {
            navigate(store, customer, action)[0]._replace(visited=frozenset())
            for customer in reached
            for action in admissible_commands(store, customer, goal.instruction)
        }
        reached = next_states - seen
        seen |= reached
    return None


def played(store: Shop, state: State, plan: list[str]) -> State:
    for action in plan:
        state, reason, _ = navigate(store, state, action)
        assert not reason
    return state


@pytest.mark.parametrize(
    ("mode", "products_per_page"), [("text", 3), ("text", 10), ("react", 3), ("adapt", 3)]
)
@pytest.mark.parametrize("name", GOALS)
def test_plan__is_as_short_as_any_from_wherever_the_customer_went(name, mode, products_per_page):
    shelf = Shelf({product.asin: product for product in (LAMP, ODD, CHEAP, *MUGS[-3:])})
    store, goal = Shop(shelf, mode=mode, products_per_page=products_per_page), GOALS[name]
    goal = goal if goal.product.asin in store.products else replace(goal, product=LAMP)
    draw = random.Random(name)
    expert, state = Expert(store, goal), START
    for _ in range(25):
        plan = expert.plan(state)
        assert plan is not None
        assert earns_all(store, goal, played(store, state, plan))
        assert len(plan) == fewest(store, goal, state)
        state = navigate(
            store, state, draw.choice(admissible_commands(store, state, goal.instruction))
        )[0]
        state = START if state.page == "done" else state


def test_plan__turns_pages_where_no_search_brings_the_product_to_the_first():
    twins = {
        f"B0MUG{number:05}": replace(MUGS[0], asin=f"B0MUG{number:05}") for number in range(30)
    }
    goal = Goal("a mug", twins["B0MUG00025"], (), (), 1.0)
    store = Shop(Shelf(twins), products_per_page=3)
    for twin in twins.values():
        assert len(Expert(store, replace(goal, product=twin)).plan() or []) == 3  # any twin will do
    dear = {asin: replace(twin, price=5.0) for asin, twin in twins.items() if asin != "B0MUG00025"}
    store = Shop(Shelf({**twins, **dear}), products_per_page=3)
    plan = ["search[a mug]", *["click[next >]"] * 8, "click[b0mug00025]", "click[buy now]"]
    assert Expert(store, goal).plan() == plan
    assert earns_all(store, goal, played(store, START, plan))


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        (replace(GOAL, price_upper=19.0), "too dear"),
        (replace(GOAL, attributes=("machine wash",)), "not so"),
        (replace(GOAL, options=("red", "gold")), "no such value"),
        (replace(GOAL, options=("red", "dark blue")), "both of one option"),
    ],
)
def test_plan__is_none_where_nothing_earns_all(goal, why):
    store = shop()
    assert Expert(store, goal).plan() is None, why
    assert fewest(store, goal, START) is None


def test_plan__does_without_values_that_cannot_be_clicked():
    goal = Goal("mug", ODD, (), ("a[b]",), float("inf"))
    assert Expert(shop(), goal).plan() is None
    goal = Goal("mug", ODD, (), ("reviews",), float("inf"))
    assert Expert(shop(), goal).plan() is None


def test_plan__names_the_very_value_where_others_would_do():
    shirt = product("B0SHIRT001", "Plain Shirt", options={"size": ("x-large", "large")})
    goal = Goal("a shirt", shirt, (), ("large",), 20.0)
    assert Expert(Shop(Shelf({shirt.asin: shirt})), goal).plan()[2] == "click[large]"


def test_plan__of_what_is_bought_is_none():
    store = shop()
    assert Expert(store, GOAL).plan(State("done", asin=LAMP.asin)) is None


def test_plan__keeps_what_is_chosen_and_buys_what_is_at_hand():
    store, expert = shop(), Expert(shop(), GOAL)
    at_lamp = played(
        store, START, ["search[lamp]", "click[b0lamp0001]", "click[dark blue]", "click[small]"]
    )
    assert expert.plan(at_lamp) == ["click[red]", "click[buy now]"]
    on_sub_page = played(store, at_lamp, ["click[red]", "click[features]"])
    assert expert.plan(on_sub_page) == ["click[< prev]", "click[buy now]"]


def test_plan__searches_for_what_the_customer_cannot_know_only_where_nothing_else_finds_it():
    hidden = replace(LAMP, title="Zyx Qwv")
    store, goal = Shop(Shelf({hidden.asin: hidden, ODD.asin: ODD})), replace(GOAL, product=hidden)
    for instruction, first in (
        ("a zyx for me", "search[a zyx for me]"),
        ("a thing", "search[Zyx Qwv]"),
    ):
        plan = Expert(store, replace(goal, instruction=instruction)).plan()
        assert plan is not None
        assert plan[0] == first
        assert (first in admissible_commands(store, START, instruction)) == (
            first != "search[Zyx Qwv]"
        )
