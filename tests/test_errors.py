from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import gymnasium as gym
import pytest

from textcraft_gym.agents.contract.model import ModelLimit
from textcraft_gym.errors import MissingExtra, RunStopped, TextCraftGymError, UnknownName
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
    assert str(UnknownName.of("item", name, ITEMS)) == message


def test_unknown_name__lists_a_few_names_and_nothing_where_there_is_none():
    assert (
        str(UnknownName.of("split", "tset", ["test", "dev"]))
        == "unknown split 'tset'. Did you mean test? Possible: test, dev"
    )
    assert str(UnknownName.of("module", "nope", [])) == "unknown module 'nope'."


def all_kinds(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for below in kind.__subclasses__():
        yield below
        yield from all_kinds(below)


def public_errors() -> list[type[BaseException]]:
    """Return the errors that callers meet; others are control flow, caught where they are raised."""
    root = Path(__file__).parents[1]
    declared = re.compile(
        r"^class \w+\(.*(?:Error|Exception|UnknownName|Unsupported)\b", re.MULTILINE
    )
    for folder in ("textcraft_gym", "agents", "recipes"):
        for file in sorted((root / folder).rglob("*.py")):
            if declared.search(file.read_text(encoding="utf-8")):
                module = ".".join(file.relative_to(root).with_suffix("").parts)
                import_module(f"textcraft_gym.{module.removeprefix('textcraft_gym.')}")

    bases = (TextCraftGymError, ValueError, RuntimeError, ImportError, LookupError)
    kinds = {TextCraftGymError, *(kind for base in bases for kind in all_kinds(base))}
    of_the_suite = (kind for kind in kinds if kind.__module__.startswith("textcraft_gym."))
    return sorted(of_the_suite, key=lambda kind: (kind.__module__, kind.__name__))


def test_public_errors__are_found():
    assert {UnknownName, MissingExtra, RecipeError, ModelLimit, RunStopped} <= set(public_errors())


@pytest.mark.parametrize("kind", public_errors())
def test_errors__reach_another_process_whole(kind: type[BaseException]):
    error = kind("a message")
    error.detail = 3  # type: ignore[attr-defined]
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.detail) == (kind, "a message", 3)
    # Gymnasium's AsyncVectorEnv makes one of what it got from its worker.
    assert str(kind(copy)) == "a message"


@pytest.mark.parametrize(
    ("error", "attribute"),
    [
        (UnknownName.of("split", "tset", ["test", "dev"]), "known"),
        (MissingExtra.of("rl", "torch"), "name"),
        (RunStopped("spent", at_limit=True), "at_limit"),
        (ModelLimit("too long", "context"), "limit"),
    ],
)
def test_errors__keep_their_attributes_in_another_process(error: Exception, attribute: str):
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert getattr(copy, attribute) == getattr(error, attribute)


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (lambda env: env.reset(options={"task": "minecraft:beehiv"}), "minecraft:beehive"),
        (lambda env: env.call("set_split", "tset"), "test"),
        (lambda env: env.set_attr("tasks", [["minecraft:beehiv"]] * 2), "minecraft:beehive"),
    ],
    ids=["task", "split", "tasks"],
)
@pytest.mark.filterwarnings("ignore:.*ERROR:UserWarning")
def test_errors__come_out_of_an_async_vector(call: Callable[[gym.vector.VectorEnv], object], near):
    env = gym.make_vec("textcraft_gym:TextCraft-v0", 2, "async")
    with pytest.raises(UnknownName, match=f"Did you mean .*{near}"):
        call(env)
    env.close()
