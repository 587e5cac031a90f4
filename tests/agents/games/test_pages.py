"""Pages of a shop, and instructions, are read by their text; the naive buyer buys what comes
first."""

from __future__ import annotations

import math
from pathlib import Path

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym import RunSpec, evaluate, run_episode
from textcraft_gym.agents.baselines.naive_buyer import NaiveBuyerAgent
from textcraft_gym.agents.contract.agent import Step
from textcraft_gym.agents.games.webshop import pages
from textcraft_gym.agents.games.webshop.pages import (
    Item,
    Listing,
    bound,
    chosen,
    content,
    product_in_view,
    query,
    read_item,
    read_listings,
    wanted,
    wishes,
)

RESULTS = """
[Back to Search] 
Page 1 (Total results: 50) 
[< Prev] 
[Next >] 
[B0000000R1] 
Mug [Blue] of 3 
$9.5 
[0123456789] 
A Book 
$100.0 to $120.5 """  # noqa: W291
ITEM = """
[Back to Search] 
[< Prev] 
color [red][[dark blue]][tea | coffee]
fit type [men's]
Mug [Blue] with Price: $3 Lid 
Price: $9.5 to $12.0 
Rating: N.A. 
[Description] 
[Features] 
[Reviews] 
[Buy Now] """  # noqa: W291
SUB_PAGE = "\n[Back to Search] \n[< Prev] \nIt costs $9.5. "
PAGES = (
    RESULTS,
    ITEM,
    SUB_PAGE,
    "Invalid action!",
    "You have clicked red.",
    "",
    "\nWebShop \nInstruction:  \nx \n",
)


def test_read_listings__reads_results_and_nothing_else():
    assert read_listings(RESULTS) == [
        Listing("B0000000R1", "Mug [Blue] of 3", 9.5),
        Listing("0123456789", "A Book", 100.0),
    ]
    assert [page for page in PAGES if read_listings(page)] == [RESULTS]


def test_read_item__reads_a_product_and_nothing_else():
    options = {"color": ["red", "dark blue", "tea | coffee"], "fit type": ["men's"]}
    assert read_item(ITEM) == Item("Mug [Blue] with Price: $3 Lid", 9.5, options)
    assert [page for page in PAGES if read_item(page)] == [ITEM]


@pytest.mark.parametrize(
    "page", ["Price: $1 \n[Buy Now]", "\nPrice: $\n[Buy Now]", "[Buy Now]\nPrice: $3"]
)
def test_read_item__takes_half_a_page_for_none(page: str):
    assert read_item(page) is None


def test_read_item__reads_a_product_without_options_and_title():
    assert read_item("\nPrice: $1. \n[Buy Now]") == Item("", 1.0, {})
    assert read_item("\n[Back to Search]\n[< Prev]\nLid [red]\nPrice: $1 \n[Buy Now]") == Item(
        "Lid [red]", 1.0, {}
    )


@given(
    st.lists(
        st.sampled_from([*PAGES, "\nPrice: $", "[Buy Now]", "[", "]", "$", "."]) | st.text()
    ).map("".join)
)
def test_page__is_read_whatever_it_says(page: str):
    read_listings(page)
    read_item(page)
    assert product_in_view([(page, page)]) in ("", *pages.ASIN.findall(page.upper()))


def test_made_shop__is_read_as_it_is():
    env = gym.make("WebShopLite-v0", admissible=True)
    market = env.get_wrapper_attr("market")
    for task in env.get_wrapper_attr("tasks")[:40]:
        _, info = env.reset(options={"task": task.id})
        page, *_, info = env.step(info["admissible_commands"][-1])
        products = [market.products[listing.asin] for listing in read_listings(page)]
        assert [(listing.title, listing.price) for listing in read_listings(page)] == [
            (p.title, p.prices[0]) for p in products
        ]
        assert [f"click[{product.asin.lower()}]" for product in products] == info[
            "admissible_commands"
        ][-3:]
        item = read_item(env.step(f"click[{products[0].asin.lower()}]")[0])
        options = {name: list(values) for name, values in products[0].options.items()}
        assert item == Item(products[0].title, products[0].prices[0], options)
        assert bound(task.goal.instruction) == task.goal.price_upper


@pytest.mark.parametrize(
    ("actions", "asin"),
    [
        ([], ""),
        (["search[mug]"], ""),
        (["click[description]", "click[< prev]"], ""),
        (["search[mug]", "click[b0000000r1]"], "B0000000R1"),
        (["click[B0000000R1]", "click[red]", "click[features]"], "B0000000R1"),
        (["click[b0000000r1]", "click[features]", "click[< prev]"], "B0000000R1"),
        (["click[b0000000r1]", "click[features]", "click[< prev]", "click[< Prev]"], ""),
        (["click[b0000000r1]", "click[reviews]", "click[back to search]", "click[< prev]"], ""),
        (
            [
                "click[b0000000r1]",
                "click[reviews]",
                "search[mug]",
                "click[0123456789]",
                "click[< prev]",
            ],
            "",
        ),
        (["click[b0000000r1]", "fly", "think: click[0123456789]"], "B0000000R1"),
    ],
    ids=str,
)
def test_product_in_view__table(actions: list[str], asin: str):
    assert product_in_view([(action, ITEM) for action in actions]) == asin


def test_product_in_view__is_not_what_could_not_be_clicked():
    turns = [
        ("click[b0000000r1]", ITEM),
        ("click[b0000000r2]", "Invalid action!"),
        ("click[< prev]", RESULTS),
    ]
    assert [product_in_view(turns[:count]) for count in range(4)] == [
        "",
        "B0000000R1",
        "B0000000R1",
        "",
    ]


SHOES = (
    "i'm looking for a pair of shoes for hiking that are machine washable, in dark blue, size eight"
)


@pytest.mark.parametrize(
    ("instruction", "most"),
    [
        (f"{SHOES}, and price lower than 40.00 dollars", 40.0),
        (f"{SHOES} and price lower than 40.00 dollars.", 40.0),
        (SHOES, math.inf),
        ("a price lower than 3 dollars would be nice", math.inf),
        ("x, and price lower than 1.2.3 dollars", math.inf),
    ],
)
def test_bound__is_what_the_end_says(instruction: str, most: float):
    assert bound(instruction) == most


def test_wanted__is_all_but_the_bound():
    assert wanted(f"{SHOES}, and price lower than 40.00 dollars") == SHOES


def test_wishes__are_the_clauses_without_the_bound():
    words = [{"shoe"}, {"hiking"}, {"machine", "washable"}, {"dark", "blue"}, {"8"}]
    assert wishes(f"{SHOES}, and price lower than 40.00 dollars") == words
    assert wishes("please, for me") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I want a pair of Shoes", {"shoe"}),
        ("size eight, men's 10.5 non-slip gas", {"size", "8", "men", "10.5", "non-slip", "gas"}),
        ("caf\u00e9!", {"caf"}),
        ("", set()),
    ],
)
def test_content__table(text: str, words: set[str]):
    assert content(text) == words


@pytest.mark.parametrize(
    ("values", "value"),
    [
        (["blue", "dark blue", "red"], "dark blue"),
        (["7", "8", "9"], "8"),
        (["8 wide", "red"], ""),
        (["the", "!"], ""),
        ([], ""),
    ],
)
def test_chosen__is_the_longest_that_is_named(values: list[str], value: str):
    assert chosen(values, SHOES) == value


def test_query__has_no_brackets():
    assert query(" a [b] c\n") == "search[a b c]"


@pytest.mark.parametrize("mode", ["react", "text", "text_rich"])
def test_naive_buyer__buys_the_first_result_in_every_format(mode: str):
    env = gym.make("WebShopLite-v0", split="adapt_dev", mode=mode)
    market = env.get_wrapper_attr("market")
    earned = []
    for task in env.get_wrapper_attr("tasks"):
        episode = run_episode(env, NaiveBuyerAgent(), task=task.id, seed=0)
        first = market.search(task.goal.instruction)[0]
        assert episode.steps == 3
        assert episode.reward == market.judge(task.goal, first, {}).score
        earned.append(episode.reward)
    assert 0 < sum(reward == 1 for reward in earned) < len(earned) / 2


@pytest.mark.parametrize("mode", ["react", "adapt"])
def test_naive_buyer__earns_what_the_pages_of_the_docs_say(mode: str, tmp_path: Path):
    spec = RunSpec("WebShopLite-v0", "adapt_test", "naive_buyer", env_args={"mode": mode})
    records = list(evaluate(spec, tmp_path / "run"))
    score = 100 * sum(record["reward"] for record in records) / len(records)
    won = sum(bool(record["won"]) for record in records)
    assert (len(records), f"{score:.1f}", won) == (100, "56.2", 25)
    docs = Path(__file__).parents[3] / "docs"
    assert "| Naive | 58.3 / 24 | 56.2 / 25.0 |" in (docs / "worlds" / "webshop.md").read_text()
    assert "56.2 and wins 25%" in (docs / "agents" / "baselines.md").read_text()


def test_naive_buyer__searches_for_an_instruction_with_brackets():
    first = Step(
        "\nWebShop \nInstruction:  \na [red] B0000000R9 \n[Search] ", 0.0, False, False, {}
    )
    played = NaiveBuyerAgent().episode(
        type("Played", (), {"first": first, "act": lambda self, text: (yield text)})()
    )
    assert next(played) == "search[a red B0000000R9]"
    results = RESULTS.replace("[< Prev]", "a [red] B0000000R9")
    assert played.send(first._replace(observation=results)) == "click[b0000000r1]"


def test_naive_buyer__plays_nothing_where_it_reads_no_instruction():
    episode = run_episode(
        gym.make("TextCraft-v0"), NaiveBuyerAgent(), task="minecraft:beehive", seed=0
    )
    assert (episode.won, episode.claimed_success, episode.steps) == (False, None, 0)
