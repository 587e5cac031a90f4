"""What the made shop draws from: types of goods, what they can be, what can be chosen, what sellers and customers say.

The words stand in ``data/*.txt``, all of them our own; each file says at its top how it is written.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

LEVEL = " \u203a "
"""What stands between the levels of a product category."""


class Bullet(NamedTuple):
    """A feature as a seller lists it: a heading and a sentence."""

    head: str
    body: str


class Attribute(NamedTuple):
    """Something that a product can be.

    Attributes:
        name: What goals call it, ``machine wash``.
        titles: What titles call it.
        bullets: Features in which its words stand.
        adjective: What customers put before the noun; empty where nothing fits there.
        sentences: What customers say of the product, without the subject: ``is machine washable``.
    """

    name: str
    titles: tuple[str, ...]
    bullets: tuple[Bullet, ...]
    adjective: str
    sentences: tuple[str, ...]


class Choice(NamedTuple):
    """What one option can be.

    Attributes:
        values: All values, in lower case.
        in_order: Whether a product has neighbours of this list, as sizes are, and not any of it.
        asks: How customers ask for a value, ``in size {}``.
    """

    values: tuple[str, ...]
    in_order: bool
    asks: tuple[str, ...]


class Ask(NamedTuple):
    """How customers name a ware: what stands before the adjectives, ``a pair of``, and the noun."""

    article: str
    noun: str


class Ware(NamedTuple):
    """A type of goods.

    Attributes:
        query: The words under which it is found.
        category: Its department.
        product_category: Its place in the tree of categories.
        prices: The least and the greatest usual price, in dollars.
        names: What titles call it.
        asks: What customers call it.
        item: What its texts call it.
        kinds: What titles put before the name.
        features: What it comes with.
        uses: What it is for.
        gloss: What sellers add to be found.
        attributes: Groups of which a product is at most one each.
        options: The name of each option and of its choice.
        bullets: Features that fit every product of the type.
    """

    query: str
    category: str
    product_category: str
    prices: tuple[float, float]
    names: tuple[str, ...]
    asks: tuple[Ask, ...]
    item: str
    kinds: tuple[str, ...]
    features: tuple[str, ...]
    uses: tuple[str, ...]
    gloss: tuple[str, ...]
    attributes: tuple[tuple[str, ...], ...]
    options: tuple[tuple[str, str], ...]
    bullets: tuple[Bullet, ...]


@lru_cache(maxsize=1)
def wares() -> tuple[Ware, ...]:
    """Return every type of goods."""
    return tuple(map(_ware, _blocks("wares")))


@lru_cache(maxsize=1)
def attributes() -> dict[str, Attribute]:
    """Return by its name all that products can be."""
    return {block[0]: _attribute(block) for block in _blocks("attributes")}


@lru_cache(maxsize=1)
def choices() -> dict[str, Choice]:
    """Return by its name what each option draws from."""
    return {
        name.removesuffix(" (in order)"): Choice(_list(values), name.endswith("(in order)"), _list(asks[0][2:]))
        for name, values, asks in _lists()
        if asks
    }


@lru_cache(maxsize=1)
def sellers() -> dict[str, tuple[str, ...]]:
    """Return the invented sellers of each department."""
    return {name.removesuffix(" sellers"): _list(values) for name, values, asks in _lists() if not asks}


@lru_cache(maxsize=1)
def phrases() -> dict[str, tuple[str, ...]]:
    """Return what sellers and customers say, by the occasion."""
    return {block[0]: tuple(block[1:]) for block in _blocks("phrases")}


def read_bullet(line: str) -> Bullet:
    """Return the heading and the sentence of a line."""
    head, _, body = line.partition(": ")
    return Bullet(head, body)


def _ware(block: list[str]) -> Ware:
    query, *lines = block
    row = dict(line.split(": ", 1) for line in lines if not line.startswith("- "))
    least, greatest = row["price"].split()
    asks = [ask.split("| ") for ask in _list(row["asks"])]
    return Ware(
        query=query,
        category=row["category"],
        product_category=row["path"].replace(" > ", LEVEL),
        prices=(float(least), float(greatest)),
        names=_list(row["names"]),
        asks=tuple(Ask(article.strip(), noun) for article, noun in asks),
        item=row["item"],
        kinds=_list(row["kinds"]),
        features=_list(row["features"]),
        uses=_list(row["uses"]),
        gloss=_list(row["gloss"]),
        attributes=tuple(tuple(group.split("/")) for group in _list(row["attributes"])),
        options=tuple((name, choice) for name, choice in (pair.split("=") for pair in row["options"].split(", "))),
        bullets=tuple(read_bullet(line[2:]) for line in lines if line.startswith("- ")),
    )


def _attribute(block: list[str]) -> Attribute:
    name, titles, *bullets, said = block
    adjective, *sentences = _list(said.removeprefix("= "))
    return Attribute(
        name,
        tuple(titles.split(" / ")),
        tuple(map(read_bullet, bullets)),
        "" if adjective == "-" else adjective,
        tuple(sentences),
    )


def _lists() -> list[tuple[str, str, list[str]]]:
    """Return the blocks of ``values.txt``: a name, the values, and how they are asked for where they are options."""
    return [(*block[0].split(": ", 1), block[1:]) for block in _blocks("values")]  # type: ignore[misc]


def _blocks(name: str) -> list[list[str]]:
    """Return the lines of each block of a file; blank lines stand between blocks, comments on their own."""
    text = (files("textcraft_gym.envs.webshop") / "data" / f"{name}.txt").read_text(encoding="utf-8")
    blocks = (block.splitlines() for block in text.split("\n\n"))
    return [lines for lines in ([line for line in block if line[:2] != "# "] for block in blocks) if lines]


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split("; "))
