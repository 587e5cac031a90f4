"""The tasks: the paper's groups, and how one is found."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from textcraft_gym import UnknownName, tasks
from textcraft_gym.envs.minetechtree.tasks import (
    APART,
    DRAWN,
    NOT_CORE,
    PAPER_NAMES,
    SEVERAL,
    SPLITS,
    TICKS,
    all_tasks,
    find_task,
    split_tasks,
)
from textcraft_gym.envs.minetechtree.techtree import tech_tree

ID = "MineTechTree-v0"


def test_groups__have_the_sizes_of_the_paper():
    sizes = Counter(task.group for task in tasks(ID, "all"))
    assert sizes == {
        "MT1": 14,
        "MT2": 12,
        "MT3": 7,
        "MT4": 13,
        "MT5": 9,
        "MT6": 7,
        "MT7": 13,
        "MT8": 1,
    }
    assert {group: len(tasks(ID, group)) for group in TICKS} == dict(sizes)
    assert len(tasks(ID, "core71")) == 71
    assert {task.id for task in tasks(ID, "all")} - {
        task.id for task in tasks(ID, "core71")
    } == NOT_CORE
    table = tasks(ID, "table2")
    assert len(table) == 69
    assert {task.id for task in tasks(ID, "core71")} - {task.id for task in table} == {
        "stone",
        "stone_pressure_plate",
    }
    assert sum(task.group == "MT4" for task in table) == 6
    assert (
        "core71",
        "table2",
        "MT1",
        "MT2",
        "MT3",
        "MT4",
        "MT5",
        "MT6",
        "MT7",
        "MT8",
        "all",
        *SEVERAL,
    ) == SPLITS


def test_task__has_group_skills_and_ticks():
    table = {
        name: (task.group, task.depth, task.ticks) for name, task in all_tasks("vanilla").items()
    }
    assert table["diamond"] == ("MT8", 12, 12000)
    assert table["lever"] == ("MT4", 7, 3000)
    assert table["hopper_minecart"] == ("MT7", 14, 6000)
    assert table["oak_slab"] == ("MT1", 4, 3000)
    assert {
        group: {ticks for own_group, _, ticks in table.values() if own_group == group}
        for group in TICKS
    } == {group: {ticks} for group, ticks in TICKS.items()}


def test_items__are_those_of_1_16():
    assert {f"minecraft:{name}" for name in all_tasks("vanilla")} <= set(tech_tree().names)


def test_worn__is_what_counts_once_equipped_and_not_for_deps():
    for rules in ("vanilla", "deps"):
        worn = {name for name, task in all_tasks(rules).items() if task.aims[0].worn}
        assert worn == ({task.id for task in tasks(ID, "MT5")} if rules == "vanilla" else set())


@pytest.mark.parametrize(("paper", "name"), PAPER_NAMES.items())
def test_task__is_found_by_the_papers_name_and_by_its_id(paper, name):
    assert (
        find_task(paper, "vanilla")
        == find_task(name, "vanilla")
        == find_task(f"minecraft:{name}", "vanilla")
    )


def test_task__of_several_items_has_the_longest_time_and_their_skills_together():
    task = find_task("oak_boat+chest", "vanilla")
    assert task == find_task(["oak_boat", "minecraft:chest"], "vanilla")
    assert (task.id, task.group, task.depth, task.ticks) == ("oak_boat+chest", "2 goals", 5, 3000)
    assert task.optimal_length == 5
    assert find_task("diamond+shield+stick", "vanilla").ticks == 12000
    assert find_task("diamond+shield", "vanilla").optimal_length == 14


@pytest.mark.parametrize("name", [["chest", "chest"], "wooden_slab+oak_slab", []])
def test_task__of_several_items_takes_different_ones(name: Any):
    with pytest.raises(ValueError, match="different tasks"):
        find_task(name, "vanilla")


@pytest.mark.parametrize("name", ["chests", "chest+", "", None, 3, ["chest", "beds"]])
def test_unknown_task__says_what_there_is(name: Any):
    with pytest.raises(UnknownName, match=r"unknown task .*There are 76"):
        find_task(name, "vanilla")


@pytest.mark.parametrize(("split", "number"), SEVERAL.items())
def test_tasks__of_several_items_lie_apart(split: str, number: int):
    tasks = split_tasks(split, "vanilla")
    assert len({frozenset(task.id.split("+")) for task in tasks}) == DRAWN
    places = {item: place for place, items in enumerate(APART) for item in items}
    for task in tasks:
        assert task.group == f"{number} goals"
        assert len({places[item] for item in task.id.split("+")}) == number
