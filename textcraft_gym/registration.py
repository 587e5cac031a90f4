"""The table of environments. Importing the package registers them with Gymnasium and does nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium as gym


class Registered(NamedTuple):
    """An id: where its environment is, the limit it is registered with, and what its id fixes."""

    entry_point: str
    max_episode_steps: int
    kwargs: dict[str, Any]


TABLE: dict[str, Registered] = {
    "TextCraft-v0": Registered("textcraft_gym.envs.textcraft.env:TextCraftEnv", 100, {"tags": "group"}),
    "TextCraftTags-v0": Registered("textcraft_gym.envs.textcraft.env:TextCraftEnv", 100, {"tags": "item"}),
}


def register_all() -> None:
    """Register every id of the table."""
    for id, (entry_point, max_episode_steps, kwargs) in TABLE.items():
        gym.register(id, entry_point=entry_point, max_episode_steps=max_episode_steps, kwargs=kwargs)
