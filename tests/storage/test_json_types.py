from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.episodes.episode import Episode
from textcraft_gym.storage.json_types import is_of_type, type_name


@dataclass
class Tree:
    """A recursive dataclass."""

    name: str
    parts: list[Tree | int | str] = field(default_factory=list)


TREE = {"name": "a", "parts": [1, "b", {"name": "c", "parts": []}]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", str),
        (None, str | None),
        (1, int),
        (1, float),
        (0.5, float),
        (True, bool),
        ([1, None], list[int | None]),
        ({"a": 1}, dict[str, int]),
        ([None, "b"], tuple[str | None, str]),
        (TREE, Tree),
        ([1, {}], Any),
        ({"a": [1]}, dict[str, Any]),
        ("b", Literal["a", "b"] | None),
    ],
)
def test_value__of_the_type(value, expected):
    assert is_of_type(value, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, str),
        ("c", Literal["a", "b"]),
        (["a"], Literal["a", "b"] | None),
        (None, str),
        (True, int),
        (1.0, int),
        (1 << 63, int),
        (1 << 63, float),
        (False, float),
        (float("inf"), float),
        (float("nan"), float),
        (1, bool),
        ("ab", list[str]),
        ([1], list[str]),
        ({"a": "b"}, dict[str, int]),
        ([], dict[str, int]),
        (["a"], tuple[str, str]),
        (["a", "b", "c"], tuple[str, str]),
        ({"name": "a"}, Tree),
        ({**TREE, "more": 1}, Tree),
        ({"name": "a", "parts": [{"name": 1, "parts": []}]}, Tree),
    ],
)
def test_value__of_another_type(value, expected):
    assert not is_of_type(value, expected)


def test_episode__is_of_its_own_type_when_it_is_read_back():
    assert is_of_type(json.loads(json.dumps(asdict(Episode()))), Episode)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5
    )
)
def test_any_value__has_an_answer(value):
    for expected in (
        str,
        int,
        float,
        bool,
        list[int],
        dict[str, int],
        tuple[str, int],
        Tree,
        Episode,
        int | None,
    ):
        assert is_of_type(value, expected) in (True, False)


def test_type_name__is_as_in_code():
    assert [type_name(kind) for kind in (str, Literal["a"] | None, str | None, dict[str, Any])] == [
        "str",
        "'a' | None",
        "str | None",
        "dict[str, typing.Any]",
    ]
