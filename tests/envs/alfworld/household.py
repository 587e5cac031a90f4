"""A household by hand that has what is rare or missing in other games, and walks through it.

The walks are in ``golden/household.txt``: the commands are by hand, the answers are TextWorld's.
Numbers run downward from the first id on, so ``Apple_bar_1`` is ``apple 2``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from textcraft_gym.envs.alfworld import export
from textcraft_gym.envs.alfworld.problem import Goal, Problem

TRANSCRIPTS = Path(__file__).parent / "golden" / "household.txt"
WON = "\n*won*"

# Id, type, location, what else holds. One drawer does not open, and a shelf is open without being
# openable.
RECEPTACLES = """
    Cabinet_bar_1               CabinetType     loc_corner      openable opened
    CounterTop_bar_1            CounterTopType  loc_table
    Drawer_bar_1                DrawerType      loc_corner      openable
    Drawer_bar_2                DrawerType      loc_corner
    Fridge_bar_1                FridgeType      loc_fridge      openable
    Microwave_bar_1             MicrowaveType   loc_microwave   openable
    Shelf_bar_1                 ShelfType       loc_table       opened
    Sink_bar_1                  SinkType        loc_sink
    Sink_bar_1_bar_SinkBasin    SinkBasinType   loc_sink
"""
# Id, receptacles, location, what else holds; not in order. The fork and the mug are in two
# receptacles at once, the potato in none, the butter knife elsewhere than its drawer. Both floor
# lamps are on; one cannot be turned on.
OBJECTS = """
    Tomato_bar_1        CounterTop_bar_1            loc_table   pickupable cleanable isSliced
    Apple_bar_1         CounterTop_bar_1            loc_table   pickupable cleanable heatable coolable sliceable
    Apple_bar_2         Fridge_bar_1                loc_fridge  pickupable heatable isCool
    Bowl_bar_1          CounterTop_bar_1            loc_table   pickupable isReceptacleObject
    Bread_bar_1         Drawer_bar_1                loc_corner  pickupable sliceable
    ButterKnife_bar_1   Drawer_bar_2                loc_sink    pickupable cleanable sliceable
    DeskLamp_bar_1      Shelf_bar_1                 loc_table   toggleable
    DeskLamp_bar_2      Drawer_bar_1                loc_corner  toggleable pickupable
    Egg_bar_1           CounterTop_bar_1            loc_table   pickupable isClean
    FloorLamp_bar_1     CounterTop_bar_1            loc_table   toggleable isToggled
    FloorLamp_bar_2     Cabinet_bar_1               loc_corner  pickupable isToggled
    Spoon_bar_1         Cabinet_bar_1               loc_corner  pickupable
    Fork_bar_1          Cabinet_bar_1,Drawer_bar_2  loc_corner  pickupable
    Knife_bar_1         CounterTop_bar_1            loc_table   pickupable
    Lettuce_bar_1       CounterTop_bar_1            loc_table   pickupable cleanable sliceable isHot isCool
    Mug_bar_1           Cabinet_bar_1,Shelf_bar_1   loc_table   pickupable cleanable
    Plate_bar_1         CounterTop_bar_1            loc_table   pickupable isReceptacleObject
    Pot_bar_1           CounterTop_bar_1            loc_table   pickupable isReceptacleObject
    Potato_bar_1        -                           loc_table   pickupable sliceable
    Statue_bar_1        CounterTop_bar_1            loc_table
"""
INNER = (("Egg_bar_1", "Plate_bar_1"), ("Spoon_bar_1", "Pot_bar_1"), ("Egg_bar_1", "Pot_bar_1"))
FITS = {
    "CabinetType": "Apple FloorLamp Fork Mug Plate Tomato",
    "CounterTopType": "Apple Bowl Bread ButterKnife DeskLamp Egg Fork Knife Lettuce Mug Plate Pot Spoon Tomato",
    "DrawerType": "Apple Bread ButterKnife DeskLamp Fork Knife Spoon",
    "FridgeType": "Apple Lettuce Mug",
    "MicrowaveType": "Apple Mug",
    "ShelfType": "Apple Fork Knife Mug Tomato",
    "SinkBasinType": "Apple ButterKnife Lettuce Mug",
    "SinkType": "Apple",
}


class Turn(NamedTuple):
    """A command, what is said to it, and whether the goal holds after it."""

    command: str
    answer: str
    won: bool


class Walk(NamedTuple):
    """What is done in the household with a goal in mind, from a location on."""

    name: str
    goal: Goal
    location: str
    turns: list[Turn]

    @property
    def problem(self) -> Problem:
        return household(self.goal, self.location)


def household(goal: Goal, location: str) -> Problem:
    """Return the household with the agent at a location."""
    facts: list[tuple[str, ...]] = [("atLocation", "agent1", location)]
    things = {"agent1": "agent", location: "location"}
    for id, kind, place, *holding in map(str.split, RECEPTACLES.strip().splitlines()):
        things |= {id: "receptacle", kind: "rtype", place: "location"}
        facts += [("receptacleType", id, kind), ("receptacleAtLocation", id, place)]
        facts += [(predicate, id) for predicate in holding]
    for id, receptacles, place, *holding in map(str.split, OBJECTS.strip().splitlines()):
        kind = f"{id.partition('_')[0]}Type"
        things |= {id: "object", kind: "otype"}
        facts += [("objectType", id, kind), ("objectAtLocation", id, place)]
        facts += [
            ("inReceptacle", id, receptacle)
            for receptacle in receptacles.split(",")
            if receptacle != "-"
        ]
        facts += [(predicate, id) for predicate in holding]
    facts += [("inReceptacleObject", *pair) for pair in INNER]
    facts += [
        ("canContain", kind, f"{name}Type")
        for kind, names in FITS.items()
        for name in names.split()
    ]
    return Problem(things, tuple(facts), goal, "put everything in its place.")


def export_household(problem: Problem, folder: Path) -> Path:
    """Write a problem as a game file with the domain of the official games, where a sink that is no basin cleans, too.

    The domain of the package has that line commented out.
    """
    package = export.installed_logic()
    domain = package.domain.replace(";(receptacleType ?r SinkType)", "(receptacleType ?r SinkType)")
    official = package._replace(domain=domain.removesuffix("\n)\n") + ")\n")
    with patch.object(export, "installed_logic", lambda: official):
        return export.export_game(problem, "household/trial", folder, ["look"])


def read_walks() -> list[Walk]:
    """Read all walks: a headline with goal and location, then commands, answers and ``WON`` where
    the goal holds."""
    walks = []
    for section in re.split(r"^## ", TRANSCRIPTS.read_text(encoding="utf-8"), flags=re.MULTILINE)[
        1:
    ]:
        headline, _, rest = section.partition("\n")
        name, goal, location = re.fullmatch(r"(.+) \((.+) from (.+)\)", headline).groups()
        walks.append(Walk(name, Goal(*goal.split()), location, list(_turns(rest))))
    return walks


def write_walks(walks: list[Walk]) -> None:
    """Write what ``read_walks`` reads."""
    lines = []
    for name, goal, location, turns in walks:
        lines.append(f"## {name} ({' '.join(goal)} from {location})\n")
        lines += [f"> {command}\n{answer}{WON if won else ''}\n" for command, answer, won in turns]
    TRANSCRIPTS.write_text("".join(lines), encoding="utf-8", newline="\n")


def _turns(text: str) -> Iterator[Turn]:
    for turn in re.split(r"^> ", text, flags=re.MULTILINE)[1:]:
        command, _, answer = turn.removesuffix("\n").partition("\n")
        yield Turn(command, answer.removesuffix(WON), answer.endswith(WON))
