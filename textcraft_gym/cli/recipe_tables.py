"""Recipe trees, counts of recipes, and splits of craftable items."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from rich.tree import Tree

from textcraft_gym.cli.tables import cell, console, examples, new_table, print_table
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.book import left_out, name_of_ingredient
from textcraft_gym.recipes.pack import Pack
from textcraft_gym.recipes.recipe import Slot, name_of
from textcraft_gym.recipes.splits import Leakage, Splits


def show_tree(book: RecipeBook, item: str) -> None:
    """Print the recipe tree of an item, down to base items."""
    root = Tree(_name(book, item))
    _grow(root, book, item, drawn=set())
    console.print(root)


def _grow(
    branch: Tree,
    book: RecipeBook,
    item: str,
    drawn: set[str],
) -> None:
    """Add the recipes of an item to a branch.

    A subtree is drawn once, since recipes can form cycles, such as ingot and block.
    """
    drawn.add(item)
    for recipe in book.recipes.get(item, ()):
        made = branch.add(f"[dim]makes {recipe.makes} from[/dim]")
        for slot in recipe.slots:
            for member, twig in _twigs(made, book, slot):
                if member in drawn and member in book.recipes:
                    twig.add("[dim]as above[/dim]")
                else:
                    _grow(twig, book, member, drawn)


def _twigs(
    branch: Tree,
    book: RecipeBook,
    slot: Slot,
) -> list[tuple[str, Tree]]:
    """Add the ingredient of a slot to a branch, and return its items with their twigs."""
    members = book.members[slot.ingredient]
    if len(members) == 1:
        return [(members[0], branch.add(f"{slot.amount} {_name(book, members[0])}"))]

    name = cell(name_of_ingredient(slot.ingredient))
    choice = branch.add(f"{slot.amount} [cyan]{name}[/] [dim]any of[/dim]")
    return [(member, choice.add(_name(book, member))) for member in members]


def _name(book: RecipeBook, item: str) -> str:
    """Return an item's name, bold if it is crafted, green if it is gathered."""
    style = "bold" if item in book.recipes else "green"
    return f"[{style}]{cell(book.names[item])}[/]"


def tree_rows(book: RecipeBook, item: str) -> list[dict[str, Any]]:
    """Return a row for each recipe in an item's tree; the item's own recipes come first."""
    rows = []
    pending = deque([item])
    visited = set[str]()
    while pending:
        crafted = pending.popleft()
        if crafted in visited:
            continue
        visited.add(crafted)
        for recipe in book.recipes.get(crafted, ()):
            takes = []
            for slot in recipe.slots:
                members = book.members[slot.ingredient]
                takes.append({"any_of": list(members), "amount": slot.amount})
                pending.extend(members)
            rows.append({"item": crafted, "makes": recipe.makes, "takes": takes})
    return rows


def recipe_stats(pack: Pack, book: RecipeBook) -> dict[str, Any]:
    """Return counts of a book's recipes, items and depths."""
    types = Counter(str(file.data.get("type", "no type")) for file in pack.recipes.values())
    depths = Counter(book.depths.values())
    return {
        "origin": str(pack.origin),
        "recipe files": len(pack.recipes),
        "recipe types": dict(types.most_common()),
        "item tags": len(pack.tags),
        "tags": book.tags,
        "recipes in use": sum(map(len, book.recipes.values())),
        "crafting recipes left out": left_out(pack, book),
        "craftable items": len(book.recipes),
        "base items": len(book.base_items),
        "craftable items by depth": {str(depth): depths[depth] for depth in sorted(depths)},
    }


def show_stats(stats: Mapping[str, Any]) -> None:
    """Print the counts of ``recipe_stats``."""
    table = new_table(f"Recipes of {stats['origin']}", ("", "count"))
    for name, value in stats.items():
        if name == "recipe types":
            for kind, count in value.items():
                table.add_row(f"  {kind}", str(count))
        elif name == "craftable items by depth":
            for depth, count in value.items():
                table.add_row(f"  depth {depth}", str(count))
        elif name == "crafting recipes left out":
            table.add_row(name, str(sum(map(len, value.values()))))
            for reason, ids in value.items():
                table.add_row(f"  {reason}", str(len(ids)))
        elif name not in ("origin", "tags"):
            table.add_row(name, str(value))
    print_table(table)
    for reason, ids in stats["crafting recipes left out"].items():
        console.print(f"{reason}: {examples(ids)}", highlight=False, markup=False)


def show_splits(item_depths: Mapping[str, int], splits: Splits) -> None:
    """Print the number of tasks by split and depth."""
    depths = sorted({item_depths[item] for items in splits.values() for item in items})
    headings = ("split", "tasks", *(f"depth {depth}" for depth in depths))
    table = new_table("Splits", headings, needed=2)
    for name, items in splits.items():
        counts = Counter(item_depths[item] for item in items)
        table.add_row(name, str(len(items)), *(str(counts[depth]) for depth in depths))
    print_table(table)


def show_leakage(leakage: Leakage, train: str, test: str) -> None:
    """Print the intermediates of test that also occur in train."""
    met: dict[str, list[str]] = {"goal": [], "intermediate": [], "unseen": []}
    for item, met_as in leakage.intermediates.items():
        met[met_as].append(name_of(item))

    table = new_table(
        f"Overlap of {train} with {test}",
        (f"intermediates of {test}", "n", "such as"),
    )
    for label, items in (
        (f"goals in {train}", met["goal"]),
        (f"only intermediates in {train}", met["intermediate"]),
        ("unseen", met["unseen"]),
    ):
        table.add_row(label, str(len(items)), examples(items))
    print_table(table)

    untouched = sum(not seen for seen in leakage.goals.values())
    console.print(
        f"{untouched} of {len(leakage.goals)} {test} goals share no intermediate with {train}."
    )
