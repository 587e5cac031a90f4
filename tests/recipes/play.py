"""Independent judges that really play: a simulator of plans, and a breadth-first search for the
fewest actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement, product

from textcraft_gym.recipes import Recipe, RecipeBook
from textcraft_gym.recipes.solver import Plan

Inventory = frozenset[tuple[str, int]]

PLENTY = 10_000


def play(book: RecipeBook, plan: Plan, goal: str, held: Mapping[str, int]) -> int:
    """Play ``plan`` action by action, assert that each one works and the last makes ``goal``;
    return how many."""
    inventory = Counter(held)
    for item, count in plan.gets:
        assert item in book.base_items
        assert count > 0
        inventory[item] += count
    for recipe, using in plan.crafts:
        made = book.match(recipe.output, using)
        assert made is not None, f"no such craft: {recipe.output} using {using}"
        for item, count in using:
            assert inventory[item] >= count > 0, f"{count} {item} needed, {inventory[item]} held"
            inventory[item] -= count
        inventory[made.output] += made.makes
    assert plan.crafts[-1].recipe.output == goal
    return len(plan.gets) + len(plan.crafts)


def fewest_actions(
    book: RecipeBook, goal: str, held: Mapping[str, int], limit: int = 12
) -> int | None:
    """Return the fewest actions that craft ``goal``, found by trying everything; None if ``limit`` is not enough.

    A base item is got in plenty, which is one action however many are needed.
    """
    recipes = [recipe for item in book.tree(goal) for recipe in book.recipes[item]]
    parts = {
        item
        for recipe in recipes
        for slot in recipe.slots
        for item in book.members[slot.ingredient]
    }
    base_items = [item for item in book.base_items if item in parts]
    frontier = {
        frozenset(
            (item, count)
            for item, count in held.items()
            if item in parts and item != goal and count
        )
    }
    seen = set(frontier)
    for actions in range(1, limit + 1):
        reached: set[Inventory] = set()
        for state in frontier:
            inventory = dict(state)
            for item in base_items:
                reached.add(frozenset((inventory | {item: PLENTY}).items()))
            for recipe in recipes:
                for left in _crafts(book, recipe, inventory):
                    if recipe.output == goal:
                        return actions
                    left[recipe.output] = left.get(recipe.output, 0) + recipe.makes
                    reached.add(frozenset((item, count) for item, count in left.items() if count))
        frontier = reached - seen
        seen |= frontier
    return None


def _crafts(
    book: RecipeBook, recipe: Recipe, inventory: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Yield what is left of the inventory after one craft, for each way to fill the slots."""
    ways = []
    for ingredient, amount in recipe.slots:
        members = [item for item in book.members[ingredient] if inventory.get(item)]
        if book.mixes:
            ways.append([Counter(mix) for mix in combinations_with_replacement(members, amount)])
        else:
            ways.append([Counter({item: amount}) for item in members])
    for fillings in product(*ways):
        left = dict(inventory)
        for item, count in sum(fillings, Counter()).items():
            if left[item] < PLENTY // 2:
                left[item] -= count
        if min(left.values()) >= 0:
            yield left
