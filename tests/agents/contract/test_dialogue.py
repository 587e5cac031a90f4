from __future__ import annotations

import copy
import pickle

import pytest

from tests.agents.scripted import ScriptedModel, play
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.contract.agent import Ask
from textcraft_gym.agents.contract.model import Dialogue, Message, prompt_messages, prompt_text
from textcraft_gym.agents.games import TEXTCRAFT

ASKED = Message("user", "Goal: a stick.\n>")
DIALOGUE = Dialogue("Goal: a stick.\n>", [ASKED])


def test_dialogue__is_its_text_with_messages():
    longer = DIALOGUE.extended(
        " inventory\nnothing\n>", Message("assistant", "inventory"), Message("user", "nothing")
    )
    assert longer == "Goal: a stick.\n> inventory\nnothing\n>"
    assert longer.messages == (ASKED, Message("assistant", "inventory"), Message("user", "nothing"))
    assert (DIALOGUE.messages, prompt_text(longer), prompt_messages(longer)) == (
        (ASKED,),
        longer,
        longer.messages,
    )


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda dialogue: pickle.loads(pickle.dumps(dialogue))]
)
def test_dialogue__can_be_copied_and_sent(copied):
    again = copied(DIALOGUE)
    assert (type(again), again, again.messages) == (Dialogue, DIALOGUE, DIALOGUE.messages)


def test_prompt_messages__of_a_text_is_one_message_of_the_user():
    assert prompt_messages("a text") == (Message("user", "a text"),)
    assert prompt_messages([ASKED]) == (ASKED,)


def test_react__sends_its_turns_as_messages():
    model = ScriptedModel("think: the comb", "get 3 honeycomb", "Task completed!")
    play(ReActAgent(TEXTCRAFT), {"executor": model})
    first, _, third = (request["prompt"] for request in model.asked)
    assert first.messages == (Message("user", str(first)),)
    assert third.messages == (
        *first.messages,
        Message("assistant", "think: the comb"),
        Message("user", "OK."),
        Message("assistant", "get 3 honeycomb"),
        Message("user", "Got 3 honeycomb"),
    )


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "2"])
def test_ask__refuses_to_draw_no_sample(n):
    with pytest.raises(ValueError, match="expected n of 1 or more"):
        Ask("p", n=n)
