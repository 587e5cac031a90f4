"""The tools and ticks that it takes to get items from their sources."""

from __future__ import annotations

from collections.abc import Container, Mapping

from textcraft_gym.envs.minetechtree.facts import (
    BARE_HANDED,
    SOURCES,
    TICKS_A_HARDNESS,
    TICKS_A_HIT,
    TICKS_A_STEP,
    TIERS,
    Source,
    Tier,
)
from textcraft_gym.envs.minetechtree.state import Game, Point, State
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE, name_of


def _tools_of(kind: str) -> dict[str, Tier]:
    if not kind:
        return {}
    return {f"{DEFAULT_NAMESPACE}{material}_{kind}": tier for material, tier in TIERS.items()}


_TOOLS: Mapping[str, Mapping[str, Tier]] = {
    kind: _tools_of(kind) for kind in {source.tool for source in SOURCES.values()}
}
"""The tools of each kind, ``axe`` or ``pickaxe``, lowest tier first; none for a bare hand."""

TOOLS = frozenset(tool for tools in _TOOLS.values() for tool in tools)


def tier(source: Source, tool: str) -> Tier:
    """Return the tier of a tool at a source; a tool of the wrong kind works like a bare hand."""
    return _TOOLS[source.tool].get(tool, BARE_HANDED)


def best_tool(source: Source, inventory: Container[str]) -> str:
    """Return the held tool that mines a source fastest, or an empty string for a bare hand."""
    best, best_rank = "", (False, 0)
    for tool, material in _TOOLS[source.tool].items():
        if tool in inventory:
            # A tool of too low a level gets nothing, however fast it is: gold is faster than iron.
            rank = material.level >= source.level, material.speed
            if rank > best_rank:
                best, best_rank = tool, rank
    return best


def uses_left(state: State, source: Source, tool: str) -> int:
    """Return the number of blocks of a source that the held tools of a kind last for."""
    return tier(source, tool).uses * state.inventory.get(tool, 0) - state.wear.get(tool, 0)


def tools_for(source: Source) -> tuple[str, ...]:
    """Return the tools that can mine a source, the lowest tier first; none if a bare hand can."""
    if not source.level:
        return ()
    tools = _TOOLS[source.tool]
    return tuple(tool for tool, material in tools.items() if material.level >= source.level)


def nearest(game: Game, state: State, source: Source) -> Point | None:
    """Return the position of the nearest source of this kind, the first among equals, or None."""
    places = [place.at for place in game.world.places if place.source == source]
    return min(places, key=state.at.distance, default=None)


def ticks_for(source: Source, tool: str) -> int:
    """Return the ticks that it takes to get one of each item that a source gives."""
    if source.verb == "hunt":
        return int(source.effort * TICKS_A_HIT)
    # The quotient, rounded up.
    return -int(-source.effort * TICKS_A_HARDNESS // tier(source, tool).speed)


def costs(game: Game, state: State) -> dict[str, tuple[int, int]]:
    """Return the ticks to walk to each item that can be got now, and the ticks for each unit."""
    ticks: dict[str, tuple[int, int]] = {}
    for source in game.world.sources().values():
        tool, at = best_tool(source, state.inventory), nearest(game, state, source)
        if at is not None and tier(source, tool).level >= source.level:
            cost = TICKS_A_STEP * state.at.distance(at), ticks_for(source, tool)
            ticks |= {name_of(item): cost for item in source.gives}
    return ticks
