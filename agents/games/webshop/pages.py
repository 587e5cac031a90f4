"""Readers of WebShop's pages and instructions in ReAct's format, with one ``[Button]`` a line.

The skills of ADaPT and the naive buyer use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

ASIN = re.compile(r"\b(?:B[0-9A-Z]{9}|[0-9]{9}[0-9X])\b")
"""A product's number: an ASIN, or the ISBN of a book."""
BUY, BACK, SEARCH = "Buy Now", "< Prev", "Search"
ABOUT = ("description", "features", "reviews", "attributes")
INVALID = "Invalid action!"

_LISTED = re.compile(
    r"^\[(?P<asin>[^\]\n]{1,10})\] ?\n(?P<title>[^\n]*?) ?\n\$(?P<price>[0-9.]+)",
    re.MULTILINE,
)
_AMOUNT = re.compile(r"[0-9.]+")
_OPTION = re.compile(r"(?P<name>[^\[]+?) (?P<values>(?:\[[^\]]+\]+)+)")
_VALUE = re.compile(r"\[+([^\[\]]+)\]+")
_BOUND = re.compile(r",? and price lower than ([0-9.]+) dollars\W*$")
_CLICK = re.compile(r"click\[(.+)\]", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+(?:[.'-][a-z0-9]+)*")
_BREAK = re.compile(r"[,.;]|\b(?:and|that|which|with|in|for|make sure|size|color|style)\b")
_NUMERALS = "one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {numeral: number for number, numeral in enumerate(_NUMERALS.split(), 1)}
_IDLE_WORDS = (
    "a an the some any of on at to from for in with and that which by or as so if than then into "
    "out up there is are be been am was were will would can could should do does did have has had "
    "not no it its it's they them their this these those i i'd i'm i've me my we our you your he "
    "she please hello hi hey find show get help look looking search searching need want like love "
    "trying order interested prefer good nice also more very just pair set kind thing something one"
)
_IDLE = frozenset(_IDLE_WORDS.split())
"""Stop words: words of an instruction that do not describe the product."""


class Listing(NamedTuple):
    """A product on a page of results, with the lower end of its price."""

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
    return [
        Listing(match["asin"], match["title"], _number(match["price"]))
        for match in _LISTED.finditer(page)
    ]


def read_item(page: str) -> Item | None:
    """Return the product of a product's page; None for any other page."""
    head, price, rest = page.partition("\nPrice: $")
    amount = _AMOUNT.match(rest)
    if not price or not amount or f"[{BUY}]" not in rest:
        return None
    *lines, title = head.split("\n")
    options: dict[str, list[str]] = {}
    for line in lines:
        match = _OPTION.fullmatch(line.strip())
        if match:
            options[match["name"]] = _VALUE.findall(match["values"])
    return Item(title.strip(), _number(amount[0]), options)


def product_in_view(turns: Iterable[tuple[str, str]]) -> str:
    """Return the ASIN of the product in view after some actions and answers; empty for none."""
    asin, on_subpage = "", False
    # Replayed from the actions: a description does not name its product.
    for action, answer in turns:
        clicked = _CLICK.match(action)
        button = clicked[1].lower() if clicked else ""
        if answer.startswith(INVALID):
            continue
        if ASIN.fullmatch(button.upper()):
            asin, on_subpage = button.upper(), False
        elif button in ABOUT:
            on_subpage = True
        elif button == BACK.lower() and on_subpage:
            on_subpage = False  # back from a description to its product, not to the results
        elif action.startswith("search[") or button in (BACK.lower(), "back to search"):
            asin, on_subpage = "", False
    return asin


def has_search(page: str) -> bool:
    """Return whether a page takes a search; ``click[back to search]`` leads to one that does."""
    return f"\n[{SEARCH}]" in page


def query(words: str) -> str:
    """Return the search action for words, without brackets, which would end the action early."""
    return f"search[{' '.join(re.sub(r'[][]', ' ', words).split())}]"


def wanted(instruction: str) -> str:
    """Return an instruction without its bound on the price."""
    return _BOUND.sub("", instruction)


def bound(instruction: str) -> float:
    """Return the price limit of an instruction, in dollars; infinity without one."""
    match = _BOUND.search(instruction)
    return _number(match[1]) if match else float("inf")


def wishes(instruction: str) -> list[frozenset[str]]:
    """Return the requirements of an instruction but the price: each clause's content words."""
    clauses = (content(clause) for clause in _BREAK.split(wanted(instruction.lower())))
    return list(dict.fromkeys(clause for clause in clauses if clause))


def content(text: str) -> frozenset[str]:
    """Return the content words of a text, numerals as digits and plurals as singulars."""
    words: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if word in _IDLE:
            continue
        stem = word.removesuffix("'s")
        stem = str(_NUMBERS.get(stem, stem))
        if len(stem) > 3:  # a shorter one ends with s in the singular, too: "gas"
            stem = stem.removesuffix("s")
        words.add(stem)
    return frozenset(words)


def chosen(values: Sequence[str], instruction: str) -> str:
    """Return the longest option value whose words are all in an instruction; empty for none."""
    words = content(instruction)
    named = [value for value in values if content(value) and content(value) <= words]
    return max(named, key=len, default="")


def _number(text: str) -> float:
    try:
        return float(text.rstrip("."))
    except ValueError:
        return float("inf")
