"""Every code of every game says what was missing."""

from __future__ import annotations

import random
import re

import pytest

from tests.envs.alfworld.household import household
from tests.wrappers.worlds import Corridor
from textcraft_gym.envs.alfworld import reasons
from textcraft_gym.envs.alfworld.feedback import explain
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.problem import Goal
from textcraft_gym.envs.alfworld.rules import apply
from textcraft_gym.envs.minetechtree import moves as minetechtree
from textcraft_gym.envs.textcraft import rules as textcraft
from textcraft_gym.envs.webshop import rules as webshop
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.wrappers import ActionMasking, HelpfulFeedback

TEXTCRAFT = {
    ("get 2 oak pancakes", "not_gettable"): "There is no item called 'oak pancakes'.",
    (
        "get 1 beehive",
        "not_gettable",
    ): "beehive cannot be got, it must be crafted. It is made by: craft 1 beehive using 6 planks, 3 honeycomb.",
    ("get 1 bed", "not_gettable"): "There is no item called 'bed'.",
    (
        "get 1 white bed",
        "not_gettable",
    ): "white bed cannot be got, it must be crafted. No command of the prompt makes it.",
    ("get 0 honeycomb", "not_gettable"): "The number must be 1 to 999999.",
    (
        "craft 1 beehive using 6 oak planks, 3 honeycomb",
        "not_enough_items",
    ): "You need 6 oak planks and hold 0. You need 3 honeycomb and hold 2.",
    (
        "craft 1 beehive using 6 planks, 2 honeycomb",
        "not_enough_items",
    ): "planks is a kind of item: name one of that kind, such as acacia planks, birch planks, crimson planks.",
    (
        "craft 1 beehive using 2 honeycomb",
        "no_recipe",
    ): "These ingredients do not make beehive. It is made by: craft 1 beehive using 6 planks, 3 honeycomb.",
    (
        "craft 1 white bed using 2 honeycomb",
        "no_recipe",
    ): "These ingredients do not make white bed. No command of the prompt makes it.",
    (
        "craft 1 beehive using planks",
        "wrong_item_format",
    ): "Each ingredient is a number of 1 to 999999 and an item: 'planks' is not.",
    (
        "make beehive",
        "unknown_action",
    ): "Actions are: get N ITEM; craft N ITEM using N ITEM, N ITEM; inventory.",
}

ALFWORLD = {
    "frobnicate": ("unknown_command", "There is no such command: help lists what there is."),
    "take mug from shelf 1": (
        "missing_index",
        "Things are named with their number, mug 1: say which mug is meant.",
    ),
    "go to sofa 1": ("no_such_thing", "There is no sofa 1 here that could be meant."),
    "go to countertop 1": ("already_there", "You are at countertop 1 already."),
    "open fridge 1": ("wrong_location", "You are not at fridge 1: go to it first."),
    "use floorlamp 1": (
        "wrong_location",
        "There is no floorlamp 1 within reach that this can be done to.",
    ),
    "open shelf 1": ("not_openable", "shelf 1 cannot be opened or closed."),
    "move mug 1 to shelf 1": ("not_carrying", "You are not carrying mug 1: take it first."),
    "slice apple 2 with knife 1": ("not_carrying", "You are not carrying knife 1: take it first."),
    "take spoon 1 from shelf 1": ("not_in_receptacle", "There is no spoon 1 in or on shelf 1."),
    "take statue 1 from countertop 1": ("not_possible", "statue 1 cannot be used in this way."),
    "go to fridge 1;open fridge 1;open fridge 1": ("already_open", "fridge 1 is open already."),
    "go to fridge 1;close fridge 1": ("already_closed", "fridge 1 is closed already."),
    "go to fridge 1;take apple 1 from fridge 1": ("closed", "fridge 1 is closed: open it first."),
    "take mug 1 from shelf 1;take apple 2 from countertop 1": (
        "hands_full",
        "You are carrying mug 1: put it somewhere first.",
    ),
    "take bowl 1 from countertop 1;move bowl 1 to shelf 1": (
        "does_not_fit",
        "bowl 1 cannot be put in or on shelf 1.",
    ),
    "take mug 1 from shelf 1;clean mug 1 with countertop 1": (
        "wrong_appliance",
        "countertop 1 cannot clean anything: that takes a sink.",
    ),
}

WEBSHOP = {
    ("buy it", "unknown_action"): "Actions are: search[words]; click[what].",
    ("click[Search]", "nothing_typed"): "A search needs words: search[words].",
    ("click[buy now]", "not_on_page"): "There is no 'buy now' on this page. There is: search.",
}


MINETECHTREE = {
    "fly": ("unknown_action", "Actions are: mine N ITEM; "),
    "craft 1 stick using planks": (
        "wrong_item_format",
        "Each ingredient is a number of 1 to 999999 and an item.",
    ),
    "mine 1 bedrock": ("unknown_item", "There is no bedrock."),
    "mine 1 beef": ("wrong_skill", "Hunt it."),
    "mine 1 jungle log": ("not_here", "There are no jungle trees in this world."),
    "craft 4 stick": ("no_ingredients", "Say using what."),
    "craft 4 stick using 1 oak planks": ("no_recipe", "4 stick takes 2 planks"),
    "smelt 1 stone using 1 cobblestone": ("not_enough_fuel", "Requires fuel, named last."),
    "craft 8 stick using 4 oak planks": ("not_enough_items", "Requires 4 oak planks."),
    "mine 1 cobblestone": ("needs_tool", "Requires wooden pickaxe."),
    "mine 2 oak log;craft 8 oak planks using 2 oak log;craft 1 chest using 8 oak planks": (
        "needs_crafting_table",
        "Requires crafting table.",
    ),
    "mine 2 oak log;hunt 1 beef;smelt 1 cooked beef using 1 beef, 1 oak log": (
        "needs_furnace",
        "Requires furnace.",
    ),
    "mine 99999 oak log": ("out_of_time", "The time that was left did not do."),
}


@pytest.mark.parametrize(("actions", "expected"), MINETECHTREE.items())
def test_minetechtree__explains_every_code(actions: str, expected: tuple[str, str]):
    env = HelpfulFeedback(find("MineTechTree-v0").make(feedback="terse"))
    env.reset(seed=1, options={"task": "diamond"})
    *before, last = actions.split(";")
    for action in before:
        assert "invalid_reason" not in env.step(action)[4]
    observation, _, _, _, info = env.step(last)
    code, said = expected
    assert info["invalid_reason"] == code
    assert observation.partition("\n")[2].startswith(said)
    assert observation.endswith(".")


def test_minetechtree__has_an_example_of_every_code():
    assert {code for code, _ in MINETECHTREE.values()} == set(minetechtree.REASONS)


def test_textcraft__explains_every_code():
    env = HelpfulFeedback(find("TextCraft-v0").make())
    env.reset(seed=0, options={"task": "minecraft:beehive"})
    env.step("get 2 honeycomb")
    for (action, code), said in TEXTCRAFT.items():
        observation, _, _, _, info = env.step(action)
        assert info["invalid_reason"] == code, action
        assert observation.endswith("\n" + said), observation
    assert {code for _, code in TEXTCRAFT} == set(textcraft.REASONS)


@pytest.mark.parametrize(
    "action", ["get 8 planks", "craft 1 chest using 8 planks", "craft 4 planks using 1 oak logs"]
)
def test_textcraft__explains_that_a_name_is_one_of_a_kind(action: str):
    env = HelpfulFeedback(find("TextCraft-v0").make(split="test"))
    prompt, _ = env.reset(seed=0, options={"task": "minecraft:hopper_minecart"})
    env.step("get 1 oak logs")
    said, examples = env.step(action)[0].split("\n")[1].split(", such as ")
    assert said.endswith("planks is a kind of item: name one of that kind")
    names = examples.removesuffix(".").split(", ")
    assert len(names) == 3
    assert all(f" {name} using" in prompt for name in names)


def test_textcraft__explains_every_kind_of_its_prompts():
    for env_id in ("TextCraft-v0", "TextCraftTags-v0"):
        env = HelpfulFeedback(find(env_id).make(split="test"))
        for seed in range(20):
            prompt, _ = env.reset(seed=seed)
            names = re.findall(r"(?:using|,) \d+ ([^,\n]+)", prompt.partition("\n\n")[0])
            for name in dict.fromkeys(names):
                answer = env.step(f"get 1 {name}")[0]
                assert "There is no item" not in answer, answer


@pytest.mark.parametrize(("commands", "expected"), ALFWORLD.items())
def test_alfworld__explains_every_code(commands, expected):
    game = Game(household(Goal("pick_and_place_simple", "AppleType", "FridgeType"), "loc_table"))
    *before, last = commands.split(";")
    state = game.first
    for command in before:
        state, answer, *_ = apply(game, state, command)
        assert answer != "Nothing happens.", command
    assert apply(game, state, last)[1] == "Nothing happens."
    code = reasons.reason(game, state, last)
    assert (code, explain(game, state, last, code)) == expected


def test_alfworld__has_an_example_of_every_code():
    assert {code for code, _ in ALFWORLD.values()} == set(reasons.REASONS)


@pytest.mark.parametrize(
    ("dialect", "command", "expected"),
    [
        (
            "0.3",
            "help",
            "There is no such command: there are look, inventory, go to, open, close, take, put,",
        ),
        (
            "0.3",
            "move mug 1 to shelf 1",
            "There is no such command: say put (object) in/on (receptacle).",
        ),
        (
            "0.3",
            "put mug 1 on shelf 1",
            "There is no such command: say put (object) in/on (receptacle).",
        ),
        ("0.3", "put mug 1 in/on shelf 1", "You are not carrying mug 1: take it first."),
        (
            "0.4",
            "put mug 1 in/on shelf 1",
            "There is no such command: say move (object) to (receptacle).",
        ),
    ],
)
def test_alfworld__explains_in_the_dialect_that_it_plays(dialect, command, expected):
    game = Game(
        household(Goal("pick_and_place_simple", "AppleType", "FridgeType"), "loc_table"), dialect
    )
    _, answer, code, _ = apply(game, game.first, command)
    assert answer == "Nothing happens."
    assert explain(game, game.first, command, code).startswith(expected)


def test_webshop__explains_every_code():
    env = HelpfulFeedback(find("WebShopLite-v0").make())
    env.reset(seed=0)
    for (action, code), said in WEBSHOP.items():
        observation, _, _, _, info = env.step(action)
        assert info["invalid_reason"] == code, action
        assert observation == f"Invalid action!\n{said}"
    assert {code for _, code in WEBSHOP} == set(webshop.REASONS)


@pytest.mark.parametrize("env_id", BUNDLED)
def test_feedback__stands_only_where_nothing_happened(env_id):
    """Every action that names what another game or moment has is explained, too."""
    env, plain = (find(env_id).make(admissible=True) for _ in range(2))
    env = HelpfulFeedback(env)
    number = random.Random(0)
    words = [
        "go",
        "to",
        "craft",
        "1",
        "using",
        "click[",
        "]",
        "take",
        "from",
        "open",
        "apple 1",
        "fridge 1",
        "get 2",
        ",",
    ]
    info = env.reset(seed=1)[1]
    assert plain.reset(seed=1)[1] == info
    seen = list(info["admissible_commands"])
    explained = 0
    for _ in range(300):
        made = " ".join(number.choices(words, k=number.randint(0, 5)))
        action = number.choice(
            [made, number.choice(seen), number.choice(info["admissible_commands"])]
        )
        observation, *others, info = env.step(action)
        expected, *same, plain_info = plain.step(action)
        assert (others, info) == (same, plain_info)
        assert observation in env.observation_space
        if "invalid_reason" in info:
            explained += 1
            answer, _, explanation = observation.removeprefix(expected).partition("\n")
            assert (answer, bool(explanation)) == ("", True)
            assert not set("{}") & set(explanation)
        else:
            assert observation == expected
        seen += info["admissible_commands"]
        if others[1] or others[2]:
            env.reset(seed=2)
            info = plain.reset(seed=2)[1]
    assert explained > 20


def test_environment__that_cannot_explain_or_has_no_text_raises():
    with pytest.raises(ValueError, match=r"no method explain\(action, reason\)"):
        HelpfulFeedback(Corridor())
    with pytest.raises(ValueError, match="actions of text"):
        HelpfulFeedback(ActionMasking(find("TextCraft-v0").make(admissible=True), 64))
