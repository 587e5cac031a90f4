"""The game a second time, slow and plain, written from the rule book and not from the code.

Of the project it uses the recipes (``book.recipes``, ``book.members``, ``book.names``) and nothing
that acts on them.
"""

from __future__ import annotations

import re
from itertools import permutations

from textcraft_gym.recipes import RecipeBook

Held = list[tuple[str, int]]


def answer(book: RecipeBook, held: Held, action: str) -> tuple[Held, str]:
    """Return what is held after an action, in order, and the observation."""
    action = action.strip()
    if re.fullmatch(r"inventory[:.]?", action):
        listed = "".join(f"[{name(item)}] ({count}) " for item, count in held)
        return held, f"Inventory: {listed}" if held else "Inventory: You are not carrying anything."
    if get := re.fullmatch(r"get (?P<n>[0-9]+) (?P<item>.+)", action):
        said, item = get["item"], identify(book, get["item"])
        if item is None or item in book.recipes or not in_range(get["n"]):
            return held, f"Could not find {said[:200]}"
        return changed(held, {}, item, int(get["n"])), f"Got {int(get['n'])} {said}"
    counted = re.fullmatch(
        r"craft (?P<n>[0-9]+) (?P<item>((?! using ).)+) using (?P<using>.+)", action
    )
    craft = counted or re.fullmatch(r"craft (?P<item>((?! using ).)+) using (?P<using>.+)", action)
    if craft is None or not (in_range(counted["n"]) if counted else craft["item"][0].isalpha()):
        return held, f"Could not execute {action[:200]}"
    return craft_answer(book, held, craft["item"], craft["using"])


def craft_answer(book: RecipeBook, held: Held, said: str, using: str) -> tuple[Held, str]:
    """Check in the order of the rule book: format, held, recipe."""
    parts = [part.strip() for part in using.split(",")]
    counted = [re.fullmatch(r"([0-9]+) (.+)", part) for part in parts]
    for part, match in zip(parts, counted, strict=True):
        if match is None or not in_range(match[1]):
            return held, f"Wrong item format: {part[:200]}"
    offer = [(identify(book, match[2]), int(match[1])) for match in counted if match]
    output = identify(book, said) or "minecraft:" + said[:200].replace(" ", "_")
    if any(dict(held).get(item or "", 0) < count for item, count in offer):
        return held, f"Could not find enough items to craft {output}"
    if len({item for item, _ in offer}) == len(offer):
        for recipe in book.recipes.get(output, ()):
            slots = [(book.members[ingredient], amount) for ingredient, amount in recipe.slots]
            if fills_mixed(offer, slots) if book.tags == "item" else fills(offer, slots):
                return changed(
                    held, dict(offer), output, recipe.makes
                ), f"Crafted {recipe.makes} {output}"
    return held, f"Could not find a valid recipe for {output}"


def name(item: str) -> str:
    return item.removeprefix("minecraft:").replace("_", " ")


def identify(book: RecipeBook, said: str) -> str | None:
    item = "minecraft:" + said.replace(" ", "_")
    return item if item in book.names else None


def in_range(digits: str) -> bool:
    return re.fullmatch(r"0*[1-9][0-9]{0,5}", digits) is not None


def changed(held: Held, takes: dict[str, int], gained: str, count: int) -> Held:
    left = [(item, had - takes.get(item, 0)) for item, had in held]
    left = [(item, had) for item, had in left if had]
    if gained in dict(left):
        return [(item, had + count if item == gained else had) for item, had in left]
    return [*left, (gained, count)]


def fills(offer: list, slots: list) -> bool:
    """One kind a slot, at the exact count."""
    return len(offer) == len(slots) and any(
        all(
            item in members and count == amount
            for (item, count), (members, amount) in zip(offer, order, strict=True)
        )
        for order in permutations(slots)
    )


def fills_mixed(offer: list, slots: list) -> bool:
    """Any mix of members: a perfect matching of single things to single places."""
    if sum(count for _, count in offer) != sum(amount for _, amount in slots):
        return False
    things = [item for item, count in offer for _ in range(count)]
    places = [members for members, amount in slots for _ in range(amount)]
    taken: dict[int, int] = {}

    def place(thing: int, tried: set[int]) -> bool:
        for spot, members in enumerate(places):
            if things[thing] in members and spot not in tried:
                tried.add(spot)
                if spot not in taken or place(taken[spot], tried):
                    taken[spot] = thing
                    return True
        return False

    return all(place(thing, set()) for thing in range(len(things)))


def ingredient_name(ingredient: tuple[str, ...]) -> str:
    return " or ".join(name(reference.removeprefix("#")) for reference in ingredient)


def command(recipe) -> str:
    """The line of the prompt for a recipe."""
    using = ", ".join(
        f"{amount} {ingredient_name(ingredient)}" for ingredient, amount in recipe.slots
    )
    return f"craft {recipe.makes} {name(recipe.output)} using {using}"
