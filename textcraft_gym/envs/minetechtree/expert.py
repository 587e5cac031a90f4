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
    """Return a plan that wins; empty if there is none in time, or if the goal is reached."""
    if is_won(game, state):
        return []
    # It plans as if nothing were missed; after a miss it plans again.
    game = game._replace(reliability={})
    timed: list[tuple[int, int, list[str]]] = []
    for wood in WOODS:
        if _grows(game, wood):
            plan = _plan(game, state, wood)
            ticks = _ticks(game, state, plan)
            if ticks is not None:
                timed.append((len(plan), ticks, plan))

    _, _, best = min(timed, default=(0, 0, []))
    return best


@cache
def ways(wood: str) -> Mapping[str, Way]:
    """Return the way to obtain each item with the fewest skills, with ``wood`` for any wood.

    It is a least fixpoint: ways are improved until none changes. The ingredients of an item have
    fewer skills than the item; in the order of the result, most skills first, an item comes before
    all of its ingredients.
    """
    known: dict[str, Way] = {}
    # Candidates of the wood come first, so that they win ties.
    candidates = sorted(
        _candidates(),
        key=lambda candidate: not candidate[0].startswith(f"minecraft:{wood}_"),
    )
    changed = True
    while changed:
        changed = False
        for item, technique in candidates:
            if technique:
                way = _made(known, technique, wood)
            else:
                way = _gathered(known, item, SOURCE_OF[item])
            if way and (item not in known or len(way.skills) < len(known[item].skills)):
                known[item] = way
                changed = True
    return dict(sorted(known.items(), key=lambda entry: (-len(entry[1].skills), entry[0])))


def fewest_skills(items: Iterable[str]) -> int:
    """Return the least number of skills that obtain all items."""
    return min(map(len, _skills(items)))


def fewest_actions(items: Iterable[str]) -> int:
    """Return the least number of actions: one for each skill.

    One hunt gives everything that an animal drops.
    """
    return min(map(_actions, _skills(items)))


def _actions(skills: Skills) -> int:
    gathered = {SOURCE_OF[item].name for item in skills if item in SOURCE_OF}
    return len(gathered) + len(skills - SOURCE_OF.keys())


def _skills(items: Iterable[str]) -> list[Skills]:
    """Return for each wood the skills that obtain all items."""
    goals = list(items)
    alternatives = []
    for wood in WOODS:
        way_of = ways(wood)
        alternatives.append(frozenset().union(*(way_of[item].skills for item in goals)))
    return alternatives


def _grows(game: Game, wood: str) -> bool:
    return any(place.source.gives == (f"minecraft:{wood}_log",) for place in game.world.places)


def _candidates() -> Iterator[tuple[str, Technique | None]]:
    tree = tech_tree()
    for item in SOURCE_OF:
        yield item, None
    for techniques in (*tree.crafts.values(), *tree.smelts.values()):
        for technique in techniques:
            yield technique.item, technique


def _gathered(
    known: Mapping[str, Way],
    item: str,
    source: Source,
) -> Way | None:
    if not source.level:
        return Way(frozenset({item}), source)
    tool, skills = _least(known, tools_for(source), frozenset())
    if not tool:
        return None
    return Way(skills | {item}, source, tool=tool)


def _made(
    known: Mapping[str, Way],
    technique: Technique,
    wood: str,
) -> Way | None:
    """Choose a member for each slot, greedily, so that each adds as few skills as possible."""
    needs = [slot.members for slot in technique.slots]
    smelts = technique.verb == "smelt"
    station = ""
    if smelts:
        station = FURNACE
    elif technique.at_table:
        station = TABLE
    if station:
        needs.append((station,))
    if smelts:
        needs.append((f"minecraft:{wood}_planks", *tech_tree().fuels))
    chosen: list[str] = []
    skills: Skills = frozenset()
    for members in needs:
        member, skills = _least(known, members, skills, wood)
        if not member:
            return None
        chosen.append(member)

    if technique.item in skills:  # a cycle: the item would be made from itself
        return None
    filling = tuple(chosen[: len(technique.slots)])
    fuel = chosen[-1] if smelts else ""
    return Way(skills | {technique.item}, technique, filling, station, fuel)


def _least(
    known: Mapping[str, Way],
    members: Iterable[str],
    skills: Skills,
    wood: str = "",
) -> tuple[str, Skills]:
    """Return the member that adds the fewest skills, of ``wood`` among equals, and all skills."""

    def rank(item: str) -> tuple[int, bool]:
        return len(skills | known[item].skills), not item.startswith(f"minecraft:{wood}_")

    obtainable = [member for member in members if member in known]
    if not obtainable:
        return "", skills
    best = min(obtainable, key=rank)
    return best, skills | known[best].skills


def _plan(
    game: Game,
    state: State,
    wood: str,
) -> list[str]:
    missing = [aim for aim in game.aims if aim.item not in state.obtained]
    bill = _Bill(ways(wood), game, state, [aim.item for aim in missing])
    plan = [_action(step) for step in bill.steps()]
    for aim in missing:
        if aim.worn:
            plan.append(text.equip(aim.item))
    return plan


def _action(step: Step) -> str:
    source = SOURCE_OF.get(step.item)
    if step.using or source is None:
        verb = "smelt" if step.tool == FURNACE else "craft"
        return text.make(verb, step.item, step.amount, step.using)
    if source.verb == "hunt":
        return text.hunt(step.item, step.amount)
    return text.mine(step.item, step.amount, step.tool)


def _ticks(
    game: Game,
    state: State,
    plan: list[str],
) -> int | None:
    """Return the ticks of a plan; None if it does not win in time."""
    for action in plan:
        state, _, reason, _ = apply(game, state, action)
        if reason:
            return None
    return state.ticks if is_won(game, state) else None


class _Bill:
    """The total demand, from the goals down: an item comes before its ingredients.

    They need fewer skills than the item.


    Args:
        way_of: The way to obtain each item.
        game: The game, whose tools may wear out.
        state: The state to plan from.
        goals: The items that must be held once.
    """

    def __init__(
        self,
        way_of: Mapping[str, Way],
        game: Game,
        state: State,
        goals: Iterable[str],
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
            needed = max(self.used.get(item, 0), self.kept.get(item, 0))
            short = needed - self.held.get(item, 0)
            if short > 0:
                steps.append(self._step(item, short))
        return [step for step in reversed(steps) if step is _largest(steps, step)]

    def _step(self, item: str, short: int) -> Step:
        way = self.way_of[item]
        technique = way.how
        if isinstance(technique, Source):
            return Step(item, short, tool=self._tool(way, technique, short))
        times = -(-short // technique.makes)  # rounded up
        using = []
        for slot, chosen in zip(technique.slots, way.chosen, strict=True):
            amount = times * slot.amount
            using.append((self._take(slot.members, chosen, amount), amount))
        if way.fuel:
            using.append(self._burn(way.fuel, times))
        if way.tool:  # a crafting table or a furnace, which is not used up
            self.kept.setdefault(way.tool, 1)
        return Step(item, times * technique.makes, tuple(using), way.tool)

    def _tool(
        self,
        way: Way,
        source: Source,
        amount: int,
    ) -> str:
        """Return the best held tool, or if that cannot mine the amount, the one to make."""
        best = best_tool(source, self.held)
        if tier(source, best).level < source.level or not self._lasts(source, best, amount):
            best = way.tool
        if source.level:
            self.kept[best] = max(self.kept.get(best, 1), self._needed(source, best, amount))
        self.worked[best] = self.worked.get(best, 0) + amount
        return best

    def _lasts(
        self,
        source: Source,
        tool: str,
        amount: int,
    ) -> bool:
        return self._needed(source, tool, amount) <= self.held.get(tool, 0)

    def _needed(
        self,
        source: Source,
        tool: str,
        amount: int,
    ) -> int:
        """Return the number of tools of a kind that this work takes after the planned work."""
        uses = tier(source, tool).uses
        if not self.durability or not uses:
            return 1
        work = self.state.wear.get(tool, 0) + self.worked.get(tool, 0) + amount
        return -(-work // uses)  # rounded up

    def _take(
        self,
        members: Iterable[str],
        chosen: str,
        amount: int,
    ) -> str:
        """Reserve an ingredient: the chosen member, or a held one that the plan does not need."""
        if not self._has(chosen, amount):
            for item in members:
                if self._can_spare(item, amount):
                    chosen = item
                    break
        self.used[chosen] = self.used.get(chosen, 0) + amount
        return chosen

    def _burn(
        self,
        fuel: str,
        count: int,
    ) -> tuple[str, int]:
        # A unit of fuel smelts some tenths of an item: round the quotient up.
        needed = {item: -(-10 * count // tenths) for item, tenths in tech_tree().fuels.items()}
        if not self._has(fuel, needed[fuel]):
            for item, amount in needed.items():
                if self._can_spare(item, amount):
                    fuel = item
                    break
        self.used[fuel] = self.used.get(fuel, 0) + needed[fuel]
        return fuel, needed[fuel]

    def _has(self, item: str, amount: int) -> bool:
        return self.held.get(item, 0) - self.used.get(item, 0) >= amount

    def _can_spare(self, item: str, amount: int) -> bool:
        return item not in self.planned and self._has(item, amount)


def _largest(steps: Iterable[Step], step: Step) -> Step:
    """Return the largest hunt of the same animal, which drops enough; else the step itself."""
    source = SOURCE_OF.get(step.item)
    if step.using or source is None or source.verb != "hunt":
        return step
    hunts = [other for other in steps if SOURCE_OF.get(other.item) is source]
    return max(hunts, key=lambda hunt: hunt.amount)
