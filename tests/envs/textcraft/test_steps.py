"""Whether steps of plans hold in TextCraft."""

from __future__ import annotations

import gymnasium as gym


def test_holds__asks_the_inventory():
    game = gym.make("TextCraft-v0", split="test").unwrapped
    game.reset(options={"task": "minecraft:beehive"})
    assert game.holds("get 2 oak logs") is False
    game.step("get 2 oak logs")
    assert game.holds("get 2 oak logs") is True
    assert game.holds("get 3 oak logs") is False
    game.step("craft 4 oak planks using 1 oak logs")
    assert game.holds("get 2 oak logs") is False, "one is used up"
    assert game.holds("craft 4 oak planks using 1 oak logs") is True
    assert game.holds("craft({'planks': 4}, {'log': 1});") is True
    assert game.holds("make a beehive of these") is None
