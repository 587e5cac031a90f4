"""Made recipes: ``made:depth=8,items=400,seed=3`` draws a pack as deep and broad as asked for.

Items are made depth by depth. Each recipe takes one ingredient of the depth just below its own, and
others that can be got or are made more easily; an ingredient is the likelier the more recipes take
it already, so that a few are taken by many, as sticks are. Amounts and results are those of a
recipe of Minecraft 1.16.5, drawn anew where they would make the item too long to craft. Neither
structure nor names have anything but ``random.Random(...).random()`` as their source, and the
structure is the same with either kind of names.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from textcraft_gym.errors import UnknownName
from textcraft_gym.recipes.pack import Pack, PackFile, read_pack
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE, SHAPELESS, RecipeError, parse_recipe
from textcraft_gym.recipes.words import MAX_SEED, Names, roots, words

PREFIX = "made:"
MAX_DEPTH = 12
MAX_ITEMS = 20_000
MAX_BRANCHING = 4
LEAST_OF_DEPTH = 4
"""The fewest items of each depth, base items included, so that every split has every depth."""
ITEMS_PER_TAG = 120
SIZE_PER_DEPTH = 5
"""An item of depth n takes at most 5 (n + 1) actions, and its tree has at most as many items.

So the deepest goals can be played in 100 steps, and prompts are not too long.
"""
MAX_CHOICES = 3
"""The most tags and alternatives in a tree; with the next bound it keeps the solver fast."""
MAX_CHOSEN = 9
"""The most items that are taken for tags and alternatives to make one item."""

# Probabilities that give the shares that are measured in the recipes of Minecraft 1.16.5.
_BASE = 0.55  # that an ingredient, beyond the one that gives the recipe its depth, can be got
_TAG = 0.2  # that an ingredient is a tag, where one has the right depth
_EITHER = 0.03  # that an ingredient is one of two items
_SECOND_RECIPE = 0.12
_SAME_ROOT = 0.7  # that an item is named after one of its ingredients
_SHALLOW_TAG = 0.7  # that a tag has items of depth 1, and not 2
_ATTEMPTS = 12
_T = TypeVar("_T")


@dataclass(frozen=True)
class MadeRecipes:
    """What is asked for in ``made:KEY=VALUE,...``.

    Attributes:
        depth: Depth of the deepest items, 1 to 12. There are items of every depth up to it.
        items: Number of items, base items among them: at most 20,000, at least 10 and 4 of each
            depth from 0.
        seed: 0 to 9999. Books of different seeds have no recipe in common, with either kind of
            names.
        names: ``invented`` (velkin rod) or ``borrowed`` from English in new combinations (ember
            silk rod).
        branching: Number of ingredients of a recipe, 1 to 4; by default it varies, as in Minecraft.
    """

    depth: int = 4
    items: int = 400
    seed: int = 0
    names: Names = "invented"
    branching: int | None = None

    @classmethod
    def parse(cls, text: str) -> MadeRecipes:
        """Read ``made:depth=8,items=400,seed=3``.

        Raises:
            UnknownName: For an option that does not exist.
            RecipeError: For a value out of bounds, and for what is no option; the message names the
                option.
        """
        options: dict[str, Any] = dict(_options(text))
        names = options.setdefault("names", "invented")
        if names not in get_args(Names):
            expected = " or ".join(get_args(Names))
            raise RecipeError.at(text, f"expected names={expected}, got {names!r}")
        bounds = {"depth": (1, MAX_DEPTH), "seed": (0, MAX_SEED), "branching": (1, MAX_BRANCHING)}
        for key, (low, high) in bounds.items():
            if key in options:
                options[key] = _integer(text, key, options[key], low, high)
        # The least number of items depends on the depth.
        least = max(10, LEAST_OF_DEPTH * (options.get("depth", cls.depth) + 1))
        items = options.get("items", str(cls.items))
        options["items"] = _integer(text, "items", items, least, MAX_ITEMS)
        return cls(**options)

    def __str__(self) -> str:
        options = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                options.append(f"{field.name}={value}")
        return PREFIX + ",".join(options)


def is_made(recipes: str | Path | None) -> bool:
    """Return whether recipes are made, and not read from a file."""
    return str(recipes).startswith(PREFIX)


def open_pack(recipes: str | Path | None = None) -> Pack:
    """Return made recipes, or those at a path, by default the bundled ones.

    Raises:
        RecipeError: If there is nothing that can be read, or an option of made recipes is out of
            bounds.
        UnknownName: For an option of made recipes that does not exist.
    """
    if is_made(recipes):
        return make_pack(MadeRecipes.parse(str(recipes)))
    return read_pack(recipes)


def make_pack(made: MadeRecipes) -> Pack:
    """Return the pack of recipes and tags; the same on every machine."""
    maker = _Maker(made)
    maker.make()
    recipes = {id: PackFile(f"{made}/{id}", data) for id, data in sorted(maker.recipes.items())}
    tags = {id: PackFile(f"{made}/#{id}", data) for id, data in sorted(maker.tags.items())}
    return Pack(str(made), recipes, tags)


def _options(text: str) -> dict[str, str]:
    """Return the value of each option in ``made:KEY=VALUE,...``."""
    names = [field.name for field in fields(MadeRecipes)]
    options: dict[str, str] = {}
    given = text.removeprefix(PREFIX)
    if not given:
        return options
    for option in given.split(","):
        key, equals, value = option.partition("=")
        if key not in names:
            raise UnknownName.of("option of made recipes", key, names)
        if not equals or key in options:
            raise RecipeError.at(text, f"expected {key}=VALUE once")
        options[key] = value
    return options


def _integer(
    text: str,
    key: str,
    value: str,
    low: int,
    high: int,
) -> int:
    # The length first: int() of thousands of digits is slow or raises.
    if not re.fullmatch("[0-9]{1,9}", value) or not low <= int(value) <= high:
        raise RecipeError.at(text, f"expected {key} of {low} to {high}, got {value[:40]!r}")
    return int(value)


class _Shape(NamedTuple):
    """The amounts of a recipe's ingredients, and the number of items that it makes."""

    amounts: tuple[int, ...]
    makes: int


@cache
def _shapes() -> tuple[_Shape, ...]:
    """Return the shapes of Minecraft's crafting recipes, so that draws follow its distribution."""
    shapes = []
    for id, entry in read_pack().recipes.items():
        recipe = parse_recipe(id, *entry)
        if recipe is not None:
            amounts = tuple(slot.amount for slot in recipe.slots)
            shapes.append(_Shape(amounts, recipe.makes))
    return tuple(shapes)


class _Part(NamedTuple):
    """An ingredient: one of ``items``, which are the members of ``tag`` if it has one."""

    items: tuple[_Item, ...]
    amount: int
    tag: str = ""


class _Draft(NamedTuple):
    """A recipe without its output."""

    makes: int
    parts: tuple[_Part, ...]


_NOTHING = _Draft(1, ())


@dataclass(frozen=True, eq=False)
class _Item:
    """An item.

    Attributes:
        id: Its id.
        root: The root in it.
        depth: Its depth.
        first: Its first recipe; of a base item, one that takes nothing.
        tree: The craftable items of its tree below it, and the choices there: the items of which
            each fills a slot.
    """

    id: str
    root: str
    depth: int = 0
    first: _Draft = _NOTHING
    tree: frozenset[_Item | tuple[_Item, ...]] = frozenset()


class _Maker:
    """Draws the items and recipes of one book.

    Attributes:
        recipes: The JSON of each recipe, by id.
        tags: The JSON of each tag, by id.
    """

    def __init__(self, made: MadeRecipes) -> None:
        self.recipes: dict[str, dict[str, Any]] = {}
        self.tags: dict[str, dict[str, Any]] = {}
        self._made = made
        self._random = random.Random(
            f"{made.depth}/{made.items}/{made.seed}/{made.branching}"
        ).random
        self._shapes = [shape for shape in _shapes() if _fits(shape, made.branching)]
        self._roots = [*roots(made.names, made.seed)][: max(LEAST_OF_DEPTH, made.items // 4)]
        self._named: set[tuple[str, str]] = set()
        # In the urn of its depth an item lies once, and twice more for each recipe that takes it.
        self._urns: list[list[_Item]] = [[] for _ in range(made.depth + 1)]
        self._kinds: dict[str, tuple[_Item, ...]] = {}

    def make(self) -> None:
        """Make the items of each depth, and their recipes."""
        base, *sizes = _sizes(self._made)
        for _ in range(base):
            self._urns[0].append(_Item(*self._name(self._pick(self._roots), words("raw"))))
        # Each base item is needed for an item of depth 1, so that recipes take all of them.
        more = [self._pick(self._urns[0]) for _ in range(sizes[0] - base)]
        taken = [*self._urns[0], *more]
        kinds = self._plan_kinds(sizes)
        for depth, size in enumerate(sizes, 1):
            # The first items of this depth may fill tags.
            forms = kinds.get(depth, [])
            items = []
            for index in range(size):
                form = forms[index] if index < len(forms) else ""
                own = taken[index] if depth == 1 else None
                items.append(self._make_item(depth, form, own))
            self._urns[depth] = items
            self._make_tags(forms, items)

    def _make_tags(
        self,
        forms: Sequence[str],
        items: Sequence[_Item],
    ) -> None:
        """Make the tags that the first of the items fill, each the tag of its form."""
        members: dict[str, list[_Item]] = {}
        for item, form in zip(items, forms, strict=False):
            members.setdefault(form, []).append(item)
        for form, own in members.items():
            self._kinds[form] = tuple(own)
            self.tags[DEFAULT_NAMESPACE + form] = {"values": sorted(item.id for item in own)}

    def _plan_kinds(self, sizes: Sequence[int]) -> dict[int, list[str]]:
        """Return for each depth the forms of its first items, if these are members of tags."""
        planned: dict[int, list[str]] = {}
        number = max(1, self._made.items // ITEMS_PER_TAG)
        for form in self._shuffled(words("tagged"))[:number]:
            # Most as planks are, of depth 1. Something above must be there to take them.
            depth = 1 if self._random() < _SHALLOW_TAG else 2
            members = 3 + int(4 * self._random())
            if depth >= self._made.depth:
                continue
            if len(planned.get(depth, ())) + members <= sizes[depth - 1]:
                planned.setdefault(depth, []).extend([form] * members)
        return planned

    def _make_item(
        self,
        depth: int,
        kind: str,
        own: _Item | None,
    ) -> _Item:
        """Make an item and its recipes.

        Args:
            depth: Its depth.
            kind: Its form if it fills a tag, else empty.
            own: A base item that its first recipe takes.
        """
        drafts = self._draft(depth, own)
        first = drafts[0]
        if self._random() < _SAME_ROOT:
            root = self._pick(self._pick(first.parts).items).root
        else:
            root = self._pick(self._roots)
        id, root = self._name(root, (kind,) if kind else words("crafted"))
        for number, draft in enumerate(drafts):
            data = _recipe_json(id, draft)
            if number:
                self.recipes[f"{id}_again"] = data
            elif kind:
                self.recipes[id] = {"group": kind, **data}
            else:
                self.recipes[id] = data
            self._put_in_urns(draft)

        parts = [part for draft in drafts for part in draft.parts]
        return _Item(id, root, depth, first, _tree(parts))

    def _draft(
        self,
        depth: int,
        own: _Item | None,
    ) -> list[_Draft]:
        """Draw the recipes of an item: one, or two that take different ingredients."""
        first = self._draw(depth, own)
        if self._random() >= _SECOND_RECIPE:
            return [first]
        second = self._draw(depth, None)
        taken = {part.items for part in first.parts}
        differ = taken.isdisjoint(part.items for part in second.parts)
        if differ and _is_listed(depth, first.parts + second.parts):
            return [first, second]
        return [first]

    def _put_in_urns(self, draft: _Draft) -> None:
        """Make the ingredients of a recipe likelier; those of tags stay as they are."""
        for part in draft.parts:
            if not part.tag:
                for item in part.items:
                    self._urns[item.depth] += (item, item)

    def _draw(self, depth: int, own: _Item | None) -> _Draft:
        """Draw a recipe that is not too long to carry out."""
        for _ in range(_ATTEMPTS):
            shape = self._pick(self._shapes)
            parts = self._fill(depth, shape.amounts, own)
            if _is_listed(depth, parts) and _is_short(depth, parts):
                break
        else:
            # Of what is made most easily, one, and base items: five actions more at most.
            shape = min(self._shapes, key=lambda shape: len(shape.amounts))
            candidates = dict.fromkeys(self._urns[depth - 1])
            easiest = min(candidates, key=lambda item: _work(item.first.parts))
            parts = (_Part((easiest,), 1), *self._fill(1, shape.amounts[1:], None))
        return _Draft(shape.makes, tuple(self._shuffled(parts)))

    def _fill(
        self,
        depth: int,
        amounts: Sequence[int],
        own: _Item | None,
    ) -> tuple[_Part, ...]:
        """Draw an ingredient for each amount; the first is ``own`` or of depth ``depth - 1``."""
        parts: list[_Part] = []
        taken: set[_Item] = set()
        while len(parts) < len(amounts):
            amount = amounts[len(parts)]
            if not parts and own:
                part = _Part((own,), amount)
            elif not parts:
                part = self._ingredient(range(depth - 1, depth), amount)
            elif self._random() >= _BASE and depth > 1:
                part = self._ingredient(range(1, depth), amount)
            else:
                part = _Part((self._pick(self._urns[0]),), amount)
            if taken.isdisjoint(part.items):
                parts.append(part)
                taken.update(part.items)
        return tuple(parts)

    def _ingredient(self, depths: range, amount: int) -> _Part:
        """Draw an item or tag of one of the depths."""
        tags = [form for form, members in self._kinds.items() if members[0].depth in depths]
        if tags and self._random() < _TAG:
            form = self._pick(tags)
            return _Part(self._kinds[form], amount, form)
        urns = [self._urns[depth] for depth in depths]
        index = int(self._random() * sum(map(len, urns)))
        while index >= len(urns[0]):
            index -= len(urns.pop(0))
        item = urns[0][index]
        if self._random() < _EITHER:
            other = self._pick(self._urns[item.depth])
        else:
            other = item
        return _Part(tuple(dict.fromkeys((item, other))), amount)

    def _name(
        self,
        root: str,
        forms: Sequence[str],
    ) -> tuple[str, str]:
        """Return an id and its root: the given root, or another if all of its forms are taken."""
        while True:
            for form in self._shuffled(forms):
                if (root, form) not in self._named:
                    self._named.add((root, form))
                    return f"{DEFAULT_NAMESPACE}{root}_{form}", root
            root = self._pick(self._roots)

    def _pick(self, some: Sequence[_T]) -> _T:
        return some[int(self._random() * len(some))]

    def _shuffled(self, some: Iterable[_T]) -> list[_T]:
        return sorted(some, key=lambda _: self._random())


def _fits(shape: _Shape, branching: int | None) -> bool:
    if branching is None:
        return len(shape.amounts) <= MAX_BRANCHING
    return len(shape.amounts) == branching


def _sizes(made: MadeRecipes) -> list[int]:
    """Return the number of items of each depth from 0: at least 4, and most of depth 2."""
    shares = [3, 3, *([5] if made.depth > 1 else []), *[2] * (made.depth - 2)]
    free = made.items - LEAST_OF_DEPTH * len(shares)
    sizes = [LEAST_OF_DEPTH + free * share // sum(shares) for share in shares]
    sizes[min(2, made.depth)] += made.items - sum(sizes)
    return sizes


def _is_listed(depth: int, parts: Iterable[_Part]) -> bool:
    """Return whether the tree of an item with these ingredients is small enough to be listed."""
    tree = _tree(parts)
    return (
        len(tree) <= SIZE_PER_DEPTH * (depth + 1)
        and sum(isinstance(node, tuple) for node in tree) <= MAX_CHOICES
    )


def _is_short(depth: int, parts: Iterable[_Part]) -> bool:
    """Return whether a recipe with these ingredients is soon carried out."""
    actions, chosen = _work(parts)
    return actions <= SIZE_PER_DEPTH * (depth + 1) and chosen <= MAX_CHOSEN


def _tree(parts: Iterable[_Part]) -> frozenset[_Item | tuple[_Item, ...]]:
    """Return the craftable items that recipes with these ingredients need, and the choices."""
    nodes: set[_Item | tuple[_Item, ...]] = set()
    for part in parts:
        crafted = []
        for item in part.items:
            if item.depth:
                crafted.append(item)
        nodes.update(crafted)
        nodes.update(
            *(item.tree for item in part.items),
            [part.items] if len(part.items) > 1 else [],
        )
    return frozenset(nodes)


def _work(parts: Iterable[_Part]) -> tuple[int, int]:
    """Return the number of actions that craft once from these ingredients, and of chosen items.

    Chosen are the items that are taken for choices; of each choice the first item is taken.
    """
    actions, chosen = 1, 0
    needs: dict[int, Counter[_Item]] = {}
    pending = [(part, 1) for part in parts]
    # What an item takes is less deep, so that all demand for an item is known when its depth is
    # reached.
    for depth in range(MAX_DEPTH, -1, -1):
        for item, count in needs.get(depth, {}).items():
            times = 1  # one action gets any number of a base item
            if depth:
                times = -(-count // item.first.makes)  # rounded up
            actions += times
            pending += [(part, times) for part in item.first.parts]
        for part, times in pending:
            item = part.items[0]
            amount = part.amount * times
            needs.setdefault(item.depth, Counter())[item] += amount
            if len(part.items) > 1:
                chosen += amount
        pending = []
    return actions, chosen


def _recipe_json(id: str, draft: _Draft) -> dict[str, Any]:
    ingredients: list[dict[str, str] | list[dict[str, str]]] = []
    for part in draft.parts:
        ingredients += [_entry(part)] * part.amount
    result = {"item": id, "count": draft.makes}
    return {"type": SHAPELESS, "ingredients": ingredients, "result": result}


def _entry(part: _Part) -> dict[str, str] | list[dict[str, str]]:
    if part.tag:
        return {"tag": DEFAULT_NAMESPACE + part.tag}
    entries = []
    for item in part.items:
        entries.append({"item": item.id})
    if len(entries) > 1:
        return entries
    return entries[0]
