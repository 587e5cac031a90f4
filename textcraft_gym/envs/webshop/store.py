"""A catalogue as flat arrays: small in memory, shared by processes, and cached on disk.

Product and Goal objects are made only when they are accessed.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from sys import intern
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.envs.webshop.files import GoalKind, ShopDataError, ShopFiles, read_shop
from textcraft_gym.envs.webshop.goals import Wish, shuffled, weights
from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.storage.arrays import (
    Append,
    Arrays,
    Names,
    Records,
    RecordWriter,
    cached,
    write_records,
)
from textcraft_gym.storage.progress import Progress, progress_bar
from textcraft_gym.storage.search.bm25 import IndexWriter

FORMAT = 4
"""Version of the cached file and of the code that makes it; other files are ignored."""

_KEPT_PRODUCTS = 1 << 12
_FIELDS = tuple(field.name for field in fields(Product))


class StoredProducts(Mapping[str, Product]):
    """Products by ASIN, in their order."""

    def __init__(self, arrays: Arrays) -> None:
        self.asins = Records(arrays, "asins")
        self._indices = Names(arrays, "asins")
        self._records = Records(arrays, "products")
        self._made: dict[str, Product] = {}

    def __len__(self) -> int:
        return len(self.asins)

    def __iter__(self) -> Iterator[str]:
        return iter(self.asins)

    def __getitem__(self, asin: str) -> Product:
        made = self._made.get(asin)
        if made is None:
            index = self._indices.first(asin)
            if index is None:
                raise KeyError(asin)
            made = _unpacked(self._records[index])
            if len(self._made) >= _KEPT_PRODUCTS:
                self._made.clear()
            self._made[asin] = made
        return made


class StoredGoals(Sequence[Goal]):
    """Goals in the order that splits are slices of, and their weights."""

    def __init__(self, arrays: Arrays, products: StoredProducts) -> None:
        self._products = products
        self._wishes = Records(arrays, "wishes")
        self._wish, self._combination = arrays["goal_wish"], arrays["goal_combination"]
        self.weights = arrays["goal_weight"]

    def __len__(self) -> int:
        return len(self._wish)

    @overload
    def __getitem__(self, index: int) -> Goal: ...
    @overload
    def __getitem__(self, index: slice) -> list[Goal]: ...
    def __getitem__(self, index: int | slice) -> Goal | list[Goal]:
        if isinstance(index, slice):
            return [self[goal] for goal in range(len(self))[index]]
        product, text, attributes, options, price_upper = self._wishes[int(self._wish[index])]
        wish = Wish(
            text,
            tuple(attributes),
            None if options is None else tuple(options),
            price_upper,
        )
        asin = self._products.asins[product]
        return wish.goal(
            self._products[asin],
            int(self._combination[index]),
            float(self.weights[index]),
        )


def load(
    files: ShopFiles,
    goals: GoalKind,
    seed: int,
    progress: Progress | None,
    num_products: int | None = None,
) -> Arrays:
    """Return the arrays of a data set, from the cache if its files are unchanged.

    Raises:
        ShopDataError: If they cannot be read.
    """
    # The name identifies the files and arguments, the stamp their version: a changed file replaces
    # its cached arrays.
    stats = [(file, file.stat()) for file in files.all]
    parts = [[str(file.resolve()), stat.st_size, stat.st_mtime_ns] for file, stat in stats]
    stamp = json.dumps([FORMAT, goals, seed, num_products, parts])
    identity = [goals, seed, num_products, [path for path, *_ in parts]]
    name = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]

    def write(append: Append) -> None:
        write_shop(append, files, seed, progress, num_products)

    return cached(f"webshop-{name}.arrays", stamp, write)


def write_shop(
    append: Append,
    files: ShopFiles,
    seed: int,
    progress: Progress | None,
    num_products: int | None = None,
) -> None:
    """Write products, goals and the search index as arrays, a block at a time."""
    # The fingerprint is of the content alone: the index follows from it.
    contents = hashlib.sha256()

    def append_content(name: str, part: NDArray[Any]) -> None:
        contents.update(part.data)
        append(name, part)

    asins: list[str] = []
    products = RecordWriter(append_content, "products")
    wishes = RecordWriter(append_content, "wishes", deferred=True)
    goal_counts = array("q")
    # The attributes of each wish; None where all goals weigh the same.
    wanted: list[tuple[str, ...] | None] = []
    with IndexWriter() as index:
        with progress_bar(f"Reading {files.products.name}") as bar:
            for product, product_wishes in read_shop(files, seed, progress or bar, num_products):
                for wish in product_wishes:
                    count = wish.goal_count(product)
                    if count == 0:  # an option of the product has no values
                        continue
                    wishes.add([len(asins), *astuple(wish)])
                    goal_counts.append(count)
                    attributes = None
                    if wish.options is None:
                        attributes = tuple(map(intern, wish.attributes))
                    wanted.append(attributes)
                asins.append(product.asin)
                products.add([getattr(product, name) for name in _FIELDS])
                index.add(product.document)
        if not goal_counts:
            raise ShopDataError.at(
                files.human or files.attributes,
                "has no goal for any of the products",
            )
        products.close()
        wishes.close()
        counts = np.frombuffer(goal_counts, np.int64)
        for name, part in _goals(counts, weights(wanted, goal_counts)).items():
            append_content(name, part)
        contents.update(json.dumps(asins).encode())
        append("fingerprint", np.frombuffer(contents.digest(), np.uint8))
        write_records(append, "asins", asins)
        Names.write(append, "asins", zip(asins, range(len(asins)), strict=True))
        with progress_bar("Writing the search index") as bar:
            index.write(append, keys=asins, progress=bar)


def _goals(counts: NDArray[np.int64], wish_weights: Sequence[float]) -> Arrays:
    """Return the wish, the combination of options and the weight of each goal, shuffled.

    Args:
        counts: The number of goals of each wish.
        wish_weights: The weight of each of these.
    """
    order = np.array(shuffled(range(counts.sum())))
    wish = np.repeat(np.arange(len(counts)), counts)[order]
    first = np.cumsum(counts) - counts  # the index of the first goal of each wish, before shuffling
    return {
        "goal_wish": wish,
        "goal_combination": order - first[wish],
        "goal_weight": np.array(wish_weights, np.float64)[wish],
    }


def _unpacked(record: list[Any]) -> Product:
    parts = dict(zip(_FIELDS, record, strict=True))
    # Records are kept as JSON, which has lists only.
    for name in ("bullets", "prices", "attributes"):
        parts[name] = tuple(parts[name])
    parts["options"] = {name: tuple(values) for name, values in parts["options"].items()}
    return Product(**parts)
