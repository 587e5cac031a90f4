"""How distances are told."""

from __future__ import annotations

import re

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym import UnknownName
from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.facts import SOURCES
from textcraft_gym.envs.minetechtree.state import FIRST, Game, Place, Point, World

ID = "MineTechTree-v0"


def test_look__tells_distances_as_the_argument_says():
    said = {}
    for around in text.AROUND:
        env = gym.make(ID, around=around)
        first, _ = env.reset(seed=0, options={"task": "diamond"})
        said[around] = env.step("look")[0].split("\n")
        assert first.startswith("\n".join(said[around]))
    assert re.search(r"oak trees [0-9]+ steps away", said["exact"][1])
    assert re.search(r"oak trees about (10|20|40|80|160) steps away", said["rough"][1])
    assert not re.search("[0-9]|steps", "".join(said["names"][:3]))
    # The rest is the same, and so is what is around.
    assert said["exact"][0] == said["rough"][0] == said["names"][0]
    assert said["exact"][3] == said["rough"][3] == said["names"][3]
    names = [
        sorted(re.sub(r" (about )?[0-9]+ steps away", "", line) for line in said[a][1:3])
        for a in text.AROUND
    ]
    sources = [
        [sorted(line.rstrip(".").partition(": ")[2].split(", ")) for line in lines]
        for lines in names
    ]
    assert sources[0] == sources[1] == sources[2]


@given(steps=st.integers(0, 400))
def test_rough__is_the_number_that_differs_least_by_its_factor(steps: int):
    world = World((Place(SOURCES["cows"], Point(steps, 0)),), (("plains", Point(0, 0)),))
    said = text.look(Game(world, (), 0, around="rough"), FIRST)
    rough = int(re.search(r"cows about ([0-9]+) steps away", said)[1])
    if 10 <= steps <= 160:
        assert 2**-0.5 <= rough / steps <= 2**0.5
    else:
        assert rough == (10 if steps < 10 else 160)


@pytest.mark.parametrize("around", ["rough", "names"])
def test_order__tells_no_more_than_the_words(around: str):
    env = gym.make(ID, around=around)
    for seed in range(30):
        said = env.reset(seed=seed)[0]
        for line in said.split("\n")[1:3]:
            places = line.rstrip(".").partition(": ")[2].split(", ")
            keys = [
                (int(number[0]) if (number := re.findall("[0-9]+", each)) else 0, each)
                for each in places
            ]
            assert keys == sorted(keys)


def test_around__changes_no_rule():
    """The same actions take the same time, and every other answer is the same."""
    plan = [
        "mine 3 oak log",
        "craft 12 oak planks using 3 oak log",
        "hunt 1 beef",
        "inventory",
        "mine 1 cobblestone",
    ]
    played = []
    for around in text.AROUND:
        env = gym.make(ID, around=around)
        env.reset(seed=2, options={"task": "diamond"})
        played.append([env.step(action) for action in plan])
    assert played[0] == played[1] == played[2]


def test_argument__of_any_other_word_is_refused():
    with pytest.raises(UnknownName, match=r"unknown around .far.\. Possible: exact, rough, names"):
        gym.make(ID, around="far")
