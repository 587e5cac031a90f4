"""The expert: knows the whole world, and plans from any inventory.

From an empty inventory its plan has the fewest actions: one for each skill that the goal needs, and
one for each item to equip. If that holds for several woods, it takes the plan that needs the fewest
ticks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.costs import best_tool, tier, tools_for
from textcraft_gym.envs.minetechtree.facts import FURNACE, SOURCE_OF, TABLE, WOODS, Source
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import Game, State, is_won
from textcraft_gym.envs.minetechtree.techtree import Offer, Technique, tech_tree

Skills = frozenset[str]


class Way(NamedTuple):
    """A way to obtain an item, from a source or by a technique, with all the skills that it needs.

    Attributes:
        skills: The items that must be obtained, including this one.
        how: The source or the technique.
        chosen: The member that fills each slot of a technique.
        tool: The item that must be held for it, empty for none.
        fuel: The fuel that it burns, empty for none.
    """

    skills: Skills
    how: Source | Technique
    chosen: tuple[str, ...] = ()
    tool: str = ""
    fuel: str = ""


class Step(NamedTuple):
    """An action of a plan: get ``amount`` of an item, from ``using`` or with a tool."""

    item: str
    amount: int
    using: Offer = ()
    tool: str = ""


def expert_plan(game: Game, state: State) -> list[str]:
    """Return a plan that wins; empty if there is none, for lack of time, or if the goal is reached already."""
    if is_won(game, state):
        return []
    game = game._replace(
        reliability={}
    )  # it plans as if nothing were missed; after a miss it plans again
    plans = (_plan(game, state, wood) for wood in WOODS if _grows(game, wood))
    timed = [(len(plan), ticks, plan) for plan in plans for ticks in _ticks(game, state, plan)]
    return min(timed, default=(0, 0, []))[2]


@cache
def ways(wood: str) -> Mapping[str, Way]:
    """Return the way to obtain each item with the fewest skills, using ``wood`` where any wood will do.

    It is a least fixpoint: ways are improved until none changes. The ingredients of an item have
    fewer skills than the item; in the order of the result, most skills first, an item comes before
    all of its ingredients.
    """
    found: dict[str, Way] = {}
    # Candidates of the wood come first, so that they win ties.
    candidates = sorted(
        _candidates(), key=lambda candidate: not candidate[0].startswith(f"minecraft:{wood}_")
    )
    changed = True
    while changed:
        changed = False
        for item, technique in candidates:
            way = (
                _made(found, technique, wood)
                if technique
                else _gathered(found, item, SOURCE_OF[item])
            )
            if way and (item not in found or len(way.skills) < len(found[item].skills)):
                found[item] = way
                changed = True
    return dict(sorted(found.items(), key=lambda entry: (-len(entry[1].skills), entry[0])))


def fewest_skills(items: Iterable[str]) -> int:
    """Return the least number of skills that obtain all items."""
    return min(map(len, _skills(items)))


def fewest_actions(items: Iterable[str]) -> int:
    """Return the least number of actions: one for each skill, but one hunt gives everything that an animal drops."""
    return min(
        len({SOURCE_OF[item].name if item in SOURCE_OF else item for item in skills})
        for skills in _skills(items)
    )


def _skills(items: Iterable[str]) -> list[Skills]:
    """Return for each wood the skills that obtain all items."""
    wanted = list(items)
    return [frozenset().union(*(ways(wood)[item].skills for item in wanted)) for wood in WOODS]


def _grows(game: Game, wood: str) -> bool:
    return any(place.source.gives == (f"minecraft:{wood}_log",) for place in game.world.places)


def _candidates() -> Iterator[tuple[str, Technique | None]]:
    tree = tech_tree()
    yield from ((item, None) for item in SOURCE_OF)
    for techniques in (*tree.crafts.values(), *tree.smelts.values()):
        yield from ((technique.item, technique) for technique in techniques)


def _gathered(found: Mapping[str, Way], item: str, source: Source) -> Way | None:
    if not source.level:
        return Way(frozenset({item}), source)
    tool, skills = _least(found, tools_for(source), frozenset())
    return Way(skills | {item}, source, tool=tool) if tool else None


def _made(found: Mapping[str, Way], technique: Technique, wood: str) -> Way | None:
    """Choose a member for each slot, greedily, so that each adds as few skills as possible."""
    needs = [slot.members for slot in technique.slots]
    station = FURNACE if technique.verb == "smelt" else TABLE if technique.at_table else ""
    needs += [(station,)] if station else []
    needs += [(f"minecraft:{wood}_planks", *tech_tree().fuels)] if technique.verb == "smelt" else []
    chosen: list[str] = []
    skills: Skills = frozenset()
    for members in needs:
        member, skills = _least(found, members, skills, wood)
        if not member:
            return None
        chosen.append(member)
    if technique.item in skills:  # a cycle: the item would be made from itself
        return None
    filling = tuple(chosen[: len(technique.slots)])
    fuel = chosen[-1] if technique.verb == "smelt" else ""
    return Way(skills | {technique.item}, technique, filling, station, fuel)


def _least(
    found: Mapping[str, Way], members: Iterable[str], skills: Skills, wood: str = ""
) -> tuple[str, Skills]:
    """Return the member that adds the fewest skills, preferably one of ``wood``, and the skills including its own."""
    known = [member for member in members if member in found]
    if not known:
        return "", skills
    best = min(
        known,
        key=lambda item: (
            len(skills | found[item].skills),
            not item.startswith(f"minecraft:{wood}_"),
        ),
    )
    return best, skills | found[best].skills


def _plan(game: Game, state: State, wood: str) -> list[str]:
    steps = _Bill(
        ways(wood), game, state, [aim.item for aim in game.aims if aim.item not in state.obtained]
    ).steps()
    worn = [aim.item for aim in game.aims if aim.worn and aim.item not in state.obtained]
    return [_action(step) for step in steps] + [text.equip(item) for item in worn]


def _action(step: Step) -> str:
    source = SOURCE_OF.get(step.item)
    if step.using or source is None:
        return text.make(
            "smelt" if step.tool == FURNACE else "craft", step.item, step.amount, step.using
        )
    return (
        text.hunt(step.item, step.amount)
        if source.verb == "hunt"
        else text.mine(step.item, step.amount, step.tool)
    )


def _ticks(game: Game, state: State, plan: list[str]) -> Iterator[int]:
    """Yield the ticks of a plan; nothing if it does not win in time."""
    for action in plan:
        state, _, reason, _ = apply(game, state, action)
        if reason:
            return
    if is_won(game, state):
        yield state.ticks


class _Bill:
    """The total demand, computed from the goals down: an item comes before its ingredients, which need fewer skills.

    Args:
        way_of: The way to obtain each item.
        game: The game, whose tools may wear out.
        state: The state to plan from.
        goals: The items that must be held once.
    """

    def __init__(
        self, way_of: Mapping[str, Way], game: Game, state: State, goals: Iterable[str]
    ) -> None:
        self.way_of = way_of
        self.durability = game.durability
        self.state = state
        self.held = state.inventory
        self.used: dict[str, int] = {}
        self.kept = dict.fromkeys(goals, 1)
        self.worked: dict[str, int] = {}
        self.planned: Skills = frozenset().union(*(way_of[goal].skills for goal in self.kept))

    def steps(self) -> list[Step]:
        """Return the steps in an order in which they can be played."""
        steps: list[Step] = []
        for item in self.way_of:
            # An item is needed for the ingredients of others, and at least once if it is kept: a
            # goal or a tool.
            short = max(self.used.get(item, 0), self.kept.get(item, 0)) - self.held.get(item, 0)
            if short > 0:
                steps.append(self._step(item, short))
        return [step for step in reversed(steps) if step is _largest(steps, step)]

    def _step(self, item: str, short: int) -> Step:
        way = self.way_of[item]
        technique = way.how
        if isinstance(technique, Source):
            return Step(item, short, tool=self._tool(way, technique, short))
        times = -(-short // technique.makes)  # rounded up
        using = [
            (self._take(slot.members, chosen, times * slot.amount), times * slot.amount)
            for slot, chosen in zip(technique.slots, way.chosen, strict=True)
        ]
        if way.fuel:
            using.append(self._burn(way.fuel, times))
        if way.tool:  # a crafting table or a furnace, which is not used up
            self.kept.setdefault(way.tool, 1)
        return Step(item, times * technique.makes, tuple(using), way.tool)

    def _tool(self, way: Way, source: Source, amount: int) -> str:
        """Return the best held tool, or if that cannot mine the amount, the one to make."""
        best = best_tool(source, self.held)
        if tier(source, best).level < source.level or not self._lasts(source, best, amount):
            best = way.tool
        if source.level:
            self.kept[best] = max(self.kept.get(best, 1), self._needed(source, best, amount))
        self.worked[best] = self.worked.get(best, 0) + amount
        return best

    def _lasts(self, source: Source, tool: str, amount: int) -> bool:
        return self._needed(source, tool, amount) <= self.held.get(tool, 0)

    def _needed(self, source: Source, tool: str, amount: int) -> int:
        """Return the number of tools of a kind that this work takes, after the work that is planned already."""
        uses = tier(source, tool).uses
        if not self.durability or not uses:
            return 1
        return -(
            -(self.state.wear.get(tool, 0) + self.worked.get(tool, 0) + amount) // uses
        )  # rounded up

    def _take(self, members: Iterable[str], chosen: str, amount: int) -> str:
        """Reserve an ingredient: the member that the way chooses, or a held one that the plan does not need."""
        if not self._has(chosen, amount):
            chosen = next((item for item in members if self._can_spare(item, amount)), chosen)
        self.used[chosen] = self.used.get(chosen, 0) + amount
        return chosen

    def _burn(self, fuel: str, count: int) -> tuple[str, int]:
        # A unit of fuel smelts some tenths of an item: round the quotient up.
        needed = {item: -(-10 * count // tenths) for item, tenths in tech_tree().fuels.items()}
        if not self._has(fuel, needed[fuel]):
            fuel = next(
                (item for item, amount in needed.items() if self._can_spare(item, amount)), fuel
            )
        self.used[fuel] = self.used.get(fuel, 0) + needed[fuel]
        return fuel, needed[fuel]

    def _has(self, item: str, amount: int) -> bool:
        return self.held.get(item, 0) - self.used.get(item, 0) >= amount

    def _can_spare(self, item: str, amount: int) -> bool:
        return item not in self.planned and self._has(item, amount)


def _largest(steps: Iterable[Step], step: Step) -> Step:
    """Return the largest hunt of the same animal, which yields enough of all its drops; else the step itself."""
    source = SOURCE_OF.get(step.item)
    if step.using or source is None or source.verb != "hunt":
        return step
    return max(
        (other for other in steps if SOURCE_OF.get(other.item) is source),
        key=lambda other: other.amount,
    )
