"""The goal's tree laid out in a row, consumers before what they consume: the order in which a plan is found.

A tree of recipes may go round: chiseled sandstone is made of slabs, and slabs of sandstone or chiseled sandstone. Then
the link is cut that climbs highest in recipe depth (slabs of chiseled sandstone), and can only be served from stock.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, TypeAlias

from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.recipe import Ingredient

Node: TypeAlias = "str | Ingredient"
"""An item, or a choice: an ingredient that several items fill."""
Edges: TypeAlias = dict[Node, dict[Node, None]]


class Layout(NamedTuple):
    """The tree's nodes in order, consumers first, and the place of each."""

    order: tuple[Node, ...]
    place: dict[Node, int]


def node_of(book: RecipeBook, ingredient: Ingredient) -> Node:
    """Return the node of an ingredient: the item, where only one fills it."""
    members = book.members[ingredient]
    return members[0] if len(members) == 1 else ingredient


@lru_cache(maxsize=4096)
def layout_of(book: RecipeBook, goal: str) -> Layout:
    """Turn the tree into a row, each choice just before the first of its items, where most demand for it is known."""
    waiting: list[Ingredient] = []
    order: list[Node] = []
    for node in reversed(_ingredients_first(book, _edges(book, goal))):
        if isinstance(node, tuple):
            waiting.append(node)
        else:
            ready = [choice for choice in waiting if node in book.members[choice]]
            waiting = [choice for choice in waiting if choice not in ready]
            order += [*ready, node]
    order += waiting
    return Layout(tuple(order), {node: at for at, node in enumerate(order)})


def _edges(book: RecipeBook, goal: str) -> Edges:
    """Return what each node of the goal's tree is made of."""
    edges: Edges = {}
    pending: list[Node] = [goal]
    while pending:
        node = pending.pop()
        if node in edges:
            continue
        below: Iterable[Node]
        if isinstance(node, tuple):
            below = book.members[node]
        else:
            below = (node_of(book, slot.ingredient) for recipe in book.recipes.get(node, ()) for slot in recipe.slots)
        edges[node] = dict.fromkeys(below)
        pending += edges[node]
    return edges


def _ingredients_first(book: RecipeBook, edges: Edges) -> list[Node]:
    """Sort the nodes; of each cycle, the link that climbs highest is cut."""
    while True:
        try:
            return list(TopologicalSorter(edges).static_order())
        except CycleError as error:
            loop: list[Node] = error.args[1]
            consumer, part = max(zip(loop[1:], loop, strict=False), key=lambda link: _climb(book, *link))
            edges = edges | {consumer: {other: None for other in edges[consumer] if other != part}}


def _climb(book: RecipeBook, consumer: Node, part: Node) -> float:
    """Return by how much a part lies deeper than what it is made into. In a tree that works, parts lie less deep."""
    return _height(book, part) - _height(book, consumer)


def _height(book: RecipeBook, node: Node) -> float:
    """Return the depth of an item; a choice lies half a step above the least deep item that fills it."""
    if isinstance(node, tuple):
        return min(book.depths.get(item, 0) for item in book.members[node]) + 0.5
    return book.depths.get(node, 0)
