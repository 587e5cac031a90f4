"""Stands in for MineDojo's simulator, which cannot run here: no Java, no display, no Gym 0.21.

It is written from the spaces that MineDojo 0.1 declares, and from nothing that was seen in the real
game: eight numbers go in, refused as that space would refuse them; names with spaces in 36 places,
what is equipped, and what stands near come out. What it makes takes no ingredients but those that
``costs`` names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textcraft_gym.envs.minedojo.commands import FUNCTIONS, SHAPE
from textcraft_gym.envs.minetechtree.minedojo_specifications import Abilities

PLACES = 36


class StandIn:
    """An environment of the old Gym: ``reset`` gives an observation, ``step`` four things."""

    def __init__(
        self,
        abilities: Abilities,
        costs: dict[str, dict[str, int]],
        held: dict[str, int],
        *,
        ends_after: int = 10_000,
    ) -> None:
        self.makes = abilities.by_hand + abilities.at_table + abilities.in_furnace
        self.abilities = abilities
        self.costs = costs
        self.first = held
        self.ends_after = ends_after
        self.commands: list[list[int]] = []
        self.closed = False

    def reset(self) -> dict[str, Any]:
        self.held = dict(self.first)
        self.near = {"table": False, "furnace": False}
        self.on = "air"
        return self.observation()

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        assert isinstance(action, np.ndarray)
        assert action.shape == (len(SHAPE),)
        assert action.dtype == np.int64
        assert all(0 <= number < size for number, size in zip(action, SHAPE, strict=True))
        self.commands.append(action.tolist())
        function = FUNCTIONS[action[5]]
        if function == "craft":
            self.make(self.makes[action[6]])
        elif function == "equip":
            self.on = list(self.held)[action[7]]
        elif function == "place":
            self.put(list(self.held)[action[7]])
        elif function == "attack":
            self.held["log"] = self.held.get("log", 0) + 1
        return self.observation(), 0.0, len(self.commands) >= self.ends_after, {}

    def make(self, item: str) -> None:
        costs = self.costs.get(item, {"bedrock": 1})
        station = (
            "table"
            if item in self.abilities.at_table
            else "furnace"
            if item in self.abilities.in_furnace
            else ""
        )
        if (not station or self.near[station]) and all(
            self.held.get(ingredient, 0) >= n for ingredient, n in costs.items()
        ):
            for ingredient, amount in costs.items():
                self.take(ingredient, amount)
            self.held[item] = self.held.get(item, 0) + (4 if item in ("planks", "stick") else 1)

    def put(self, item: str) -> None:
        station = {"crafting_table": "table", "furnace": "furnace"}.get(item)
        if station:
            self.near[station] = True
            self.take(item, 1)

    def take(self, item: str, amount: int) -> None:
        self.held[item] -= amount
        if not self.held[item]:
            del self.held[item]

    def observation(self) -> dict[str, Any]:
        names = [item.replace("_", " ") for item in self.held] + ["air"] * (PLACES - len(self.held))
        quantities = [*self.held.values(), *[0] * (PLACES - len(self.held))]
        return {
            "inventory": {
                "name": np.array(names),
                "quantity": np.array(quantities, dtype=np.float32),
            },
            "equipment": {"name": np.array([self.on.replace("_", " "), *["air"] * 5])},
            "nearby_tools": {name: np.array(near) for name, near in self.near.items()},
        }

    def close(self) -> None:
        self.closed = True
