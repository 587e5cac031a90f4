"""The simulated model at a table; it knows how rings and pyramids go, and reads everything else from the prompt.

Everything that a goal names lies in view, so that it keeps in mind only what the line is about that it is writing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from textcraft_gym.agents.adapt.react import COMPLETED, FAILED, THOUGHT
from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.reading import Reading
from textcraft_gym.agents.simulated.span import too_much

MARK = "Goals left: "
PROGRESS = re.compile("Done: ")
"""Matches an observation after a goal that was reached."""

CHANGED = "The table is no longer as the plan takes it."
UNLUCKY = "The arm was unlucky, and the same will work another time."
NOTHING = f"{FAILED}! Nothing is left that can be done."

_TASK = "\n\nYour task is to: "
_ON_TABLE = "on the table"
_SIDES = ("lighter brown side", "middle of the stand", "darker brown side")
_FIELDS = ("lightest", "middle", "darkest")
_LISTED = re.compile(r"There (?:is|are) \d+ (bowl|block|object)s? of (.+) on the table\.")
_HOLE = re.compile(r"([A-Za-z ]+) \((\w+)\)")
_PLACED = re.compile(r"[Tt]he ([A-Za-z ]+?) is (?:still )?((?:stuck askew )?(?:in|on) the [A-Za-z ]+)\.")
_FALLEN = re.compile(r"It took the ([a-z ]+) with it\.")
_SIDE = re.compile(r"(?:On|In) the ([a-z ]+), from the top: ([a-z, ]+)\.")
_GOAL = re.compile(r"(?:put|move|pack) the (?!objects |rings )")
_BETWEEN = re.compile(" (?:in|on|to|and) ")
_NUMBERED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_REACHED = re.compile(r"I succeeded on step ([\d, ]+)\.")


class Place(NamedTuple):
    """A thing, and where it is in words."""

    thing: str
    at: str


class Table:
    """A table as it was described last, with what was answered since.

    Attributes:
        bowls: The colours of the bowls.
        holes: The location and the shape of each hole.
        rings: The rings, the smallest first.
        wanted: The object to pack; empty for none.
        places: Where each thing is, in the order in which they were listed.
    """

    def __init__(self, text: str) -> None:
        self.bowls: list[str] = []
        self.holes: dict[str, str] = {}
        self.rings: list[str] = []
        self.wanted = ""
        self.places: list[Place] = []
        described, _, since = text.rpartition(MARK)
        for line in [*_last_description(described), *since.split("\n")]:
            self._read(line)

    def left(self) -> list[str]:
        """Return the things on the table."""
        return [thing for thing, at in self.places if at == _ON_TABLE]

    def goals(self) -> Iterator[str]:
        """Yield the goals that bring everything to its place from where it is."""
        if self.rings:
            sides = {thing.removesuffix(" ring"): side for thing, side in self.places}
            yield from _hanoi(self.rings, [sides.get(ring, _SIDES[0]) for ring in self.rings], _SIDES[-1])
        elif self.bowls:
            for thing, at in self.places:
                colour = thing.removesuffix(" block")
                if colour in self.bowls and at != f"in the {colour} bowl":
                    yield f"put the {colour} blocks in a {colour} bowl"
        elif self.wanted:
            if self.wanted in self.left():
                yield f"pack the {self.wanted} in the brown box"
        elif self.holes:
            yield from self._kit()
        else:
            yield from self._pyramid()

    def _read(self, line: str) -> None:
        """Read a line of a description or of an answer."""
        if listed := _LISTED.fullmatch(line):
            sort, names = listed[1], listed[2].split(", ")
            if sort == "bowl":
                self.bowls = names
            else:
                self.places += [Place(f"{name} block" if sort == "block" else name, _ON_TABLE) for name in names]
        elif line.startswith("There is a kit "):
            self.holes = {location: shape.strip() for shape, location in _HOLE.findall(line.partition(": ")[2])}
        elif line.startswith("The rings from small to large: "):
            self.rings = line.partition(": ")[2].rstrip(".").split(", ")
        elif line.startswith("What is to be packed: "):
            self.wanted = line.partition(": ")[2].rstrip(".")
        elif side := _SIDE.fullmatch(line):
            names = [] if side[2] == "nothing" else side[2].split(", ")
            self.places += [Place(f"{name} ring", side[1]) for name in names]
        else:
            self._move(line)

    def _move(self, line: str) -> None:
        """Read where things are now."""
        moves = _PLACED.findall(line) + [(thing, _ON_TABLE) for thing in _FALLEN.findall(line)]
        for thing, at in moves:
            at = next((side for side in _SIDES if at.endswith(side)), at) if self.rings else at
            same = [index for index, place in enumerate(self.places) if place.thing == thing]
            on_table = [index for index in same if self.places[index].at == _ON_TABLE]
            if at != _ON_TABLE and "Done" not in line and "Missed" not in line:
                self.places.append(Place(thing, at))  # a description lists what lies on the table apart
            elif same:
                self.places[(on_table or same)[0]] = Place(thing, at)

    def _kit(self) -> Iterator[str]:
        names = {
            location: f"{location} {shape}" if list(self.holes.values()).count(shape) > 1 else shape
            for location, shape in self.holes.items()
        }
        filled = [at.removeprefix("stuck askew ") for _, at in self.places]
        free = [hole for hole in self.holes if f"in the {names[hole]} hole" not in filled]
        for thing in self.left():
            hole = next((hole for hole in free if thing.endswith(f" {self.holes[hole]}")), None)
            if hole:
                free.remove(hole)
                yield f"put the {thing} in the {names[hole]} hole"

    def _pyramid(self) -> Iterator[str]:
        left = self.left()
        rows: list[list[str]] = [[""] * 3, [""] * 2, [""]]
        at = {place: thing.removesuffix(" block") for thing, place in self.places}
        for row, blocks in enumerate(rows):
            for index in range(len(blocks)):
                pair = rows[row - 1][index : index + 2] if row else []
                where = f"on the {' and '.join(pair)} blocks" if pair else f"on the {_FIELDS[index]} brown block"
                if where not in at and left:
                    at[where] = left.pop(0).removesuffix(" block")
                    yield f"put the {at[where]} block {where}"
                blocks[index] = at.get(where, "")


def answer(prompt: str, reading: Reading) -> str:
    """Return the answer to a prompt."""
    before, _, after = prompt.rpartition(_TASK)
    task, _, rest = after.partition("\n")
    situation = before[before.rfind("\n\n") :]
    task = task.removesuffix(".")
    cue, turns = reading.question.cue, after.split("\n> ")[1:]
    goals = _left(task, turns) if _GOAL.match(task) else list(Table(f"{situation}\n{rest}").goals())
    if cue is Cue.TURN:
        return _turn(goals, turns, reading.span)
    if cue is Cue.EXPLANATION:
        return UNLUCKY if reading.draws.errs("misjudge", "diagnosis") else CHANGED
    if cue is Cue.NEXT_GOAL:
        return _within(goals[:1], reading.span) or (f"1. {goals[0]}" if goals else "done")
    if cue is Cue.MENDED_PLAN and _takes_for_luck(rest, reading):
        goals = _unreached(rest)
    if complaint := _within(goals, reading.span):
        return complaint
    if cue in (Cue.NUMBERED_STEPS, Cue.MENDED_PLAN):
        return "\n".join(f"{number}. {goal}" for number, goal in enumerate(goals, 1)) or NOTHING
    plan = write_plan([[goal] for goal in goals]) if goals else NOTHING
    return f"I did not come to an end. New plan:\n{plan}" if cue is Cue.REFLECTION else plan


def names(prompt: str, answer: str) -> list[list[str]]:
    """Return the colours, the places and the shapes that the prompt's own table names."""
    before, _, after = prompt.rpartition(_TASK)
    table = Table(f"{before[before.rfind(chr(10) * 2) :]}\n{after}")
    things = [thing for thing, _ in table.places]
    if table.wanted:
        return [things]
    shapes = list(dict.fromkeys(table.holes.values()))
    colours = [*table.bowls, *(thing.split(" ")[0] for thing in things)]
    return [list(dict.fromkeys(colours)), shapes, list(_SIDES) if table.rings else list(_FIELDS)]


def _turn(goals: list[str], turns: list[str], span: int) -> str:
    """Return the next line of a player."""
    if goals and turns and "out of reach" in turns[-1]:
        goals = []
    if complaint := _within(goals[:1], span):
        return complaint
    if goals:
        return goals[0]
    spoilt = any("stuck askew" in turn or "on the floor" in turn for turn in turns)
    return NOTHING if spoilt else f"{THOUGHT} nothing is left to do. {COMPLETED.capitalize()}"


def _left(task: str, turns: Iterable[str]) -> list[str]:
    """Return a task that is a goal itself, unless it was reached."""
    return [] if any(turn.startswith(f"{task}\nDone: ") for turn in turns) else [task]


def _within(goals: Iterable[str], span: int) -> str | None:
    """Return the complaint of a model that must keep too much in mind for one of the goals."""
    lines = (_BETWEEN.split(goal) for goal in goals)  # what it moves, and where
    return next(filter(None, (too_much([line], span) for line in lines)), None)


def _takes_for_luck(dialogue: str, reading: Reading) -> bool:
    """Return whether it takes the last failure for bad luck, as its explanation says, or by a mistake of its own."""
    explained = [said for said in (CHANGED, UNLUCKY) if said in dialogue]
    if explained:
        return max(explained, key=dialogue.rfind) == UNLUCKY
    return reading.draws.errs("misjudge", "diagnosis")


def _unreached(dialogue: str) -> list[str]:
    """Return the goals of the last plan that were not reached."""
    before = dialogue.rpartition("I failed on step ")[0]
    plan = before[before.rfind("\n\n1. ") :]
    reached = {int(number) for numbers in _REACHED.findall(plan) for number in numbers.split(", ")}
    return [goal for number, goal in enumerate(_NUMBERED.findall(plan), 1) if number not in reached]


def _last_description(text: str) -> list[str]:
    """Return the lines of the last description of a table, which ends where a text ends."""
    lines: list[str] = []
    for line in reversed(text.rstrip("\n").split("\n")):
        if not line.endswith(".") or line.startswith(("I failed", "I succeeded", "Goals", "Done", "Missed")):
            break
        lines.append(line)
    return lines[::-1]


def _hanoi(rings: list[str], at: list[str], to: str) -> Iterator[str]:
    """Yield the moves that bring rings to a side, given the side of each, the smallest first."""
    if not rings:
        return
    *smaller, largest = rings
    if at[-1] == to:
        yield from _hanoi(smaller, at[:-1], to)
        return
    waiting = next(side for side in _SIDES if side not in (at[-1], to))
    yield from _hanoi(smaller, at[:-1], waiting)
    yield f"move the {largest} ring to the {to}"
    yield from _hanoi(smaller, [waiting] * len(smaller), to)
