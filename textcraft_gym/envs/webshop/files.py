"""The files of the original's data, read as streams of any length, and nothing taken for granted about them.

A folder has ``items_shuffle*.json`` (products), ``items_ins_v2*.json`` (their attributes, and sentences to make goals
of) and ``items_human_ins.json`` (goals in people's words). What the original passes over is passed over: a product
whose ASIN is ``nan``, is longer than ten characters or was there before, and a goal without attributes.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import ijson

from textcraft_gym.envs.webshop.goals import Wish, price_upper
from textcraft_gym.envs.webshop.product import NO_PRICE, Product
from textcraft_gym.errors import TextCraftGymError

GoalKind: TypeAlias = Literal["human", "synthetic"]
Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many bytes are read, and of how many."""

MAX_ASIN = 10

_PRODUCTS = "items_shuffle"
_ATTRIBUTES = "items_ins_v2"
_HUMAN = "items_human_ins.json"


class ShopDataError(TextCraftGymError, ValueError):
    """Data that cannot be read; the message says where. There is no half-loaded catalogue.

    Args:
        file: The file or folder.
        problem: What is wrong.
        entry: The entry of the file, by its number from 0 or by ASIN.
        key: The key in the entry.
    """

    def __init__(self, file: Path, problem: str, entry: object = None, key: str | None = None) -> None:
        at = "" if entry is None else f", entry {entry}"
        of = "" if key is None else f", key {key!r}"
        super().__init__(f"{file}{at}{of}: {problem}")


@dataclass(frozen=True, slots=True)
class ShopFiles:
    """The files of one data set.

    Attributes:
        products: What is sold.
        attributes: What is known of it.
        human: What people want; None where goals are synthetic.
    """

    products: Path
    attributes: Path
    human: Path | None

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file."""
        return (self.products, self.attributes, *([self.human] if self.human else ()))


def find_files(data: str | Path, goals: GoalKind) -> ShopFiles:
    """Return the files in a folder, or those that belong to one of its files of products.

    Raises:
        ShopDataError: If one is missing, or there are several to choose from.
    """
    path = Path(data).expanduser()
    if path.is_dir():
        found = sorted(path.glob(f"{_PRODUCTS}*.json"))
        if len(found) != 1:
            several = f"several ({', '.join(one.name for one in found)}): name one" if found else "there is none"
            raise ShopDataError(path, f"expected one file {_PRODUCTS}*.json, but {several}")
        path = found[0]
    elif not path.is_file():
        raise ShopDataError(path, "no such file or folder")
    human = path.parent / _HUMAN
    if goals == "human" and not human.is_file():
        raise ShopDataError(path.parent, f"no file {_HUMAN}; without it there are goals='synthetic' only")
    return ShopFiles(path, _attributes_file(path), human if goals == "human" else None)


def _attributes_file(products: Path) -> Path:
    """Return the file of the same size, ``items_ins_v2_1000.json`` for ``items_shuffle_1000.json``, or the only one."""
    same = products.with_name(products.name.replace(_PRODUCTS, _ATTRIBUTES))
    found = [same] if same != products and same.is_file() else sorted(products.parent.glob(f"{_ATTRIBUTES}*.json"))
    if len(found) != 1:
        raise ShopDataError(products.parent, f"expected {same.name} or one file {_ATTRIBUTES}*.json")
    return found[0]


def read_shop(files: ShopFiles, seed: int, progress: Progress) -> Iterator[tuple[Product, list[Wish]]]:
    """Yield each product with what is wanted of it.

    Args:
        files: Where it is read.
        seed: What the prices of ranges and the bounds on prices are drawn from.
        progress: Is told how far the file of products is read.

    Raises:
        ShopDataError: With file, entry and key, at the first thing that cannot be read.
    """
    known = dict(_entries_by_asin(files.attributes))
    told = dict(_entries_by_asin(files.human)) if files.human else None
    seen: set[str] = set()
    for number, values in enumerate(_entries(files.products, progress)):
        entry = _Entry(files.products, number, values)
        asin = entry.text("asin")
        if not asin:
            raise entry.error("asin", "is empty")
        if asin == "nan" or len(asin) > MAX_ASIN or asin.lower() in seen:
            continue
        seen.add(asin.lower())
        facts = _Entry(files.attributes, asin, json.loads(known.pop(asin, b"{}")))
        product = _product(entry, asin, facts.texts("attributes"), seed)
        if told is None:
            yield product, list(_synthetic_wishes(facts, product, seed))
        else:
            yield product, list(_human_wishes(files.human, product, json.loads(told.pop(asin, b"[]")), seed))
    if not seen:
        raise ShopDataError(files.products, "has no products; it should be a list of them")


# Entries


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a file, which says where it is when something is wrong with it."""

    file: Path | None
    place: object
    values: Any

    def error(self, key: str, problem: str) -> ShopDataError:
        return ShopDataError(self.file or Path(), problem, self.place, key)

    def get(self, key: str) -> Any:
        if not isinstance(self.values, dict):
            raise ShopDataError(self.file or Path(), f"expected an object, got {_shown(self.values)}", self.place)
        return self.values.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        found = self.get(key)
        if found is None and default is None:
            raise self.error(key, "is null" if key in self.values else "is missing")
        found = default if found is None else found
        if not isinstance(found, str):
            raise self.error(key, f"expected a text, got {_shown(found)}")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        found = self.get(key)
        if found is None:
            return ()
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise self.error(key, f"expected a list of texts, got {_shown(found)}")
        return tuple(found)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


def _product(entry: _Entry, asin: str, attributes: tuple[str, ...], seed: int) -> Product:
    prices = _prices(entry)
    draw = random.Random(f"price {seed} {asin}")
    return Product(
        asin=asin,
        title=entry.text("name"),
        description=entry.text("full_description", ""),
        bullets=_bullets(entry),
        prices=prices,
        price=prices[0] if len(prices) == 1 else prices[0] + (prices[1] - prices[0]) * draw.random(),
        options=_options(entry),
        attributes=attributes,
        category=entry.text("category"),
        query=entry.text("query").lower().strip(),
        product_category=entry.text("product_category"),
    )


def _bullets(entry: _Entry) -> tuple[str, ...]:
    found = entry.get("small_description")
    return (found,) if isinstance(found, str) else entry.texts("small_description")


def _prices(entry: _Entry) -> tuple[float, ...]:
    text = entry.text("pricing", "")
    if not text:
        return (NO_PRICE,)
    try:
        prices = tuple(float(re.sub(r"[^\d.]", "", price)) for price in text.split("$")[1:3])
    except ValueError:
        prices = ()
    if not prices:
        raise entry.error("pricing", f"expected a price in dollars, got {_shown(text)}")
    return prices


def _options(entry: _Entry) -> dict[str, tuple[str, ...]]:
    found = entry.get("customization_options") or {}
    if not isinstance(found, dict):
        raise entry.error("customization_options", f"expected an object, got {_shown(found)}")
    return {name.lower(): _values(entry, name, values) for name, values in found.items() if values is not None}


def _values(entry: _Entry, name: str, values: Any) -> tuple[str, ...]:
    key = f"customization_options.{name}"
    if not isinstance(values, list):
        raise entry.error(key, f"expected a list, got {_shown(values)}")
    for one in values:
        if not isinstance(one, dict) or not isinstance(one.get("value"), str):
            raise entry.error(key, f"expected objects with a text as value, got {_shown(one)}")
    return tuple(one["value"].strip().replace("/", " | ").lower() for one in values)


# What is wanted


def _human_wishes(file: Path | None, product: Product, told: Any, seed: int) -> Iterator[Wish]:
    if not isinstance(told, list):
        raise ShopDataError(file or Path(), f"expected a list, got {_shown(told)}", product.asin)
    for number, values in enumerate(told):
        entry = _Entry(file, f"{product.asin}[{number}]", values)
        attributes = entry.texts("instruction_attributes")
        if attributes:
            text = entry.text("instruction").strip(".")
            draw = random.Random(f"bound {seed} {product.asin} {number}")
            bound = price_upper(product.price, draw)
            yield Wish(text, attributes, entry.texts("instruction_options"), bound)


def _synthetic_wishes(entry: _Entry, product: Product, seed: int) -> Iterator[Wish]:
    text = entry.text("instruction", "")
    attributes = entry.texts("instruction_attributes")
    if text and attributes:
        draw = random.Random(f"bound {seed} {product.asin}")
        yield Wish(text, attributes, None, price_upper(product.price, draw))


# Streams


def _entries(file: Path, progress: Progress) -> Iterator[Any]:
    size = file.stat().st_size
    with file.open("rb") as stream:
        for entry in _parsed(file, ijson.items(stream, "item", use_float=True)):
            progress(stream.tell(), size)
            yield entry
        progress(size, size)


def _entries_by_asin(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield entries as bytes, which take a fifth of the memory."""
    with file.open("rb") as stream:
        _expect_object(file, stream)
        for asin, entry in _parsed(file, ijson.kvitems(stream, "", use_float=True)):
            yield asin, json.dumps(entry).encode()


def _expect_object(file: Path, stream: IO[bytes]) -> None:
    start = stream.read(64).lstrip()[:1]
    stream.seek(0)
    if start != b"{":
        raise ShopDataError(file, "expected an object with ASINs as keys")


def _parsed(file: Path, parser: Iterator[Any]) -> Iterator[Any]:
    """Yield entries; where it is no JSON is told by the number of entries before."""
    number = 0
    try:
        for entry in parser:
            yield entry
            number += 1
    except (ijson.JSONError, UnicodeError) as error:
        raise ShopDataError(file, f"not JSON, or cut off: {error}", number) from error


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """Show a bar while something is read, if there is a terminal to show it on."""
    if not sys.stderr.isatty():
        yield lambda read, size: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title)
        yield lambda read, size: bar.update(task, completed=read, total=size)
