"""Tasks as values, the named splits, and splits of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym
from tests.envs.hotpotqa.shelf import CORPUS
from textcraft_gym import UnknownName, make_splits, tasks
from textcraft_gym.errors import Unsupported
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec

IDS = ["TextCraft-v0", "TextCraftTags-v0"]
SIZES = {"TextCraft-v0": (200, 197, 397), "TextCraftTags-v0": (203, 203, 406)}


@pytest.mark.parametrize("env_id", IDS)
def test_splits__have_the_sizes_of_the_paper_and_do_not_overlap(env_id):
    test, dev, everything, train = (
        [task.id for task in tasks(env_id, split)] for split in ("test", "dev", "all", "train")
    )
    assert (len(test), len(dev), len(everything)) == SIZES[env_id]
    assert sorted(test + dev) == sorted(everything) == sorted(set(everything))
    book = find(env_id).make().get_wrapper_attr("book")
    assert sorted(train + everything) == sorted(book.depths)


@pytest.mark.parametrize(
    ("env_id", "split", "depths", "kept"),
    [
        ("TextCraft-v0", "test", (2, 4), {2, 4}),
        ("TextCraft-v0", "train", 1, {1}),
        ("TextCraft-v0", "all", range(3, 5), {3, 4}),
        ("MineTechTree-v0", "core71", [2, 14], {2, 14}),
    ],
)
def test_depths__keep_the_tasks_of_a_split_that_have_them(env_id, split, depths, kept):
    whole = tasks(env_id, split)
    assert tasks(env_id, split, depths=depths) == tuple(
        task for task in whole if task.depth in kept
    )
    for wrong, shown in (
        ((), r"\[\]"),
        ("2,3", "'2,3'"),
        ("(2,3)", r"'\(2,3\)'"),
        ((2, 30), r"\[2, 30\]"),
        ([[2]], r"\[\[2\]\]"),
        (2.5, r"2\.5"),
    ):
        message = rf"expected depths among \[\d.*, as in depths=\[\d[\d,]*\], got {shown}$"
        with pytest.raises(ValueError, match=message):
            tasks(env_id, split, depths=wrong)


@pytest.mark.parametrize("env_id", BUNDLED)
def test_depths__are_refused_by_name_where_there_is_no_choice(env_id):
    env = gym.make(env_id).unwrapped
    if "depths" in find(env_id).parameters:
        env.set_split("all", depths=2)
        assert {task.depth for task in env.tasks} == {2}
        gym.make(env_id, depths=2.0)
        return
    worlds = "TextCraft-v0, TextCraftTags-v0 and MineTechTree-v0 take depths"
    with pytest.raises(Unsupported, match=f"{env_id} offers no choice of depths: {worlds}"):
        env.set_split("all", depths=(2,))
    with pytest.raises(UnknownName, match=f"unknown argument of .*'depths'.*{worlds}"):
        gym.make(env_id, depths=2)
    with pytest.raises(UnknownName, match=f"unknown argument of .*'depths'.*{worlds}"):
        tasks(env_id, depths=2)


@pytest.mark.parametrize("env_id", IDS)
def test_splits__test_has_77_of_depth_2_and_all_that_is_deeper(env_id):
    test, dev = ([task.depth for task in tasks(env_id, split)] for split in ("test", "dev"))
    assert test.count(2) == 77
    assert set(test) == {2, 3, 4}
    assert set(dev) == {2}


def test_split__default_of_the_environment_is_dev():
    assert gym.make("TextCraft-v0").get_wrapper_attr("tasks") == tasks("TextCraft-v0", "dev")


def test_tasks__default_is_all():
    assert tasks("TextCraft-v0") == tasks("TextCraft-v0", "all")


def test_task__has_depth_and_shortest_solution():
    """The figures of the rule book: minimum, median and maximum of the optimum at each depth."""
    lengths: dict[int, list[int]] = {2: [], 3: [], 4: []}
    for task in tasks("TextCraft-v0"):
        lengths[task.depth].append(task.optimal_length)
    figures = {
        depth: (min(some), sorted(some)[len(some) // 2], max(some))
        for depth, some in lengths.items()
    }
    assert figures == {2: (3, 5, 12), 3: (4, 8, 23), 4: (7, 17, 27)}


def test_task__stands_in_tables_under_its_depth_or_its_type_or_its_options():
    assert {(task.group, task.depth) for task in tasks("TextCraft-v0", "test")} == {
        ("depth 2", 2), ("depth 3", 3), ("depth 4", 4)
    }  # fmt: skip
    assert {(task.group, task.depth) for task in tasks("ALFWorld-v0", "dev")} == {
        ("look_at_obj_in_light", 2),
        ("pick_and_place_simple", 2),
        ("pick_clean_then_place_in_recep", 3),
        ("pick_cool_then_place_in_recep", 3),
        ("pick_heat_then_place_in_recep", 3),
        ("pick_two_obj_and_place", 4),
    }
    assert {(task.group, task.depth) for task in tasks("WebShopLite-v0", "adapt_test")} == {
        ("no options", 1), ("1 option", 2), ("2 options", 3), ("3 options", 4)
    }  # fmt: skip


def test_task__is_a_value():
    beehive, again = (tasks("TextCraft-v0")[30] for _ in range(2))
    assert beehive == again
    assert hash(beehive) == hash(again)
    assert len(repr(beehive)) < 100
    with pytest.raises(AttributeError):
        beehive.depth = 3


def test_task__of_a_split_is_what_reset_plays():
    for split in ("test", "dev"):
        env = gym.make("TextCraft-v0", split=split)
        ids = {task.id for task in tasks("TextCraft-v0", split)}
        drawn = {env.reset(seed=seed)[1]["task"] for seed in range(400)}
        assert drawn <= ids
        assert len(drawn) > len(ids) / 2


def test_tasks__are_drawn_evenly():
    """Every task of dev comes up, none far too often: 40 expected of each."""
    env = gym.make("TextCraft-v0").unwrapped
    env.reset(seed=1)
    drawn = [env.reset()[1]["task"] for _ in range(40 * 197)]
    counts = [drawn.count(task.id) for task in env.tasks]
    assert min(counts) > 15
    assert max(counts) < 75


@pytest.mark.parametrize("env_id", IDS)
def test_made_split__is_what_gym_make_plays(env_id, tmp_path):
    file = tmp_path / "my.jsonl"
    made = make_splits(env_id, (0.1, 0.3, 0.6), seed=5, out=file)
    assert sum(map(len, made.splits.values())) == SIZES[env_id][2]
    for name, ids in made.splits.items():
        assert [task.id for task in tasks(env_id, f"{file}:{name}")] == list(ids)
    env = gym.make(env_id, split=f"{file}:train")
    assert {env.reset(seed=seed)[1]["task"] for seed in range(300)} <= set(made.splits["train"])


def test_made_split__may_name_another_task_in_reset(tmp_path):
    file = tmp_path / "my.jsonl"
    made = make_splits(out=file)
    env = gym.make("TextCraft-v0", split=f"{file}:dev")
    assert env.reset(options={"task": made.splits["test"][0]})[1]["task"] == made.splits["test"][0]


def test_made_split__can_be_written_by_hand_with_a_colon_in_its_path(tmp_path):
    file = tmp_path / "a:b.jsonl"
    file.write_text('{"split": "mine", "task": "minecraft:beehive"}\n')
    assert [task.id for task in tasks("TextCraft-v0", f"{file}:mine")] == ["minecraft:beehive"]


def test_unknown_split__says_what_there_is(tmp_path):
    for split in (
        "valid",
        "",
        ":",
        "trian",
        str(tmp_path),
        f"{tmp_path}:train",
        f"{tmp_path}/none.jsonl:train",
    ):
        with pytest.raises(
            UnknownName, match=r"unknown split .*(Did you mean train|train, test, dev, all)"
        ) as error:
            gym.make("TextCraft-v0", split=split)
        assert repr(split) in str(error.value)


def test_unknown_split__in_a_file_says_what_is_in_it(tmp_path):
    file = tmp_path / "my.jsonl"
    make_splits(out=file)
    with pytest.raises(UnknownName, match=r"'tarin'.* Did you mean train\? .*train, dev, test"):
        gym.make("TextCraft-v0", split=f"{file}:tarin")


def test_unknown_task__in_a_file_is_named(tmp_path):
    file = tmp_path / "my.jsonl"
    file.write_text(json.dumps({"split": "train", "task": "minecraft:behive"}) + "\n")
    with pytest.raises(
        UnknownName, match=r"unknown task 'minecraft:behive'. Did you mean .*minecraft:beehive"
    ):
        gym.make("TextCraft-v0", split=f"{file}:train")


def test_unknown_name__is_also_a_value_error_of_the_suite():
    with pytest.raises(ValueError, match="unknown split"):
        tasks("TextCraft-v0", "nope")
    assert issubclass(UnknownName, textcraft_gym.TextCraftGymError)


def test_make__says_that_recipes_have_no_task(tmp_path):
    (tmp_path / "recipes").mkdir()
    recipe = '{"type": "crafting_shapeless", "ingredients": [{"item": "log"}], "result": {"item": "planks"}}'
    (tmp_path / "recipes" / "planks.json").write_text(recipe)
    for split in ("train", "dev"):
        with pytest.raises(ValueError, match=f"split '{split}' has no task"):
            gym.make("TextCraft-v0", split=split, recipes=str(tmp_path))


def test_default_split__of_recipes_too_few_to_divide_is_all(tmp_path):
    (tmp_path / "recipes").mkdir()
    for item, part in (("planks", "log"), ("box", "planks")):
        recipe = {"type": "crafting_shapeless", "ingredients": [part], "result": {"item": item}}
        (tmp_path / "recipes" / f"{item}.json").write_text(json.dumps(recipe))
    world, recipes = find("TextCraft-v0"), str(tmp_path)
    assert world.default_split({"recipes": recipes}) == "all"
    assert tasks("TextCraft-v0", "all", recipes=recipes) == (
        world.make(recipes=recipes).get_wrapper_attr("tasks")
    )
    env = gym.make("TextCraft-v0", recipes=recipes)
    assert {env.reset(seed=seed)[1]["task"] for seed in range(5)} == {"minecraft:box"}
    assert env.reset(options={"task": "planks"})[1]["task"] == "minecraft:planks"
    assert Run(RunSpec("TextCraft-v0", env_args={"recipes": recipes})).spec.split == "all"
    many = "made:items=60"
    assert world.default_split({"recipes": many}) == world.default_split() == "dev"


@pytest.mark.parametrize(
    ("env_id", "arguments"),
    [
        *((env_id, {}) for env_id in BUNDLED),
        ("TextCraft-v0", {"recipes": "made:items=60,seed=1"}),
        ("TextCraft-v0", {"recipes": None}),
    ],
)
def test_splits__are_those_that_the_error_of_a_wrong_one_lists(
    env_id: str, arguments: dict[str, Any]
):
    world = find(env_id)
    with pytest.raises(UnknownName) as error:
        world.make(split="no such split", **arguments)
    listed = tuple(name for name in error.value.known if " " not in name)
    assert world.splits(arguments) == listed
    assert world.default_split(arguments) in listed


def test_splits__are_those_of_the_data(tmp_path: Path):
    assert find("HotpotQA-v0").splits({"data": CORPUS}) == (*CORPUS.splits, "all")
    games = find("ALFWorld-v0")
    (tmp_path / "valid_unseen").mkdir()
    assert games.splits({"games": tmp_path}) == ("valid_unseen", "all")
    (tmp_path / "valid_seen").mkdir()
    assert games.splits({"games": tmp_path}) == ("valid_seen", "valid_unseen", "dev", "all")
    (tmp_path / "game.tw-pddl").touch()
    assert games.splits({"games": tmp_path}) == ()


def test_splits__of_a_foreign_world_are_those_that_it_lists(monkeypatch: pytest.MonkeyPatch):
    assert find("tests.foreign_worlds:GuessDigit-v0").splits() == ()
    say = find("tests.foreign_worlds:Say-v0")
    assert say.splits() == ()
    monkeypatch.setattr(say.creator, "splits", ["short", "long"], raising=False)
    assert say.splits({"loudly": True}) == ("short", "long")


@pytest.mark.parametrize("env_id", ["ALFWorld-v0", "WebShopLite-v0", "MineTechTree-v0"])
def test_make_splits__says_which_worlds_it_divides(env_id):
    with pytest.raises(Unsupported, match=f"{env_id} offers no make_splits: TextCraft-v0 and"):
        make_splits(env_id)
