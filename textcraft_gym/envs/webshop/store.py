"""A catalogue as flat arrays: small in memory, shared by processes, and cached on disk.

Product and Goal objects are made only when they are accessed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any, overload

import numpy as np

from textcraft_gym.arrays import Arrays, Records, RecordWriter, cached
from textcraft_gym.envs.webshop.files import GoalKind, ShopDataError, ShopFiles, read_shop
from textcraft_gym.envs.webshop.goals import Wish, shuffled, weights
from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.progress import Progress
from textcraft_gym.search.bm25 import Index

FORMAT = 3
"""Version of the cached file and of the code that computes its content; files of another version are ignored."""

_KEPT_PRODUCTS = 1 << 12
_INDEX = "index."
_FIELDS = tuple(field.name for field in fields(Product))


class StoredProducts(Mapping[str, Product]):
    """Products by ASIN, in their order."""

    def __init__(self, arrays: Arrays) -> None:
        self.asins: list[str] = json.loads(arrays["asins"].tobytes())
        self._index = {asin: index for index, asin in enumerate(self.asins)}
        self._records = Records(arrays, "products")
        self._made: dict[str, Product] = {}

    def __len__(self) -> int:
        return len(self.asins)

    def __iter__(self) -> Iterator[str]:
        return iter(self.asins)

    def __contains__(self, asin: object) -> bool:
        return asin in self._index

    def __getitem__(self, asin: str) -> Product:
        made = self._made.get(asin)
        if made is None:
            made = _unpacked(self._records[self._index[asin]])
            if len(self._made) >= _KEPT_PRODUCTS:
                self._made.clear()
            self._made[asin] = made
        return made


class StoredGoals(Sequence[Goal]):
    """Goals in the order that splits are slices of."""

    def __init__(self, arrays: Arrays, products: StoredProducts) -> None:
        self._products = products
        self._wishes = Records(arrays, "wishes")
        self._wish, self._combination = arrays["goal_wish"], arrays["goal_combination"]
        self._weight = arrays["goal_weight"]

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
        wish = Wish(text, tuple(attributes), None if options is None else tuple(options), price_upper)
        asin = self._products.asins[product]
        return wish.goal(self._products[asin], int(self._combination[index]), float(self._weight[index]))


def load(files: ShopFiles, goals: GoalKind, seed: int, progress: Progress, num_products: int | None = None) -> Arrays:
    """Return the arrays of a data set, from the cache if its files are unchanged.

    Raises:
        ShopDataError: If they cannot be read.
    """
    # The name identifies the files and arguments, the stamp their version: a changed file replaces its cached arrays.
    stats = [(file, file.stat()) for file in files.all]
    parts = [[str(file.resolve()), stat.st_size, stat.st_mtime_ns] for file, stat in stats]
    stamp = json.dumps([FORMAT, goals, seed, num_products, parts])
    identity = [goals, seed, num_products, [path for path, *_ in parts]]
    name = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
    return cached(f"webshop-{name}.arrays", stamp, lambda: build(read_shop(files, seed, progress, num_products), files))


def build(shop: Iterable[tuple[Product, list[Wish]]], files: ShopFiles) -> Arrays:
    """Return products, goals and the search index as arrays."""
    asins: list[str] = []
    products, wishes = RecordWriter(), RecordWriter()
    wished: list[tuple[int, Wish, int]] = []  # the index of a product, a wish for it, and its number of goals

    def documents() -> Iterator[str]:
        """Record products and wishes on the way, so that the files are read once."""
        for product, product_wishes in shop:
            # A wish for a combination of options makes no goal if one of them has no values.
            counted = [(len(asins), wish, wish.goal_count(product)) for wish in product_wishes]
            wished.extend(entry for entry in counted if entry[-1] > 0)
            asins.append(product.asin)
            products.add([getattr(product, name) for name in _FIELDS])
            yield product.document

    index = Index.build(documents(), asins).arrays
    if not wished:
        raise ShopDataError(files.human or files.attributes, "has no goal for any of the products")
    for product, wish, _ in wished:
        wishes.add([product, *astuple(wish)])
    arrays = (
        products.arrays("products")
        | wishes.arrays("wishes")
        | _goals([wish for _, wish, _ in wished], [count for *_, count in wished])
    )
    arrays["asins"] = np.frombuffer(json.dumps(asins).encode(), np.uint8)
    contents = hashlib.sha256()
    for part in arrays.values():
        contents.update(part.data.cast("B"))
    arrays["fingerprint"] = np.frombuffer(contents.digest(), np.uint8)
    return arrays | {f"{_INDEX}{name}": part for name, part in index.items()}


def stored_index(arrays: Arrays) -> Index:
    """Return the search index among a catalogue's arrays."""
    return Index({name[len(_INDEX) :]: part for name, part in arrays.items() if name.startswith(_INDEX)})


def _goals(wishes: Sequence[Wish], counts: Sequence[int]) -> Arrays:
    """Return the wish, the combination of options and the weight of each goal, in the shuffled order."""
    order = np.array(shuffled(range(sum(counts))))
    wish = np.repeat(np.arange(len(counts)), counts)[order]
    first = np.cumsum(counts) - counts  # the index of the first goal of each wish, before shuffling
    weight = np.array(weights(wishes, counts), np.float64)
    return {"goal_wish": wish, "goal_combination": order - first[wish], "goal_weight": weight[wish]}


def _unpacked(record: list[Any]) -> Product:
    parts = dict(zip(_FIELDS, record, strict=True))
    for name in ("bullets", "prices", "attributes"):
        parts[name] = tuple(parts[name])
    parts["options"] = {name: tuple(values) for name, values in parts["options"].items()}
    return Product(**parts)
