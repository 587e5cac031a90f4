"""The vocabulary of generated shops: product templates, attributes, option values and phrases.

The words are in ``data/*.txt``, all written for this package; each file describes its format at the
top.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

LEVEL = " \u203a "
"""Separator between the levels of a product category."""


class Bullet(NamedTuple):
    """A feature in a listing: a heading and a sentence."""

    head: str
    body: str


class Attribute(NamedTuple):
    """A property of products.

    Attributes:
        name: Its name in goals, ``machine wash``.
        titles: Its names in titles.
        bullets: Features whose sentences contain the words of the name.
        adjective: The form that customers put before the noun; empty if there is none.
        sentences: Customers' sentences about the product, without the subject:
            ``is machine washable``.
    """

    name: str
    titles: tuple[str, ...]
    bullets: tuple[Bullet, ...]
    adjective: str
    sentences: tuple[str, ...]


class Choice(NamedTuple):
    """The values of an option.

    Attributes:
        values: All values, in lower case.
        in_order: Whether the values are ordered, as sizes are; a product then has neighbouring
            ones.
        asks: Phrases with which customers ask for a value, ``in size {}``.
    """

    values: tuple[str, ...]
    in_order: bool
    asks: tuple[str, ...]


class NounPhrase(NamedTuple):
    """A customer's name for a product.

    Attributes:
        article: The words before the adjectives, ``a pair of``.
        noun: The noun.
    """

    article: str
    noun: str


class ProductTemplate(NamedTuple):
    """A type of goods, of which products are made.

    Attributes:
        query: The search that finds such products.
        category: Its department.
        product_category: Its path in the tree of categories.
        prices: Lowest and highest usual price, in dollars.
        names: Its names in titles.
        noun_phrases: Its names in instructions.
        item: Its name in descriptions.
        kinds: Phrases that titles put before the name.
        features: Phrases after "with".
        uses: Phrases after "for".
        gloss: Further search words of titles.
        attributes: Groups of attributes; a product has at most one of each group.
        options: The name of each option and of its choice.
        bullets: Features that fit every product of the type.
    """

    query: str
    category: str
    product_category: str
    prices: tuple[float, float]
    names: tuple[str, ...]
    noun_phrases: tuple[NounPhrase, ...]
    item: str
    kinds: tuple[str, ...]
    features: tuple[str, ...]
    uses: tuple[str, ...]
    gloss: tuple[str, ...]
    attributes: tuple[tuple[str, ...], ...]
    options: tuple[tuple[str, str], ...]
    bullets: tuple[Bullet, ...]


@lru_cache(maxsize=1)
def product_templates() -> tuple[ProductTemplate, ...]:
    """Return all product templates."""
    return tuple(map(_parse_template, blocks("product_templates")))


@lru_cache(maxsize=1)
def attributes() -> dict[str, Attribute]:
    """Return all attributes by name."""
    return {block[0]: _parse_attribute(block) for block in blocks("attributes")}


@lru_cache(maxsize=1)
def choices() -> dict[str, Choice]:
    """Return the values of options by name."""
    return dict(map(_parse_choice, blocks("values")))


@lru_cache(maxsize=1)
def phrases() -> dict[str, tuple[str, ...]]:
    """Return the phrases of sellers and customers by occasion."""
    return {block[0]: tuple(block[1:]) for block in blocks("phrases")}


def parse_bullet(line: str) -> Bullet:
    """Parse ``heading: sentence``."""
    head, _, body = line.partition(": ")
    return Bullet(head, body)


def _parse_template(block: list[str]) -> ProductTemplate:
    query, *lines = block
    fields = dict(line.split(": ", 1) for line in lines if not line.startswith("- "))
    low, high = fields["price"].split()
    return ProductTemplate(
        query=query,
        category=fields["category"],
        product_category=fields["path"].replace(" > ", LEVEL),
        prices=(float(low), float(high)),
        names=_list(fields["names"]),
        noun_phrases=tuple(map(_parse_noun_phrase, _list(fields["asks"]))),
        item=fields["item"],
        kinds=_list(fields["kinds"]),
        features=_list(fields["features"]),
        uses=_list(fields["uses"]),
        gloss=_list(fields["gloss"]),
        attributes=tuple(tuple(group.split("/")) for group in _list(fields["attributes"])),
        options=tuple(map(_parse_option, fields["options"].split(", "))),
        bullets=tuple(parse_bullet(line[2:]) for line in lines if line.startswith("- ")),
    )


def _parse_noun_phrase(phrase: str) -> NounPhrase:
    article, noun = phrase.split("| ")
    return NounPhrase(article.strip(), noun)


def _parse_option(pair: str) -> tuple[str, str]:
    name, choice = pair.split("=")
    return name, choice


def _parse_attribute(block: list[str]) -> Attribute:
    name, titles, *bullets, forms = block
    adjective, *sentences = _list(forms.removeprefix("= "))
    if adjective == "-":
        adjective = ""
    return Attribute(
        name=name,
        titles=tuple(titles.split(" / ")),
        bullets=tuple(map(parse_bullet, bullets)),
        adjective=adjective,
        sentences=tuple(sentences),
    )


def _parse_choice(block: list[str]) -> tuple[str, Choice]:
    """Return the name of an option and its choice."""
    first, asks = block
    name, _, values = first.partition(": ")
    in_order = name.endswith(" (in order)")
    choice = Choice(_list(values), in_order, _list(asks.removeprefix("= ")))
    return name.removesuffix(" (in order)"), choice


def blocks(name: str) -> list[list[str]]:
    """Return the lines of each block of a file, without comments; blank lines separate blocks."""
    file = files("textcraft_gym.envs.webshop") / "data" / f"{name}.txt"
    blocks: list[list[str]] = []
    for block in file.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("# ")]
        if lines:
            blocks.append(lines)
    return blocks


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split("; "))
