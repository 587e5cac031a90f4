"""The table of environments. Importing the package registers them with Gymnasium and does nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import gymnasium as gym

from textcraft_gym.errors import UnknownName


class Registered(NamedTuple):
    """An id: where its environment is, the limit it is registered with, what its id fixes, and its agents' profile."""

    entry_point: str
    max_episode_steps: int
    kwargs: dict[str, Any]
    profile: str


TABLE: dict[str, Registered] = {
    "TextCraft-v0": Registered("textcraft_gym.envs.textcraft.env:TextCraftEnv", 100, {"tags": "group"}, "textcraft"),
    "TextCraftTags-v0": Registered("textcraft_gym.envs.textcraft.env:TextCraftEnv", 100, {"tags": "item"}, "textcraft"),
    "ALFWorld-v0": Registered("textcraft_gym.envs.alfworld.env:ALFWorldEnv", 50, {}, "alfworld"),
    "WebShopLite-v0": Registered("textcraft_gym.envs.webshop.env:WebShopLiteEnv", 100, {}, "webshop"),
    "MineTechTree-v0": Registered("textcraft_gym.envs.minetechtree.env:MineTechTreeEnv", 200, {}, "minetechtree"),
}

EXTERNAL: dict[str, Registered] = {
    "MineDojo-v0": Registered("textcraft_gym.envs.minedojo.env:MineDojoEnv", 200, {}, "minetechtree"),
}
"""Ids that need a simulator which does not come with this package; all of ``TABLE`` can be played anywhere."""


def make(id: str, **arguments: Any) -> gym.Env[str, str]:
    """Make an environment of the table, without a step limit, for callers whose arguments come from outside.

    Raises:
        UnknownName: For an id that is not in the table, or an argument that its environment does not take.
    """
    known = _parameters(id)
    for argument in arguments:
        if argument not in known:
            raise UnknownName(f"argument of {id}", argument, list(known))
    return gym.make(id, max_episode_steps=-1, **arguments)


def default_split(id: str) -> str:
    """Return the split that an environment of the table plays where none is named.

    Raises:
        UnknownName: For an id that is not in the table.
    """
    split: str = _parameters(id)["split"].default
    return split


def _parameters(id: str) -> Mapping[str, inspect.Parameter]:
    if id not in TABLE:
        raise UnknownName("environment", id, list(TABLE))
    module, _, name = TABLE[id].entry_point.partition(":")
    return inspect.signature(getattr(import_module(module), name)).parameters


def register_all() -> None:
    """Register every id of the tables."""
    for id, (entry_point, max_episode_steps, kwargs, _) in {**TABLE, **EXTERNAL}.items():
        gym.register(id, entry_point=entry_point, max_episode_steps=max_episode_steps, kwargs=kwargs)
