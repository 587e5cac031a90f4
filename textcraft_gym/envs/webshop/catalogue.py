"""A catalogue: products, the goals of customers, and the search engine that finds products."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.envs.webshop.files import GoalKind, find_files
from textcraft_gym.envs.webshop.generator import PRODUCTS, generate
from textcraft_gym.envs.webshop.goals import shuffled, split_range
from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.envs.webshop.store import StoredGoals, StoredProducts, load
from textcraft_gym.storage.arrays import Arrays
from textcraft_gym.storage.progress import Progress
from textcraft_gym.storage.search.bm25 import Index

GENERATED = "generated"
MAX_GENERATED = 50_000
"""Maximum number of products that are generated."""

_KEPT_SEARCHES = 1 << 12


class Catalogue:
    """A catalogue; immutable, so that any number of environments share one.

    Args:
        products: Products by ASIN.
        asins: Their ASINs, in order.
        goals: Goals of customers, in the order that splits are slices of.
        weights: The weights of the goals.
        index: The search engine, whose documents are the products in their order.
        fingerprint: A SHA-256 of the content.
    """

    def __init__(
        self,
        products: Mapping[str, Product],
        asins: Sequence[str],
        goals: Sequence[Goal],
        weights: NDArray[np.float64],
        index: Index,
        fingerprint: str,
    ) -> None:
        self.products = products
        self.goals = goals
        self.weights = weights
        self.index = index
        self.fingerprint = fingerprint
        self._asins = asins
        self._results: dict[str, tuple[str, ...]] = {}

    def __copy__(self) -> Catalogue:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Catalogue:
        return self

    @classmethod
    def of(
        cls,
        products: Sequence[Product],
        goals: Sequence[Goal],
    ) -> Catalogue:
        """Return the catalogue of these products and goals, the goals in this order."""
        asins = [product.asin for product in products]
        index = Index.build((product.document for product in products), asins)
        weights = np.array([goal.weight for goal in goals])
        by_asin = dict(zip(asins, products, strict=True))
        return cls(by_asin, asins, tuple(goals), weights, index, _fingerprint(products, goals))

    @classmethod
    def load(
        cls,
        data: str | Path = GENERATED,
        *,
        goals: GoalKind = "human",
        seed: int = 0,
        num_products: int | None = None,
        progress: Progress | None = None,
    ) -> Catalogue:
        """Load a catalogue; the same arguments and unchanged files give the same object.

        Args:
            data: ``generated``, or a folder with the files of the original's data, or its file of
                products.
            goals: ``human`` for those written by people, ``synthetic`` for a template sentence with
                each combination of options; the latter need files.
            seed: Seed of a generated catalogue; with files, of the prices of ranges and the bounds
                on prices.
            num_products: Number of products to generate, up to 50,000, by default 1,000; with
                files, read only this many entries from the start of the file of products, as the
                original does.
            progress: Called with the bytes read so far and in all; by default a progress bar on a
                terminal.

        Raises:
            ValueError: If ``num_products`` is out of bounds.
            ShopDataError: If a file is missing or cannot be read.
        """
        if num_products is not None and (type(num_products) is not int or num_products < 1):
            raise ValueError(f"expected num_products >= 1, got {num_products!r}")
        if data == GENERATED:
            return _generated(seed, num_products or PRODUCTS)
        files = find_files(data, goals)
        stats = [file.stat() for file in files.all]
        stamps = tuple((stat.st_size, stat.st_mtime_ns) for stat in stats)
        key = (files, stamps, goals, seed, num_products)
        if key not in _loaded:
            arrays = load(files, goals, seed, progress, num_products)
            _loaded.clear()  # the arrays are large: keep one catalogue of files at a time
            _loaded[key] = cls._of_arrays(arrays)
        return _loaded[key]

    @classmethod
    def _of_arrays(cls, arrays: Arrays) -> Catalogue:
        products = StoredProducts(arrays)
        goals = StoredGoals(arrays, products)
        fingerprint = arrays["fingerprint"].tobytes().hex()
        return cls(products, products.asins, goals, goals.weights, Index(arrays), fingerprint)

    def search(self, query: str) -> tuple[str, ...]:
        """Return the ASINs of the top 50, best first."""
        # All players of a task, and its expert, search for much the same words.
        results = self._results.get(query)
        if results is None:
            if len(self._results) >= _KEPT_SEARCHES:
                self._results.clear()
            results = tuple(self._asins[index] for index in self.index.search(query))
            self._results[query] = results
        return results

    def split(self, split: str) -> range:
        """Return the indices of the goals in a split, one of ``goals.SPLITS``.

        Raises:
            UnknownName: If there is no such split.
        """
        return split_range(split, len(self.goals))


_loaded: dict[Any, Catalogue] = {}


@lru_cache(maxsize=4)
def _generated(seed: int, num_products: int) -> Catalogue:
    if num_products > MAX_GENERATED:
        raise ValueError(
            f"expected num_products <= {MAX_GENERATED} of a generated shop, got {num_products}"
        )
    products, goals = generate(seed, num_products)
    return Catalogue.of(products, shuffled(goals))


def _fingerprint(products: Sequence[Product], goals: Sequence[Goal]) -> str:
    contents = hashlib.sha256()
    # Texts of files may have half a pair of surrogates, which UTF-8 refuses: it is replaced.
    for product in products:
        values = [getattr(product, field.name) for field in fields(product)]
        contents.update(repr(values).encode(errors="replace"))
    for goal in goals:
        parts = (
            goal.instruction,
            goal.product.asin,
            goal.attributes,
            goal.options,
            goal.price_upper,
            goal.weight,
        )
        contents.update(repr(parts).encode(errors="replace"))
    return contents.hexdigest()
