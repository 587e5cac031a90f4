"""Tasks and splits: the paper's sizes, stable ids, strata, and what test asks for that train never
did."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recipes.packs import load, shapeless
from textcraft_gym.recipes import RecipeBook, RecipeError
from textcraft_gym.recipes.splits import (
    PAPER_GOALS,
    Splits,
    leakage,
    make_splits,
    paper_splits,
    read_splits,
    task_items,
    write_splits,
)

BOOKS = {tags: RecipeBook.load(tags=tags) for tags in ("group", "item")}
FRACTIONS = [
    (0.8, 0.1, 0.1),
    (0.5, 0.2, 0.3),
    (1 / 3, 1 / 3, 1 / 3),
    (0.9, 0, 0.1),
    (0, 0.5, 0.5),
    (1, 0, 0),
]

books = st.sampled_from(list(BOOKS.values()))
fractions = (
    st.lists(st.integers(0, 20), min_size=3, max_size=3)
    .filter(any)
    .map(lambda n: [x / sum(n) for x in n])
)
seeds = st.integers(0, 2**64)


def by_depth(book: RecipeBook, items: tuple[str, ...]) -> dict[int, int]:
    return dict(sorted(Counter(book.depths[item] for item in items).items()))


def digest(items: tuple[str, ...]) -> str:
    return sha("\n".join(sorted(items)))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def barred(book: RecipeBook, test: tuple[str, ...]) -> set[str]:
    return {part for goal in test for part in book.tree(goal) if part != goal}


# The tasks and the paper's split.


def test_task_items__are_those_of_depth_2_or_more(book: RecipeBook) -> None:
    tasks = task_items(book)
    assert set(tasks) == {item for item in book.recipes if book.depths[item] >= 2}
    assert list(tasks) == sorted(set(tasks))


def test_paper_splits__have_the_papers_sizes(group_book: RecipeBook) -> None:
    splits = paper_splits(group_book)
    assert list(splits) == ["test", "dev"]
    assert by_depth(group_book, splits["test"]) == {2: 77, 3: 112, 4: 11}
    assert by_depth(group_book, splits["dev"]) == {2: 197}


def test_paper_splits__test_on_the_77_goals_that_the_authors_played(book: RecipeBook) -> None:
    """Both readings of tags have them all at depth 2. The digest is of their ids, sorted, a line
    each."""
    shallow = sorted(item for item in paper_splits(book)["test"] if book.depths[item] == 2)
    assert shallow == sorted(read_splits(PAPER_GOALS)["test"])
    ids = "".join(item.removeprefix("minecraft:") + "\n" for item in shallow)
    assert sha(ids) == "2f6e77ebf73c97e9a150857a6efbb9e36f8c20994bfe783a267e1fd24c7338eb"


def test_paper_splits__hold_77_of_depth_2_with_item_tags_too(item_book: RecipeBook) -> None:
    splits = paper_splits(item_book)
    assert by_depth(item_book, splits["test"]) == {2: 77, 3: 115, 4: 11}
    assert by_depth(item_book, splits["dev"]) == {2: 203}


def test_paper_splits__divide_the_tasks(book: RecipeBook) -> None:
    splits = paper_splits(book)
    assert Counter(splits["test"]) + Counter(splits["dev"]) == Counter(task_items(book))
    assert all(list(items) == sorted(items) for items in splits.values())


@pytest.mark.parametrize("absent", [0, 1, 30, 77])
def test_paper_splits__replace_goals_that_another_book_lacks_by_the_hash_of_the_id(
    absent: int, tmp_path: Path
) -> None:
    """A pack of 77 items of depth 2 and 60 more, among them the paper's goals but for some."""
    played = sorted(read_splits(PAPER_GOALS)["test"])
    goals = [*played[absent:], *(f"other_{number}" for number in range(60 + absent))]
    book = load(tmp_path, [shapeless("part", "base"), *(shapeless(goal, "part") for goal in goals)])
    splits = paper_splits(book)
    assert (len(splits["test"]), len(splits["dev"])) == (77, 60)
    assert set(played[absent:]) <= set(splits["test"])
    others = {
        name: sorted(sha(item) for item in items if "other" in item)
        for name, items in splits.items()
    }
    assert len(others["test"]) == absent
    assert not absent or others["test"][-1] < others["dev"][0]


@pytest.mark.parametrize(
    ("tags", "ids"),
    [
        ("group", "fc1ef827e4fb9cb44d5e672557e2593cec1f84a3fd86d6516d991cf5638899c3"),
        ("item", "a81afe056c2a91385e62bb88577df519a2fec40a8f9878d2fbeb3f73c32fdec8"),
    ],
)
def test_paper_splits__never_change(tags: str, ids: str) -> None:
    assert digest(paper_splits(BOOKS[tags])["test"]) == ids


# Splits of one's own.


def test_make_splits__never_change(group_book: RecipeBook) -> None:
    splits = make_splits(group_book, seed=7)
    assert {name: digest(items)[:16] for name, items in splits.items()} == {
        "train": "d8983a04ee901f36",
        "dev": "2a29a42b123de91f",
        "test": "29e1943baa4ccbcd",
    }


@given(books, fractions, seeds, st.booleans())
@settings(max_examples=40)
def test_make_splits__divide_the_tasks(
    book: RecipeBook, parts: list[float], seed: int, compositional: bool
) -> None:
    splits = make_splits(book, parts, seed=seed, compositional=compositional)
    assert list(splits) == ["train", "dev", "test"]
    assert sum(map(Counter, splits.values()), Counter()) == Counter(task_items(book))
    assert all(list(items) == sorted(items) for items in splits.values())


@given(books, fractions, seeds)
@settings(max_examples=40)
def test_make_splits__divide_each_depth_by_the_fractions(
    book: RecipeBook, parts: list[float], seed: int
) -> None:
    splits = make_splits(book, parts, seed=seed)
    for depth, total in by_depth(book, task_items(book)).items():
        for items, fraction in zip(splits.values(), parts, strict=True):
            assert abs(by_depth(book, items).get(depth, 0) - total * fraction) < 1 + 1e-6


def test_make_splits__give_the_same_for_the_same_seed_and_another_for_another(
    book: RecipeBook,
) -> None:
    for compositional in (False, True):
        drawn = [make_splits(book, seed=seed, compositional=compositional) for seed in (0, 0, 1, 2)]
        assert drawn[0] == drawn[1]
        assert len({splits["test"] for splits in drawn}) == 3


def test_make_splits__share_out_what_rounding_leaves_by_largest_remainder(
    group_book: RecipeBook,
) -> None:
    splits = make_splits(group_book, (0.8, 0.1, 0.1))
    assert by_depth(group_book, splits["train"]) == {2: 219, 3: 90, 4: 9}
    assert len(splits["dev"]) + len(splits["test"]) == 397 - 318


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (1,),
        (0.5, 0.5),
        (0.25,) * 4,
        (0.8, 0.1, 0.2),
        (0.8, 0.1, 0.05),
        (1.1, -0.1, 0),
        (8, 1, 1),
    ],
)
def test_make_splits__refuse_fractions_that_are_not_three_parts_of_1(
    parts: tuple[float, ...], group_book: RecipeBook
) -> None:
    with pytest.raises(
        ValueError, match="expected three fractions of 0 or more that add up to 1, got "
    ):
        make_splits(group_book, parts)


@pytest.mark.parametrize("parts", [(math.nan, 0.5, 0.5), (math.inf, 0, 0)])
def test_make_splits__refuse_what_is_no_number(
    parts: tuple[float, ...], group_book: RecipeBook
) -> None:
    with pytest.raises(ValueError):
        make_splits(group_book, parts)


# Compositional splits.


@given(books, st.sampled_from(FRACTIONS) | fractions, seeds)
@settings(max_examples=60)
def test_compositional_splits__train_on_no_part_of_test(
    book: RecipeBook, parts: list[float], seed: int
) -> None:
    splits = make_splits(book, parts, seed=seed, compositional=True)
    assert barred(book, splits["test"]).isdisjoint(splits["train"])
    assert leakage(book, splits["train"], splits["test"]).count("goal") == 0


@given(books, st.sampled_from(FRACTIONS) | fractions, seeds)
@settings(max_examples=40)
def test_compositional_splits__keep_test_and_the_size_of_train_where_dev_can_pay(
    book: RecipeBook, parts: list[float], seed: int
) -> None:
    plain = make_splits(book, parts, seed=seed)
    splits = make_splits(book, parts, seed=seed, compositional=True)
    assert splits["test"] == plain["test"]
    free = {book.depths[item] for item in set(splits["dev"]) - barred(book, splits["test"])}
    for depth, before in by_depth(book, plain["train"]).items():
        after = by_depth(book, splits["train"]).get(depth, 0)
        assert after == before or (after < before and depth not in free)


@pytest.mark.parametrize("seed", range(3))
def test_plain_splits__do_train_on_parts_of_test(seed: int, book: RecipeBook) -> None:
    splits = make_splits(book, seed=seed)
    assert not barred(book, splits["test"]).isdisjoint(splits["train"])


# Leakage.


@given(books, st.sampled_from(FRACTIONS), st.integers(0, 9), st.booleans())
@settings(max_examples=20)
def test_leakage__is_what_a_count_by_hand_finds(
    book: RecipeBook, parts: tuple[float, float, float], seed: int, compositional: bool
) -> None:
    splits = make_splits(book, parts, seed=seed, compositional=compositional)
    leaks = leakage(book, splits["train"], splits["test"])
    inside = barred(book, splits["train"])
    assert leaks.intermediates.keys() == barred(book, splits["test"])
    for item, met_as in leaks.intermediates.items():
        assert (met_as == "goal") == (item in splits["train"])
        assert (met_as == "intermediate") == (item in inside and item not in splits["train"])
    assert leaks.goals.keys() == set(splits["test"])
    for goal, met in leaks.goals.items():
        assert set(met) == (barred(book, (goal,)) & (inside | set(splits["train"])))
        assert list(met) == sorted(set(met))
    kinds = Counter(leaks.intermediates.values())
    assert all(leaks.count(kind) == kinds[kind] for kind in ("goal", "intermediate", "unseen"))


def test_leakage__tells_goals_from_intermediates(group_book: RecipeBook) -> None:
    train, test = (
        ["minecraft:stick", "minecraft:ladder"],
        ["minecraft:chest", "minecraft:fishing_rod"],
    )
    leaks = leakage(group_book, train, test)
    planks = dict.fromkeys(group_book.members[("#minecraft:planks",)], "intermediate")
    assert leaks.intermediates == {"minecraft:stick": "goal", **planks}
    assert leaks.goals["minecraft:chest"] == tuple(planks)
    unmet = leakage(group_book, [], test)
    assert set(unmet.intermediates.values()) == {"unseen"}
    assert unmet.goals == {"minecraft:chest": (), "minecraft:fishing_rod": ()}


# Files.


@pytest.mark.parametrize("make", [paper_splits, make_splits])
def test_read_splits__reads_what_was_written(
    make: Callable[[RecipeBook], Splits], book: RecipeBook, tmp_path: Path
) -> None:
    splits = make(book)
    write_splits(book, splits, tmp_path / "my.jsonl")
    assert read_splits(tmp_path / "my.jsonl") == splits
    rows = [json.loads(line) for line in (tmp_path / "my.jsonl").read_text().splitlines()]
    assert all(row["depth"] == book.depths[row["task"]] for row in rows)


def test_write_splits__writes_the_documented_line(group_book: RecipeBook, tmp_path: Path) -> None:
    write_splits(group_book, {"train": ["minecraft:chest"]}, tmp_path / "my.jsonl")
    assert (
        tmp_path / "my.jsonl"
    ).read_bytes() == b'{"split": "train", "task": "minecraft:chest", "depth": 2}\n'


@pytest.mark.parametrize(
    "line", ["{", "", "null", "[]", '"train"', "1", '{"split": "train"}', '{"task": "a"}']
)
def test_read_splits__names_the_line_that_is_malformed(line: str, tmp_path: Path) -> None:
    file = tmp_path / "my.jsonl"
    file.write_text(f'{{"split": "train", "task": "a"}}\n{line}\n')
    with pytest.raises(RecipeError) as raised:
        read_splits(file)
    assert str(raised.value).startswith(f'{file}:2: expected {{"split": ..., "task": ...}}')


def test_read_splits__needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_splits(tmp_path / "my.jsonl")


def test_read_splits__refuses_a_task_that_stands_twice(tmp_path: Path) -> None:
    row = '{"split": "train", "task": "minecraft:chest", "depth": 2}\n'
    (tmp_path / "my.jsonl").write_text(row + row.replace("train", "test") + row)
    with pytest.raises(
        RecipeError, match=r"my\.jsonl:3: duplicate task minecraft:chest in split train"
    ):
        read_splits(tmp_path / "my.jsonl")
