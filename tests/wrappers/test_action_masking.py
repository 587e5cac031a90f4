"""Numbers for commands."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from tests.wrappers.worlds import Corridor
from textcraft_gym import UnknownName
from textcraft_gym.errors import Unsupported
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.wrappers import ActionMasking, TokenIds


@pytest.mark.parametrize("env_id", BUNDLED)
def test_number__is_the_place_in_the_list_of_the_environment(env_id):
    env, plain = (
        ActionMasking(find(env_id).make(admissible=True), 128),
        find(env_id).make(admissible=True),
    )
    (observation, info), (expected, _) = env.reset(seed=4), plain.reset(seed=4)
    assert observation == expected
    env.action_space.seed(0)
    for _ in range(30):
        commands = info["admissible_commands"]
        assert list(env.action_masks()) == [place < len(commands) for place in range(128)]
        assert list(env.commands) == commands + [""] * (128 - len(commands))
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
        assert (observation, reward, terminated) == plain.step(commands[action])[:3]
        if terminated or truncated:
            break
        assert "invalid_reason" not in info


def test_number__of_a_fixed_command_is_always_the_same():
    env = ActionMasking(Corridor(admissible=True), commands=["back", "on"])
    info = env.reset(seed=0)[1]
    assert env.commands == ("back", "on")
    assert list(info["action_mask"]) == [0, 1]
    assert list(env.step(1)[4]["action_mask"]) == [1, 1]
    assert env.step(np.int64(0))[0] == "room 0"


@pytest.mark.parametrize("arguments", [{"n": 3}, {"commands": ["back", "on"]}])
def test_number__that_is_masked_is_the_agents_mistake(arguments):
    env = ActionMasking(Corridor(admissible=True), **arguments)
    env.reset(seed=0)
    masked = int(np.flatnonzero(~env.action_masks())[-1])
    observation, reward, terminated, truncated, _ = env.step(masked)
    assert (observation, reward, terminated, truncated) == ("room 0", 0.0, False, False)


@pytest.mark.parametrize(
    ("env_id", "reason"), [("TextCraft-v0", "unknown_action"), ("ALFWorld-v0", "unknown_command")]
)
def test_number__without_a_command_is_answered_by_the_game(env_id, reason):
    env = ActionMasking(find(env_id).make(admissible=True), 200)
    env.reset(seed=0)
    assert env.step(199)[4]["invalid_reason"] == reason


@pytest.mark.parametrize("action", [-1, 3, 1.0, "on", None, np.array([1, 2])])
def test_number__out_of_range_raises(action):
    env = ActionMasking(Corridor(admissible=True), 3)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"expected an action in 0\.\.2, got"):
        env.step(action)


def test_step__before_reset_raises():
    with pytest.raises(ResetNeeded):
        ActionMasking(find("TextCraft-v0").make(admissible=True), 50).step(0)


def test_overflow__raises_unless_dropped():
    with pytest.raises(ValueError, match="8 commands are admissible but n is 7: raise it, or drop"):
        ActionMasking(Corridor(admissible=True, crowd=7), 7).reset(seed=0)
    with pytest.raises(ValueError, match="'wave 0' is not among commands: add it, or drop"):
        ActionMasking(Corridor(admissible=True, crowd=7), commands=["on", "back"]).reset(seed=0)


@pytest.mark.parametrize(
    ("arguments", "dropped"), [({"n": 3}, 5), ({"commands": ["on", "back"]}, 7)]
)
def test_overflow__that_is_dropped_is_counted(arguments, dropped):
    env = ActionMasking(Corridor(admissible=True, crowd=7), overflow="drop", **arguments)
    info = env.reset(seed=0)[1]
    assert info["dropped_commands"] == dropped
    assert len(info["admissible_commands"]) - dropped == env.action_masks().sum()


def test_mask__of_the_end_is_empty_where_nothing_is_admissible():
    env = ActionMasking(find("WebShopLite-v0").make(admissible=True), 64)
    env.reset(seed=0)
    env.step(env.commands.index("") - 1)  # searches
    env.step(env.commands.index("") - 2)  # looks at a product
    assert env.step(env.commands.index("click[buy now]"))[2]
    assert not env.action_masks().any()


def test_mask__is_the_callers_own():
    env = ActionMasking(Corridor(admissible=True), 3)
    env.reset(seed=0)
    env.action_masks()[:] = False
    assert list(env.action_masks()) == [True, False, False]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "either n or commands"),
        ({"n": 3, "commands": ["on"]}, "either n or commands"),
        ({"n": 0}, "n in 1..65536, got 0"),
        ({"n": True}, "n to be a whole number, got True"),
        ({"n": 2.0}, "n to be a whole number, got 2.0"),
        ({"commands": []}, "one or more commands"),
        ({"commands": "on"}, "one or more commands"),
        ({"commands": [1, 2]}, "one or more commands"),
        ({"commands": ["on", "back", "on"]}, "duplicate command 'on'"),
        ({"n": 3, "overflow": "hide"}, "unknown overflow 'hide'.*raise, drop"),
    ],
)
def test_arguments__that_are_wrong_raise(arguments, said):
    with pytest.raises((ValueError, UnknownName), match=said):
        ActionMasking(Corridor(admissible=True), **arguments)


def test_environment__without_admissible_commands_or_text_raises():
    for env in (Corridor(), find("TextCraft-v0").make()):
        with pytest.raises(ValueError, match="make it with admissible=True"):
            ActionMasking(env, 3)
    with pytest.raises(ValueError, match="lists no admissible commands"):
        ActionMasking(TokenIds(find("TextCraft-v0").make(), 5), 3)
    with pytest.raises(ValueError, match="actions of text, got Discrete"):
        ActionMasking(ActionMasking(Corridor(admissible=True), 3), 3)
    with pytest.raises(ValueError, match="actions of text"):
        ActionMasking(gym.make("CartPole-v1"), 3)


@pytest.mark.parametrize("distractors", [0, 2])
def test_possible_commands__are_all_that_is_ever_admissible(distractors):
    env = find("TextCraft-v0").make(admissible=True, distractors=distractors)
    tasks = [task.id for task in env.get_wrapper_attr("tasks")[::20]]
    masked = ActionMasking(env, commands=env.get_wrapper_attr("possible_commands")(tasks))
    masked.action_space.seed(0)
    for seed, task in enumerate(tasks):
        info = masked.reset(seed=seed, options={"task": task})[1]
        for _ in range(30):
            _, _, terminated, _, info = masked.step(masked.action_space.sample(info["action_mask"]))
            assert "invalid_reason" not in info
            if terminated:
                break


def test_possible_commands__are_few_for_few_tasks_and_none_too_many():
    env = find("TextCraft-v0").make(distractors=0).unwrapped
    assert env.possible_commands(["minecraft:beehive"])[0] == "inventory"
    assert len(env.possible_commands(["minecraft:beehive"])) < 40
    assert len(env.possible_commands()) == len(set(env.possible_commands())) == 578
    with pytest.raises(UnknownName):
        env.possible_commands(["minecraft:nothing"])
    with pytest.raises(
        Unsupported, match=r"TextCraftTags-v0 offers no possible_commands: .*too many"
    ):
        find("TextCraftTags-v0").make().unwrapped.possible_commands()
