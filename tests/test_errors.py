from __future__ import annotations

import pytest

from textcraft_gym.errors import UnknownName

ITEMS = [
    f"minecraft:{name}"
    for name in ("beehive", "lever", "ice", "observer", "blue_ice", *"abcdefghij")
]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "minecraft:behive",
            "unknown item 'minecraft:behive'. Did you mean minecraft:beehive? There are 15.",
        ),
        ("behive", "unknown item 'behive'. Did you mean minecraft:beehive? There are 15."),
        ("sofa", "unknown item 'sofa'. There are 15."),
    ],
)
def test_unknown_name__suggests_near_names_whatever_their_namespace(name: str, message: str):
    assert str(UnknownName("item", name, ITEMS)) == message


def test_unknown_name__lists_a_few_names_and_nothing_where_there_is_none():
    assert (
        str(UnknownName("split", "tset", ["test", "dev"]))
        == "unknown split 'tset'. Did you mean test? Possible: test, dev"
    )
    assert str(UnknownName("module", "nope", [])) == "unknown module 'nope'."
