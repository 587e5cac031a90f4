"""Every clause of the rules of searching and clicking."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.envs.webshop.shelf import INSTRUCTION, LAMP, MUGS, ODD, shop
from textcraft_gym.envs.webshop import rules
from textcraft_gym.envs.webshop.actions import click, parse
from textcraft_gym.envs.webshop.pages import page
from textcraft_gym.envs.webshop.rules import admissible_commands, clickables, navigate
from textcraft_gym.envs.webshop.state import START, Shop, State
from textcraft_gym.envs.webshop.text import MODES

SHOP = shop()
TO_LAMP = ("search[lamp]", "click[b0lamp0001]")
TO_ODD = ("search[mug]", "click[b0odd00002]")


def walk(*actions: str, begin: State = START, store: Shop = SHOP) -> State:
    """Play actions all of which do something."""
    state = begin
    for action in actions:
        state, reason, _ = navigate(store, state, action)
        assert not reason, f"{action}: {reason}"
    return state


def test_search__shows_the_first_page_of_what_is_found():
    state = walk("search[Lamp MUG]")
    assert (state.page, state.number, state.asin, state.chosen) == ("results", 1, "", ())
    assert state.results == (LAMP.asin, ODD.asin, *(mug.asin for mug in MUGS))
    assert SHOP.listed(state) == state.results[:10]


@pytest.mark.parametrize(
    "way",
    [
        (),
        ("search[mug]",),
        ("search[mug]", "click[next >]"),
        TO_LAMP,
        (*TO_LAMP, "click[red]"),
        (*TO_LAMP, "click[features]"),
    ],
)
def test_search__works_on_every_page_and_clears_product_and_options(way):
    state = walk(*way)
    page = walk("search[lamp]", begin=state)
    assert page == State("results", (LAMP.asin,), visited=state.visited)


def test_search__finds_fifty_at_most():
    class Many:
        products = dict.fromkeys((f"B{number:09}" for number in range(80)), LAMP)

        def search(self, query: str) -> list[str]:
            return list(self.products)

    assert walk("search[x]", store=Shop(Many())).results == tuple(
        f"B{number:09}" for number in range(50)
    )


def test_search__that_finds_nothing_is_an_empty_page():
    state = walk("search[ ]")
    assert (state.page, SHOP.listed(state)) == ("results", ())


def test_next__has_no_end():
    state = walk("search[mug]", "click[next >]")
    assert SHOP.listed(state) == tuple(mug.asin for mug in MUGS[9:])
    state = walk("click[Next >]", "click[next >]", begin=state)
    assert (state.number, SHOP.listed(state)) == (4, ())
    assert clickables(SHOP, state) == ("back to search", "< prev", "next >")


def test_previous__of_results_is_the_page_before():
    assert walk("search[mug]", "click[next >]", "click[next >]", "click[< prev]").number == 2
    assert navigate(SHOP, walk("search[mug]"), "click[< prev]").reason == "not_on_page"


def test_previous__of_an_item_is_its_page_of_results_and_loses_the_options():
    on_page_2 = walk("search[mug]", "click[next >]")
    state = walk("click[b0mug00010]", "click[< Prev]", begin=on_page_2)
    assert state == on_page_2._replace(visited=frozenset({"B0MUG00010"}))
    assert walk(*TO_LAMP, "click[red]", "click[< prev]", "click[b0lamp0001]") == walk(*TO_LAMP)


@pytest.mark.parametrize("sub_page", ["description", "features", "reviews", "attributes"])
def test_previous__of_a_sub_page_is_the_item_with_its_options(sub_page):
    store = shop(show_attrs=True)
    item = walk(*TO_LAMP, "click[red]", "click[small]", store=store)
    state = walk(f"click[{sub_page.title()}]", begin=item, store=store)
    assert (state.page, state.sub_page, state.chosen) == ("sub", sub_page, item.chosen)
    assert walk("click[< prev]", begin=state, store=store) == item


def test_attributes__can_be_clicked_only_where_they_are_shown():
    assert navigate(SHOP, walk(*TO_LAMP), "click[attributes]").reason == "not_on_page"


def test_option__is_set_and_set_again():
    assert walk(*TO_LAMP, "click[small]", "click[Red]").chosen == (
        ("color", "red"),
        ("size", "small"),
    )
    state, reason, chosen = navigate(SHOP, walk(*TO_LAMP, "click[red]"), "click[Dark Blue]")
    assert (state.chosen, reason, chosen) == ((("color", "dark blue"),), "", "dark blue")


def test_option__clicked_in_another_order_is_the_same_state():
    assert walk(*TO_LAMP, "click[small]", "click[red]") == walk(
        *TO_LAMP, "click[red]", "click[small]"
    )


def test_option__value_of_two_options_belongs_to_the_last():
    assert walk(*TO_ODD, "click[red]", "click[grey]").chosen == (("color", "red"), ("trim", "grey"))


def test_option__value_that_reads_like_a_button_is_the_button():
    assert walk(*TO_ODD, "click[reviews]").page == "sub"
    assert clickables(SHOP, walk(*TO_ODD)).count("reviews") == 1


def test_option__called_search_or_with_an_opening_bracket_cannot_be_clicked():
    state = walk(*TO_ODD)
    for value, reason in (("search", "not_on_page"), ("a[b]", "unknown_action")):
        assert value in clickables(SHOP, state)
        assert navigate(SHOP, state, click(value)) == (state, reason, "")
        assert click(value) not in admissible_commands(SHOP, state, INSTRUCTION)


def test_visited__grows_with_every_product_and_survives_all_but_back_to_search():
    seen = frozenset({LAMP.asin, ODD.asin})
    state = walk(*TO_LAMP, "click[< prev]", *TO_ODD, "click[features]", "click[< prev]")
    assert state.visited == seen
    assert walk("search[lamp]", "click[next >]", begin=state).visited == seen
    assert walk("click[back to search]", begin=state) == START


@pytest.mark.parametrize(
    "way", [("search[mug]",), TO_LAMP, (*TO_LAMP, "click[red]", "click[reviews]")]
)
def test_back_to_search__forgets_everything(way):
    assert walk(*way, "click[Back to Search]") == START


def test_buy__ends():
    state = walk(*TO_LAMP, "click[red]", "click[Buy Now]")
    assert (state.page, state.asin, state.chosen) == ("done", LAMP.asin, (("color", "red"),))
    assert clickables(SHOP, state) == ()
    assert admissible_commands(SHOP, state, INSTRUCTION) == []
    for action in ("search[lamp]", "click[back to search]", "click[search]", "click[buy now]", "x"):
        assert navigate(SHOP, state, action).state == state
        assert navigate(SHOP, state, action).reason in rules.REASONS


def test_clickables__stand_in_the_order_of_the_original():
    assert clickables(SHOP, START) == ("search",)
    assert clickables(SHOP, walk("search[lamp]")) == ("back to search", "next >", "b0lamp0001")
    assert clickables(SHOP, walk("search[lamp]", "click[next >]")) == (
        "back to search",
        "< prev",
        "next >",
    )
    buttons = ("back to search", "< prev", "description", "features", "reviews", "buy now")
    values = ("red", "dark blue", "<b>'&'</b>", "small", "large")
    assert clickables(SHOP, walk(*TO_LAMP)) == buttons + values
    assert clickables(SHOP, walk(*TO_ODD)) == (
        *buttons,
        "red",
        "grey",
        "a[b]",
        "search",
        "tea | coffee",
    )
    assert clickables(SHOP, walk(*TO_LAMP, "click[features]")) == ("back to search", "< prev")
    store = shop(show_attrs=True)
    assert clickables(store, walk(*TO_LAMP, store=store)) == (
        *buttons[:5],
        "attributes",
        "buy now",
        *values,
    )


def test_admissible_commands__are_the_clicks_and_the_searches_of_the_instruction():
    assert admissible_commands(
        SHOP, START, "i need a red lamp, small, and price lower than 9.00 dollars"
    ) == [
        "search[i need a red lamp, small, and price lower than 9.00 dollars]",
        "search[i need a red lamp]",
        "search[small]",
        "search[red]",
        "search[lamp]",
        "search[red lamp]",
        "search[lamp small]",
    ]
    on_sub_page = walk(*TO_LAMP, "click[features]")
    expected = [
        "click[back to search]",
        "click[< prev]",
        "search[a b  c ]",
    ]  # no word of it tells anything
    assert admissible_commands(SHOP, on_sub_page, "a\nb [c]") == expected


@pytest.mark.parametrize(
    ("way", "action", "reason"),
    [
        ((), "click[search]", "nothing_typed"),
        ((), "click[back to search]", "not_on_page"),
        ((), "click[b0lamp0001]", "not_on_page"),
        ((), "buy now", "unknown_action"),
        ((), "Search[lamp]", "unknown_action"),
        ((), "think[hm]", "unknown_action"),
        ((), "search[]", "unknown_action"),
        (("search[lamp]",), "click[search]", "not_on_page"),
        (("search[lamp]",), "click[buy now]", "not_on_page"),
        (("search[lamp]",), "click[b0odd00002]", "not_on_page"),
        (("search[lamp]",), "click[ b0lamp0001]", "not_on_page"),
        (("search[mug]",), "click[b0mug00011]", "not_on_page"),
        (TO_LAMP, "click[next >]", "not_on_page"),
        (TO_LAMP, "click[b0lamp0001]", "not_on_page"),
        (TO_LAMP, "click[colour]", "not_on_page"),
        (TO_LAMP, "click[color]", "not_on_page"),
        (TO_LAMP, "click[grey]", "not_on_page"),
        (TO_LAMP, "buy[now]", "unknown_action"),
        ((*TO_LAMP, "click[features]"), "click[buy now]", "not_on_page"),
        ((*TO_LAMP, "click[features]"), "click[red]", "not_on_page"),
        ((*TO_LAMP, "click[features]"), "click[reviews]", "not_on_page"),
    ],
)
def test_invalid_action__leaves_everything_as_it_is_and_says_why(way, action, reason):
    state = walk(*way)
    assert navigate(SHOP, state, action) == (state, reason, "")
    assert reason in rules.REASONS


def test_query__that_was_special_in_the_original_is_a_search_like_any_other():
    for query in ("<r>", "<a> lamp", "<c>", "<q> lamp", "search_results", "#1 lamp"):
        page = walk(f"search[{query}]")
        assert page.results == SHOP.search(query)
        on_page_2 = walk("click[next >]", "click[< prev]", begin=page)
        assert on_page_2 == page


@pytest.mark.parametrize(
    ("mode", "most"), [("text", 50), ("text_rich", 50), ("react", 10), ("adapt", 10)]
)
def test_products_per_page__out_of_bounds_are_refused(mode, most):
    for number in (1, most):
        assert shop(mode=mode, products_per_page=number).products_per_page == number
    for number in (0, most + 1, 3.0, True):
        with pytest.raises(ValueError, match=rf"expected products_per_page in 1\.\.{most}"):
            shop(mode=mode, products_per_page=number)


@pytest.mark.parametrize("mode", ["react", "adapt"])
def test_program__searches_from_the_index_page_only(mode):
    store = shop(mode=mode)
    for way in (["search[mug]"], TO_LAMP, (*TO_LAMP, "click[features]")):
        state = walk(*way, store=store)
        assert navigate(store, state, "search[lamp]") == (state, "not_on_page", "")
        assert admissible_commands(store, state, INSTRUCTION)[-1].startswith("click[")
        assert walk("click[back to search]", "search[lamp]", begin=state, store=store).results == (
            LAMP.asin,
        )


def test_program_of_react__opens_products_of_the_page_that_it_hides():
    store = shop(mode="react")
    state = walk("search[number]", store=store)
    assert clickables(store, state)[2:] == ("b0mug00001", "b0mug00002", "b0mug00003")
    assert walk("click[b0mug00010]", begin=state, store=store).asin == "B0MUG00010"
    assert navigate(store, state, "click[b0mug00011]").reason == "not_on_page"
    assert len(clickables(shop(mode="adapt"), state)[2:]) == 10


class Customer(RuleBasedStateMachine):
    """Clicks and searches at random."""

    @initialize(
        mode=st.sampled_from([*MODES]),
        show_attrs=st.booleans(),
        products_per_page=st.sampled_from([1, 3, 10]),
    )
    def enter(self, mode, show_attrs, products_per_page):
        self.shop = shop(mode=mode, show_attrs=show_attrs, products_per_page=products_per_page)
        self.state, self.seen, self.said = START, {START: self.pages(START)}, set()

    def pages(self, state: State) -> list[str]:
        nodes = page(self.shop, INSTRUCTION, state)
        return [mode(nodes) for mode in MODES.values()]

    def play(self, action: str) -> None:
        before = self.state
        self.state, reason, chosen = navigate(self.shop, before, action)
        name, what = parse(action)
        if before.page == "done" or reason:
            assert self.state == before
        if not reason:
            if name == "search":
                assert self.state.visited == before.visited
            if chosen:
                assert (before.page, self.state.page) == ("item", "item")
                assert chosen in dict(self.state.chosen).values()
            if {before.page, self.state.page} == {"item", "sub"}:
                assert self.state.chosen == before.chosen
            if self.state.page in ("index", "results"):
                assert (self.state.asin, self.state.chosen) == ("", ())
            if what == "back to search":
                assert self.state == START
            elif before.page == "results" and self.state.page == "item":
                assert self.state.visited == before.visited | {self.state.asin}
            else:
                assert self.state.visited == before.visited
        self.said |= {action}
        assert self.seen.setdefault(self.state, self.pages(self.state)) == self.pages(self.state)

    @rule(words=st.sampled_from(["lamp", "mug", "Mug LAMP", "nothing", "<r>", "4"]))
    def search(self, words):
        self.play(f"search[{words}]")

    @rule(data=st.data())
    def click(self, data):
        commands = admissible_commands(self.shop, self.state, INSTRUCTION)
        if commands:
            before, action = self.state, data.draw(st.sampled_from(commands))
            self.play(action)
            assert not navigate(self.shop, before, action).reason

    @rule(
        action=st.sampled_from(
            ["click[red]", "click[grey]", "click[buy now]", "click[attributes]", "", "jump", "]["]
        )
    )
    def try_something(self, action):
        self.play(action)

    @invariant()
    def clickables__are_the_valid_clicks(self):
        valid = set(clickables(self.shop, self.state)) - {"search", "a[b]"}
        for what in (
            {parse(action)[1] for action in self.said}
            | valid
            | {"search", "a[b]", "reviews", "next >"}
        ):
            hidden = {
                asin.lower()
                for asin in self.shop.listed(self.state)
                if self.state.page == "results"
            } - valid
            assert (not navigate(self.shop, self.state, click(what)).reason) == (
                what in valid | hidden
            )


Customer.TestCase.settings = settings(max_examples=60, stateful_step_count=25)
TestCustomer = Customer.TestCase
