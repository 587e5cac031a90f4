"""Catalogues: made, read, kept between starts, and shared."""

from __future__ import annotations

import copy
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.envs.webshop.folder import ATTRIBUTES, ENTRIES, entry, write
from tests.envs.webshop.shelf import GOAL, PRODUCTS
from textcraft_gym.envs.webshop import catalogue as catalogues
from textcraft_gym.envs.webshop import store
from textcraft_gym.envs.webshop.catalogue import Catalogue
from textcraft_gym.envs.webshop.files import ShopDataError, find_files, read_shop
from textcraft_gym.envs.webshop.goals import shuffled
from textcraft_gym.errors import UnknownName
from textcraft_gym.storage import arrays
from textcraft_gym.storage.progress import Progress
from textcraft_gym.storage.search import bm25
from textcraft_gym.storage.search.bm25 import Index


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path)


@pytest.fixture
def cache(tmp_path_factory, monkeypatch) -> Path:
    """A folder that is empty but for what the test has kept."""
    empty = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(empty))
    return empty


def load(folder, **arguments) -> Catalogue:
    """Load as a new process would."""
    catalogues._loaded.clear()
    return Catalogue.load(folder, **arguments)


def kept_files(cache: Path) -> list[Path]:
    """Return all files but the empty ones that are locked."""
    return [file for file in sorted(cache.iterdir()) if file.suffix != ".lock"]


def contents(catalogue: Catalogue):
    return (
        dict(catalogue.products),
        list(catalogue.goals),
        catalogue.search("lamp"),
        catalogue.fingerprint,
    )


@pytest.mark.parametrize("goals", ["human", "synthetic"])
def test_load__of_files_has_what_is_read_from_them(folder, goals):
    catalogue = load(folder, goals=goals)
    read = list(read_shop(find_files(folder, goals), 0, lambda read, size: None))
    products = {product.asin: product for product, _ in read}
    assert dict(catalogue.products) == products
    assert len(catalogue.products) == len(ENTRIES)
    wanted = [
        (product, wish, n)
        for product, some in read
        for wish in some
        for n in range(wish.goal_count(product))
    ]
    assert [replace(goal, weight=1.0) for goal in catalogue.goals] == [
        wish.goal(product, number) for product, wish, number in shuffled(wanted)
    ]
    assert catalogue.goals[0].product is catalogue.products[catalogue.goals[0].product.asin]


def test_load__weighs_synthetic_goals(folder):
    weights = {goal.instruction[:9]: goal.weight for goal in load(folder, goals="synthetic").goals}
    # Two goals "find a lamp" with led, three "get a light" with led and folds.
    assert weights == pytest.approx({"find a la": 1 / 5, "get a lig": (1 / 5 + 1 / 3) / 2})
    assert [goal.weight for goal in load(folder).goals] == [1.0, 1.0]


def test_load__finds_products_by_asin(folder):
    catalogue = load(folder)
    assert catalogue.products["B000000003"] is catalogue.products["B000000003"]
    assert "B000000003" in catalogue.products
    for unknown in ("B000000009", "b000000003"):
        assert unknown not in catalogue.products
        with pytest.raises(KeyError, match=unknown):
            catalogue.products[unknown]


def test_load__finds_by_title_description_first_bullet_and_options(folder):
    catalogue = load(folder)
    assert catalogue.search("xl") == ("B000000002",)
    assert catalogue.search("shining") == (
        "B000000001",
        "B000000004",
        "B000000002",
    )  # the shorter first
    assert catalogue.search("folds") == ()
    assert catalogue.search("xl") is catalogue.search("xl")


def test_load__of_what_is_loaded_is_the_same_object(folder):
    catalogue = load(folder)
    assert Catalogue.load(folder) is catalogue
    assert Catalogue.load(str(folder)) is catalogue
    assert Catalogue.load(folder, goals="synthetic") is not catalogue
    assert copy.deepcopy(catalogue) is copy.copy(catalogue) is catalogue


def test_load__of_files_that_changed_is_another(folder):
    before = load(folder)
    write(folder, entries=ENTRIES[:2])
    assert len(Catalogue.load(folder).products) == 2
    assert len(before.products) == len(ENTRIES)


def test_load__depends_on_the_seed(folder):
    prices = [load(folder, seed=seed).products["B000000001"].price for seed in (0, 1, 0)]
    assert prices[0] == prices[2] != prices[1]


def test_load__tells_its_progress(folder):
    calls = []
    load(folder, progress=lambda read, size: calls.append((read, size)))
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1] == sum(file.stat().st_size for file in folder.iterdir())


def test_load__asks_for_a_goal(tmp_path):
    with pytest.raises(
        ShopDataError, match=r"items_human_ins.json: has no goal for any of the products"
    ):
        load(write(tmp_path, human={}))
    with pytest.raises(ShopDataError, match=r"items_ins_v2.json: has no goal"):
        load(write(tmp_path, attributes={}), goals="synthetic")


def test_load__of_bad_files_leaves_nothing(folder, cache):
    write(folder, entries=[*ENTRIES, {}])
    with pytest.raises(ShopDataError):
        load(folder)
    assert kept_files(cache) == []
    write(folder)
    assert len(Catalogue.load(folder).products) == len(ENTRIES)


# Kept between starts.


@pytest.fixture
def unread(monkeypatch):
    """Return a switch after which files may not be read again."""

    def switch():
        monkeypatch.setattr(store, "read_shop", lambda *_: pytest.fail("was read again"))

    return switch


def test_kept__is_all_that_a_later_start_needs(folder, unread):
    first = contents(load(folder))
    unread()
    assert contents(load(folder)) == first


def test_load__shows_one_bar_after_the_other_and_none_where_everything_is_kept(folder, monkeypatch):
    calls: list[str] = []

    @contextmanager
    def bar(title: str) -> Iterator[Progress]:
        calls.append(title)
        yield lambda done, size: None
        calls.append("end")

    monkeypatch.setattr(store, "progress_bar", bar)
    load(folder)
    load(folder)
    assert calls == ["Reading items_shuffle.json", "end", "Writing the search index", "end"]


def test_kept__is_by_kind_of_goals_and_seed(folder, unread, cache):
    kinds = list(itertools.product(["human", "synthetic"], [0, 1]))
    first = [contents(load(folder, goals=goals, seed=seed)) for goals, seed in kinds]
    unread()
    assert [contents(load(folder, goals=goals, seed=seed)) for goals, seed in kinds] == first
    assert len(kept_files(cache)) == 4


@pytest.mark.parametrize(
    "name", ["items_shuffle.json", "items_ins_v2.json", "items_human_ins.json"]
)
def test_kept__is_made_anew_for_a_file_that_changed(folder, cache, name):
    load(folder)
    (kept,) = kept_files(cache)
    before = kept.read_bytes()
    stat = (folder / name).stat()
    os.utime(folder / name, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    load(folder)
    assert kept_files(cache) == [kept]
    assert kept.read_bytes() != before


def test_kept__is_made_anew_for_a_new_format(folder, cache, monkeypatch):
    load(folder)
    (kept,) = kept_files(cache)
    before = kept.read_bytes()
    monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    load(folder)
    assert kept.read_bytes() != before


def test_kept__is_ignored_where_it_is_damaged(folder, cache):
    first = contents(load(folder))
    (kept,) = kept_files(cache)
    whole = kept.read_bytes()
    damaged = [whole[:left] for left in range(0, len(whole), len(whole) // 20)]
    damaged += [
        whole[:-1],
        whole + b"x",
        b"{}\n",
        b"[1]\n",
        b"\xff\xfe",
        whole.replace(b"Lamp", b"Lump"),
    ]
    damaged += [
        whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 997)
    ]
    for content in damaged:
        kept.write_bytes(content)
        assert contents(load(folder)) == first
        assert kept.read_bytes() == whole


def test_kept__is_written_in_parts(tmp_path, monkeypatch):
    many = [entry(f"B{number:09}") for number in range(3000)]
    folder = write(tmp_path, entries=many)
    whole = contents(load(folder))
    sizes: dict[str, list[int]] = {}
    append = arrays._Writer.append

    def measured(self, name, part):
        sizes.setdefault(name, []).append(part.nbytes)
        append(self, name, part)

    monkeypatch.setattr(arrays._Writer, "append", measured)
    monkeypatch.setattr(arrays, "_CHUNK", 10_000)
    monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    monkeypatch.setattr(bm25, "BLOCK", 1000)
    assert contents(load(folder)) == whole
    assert max(sizes["products"]) < 11_000 < sum(sizes["products"]) / 10


KILLED = """
import sys
from textcraft_gym.envs.webshop.catalogue import Catalogue
from textcraft_gym.storage.search.bm25 import IndexWriter

def stop(*_, **__):
    print("here", flush=True)
    sys.stdin.readline()

at, told = int(sys.argv[2]), 0

def progress(read, size):
    global told
    told += 1
    if told == at:
        stop()

if at < 0:
    IndexWriter.write = stop
Catalogue.load(sys.argv[1], progress=progress)
"""


@pytest.mark.parametrize("at", [1, 8, -1])
def test_kept__is_whole_after_a_kill(folder, cache, at):
    """While attributes are read, while products are, and before the index is written."""
    command = [sys.executable, "-c", KILLED, str(folder), str(at)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"here\n"
        child.kill()
    assert [file.suffix for file in kept_files(cache)] == [".new"]
    after = contents(load(folder))
    (kept,) = kept_files(cache)
    kept.unlink()
    assert contents(load(folder)) == after


def test_kept__is_not_needed(folder, tmp_path, monkeypatch):
    first = contents(load(folder))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path / "file" / "folder"))
    assert contents(load(folder)) == first


def test_fingerprint__is_that_of_the_content(folder, tmp_path):
    first = load(folder).fingerprint
    copied = tmp_path / "copied"
    copied.mkdir()
    assert load(write(copied)).fingerprint == first
    changed = {**ATTRIBUTES, "B000000001": {"attributes": ["cold light"]}}
    assert load(write(copied, attributes=changed)).fingerprint != first
    assert load(folder, seed=1).fingerprint != first


# Made in memory.


def test_of__searches_and_numbers_products_and_goals():
    catalogue = Catalogue.of(PRODUCTS, [GOAL])
    assert catalogue.search("reading lamp")[0] == GOAL.product.asin
    assert list(catalogue.products.values()) == list(PRODUCTS)
    assert list(catalogue.goals) == [GOAL]
    assert catalogue.split("test") == range(1)


def test_of__fingerprint_is_that_of_the_content():
    prints = {
        Catalogue.of(products, goals).fingerprint
        for products, goals in (
            (PRODUCTS, [GOAL]),
            (PRODUCTS, (GOAL,)),
            (PRODUCTS[::-1], [GOAL]),
            ([replace(PRODUCTS[0], attributes=()), *PRODUCTS[1:]], [GOAL]),
            (PRODUCTS, [replace(GOAL, price_upper=40.0)]),
        )
    }
    assert len(prints) == 4


def test_load__generates_by_default():
    catalogue = Catalogue.load()
    assert Catalogue.load("generated") is catalogue
    assert Catalogue.load(seed=1).fingerprint != catalogue.fingerprint
    assert len(catalogue.split("train")) > 0
    assert catalogue.search(catalogue.goals[0].instruction)
    with pytest.raises(UnknownName):
        catalogue.split("validation")


def test_search__finds_fifty_at_most(tmp_path):
    many = [entry(f"B{number:09}") for number in range(120)]
    human = {
        "B000000001": [
            {"instruction": "a", "instruction_attributes": ["b"], "instruction_options": []}
        ]
    }
    catalogue = load(write(tmp_path, entries=many, human=human))
    assert catalogue.search("lamp") == tuple(f"B{number:09}" for number in range(50))
    assert isinstance(catalogue.index, Index)
    json.dumps(catalogue.search("lamp"))
