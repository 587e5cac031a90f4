"""Parsing one recipe: both spellings, sums, and every way in which its JSON can be wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.recipes import Recipe, RecipeError, Slot
from textcraft_gym.recipes.recipe import name_of, parse_recipe, parse_reference

FILE = "pack/recipes/thing.json"
SHAPED = {
    "type": "minecraft:crafting_shaped",
    "group": "things",
    "pattern": ["# /", "/#/"],
    "key": {
        "/": {"item": "minecraft:stick"},
        "#": [{"tag": "minecraft:planks"}, {"item": "minecraft:coal"}],
    },
    "result": {"item": "minecraft:thing", "count": 3},
}
SHAPELESS = {
    "type": "minecraft:crafting_shapeless",
    "ingredients": [{"item": "minecraft:b"}, {"tag": "minecraft:a"}, {"item": "minecraft:b"}],
    "result": {"item": "minecraft:thing"},
}


def parse(data: dict[str, object]) -> Recipe | None:
    return parse_recipe("minecraft:thing_from_it", FILE, data)


def slots(data: dict[str, object]) -> tuple[Slot, ...]:
    recipe = parse(data)
    assert recipe is not None
    return recipe.slots


def test_parse_recipe__sums_a_shaped_recipe_in_the_order_of_its_key() -> None:
    expected = (Slot(("minecraft:stick",), 3), Slot(("#minecraft:planks", "minecraft:coal"), 2))
    assert parse(SHAPED) == Recipe(
        "minecraft:thing_from_it", "minecraft:thing", 3, "things", expected
    )


def test_parse_recipe__sums_a_shapeless_recipe_in_the_order_of_first_occurrence() -> None:
    expected = (Slot(("minecraft:b",), 2), Slot(("#minecraft:a",), 1))
    assert parse(SHAPELESS) == Recipe("minecraft:thing_from_it", "minecraft:thing", 1, "", expected)


def test_parse_recipe__adds_up_symbols_with_the_same_ingredient() -> None:
    key = {"a": {"item": "minecraft:stick"}, "b": "coal", "c": "minecraft:stick"}
    data = SHAPED | {"pattern": ["ab", "cc"], "key": key}
    assert slots(data) == (Slot(("minecraft:stick",), 3), Slot(("minecraft:coal",), 1))


def test_parse_recipe__forgets_an_alternative_that_is_written_twice() -> None:
    assert slots(SHAPELESS | {"ingredients": [["stick", "coal", "minecraft:stick"]]}) == (
        Slot(("minecraft:stick", "minecraft:coal"), 1),
    )


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"item": "minecraft:stick"}, "minecraft:stick"),
        ({"item": "minecraft:stick"}, "stick"),
        ({"tag": "minecraft:planks"}, "#minecraft:planks"),
        ({"tag": "planks"}, "#planks"),
        ([{"item": "mod:coal"}, {"tag": "planks"}], ["mod:coal", "#minecraft:planks"]),
        ([{"item": "stick"}], "stick"),
    ],
)
def test_parse_recipe__reads_both_spellings_of_an_ingredient(older: object, newer: object) -> None:
    for entry in (older, newer):
        assert slots(SHAPELESS | {"ingredients": [entry]}) == slots(
            SHAPED | {"pattern": ["x"], "key": {"x": older}},
        )


@pytest.mark.parametrize(
    "result", ["thing", "minecraft:thing", {"id": "minecraft:thing"}, {"item": "thing", "count": 1}]
)
def test_parse_recipe__reads_every_spelling_of_a_result(result: object) -> None:
    assert parse(SHAPELESS | {"result": result}) == parse(SHAPELESS)


@pytest.mark.parametrize("kind", ["crafting_shaped", "minecraft:crafting_shaped"])
def test_parse_recipe__takes_a_type_with_or_without_its_namespace(kind: str) -> None:
    assert parse(SHAPED | {"type": kind}) == parse(SHAPED)


@pytest.mark.parametrize(
    "kind",
    [
        "minecraft:smelting",
        "crafting_special_mapcloning",
        "crafting_transmute",
        "crafting_decorated_pot",
        "mod:crafting_shaped",
        "mod:crafting_shapless",
        "",
    ],
)
def test_parse_recipe__leaves_out_what_is_not_crafted_from_a_fixed_list(kind: str) -> None:
    assert parse({"type": kind}) is None


@pytest.mark.parametrize(
    ("kind", "meant"),
    [
        ("crafting_shapless", "minecraft:crafting_shapeless"),
        ("minecraft:crafting_shape", "minecraft:crafting_shaped"),
        ("crafting-shaped", "minecraft:crafting_shaped"),
    ],
)
def test_parse_recipe__names_a_misspelt_type(kind: str, meant: str) -> None:
    with pytest.raises(RecipeError, match=f"unknown type '{kind}': did you mean {meant}"):
        parse(SHAPED | {"type": kind})


def without(data: dict[str, object], field: str) -> dict[str, object]:
    return {name: value for name, value in data.items() if name != field}


MALFORMED = {
    "no type": (without(SHAPED, "type"), "type"),
    "type is no text": (SHAPED | {"type": 1}, "type"),
    "no pattern": (without(SHAPED, "pattern"), "pattern"),
    "pattern is a text": (SHAPED | {"pattern": "#/"}, "pattern"),
    "pattern of numbers": (SHAPED | {"pattern": [1]}, "pattern"),
    "no rows": (SHAPED | {"pattern": []}, "pattern"),
    "only blank rows": (SHAPED | {"pattern": ["  ", " "], "key": {}}, "empty pattern"),
    "no key": (without(SHAPED, "key"), "key"),
    "key is a list": (SHAPED | {"key": ["#", "/"]}, "key"),
    "symbol without key": (SHAPED | {"pattern": ["#/?"]}, r"symbols: '\?'"),
    "key without symbol": (SHAPED | {"pattern": ["##"]}, "symbols: '/'"),
    "key of two letters": (
        SHAPED | {"pattern": ["ab"], "key": {"ab": "stick"}},
        "symbols: 'a', 'ab', 'b'",
    ),
    "blank as key": (SHAPED | {"pattern": [" "], "key": {" ": "stick"}}, "symbols: ' '"),
    "ingredient is a number": (
        SHAPELESS | {"ingredients": [1]},
        "expected an id such as minecraft:stick, got 1",
    ),
    "ingredient is null": (
        SHAPELESS | {"ingredients": [None]},
        "expected an id such as minecraft:stick, got None",
    ),
    "ingredient without item or tag": (
        SHAPELESS | {"ingredients": [{"id": "stick"}]},
        "expected an id",
    ),
    "item is no text": (SHAPELESS | {"ingredients": [{"item": ["stick"]}]}, "expected an id"),
    "empty item": (SHAPELESS | {"ingredients": [""]}, "expected an id"),
    "empty tag": (SHAPELESS | {"ingredients": [{"tag": ""}]}, "expected an id"),
    "tag is no text": (SHAPELESS | {"ingredients": [{"tag": {}}]}, "expected an id"),
    "alternatives in alternatives": (SHAPELESS | {"ingredients": [[["stick"]]]}, "expected an id"),
    "empty alternatives": (SHAPELESS | {"ingredients": [[]]}, "no alternatives"),
    "no ingredients": (without(SHAPELESS, "ingredients"), "list of ingredients"),
    "empty ingredients": (SHAPELESS | {"ingredients": []}, "list of ingredients"),
    "ingredients is an object": (
        SHAPELESS | {"ingredients": {"item": "stick"}},
        "list of ingredients",
    ),
    "more than a crafting table holds": (
        SHAPED | {"pattern": ["####", "////", "##"]},
        "at most 9 items",
    ),
    "key of ten": (SHAPED | {"key": dict.fromkeys("0123456789", "stick")}, "at most 9 items"),
    "ten ingredients": (
        SHAPELESS | {"ingredients": ["stick"] * 10},
        "at most 9 ingredients, got 10",
    ),
    "no result": (without(SHAPELESS, "result"), "needs a result"),
    "result is a list": (SHAPELESS | {"result": ["thing"]}, "needs a result"),
    "result without item": (SHAPELESS | {"result": {"count": 1}}, "expected an id"),
    "result is no text": (SHAPELESS | {"result": {"item": 1}}, "expected an id"),
    "empty result": (SHAPELESS | {"result": ""}, "expected an id"),
}


@pytest.mark.parametrize(("data", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_parse_recipe__names_the_file_and_the_reason(data: dict[str, object], reason: str) -> None:
    with pytest.raises(RecipeError, match=f"^{FILE}: .*{reason}"):
        parse(data)


def test_parse_recipe__forgets_a_group_that_is_no_text() -> None:
    assert [parse(SHAPELESS | {"group": group}) for group in (None, 1, ["x"], {"a": {}})] == [
        parse(SHAPELESS)
    ] * 4


@pytest.mark.parametrize("count", [0, -1, 1000, 10**4000, True, "2", 1.5, 2.0, None, [1]])
def test_parse_recipe__refuses_a_bad_count(count: object) -> None:
    with pytest.raises(RecipeError, match=rf"^{FILE}: expected a result count of 1 to 999, got "):
        parse(SHAPELESS | {"result": {"item": "thing", "count": count}})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "#", "a", "#a", "ab"])
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["item", "tag", "id", "count", "a", "b", "#", " "]) | st.text(),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
fields = st.fixed_dictionaries(
    {"type": st.sampled_from(["crafting_shaped", "crafting_shapeless"]) | json_values},
    optional={
        "group": json_values,
        "pattern": st.lists(st.text("ab# ", max_size=3), max_size=3) | json_values,
        "key": st.dictionaries(st.sampled_from("ab#"), json_values, max_size=3) | json_values,
        "ingredients": st.lists(json_values, max_size=3) | json_values,
        "result": st.just("thing") | json_values,
    },
)


@given(fields)
def test_parse_recipe__makes_a_recipe_or_says_what_is_wrong(data: dict[str, object]) -> None:
    try:
        recipe = parse(data)
    except RecipeError:
        return
    assert recipe is None or (
        recipe.slots and recipe.makes >= 1 and all(slot.amount >= 1 for slot in recipe.slots)
    )


@pytest.mark.parametrize(
    ("reference", "full", "name"),
    [
        ("oak_log", "minecraft:oak_log", "oak log"),
        ("minecraft:oak_log", "minecraft:oak_log", "oak log"),
        ("#oak_logs", "#minecraft:oak_logs", "oak logs"),
        ("#minecraft:oak_logs", "#minecraft:oak_logs", "oak logs"),
        ("mod:oak_log", "mod:oak_log", "mod:oak log"),
        ("#mod:oak_logs", "#mod:oak_logs", "mod:oak logs"),
    ],
)
def test_references__are_written_out_and_read_to_players(
    reference: str, full: str, name: str
) -> None:
    assert parse_reference("x.json", reference) == full
    assert name_of(reference) == name_of(full) == name
