"""The player's belief about a household: its observations, and the usual places of things.

The explorer uses it. It is built only from the environment's texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


def _lists(text: str) -> dict[str, list[str]]:
    """Parse ``name: word word ...`` entries; line breaks do not matter."""
    lists: dict[str, list[str]] = {}
    for token in text.split():
        if token.endswith(":"):
            current = lists.setdefault(token.removesuffix(":"), [])
        else:
            current.append(token)
    return lists


USUAL_PLACES = _lists("""
    alarmclock: dresser coffeetable diningtable sidetable desk shelf
    apple: garbagecan sinkbasin sidetable diningtable microwave fridge countertop
    baseballbat: sidetable bed diningtable
    basketball: sidetable armchair bed desk diningtable dresser
    book: desk bed diningtable sidetable sofa countertop dresser coffeetable armchair ottoman shelf
        drawer cabinet
    bowl: coffeetable dresser desk sidetable sinkbasin diningtable fridge microwave countertop shelf
        cabinet
    box: desk dresser coffeetable ottoman sofa armchair diningtable sidetable shelf cabinet
    bread: garbagecan sidetable diningtable fridge microwave countertop
    butterknife: sinkbasin diningtable countertop sidetable drawer
    candle: coffeetable diningtable countertop cart toilet sidetable dresser shelf cabinet drawer
    cd: garbagecan diningtable sidetable dresser desk safe shelf cabinet drawer
    cellphone: bed coffeetable armchair dresser countertop desk diningtable sofa sidetable safe
        shelf drawer
    cloth: diningtable laundryhamper cart armchair garbagecan toilet countertop dresser bathtubbasin
        sinkbasin sidetable shelf desk drawer cabinet
    creditcard: countertop desk armchair sofa coffeetable dresser diningtable safe sidetable shelf
        drawer ottoman
    cup: sinkbasin sidetable diningtable microwave countertop fridge shelf cabinet
    desklamp: diningtable desk coffeetable sidetable dresser
    dishsponge: garbagecan sidetable cart toilet sinkbasin bathtubbasin diningtable countertop shelf
        drawer cabinet
    egg: sinkbasin garbagecan diningtable microwave countertop sidetable fridge
    floorlamp: coffeetable dresser diningtable sidetable
    fork: sinkbasin sidetable diningtable countertop drawer
    glassbottle: sinkbasin diningtable countertop fridge microwave shelf cabinet
    handtowel: countertop cart bathtubbasin garbagecan sinkbasin toilet sidetable handtowelholder
        shelf cabinet drawer
    houseplant: dresser countertop desk diningtable coffeetable sidetable
    kettle: sinkbasin diningtable shelf sidetable countertop stoveburner cabinet
    keychain: dresser desk diningtable sofa safe ottoman coffeetable armchair sidetable shelf drawer
    knife: sinkbasin diningtable countertop sidetable drawer
    ladle: sinkbasin diningtable sidetable countertop cabinet drawer
    laptop: bed coffeetable dresser desk ottoman sofa armchair diningtable sidetable
    lettuce: garbagecan sinkbasin diningtable sidetable countertop fridge
    mug: coffeetable dresser desk sidetable coffeemachine sinkbasin diningtable microwave countertop
        fridge shelf cabinet
    newspaper: garbagecan dresser armchair sofa diningtable coffeetable ottoman sidetable shelf
        drawer cabinet
    pan: sinkbasin sidetable diningtable countertop fridge stoveburner cabinet
    papertowelroll: countertop diningtable shelf
    pen: dresser coffeetable garbagecan diningtable sidetable desk countertop shelf drawer
    pencil: garbagecan diningtable dresser sidetable desk shelf countertop coffeetable drawer
    peppershaker: diningtable sidetable countertop shelf drawer cabinet
    pillow: bed sofa armchair ottoman
    plate: coffeetable sinkbasin sidetable diningtable countertop microwave dresser fridge shelf
        cabinet
    plunger: cart cabinet
    pot: sinkbasin sidetable diningtable countertop fridge shelf stoveburner cabinet
    potato: garbagecan sinkbasin sidetable diningtable microwave fridge countertop
    remotecontrol: dresser armchair desk sofa coffeetable ottoman diningtable sidetable shelf drawer
    saltshaker: sidetable diningtable countertop shelf drawer cabinet
    soapbar: sidetable toilet cart garbagecan sinkbasin bathtubbasin countertop shelf cabinet drawer
    soapbottle: toilet garbagecan sidetable cart diningtable countertop shelf cabinet drawer
    spatula: sinkbasin sidetable diningtable countertop drawer
    spoon: sinkbasin diningtable sidetable countertop drawer
    spraybottle: cart dresser garbagecan toilet diningtable sidetable shelf countertop drawer
        cabinet
    statue: diningtable desk coffeetable dresser countertop safe sidetable shelf
    teddybear: bed armchair
    tennisracket: sidetable diningtable dresser desk bed
    tissuebox: garbagecan tvstand diningtable countertop coffeetable cart dresser desk toilet shelf
        sidetable cabinet drawer
    toiletpaper: sidetable toiletpaperhanger toilet cart garbagecan countertop dresser shelf cabinet
        drawer
    tomato: sinkbasin garbagecan diningtable sidetable microwave countertop fridge
    towel: towelholder
    vase: dresser desk diningtable countertop coffeetable safe sidetable shelf cabinet
    watch: coffeetable dresser diningtable sidetable shelf drawer
    wateringcan: coffeetable dresser diningtable sidetable drawer shelf cabinet
    winebottle: sidetable diningtable garbagecan countertop shelf fridge cabinet
""")
"""Kinds of places in which to search for each kind of thing, the best first.

They are sorted by the probability of finding it there per action spent, of which a closed place
takes two, estimated on every fourth generated training game.
"""

APPLIANCES = {"clean": ("sinkbasin", "sink"), "heat": ("microwave",), "cool": ("fridge",)}
PUT_COMMANDS = {"move": "move {thing} to {place}", "put": "put {thing} in/on {place}"}
"""The put command of each dialect, by its verb; both are tried until an answer shows which."""

Order: TypeAlias = Callable[[str], Sequence[str]]
"""Returns the places to search for a kind of thing, in order."""


class HouseholdTask(NamedTuple):
    """A task of the game, or a step of a plan for one; empty fields ask for nothing.

    Attributes:
        thing: The kind of thing to handle, ``mug``; it is searched for and taken if it is not held.
        amount: Number of such things.
        treatment: ``clean``, ``heat`` or ``cool``.
        target: The place to put it: a kind of place, or a place with its number.
        lamp: The kind of lamp to look at it under.
        places: Places to search for it, or for the lamp once it is held: kinds of places, or places
            with their numbers.
    """

    thing: str
    amount: int = 1
    treatment: str = ""
    target: str = ""
    lamp: str = ""
    places: tuple[str, ...] = ()


class Next(NamedTuple):
    """The next command and its purpose.

    Attributes:
        command: The command.
        sought: The kind of thing that is searched for; empty if none is.
        where: The kind of place that is searched.
    """

    command: str
    sought: str = ""
    where: str = ""


_ARTICLE = r"(?:an?|some|the|another) "
_PLACES = r"(?: (?:from|at|in|on) (?P<places>.+))?"
_TASKS = [
    re.compile(pattern.replace("ARTICLE ", _ARTICLE).replace(" PLACES", _PLACES))
    for pattern in (
        r"(?P<two>put two|find two) (?P<thing>\w+)(?: and put them)? (?:in|on) (?P<target>\w+)",
        r"(?P<treatment>clean|heat|cool) ARTICLE (?P<thing>\w+)"
        r" and put it in (?P<target>\w+(?: \d+)?)",
        r"put ARTICLE (?P<treated>clean|hot|cool) (?P<thing>\w+) in (?P<target>\w+(?: \d+)?)",
        r"put ARTICLE (?P<thing>\w+) (?:in|on) (?P<target>\w+(?: \d+)?)",
        r"(?:look at|examine) (?:ARTICLE )?(?P<thing>\w+) (?:under|with) the (?P<lamp>\w+) PLACES",
        r"(?P<treatment>clean|heat|cool) ARTICLE (?P<thing>\w+) with \w+(?: \d+)?",
        r"(?:find and )?take ARTICLE (?P<thing>\w+) PLACES",
    )
]
_SEEN = re.compile(
    r"(?:On the (?P<on>\w+ \d+)|The (?P<open>\w+ \d+) is open\. In it), you see (?P<things>.+)\."
)
_CLOSED = re.compile(r"The (\w+ \d+) is closed\.")
_ARRIVED = re.compile(r"You arrive at (loc )?")
_TAKEN = re.compile(r"You pick up the (\w+ \d+) from the (\w+ \d+)\.")
_PUT = re.compile(
    r"You (?P<verb>move|put) the (?P<thing>\w+ \d+) (?:to|in/on) the (?P<place>\w+ \d+)\."
)
_TREATED = re.compile(r"You (clean|heat|cool) the (\w+ \d+) using the (\w+ \d+)\.")
_THING = re.compile(r"\w+ \d+")


def read_task(text: str) -> HouseholdTask | None:
    """Return the task that a sentence of the game or of a plan states; None for another form."""
    sentence = text.strip().rstrip(".").lower()
    for pattern in _TASKS:
        match = pattern.fullmatch(sentence)
        if match:
            return _task(match.groupdict(default=""))
    return None


def _task(parts: Mapping[str, str]) -> HouseholdTask:
    """Return the task that the parts of a sentence state."""
    treatment = parts.get("treated") or parts.get("treatment", "")
    places: tuple[str, ...] = ()
    if parts.get("places"):
        places = tuple(re.split(r", (?:or )?| or ", parts["places"]))
    return HouseholdTask(
        thing=parts["thing"],
        amount=2 if parts.get("two") else 1,
        treatment="heat" if treatment == "hot" else treatment,
        target=parts.get("target", ""),
        lamp=parts.get("lamp", ""),
        places=places,
    )


def kind(name: str) -> str:
    """Return a thing's or a place's name without its number."""
    return name.partition(" ")[0]


def likely(thing: str, places: Iterable[str]) -> list[str]:
    """Return places in the order to search them for a kind of thing, the unusual ones last."""
    # sorted() is stable: places of a kind stay in the order of the first observation.
    usual = {place: rank for rank, place in enumerate(USUAL_PLACES.get(thing, ()))}
    return sorted(places, key=lambda place: usual.get(kind(place), len(usual)))


@dataclass(init=False)
class Household:
    """The player's belief about one household.

    Attributes:
        places: The names of the receptacles, as the first observation lists them.
        at: The place that it went to last; empty in the middle of the room.
        beside: Pairs of places at one spot: a player at either is at both, and ``go to`` the other
            does nothing.
        held: The thing that it holds; empty for nothing.
        inventory_known: Whether the inventory was read; otherwise ``held`` follows from the actions
            read, which may be the last one alone.
        contents: The things in each place that it looked into, kept up to date.
        closed: Places that it saw closed.
        treated: The last treatment of each thing.
        brought: The place where it put each thing.
        lit: The lamps that it turned on.
        refused: Commands that did nothing.
        put_commands: The dialects of the put command to try: one, once an arrival or an answer to a
            put shows which.
    """

    def __init__(self, situation: str) -> None:
        self.places = _THING.findall(situation.rpartition("you see")[2])
        self.at = self.held = ""
        self.put_commands = tuple(PUT_COMMANDS.values())
        self.inventory_known = False
        self.beside: set[tuple[str, str]] = set()
        self.contents: dict[str, list[str]] = {}
        self.closed: set[str] = set()
        self.treated: dict[str, str] = {}
        self.brought: dict[str, str] = {}
        self.lit: set[str] = set()
        self.refused: set[str] = set()

    def read(self, command: str, answer: str) -> None:
        """Update the belief with the answer to a command."""
        if answer.startswith("Nothing happens."):
            self._refuse(command)
        arrived = _ARRIVED.match(answer)
        if arrived:
            # The command says where: the older dialect names the location, such as loc 5, instead
            # of the place.
            self.at = command.removeprefix("go to ")
            self.put_commands = (PUT_COMMANDS["put" if arrived[1] else "move"],)
        self._read_action(answer)
        self._read_place(answer)

    def _read_action(self, answer: str) -> None:
        """Update what is held, treated and lit."""
        if taken := _TAKEN.match(answer):
            self.held, self.at = taken.groups()
            self._lose(self.held)
        elif put := _PUT.match(answer):
            self.at, self.held = put["place"], ""
            self.put_commands = (PUT_COMMANDS[put["verb"]],)
            self.brought[put["thing"]] = self.at
            if self.at in self.contents:
                self.contents[self.at].append(put["thing"])
        elif treated := _TREATED.match(answer):
            verb, self.held, self.at = treated.groups()
            self.treated[self.held] = verb
        elif answer.startswith("You turn on"):
            self.lit.update(_THING.findall(answer))
        elif answer.startswith(("You are carrying", "You are not carrying")):
            self.held, self.inventory_known = "".join(_THING.findall(answer)), True
            # A take may have been refused because something was held, so it may be tried again.
            self.refused = {command for command in self.refused if not command.startswith("take ")}

    def _read_place(self, answer: str) -> None:
        """Update whether the place in view is closed, and what is in it."""
        if closed := _CLOSED.search(answer):
            self.closed.add(closed[1])
        elif seen := _SEEN.search(answer):
            place = seen["on"] or seen["open"]
            self.closed.discard(place)
            self.contents[place] = _THING.findall(seen["things"])

    def done(self, task: HouseholdTask) -> bool:
        """Return whether a task is done, as far as is known."""
        if task.target:
            delivered = [len(self._fitting(task, place)) for place in self._targets(task)]
            return max(delivered, default=0) >= task.amount and kind(self.held) != task.thing
        if kind(self.held) != task.thing:
            return False
        if task.lamp:
            return any(kind(lamp) == task.lamp for lamp in self.lit)
        return not task.treatment or self.treated.get(self.held) == task.treatment

    def next(self, task: HouseholdTask, order: Order) -> Next | None:
        """Return the next command; None where nothing is left to try."""
        if self.held and kind(self.held) != task.thing:  # the hand must be free to take anything
            return self._put(self.places)
        if not self.held:
            return self._fetch(task, order)
        # A thing is treated on the way, while it is held.
        if task.treatment and self.treated.get(self.held) != task.treatment:
            return self._treat(task.treatment)
        if task.target:
            return self._put(self._targets(task))
        return self._light(task, order)

    def _fetch(self, task: HouseholdTask, order: Order) -> Next | None:
        for place in self.contents:
            for thing in self._wanted(task, place):
                command = f"take {thing} from {place}"
                if command not in self.refused:
                    return self._go(place) or Next(command)
        # A refused take suggests that something else is held, which the actions read so far did not
        # show.
        is_take_refused = any(command.startswith("take ") for command in self.refused)
        if is_take_refused and not self.inventory_known:
            return Next("inventory")
        step = self._search(task.thing, task, order)
        if step is None and not self.inventory_known:
            return Next("inventory")
        return step

    def _wanted(self, task: HouseholdTask, place: str) -> list[str]:
        """Return the things in a place to take, without those that are where they should be."""
        delivered = self._fitting(task, place) if place in self._targets(task) else []
        left = [thing for thing in self.contents[place] if thing not in self.brought]
        return [thing for thing in left if kind(thing) == task.thing and thing not in delivered]

    def _treat(self, treatment: str) -> Next | None:
        for place in self.places:
            command = f"{treatment} {self.held} with {place}"
            if kind(place) in APPLIANCES[treatment] and command not in self.refused:
                return self._go(place) or Next(command)
        return None

    def _put(self, places: Sequence[str]) -> Next | None:
        for place in places:
            for form in self.put_commands:
                command = form.format(thing=self.held, place=place)
                if command not in self.refused:
                    return self._open(place) or Next(command)
        return None

    def _light(self, task: HouseholdTask, order: Order) -> Next | None:
        for place, things in self.contents.items():
            for lamp in things:
                if kind(lamp) == task.lamp and f"use {lamp}" not in self.refused:
                    return self._go(place) or Next(f"use {lamp}")
        return self._search(task.lamp, task, order) if task.lamp else None

    def _search(
        self,
        sought: str,
        task: HouseholdTask,
        order: Order,
    ) -> Next | None:
        wanted = task.places
        for place in order(sought):
            if not wanted or place in wanted or kind(place) in wanted:
                step = self._look_into(place)
                if step and step.command not in self.refused:
                    return Next(step.command, sought, kind(place))
        return None

    def _look_into(self, place: str) -> Next | None:
        """Return the next command towards knowing a place's contents; None if they are known."""
        if place in self.contents:
            return None
        return self._open(place)

    def _open(self, place: str) -> Next | None:
        """Return the next command towards standing at a place, open and seen; None if so."""
        if step := self._go(place):
            return step
        if place in self.closed:
            return Next(f"open {place}")
        if place not in self.contents:
            return Next(f"examine {place}")
        return None

    def _go(self, place: str) -> Next | None:
        if self.at == place or (self.at, place) in self.beside:
            return None
        return Next(f"go to {place}")

    def _targets(self, task: HouseholdTask) -> list[str]:
        """Return the places to put the thing in, the one that holds the most of them first."""
        targets = [place for place in self.places if task.target in (place, kind(place))]
        return sorted(targets, key=lambda place: -len(self._fitting(task, place)))

    def _fitting(self, task: HouseholdTask, place: str) -> list[str]:
        """Return the things in a place that have the task's kind and treatment."""
        brought = [thing for thing, where in self.brought.items() if where == place]
        fitting: list[str] = []
        for thing in dict.fromkeys([*self.contents.get(place, ()), *brought]):
            is_treated = not task.treatment or self.treated.get(thing) == task.treatment
            if kind(thing) == task.thing and is_treated:
                fitting.append(thing)
        return fitting

    def _refuse(self, command: str) -> None:
        verb, _, place = command.partition(" ")
        if command.startswith("go to "):  # refused because the player is there already
            place = command.removeprefix("go to ")
            if self.at:
                self.beside |= {(self.at, place), (place, self.at)}
            self.at = place
        elif verb == "examine":  # refused because the player is elsewhere
            self.beside = {pair for pair in self.beside if place not in pair}
            self.at = ""
        else:
            self.refused.add(command)

    def _lose(self, thing: str) -> None:
        self.brought.pop(thing, None)
        for things in self.contents.values():
            if thing in things:
                things.remove(thing)
