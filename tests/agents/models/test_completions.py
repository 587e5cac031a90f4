from __future__ import annotations

import pytest

from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.agents.models.completions import (
    REASONING_TOKENS,
    Price,
    ReasoningRoom,
    cut,
    with_costs_of,
)

CUT_OFF = Completion("", finish_reason="length")


def test_room__is_learned_and_every_request_that_had_less_is_asked_again():
    room = ReasoningRoom()
    assert not room.learn(Completion("x"), 0)
    assert room.tokens == 0
    assert room.learn(CUT_OFF, 0)
    assert room.learn(CUT_OFF, 0)  # it was under way when the first one came back
    assert not room.learn(CUT_OFF, room.tokens)
    assert room.tokens == REASONING_TOKENS


@pytest.mark.parametrize(
    "completion", [Completion("x", reasoning="hm"), Completion("x", {"reasoning_tokens": 9})]
)
def test_room__is_given_to_a_model_that_shows_that_it_reasons(completion: Completion):
    room = ReasoningRoom()
    assert not room.learn(completion, 0)
    assert room.tokens == REASONING_TOKENS


def test_room__of_a_given_size_stays():
    room = ReasoningRoom(10)
    assert not room.learn(CUT_OFF, 10)
    assert room.tokens == 10
    with pytest.raises(ValueError, match="reasoning_tokens"):
        ReasoningRoom(-1)


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf"), 1e300, 10**400])
def test_price__is_a_number_of_0_or_more(price: float):
    with pytest.raises(ValueError, match="0 or more"):
        Price(1.0, price)


def test_costs__add_up():
    spent = Completion("", {"prompt_tokens": 5}, 0.5)
    assert with_costs_of(
        Completion("x", {"prompt_tokens": 2, "completion_tokens": 1}, 0.25), [spent]
    ) == Completion("x", {"prompt_tokens": 7, "completion_tokens": 1}, 0.75)


def test_cut__is_at_the_first_stop_but_not_before_the_text():
    assert cut("\n\none\ntwo", ("\n",)) == "one"
    assert cut("\none END", ("END",)) == "\none "
