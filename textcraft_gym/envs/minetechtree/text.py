"""Every word that the player reads, and every action as the player writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textcraft_gym.envs.minetechtree.state import Aim, Game, State
from textcraft_gym.envs.minetechtree.techtree import Offer, Technique
from textcraft_gym.recipes.recipe import name_of

ECHO_LENGTH = 200
"""Maximum number of characters of an action that an answer repeats."""
EMPTY_HANDED = "Inventory: You are not carrying anything."
TIME_IS_UP = "Time is up."
TOO_LATE = "the time that was left did not do"
AGAIN = "it may work another time"
AN_INGREDIENT = "each ingredient is a number of 1 to 999999 and an item"
ACTIONS = (
    "actions are: mine N ITEM; mine N ITEM with ITEM; hunt N ITEM; "
    "craft N ITEM using N ITEM, N ITEM; smelt N ITEM using N ITEM, N ITEM; "
    "equip ITEM; look; inventory"
)
MUST_BE_EQUIPPED = "What is worn counts once it is equipped."

AROUND = ("exact", "rough", "names")
"""How distances are told: in steps, as the nearest of ``ROUGHLY``, or not at all."""

ROUGHLY = (10, 20, 40, 80, 160)

_DONE = {"mine": "Mined", "hunt": "Hunted", "craft": "Crafted", "smelt": "Smelted"}


def reset(game: Game, state: State) -> str:
    """Return the text of a reset."""
    lines = [look(game, state)]
    if any(aim.worn for aim in game.aims):
        lines.append(MUST_BE_EQUIPPED)
    lines.append(f"\nGoal: obtain {goals(game.aims)}.")
    return "\n".join(lines)


def goals(aims: Iterable[Aim]) -> str:
    """Return the items to obtain: ``1 oak boat, 1 chest``."""
    return ", ".join(f"1 {name_of(aim.item)}" for aim in aims)


def look(game: Game, state: State) -> str:
    """Return the sources in sight and the ticks left.

    The order of the sources tells no more than their distances.
    """
    seen = []
    for name, (steps, buried) in distances(game, state).items():
        seen.append((_shown(game, steps), name, buried))
    # By what the player reads: exact distances would leak through the order.
    seen.sort()
    above = _listed(game, [(name, steps) for steps, name, buried in seen if not buried])
    below = _listed(game, [(name, steps) for steps, name, buried in seen if buried])
    return (
        f"You are in the {game.world.biome(state.at)}.\nYou see: {above}.\n"
        f"Under the ground: {below}.\nTicks left: {game.limit - state.ticks}."
    )


def _shown(game: Game, steps: int) -> int:
    """Return a distance as the player reads it, 0 if the player does not."""
    if game.around == "exact":
        return steps
    if game.around == "rough":
        return _roughly(steps)
    return 0


def distances(game: Game, state: State) -> dict[str, tuple[int, bool]]:
    """Return the distance of the nearest source of each kind, and whether it is underground."""
    nearest: dict[str, tuple[int, bool]] = {}
    for source, at in game.world.places:
        distance = state.at.distance(at), at.down > 0
        nearest[source.name] = min(nearest.get(source.name, distance), distance)
    return nearest


def _roughly(steps: int) -> int:
    """Return the rough distance that differs by the smallest factor."""
    return min(ROUGHLY, key=lambda rough: max(rough, steps) / max(min(rough, steps), 1))


def _listed(game: Game, places: Iterable[tuple[str, int]]) -> str:
    if game.around == "names":
        return ", ".join(name for name, _ in places)
    about = "about " if game.around == "rough" else ""
    return ", ".join([f"{name} {about}{steps} steps away" for name, steps in places])


def inventory(state: State) -> str:
    """Return the inventory in the order in which items were first held."""
    if not state.inventory:
        return EMPTY_HANDED
    on = set(state.equipped.values())
    entries = []
    for item, count in state.inventory.items():
        mark = " (equipped)" if item in on else ""
        entries.append(f"{count} {name_of(item)}{mark}")
    return "Inventory: " + ", ".join(entries)


def done(verb: str, gains: Mapping[str, int]) -> str:
    """Answer an action that gained something: ``Hunted 2 beef, 2 leather``."""
    items = [f"{count} {name_of(item)}" for item, count in gains.items()]
    return f"{_DONE[verb]} {', '.join(items)}"


def equipped(item: str) -> str:
    """Answer an ``equip`` that worked."""
    return f"Equipped {name_of(item)}"


def could_not(verb: str, name: str) -> str:
    """Answer an action that does nothing."""
    return f"Could not {verb} {name[:ECHO_LENGTH]}"


def missed(verb: str, name: str) -> str:
    """Answer an action that was possible, took its time and gained nothing."""
    return f"Failed to {verb} {name}"


def broken(tool: str) -> str:
    """Return the line that says that a tool broke."""
    return f"The {name_of(tool)} broke."


def wrong_item(typed: str) -> str:
    """Answer ingredients of which one is not a count and a name."""
    return f"Wrong item format: {typed[:ECHO_LENGTH]}"


def unknown(typed: str) -> str:
    """Answer text that is not an action."""
    return f"Could not execute {typed[:ECHO_LENGTH]}"


def requires(amounts: Offer, held: Mapping[str, int]) -> str:
    """Return the missing ingredients of an action: ``requires 8 oak planks (4 held)``."""
    missing = []
    for item, count in amounts:
        if item not in held:
            missing.append(f"{count} {name_of(item)}")
        elif held[item] < count:
            missing.append(f"{count} {name_of(item)} ({held[item]} held)")
    return f"requires {', '.join(missing)}"


def takes(techniques: Iterable[Technique], count: int) -> str:
    """Return the ingredients for ``count`` of an item: ``4 stick takes 2 planks``."""
    recipes = []
    for technique in techniques:
        times = -(-count // technique.makes)  # rounded up
        parts = ", ".join(f"{times * slot.amount} {slot.name}" for slot in technique.slots)
        recipes.append(f"{times * technique.makes} {name_of(technique.item)} takes {parts}")
    return "; or ".join(recipes)


def mine(item: str, count: int, tool: str = "") -> str:
    """Return the action that mines, by hand where no tool is given."""
    action = f"mine {count} {name_of(item)}"
    if tool:
        action += f" with {name_of(tool)}"
    return action


def hunt(item: str, count: int) -> str:
    """Return the action that hunts."""
    return f"hunt {count} {name_of(item)}"


def make(
    verb: str,
    item: str,
    count: int,
    using: Offer,
) -> str:
    """Return the action that crafts or smelts: ``craft 4 stick using 2 oak planks``."""
    ingredients = ", ".join(f"{amount} {name_of(ingredient)}" for ingredient, amount in using)
    return f"{verb} {count} {name_of(item)} using {ingredients}"


def equip(item: str) -> str:
    """Return the action that equips."""
    return f"equip {name_of(item)}"
