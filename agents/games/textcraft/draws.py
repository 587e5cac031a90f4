"""Random actions of what TextCraft's first observation shows."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from textcraft_gym.agents.contract.attempt import Turn
from textcraft_gym.agents.contract.draws import pick
from textcraft_gym.agents.games.crafting import Crafts, Want, read_crafts


def draw(opening: str, turns: Sequence[Turn], rng: Random) -> str:
    """Return a printed command, or one that gets a part of one, with items in place of kinds."""
    crafts = read_crafts(opening)
    actions: list[str] = []
    for recipes in crafts.recipes.values():
        for recipe in recipes:
            parts = tuple(_member(part, crafts, rng) for part in recipe.parts)
            actions.append(str(recipe._replace(parts=parts)))
            actions += [f"get {part.amount} {part.item}" for part in parts]
    return pick(actions or ["inventory"], rng)


def _member(part: Want, crafts: Crafts, rng: Random) -> Want:
    """Return a part with a random member in place of its kind."""
    return part._replace(item=pick(crafts.members(part.item) or [part.item], rng))
