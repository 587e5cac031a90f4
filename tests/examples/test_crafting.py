"""What the examples' network is shown is what stands in the text."""

from __future__ import annotations

import random
import re

import gymnasium as gym
import numpy as np
import pytest
from crafting import COMMANDS, PROMPT, RECIPES, SPACE, CraftingGraph, Reader, match_kind, read_line

import textcraft_gym
from textcraft_gym.wrappers import ActionMasking

BOAT = f"""{PROMPT}craft 1 acacia boat using 5 acacia planks
craft 4 acacia planks using 1 acacia logs

Goal: craft acacia boat."""
GET, PLANKS = "get 1 acacia logs", "craft 4 acacia planks using 1 acacia logs"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("get 12 oak logs", ("get", ("oak", "logs"), 12, ())),
        ("craft 4 stick using 2 planks", ("craft", ("stick",), 4, ((("planks",), 2),))),
        (
            "craft 1 orange wool using 1 orange dye, 1 white wool",
            ("craft", ("orange", "wool"), 1, ((("orange", "dye"), 1), (("white", "wool"), 1))),
        ),
        ("inventory", ("", (), 0, ())),
        ("get oak logs", ("", (), 0, ())),
    ],
)
def test_read_line__reads_commands_and_recipes(text: str, line: tuple):
    assert read_line(text) == line


@pytest.mark.parametrize(
    ("name", "wanted", "kind"),
    [
        ("oak planks", "oak planks", 0),
        ("oak planks", "planks", 1),
        ("planks", "oak planks", None),
        ("", "planks", None),
    ],
)
def test_match_kind__by_full_name_or_by_kind(name: str, wanted: str, kind: int | None):
    assert match_kind(tuple(name.split()), tuple(wanted.split())) == kind


def test_reader__shows_what_makes_what_is_missing():
    reader = Reader()
    boat, planks = 0, 1
    graph = reader.read("", BOAT, ["inventory", GET])
    assert graph["recipes"][:3].tolist() == [[1, 1], [0, 1], [0, 0]]
    assert graph["commands"][:3].tolist() == [
        pytest.approx([0, 0, 0, 0, 0, 1]),
        pytest.approx([1, 0, 0, 0, np.log(2), 1]),
        [0, 0, 0, 0, 0, 0],
    ]
    assert np.argwhere(graph["recipe_fills"]).tolist() == [[planks, 0, boat]]
    assert np.argwhere(graph["command_fills"]).tolist() == [[1, 0, planks]]
    graph = reader.read(GET, "Got 1 acacia logs", ["inventory", GET, PLANKS])
    assert np.argwhere(graph["command_fills"]).tolist() == [[2, 0, boat]]
    graph = reader.read(PLANKS, "Crafted 4 minecraft:acacia_planks", ["inventory", GET])
    assert np.argwhere(graph["command_fills"]).tolist() == [[1, 0, planks]], (
        "four planks are not enough"
    )
    reader.read(GET, "Got 1 acacia logs", ["inventory", GET, PLANKS])
    craft = "craft 1 acacia boat using 5 acacia planks"
    graph = reader.read(PLANKS, "Crafted 4 minecraft:acacia_planks", ["inventory", GET, craft])
    assert not graph["recipe_fills"].any()
    assert graph["commands"][2].tolist() == pytest.approx([0, 1, 1, 0, np.log(2), 1])


def test_reader__begins_anew_with_each_prompt():
    reader = Reader()
    first = reader.read("", BOAT, [GET])
    reader.read(GET, "Got 1 acacia logs", [GET, PLANKS])
    again = reader.read(GET, BOAT, [GET])
    assert all(np.array_equal(first[name], again[name]) for name in first)


def test_reader__refuses_another_prompt():
    with pytest.raises(ValueError, match="expected the prompt of a TextCraft task"):
        Reader().read("", f"{PROMPT}nothing", [])


def test_reader__knows_what_is_held():
    """It counts along; the game's own inventory says the same."""
    env = gym.make("TextCraft-v0", split="test", admissible=True)
    generator = random.Random(0)
    compared = 0
    for seed in range(8):
        reader = Reader()
        observation, info = env.reset(seed=seed)
        reader.read("", observation, info["admissible_commands"])
        for _ in range(40):
            action = generator.choice(info["admissible_commands"])
            observation, _, over, _, info = env.step(action)
            graph = reader.read(action, observation, info["admissible_commands"])
            if over:
                break
        else:
            observation, *_ = env.step("inventory")
            held = {
                name: int(count) for name, count in re.findall(r"\[(.+?)\] \((\d+)\)", observation)
            }
            for command, features in zip(
                info["admissible_commands"], graph["commands"], strict=False
            ):
                assert features[3] == pytest.approx(
                    np.log1p(held.get(" ".join(read_line(command).makes), 0))
                ), command
                compared += 1
    assert compared > 50


def test_crafting_graph__is_in_its_space_and_what_the_reader_reads():
    env = CraftingGraph(
        ActionMasking(gym.make("TextCraft-v0", admissible=True), COMMANDS, overflow="drop")
    )
    text = gym.make("TextCraft-v0", admissible=True)
    reader = Reader()
    graph, _ = env.reset(seed=3)
    observation, info = text.reset(seed=3)
    expected = reader.read("", observation, info["admissible_commands"])
    for _ in range(5):
        assert SPACE.contains(graph)
        assert all(np.array_equal(graph[name], expected[name]) for name in SPACE)
        number = int(np.flatnonzero(env.get_wrapper_attr("action_masks")())[-1])
        command = info["admissible_commands"][number]
        graph, *_ = env.step(np.int64(number))
        observation, _, over, _, info = text.step(command)
        expected = reader.read(command, observation, info["admissible_commands"])
        if over:
            break


def test_recipes__are_shown_of_nearly_every_task():
    env = gym.make("TextCraft-v0", split="all")
    tasks = [task.id for task in textcraft_gym.tasks("TextCraft-v0")]
    listed = [env.reset(seed=0, options={"task": task})[0].count("\ncraft ") for task in tasks]
    assert sum(number > RECIPES for number in listed) == 3
    assert len(listed) == 397
