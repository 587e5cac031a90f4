"""The facts of a made wiki: things and their relations; a thing has one value of each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeAlias

from textcraft_gym.envs.hotpotqa.wiki.kinds import BORN, HOMONYMS, KINDS, Relation
from textcraft_gym.envs.hotpotqa.wiki.names import Draw, Names


class Date(NamedTuple):
    """A day."""

    year: int
    month: int
    day: int

    def __str__(self) -> str:
        return f"{self.day} {_MONTHS[self.month - 1]} {self.year}"


@dataclass(eq=False)
class Thing:
    """A thing with a page of its own.

    Attributes:
        kind: Its kind.
        name: Its name, which others may have.
        title: The title of its page, which no other has.
        alias: Another name; empty if it has none.
        is_shared: Whether others have its name.
        facts: The value of each of its relations.
    """

    kind: str
    name: str
    title: str
    alias: str = ""
    is_shared: bool = False
    facts: dict[str, Value] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether it has one name, which no other thing has."""
        return not self.is_shared and not self.alias

    @property
    def named(self) -> str:
        """Its name, with its kind where others have the name."""
        return self.with_kind(self.name) if self.is_shared else self.name

    def with_kind(self, name: str) -> str:
        """Return a name of it with its kind: ``the film Leaving Kelda``."""
        return KINDS[self.kind].phrase.format(name)


Value: TypeAlias = "Thing | Date | int | str"


def written(value: Value) -> str:
    """Return a value as texts write it."""
    if isinstance(value, Thing):
        return value.name
    if isinstance(value, int) and value >= _LARGE:
        return f"{value:,}"
    return str(value)


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_LARGE = 10_000
"""Number from which digits are grouped; years are below."""
_ALIASES = {
    "town": 0.15,
    "club": 0.3,
    "band": 0.15,
    "studio": 0.15,
    "label": 0.15,
    "publisher": 0.15,
}
"""Probability that a thing has another name, by its kind; that of persons is the next."""
_PERSON_ALIAS = 0.2
_PRIZES = 60


def is_listed(group: int) -> bool:
    """Return whether the things of a group, by its number, are listed on a page of their name.

    Of each third group, that is the title of its first thing.
    """
    return group % 3 < 2


class Facts:
    """Things with their facts, drawn from a seed.

    Args:
        count: Number of things.
        groups: Number of groups of things of the same name.
        draw: The source of everything.

    Attributes:
        things: The things, in random order.
        groups: The things of the same name.
        of_kind: The things by kind.
    """

    def __init__(
        self,
        count: int,
        groups: int,
        draw: Draw,
    ) -> None:
        self._draw = draw
        self._names = Names(draw)
        self.of_kind: dict[str, list[Thing]] = {}
        for kind, (share, *_) in KINDS.items():
            number = max(2, int(count * share / 100))
            self.of_kind[kind] = [self._thing(kind) for _ in range(number)]
        rest = count - sum(map(len, self.of_kind.values()))
        self.of_kind["film"] += [self._thing("film") for _ in range(rest)]
        self.things = draw.shuffled(list(chain.from_iterable(self.of_kind.values())))
        self.groups = self._share_names(groups)
        self._prizes = [self._names.name("prize") for _ in range(_PRIZES)]
        self._relate()

    def _thing(self, kind: str) -> Thing:
        name, alias = self._names.name(kind), ""
        if self._draw.chance(_PERSON_ALIAS if kind in BORN else _ALIASES.get(kind, 0.0)):
            alias = self._names.name("alias")
        return Thing(kind, name, name, alias)

    def _share_names(self, groups: int) -> list[list[Thing]]:
        """Give things of different kinds the same name; some groups have one whose title it is."""
        free: dict[str, list[Thing]] = defaultdict(list)
        for thing in self.things:
            free[thing.kind].append(thing)
        made = []
        for number in range(groups):
            kinds = HOMONYMS[number % len(HOMONYMS)]
            group = [free[kind].pop() for kind in kinds if free[kind]]
            for thing in group:
                thing.name, thing.alias, thing.is_shared = group[0].name, "", True
                thing.title = f"{thing.name} ({thing.kind})"
            if not is_listed(number):
                group[0].title = group[0].name
            made.append(group)
        return made

    def _relate(self) -> None:
        """Draw all facts; the capital of a region is one of its towns."""
        for thing in self.things:
            for relation in KINDS[thing.kind].relations:
                if self._draw.chance(relation.chance):
                    thing.facts[relation.name] = self._value(thing, relation)
        capitals = self._draw.shuffled(self.of_kind["town"])
        for region, capital in zip(self.of_kind["region"], capitals, strict=False):
            region.facts["capital"], capital.facts["region"] = capital, region

    def _value(self, thing: Thing, relation: Relation) -> Value:
        draw = self._draw
        if relation.value == "number":
            return draw.between(*relation.bounds)
        if relation.value == "date":
            return Date(draw.between(*BORN[thing.kind]), draw.between(1, 12), draw.between(1, 28))
        if relation.value == "prize":
            return draw.pick(self._prizes)
        if relation.value not in KINDS:
            return self._names.name(relation.value)
        others = self.of_kind[relation.value]
        while (other := draw.pick(others)) is thing:
            pass
        return other
