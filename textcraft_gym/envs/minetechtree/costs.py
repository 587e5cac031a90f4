"""Tools and times: what it takes to get things from their sources."""

from __future__ import annotations

from textcraft_gym.envs.minetechtree.facts import (
    BARE_HANDED,
    TICKS_A_HARDNESS,
    TICKS_A_HIT,
    TICKS_A_STEP,
    TIERS,
    Source,
    Tier,
)
from textcraft_gym.envs.minetechtree.state import Game, Inventory, Point, State
from textcraft_gym.recipes.recipe import name_of


def tier(source: Source, tool: str) -> Tier:
    """Return what a tool can do to a source; one of another kind does what a bare hand does."""
    material, _, kind = name_of(tool).partition(" ")
    return TIERS.get(material, BARE_HANDED) if source.tool and kind == source.tool else BARE_HANDED


def best_tool(source: Source, inventory: Inventory) -> str:
    """Return the held tool that gets most out of a source, empty where that is a bare hand."""
    return max(["", *inventory], key=lambda item: (tier(source, item).level >= source.level, tier(source, item).speed))


def tools_for(source: Source) -> tuple[str, ...]:
    """Return the tools that are good enough for a source, the least first; none where a bare hand is."""
    if not source.level:
        return ()
    return tuple(f"minecraft:{name}_{source.tool}" for name, one in TIERS.items() if one.level >= source.level)


def nearest(game: Game, state: State, source: Source) -> Point | None:
    """Return where the nearest place of a source is; of several as near, the first."""
    places = [place.at for place in game.world.places if place.source == source]
    return min(places, key=state.at.distance, default=None)


def ticks_for(source: Source, tool: str) -> int:
    """Return how long it takes to get one of each that a source gives."""
    if source.verb == "hunt":
        return int(source.effort * TICKS_A_HIT)
    return -int(-source.effort * TICKS_A_HARDNESS // tier(source, tool).speed)


def costs(game: Game, state: State) -> dict[str, tuple[int, int]]:
    """Return for each item that can be got now how long it takes to walk there, and then for each one."""
    found: dict[str, tuple[int, int]] = {}
    for source in dict.fromkeys(place.source for place in game.world.places):
        tool, at = best_tool(source, state.inventory), nearest(game, state, source)
        if at is not None and tier(source, tool).level >= source.level:
            cost = TICKS_A_STEP * state.at.distance(at), ticks_for(source, tool)
            found |= {name_of(item): cost for item in source.gives}
    return found
