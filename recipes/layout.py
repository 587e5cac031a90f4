"""A topological order of the goal's tree, items before their ingredients, for the solver.

A tree of recipes may have cycles: chiseled sandstone is made of slabs, and slabs of sandstone or
chiseled sandstone. Then the edge that climbs highest in recipe depth is cut (slabs of chiseled
sandstone); its demand can only be met from stock.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, TypeAlias

from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.recipe import Ingredient

Node: TypeAlias = "str | Ingredient"
"""An item, or a choice: an ingredient that several items fill."""
Edges: TypeAlias = dict[Node, dict[Node, None]]


class Layout(NamedTuple):
    """The tree's nodes in order, items before their ingredients, and the index of each."""

    order: tuple[Node, ...]
    index_of: dict[Node, int]


def node_of(book: RecipeBook, ingredient: Ingredient) -> Node:
    """Return the node of an ingredient: the item, where only one fills it."""
    members = book.members[ingredient]
    return members[0] if len(members) == 1 else ingredient


@lru_cache(maxsize=4096)
def layout_of(book: RecipeBook, goal: str) -> Layout:
    """Return the layout, with each choice just before the first of its items.

    There most of the demand for it is known.
    """
    waiting: list[Ingredient] = []
    order: list[Node] = []
    for node in reversed(_ingredients_first(book, _edges(book, goal))):
        if isinstance(node, tuple):
            waiting.append(node)
        else:
            # They add to the demand for this item, so that they are decided before it.
            ready = [choice for choice in waiting if node in book.members[choice]]
            waiting = [choice for choice in waiting if choice not in ready]
            order += [*ready, node]

    order += waiting
    return Layout(tuple(order), {node: index for index, node in enumerate(order)})


def _edges(book: RecipeBook, goal: str) -> Edges:
    """Return the ingredients of each item of the goal's tree, and the members of each choice."""
    edges: Edges = {}
    pending: list[Node] = [goal]
    while pending:
        node = pending.pop()
        if node not in edges:
            edges[node] = dict.fromkeys(_below(book, node))
            pending += edges[node]
    return edges


def _below(book: RecipeBook, node: Node) -> Iterator[Node]:
    if isinstance(node, tuple):
        yield from book.members[node]
        return
    for recipe in book.recipes.get(node, ()):
        for slot in recipe.slots:
            yield node_of(book, slot.ingredient)


def _ingredients_first(book: RecipeBook, edges: Edges) -> list[Node]:
    """Sort the nodes; of each cycle, the edge that climbs highest is cut."""
    while True:
        try:
            return list(TopologicalSorter(edges).static_order())
        except CycleError as error:
            loop: list[Node] = error.args[1]
            # Each node of the loop is a part of the one after it.
            steps = zip(loop[1:], loop, strict=False)
            consumer, part = max(steps, key=lambda step: _climb(book, *step))
            edges = edges | {consumer: {node: None for node in edges[consumer] if node != part}}


def _climb(book: RecipeBook, consumer: Node, part: Node) -> float:
    """Return the depth of a part minus that of its consumer; negative in a tree without cycles."""
    return _height(book, part) - _height(book, consumer)


def _height(book: RecipeBook, node: Node) -> float:
    """Return the depth of an item; that of a choice is half a step above its least deep member."""
    if isinstance(node, tuple):
        return min(book.depths.get(item, 0) for item in book.members[node]) + 0.5
    return book.depths.get(node, 0)
