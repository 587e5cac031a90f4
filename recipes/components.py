"""Strongly connected components: the largest sets of nodes that all reach one another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping


def strong_components(edges: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Return the components of a graph, the nodes of each sorted; every node is a key of ``edges``.

    Kosaraju's algorithm: backwards from the node that finishes last in a depth-first walk, only its
    own component can be reached, and so on with those that are left.
    """
    backwards: dict[str, list[str]] = {node: [] for node in edges}
    for node, targets in edges.items():
        for target in targets:
            backwards[target].append(node)
    seen: set[str] = set()
    order: list[str] = []
    for start in edges:
        order += _finished(start, edges, seen)
    seen = set()
    components = []
    for start in reversed(order):
        component = sorted(_finished(start, backwards, seen))
        if component:
            components.append(component)
    return components


def _finished(
    start: str,
    edges: Mapping[str, Collection[str]],
    seen: set[str],
) -> Iterator[str]:
    """Yield the unseen nodes that ``start`` reaches, each after its successors; mark them seen."""
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(edges[start]))]
    while path:
        node, targets = path[-1]
        target = next((target for target in targets if target not in seen), None)
        if target is None:
            path.pop()
            yield node
        else:
            seen.add(target)
            path.append((target, iter(edges[target])))
