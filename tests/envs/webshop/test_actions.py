"""Actions are read as the published pattern reads them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.envs.webshop.actions import click, parse, search

PATTERN = re.compile(r"(.+)\[(.+)\]")


def published(action: str) -> tuple[str, str]:
    match = PATTERN.match(action)
    return (match[1], match[2].lower()) if match else ("", "")


@pytest.mark.parametrize(
    ("action", "name", "argument"),
    [
        ("search[red lamp]", "search", "red lamp"),
        ("click[Buy Now]", "click", "buy now"),
        ("Click[x]", "Click", "x"),
        (" click[x]", " click", "x"),
        ("click[ x ]", "click", " x "),
        ("click[x] and so on", "click", "x"),
        ("click[x] or click[y]", "click[x] or click", "y"),
        ("click[a[b]]", "click[a", "b]"),
        ("click[a]b]", "click", "a]b"),
        ("click[x]\nclick[y]", "click", "x"),
        ("click[x\ny]", "", ""),
        ("\nclick[x]", "", ""),
        ("click[]", "", ""),
        ("click[]]", "click", "]"),
        ("click[[]]", "click[", "]"),
        ("[x]", "", ""),
        ("[[x]", "[", "x"),
        ("click x", "", ""),
        ("click]x[", "", ""),
        ("", "", ""),
        ("search[CAF\u00c9]", "search", "caf\u00e9"),
    ],
)
def test_action__is_read(action, name, argument):
    assert parse(action) == (name, argument) == published(action)


@given(st.text(alphabet="[]ab \n\r\u2028", max_size=14))
def test_action__is_read_as_the_pattern_reads_it(action):
    assert parse(action) == published(action)


def test_action__of_a_hundred_thousand_brackets_is_read():
    """The pattern itself would take minutes."""
    assert parse("[" * 100_000) == parse("click[" * 20_000) == parse("\n" * 100_000) == ("", "")
    assert parse("click[" + "]" * 100_000) == ("click", "]" * 99_999)


@given(st.text())
def test_search__can_be_said_for_any_text(words):
    name, argument = parse(search(words) if words else "")
    assert (name, bool(argument)) == (("search", True) if words else ("", False))


@given(st.text(alphabet="abc <>|'\"]", min_size=1))
def test_click__is_read_back(what):
    assert parse(click(what)) == ("click", what)
