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
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.registration import BUNDLED

COMMANDS = ("get 1 oak log", "click[buy now]", "Search[Radio City (Indian radio station)]", "put mug 1 in/on desk 1")
WORDS = st.text(st.characters(exclude_characters="`<>*", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=60)
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
        ("get 2 birch logs\nGot 9 birch logs\n> craft 1 boat using 9 logs\nCrafted 1 boat", "get 2 birch logs"),
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
    "reply", ["", " \n\t\n", "```\n```", "```", ">", "<think>Action: look", "<think>look</think>", "Action:"]
)
def test_last_command__is_empty_where_there_is_none(reply):
    assert last_command(reply) == ""


@given(st.lists(st.sampled_from([*'`>*\n "a', "Action:", "Thought", "<think>", "</think>", "look"])).map("".join))
def test_last_command__is_a_line_of_the_reply_without_blanks_around_it(reply):
    command = last_command(reply)
    assert command == command.strip()
    assert command in reply
    assert len(command.splitlines()) <= 1


@pytest.mark.parametrize(
    "part", ["`", "```", "```\n", "*", '"', "> ", "\n", "Action:", "thought action ", "<think>", "a\n", "action 1"]
)
def test_last_command__reads_a_long_reply_in_linear_time(part):
    # No clock: a quadratic reading of two million characters would take hours.
    last_command(part * (2_000_000 // len(part)))
