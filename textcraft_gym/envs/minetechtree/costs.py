"""The tools and ticks that it takes to get items from their sources."""

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
    """Return the tier of a tool at a source; a tool of the wrong kind works like a bare hand."""
    material, _, kind = name_of(tool).partition(" ")
    return TIERS.get(material, BARE_HANDED) if source.tool and kind == source.tool else BARE_HANDED


def best_tool(source: Source, inventory: Inventory) -> str:
    """Return the held tool that mines a source fastest, or an empty string for a bare hand."""
    # A tool of too low a level gets nothing, however fast it is: gold is faster than iron.
    return max(["", *inventory], key=lambda item: (tier(source, item).level >= source.level, tier(source, item).speed))


def uses_left(state: State, source: Source, tool: str) -> int:
    """Return the number of blocks of a source that the held tools of a kind last for."""
    return tier(source, tool).uses * state.inventory.get(tool, 0) - state.wear.get(tool, 0)


def tools_for(source: Source) -> tuple[str, ...]:
    """Return the tools that can mine a source, the lowest tier first; none if a bare hand can."""
    if not source.level:
        return ()
    return tuple(
        f"minecraft:{name}_{source.tool}" for name, material in TIERS.items() if material.level >= source.level
    )


def nearest(game: Game, state: State, source: Source) -> Point | None:
    """Return the position of the nearest source of this kind, the first among equals; None if there is none."""
    places = [place.at for place in game.world.places if place.source == source]
    return min(places, key=state.at.distance, default=None)


def ticks_for(source: Source, tool: str) -> int:
    """Return the ticks that it takes to get one of each item that a source gives."""
    if source.verb == "hunt":
        return int(source.effort * TICKS_A_HIT)
    # The quotient, rounded up.
    return -int(-source.effort * TICKS_A_HARDNESS // tier(source, tool).speed)


def costs(game: Game, state: State) -> dict[str, tuple[int, int]]:
    """Return for each item that can be got now the ticks to walk there, and the ticks for each unit."""
    ticks: dict[str, tuple[int, int]] = {}
    for source in dict.fromkeys(place.source for place in game.world.places):
        tool, at = best_tool(source, state.inventory), nearest(game, state, source)
        if at is not None and tier(source, tool).level >= source.level:
            cost = TICKS_A_STEP * state.at.distance(at), ticks_for(source, tool)
            ticks |= {name_of(item): cost for item in source.gives}
    return ticks
