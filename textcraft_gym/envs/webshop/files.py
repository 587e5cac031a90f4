"""Reads the data files of the original as streams, and checks them.

A folder has ``items_shuffle*.json`` (products), ``items_ins_v2*.json`` (their attributes, and
template sentences of synthetic goals) and ``items_human_ins.json`` (goals written by people). As in
the original, products whose ASIN is ``nan``, longer than ten characters or a duplicate are skipped,
and so are goals without attributes.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from textcraft_gym.envs.webshop.goals import Wish, price_upper
from textcraft_gym.envs.webshop.product import NO_PRICE, Product
from textcraft_gym.errors import DataError
from textcraft_gym.storage.json_stream import JSONStreamError, read_items, read_members
from textcraft_gym.storage.progress import Progress

T = TypeVar("T")
GoalKind: TypeAlias = Literal["human", "synthetic"]

MAX_ASIN = 10

_PRODUCTS = "items_shuffle"
_ATTRIBUTES = "items_ins_v2"
_HUMAN = "items_human_ins.json"


class ShopDataError(DataError):
    """Invalid data of a shop; no catalogue is loaded in part."""


@dataclass(frozen=True, slots=True)
class ShopFiles:
    """The files of one data set.

    Attributes:
        products: The products.
        attributes: Their attributes.
        human: The goals written by people; None if goals are synthetic.
    """

    products: Path
    attributes: Path
    human: Path | None

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file."""
        if self.human is None:
            return (self.products, self.attributes)
        return (self.products, self.attributes, self.human)


def find_files(data: str | Path, goals: GoalKind) -> ShopFiles:
    """Return the files in a folder, or those that belong to a file of products.

    Raises:
        ShopDataError: If one is missing or ambiguous.
    """
    path = Path(data).expanduser()
    if path.is_dir():
        candidates = sorted(path.glob(f"{_PRODUCTS}*.json"))
        if len(candidates) != 1:
            names = ", ".join(file.name for file in candidates) or "none"
            raise ShopDataError.at(path, f"expected one file {_PRODUCTS}*.json, got {names}")
        path = candidates[0]
    elif not path.is_file():
        raise ShopDataError.at(path, "no such file or folder")
    human = path.parent / _HUMAN
    if goals == "human" and not human.is_file():
        raise ShopDataError.at(path.parent, f"no file {_HUMAN}: without it, use goals='synthetic'")
    return ShopFiles(path, _attributes_file(path), human if goals == "human" else None)


def _attributes_file(products: Path) -> Path:
    """Return the file of attributes of the same name, or else the only one.

    That is ``items_ins_v2_1000.json`` for ``items_shuffle_1000.json``.
    """
    same = products.with_name(products.name.replace(_PRODUCTS, _ATTRIBUTES))
    if same != products and same.is_file():
        return same
    candidates = sorted(products.parent.glob(f"{_ATTRIBUTES}*.json"))
    if len(candidates) != 1:
        wanted = f"one file {_ATTRIBUTES}*.json"
        if same != products:
            wanted = f"{same.name} or {wanted}"
        raise ShopDataError.at(products, f"expected {wanted} beside it, got {len(candidates)}")
    return candidates[0]


def read_shop(
    files: ShopFiles,
    seed: int,
    progress: Progress,
    num_products: int | None = None,
) -> Iterator[tuple[Product, list[Wish]]]:
    """Yield each product with the wishes for it.

    Args:
        files: The files.
        seed: Seed of the prices of ranges and the bounds on prices.
        progress: Called with the bytes read of all files, and their size.
        num_products: Number of entries to read of the file of products, those that are skipped
            included; None for all.

    Raises:
        ShopDataError: At the first invalid entry.
    """
    sizes = {file: file.stat().st_size for file in files.all}
    read_before = 0

    def on_read(read: int) -> None:
        progress(read_before + read, sum(sizes.values()))

    attributes = _entries_by_asin(files.attributes, on_read)
    read_before += sizes[files.attributes]
    human = None
    if files.human:
        human = _entries_by_asin(files.human, on_read)
        read_before += sizes[files.human]
    seen: set[str] = set()
    entries = islice(_located(files.products, read_items(files.products, on_read)), num_products)
    for index, values in enumerate(entries):
        entry = _Entry(files.products, index, values)
        asin = entry.text("asin")
        if not asin:
            raise entry.error("asin", "is empty")
        # As in the original, which skips such entries.
        if asin == "nan" or len(asin) > MAX_ASIN or asin.lower() in seen:
            continue
        seen.add(asin.lower())
        # Popped, so that the memory shrinks as the products are read.
        facts = _Entry(files.attributes, asin, json.loads(attributes.pop(asin, b"{}")))
        product = _product(entry, asin, facts.texts("attributes"), seed)
        if human is None:
            wishes = _synthetic_wishes(facts, product, seed)
        else:
            written = json.loads(human.pop(asin, b"[]"))
            wishes = _human_wishes(files.human, product, written, seed)
        yield product, list(wishes)
    if not seen:
        raise ShopDataError.at(files.products, "expected a list of products, got none")
    on_read(sizes[files.products])  # also if only some entries were read


# Entries


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a file, with its position for error messages."""

    file: Path | None
    position: object
    values: Any

    def error(self, key: str, problem: str) -> ShopDataError:
        return ShopDataError.at(self.file or Path(), problem, self.position, key)

    def get(self, key: str) -> Any:
        if not isinstance(self.values, dict):
            raise ShopDataError.at(
                self.file or Path(),
                f"expected an object, got {_abbreviated(self.values)}",
                self.position,
            )
        return self.values.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.get(key)
        if value is None and default is None:
            raise self.error(key, "is null" if key in self.values else "is missing")
        value = default if value is None else value
        if not isinstance(value, str):
            raise self.error(key, f"expected a text, got {_abbreviated(value)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.get(key)
        if values is None:
            return ()
        if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
            raise self.error(key, f"expected a list of texts, got {_abbreviated(values)}")
        return tuple(values)


def _abbreviated(value: object) -> str:
    text = repr(value)
    if len(text) > 60:
        return f"{text[:60]}..."
    return text


def _product(
    entry: _Entry,
    asin: str,
    attributes: tuple[str, ...],
    seed: int,
) -> Product:
    prices = _prices(entry)
    price = prices[0]
    if len(prices) > 1:
        # Seeded for each product, so that its price does not depend on the others of the file.
        price += (prices[1] - price) * random.Random(f"price {seed} {asin}").random()
    return Product(
        asin=asin,
        title=entry.text("name"),
        description=entry.text("full_description", ""),
        bullets=_bullets(entry),
        prices=prices,
        price=price,
        options=_options(entry),
        attributes=attributes,
        category=entry.text("category"),
        query=entry.text("query").lower().strip(),
        product_category=entry.text("product_category"),
    )


def _bullets(entry: _Entry) -> tuple[str, ...]:
    # Most entries have a list of bullets, some a single text.
    bullets = entry.get("small_description")
    if isinstance(bullets, str):
        return (bullets,)
    return entry.texts("small_description")


def _prices(entry: _Entry) -> tuple[float, ...]:
    text = entry.text("pricing", "")
    if not text:
        return (NO_PRICE,)
    try:
        # As in the original, which keeps the first two.
        prices = tuple(float(re.sub(r"[^\d.]", "", price)) for price in text.split("$")[1:3])
    except ValueError:
        prices = ()
    if not prices:
        raise entry.error("pricing", f"expected a price in dollars, got {_abbreviated(text)}")
    return prices


def _options(entry: _Entry) -> dict[str, tuple[str, ...]]:
    options = entry.get("customization_options") or {}
    if not isinstance(options, dict):
        raise entry.error(
            "customization_options",
            f"expected an object, got {_abbreviated(options)}",
        )
    return {
        name.lower(): _values(entry, name, values)
        for name, values in options.items()
        if values is not None
    }


def _values(
    entry: _Entry,
    name: str,
    values: Any,
) -> tuple[str, ...]:
    key = f"customization_options.{name}"
    if not isinstance(values, list):
        raise entry.error(key, f"expected a list, got {_abbreviated(values)}")
    for item in values:
        if not isinstance(item, dict) or not isinstance(item.get("value"), str):
            raise entry.error(
                key,
                f"expected objects with a text as value, got {_abbreviated(item)}",
            )
    return tuple(item["value"].strip().replace("/", " | ").lower() for item in values)


# Wishes


def _human_wishes(
    file: Path | None,
    product: Product,
    entries: Any,
    seed: int,
) -> Iterator[Wish]:
    if not isinstance(entries, list):
        raise ShopDataError.at(
            file or Path(),
            f"expected a list, got {_abbreviated(entries)}",
            product.asin,
        )
    for index, values in enumerate(entries):
        entry = _Entry(file, f"{product.asin}[{index}]", values)
        attributes = entry.texts("instruction_attributes")
        # As in the original, a sentence without attributes is no goal.
        if attributes:
            text = entry.text("instruction").strip(".")
            # The original draws bounds before it seeds: they vary from start to start.
            bound = price_upper(
                product.price,
                random.Random(f"bound {seed} {product.asin} {index}"),
            )
            yield Wish(text, attributes, entry.texts("instruction_options"), bound)


def _synthetic_wishes(
    entry: _Entry,
    product: Product,
    seed: int,
) -> Iterator[Wish]:
    text = entry.text("instruction", "")
    attributes = entry.texts("instruction_attributes")
    if text and attributes:
        bound = price_upper(product.price, random.Random(f"bound {seed} {product.asin}"))
        yield Wish(text, attributes, None, bound)


# Streams


def _entries_by_asin(file: Path, on_read: Callable[[int], None]) -> dict[str, bytes]:
    return {asin: entry.encode() for asin, entry in _located(file, read_members(file, on_read))}


def _located(file: Path, entries: Iterator[T]) -> Iterator[T]:
    """Yield entries; an error is reported with the file and the index of its entry."""
    index = 0
    try:
        for entry in entries:
            yield entry
            index += 1
    except JSONStreamError as error:
        raise ShopDataError.at(file, str(error), index) from error
