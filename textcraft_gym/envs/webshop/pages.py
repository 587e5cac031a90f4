"""The content of each page as nodes, in the order of the original; ``text`` formats them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from textcraft_gym.envs.webshop.product import Product
from textcraft_gym.envs.webshop.state import Shop, State

Node: TypeAlias = "tuple[str, str]"
"""A kind of node and its text."""

HEADER = "header"
TEXT = "text"
BUTTON = "button"
PRODUCT = "product"
VISITED = "visited"
OPTION = "option"
CHOSEN = "chosen"

SCORE = "Your score (min 0.0, max 1.0)"

_SPACES = " \t\n\f\r"
# The published data has no reviews, and so no rating.
_NO_RATING = "Rating: N.A."
_NOTHING = "None"
# The original embeds JSON in HTML with Jinja's filter tojson, which escapes these.
_UNSAFE_IN_HTML = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&'"})


def page(
    shop: Shop,
    instruction: str,
    state: State,
    score: float = 0.0,
) -> list[Node]:
    """Return the nodes of a page.

    Args:
        shop: The shop.
        instruction: The instruction, which every page but the last shows.
        state: The state of the customer, which determines the page.
        score: The reward, for the last page.
    """
    if state.page == "done":
        nodes = _done(state, score)
    elif state.page == "index":
        nodes = [
            (TEXT, "WebShop"),
            (TEXT, "Instruction: "),
            (TEXT, instruction),
            (BUTTON, "Search"),
        ]
    else:
        nodes = [(HEADER, "Instruction:"), (HEADER, instruction), (BUTTON, "Back to Search")]
        if state.page == "results":
            nodes += _results(shop, state)
        elif state.page == "item":
            nodes += _item(shop, state)
        else:
            nodes += [(BUTTON, "< Prev"), *_sub_page(shop.products[state.asin], state.sub_page)]
    return list(_without_blanks(nodes))


def _results(shop: Shop, state: State) -> Iterator[Node]:
    yield TEXT, f"Page {state.number} (Total results: {len(state.results)})"
    if state.number > 1:
        yield BUTTON, "< Prev"
    yield BUTTON, "Next >"
    for place, asin in enumerate(shop.shown(state)):
        yield VISITED if asin in state.visited else PRODUCT, asin
        if place < shop.products_per_page:
            product = shop.products[asin]
            yield TEXT, product.title
            yield TEXT, product.price_tag


def _item(shop: Shop, state: State) -> Iterator[Node]:
    product = shop.products[state.asin]
    chosen = {value for _, value in state.chosen}
    yield BUTTON, "< Prev"
    for name, values in product.options.items():
        yield TEXT, name
        for value in values:
            yield CHOSEN if value in chosen else OPTION, value
    yield TEXT, product.title
    yield TEXT, f"Price: {product.price_tag}"
    yield TEXT, _NO_RATING
    for name in shop.sub_pages:
        yield BUTTON, name.capitalize()
    yield BUTTON, "Buy Now"


def _sub_page(product: Product, sub_page: str) -> Iterator[Node]:
    """Yield the nodes of a page about a product."""
    # That of reviews is empty, since the published data has none.
    if sub_page == "description":
        yield TEXT, product.description
    elif sub_page == "features":
        for bullet in product.bullets:
            yield TEXT, f" {bullet}"
    elif sub_page == "attributes":
        for attribute in product.attributes:
            yield TEXT, f" {attribute}"
        yield TEXT, product.category
        yield TEXT, product.query
        yield TEXT, product.product_category


def _done(state: State, score: float) -> list[Node]:
    """Return the nodes of the last page, with the goal's fields left empty as in the original."""
    chosen = json.dumps(dict(state.chosen)).translate(_UNSAFE_IN_HTML)
    thanks = (
        "Thank you for shopping with us!",
        "Your code: ",
        _NOTHING,
        " (Paste it in your MTurk interface.)",
    )
    bought = (
        "Purchased",
        "asin",
        state.asin,
        "options",
        chosen,
        "attrs",
        _NOTHING,
        "category",
        _NOTHING,
    )
    kind = ("query", _NOTHING, "product category", _NOTHING)
    target = (
        "Target",
        "asin",
        "options",
        "attrs",
        "price upper",
        # Misspelt in the original.
        "instuction text",
        "category",
        "product category",
    )
    goal = ("query", "Goal ", _NOTHING)
    reward = ("Reward", SCORE, str(score), "Reward Details ", _NOTHING)
    return [(TEXT, text) for text in (*thanks, *bought, *kind, *target, *goal, *reward)]


def _without_blanks(nodes: Iterable[Node]) -> Iterator[Node]:
    """Shorten a node of blanks to one space; drop it if it is empty or has a new line."""
    for node in nodes:
        kind, words = node
        if words.strip(_SPACES):
            yield node
        elif words and "\n" not in words:
            yield kind, " "
