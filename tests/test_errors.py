from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from textcraft_gym.agents.contract.model import ModelLimit
from textcraft_gym.errors import MissingExtra, RunStopped, UnknownName
from textcraft_gym.recipes.recipe import RecipeError

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


def test_errors__reach_another_process_whole():
    root = Path(__file__).parents[1]
    declared = re.compile(
        r"^class \w+\(.*(?:Error|Exception|UnknownName|Unsupported)\b", re.MULTILINE
    )
    for folder in ("textcraft_gym", "agents", "recipes"):
        for file in sorted((root / folder).rglob("*.py")):
            if declared.search(file.read_text(encoding="utf-8")):
                module = ".".join(file.relative_to(root).with_suffix("").parts)
                import_module(f"textcraft_gym.{module.removeprefix('textcraft_gym.')}")

    # Others are control flow, caught in the process that raises them.
    kinds: set[type[BaseException]] = set()
    for base in (ValueError, RuntimeError, ImportError):
        kinds |= {kind for kind in all_kinds(base) if kind.__module__.startswith("textcraft_gym.")}
    assert {UnknownName, MissingExtra, RecipeError, ModelLimit, RunStopped} <= kinds
    for kind in kinds:
        error = kind.__new__(kind, "a message")
        error.detail = 3
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), copy.detail) == (kind, "a message", 3), kind


def all_kinds(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for below in kind.__subclasses__():
        yield below
        yield from all_kinds(below)


def test_missing_extra__keeps_the_name_of_its_package_in_another_process():
    copy = pickle.loads(pickle.dumps(MissingExtra("rl", "torch")))
    assert (copy.name, str(copy)) == ("torch", str(MissingExtra("rl", "torch")))
