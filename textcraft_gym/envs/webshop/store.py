"""A catalogue as flat arrays: small in memory, shared by processes, and kept on disk from one start to the next.

Of products and goals, only those that are looked at are ever made objects.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path
from typing import IO, Any, overload

import numpy as np

from textcraft_gym.cache import cache_folder, keep
from textcraft_gym.envs.webshop.files import GoalKind, Progress, ShopDataError, ShopFiles, read_shop
from textcraft_gym.envs.webshop.goals import Wish, shuffled, weights
from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.envs.webshop.search import Arrays, Index, document

FORMAT = 1
"""Of the kept file, and of all that is worked out before it is written: with a new one, old files are made anew."""

_KEPT_PRODUCTS = 1 << 12
_ALIGNMENT = 64
_CHUNK = 1 << 22
_CHECKSUM = 4
_INDEX = "index."
_FIELDS = tuple(field.name for field in fields(Product))


class StoredProducts(Mapping[str, Product]):
    """Products by ASIN, in their order."""

    def __init__(self, arrays: Arrays) -> None:
        self.asins: list[str] = json.loads(arrays["asins"].tobytes())
        self._numbers = {asin: number for number, asin in enumerate(self.asins)}
        self._records = _Records(arrays, "products")
        self._made: dict[str, Product] = {}

    def __len__(self) -> int:
        return len(self.asins)

    def __iter__(self) -> Iterator[str]:
        return iter(self.asins)

    def __contains__(self, asin: object) -> bool:
        return asin in self._numbers

    def __getitem__(self, asin: str) -> Product:
        made = self._made.get(asin)
        if made is None:
            made = _unpacked(self._records[self._numbers[asin]])
            if len(self._made) >= _KEPT_PRODUCTS:
                self._made.clear()
            self._made[asin] = made
        return made


class StoredGoals(Sequence[Goal]):
    """Goals in the order that splits go by."""

    def __init__(self, arrays: Arrays, products: StoredProducts) -> None:
        self._products = products
        self._wishes = _Records(arrays, "wishes")
        self._wish, self._combination, self._weights = (arrays[f"goal_{one}"] for one in ("wish", "number", "weight"))

    def __len__(self) -> int:
        return len(self._wish)

    @overload
    def __getitem__(self, number: int) -> Goal: ...
    @overload
    def __getitem__(self, number: slice) -> list[Goal]: ...
    def __getitem__(self, number: int | slice) -> Goal | list[Goal]:
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        product, text, attributes, options, price_upper = self._wishes[int(self._wish[number])]
        wish = Wish(text, tuple(attributes), None if options is None else tuple(options), price_upper)
        sold = self._products[self._products.asins[product]]
        return wish.goal(sold, int(self._combination[number]), float(self._weights[number]))


class _Records:
    """JSON values, one after another, parsed when they are asked for."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        self._data, self._ends = arrays[name], arrays[f"{name}_ends"]

    def __getitem__(self, number: int) -> Any:
        start = self._ends[number - 1] if number else 0
        return json.loads(self._data[start : self._ends[number]].tobytes())


class _Writer:
    """Takes down JSON values."""

    def __init__(self) -> None:
        self.data, self.ends = bytearray(), array("q")

    def add(self, value: object) -> None:
        self.data += json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        self.ends.append(len(self.data))

    def arrays(self, name: str) -> Arrays:
        return {name: np.frombuffer(self.data, np.uint8), f"{name}_ends": np.frombuffer(self.ends, np.int64)}


def load(files: ShopFiles, goals: GoalKind, seed: int, progress: Progress) -> Arrays:
    """Return what the files hold, from where it was kept if it was and they are as they were.

    Raises:
        ShopDataError: If they cannot be read.
    """
    stats = [(file, file.stat()) for file in files.all]
    parts = [[str(file.resolve()), stat.st_size, stat.st_mtime_ns] for file, stat in stats]
    stamp = json.dumps([FORMAT, goals, seed, parts])
    name = hashlib.sha256(json.dumps([goals, seed, [path for path, *_ in parts]]).encode()).hexdigest()[:16]
    kept = cache_folder() / f"webshop-{name}.arrays"
    arrays = _read(kept, stamp)
    if arrays is None:
        arrays = build(read_shop(files, seed, progress), files)
        if keep(kept, partial(_write, arrays, stamp)):
            arrays = _read(kept, stamp) or arrays
    return arrays


def build(shop: Iterable[tuple[Product, list[Wish]]], files: ShopFiles) -> Arrays:
    """Return products, goals and the search index as arrays."""
    asins: list[str] = []
    products, wishes = _Writer(), _Writer()
    wanted: list[tuple[int, Wish, int]] = []

    def documents() -> Iterator[str]:
        for product, some in shop:
            wanted.extend((len(asins), wish, goals) for wish in some if (goals := wish.goals(product)))
            asins.append(product.asin)
            products.add([getattr(product, name) for name in _FIELDS])
            yield document(product.title, product.description, product.bullets, product.options)

    index = Index(documents(), asins).arrays
    if not wanted:
        raise ShopDataError(files.human or files.attributes, "has no goal for any of the products")
    for product, wish, _ in wanted:
        wishes.add([product, *astuple(wish)])
    arrays = products.arrays("products") | wishes.arrays("wishes") | _goals([wish for _, *wish in wanted])
    arrays["asins"] = np.frombuffer(json.dumps(asins).encode(), np.uint8)
    contents = hashlib.sha256()
    for part in arrays.values():
        contents.update(part.data.cast("B"))
    arrays["fingerprint"] = np.frombuffer(contents.digest(), np.uint8)
    return arrays | {f"{_INDEX}{name}": part for name, part in index.items()}


def stored_index(arrays: Arrays) -> Index:
    """Return the search index among a catalogue's arrays."""
    return Index.of_arrays({name[len(_INDEX) :]: part for name, part in arrays.items() if name.startswith(_INDEX)})


def _goals(wanted: Sequence[Sequence[Any]]) -> Arrays:
    wishes, made = [wish for wish, _ in wanted], [goals for _, goals in wanted]
    order = np.array(shuffled(range(sum(made))))
    wish = np.repeat(np.arange(len(made)), made)[order]
    first = np.cumsum(made) - made
    weight = np.array(weights(wishes, made), np.float64)
    return {"goal_wish": wish, "goal_number": order - first[wish], "goal_weight": weight[wish]}


def _unpacked(record: list[Any]) -> Product:
    parts = dict(zip(_FIELDS, record, strict=True))
    for name in ("bullets", "prices", "attributes"):
        parts[name] = tuple(parts[name])
    parts["options"] = {name: tuple(values) for name, values in parts["options"].items()}
    return Product(**parts)


# The kept file: a line of JSON that says where each array begins, the arrays, and a checksum.


def _write(arrays: Arrays, stamp: str, stream: IO[bytes]) -> None:
    start, places = 0, {}
    for name, part in arrays.items():
        places[name] = [part.dtype.str, start, part.nbytes]
        start += part.nbytes + -part.nbytes % _ALIGNMENT
    header = json.dumps([stamp, places]).encode()
    header += b" " * (-(len(header) + 1) % _ALIGNMENT) + b"\n"
    pieces: list[Any] = [header]
    for part in arrays.values():
        pieces += [part.data.cast("B"), bytes(-part.nbytes % _ALIGNMENT)]
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
        stream.write(piece)
    stream.write(checksum.to_bytes(_CHECKSUM, "big"))


def _read(file: Path, stamp: str) -> Arrays | None:
    """Return the arrays, mapped into memory; None where the file is missing, damaged or of something else."""
    try:
        with file.open("rb") as stream:
            header = stream.readline()
            found, places = json.loads(header)
            if found != stamp or not _is_whole(stream, zlib.crc32(header), file.stat().st_size - len(header)):
                return None
        data = np.asarray(np.memmap(file, np.uint8, "r"))[len(header) :]
        return {name: data[start : start + size].view(kind) for name, (kind, start, size) in places.items()}
    except (OSError, ValueError, TypeError):
        return None


def _is_whole(stream: IO[bytes], checksum: int, left: int) -> bool:
    while left > _CHECKSUM:
        chunk = stream.read(min(_CHUNK, left - _CHECKSUM))
        if not chunk:
            return False
        checksum = zlib.crc32(chunk, checksum)
        left -= len(chunk)
    return stream.read() == checksum.to_bytes(_CHECKSUM, "big")
