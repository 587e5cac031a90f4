"""The rules: the effect of an action.

The meaning of an action depends on the tech tree alone and is computed once (``moves``); its effect
depends on the position and the inventory. ``apply`` never changes the state that it is given; an
action that does nothing returns the same one and takes no time.
"""

from __future__ import annotations

from typing import TypeVar

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.costs import (
    best_tool,
    nearest,
    ticks_for,
    tier,
    tools_for,
    uses_left,
)
from textcraft_gym.envs.minetechtree.facts import TABLE, TICKS_A_STEP, Source
from textcraft_gym.envs.minetechtree.moves import (
    MISSED,
    NEEDS_FURNACE,
    NEEDS_TABLE,
    NEEDS_TOOL,
    NOT_ENOUGH,
    NOT_HERE,
    OUT_OF_TIME,
    Equipping,
    Gathering,
    Looking,
    Making,
    understand,
)
from textcraft_gym.envs.minetechtree.reliability import misses, probability
from textcraft_gym.envs.minetechtree.state import Game, Point, State, slot
from textcraft_gym.envs.minetechtree.techtree import Offer
from textcraft_gym.envs.turn import Turn
from textcraft_gym.recipes.recipe import name_of

_T = TypeVar("_T")


def apply(
    game: Game,
    state: State,
    action: str,
) -> Turn[State]:
    """Play an action.

    One that would end after the limit is not finished: time runs out, and nothing is gained.
    """
    move = understand(action)
    if isinstance(move, Making):
        turn = _make(state, move)
    elif isinstance(move, Gathering):
        turn = _gather(game, state, move)
    elif isinstance(move, Looking):
        return state, text.look(game, state) if move.around else text.inventory(state), "", ""
    elif isinstance(move, Equipping):
        turn = _equip(state, move.item)
    else:
        return state, *move
    after, answer, reason, _ = turn
    if reason:  # what is refused takes no time
        return turn
    if after.ticks > game.limit:
        return state._replace(ticks=game.limit), text.TIME_IS_UP, OUT_OF_TIME, ""
    if game.reliability:
        after, missed = _tried(game, state, move, after)
        if missed:
            return after, text.missed(_verb(move), name_of(move.item)), MISSED, text.AGAIN
    return _with_aims(game, after), answer, "", ""


def _tried(
    game: Game,
    state: State,
    move: Gathering | Making | Equipping,
    after: State,
) -> tuple[State, bool]:
    """Return the state after a try of a move, and whether it missed."""
    chance = probability(game.reliability, move)
    if chance >= 1:
        return after, False
    number = state.tries.get(move.item, 0) + 1
    tries = {**state.tries, move.item: number}
    if misses(game.luck, move.item, number, chance):
        # The way and the time are behind the player, and nothing else has changed.
        return state._replace(at=after.at, ticks=after.ticks, tries=tries), True
    return after._replace(tries=tries), False


def _verb(move: Gathering | Making | Equipping) -> str:
    if isinstance(move, Gathering):
        return move.source.verb
    if isinstance(move, Making):
        return move.verb
    return "equip"


def _make(state: State, move: Making) -> Turn[State]:
    held = state.inventory
    if any(held.get(item, 0) < amount for item, amount in move.named):
        why = text.requires(move.named, held)
        return state, text.could_not(move.verb, name_of(move.item)), NOT_ENOUGH, why
    if move.station and move.station not in held:
        reason = NEEDS_TABLE if move.station == TABLE else NEEDS_FURNACE
        why = f"requires {name_of(move.station)}"
        return state, text.could_not(move.verb, name_of(move.item)), reason, why
    gains = {move.item: move.amount}
    return _exchanged(state, move.takes, gains, move.ticks), text.done(move.verb, gains), "", ""


def _gather(
    game: Game,
    state: State,
    move: Gathering,
) -> Turn[State]:
    source, answer = move.source, text.could_not(move.source.verb, name_of(move.item))
    if move.tool and move.tool not in state.inventory:
        return state, answer, NOT_ENOUGH, text.requires(((move.tool, 1),), state.inventory)
    tool = move.tool or _tool_for(game, state, move)
    power = tier(source, tool)
    if power.level < source.level:
        return state, answer, NEEDS_TOOL, f"requires {name_of(tools_for(source)[0])}"
    at = nearest(game, state, source)
    if at is None:
        return state, answer, NOT_HERE, f"there are no {source.name} in this world"
    wears = game.durability and power.uses > 0
    amount = move.amount
    if wears:
        amount = min(amount, uses_left(state, source, tool))
    ticks = TICKS_A_STEP * state.at.distance(at) + ticks_for(source, tool) * amount
    # The answer names the requested item first, then the other drops.
    gains = dict.fromkeys(sorted(source.gives, key=lambda item: item != move.item), amount)
    answer = text.done(source.verb, gains)
    after = _exchanged(state, (), gains, ticks, at)
    if wears:
        return _worn(after, source, tool, amount, answer)
    return after, answer, "", ""


def _tool_for(game: Game, state: State, move: Gathering) -> str:
    """Return the best held tool, or a bare hand, empty, where the tool does not last."""
    source = move.source
    tool = best_tool(source, state.inventory)
    # A bare hand is slower, but does all of it.
    if game.durability and not source.level and uses_left(state, source, tool) < move.amount:
        return ""
    return tool


def _worn(
    state: State,
    source: Source,
    tool: str,
    amount: int,
    answer: str,
) -> Turn[State]:
    """Return the state and the answer after some uses of a tool, which may break."""
    broken, behind = divmod(state.wear.get(tool, 0) + amount, tier(source, tool).uses)
    state = state._replace(wear={**state.wear, tool: behind})
    if broken:
        state = _exchanged(state, ((tool, broken),), {}, 0)
        answer = f"{answer}\n{text.broken(tool)}"
    return state, answer, "", ""


def _equip(state: State, item: str) -> Turn[State]:
    if item not in state.inventory:
        why = text.requires(((item, 1),), state.inventory)
        return state, text.could_not("equip", name_of(item)), NOT_ENOUGH, why
    equipped = {**state.equipped, slot(item): item}
    return state._replace(equipped=equipped, ticks=state.ticks + 1), text.equipped(item), "", ""


def _exchanged(
    state: State,
    takes: Offer,
    gains: dict[str, int],
    ticks: int,
    at: Point | None = None,
) -> State:
    inventory, equipped, wear = state.inventory.copy(), state.equipped, state.wear
    for item, amount in takes:
        inventory[item] -= amount
        if not inventory[item]:  # it was the last one
            del inventory[item]
            wear = _without_key(wear, item)
            if equipped.get(slot(item)) == item:
                equipped = _without_key(equipped, slot(item))

    for item, count in gains.items():
        inventory[item] = inventory.get(item, 0) + count
    # Faster than _replace, which looks at every field.
    return State(
        inventory,
        equipped,
        at or state.at,
        state.ticks + ticks,
        state.obtained,
        wear,
        state.tries,
    )


def _without_key(entries: dict[str, _T], key: str) -> dict[str, _T]:
    # A new dict only where something changes: a state is never changed.
    if key not in entries:
        return entries
    return {other: value for other, value in entries.items() if other != key}


def _with_aims(game: Game, state: State) -> State:
    obtained = state.obtained
    for aim in game.aims:
        counted = state.equipped.values() if aim.worn else state.inventory
        if aim.item not in obtained and aim.item in counted:
            obtained |= {aim.item}
    if obtained is state.obtained:
        return state
    return state._replace(obtained=obtained)
