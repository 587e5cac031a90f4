"""What is read of an installed MineDojo, and what is said where it is not."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec as real_find_spec

import pytest

from textcraft_gym import tasks
from textcraft_gym.envs.minedojo.commands import SHAPE
from textcraft_gym.envs.minetechtree import minedojo_specifications
from textcraft_gym.envs.minetechtree.minedojo_names import old_name, task_id
from textcraft_gym.envs.minetechtree.minedojo_specifications import (
    MineDojoMissing,
    find_minedojo,
    read_abilities,
    read_specifications,
    specification,
)
from textcraft_gym.envs.minetechtree.tasks import all_tasks

NOT_IN_MINEDOJO = {
    "oak_pressure_plate",
    "oak_slab",
    "oak_stairs",
    "white_carpet",
    "item_frame",
    "cobblestone_stairs",
    "cobblestone_wall",
    "armor_stand",
    "quartz_block",
    "stone_brick_stairs",
    "iron_door",
    "heavy_weighted_pressure_plate",
    "furnace_minecart",
    "chest_minecart",
    "hopper_minecart",
}


@pytest.mark.usefixtures("installed")
def test_specifications__are_all_that_minedojo_has():
    specifications = read_specifications()
    assert len(specifications) == 1572
    assert all(
        specification.prompt and specification.guidance and specification.category
        for specification in specifications.values()
    )
    assert specifications["techtree_from_barehand_to_iron_pickaxe"].category == "techtree"


@pytest.mark.usefixtures("installed")
def test_tasks__have_their_specification_but_for_fifteen():
    ours = all_tasks("vanilla")
    assert {name for name, task in ours.items() if task.specification() is None} == NOT_IN_MINEDOJO
    diamond = ours["diamond"]
    assert (
        diamond.specification()
        == read_specifications()["harvest_1_diamond"]
        == specification("minecraft:diamond")
    )
    assert diamond.details == {"ticks": "12000", "in MineDojo": "harvest_1_diamond"}
    assert ours["iron_door"].details == {"ticks": "6000", "in MineDojo": ""}
    assert {task_id(task.aims[0].item) for task in tasks("MineTechTree-v0", "MT2")} <= set(
        read_specifications()
    )


@pytest.mark.usefixtures("installed")
def test_abilities__are_as_many_as_the_space_has_numbers():
    abilities = read_abilities()
    everything = abilities.by_hand + abilities.at_table + abilities.in_furnace
    assert len(everything) == len(set(everything)) == SHAPE[6]
    assert [abilities.number(everything[number]) for number in (0, 100, 243)] == [0, 100, 243]
    assert abilities.number("bedrock") is None
    assert {"planks", "stick", "crafting_table", "torch"} <= set(abilities.by_hand)
    assert {"wooden_pickaxe", "chest", "furnace", "iron_pickaxe"} <= set(abilities.at_table)
    assert {"iron_ingot", "stone", "cooked_beef", "coal"} <= set(abilities.in_furnace)


@pytest.mark.usefixtures("installed")
def test_abilities__make_every_task_but_what_is_mined():
    abilities = read_abilities()
    names = all_tasks("vanilla")
    assert [name for name in names if abilities.number(old_name(name)) is None] == []


@pytest.mark.usefixtures("installed")
def test_reading__does_not_import_it():
    code = """
import sys
from textcraft_gym.envs.minetechtree.minedojo_specifications import read_abilities, read_specifications
read_abilities(), read_specifications()
print([name for name in sys.modules if name.partition(".")[0] == "minedojo"])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_missing__says_what_to_install(monkeypatch):
    monkeypatch.setattr(
        minedojo_specifications,
        "find_spec",
        lambda name: None if name == "minedojo" else real_find_spec(name),
    )
    for read in (
        find_minedojo,
        read_specifications,
        read_abilities,
        all_tasks("vanilla")["diamond"].specification,
    ):
        with pytest.raises(MineDojoMissing, match="pip install --no-deps minedojo"):
            read()
    assert all_tasks("vanilla")["diamond"].details == {"ticks": "12000"}


@pytest.mark.usefixtures("installed")
def test_missing__reader_of_yaml_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    minedojo_specifications._read_specifications.cache_clear()
    with pytest.raises(MineDojoMissing, match=r"PyYAML is not installed.*\.\[minedojo\]"):
        read_specifications()
