"""The recipe book: which recipes count, tags, cycles, what fills a recipe, and what a tree
holds."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.recipes.packs import load, shapeless, write_json, write_pack
from tests.recipes.play import play
from textcraft_gym.recipes import Recipe, RecipeBook, RecipeError, Slot
from textcraft_gym.recipes.book import Tags, left_out, name_of_ingredient
from textcraft_gym.recipes.components import strong_components
from textcraft_gym.recipes.pack import read_pack
from textcraft_gym.recipes.recipe import parse_recipe
from textcraft_gym.recipes.solver import shortest_plan

CYCLE_DROPS = {
    "minecraft:iron_ingot_from_nuggets",
    "minecraft:gold_ingot_from_nuggets",
    "minecraft:honey_block",
}


@pytest.fixture(scope="module")
def written() -> dict[str, Recipe]:
    """Every shaped and shapeless recipe of the bundled pack, before any rule."""
    parsed = [parse_recipe(id, file, data) for id, (file, data) in read_pack().recipes.items()]
    return {recipe.id: recipe for recipe in parsed if recipe}


def kept_ids(book: RecipeBook) -> set[str]:
    return {recipe.id for recipes in book.recipes.values() for recipe in recipes}


# What the rules leave of Minecraft 1.16.5.


def test_pack__has_the_two_shapes_in_the_published_numbers(written: dict[str, Recipe]) -> None:
    kinds = Counter(data["type"] for _, data in read_pack().recipes.values())
    assert (
        kinds["minecraft:crafting_shaped"],
        kinds["minecraft:crafting_shapeless"],
        kinds.total(),
    ) == (491, 143, 859)
    assert len(written) == 491 + 143


def test_group_book__has_the_published_sizes(group_book: RecipeBook) -> None:
    assert len(group_book.recipes) == 544
    assert len(kept_ids(group_book)) == sum(map(len, group_book.recipes.values())) == 612
    assert len(group_book.base_items) == 132


def test_item_book__has_550_craftable_items(item_book: RecipeBook) -> None:
    assert len(item_book.recipes) == 550


@pytest.mark.parametrize(
    ("tags", "fingerprint"),
    [
        ("group", "9df81c2a4a1cd39c0e2e95fd0155b8b8166767f768ec7323670a786dcc7ad71a"),
        ("item", "07f16af1ab41d7ced4cf3ec1a0a8acd94aa3681e10843ebc36fe75ac4cea781b"),
    ],
)
def test_book__never_changes(tags: Tags, fingerprint: str) -> None:
    """Rules for other versions must not touch the recipes that everybody's results are of."""
    assert RecipeBook.load(tags=tags).fingerprint == fingerprint


@pytest.mark.parametrize(
    ("tags", "histogram"),
    [
        ("group", [(1, 147), (2, 274), (3, 112), (4, 11)]),
        ("item", [(1, 144), (2, 280), (3, 115), (4, 11)]),
    ],
)
def test_book__has_the_published_depths(tags: Tags, histogram: list[tuple[int, int]]) -> None:
    assert sorted(Counter(RecipeBook.load(tags=tags).depths.values()).items()) == histogram


def test_group_book__drops_what_takes_a_block_apart_and_three_cycles(
    group_book: RecipeBook, written: dict[str, Recipe]
) -> None:
    from_a_block = {
        id
        for id, recipe in written.items()
        if len(recipe.slots) == 1 and recipe.slots[0].ingredient[0].endswith("_block")
    }
    assert len(from_a_block) == 19
    assert written.keys() - kept_ids(group_book) == from_a_block | CYCLE_DROPS


def test_group_book__knows_the_outputs_of_dropped_recipes(
    group_book: RecipeBook, written: dict[str, Recipe]
) -> None:
    for id in written.keys() - kept_ids(group_book):
        assert written[id].output in group_book.names
    assert {"minecraft:iron_ingot", "minecraft:honey_block", "minecraft:wheat"} <= set(
        group_book.base_items
    )


def test_item_book__drops_only_true_inverses_and_three_cycles(
    item_book: RecipeBook, written: dict[str, Recipe]
) -> None:
    takes = {
        (recipe.output, slot.ingredient) for recipe in written.values() for slot in recipe.slots
    }
    inverses = {
        id
        for id, recipe in written.items()
        if len(recipe.slots) == 1
        and any(
            part.endswith("_block") and (part, (recipe.output,)) in takes
            for part in recipe.slots[0].ingredient
        )
    }
    assert "minecraft:iron_ingot_from_iron_block" in inverses
    assert written.keys() - kept_ids(item_book) == inverses | CYCLE_DROPS


def test_group_book__takes_the_first_alternative(
    group_book: RecipeBook, item_book: RecipeBook
) -> None:
    (torch,), (either,) = (
        group_book.recipes["minecraft:torch"],
        item_book.recipes["minecraft:torch"],
    )
    assert set(torch.slots) == {Slot(("minecraft:coal",), 1), Slot(("minecraft:stick",), 1)}
    assert set(either.slots) == {
        Slot(("minecraft:coal", "minecraft:charcoal"), 1),
        Slot(("minecraft:stick",), 1),
    }
    assert all(len(ingredient) == 1 for ingredient in group_book.members)


def test_group_book__has_members_of_planks_and_wool_only(group_book: RecipeBook) -> None:
    wood = "acacia", "birch", "crimson", "dark_oak", "jungle", "oak", "spruce", "warped"
    grays = "black", "gray", "light_gray"
    dyes = (
        "blue",
        "brown",
        "cyan",
        "green",
        "light_blue",
        "lime",
        "magenta",
        "orange",
        "pink",
        "purple",
        "red",
        "yellow",
    )
    tags = {
        ingredient[0]: members
        for ingredient, members in group_book.members.items()
        if ingredient[0][0] == "#"
    }
    assert len(tags) == 16
    assert tags.pop("#minecraft:planks") == tuple(f"minecraft:{kind}_planks" for kind in wood)
    assert tags.pop("#minecraft:wool") == tuple(
        f"minecraft:{dye}_wool" for dye in sorted(grays + dyes)
    )
    for tag, members in tags.items():
        assert members == (tag[1:],)
        assert tag[1:] in group_book.base_items


def test_group_book__does_not_take_groups_for_items(group_book: RecipeBook) -> None:
    assert not {"planks", "wool", "sticks", "wooden door"} & group_book.ids.keys()


def test_item_book__fills_tags_as_the_game_does(item_book: RecipeBook) -> None:
    assert "minecraft:white_wool" in item_book.members[("#minecraft:wool",)]
    assert len(item_book.members[("#minecraft:wool",)]) == 16
    # A tag of tags: logs that burn (of six kinds of wood) and the stems of two that do not, four
    # blocks of each.
    assert len(item_book.members[("#minecraft:logs",)]) == 32
    for ingredient, members in item_book.members.items():
        assert not any(member.startswith("#") for member in members), ingredient


def test_book__names_each_item_once_and_splits_them_in_base_and_craftable(book: RecipeBook) -> None:
    assert {book.ids[name]: name for name in book.ids} == book.names
    assert set(book.base_items) | book.recipes.keys() == book.names.keys()
    assert not set(book.base_items) & book.recipes.keys()
    assert list(book.base_items) == sorted(book.base_items)
    mentioned = {member for members in book.members.values() for member in members}
    assert mentioned <= book.names.keys()


def test_book__orders_recipes_by_id(book: RecipeBook) -> None:
    assert list(book.recipes) == sorted(book.recipes)
    for item, recipes in book.recipes.items():
        assert [recipe.id for recipe in recipes] == sorted(recipe.id for recipe in recipes)
        assert {recipe.output for recipe in recipes} == {item}


def test_load__refuses_another_reading_of_tags() -> None:
    with pytest.raises(ValueError, match="expected tags in group, item, got 'items'"):
        RecipeBook.load(tags="items")  # type: ignore[arg-type]


# Small packs: duplicates, the block rule, names, tags.


def test_load__drops_exact_duplicates(tmp_path: Path) -> None:
    data = shapeless("a", "b", "c")
    book = RecipeBook.load(
        write_pack(tmp_path, {"a2": data, "a1": data, "a3": shapeless("a", "b", "c", makes=2)})
    )
    assert [recipe.id for recipe in book.recipes["minecraft:a"]] == ["minecraft:a1", "minecraft:a3"]


@pytest.mark.parametrize("reading", ["group", "item"])
def test_load__drops_what_takes_a_block_apart_that_is_made_of_the_output_through_blocks(
    reading: Tags, tmp_path: Path
) -> None:
    """The copper of Minecraft 1.17; but a block that is made of other things can be taken apart
    with item tags."""
    recipes = [
        shapeless("copper_block", *["copper_ingot"] * 9),
        shapeless("waxed_copper_block", "copper_block", "honeycomb"),
        shapeless("copper_ingot", "copper_block", makes=9),
        shapeless("copper_ingot", "waxed_copper_block", makes=9),
        shapeless("grain", "straw_block"),
        shapeless("straw_block", "straw_bale"),
        shapeless("straw_bale", "grain_block"),
        shapeless("grain_block", "seed"),
    ]
    book = load(tmp_path, recipes, reading=reading)
    assert "minecraft:copper_ingot" in book.base_items
    assert ("minecraft:grain" in book.recipes) is (reading == "item")


@pytest.mark.parametrize(
    ("reading", "craftable"), [("group", {"b_block"}), ("item", {"b_block", "c", "d"})]
)
def test_load__drops_recipes_that_take_a_block_apart(
    reading: Tags, craftable: set[str], tmp_path: Path
) -> None:
    recipes = [
        shapeless("a", "b_block", makes=9),
        shapeless("b_block", *["a"] * 9),
        shapeless("c", "b_block"),
        shapeless("d", "e_block", "e_block"),
    ]
    book = load(tmp_path, recipes, reading=reading)
    assert book.recipes.keys() == {f"minecraft:{item}" for item in craftable}
    assert {"minecraft:a", "minecraft:c", "minecraft:d"} <= book.names.keys()


def test_load__keeps_a_recipe_that_takes_more_than_a_block(tmp_path: Path) -> None:
    book = load(
        tmp_path, [shapeless("a", "b_block", "c"), shapeless("c", "b_blocks")], reading="group"
    )
    assert book.recipes.keys() == {"minecraft:a", "minecraft:c"}


def test_names__keep_other_namespaces(tmp_path: Path) -> None:
    book = load(tmp_path, [shapeless("mod:big_hammer", "mod:iron_rod", "iron_rod")])
    assert book.ids == {
        "mod:big hammer": "mod:big_hammer",
        "mod:iron rod": "mod:iron_rod",
        "iron rod": "minecraft:iron_rod",
    }


@pytest.mark.parametrize(
    ("ingredient", "name"),
    [
        (("minecraft:oak_planks",), "oak planks"),
        (("#minecraft:planks",), "planks"),
        (("minecraft:coal", "mod:char_coal"), "coal or mod:char coal"),
    ],
)
def test_name_of_ingredient__is_what_a_player_reads(ingredient: tuple[str, ...], name: str) -> None:
    assert name_of_ingredient(ingredient) == name


def test_load__needs_no_tags_to_read_groups(tmp_path: Path) -> None:
    recipes = [shapeless("bed", "#wool", "#logs"), shapeless("red_wool", "dye", group="wool")]
    book = load(tmp_path / "group", recipes, reading="group")
    assert book.members[("#minecraft:wool",)] == ("minecraft:red_wool",)
    assert book.members[("#minecraft:logs",)] == ("minecraft:logs",)
    with pytest.warns(UserWarning, match=r"skipped .*/bed_0\.json: unknown tag #minecraft:wool$"):
        assert load(tmp_path / "item", recipes, reading="item").recipes.keys() == {
            "minecraft:red_wool"
        }


def test_load__fills_tags_in_the_order_of_their_files(tmp_path: Path) -> None:
    tags = {
        "t": ["d", "#inner", {"id": "b", "required": False}],
        "inner": ["minecraft:c", "d", "mod:e"],
    }
    book = load(tmp_path, [shapeless("a", ["#t", "f", "b"])], tags)
    assert book.members[("#minecraft:t", "minecraft:f", "minecraft:b")] == (
        "minecraft:d",
        "minecraft:c",
        "mod:e",
        "minecraft:b",
        "minecraft:f",
    )


BAD_TAGS: dict[str, tuple[Mapping[str, Sequence[object]], str, str]] = {
    "unknown": ({"other": ["b"]}, "", "unknown tag #minecraft:t"),
    "unknown inside": ({"t": ["#gone"]}, "tags/items/t", "unknown tag #minecraft:gone"),
    "empty": ({"t": []}, "tags/items/t", "empty tag"),
    "empty inside": ({"t": ["#u"], "u": []}, "tags/items/t", "empty tag"),
    "in itself": ({"t": ["b", "#t"]}, "tags/items/t", "the tag #minecraft:t contains itself"),
    "in each other": (
        {"t": ["#u"], "u": ["b", "#t"]},
        "tags/items/u",
        "the tag #minecraft:t contains itself",
    ),
    "in each other below": (
        {"t": ["#u"], "u": ["b", "#v"], "v": ["#u"]},
        "tags/items/v",
        "the tag #minecraft:u contains",
    ),
    "number": ({"t": [1]}, "tags/items/t", "expected an id such as minecraft:stick, got 1"),
    "empty text": ({"t": [""]}, "tags/items/t", "expected an id such as minecraft:stick, got ''"),
    "object without id": ({"t": [{"required": False}]}, "tags/items/t", "expected an id"),
    "list": ({"t": [["b"]]}, "tags/items/t", "expected an id"),
}


@pytest.mark.parametrize(("tags", "file", "reason"), BAD_TAGS.values(), ids=BAD_TAGS)
@pytest.mark.parametrize("reading", ["group", "item"])
def test_load__skips_and_names_a_recipe_with_a_bad_tag(
    reading: Tags, tags: Mapping[str, Sequence[object]], file: str, reason: str, tmp_path: Path
) -> None:
    with pytest.warns(UserWarning, match="skipped") as warned:
        book = load(tmp_path, [shapeless("a", "#t"), shapeless("c", "b")], tags, reading)
    assert book.names.keys() == {"minecraft:b", "minecraft:c"}
    (message,) = [str(warning.message) for warning in warned]
    space = f"{tmp_path}/data/minecraft"
    culprit = f"{space}/{file}.json: " if file else ""
    assert message.startswith(f"skipped {space}/recipes/a_0.json: {culprit}{reason}")


def test_load__warns_of_bare_ids_where_the_pack_has_its_own(tmp_path: Path) -> None:
    recipes = tmp_path / "data/tea/recipes"
    write_json(recipes / "cup.json", shapeless("cup", "minecraft:clay"))
    write_json(recipes / "tray.json", shapeless("tea:tray", "stick"))
    write_json(
        recipes / "tea_set.json", shapeless("tea:tea_set", ["tray", "cup"], "#cups", "tea:x")
    )
    meant = "write tea:cup for cup, tea:tray for tray$"
    with pytest.warns(UserWarning, match=meant):
        book = RecipeBook.load(tmp_path)
    assert "minecraft:cup" in book.recipes


def test_left_out__gives_each_recipe_that_does_not_count_its_reason(tmp_path: Path) -> None:
    recipes = {
        "a": shapeless("a", "b"),
        "again": shapeless("a", "b"),
        "copied": shapeless("c", "c", "b", makes=2),
        "unpacked": shapeless("b", "a_block"),
        "odd": {"type": "crafting_shapeless"},
        "smelted": {"type": "smelting"},
    }
    with pytest.warns(UserWarning, match=r"skipped .*/odd\.json"):
        book = RecipeBook.load(write_pack(tmp_path, recipes))
    assert left_out(read_pack(tmp_path), book) == {
        "repeats or undoes another": ["minecraft:again", "minecraft:unpacked"],
        "takes what it makes": ["minecraft:copied"],
        "cannot be read": ["minecraft:odd"],
    }


@pytest.mark.parametrize("data", [{}, {"values": None}, {"values": {"b": 1}}, {"values": "b"}])
def test_load__skips_a_tag_without_a_list_and_what_takes_it(data: object, tmp_path: Path) -> None:
    write_json(tmp_path / "data/minecraft/tags/items/t.json", data)
    with pytest.warns(UserWarning, match="skipped") as warned:
        book = load(tmp_path, [shapeless("a", "#t"), shapeless("c", "b")])
    bad_tag, bad_recipe = (str(warning.message) for warning in warned)
    assert bad_tag.endswith("/tags/items/t.json: a tag needs a list of values")
    assert bad_recipe.endswith("/recipes/a_0.json: unknown tag #minecraft:t")
    assert book.recipes.keys() == {"minecraft:c"}


def test_load__reads_tags_that_nobody_takes_only_if_they_are_whole(tmp_path: Path) -> None:
    """A bad tag without a recipe harms nobody, so that there is no warning."""
    tags = {"t": ["#gone"], "u": ["b", "#empty"], "empty": []}
    assert load(tmp_path, [shapeless("a", "#u")], tags).members[("#minecraft:u",)] == (
        "minecraft:b",
    )


def test_load__reads_tags_in_tags_once(tmp_path: Path) -> None:
    """Tags that double 60 times, and tags in tags 2000 deep."""
    tags = {f"t{n}": [f"#t{n + 1}", f"#t{n + 1}"] for n in range(60)} | {"t60": ["b", "c"]}
    tags |= {f"u{n}": [f"#u{n + 1}"] for n in range(2000)} | {"u2000": ["d"]}
    book = load(tmp_path, [shapeless("a", "#t0", "#u0")], tags)
    assert list(book.members.values()) == [("minecraft:b", "minecraft:c"), ("minecraft:d",)]


def test_load__names_ten_and_counts_the_rest(tmp_path: Path) -> None:
    recipes = [shapeless("c", "b"), *(shapeless(f"a{n:02}", f"#mod:t{n}") for n in range(25))]
    with pytest.warns(UserWarning, match="skipped") as warned:
        load(tmp_path, recipes)
    *named, last = (str(warning.message) for warning in warned)
    assert len(named) == 10
    assert named[-1].endswith("/a09_10.json: unknown tag #mod:t9")
    assert last == f"{tmp_path}: skipped 15 more, of 25 that cannot be read"


def test_load__refuses_a_pack_of_which_nothing_can_be_read(tmp_path: Path) -> None:
    recipes = [shapeless("a", "#gone"), shapeless("b", {"type": "mod:difference"})]  # type: ignore[arg-type]
    with pytest.raises(
        RecipeError,
        match=r"no recipe for a crafting table can be read: .*#minecraft:gone; .*'mod:diff",
    ):
        load(tmp_path, recipes)


# Cycles.


RINGS = "items are made only of one another, so one of each set can be got: "


def ring_of(
    folder: Path, recipes: Sequence[dict[str, object]], **arguments: Any
) -> tuple[RecipeBook, str]:
    """Return the book, and what its one warning says of rings, without namespaces."""
    with pytest.warns(UserWarning, match=RINGS) as warned:
        book = load(folder, recipes, **arguments)
    (message,) = [str(warning.message) for warning in warned]
    assert message.startswith(f"{folder}: {RINGS}")
    return book, message.split(RINGS)[1].replace("minecraft:", "")


def test_load__gives_up_one_of_two_items_that_need_each_other(tmp_path: Path) -> None:
    book, ring = ring_of(
        tmp_path, [shapeless("a", "b", "d"), shapeless("b", "a", "d"), shapeless("c", "a")]
    )
    assert ring == "a, of a, b"
    assert book.base_items == ("minecraft:a", "minecraft:d")
    assert book.depths == {"minecraft:b": 1, "minecraft:c": 1}


def test_load__gives_up_the_item_that_most_others_take(tmp_path: Path) -> None:
    """`q` is taken by two of the ring; `h` hangs on the ring, and what hangs on it does not
    count."""
    recipes = [
        *(
            shapeless("p", "#q"),
            shapeless("q", "r", "x"),
            shapeless("r", "p", "q"),
            shapeless("h", "r"),
        ),
        *(shapeless(f"h{n}", "r") for n in range(4)),
    ]
    book, ring = ring_of(tmp_path, recipes, tags={"q": ["q"]})
    assert ring == "q, of p, q, r"
    assert book.base_items == ("minecraft:q", "minecraft:x")


def test_load__gives_up_no_more_than_it_must(tmp_path: Path) -> None:
    """`c` and `d` need each other only as long as neither `a` nor `b` can be made."""
    recipes = [
        shapeless("a", "b", "x"),
        shapeless("b", "a", "x"),
        shapeless("c", "d"),
        shapeless("d", "c"),
    ]
    book, ring = ring_of(tmp_path, [*recipes, shapeless("d", "a")])
    assert ring == "a, of a, b"
    assert book.recipes.keys() == {"minecraft:b", "minecraft:c", "minecraft:d"}


def test_load__gives_up_several_items_of_one_set_if_one_is_not_enough(tmp_path: Path) -> None:
    recipes = [
        shapeless("a", "b", "c"),
        shapeless("b", "a", "c"),
        shapeless("c", "b", "d"),
        shapeless("d", "c", "b"),
    ]
    book, ring = ring_of(tmp_path, recipes)
    assert ring == "b, of a, b, c, d; c, of c, d"
    assert book.depths == {"minecraft:a": 1, "minecraft:d": 1}


def test_load__breaks_a_ring_of_5000_at_once(tmp_path: Path) -> None:
    recipes = (
        json.dumps({"id": f"r{n}"} | shapeless(f"a{n}", f"a{(n + 1) % 5000}")) + "\n"
        for n in range(5000)
    )
    (tmp_path / "recipes.jsonl").write_text("".join(recipes))
    (tmp_path / "tags.jsonl").touch()
    started = process_time()
    with pytest.warns(
        UserWarning, match="minecraft:a0, of minecraft:a0, minecraft:a1, .*, and 4990 more$"
    ):
        book = RecipeBook.load(tmp_path)
    assert max(book.depths.values()) == len(book.recipes) == 4999
    assert process_time() - started < 8


def test_load__gets_an_item_that_is_made_of_itself_only(tmp_path: Path) -> None:
    """As the smithing templates of Minecraft 1.20 are. Here nothing needs a warning."""
    recipes = [shapeless("a", "a", "b", makes=2), shapeless("c", "c", "b"), shapeless("c", "d")]
    for reading in ("group", "item"):
        book = load(tmp_path, recipes, reading=reading)
        assert [recipe.id for some in book.recipes.values() for recipe in some] == ["minecraft:c_2"]
        assert book.base_items == ("minecraft:a", "minecraft:b", "minecraft:d")


@given(
    st.dictionaries(
        st.sampled_from("abcdefgh"), st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=3)
    )
)
def test_strong_components__are_what_reachability_says(edges: dict[str, set[str]]) -> None:
    edges = {node: edges.get(node, set()) for node in "abcdefgh"}
    reached = {node: {node} | targets for node, targets in edges.items()}
    for middle, start in product(edges, edges):
        if middle in reached[start]:
            reached[start] |= reached[middle]
    expected = {
        tuple(sorted(other for other in edges if node in reached[other] and other in reached[node]))
        for node in edges
    }
    components = strong_components(edges)
    assert {tuple(component) for component in components} == expected
    assert sum(map(len, components)) == len(edges)


def test_load__drops_the_compressing_recipe_of_two_that_make_each_other(tmp_path: Path) -> None:
    recipes = [
        shapeless("ingot", *["nugget"] * 9),
        shapeless("nugget", "ingot", makes=9),
        shapeless("sword", "ingot"),
    ]
    book = load(tmp_path, recipes)
    assert book.recipes.keys() == {"minecraft:nugget", "minecraft:sword"}
    assert book.base_items == ("minecraft:ingot",)


def test_load__keeps_a_compressing_recipe_where_there_is_another_way(tmp_path: Path) -> None:
    recipes = [
        shapeless("ingot", *["nugget"] * 9),
        shapeless("nugget", "ingot", makes=9),
        shapeless("ingot", "ore"),
    ]
    assert len(load(tmp_path, recipes).recipes["minecraft:ingot"]) == 2


def test_load__gives_up_the_same_item_in_any_order_of_recipes(tmp_path: Path) -> None:
    recipes = [shapeless("b", "c", "d"), shapeless("c", "a", "d"), shapeless("a", "b", "d")]
    rings = {
        ring_of(tmp_path / str(n), list(order))[1] for n, order in enumerate(permutations(recipes))
    }
    assert rings == {"a, of a, b, c"}


# Matching.


def offers(book: RecipeBook, slots: Sequence[Slot]) -> set[frozenset[tuple[str, int]]]:
    """Return every offer that fills the slots, by trying everything."""
    if book.mixes:
        ways = [
            [Counter(mix) for mix in combinations_with_replacement(book.members[i], n)]
            for i, n in slots
        ]
    else:
        ways = [[Counter({member: n}) for member in book.members[i]] for i, n in slots]
    fillings = [sum(filling, Counter()) for filling in product(*ways)]
    return {
        frozenset(filling.items())
        for filling in fillings
        if book.mixes or len(filling) == len(slots)
    }


def test_match__takes_every_recipe_at_its_exact_counts_only(book: RecipeBook) -> None:
    for item, recipes in book.recipes.items():
        for recipe in recipes:
            offer = tuple(
                (book.members[ingredient][-1], count) for ingredient, count in recipe.slots
            )
            assert book.match(item, offer) == recipe
            assert book.match(item, offer[::-1]) == recipe
            for place, (part, count) in enumerate(offer):
                more = (*offer[:place], (part, count + 1), *offer[place + 1 :])
                assert book.match(item, more) != recipe
                less = (
                    *offer[:place],
                    *([(part, count - 1)] if count > 1 else []),
                    *offer[place + 1 :],
                )
                assert book.match(item, less) != recipe
            assert book.match(item, (*offer, ("minecraft:bedrock", 1))) is None
            assert book.match("minecraft:bedrock", offer) is None


def test_match__gives_no_two_recipes_the_same_offer(book: RecipeBook) -> None:
    for recipes in book.recipes.values():
        seen = Counter(
            offer for recipe in recipes if len(recipes) > 1 for offer in offers(book, recipe.slots)
        )
        assert all(count == 1 for count in seen.values())


@pytest.mark.parametrize(
    ("offer", "in_group", "in_item"),
    [
        ({"oak_planks": 8}, True, True),
        ({"oak_planks": 5, "birch_planks": 3}, False, True),
        ({"oak_planks": 7}, False, False),
        ({"oak_planks": 9}, False, False),
        ({"oak_planks": 5, "birch_planks": 4}, False, False),
        ({"oak_planks": 7, "oak_log": 1}, False, False),
        ({"planks": 8}, False, False),
        ({}, False, False),
    ],
)
def test_match__mixes_only_with_item_tags(
    offer: dict[str, int],
    in_group: bool,
    in_item: bool,
    group_book: RecipeBook,
    item_book: RecipeBook,
) -> None:
    laid_out = tuple((f"minecraft:{item}", count) for item, count in offer.items())
    assert (group_book.match("minecraft:chest", laid_out) is not None) is in_group
    assert (item_book.match("minecraft:chest", laid_out) is not None) is in_item


ITEMS = ("x", "y", "z")
FILLS = {
    ("#xyz",): ITEMS,
    ("#xy",): ITEMS[:2],
    ("y", "z"): ITEMS[1:],
    ("x",): ("x",),
    ("y",): ("y",),
}


@pytest.mark.parametrize("tags", ["group", "item"])
def test_match__agrees_with_trying_everything_where_slots_overlap(tags: Tags) -> None:
    for amounts in product(range(3), repeat=len(FILLS)):
        slots = tuple(Slot(*slot) for slot in zip(FILLS, amounts, strict=True) if slot[1])
        if not 0 < sum(amounts) <= 5:
            continue
        book = RecipeBook(
            {"out": (Recipe("r", "out", 1, "", slots),)}, FILLS, {*ITEMS, "out"}, tags
        )
        filling = offers(book, slots)
        for counts in product(range(sum(amounts) + 1), repeat=len(ITEMS)):
            offer = tuple((item, count) for item, count in zip(ITEMS, counts, strict=True) if count)
            # Without mixing, whether one kind may fill two slots is left to the rules.
            if sum(counts) == sum(amounts) and (book.mixes or len(offer) >= len(slots)):
                for laid_out in permutations(offer):
                    assert (book.match("out", laid_out) is not None) is (
                        frozenset(offer) in filling
                    ), (slots, offer)


# Trees.


def test_tree__holds_all_alternatives_and_all_members(book: RecipeBook) -> None:
    below = {
        item: {
            member
            for recipe in recipes
            for slot in recipe.slots
            for member in book.members[slot.ingredient]
            if member in book.recipes
        }
        for item, recipes in book.recipes.items()
    }
    for goal in book.recipes:
        tree = book.tree(goal)
        assert tree[0] == goal
        assert len(set(tree)) == len(tree)
        reached, size = {goal}, 0
        while len(reached) > size:
            size = len(reached)
            reached |= {part for item in reached for part in below[item]}
        assert set(tree) == reached


def test_tree__of_a_chest_holds_every_kind_of_planks(group_book: RecipeBook) -> None:
    assert set(group_book.tree("minecraft:chest")) == {
        "minecraft:chest",
        *group_book.members[("#minecraft:planks",)],
    }


def test_tree__of_a_base_item_is_itself(book: RecipeBook) -> None:
    assert book.tree(book.base_items[0]) == book.base_items[:1]


def hut(folder: Path) -> RecipeBook:
    """A book in which two slots take the same item: one by its tag, one by name."""
    planks = [
        shapeless(f"{wood}_planks", f"{wood}_log", makes=4, group="planks")
        for wood in ("oak", "birch")
    ]
    slots = ["#planks"] * 3 + ["oak_planks"] * 2
    return load(
        folder,
        [*planks, shapeless("hut", *slots)],
        {"planks": ["oak_planks", "birch_planks"]},
        "group",
    )


def test_match__lets_one_kind_fill_two_slots(tmp_path: Path) -> None:
    book = hut(tmp_path)
    birch, oak = "minecraft:birch_planks", "minecraft:oak_planks"
    assert book.match("minecraft:hut", ((birch, 3), (oak, 2)))
    assert book.match("minecraft:hut", ((oak, 5),))
    assert not book.match("minecraft:hut", ((birch, 2), (oak, 3)))
    play(book, shortest_plan(book, "minecraft:hut"), "minecraft:hut", {})


def test_match__prefers_the_recipe_that_makes_most(tmp_path: Path) -> None:
    paper = [shapeless("paper", "wood"), shapeless("paper", ["wood", "cane"], makes=3)]
    book = load(tmp_path, [*paper, shapeless("book", *["paper"] * 3)])
    play(book, shortest_plan(book, "minecraft:book"), "minecraft:book", {})


def test_load__passes_over_optional_tags_that_are_missing(tmp_path: Path) -> None:
    book = load(tmp_path, [shapeless("a", "#t")], {"t": ["b", {"id": "#gone", "required": False}]})
    assert book.members["#minecraft:t",] == ("minecraft:b",)
    with pytest.raises(RecipeError, match="unknown tag #minecraft:gone"):
        load(
            tmp_path / "other",
            [shapeless("a", "#t")],
            {"t": ["b", {"id": "#gone", "required": True}]},
        )


def test_load__takes_a_group_of_null_for_none(tmp_path: Path) -> None:
    book = load(tmp_path, [shapeless("a", "b", group=None), shapeless("c", "#none")], None, "group")  # type: ignore[arg-type]
    assert book.members["#minecraft:none",] == ("minecraft:none",)


@pytest.mark.parametrize("name", ["x y", "X", "", "a:b:c", "\ud800", "a,b"])
def test_load__refuses_what_is_no_id(name: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="expected an id such as minecraft:stick"):
        load(tmp_path, [shapeless("a", name)])


def test_load__gives_one_book_for_one_content(tmp_path: Path) -> None:
    book = hut(tmp_path / "one")
    assert hut(tmp_path / "two") is book
    assert pickle.loads(pickle.dumps(book)) is book
    assert copy.deepcopy(book) is copy.copy(book) is book
    assert RecipeBook.load() is not RecipeBook.load(tags="item")
    assert RecipeBook.load().fingerprint[:16] == "9df81c2a4a1cd39c"
