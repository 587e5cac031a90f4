"""The expert: a shortest sequence of actions that wins, from any inventory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.admissible import offers
from textcraft_gym.envs.textcraft.rules import Inventory, apply, world_of
from textcraft_gym.recipes.book import Offer, RecipeBook
from textcraft_gym.recipes.solver import Craft, shortest_plan


def expert_plan(
    book: RecipeBook,
    goal: str,
    inventory: Mapping[str, int],
    useful: Offer = (),
) -> list[str]:
    """Return a shortest plan that crafts ``goal`` from ``inventory``.

    The solver says when it is proven shortest.

    Args:
        book: The recipes.
        goal: The item to craft.
        inventory: The held items.
        useful: The counts in which items are got: the least of them that is enough is taken, if
            there is one.
    """
    plan = shortest_plan(book, goal, inventory)
    held = dict(inventory)
    gets = []
    for item, least in plan.gets:
        count = _enough(item, least, useful)
        gets.append(text.get(book, item, count))
        held[item] = held.get(item, 0) + count
    crafts = [text.craft(book, craft.recipe, craft.using) for craft in plan.crafts]
    if book.mixes:
        crafts = _as_listed(book, held, plan.crafts, crafts)
    return [*gets, *crafts]


def _as_listed(
    book: RecipeBook,
    held: Inventory,
    crafts: Sequence[Craft],
    commands: Sequence[str],
) -> list[str]:
    """Return the commands of a plan, each in an admissible form if the rest of the plan works so.

    With real tags a slot can be filled with many mixes, of which few are listed.
    """
    chosen = list(commands)
    for index, craft in enumerate(crafts):
        recipe = craft.recipe
        listed = [text.craft(book, recipe, offer) for offer in offers(book, recipe, held)]
        if chosen[index] not in listed:
            for command in listed:
                if _works(book, held, [command, *chosen[index + 1 :]]):
                    chosen[index] = command
                    break
        held = apply(world_of(book), held, chosen[index])[0]
    return chosen


def _works(
    book: RecipeBook,
    held: Inventory,
    commands: Iterable[str],
) -> bool:
    for command in commands:
        held, _, reason, _ = apply(world_of(book), held, command)
        if reason:
            return False
    return True


def _enough(item: str, count: int, useful: Offer) -> int:
    counts = [other for name, other in useful if name == item and other >= count]
    return min(counts, default=count)
