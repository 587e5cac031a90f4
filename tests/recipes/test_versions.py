"""Packs and jars of other versions load with both kinds of tags, and every item of them can be
crafted."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import gymnasium as gym
import pytest

from tests.recipes.packs import write_json
from tests.recipes.play import play
from tests.recipes.versions import COLOURS, RECIPES, SPELLINGS, TEMPLATES, pack_files, write_jar
from textcraft_gym import tasks
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.book import Tags
from textcraft_gym.recipes.solver import shortest_plan

DYED = "minecraft:black_wool, of minecraft:black_wool, minecraft:blue_wool"
KINDS: list[Tags] = ["group", "item"]


def load(path: Path, tags: Tags) -> RecipeBook:
    """Load the pack. With groups, wool is dyed from the first other wool only, so that there is a
    ring of two."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        book = RecipeBook.load(path, tags=tags)
    said = [str(warning.message) for warning in warned]
    assert [message.endswith(DYED) for message in said] == [True] * (tags == "group")
    return book


@pytest.mark.parametrize("version", SPELLINGS)
@pytest.mark.parametrize("tags", KINDS)
def test_load__reads_every_spelling_alike(version: str, tags: Tags, tmp_path: Path) -> None:
    for name, data in pack_files(SPELLINGS[version]).items():
        write_json(tmp_path / "pack" / name, data)
    first = load(write_jar(tmp_path / "first.jar", SPELLINGS["1.14"]), tags)
    for path in (tmp_path / "pack", write_jar(tmp_path / "game.jar", SPELLINGS[version])):
        assert load(path, tags).fingerprint == first.fingerprint


def test_pack_files__are_spelt_in_different_ways(tmp_path: Path) -> None:
    spelt = {version: json.dumps(pack_files(spelling)) for version, spelling in SPELLINGS.items()}
    assert len(set(spelt.values())) == len(spelt)
    assert '"X": ["minecraft:coal", "minecraft:charcoal"]' in spelt["1.21.2"]
    assert '"ingredients": ["#minecraft:oak_logs"]' in spelt["1.21.2"]


@pytest.mark.parametrize("tags", KINDS)
def test_book__of_a_later_version_gives_up_as_little_as_it_can(tags: Tags, tmp_path: Path) -> None:
    book = load(write_jar(tmp_path / "game.jar", SPELLINGS["1.21"]), tags)
    got = {recipe.output for recipe in RECIPES.values()} - {
        item.removeprefix("minecraft:") for item in book.recipes
    }
    assert got == {*TEMPLATES, "copper_ingot", "iron_ingot"} | (
        {"black_wool"} if tags == "group" else set()
    )
    assert {f"minecraft:{item}" for item in got} <= set(book.base_items)
    dyes = [
        recipe for colour in COLOURS for recipe in book.recipes.get(f"minecraft:{colour}_wool", ())
    ]
    assert len(dyes) == (16 if tags == "group" else 17)


@pytest.mark.parametrize("tags", KINDS)
def test_book__of_a_later_version_is_solved(tags: Tags, tmp_path: Path) -> None:
    book = load(write_jar(tmp_path / "game.jar", SPELLINGS["1.21.2"]), tags)
    for goal in book.recipes:
        plan = shortest_plan(book, goal)
        assert play(book, plan, goal, {}) == plan.length
    white, red = (
        shortest_plan(book, f"minecraft:{colour}_bed").length for colour in ("white", "red")
    )
    assert (white, red) == ((7, 8) if tags == "group" else (7, 11))


@pytest.mark.parametrize("env_id", ["TextCraft-v0", "TextCraftTags-v0"])
@pytest.mark.filterwarnings("ignore:.*are made only of one another")
def test_env__plays_a_later_version(env_id: str, tmp_path: Path) -> None:
    jar = write_jar(tmp_path / "game.jar", SPELLINGS["1.21.2"])
    everything = tasks(env_id, "all", recipes=jar)
    assert tasks(env_id, "test", recipes=jar) == everything  # there are fewer than 77 of depth 2
    assert len(everything) > 20
    env = gym.make(env_id, split="all", recipes=jar, expert=True, admissible=True)
    for task in (*everything[::5], *env.unwrapped.tasks[:1]):  # type: ignore[attr-defined]
        _, info = env.reset(seed=0, options={"task": task.id})
        for action in info["expert_plan"]:
            assert action.startswith("get ") or action in info["admissible_commands"]
            info = env.step(action)[4]
        assert info["won"]


@pytest.mark.parametrize("tags", KINDS)
@pytest.mark.filterwarnings("ignore:.*are made only of one another")
def test_load__skips_a_mod_loaders_own_ingredient_and_names_it_once(
    tags: Tags, tmp_path: Path
) -> None:
    for name, data in pack_files(SPELLINGS["1.20"]).items():
        write_json(tmp_path / name, data)
    whole = load(tmp_path, tags)
    tool = {
        "type": "minecraft:crafting_shapeless",
        "ingredients": [
            {
                "type": "forge:difference",
                "base": {"tag": "forge:rods"},
                "subtracted": {"item": "stick"},
            }
        ],
        "result": {"item": "mod:hammer"},
    }
    write_json(tmp_path / "data/mod/recipes/hammer.json", tool)
    write_json(
        tmp_path / "data/mod/recipes/pick.json",
        tool | {"ingredients": [{"tag": "forge:ingots/tin"}]},
    )
    with pytest.warns(UserWarning, match="skipped") as warned:
        book = RecipeBook.load(tmp_path, tags=tags)
    assert book.fingerprint == whole.fingerprint
    named = [str(warning.message) for warning in warned if "skipped" in str(warning.message)]
    assert "data/mod/recipes/hammer.json: expected an id" in named[0]
    assert "data/mod/recipes/pick.json: unknown tag #forge:ingots/tin" in named[1]
    assert len(named) == 2
