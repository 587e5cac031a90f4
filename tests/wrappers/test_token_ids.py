"""Words as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wrappers.worlds import Corridor
from textcraft_gym import UnknownName
from textcraft_gym.registration import find
from textcraft_gym.wrappers import TokenIds, vocabulary_of
from textcraft_gym.wrappers.token_ids import UNKNOWN, words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", []),
        (
            "Crafted 12 minecraft:oak_planks",
            ["crafted", "1", "2", "minecraft", ":", "oak", "_", "planks"],
        ),
        ("There's  [B0AB]\n", ["there", "'", "s", "[", "b", "0", "ab", "]"]),
        ("Äpfel٣🪵", ["äpfel", "٣", "🪵"]),
    ],
)
def test_words__are_letters_digits_and_signs(text, said):
    assert words(text) == said


def test_tokens__of_a_vocabulary():
    env = TokenIds(Corridor(), 4, vocabulary=["room", "0"])
    observation, info = env.reset(seed=0)
    assert info["text"] == "room 0"
    assert list(observation["tokens"]) == [2, 3, 0, 0]
    assert list(observation["mask"]) == [1, 1, 0, 0]
    assert list(env.step("on")[0]["tokens"]) == [2, UNKNOWN, 0, 0]
    assert env.decode([2, 3, 1, 0]) == ["room", "0", "?"]
    assert (env.size, env.vocabulary) == (4, ("room", "0"))


@pytest.mark.parametrize(("keep", "kept"), [("last", [4, 5]), ("first", [2, 3])])
def test_tokens__of_a_long_text_are_its_end_or_its_beginning(keep, kept):
    env = TokenIds(Corridor(), 2, vocabulary=["a", "b", "c", "d"], keep=keep)
    assert list(env.encode("a b c d")["tokens"]) == kept


def test_buckets__are_the_same_everywhere():
    env = TokenIds(Corridor(), 3, buckets=1000)
    assert list(env.encode("oak planks")["tokens"]) == [258, 145, 0]
    assert env.decode(env.encode("oak planks")["tokens"]) == ["?", "?"]


@given(st.text(max_size=80), st.integers(1, 20), st.sampled_from([None, 1, 50]))
def test_tokens__of_any_text_are_in_the_space(text, length, buckets):
    vocabulary = ["a", "b", "1"] if buckets is None else None
    env = TokenIds(Corridor(), length, vocabulary=vocabulary, buckets=buckets)
    observation = env.encode(text)
    assert observation in env.observation_space
    assert observation["mask"].sum() == min(length, len(words(text)))
    assert ((observation["tokens"] > 0) == observation["mask"]).all()


@pytest.mark.parametrize(
    ("env_id", "arguments"),
    [
        ("TextCraft-v0", {"split": "all"}),
        ("TextCraftTags-v0", {"split": "all"}),
        ("ALFWorld-v0", {"split": "all"}),
        ("ALFWorld-v0", {"dialect": "0.3"}),
        ("WebShopLite-v0", {"split": "all"}),
        ("WebShopLite-v0", {"mode": "text", "show_attrs": True}),
        ("WebShopLite-v0", {"mode": "text_rich"}),
        ("MineTechTree-v0", {"split": "all"}),
        ("MineTechTree-v0", {"feedback": "terse", "rules": "deps"}),
    ],
)
def test_vocabulary__has_every_word_that_the_game_says(env_id, arguments):
    env = TokenIds(find(env_id).make(admissible=True, expert=True, **arguments), 1 << 13)
    for seed in range(60):
        observation, info = env.reset(seed=seed)
        for turn in range(12):
            assert UNKNOWN not in observation["tokens"], info["text"]
            plan, commands = info["expert_plan"], info["admissible_commands"]
            action = (
                commands[(seed * 7 + turn) % len(commands)] if turn % 3 or not plan else plan[0]
            )
            observation, _, terminated, truncated, info = env.step(action)
            assert UNKNOWN not in observation["tokens"], info["text"]
            if terminated or truncated:
                break


def test_decode__gives_back_the_words():
    env = TokenIds(find("ALFWorld-v0").make(), 512)
    observation, info = env.reset(seed=0)
    assert env.decode(observation["tokens"]) == words(info["text"])


def test_vocabulary_of__is_every_word_once():
    assert vocabulary_of(["b a", "A 1!"]) == ("!", "1", "a", "b")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"length": 0}, "length in 1..65536"),
        ({"length": 2.0}, "length to be a whole number"),
        ({"length": 3, "buckets": 0}, "buckets of 1 or more"),
        ({"length": 3, "buckets": 5, "vocabulary": ["a"]}, "a vocabulary or buckets, got both"),
        ({"length": 3, "vocabulary": []}, "one or more different words"),
        ({"length": 3, "vocabulary": ["a", "a"]}, "different words"),
        ({"length": 3, "vocabulary": ["oak log"]}, "'oak log', which reads as"),
        ({"length": 3, "vocabulary": ["Oak"]}, "'Oak', which reads as"),
        ({"length": 3, "vocabulary": ["a"], "keep": "middle"}, "unknown keep 'middle'"),
        ({"length": 3}, "has no vocabulary: give a vocabulary or buckets"),
    ],
)
def test_arguments__that_are_wrong_raise(arguments, said):
    with pytest.raises((ValueError, UnknownName), match=said):
        TokenIds(Corridor(), **arguments)


def test_environment__that_says_no_text_raises():
    with pytest.raises(ValueError, match="observations of text, got Dict"):
        TokenIds(TokenIds(Corridor(), 3, buckets=2), 3, buckets=2)


def test_observation__is_of_arrays():
    observation = TokenIds(Corridor(), 3, buckets=2).reset(seed=0)[0]
    assert {name: array.dtype for name, array in observation.items()} == {
        "tokens": np.int64,
        "mask": np.int8,
    }
