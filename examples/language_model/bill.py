"""The bill of an item of the tech tree, and plans for it in each form of the planners of goals.

A bill goes from the goal down: each line names a thing, the amounts that the lines above it take,
and what it is made from. So a line needs no more than the lines above it and one recipe, and a plan
is the bill read backwards.

    # stone pickaxe: 1. craft 1 stone pickaxe using 3 cobblestone, 2 stick with crafting table.
    # stick: 2 + 2 = 4. craft 4 stick using 2 planks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from toolmaker import TOOLS, depth

from textcraft_gym.agents.games.crafting import Recipe, Want, listed
from textcraft_gym.agents.games.minetechtree.knowledge import WOODS, burnt, scaled, ways
from textcraft_gym.goals import has


class Line(NamedTuple):
    """One thing of a bill.

    Attributes:
        item: The thing.
        uses: What each thing above takes of it.
        held: How many are held; None where nothing at all is held, of which a bill says nothing.
        recipe: What makes as many as are missing; what gets it, for a thing of a source.
    """

    item: str
    uses: tuple[int, ...]
    held: int | None
    recipe: Recipe

    @property
    def needed(self) -> int:
        """How many are needed in all."""
        return sum(self.uses)

    @property
    def missing(self) -> int:
        """How many are missing."""
        return max(0, self.needed - (self.held or 0))

    def __str__(self) -> str:
        total = f" = {self.needed}" if len(self.uses) > 1 else ""
        line = f"{self.item}: {' + '.join(map(str, self.uses))}{total}"
        # The number that is held stands before what follows from it, so that it is looked up.
        if self.held is not None:
            line += f", {self.held} held"
            line += f", so {self.missing} more" if self.missing else ": enough"
        return f"{line}. {how(self.recipe)}." if self.missing else f"{line}."


class Link(NamedTuple):
    """A thing and one of those that it takes."""

    item: str
    part: str


def bill(
    wants: Iterable[Want], held: Mapping[str, int], wood: str = "", forgotten: Link | None = None
) -> list[Line]:
    """Return what some things take, each after all that take it.

    Args:
        wants: The things.
        held: The inventory.
        wood: The wood to use; empty for any.
        forgotten: What is left out, so that a plan fails.
    """
    uses = {want.item: [want.amount] for want in wants}
    wanted = frozenset(uses)
    lines: dict[str, Line] = {}
    while len(lines) < len(uses):
        # The deepest thing first, since nothing that is left takes it.
        item = max((item for item in uses if item not in lines), key=_rank)
        is_tool = item in TOOLS and item not in wanted
        count = int(has_tool(held, item)) if is_tool else has(held, item)
        spare = has(held, "coal") - sum(uses.get("coal", ()))
        recipe = applied(item, max(1, sum(uses[item]) - count), spare, wood)
        if forgotten and forgotten.item == item:
            recipe = without(recipe, forgotten.part)
        lines[item] = Line(item, tuple(uses[item]), count if held else None, recipe)
        if lines[item].missing:
            _use(recipe, uses)
    return [*lines.values()]


def _use(recipe: Recipe, uses: dict[str, list[int]]) -> None:
    for part in recipe.parts:
        uses.setdefault(part.item, []).append(part.amount)
    if recipe.tool:
        uses.setdefault(recipe.tool, [1])  # one serves all


def links(lines: Iterable[Line]) -> Iterator[Link]:
    """Yield what can be forgotten of a bill."""
    for line in lines:
        if line.missing:
            for part in line.recipe.things[1:]:
                yield Link(line.item, part)


def applied(item: str, count: int, coal: int = 0, wood: str = "") -> Recipe:
    """Return the recipe for an amount at once, fuelled by coal where there is enough."""
    fuel = "coal" if coal >= burnt("coal", count) else "planks"
    recipe = scaled(ways()[item], count, fuel)
    if not wood:
        return recipe
    of_wood = {"log": f"{wood} log", "planks": f"{wood} planks"}
    parts = [Want(of_wood.get(part, part), amount) for part, amount in recipe.parts]
    return recipe._replace(parts=tuple(parts))


def without(recipe: Recipe, part: str) -> Recipe:
    """Return a recipe without a part or its tool."""
    if recipe.tool == part:
        recipe = recipe._replace(tool="")
    return recipe._replace(parts=tuple(want for want in recipe.parts if want.item != part))


def has_tool(held: Mapping[str, int], tool: str) -> bool:
    """Return whether a tool is held, or a better one of its kind."""
    if tool not in TOOLS:
        return bool(has(held, tool))
    return any(has(held, better) for better in TOOLS[TOOLS.index(tool) :])


def how(recipe: Recipe) -> str:
    """Return a recipe in words; of a thing of a source how it is got."""
    if recipe.parts:
        return str(recipe)
    return f"{recipe.verb} with {recipe.tool}" if recipe.tool else recipe.verb


def wood_of(items: Iterable[str]) -> str:
    """Return the wood that a thing is named after; empty for none."""
    woods = sorted(WOODS, key=len, reverse=True)  # dark oak before oak
    for item in items:
        for wood in woods:
            if item.startswith(f"{wood} "):
                return wood
    return ""


def why(item: str, count: int, held: Mapping[str, int], wood: str = "") -> str:
    """Return why a goal failed: what it takes, and what of that is not held."""
    recipe = applied(item, max(1, count - has(held, item)), has(held, "coal"), wood)
    needs = [(part, has(held, part), amount) for part, amount in recipe.parts]
    if recipe.tool:
        needs.append((recipe.tool, int(has_tool(held, recipe.tool)), 1))
    sentences = [f"{item}: {how(recipe)}."]
    if needs:
        parts = [f"{part} {count} of {amount}" for part, count, amount in needs]
        sentences.append(f"Held: {'; '.join(parts)}.")
    lacking = [Want(part, amount - count) for part, count, amount in needs if count < amount]
    if lacking:
        sentences.append(f"I lacked {listed(lacking)}.")
    else:
        sentences.append("I lacked nothing: it was missed.")
    return " ".join(sentences)


# -- The forms of a plan


def explained(lines: Sequence[Line], worn: Iterable[str], mark: str) -> str:
    """Return a bill, each line after a mark, behind what is to be worn, and the goals of both."""
    worn = list(worn)
    comments = [f"{mark}{item}: equip it in the end." for item in worn]
    comments += [f"{mark}{line}" for line in lines]
    return "\n".join([*comments, *map(_goal, _steps(lines)), *_worn(worn)])


def goals(lines: Sequence[Line], worn: Iterable[str]) -> list[str]:
    """Return the goals of a bill alone, each with all that it takes."""
    return [*map(_whole_goal, _steps(lines)), *_worn(worn)]


def imported(lines: Sequence[Line], worn: Sequence[str], name: str) -> str:
    """Return a program that imports its actions and calls each once."""
    verbs: dict[str, None] = {}
    body = []
    for line in _steps(lines):
        verbs[line.recipe.verb] = None
        body += [f"    # {how(line.recipe)}", f"    {_call(line)}"]
    for item in worn:
        verbs["equip"] = None
        body.append(f"    equip('{item}')")
    head = [f"from actions import {', '.join(verbs)}", "", f"def obtain_{name}():"]
    return "\n".join([*head, *body])


def looped(lines: Sequence[Line], worn: Iterable[str]) -> str:
    """Return a program that repeats each action until what it is for is held."""
    body = []
    for line in _steps(lines):
        body += [
            f"# {how(line.recipe)}",
            f"while not inventory.has('{line.item}', {line.needed}):",
            f"    {_call(line)}",
        ]
    return "\n".join([*body, *(f"equip('{item}')" for item in worn)])


def _steps(lines: Sequence[Line]) -> list[Line]:
    return [line for line in reversed(lines) if line.missing]


def _goal(line: Line) -> str:
    return f"{line.recipe.verb}({{'{line.item}': {line.needed}}});"


def _whole_goal(line: Line) -> str:
    parts = ", ".join(f"'{part}': {amount}" for part, amount in line.recipe.parts)
    arguments = [f"{{'{line.item}': {line.needed}}}"]
    if parts:
        arguments.append(f"{{{parts}}}")
    elif line.recipe.tool:  # the tool is the third argument
        arguments.append("null")
    if line.recipe.tool:
        arguments.append(f"'{line.recipe.tool}'")
    return f"{line.recipe.verb}({', '.join(arguments)});"


def _worn(items: Iterable[str]) -> list[str]:
    return [f"equip({{'{item}': 1}}, {{'{item}': 1}});" for item in items]


def _call(line: Line) -> str:
    return f"{line.recipe.verb}('{line.item}', {line.needed})"


@cache
def _rank(item: str) -> tuple[int, int]:
    return depth(item), -list(ways()).index(item)
