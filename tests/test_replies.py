"""The command in a reply of a chat model."""

from __future__ import annotations

import doctest
import itertools
import re

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym import last_command, replies
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.replies import CommandReader, decision, split_reasoning

COMMANDS = (
    "get 1 oak log",
    "click[buy now]",
    "Search[Radio City (Indian radio station)]",
    "put mug 1 in/on desk 1",
)
WORDS = st.text(
    st.characters(exclude_characters="`<>*", exclude_categories=("Cc", "Cs", "Zl", "Zp")),
    max_size=60,
)
SAID = WORDS.filter(lambda text: not re.search("action|thought", text, re.IGNORECASE))

FORMS = (
    "{}",
    "  {}  \n\n",
    "> {}",
    ">{}",
    "I should do this.\n{}",
    "Thought:\n{said}\n\nAction:\n{}",
    "Thought: {said}\nAction: {}",
    "Thought: {said} Action: {}",
    "Thought 3: {said}\nAction 3: {}",
    "**Thought:** {said}\n**Action:** {}",
    "**Action: {}**",
    "### Action:\n\n> {}\n",
    "ACTION: {}\nThis shows what is there.",
    "Action: {}\nObservation: {said}\nAction: look",
    "> {}\n{said}\n> look\n{said}",
    "Next action: `{}`",
    'Final action: "{}"',
    "{said}\n```\n{}\n```",
    "{said}\n```text\n{}\n```\n{said}",
    "```\n{}\n```\n{said}\n```\nlook\n```\n{said}",
    '{{"thought": "", "action": "{}"}}',
    "<action>{}</action>",
    "<think>{said}</think><answer>{}</answer>",
    "{said}\n[[{}]]",
    "{}<|im_end|>",
    "[THINK]{said}[/THINK]{}",
    "<|channel|>analysis<|message|>{said}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    "Action:\n```\n{}\n```",
    "{}\n```",
    "```\n{}",
    "`{}`",
    "**{}**",
    "<think>{said}\nAction: look\n</think>\n\n{}",
    "{said}\nAction: look\n</think>\nAction: {}",
    "<think>```\nlook\n```</think>Thought: {said}\r\nAction: {}\r\n",
)


def test_last_command__does_what_its_examples_say():
    failed, tried = doctest.testmod(replies)
    assert (failed, tried) == (0, 4)


@pytest.mark.parametrize("form", FORMS)
@given(said=SAID, command=st.sampled_from(COMMANDS))
def test_last_command__is_found_in_every_form_of_a_reply(form, said, command):
    assert last_command(form.format(command, said=said)) == command


@pytest.mark.parametrize(
    ("reply", "command"),
    [
        ("get 2 birch logs.", "get 2 birch logs"),
        ("Craft 1 birch boat using 5 birch planks!", "craft 1 birch boat using 5 birch planks"),
        ("inventory.", "inventory"),
        (
            "get 2 birch logs\nGot 9 birch logs\n> craft 1 boat using 9 logs\nCrafted 1 boat",
            "get 2 birch logs",
        ),
        ("I go on.\n> get 2 birch logs\nGot 9 birch logs\n> inventory", "get 2 birch logs"),
    ],
)
def test_reader__finds_a_command_by_its_form(reply: str, command: str):
    assert Prompts().commands("textcraft").read(reply).action == command


@pytest.mark.parametrize("env_id", BUNDLED)
def test_last_command__returns_each_command_of_the_worlds_as_it_is(env_id):
    env = gym.make(env_id, admissible=True, expert=True)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        for action in itertools.islice(info["expert_plan"], 20):
            commands = [*info["admissible_commands"], action]
            assert [last_command(command) for command in commands] == commands
            *_, over, cut, info = env.step(action)
            if over or cut:
                break
    env.close()


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n\t\n",
        "```\n```",
        "```",
        ">",
        "<think>Action: look",
        "<think>look</think>",
        "Action:",
    ],
)
def test_last_command__is_empty_where_there_is_none(reply):
    assert last_command(reply) == ""


@given(
    st.lists(
        st.sampled_from([*'`>*\n "a', "Action:", "Thought", "<think>", "</think>", "look"])
    ).map("".join)
)
def test_last_command__is_a_line_of_the_reply_without_blanks_around_it(reply):
    command = last_command(reply)
    assert command == command.strip()
    assert command in reply
    assert len(command.splitlines()) <= 1


@pytest.mark.parametrize(
    "part",
    [
        "`",
        "```",
        "```\n",
        "*",
        '"',
        "> ",
        "\n",
        "Action:",
        "thought action ",
        "<think>",
        "a\n",
        "action 1",
    ],
)
def test_last_command__reads_a_long_reply_in_linear_time(part):
    # No clock: a quadratic reading of two million characters would take hours.
    last_command(part * (2_000_000 // len(part)))


def reader_of(env_id: str) -> CommandReader:
    return Prompts().commands(load_profile(find(env_id).profile).name)


@pytest.mark.parametrize("env_id", BUNDLED)
def test_reader__takes_each_command_of_its_world_as_it_is(env_id):
    env, reader = gym.make(env_id, admissible=True, expert=True), reader_of(env_id)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        for action in itertools.islice(info["expert_plan"], 20):
            for command in (*info["admissible_commands"], action):
                turn = reader.read(command)
                assert (turn.action, turn.known, turn.mended) == (command, True, False), command
            *_, over, cut, info = env.step(action)
            if over or cut:
                break
    env.close()


UNMARKED = (
    "{}.",
    "1. {}",
    "- {}",
    "Step 1: {}",
    "First I need planks.\n{}",
    "{}\nThis brings me closer.",
    "{}\nTask completed!",
    "Let me do this:\n\n1. {}\n2. look",
    "I will play `{}` now.",
    "Let us **{}** first.",
    "\n\n\n{}",
    "think: I need it.\n{}",
    "Sure! {said}\n\n> {}\nGot it.\n> look",
)


@pytest.mark.parametrize("env_id", BUNDLED)
@pytest.mark.parametrize("form", [*FORMS, *UNMARKED])
def test_reader__finds_the_expert_s_command_in_every_form(form, env_id):
    env, reader = gym.make(env_id, expert=True), reader_of(env_id)
    _, info = env.reset(seed=1)
    for command in info["expert_plan"]:
        if "[" not in command or "[[" not in form:
            assert reader.read(form.format(command, said="Well")).action == command
    env.close()


@pytest.mark.parametrize(
    ("env_id", "reply", "command"),
    [
        ("TextCraft-v0", "Get 2 Oak Logs.", "get 2 oak logs"),
        ("TextCraft-v0", 'get(2, "oak logs")', "get 2 oak logs"),
        ("TextCraft-v0", 'get(item="oak logs", count=2)', "get 2 oak logs"),
        (
            "TextCraft-v0",
            '{"name": "get", "arguments": {"count": 2.0, "item": "oak logs"}}',
            "get 2 oak logs",
        ),
        (
            "TextCraft-v0",
            '<tool_call>{"name": "craft", "arguments": {"count": 1, "item": "bowl", "ingredients": {"oak planks": 3}}}',
            "craft 1 bowl using 3 oak planks",
        ),
        ("TextCraft-v0", "INVENTORY", "inventory"),
        ("ALFWorld-v0", "Go to Desk 1", "go to desk 1"),
        ("ALFWorld-v0", 'go_to("desk 1")', "go to desk 1"),
        ("WebShopLite-v0", "Click [Buy Now].", "click[Buy Now]"),
        ("WebShopLite-v0", "Search[red shoes]", "search[red shoes]"),
        ("HotpotQA-v0", "Action 3: Finish[Pell Oram].", "finish[Pell Oram]"),
        ("Tabletop-v0", "Put the red block in the bowl.", "put the red block in the bowl"),
    ],
)
def test_reader__mends_case_stops_and_calls(env_id: str, reply: str, command: str):
    turn = reader_of(env_id).read(reply)
    assert (turn.action, turn.known, turn.mended) == (command, True, True)


@pytest.mark.parametrize(
    "reply", ["I am not sure.", "What a nice game!", "Getting logs is wise.", "I would go"]
)
def test_reader__says_where_a_reply_holds_no_command(reply):
    turn = reader_of("TextCraft-v0").read(reply)
    assert (turn.action, turn.known) == (reply, False)


def test_reader__skips_what_the_game_has_answered():
    reader = reader_of("TextCraft-v0")
    answered = {("get 2 oak logs", "Got 2 oak logs")}
    again = "> get 2 oak logs\nGot 2 oak logs\n> inventory\nInventory: [oak logs] (2)\n> get 9 gold ingot"
    assert reader.read(again).action == "get 2 oak logs"
    assert reader.read(again, answered).action == "inventory"
    labelled = "Action 1: get 2 oak logs\nObservation 1: Got 2 oak logs\nAction 2: inventory\nObservation 2: much"
    assert reader.read(labelled, answered).action == "inventory"
    # An answer that was imagined is not the game's.
    imagined = labelled.replace("Got 2", "Got 64")
    assert reader.read(imagined, answered).action == "get 2 oak logs"


@pytest.mark.parametrize(
    "part",
    [
        "`a` ",
        "**a**",
        "“a",
        "get 1 ",
        "(",
        "{",
        '{"action": ',
        "[[",
        "[[a ",
        "<action>",
        "1. ",
        "> a\n",
        '"',
        " ",
    ],
)
def test_reader__reads_a_long_reply_in_linear_time(part):
    reader_of("TextCraft-v0").read("craft 1 a" + part * (2_000_000 // len(part)) + "a")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("yes", True),
        ("**Yes**, it fits.", True),
        ("Answer: no", False),
        ("It has every option that is asked for.\n\nYes.", True),
        ("<think>no, wait</think>\nyes", True),
        ("Maybe", None),
        ("", None),
    ],
)
def test_decision__is_the_yes_or_no_of_a_reply(reply, said):
    assert decision(reply) is said


@pytest.mark.parametrize(
    ("reply", "reasoning", "text"),
    [
        ("plain", "", "plain"),
        ("<think>\na\n</think>\n\nb", "a", "\n\nb"),
        ("a</think>b", "a", "b"),
        ("<thinking>a</thinking>b", "a", "b"),
        ("[THINK]a[/THINK]b", "a", "b"),
        ("\u25c1think\u25b7a\u25c1/think\u25b7b", "a", "b"),
        ("<think>never ends", "<think>never ends", ""),
        ("b<think>a</think>", "<think>a</think>", "b"),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
            None,
            "b",
        ),
        ("click[< prev]", "", "click[< prev]"),
    ],
)
def test_split_reasoning__divides_what_was_thought_from_what_was_said(reply, reasoning, text):
    answer = split_reasoning(reply)
    assert answer.text == text
    assert reasoning is None or answer.reasoning == reasoning
