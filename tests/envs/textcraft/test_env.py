"""TextCraft's environment beyond what every environment promises."""

from __future__ import annotations

from copy import deepcopy

import gymnasium as gym
import pytest

from textcraft_gym import UnknownName, tasks
from textcraft_gym.envs.textcraft import rules
from textcraft_gym.recipes.recipe import RecipeError


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("get 1 oak logs", None),
        ("inventory", None),
        ("craft 4 oak planks using 1 oak logs", None),
        ("get 1 stick", "not_gettable"),
        ("get 0 oak logs", "not_gettable"),
        ("craft 4 oak planks using 9 oak logs", "not_enough_items"),
        ("craft 4 birch planks using 1 oak logs", "no_recipe"),
        ("craft 4 oak planks using oak logs", "wrong_item_format"),
        ("hello", "unknown_action"),
    ],
)
def test_info__says_why_an_action_did_nothing(action, reason):
    env = gym.make("TextCraft-v0")
    env.reset(seed=0)
    env.step("get 1 oak logs")
    assert env.step(action)[4].get("invalid_reason") == reason
    assert reason is None or reason in rules.REASONS


def test_reward__is_for_the_goal_and_nothing_else():
    env = gym.make("TextCraft-v0")
    env.reset(seed=0, options={"task": "minecraft:chest"})
    actions = [
        "get 99 oak logs",
        *["craft 4 oak planks using 1 oak logs"] * 3,
        "craft 4 stick using 2 oak planks",
    ]
    assert [env.step(action)[1:3] for action in actions] == [(0.0, False)] * 5
    assert env.step("craft 1 chest using 8 oak planks")[:3] == (
        "Crafted 1 minecraft:chest",
        1.0,
        True,
    )


def test_inventory__is_empty_after_reset():
    env = gym.make("TextCraft-v0")
    env.reset(seed=0)
    env.step("get 1 oak logs")
    env.reset(seed=0)
    assert env.step("inventory")[0] == "Inventory: You are not carrying anything."


def test_book__is_as_before_after_200_episodes():
    """The published environment's lists of recipes grew at every reset."""
    env = gym.make("TextCraft-v0", admissible=True, expert=True)
    book = env.unwrapped.book
    before = deepcopy(
        (book.recipes, book.members, book.names, book.ids, book.base_items, book.depths)
    )
    for seed in range(200):
        env.reset(seed=seed)
        env.step("get 1 oak logs")
        env.step("craft 4 oak planks using 1 oak logs")
    assert (
        book.recipes,
        book.members,
        book.names,
        book.ids,
        book.base_items,
        book.depths,
    ) == before


def test_ids__differ_in_the_reading_of_tags():
    books = {
        env_id: gym.make(env_id).unwrapped.book for env_id in ("TextCraft-v0", "TextCraftTags-v0")
    }
    assert {env_id: book.tags for env_id, book in books.items()} == {
        "TextCraft-v0": "group",
        "TextCraftTags-v0": "item",
    }


def test_recipes__of_ones_own_can_be_played(tmp_path):
    folder = tmp_path / "data" / "minecraft" / "recipes"
    folder.mkdir(parents=True)
    for name, part in (("dough", "flour"), ("bread", "dough")):
        recipe = f'{{"type": "crafting_shapeless", "ingredients": ["{part}"], "result": {{"item": "{name}"}}}}'
        (folder / f"{name}.json").write_text(recipe)
    env = gym.make("TextCraft-v0", split="all", recipes=tmp_path, distractors=0)
    assert [task.id for task in env.unwrapped.tasks] == ["minecraft:bread"]
    text, _ = env.reset(seed=0)
    assert sorted(text.split("\n")[1:3]) == [
        "craft 1 bread using 1 dough",
        "craft 1 dough using 1 flour",
    ]
    for action in ("get 1 flour", "craft 1 dough using 1 flour", "craft 1 bread using 1 dough"):
        _, reward, terminated, _, _ = env.step(action)
    assert (reward, terminated) == (1.0, True)


def test_recipes__that_are_not_there_are_named(tmp_path):
    with pytest.raises(RecipeError, match="nowhere"):
        gym.make("TextCraft-v0", recipes=tmp_path / "nowhere")


def test_tags__of_an_unknown_reading_are_refused():
    with pytest.raises(ValueError, match="expected tags in group, item, got 'real'"):
        gym.make("TextCraft-v0", tags="real")


def test_reset__takes_an_item_with_or_without_its_namespace():
    env = gym.make("TextCraft-v0")
    assert env.reset(seed=1, options={"task": "beehive"}) == env.reset(
        seed=1, options={"task": "minecraft:beehive"}
    )


def test_task__of_depth_1_can_be_played_and_is_in_no_split_but_train(env_id):
    """Every item that is crafted can be asked for; all has those of depth 2 and more."""
    env = gym.make(env_id, expert=True, admissible=True)
    book = env.unwrapped.book
    shallow = [item for item in book.recipes if book.depths[item] == 1]
    assert not set(shallow) & {task.id for task in tasks(env_id, "all")}
    assert sorted(shallow) == [task.id for task in tasks(env_id, "train")]
    assert (
        len(shallow) + len(tasks(env_id, "all"))
        == len(book.recipes)
        == {"group": 544, "item": 550}[book.tags]
    )
    for item in shallow:
        text, info = env.reset(seed=1, options={"task": item})
        assert text.endswith(f"Goal: craft {book.names[item]}.")
        plan, task = info["expert_plan"], env.unwrapped.task
        assert (task.id, task.depth, task.group, task.optimal_length) == (
            item,
            1,
            "depth 1",
            len(plan),
        )
        assert item in task.content
        assert text == env.reset(seed=1, options={"task": item.removeprefix("minecraft:")})[0]
        for action in plan:
            assert action in info["admissible_commands"]
            _, reward, terminated, _, info = env.step(action)
        assert (reward, terminated) == (1.0, True)


def test_task__of_depth_1_can_be_gone_back_to_and_stand_in_a_split_of_ones_own(tmp_path):
    env = gym.make("TextCraft-v0")
    env.reset(seed=1, options={"task": "stick"})
    env.step("get 2 bamboo")
    snapshot = env.unwrapped.snapshot()
    env.reset(seed=2)
    env.unwrapped.restore(snapshot)
    assert env.step("craft stick using 2 bamboo")[:3] == ("Crafted 1 minecraft:stick", 1.0, True)
    (tmp_path / "my.jsonl").write_text('{"split": "mine", "task": "minecraft:stick"}\n')
    assert [task.depth for task in tasks("TextCraft-v0", f"{tmp_path}/my.jsonl:mine")] == [1]
    assert "craft 1 stick using 2 bamboo" in env.unwrapped.possible_commands(["stick"])


def test_unknown_task__is_not_an_item_that_can_be_got():
    with pytest.raises(UnknownName, match=r"^unknown task 'oak_logs'\."):
        gym.make("TextCraft-v0").reset(options={"task": "oak_logs"})
    with pytest.raises(UnknownName, match=r"^unknown task 'stik'. Did you mean .*minecraft:stick"):
        gym.make("TextCraft-v0").reset(options={"task": "stik"})


def test_unknown_task__names_what_comes_near_and_no_stranger():
    with pytest.raises(UnknownName) as raised:
        gym.make("TextCraft-v0").reset(options={"task": "beehiv"})
    assert str(raised.value).startswith("unknown task 'beehiv'. Did you mean minecraft:beehive")
    assert str(raised.value).count("minecraft:") <= 5
