"""Made recipes: as deep and broad as asked for, solvable, like Minecraft's, and shared by no two
seeds."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import chain, combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hash_seeds import printed
from tests.recipes.play import play
from textcraft_gym import UnknownName
from textcraft_gym.recipes import RecipeBook, RecipeError, solver
from textcraft_gym.recipes.made import (
    LEAST_OF_DEPTH,
    MAX_ITEMS,
    SIZE_PER_DEPTH,
    MadeRecipes,
    open_pack,
)
from textcraft_gym.recipes.pack import write_bundle
from textcraft_gym.recipes.recipe import Recipe
from textcraft_gym.recipes.solver import shortest_plan
from textcraft_gym.recipes.splits import made_splits, make_splits
from textcraft_gym.recipes.words import LONG_ROOTS, MAX_SEED, SHORT_ROOTS, roots, words

NAMES = ("invented", "borrowed")


@st.composite
def made_recipes(draw: st.DrawFn, most: int = 200) -> MadeRecipes:
    depth = draw(st.integers(1, 12))
    return MadeRecipes(
        depth=depth,
        items=draw(st.integers(max(10, LEAST_OF_DEPTH * (depth + 1)), most)),
        seed=draw(st.integers(0, MAX_SEED)),
        names=draw(st.sampled_from(NAMES)),
        branching=draw(st.none() | st.integers(1, 4)),
    )


def recipes_of(book: RecipeBook) -> list[Recipe]:
    return list(chain.from_iterable(book.recipes.values()))


# What is asked for.


@given(made_recipes(most=MAX_ITEMS))
def test_parse__reads_what_str_writes(made: MadeRecipes) -> None:
    assert MadeRecipes.parse(str(made)) == made


def test_parse__has_defaults_and_takes_any_order() -> None:
    assert MadeRecipes.parse("made:") == MadeRecipes(
        depth=4, items=400, seed=0, names="invented", branching=None
    )
    assert MadeRecipes.parse("made:seed=3,depth=8") == MadeRecipes(depth=8, seed=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("made:depth=0", "made:depth=0: expected depth of 1 to 12, got '0'"),
        ("made:depth=13", "expected depth of 1 to 12, got '13'"),
        ("made:depth=٣", "expected depth of 1 to 12"),
        ("made:depth=", "expected depth of 1 to 12, got ''"),
        ("made:depth", "expected depth=VALUE once"),
        ("made:depth=3,depth=3", "expected depth=VALUE once"),
        ("made:items=9,depth=1", "expected items of 10 to 20000, got '9'"),
        ("made:depth=12,items=51", "expected items of 52 to 20000, got '51'"),
        ("made:items=20001", "expected items of 20 to 20000, got '20001'"),
        ("made:items=4e2", "expected items of 20 to 20000, got '4e2'"),
        ("made:seed=-1", "expected seed of 0 to 9999, got '-1'"),
        ("made:seed=" + "9" * 5000, "expected seed of 0 to 9999, got '9999"),
        ("made:branching=5", "expected branching of 1 to 4, got '5'"),
        ("made:names=klingon", "expected names=invented or borrowed, got 'klingon'"),
    ],
)
def test_load__names_the_option_that_is_wrong(text: str, message: str) -> None:
    with pytest.raises(RecipeError) as error:
        RecipeBook.load(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "text", ["made:dept=3", "made:8", "made:depth=3,", "made: depth=3", "made:,"]
)
def test_load__names_the_options_that_exist(text: str) -> None:
    with pytest.raises(
        UnknownName, match=r"unknown option of made recipes .* Possible: depth, items, seed, names"
    ):
        RecipeBook.load(text)


@given(st.text("depthsnam=,:0123456789- \n", max_size=30))
def test_parse__reads_any_text_or_says_why_not(text: str) -> None:
    with suppress(RecipeError, UnknownName):
        assert MadeRecipes.parse(f"made:{text}").items >= 10


# The recipes.


@settings(max_examples=60)
@given(made_recipes())
def test_book__has_every_depth_and_exactly_the_items_that_are_asked_for(made: MadeRecipes) -> None:
    books = [RecipeBook.load(str(made), tags="group"), RecipeBook.load(str(made), tags="item")]
    for book in books:
        assert len(book.names) == made.items
        depths = Counter(book.depths.values())
        assert sorted(depths) == list(range(1, made.depth + 1))
        assert min(len(book.base_items), *depths.values()) >= LEAST_OF_DEPTH
        taken = {
            item
            for recipe in recipes_of(book)
            for slot in recipe.slots
            for item in book.members[slot.ingredient]
        }
        assert taken.issuperset(book.base_items)
        if made.branching:
            assert {len(recipe.slots) for recipe in recipes_of(book)} == {made.branching}
    assert books[0].depths == books[1].depths


@settings(max_examples=25)
@given(made_recipes(), st.sampled_from(["group", "item"]))
def test_plan__of_every_item_works_is_short_and_is_proven_shortest(
    made: MadeRecipes, tags: str
) -> None:
    book = RecipeBook.load(str(made), tags=tags)
    for goal, depth in book.depths.items():
        plan = shortest_plan(book, goal)
        assert plan.proven, goal
        assert depth < play(book, plan, goal, {}) == plan.length <= SIZE_PER_DEPTH * (depth + 1)
        assert len(book.tree(goal)) <= SIZE_PER_DEPTH * (depth + 1) + 1


@pytest.mark.slow
@pytest.mark.parametrize("tags", ["group", "item"])
@pytest.mark.parametrize("seed", range(20))
def test_plan__is_proven_shortest_in_larger_books(seed: int, tags: str) -> None:
    for depth, items in ((5, 600), (8, 400), (12, 1000)):
        book = RecipeBook.load(f"made:depth={depth},items={items},seed={seed}", tags=tags)
        assert [goal for goal in book.depths if not shortest_plan(book, goal).proven] == []


def test_plan__says_when_it_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    book = RecipeBook.load("made:depth=12,items=400,seed=3", tags="item")
    goal = max(book.depths, key=lambda goal: len(book.tree(goal)))
    assert shortest_plan(book, goal).proven
    monkeypatch.setattr(solver, "MAX_BOUNDS", 1)
    assert not shortest_plan(book, goal).proven


@pytest.mark.parametrize("tags", ["group", "item"])
def test_book__is_like_minecrafts(tags: str) -> None:
    """Within a quarter, or within what is said below: the means over ten books of Minecraft's size
    and depth."""

    def measure(book: RecipeBook) -> dict[str, float]:
        recipes = recipes_of(book)
        slots = [slot for recipe in recipes for slot in recipe.slots]
        uses = Counter(slot.ingredient for slot in slots)
        return {
            "ingredients of a recipe": len(slots) / len(recipes),
            "amount of an ingredient": sum(slot.amount for slot in slots) / len(slots),
            "results of a recipe": sum(recipe.makes for recipe in recipes) / len(recipes),
            "recipes with one result": sum(recipe.makes == 1 for recipe in recipes) / len(recipes),
            "recipes with one ingredient": sum(len(recipe.slots) == 1 for recipe in recipes)
            / len(recipes),
            "recipes of an item": len(recipes) / len(book.recipes),
            "recipes that take an ingredient": len(slots) / len(uses),
            "share of tags": sum(slot.ingredient[0].startswith("#") for slot in slots) / len(slots),
            "share of base ingredients": sum(
                slot.ingredient[0] in book.base_items for slot in slots
            )
            / len(slots),
            "share of alternatives": sum(len(slot.ingredient) > 1 for slot in slots) / len(slots),
            "share of base items": len(book.base_items) / len(book.names),
        }

    absolute = {"share of tags": 0.04, "share of alternatives": 0.01, "share of base items": 0.04}
    games = measure(RecipeBook.load(tags=tags))
    made = [
        measure(RecipeBook.load(f"made:depth=4,items=676,seed={seed}", tags=tags))
        for seed in range(10)
    ]
    for name, value in games.items():
        mean = sum(of_book[name] for of_book in made) / len(made)
        assert mean == pytest.approx(value, rel=0.25, abs=absolute.get(name, 0.05)), name


def test_book__has_tags_alternatives_and_several_recipes_and_results() -> None:
    book = RecipeBook.load("made:depth=8,items=400,seed=3", tags="item")
    group = RecipeBook.load("made:depth=8,items=400,seed=3", tags="group")
    tags = {ingredient for ingredient in book.members if ingredient[0].startswith("#")}
    assert tags
    for (tag,) in tags:
        assert 3 <= len(book.members[(tag,)]) <= 6
        assert sorted(book.members[(tag,)]) == list(group.members[(tag,)])
        assert len({book.depths[item] for item in book.members[(tag,)]}) == 1
        assert all(
            book.names[item].endswith(f" {tag.removeprefix('#minecraft:')}")
            for item in book.members[(tag,)]
        )
    assert any(len(ingredient) > 1 for ingredient in book.members)
    assert any(len(recipes) > 1 for recipes in book.recipes.values())
    assert {recipe.makes for recipe in recipes_of(book)} >= {1, 2, 3, 4, 6, 8}


def test_book__has_recipes_that_look_alike() -> None:
    """Of a goal's ingredients other recipes are made, too, and its name shares a word with other
    items."""
    book = RecipeBook.load("made:depth=8,items=400,seed=3")
    taken = Counter(slot.ingredient for recipe in recipes_of(book) for slot in recipe.slots)
    rivals = [
        max(taken[slot.ingredient] for slot in book.recipes[goal][0].slots) - 1
        for goal in book.depths
    ]
    assert sum(count > 0 for count in rivals) > 0.7 * len(rivals)
    root = Counter(name.split()[0] for name in book.names.values())
    assert sum(root[name.split()[0]] > 2 for name in book.names.values()) > 0.7 * len(book.names)


# Names, and what two books share.


def test_roots__are_of_one_seed_each() -> None:
    """Roots are numbers that are spelt in different ways, so that it suffices to try the ends of
    their range."""
    seeds = [0, 1, 2, 500, 511, 512, 513, 5000, MAX_SEED - 1, MAX_SEED]
    counts = Counter(chain.from_iterable(roots(names, seed) for names in NAMES for seed in seeds))
    assert max(counts.values()) == 1
    assert all(len(list(roots(names, seed))) > 1600 for names in NAMES for seed in seeds)


def test_words__are_distinct_and_of_a_power_of_two_where_roots_are_made_of_them() -> None:
    spelt = ["onset", "vowel", "middle", "coda", "nature", "material", "look"]
    for kind in [*spelt, "raw", "crafted", "tagged"]:
        assert len(set(words(kind))) == len(words(kind)) > 0, kind
    assert all(len(words(kind)).bit_count() == 1 for kind in spelt)
    # A word can be cut in one way only.
    letters = {kind: set("".join(words(kind))) for kind in spelt[:4]}
    assert letters["vowel"].isdisjoint(letters["onset"] | letters["middle"] | letters["coda"])
    assert not set(words("raw")) & set(words("crafted") + words("tagged"))
    assert not set(words("crafted")) & set(words("tagged"))
    # So that the roots of all seeds can be told apart.
    pairs = len(words("nature")) * len(words("material"))
    assert pairs * (len(words("look")) + 1) >= (MAX_SEED + 1) * (SHORT_ROOTS + LONG_ROOTS)


def test_books__of_different_seeds_share_no_recipe_and_no_name() -> None:
    seeds = [*range(30), 512, MAX_SEED]
    specs = [
        f"made:depth=3,items=120,seed={seed},names={names}" for names in NAMES for seed in seeds
    ]
    books = [RecipeBook.load(text) for text in specs] + [RecipeBook.load()]
    recipes = [{(recipe.output, recipe.slots) for recipe in recipes_of(book)} for book in books]
    for first, second in combinations(range(len(books)), 2):
        assert recipes[first].isdisjoint(recipes[second])
        assert books[first].names.keys().isdisjoint(books[second].names)


@given(
    st.integers(0, MAX_SEED), st.integers(0, MAX_SEED), st.integers(1, 5), st.sampled_from(NAMES)
)
@settings(max_examples=30)
def test_books__of_any_two_seeds_share_no_item(
    first: int, second: int, depth: int, names: str
) -> None:
    """However deep or large they are; the same seed with other names shares none either."""
    book = RecipeBook.load(f"made:depth={depth},items=40,seed={first},names=invented")
    other = RecipeBook.load(f"made:depth=3,items=150,seed={second},names={names}")
    if (first, "invented") != (second, names):
        assert book.names.keys().isdisjoint(other.names)


def test_book__has_the_same_structure_with_either_names() -> None:
    def structure(names: str) -> list[tuple[int, int, int]]:
        book = RecipeBook.load(f"made:depth=6,items=200,seed=5,names={names}")
        depths = book.depths.items()
        return sorted(
            (depth, len(book.tree(goal)), shortest_plan(book, goal).length)
            for goal, depth in depths
        )

    assert structure("invented") == structure("borrowed")


def test_names__are_words_a_player_can_type() -> None:
    for names, most in (("invented", 2), ("borrowed", 4)):
        book = RecipeBook.load(f"made:depth=4,items=2000,seed=9,names={names}")
        for name in book.names.values():
            assert name.replace(" ", "").isalpha()
            assert name.isascii()
            assert 2 <= len(name.split()) <= most


# The same everywhere.

GOLDEN = {
    "made:": "948b8901d802711a",
    "made:depth=8,items=400,seed=3": "ff13210e478eda6f",
    "made:depth=12,items=700,seed=9999,names=borrowed": "22691abf3b35bc44",
    "made:depth=1,items=10,seed=1,branching=2": "e850c5dbe5879879",
}


def test_books__are_golden() -> None:
    """Whoever trained on a book must be able to name it for ever: a change of these is a change of
    every made world."""
    assert {text: RecipeBook.load(text).fingerprint[:16] for text in GOLDEN} == GOLDEN


def test_book__does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from textcraft_gym.recipes import RecipeBook;"
        "print(*(RecipeBook.load('made:depth=5,seed=2', tags=t).fingerprint for t in ('group', 'item')))"
    )
    assert printed(1, code) == printed(2, code)


def test_load__gives_one_book_however_it_is_asked_for(tmp_path: Path) -> None:
    book = RecipeBook.load("made:depth=3,items=50,seed=4")
    assert RecipeBook.load(Path("made:seed=4,items=50,depth=3")) is book
    write_bundle(open_pack("made:depth=3,items=50,seed=4"), tmp_path)
    assert RecipeBook.load(tmp_path) is book


# Splits.


@settings(max_examples=30)
@given(made_recipes())
def test_splits__have_every_depth_in_each(made: MadeRecipes) -> None:
    book = RecipeBook.load(str(made))
    splits = made_splits(book)
    assert list(splits) == ["train", "dev", "test"]
    depths = set(range(min(2, made.depth), made.depth + 1))
    assert all({book.depths[item] for item in items} == depths for items in splits.values())
    assert sorted(chain.from_iterable(splits.values())) == sorted(
        item for item, depth in book.depths.items() if depth in depths
    )


def test_make_splits__divides_made_recipes() -> None:
    book = RecipeBook.load("made:depth=8,items=400,seed=3")
    splits = make_splits(book, compositional=True)
    trees = {part for goal in splits["test"] for part in book.tree(goal)[1:]}
    assert splits["test"]
    assert trees.isdisjoint(splits["train"])
