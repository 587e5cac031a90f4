"""A shop as a customer reads it: pages of results, pages of products, and what an instruction asks for.

Both the skills of ADaPT and the simulated model read it so, in the format of ReAct (``[Button]`` and a line each).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

ASIN = re.compile(r"\b(?:B[0-9A-Z]{9}|[0-9]{9}[0-9X])\b")
"""A product's number: Amazon's own, or that of a book."""
BUY, BACK = "Buy Now", "< Prev"

_LISTED = re.compile(r"^\[(?P<asin>[^\]\n]{1,10})\] ?\n(?P<title>[^\n]*?) ?\n\$(?P<price>[0-9.]+)", re.MULTILINE)
_PRICE = re.compile(r"^Price: \$([0-9.]+)", re.MULTILINE)
_OPTION = re.compile(r"^(?P<name>[^\[\n]+?) (?P<values>(?:\[[^\]\n]+\]+)+) ?$", re.MULTILINE)
_BOUND = re.compile(r",? and price lower than ([0-9.]+) dollars\W*$")
_CLICK = re.compile(r"click\[(.+)\]", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+(?:[.'-][a-z0-9]+)*")
_BREAK = re.compile(r"[,.;]|\b(?:and|that|which|with|in|for|make sure|size|color|style)\b")
_NUMBERS = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        range(1, 13),
        strict=True,
    )
)
_IDLE = frozenset(
    [
        "a",
        "an",
        "the",
        "some",
        "any",
        "of",
        "on",
        "at",
        "to",
        "from",
        "for",
        "in",
        "with",
        "and",
        "that",
        "which",
        "by",
        "or",
        "is",
        "are",
        "be",
        "been",
        "am",
        "was",
        "were",
        "will",
        "would",
        "can",
        "could",
        "should",
        "do",
        "does",
        "did",
        "not",
        "no",
        "it",
        "its",
        "they",
        "them",
        "their",
        "this",
        "that",
        "these",
        "those",
        "i",
        "me",
        "my",
        "we",
        "our",
        "you",
        "your",
        "he",
        "she",
        "please",
        "hello",
        "hi",
        "hey",
        "find",
        "show",
        "get",
        "help",
        "looking",
        "look",
        "search",
        "searching",
        "need",
        "want",
        "like",
        "love",
        "trying",
        "order",
        "interested",
        "prefer",
        "would'd",
        "i'd",
        "i'm",
        "i've",
        "it's",
        "there",
        "good",
        "nice",
        "also",
        "more",
        "very",
        "just",
        "pair",
        "set",
        "kind",
        "thing",
        "something",
        "one",
        "have",
        "has",
        "had",
        "as",
        "so",
        "if",
        "than",
        "then",
        "into",
        "out",
        "up",
    ]
)


class Listing(NamedTuple):
    """A product on a page of results; of a range of prices the lower end."""

    asin: str
    title: str
    price: float


class Item(NamedTuple):
    """A product's page: its title, the lower end of its price, and the values of its options."""

    title: str
    price: float
    options: dict[str, list[str]]


def read_listings(page: str) -> list[Listing]:
    """Return the products on a page of results, in order; none on any other page."""
    return [Listing(found["asin"], found["title"], _number(found["price"])) for found in _LISTED.finditer(page)]


def read_item(page: str) -> Item | None:
    """Return what a product's page says; None for any other page."""
    price = _PRICE.search(page)
    if not price or f"[{BUY}]" not in page:
        return None
    title = page[: price.start()].rstrip().rpartition("\n")[2].strip()
    head = page[: price.start()].rpartition(title)[0]
    options = {found["name"]: re.findall(r"\[+([^\[\]]+)\]+", found["values"]) for found in _OPTION.finditer(head)}
    return Item(title, _number(price[1]), options)


def product_in_view(actions: Iterable[str]) -> str:
    """Return the number of the product that one looks at after some actions; empty where it is none."""
    asin = ""
    for action in actions:
        clicked = _CLICK.match(action)
        said = clicked[1].lower() if clicked else ""
        if ASIN.fullmatch(said.upper()):
            asin, inside = said.upper(), False
        elif said in ("description", "features", "reviews", "attributes"):
            inside = True
        elif said == BACK.lower() and asin and inside:
            inside = False
        elif action.startswith("search[") or said in (BACK.lower(), "back to search"):
            asin = ""
    return asin


def bound(instruction: str) -> float:
    """Return the most that an instruction allows to pay, in dollars; infinite where it does not say."""
    found = _BOUND.search(instruction)
    return _number(found[1]) if found else float("inf")


def wishes(instruction: str) -> list[frozenset[str]]:
    """Return what an instruction asks for besides the price: the words of each of its clauses."""
    clauses = (content(clause) for clause in _BREAK.split(_BOUND.sub("", instruction.lower())))
    return list(dict.fromkeys(clause for clause in clauses if clause))


def content(text: str) -> frozenset[str]:
    """Return the words of a text that say something, numbers as figures, plurals as singulars."""
    words = (str(_NUMBERS.get(word, word)) for word in _WORD.findall(text.lower()) if word not in _IDLE)
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)


def chosen(values: Sequence[str], instruction: str) -> str:
    """Return the value of an option that an instruction names, the longest of them; empty where it names none."""
    said = content(instruction)
    named = [value for value in values if content(value) and content(value) <= said]
    return max(named, key=len, default="")


def _number(text: str) -> float:
    try:
        return float(text.rstrip("."))
    except ValueError:
        return float("inf")
