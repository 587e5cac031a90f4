"""The text space: all of Unicode, cheaply, and through Gymnasium's shared memory."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc
from copy import deepcopy

import gymnasium as gym
import pytest
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, unflatten
from gymnasium.vector.utils import (
    batch_space,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from gymnasium.wrappers import FlattenObservation, TimeAwareObservation
from hypothesis import example, given
from hypothesis import strategies as st

import textcraft_gym  # noqa: F401  # registers the ids
from textcraft_gym.spaces import AnyText

anything = st.text(st.characters(), max_size=40)  # surrogates too


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a",
        "Ünï çödé",
        "🪵🧱",
        "nul \0 inside",
        "\ud800",
        "\udfff\ud800",
        "a\nb",
        "x" * 65_536,
    ],
)
def test_contains__any_string_up_to_the_length(text):
    assert text in AnyText()


@pytest.mark.parametrize("thing", [None, 1, b"bytes", ["a"], ("a",), "x" * 65_537])
def test_contains__nothing_that_is_longer_or_no_string(thing):
    assert thing not in AnyText()


def test_contains__heeds_its_own_length():
    assert "🪵🪵🪵" in AnyText(3)
    assert "🪵🪵🪵🪵" not in AnyText(3)


def test_equality__is_that_of_lengths():
    assert AnyText() == AnyText(seed=1)
    assert AnyText(5) == AnyText(5)
    assert AnyText(5) != AnyText(6)
    assert AnyText() != "AnyText"
    assert repr(AnyText(5)) == "AnyText(5)"


@pytest.mark.parametrize("copy", [deepcopy, lambda space: pickle.loads(pickle.dumps(space))])
def test_copy__is_equal_and_samples_on_alike(copy):
    space = AnyText(9, seed=3)
    space.sample()
    twin = copy(space)
    assert twin == space
    assert [twin.sample() for _ in range(20)] == [space.sample() for _ in range(20)]


@pytest.mark.parametrize("length", [1, 5, 65_536])
def test_sample__lies_in_the_space_and_follows_the_seed(length):
    space, twin, other = AnyText(length, seed=1), AnyText(length), AnyText(length, seed=2)
    twin.seed(1)
    drawn = [space.sample() for _ in range(50)]
    assert all(text in space for text in drawn)
    assert len(set(drawn)) > 5
    assert drawn == [twin.sample() for _ in drawn]
    assert drawn != [other.sample() for _ in drawn]


def test_sample__takes_the_mask_of_gymnasium():
    assert len(AnyText(9, seed=0).sample(mask=(4, None))) == 4


def test_batch__is_a_space_of_tuples():
    batch = batch_space(AnyText(8), 2)
    assert ("é", "🪵") in batch
    assert ("é", "x" * 9) not in batch
    assert batch.sample() in batch


@given(st.lists(st.tuples(anything, anything), min_size=1, max_size=4))
@example([("a rather long text", "another"), ("a", ""), ("🪵\0\ud800", "é\0")])
def test_shared_memory__returns_what_was_written_last(rounds):
    space = AnyText(40)
    memory = create_shared_memory(space, n=2)
    for texts in rounds:
        for index, text in enumerate(texts):
            write_to_shared_memory(space, index, text, memory)
        assert tuple(read_from_shared_memory(space, memory, n=2)) == texts


def test_shared_memory__starts_empty_and_holds_the_longest_text():
    space = AnyText()
    memory = create_shared_memory(space, n=2)
    assert tuple(read_from_shared_memory(space, memory, n=2)) == ("", "")
    write_to_shared_memory(space, 1, "🪵" * space.max_length, memory)
    assert tuple(read_from_shared_memory(space, memory, n=2)) == ("", "🪵" * space.max_length)


def test_shared_memory__that_was_read_once_shows_what_is_written_later():
    """Gymnasium reads it once and hands out deep copies."""
    space = AnyText(9)
    memory = create_shared_memory(space, n=3)
    read = read_from_shared_memory(space, memory, n=3)
    copies = [deepcopy(read)]
    for index, text in enumerate(["a", "é", "🪵"]):
        write_to_shared_memory(space, index, text, memory)
        copies.append(deepcopy(read))
    assert copies == [("", "", ""), ("a", "", ""), ("a", "é", ""), ("a", "é", "🪵")]
    assert (len(read), read[1], read[-1], read[:2]) == (3, "é", "🪵", ("a", "é"))
    assert repr(read) == repr(copies[-1])


@pytest.mark.parametrize("text", ["", "Craft a chest", "é 🪵\n", "\x00", "\ud83d", "\U0010ffff"])
def test_flat_form__holds_any_text(text: str):
    space = AnyText(20)
    flat = flatten(space, text)
    assert flat in flatten_space(space)
    assert flat.shape == (flatdim(space),)
    assert unflatten(space, flat) == text


@pytest.mark.parametrize("wrapper", [FlattenObservation, TimeAwareObservation])
def test_wrappers_of_gymnasium__flatten_observations(wrapper):
    env = wrapper(gym.make("TextCraft-v0"))
    for observation in (env.reset(seed=0)[0], env.step("inventory")[0]):
        assert observation in env.observation_space


def test_space__is_small():
    """A charset of all of Unicode would take hundreds of megabytes."""
    tracemalloc.start()
    space = AnyText()
    space.sample()
    assert "é" in space
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size < 200_000
    assert len(pickle.dumps(space)) < 10_000


def test_import__reads_no_data_and_nothing_heavy():
    script = """if True:
        import sys
        opened = []
        sys.addaudithook(lambda event, arguments: event == "open" and opened.append(str(arguments[0])))
        import textcraft_gym
        data = [file for file in opened if not file.endswith((".py", ".pyc", ".so")) and "textcraft_gym" in file]
        heavy = {"scipy", "typer", "rich", "prompt_toolkit", "torch", "hypothesis"} & set(sys.modules)
        print([file for file in data if file.endswith(("jsonl", "json"))], sorted(heavy))
    """
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] []"
