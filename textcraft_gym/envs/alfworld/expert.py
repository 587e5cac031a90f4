"""An expert with full knowledge of the game: finds a shortest plan to the goal from any state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, permutations, product
from typing import NamedTuple, TypeAlias

from textcraft_gym.envs.alfworld.game import CLEAN, COOL, HOT, NOTHING, SINKS, TOGGLED, Game, State
from textcraft_gym.envs.alfworld.rules import is_won

# For each task that treats an object: the verb, the flag it sets, the objects that it can be done
# to, the appliances.
_TREATMENTS = {
    "pick_clean_then_place_in_recep": ("clean", CLEAN, "cleanable", SINKS),
    "pick_heat_then_place_in_recep": ("heat", HOT, "heatable", ("MicrowaveType",)),
    "pick_cool_then_place_in_recep": ("cool", COOL, "coolable", ("FridgeType",)),
}


class Stop(NamedTuple):
    """A visit to a receptacle.

    Attributes:
        receptacle: Its index.
        command: The command to give there; empty for none.
        inside: Whether the receptacle must be open for that.
    """

    receptacle: int
    command: str
    inside: bool


Route: TypeAlias = tuple[Stop, ...]
"""Stops in order; the commands that go to them and open receptacles are implied."""


def expert_plan(game: Game, state: State) -> list[str] | None:
    """Return a shortest plan to the goal; None if there is none."""
    if is_won(game, state):
        return []
    plans = (list(_commands(game, state, route)) for route in _Routes(game, state).to_goal())
    return min(plans, key=len, default=None)


def can_win(game: Game, state: State) -> bool:
    """Return whether there is a plan."""
    return is_won(game, state) or any(_Routes(game, state).to_goal())


def _commands(
    game: Game,
    state: State,
    route: Route,
) -> Iterator[str]:
    """Yield the commands of a route."""
    location = state.location
    opened: set[int] = set()  # by the plan; the state is that before it
    for receptacle, command, inside in route:
        if game.location_of[receptacle] != location:
            location = game.location_of[receptacle]
            yield f"go to {game.receptacles[receptacle]}"
        if inside and receptacle not in opened and game.is_closed(state, receptacle):
            opened.add(receptacle)
            yield f"open {game.receptacles[receptacle]}"
        if command:
            yield command


class _Routes:
    """The routes to the goal from a state.

    One of them is shortest, since other commands never bring the goal closer.

    The official data has objects in two receptacles at once. Such an object can be taken from
    either, and stays in the other one: it may be placed there while it is still in the hand.
    """

    def __init__(self, game: Game, state: State) -> None:
        self.game = game
        self.state = state
        self.treatment = _TREATMENTS.get(game.goal.task_type)
        self.places: defaultdict[int, list[int]] = defaultdict(list)
        """The receptacles that each object is in, those at the agent's location first."""
        near_first = sorted(
            range(len(game.receptacles)),
            key=lambda receptacle: game.location_of[receptacle] != state.location,
        )
        for receptacle in near_first:
            for obj in game.contents(state, receptacle):
                self.places[obj].append(receptacle)

    def to_goal(self) -> Iterator[Route]:
        """Yield routes to the goal."""
        if self.game.goal.task_type == "look_at_obj_in_light":
            return self._to_lamps()
        return self._to_targets()

    def _to_targets(self) -> Iterator[Route]:
        game, held = self.game, self.state.held
        needed = 2 if game.goal.task_type == "pick_two_obj_and_place" else 1
        # Both objects must be brought to the same receptacle.
        for target, rtype in enumerate(game.receptacle_type):
            if rtype != game.goal.target:
                continue
            for objs in permutations(sorted(game.wanted), needed):
                # The held object goes first: it would have to be put down to fetch the other.
                if held in objs[1:]:
                    continue
                for deliveries in product(*(self._deliveries(obj, target) for obj in objs)):
                    route = tuple(chain.from_iterable(deliveries))
                    yield from self._with_free_hand(route)

    def _deliveries(self, obj: int, target: int) -> Iterator[Route]:
        """Yield the ways to bring an object to a receptacle, treated if the task requires that."""
        game = self.game
        treatments = list(self._treatments(obj))
        if () in treatments and target in self.places[obj]:
            yield ()
            return
        fits = (game.goal.target, game.goal.otype) in game.fits
        for fetch, treatment in product(self._fetches(obj), treatments):
            # It stays in the target if it was in two receptacles and is taken from the other.
            taken_from = {stop.receptacle for stop in fetch}
            if target in self.places[obj] and target not in taken_from:
                yield fetch + treatment
            elif fits:
                yield (*fetch, *treatment, self._put(obj, target))

    def _treatments(self, obj: int) -> Iterator[Route]:
        """Yield the ways to treat an object: an empty one where that is done or not asked for."""
        game = self.game
        if self.treatment is None:
            yield ()
            return
        verb, flag, able, rtypes = self.treatment
        if self.state.flags[obj] & flag:
            yield ()
        elif obj in getattr(game, able):
            for appliance, rtype in enumerate(game.receptacle_type):
                if rtype in rtypes:
                    command = f"{verb} {game.objects[obj]} with {game.receptacles[appliance]}"
                    yield (Stop(appliance, command, inside=False),)  # it may be closed

    def _fetches(self, obj: int) -> Iterator[Route]:
        """Yield the ways to have an object in the hand, which is free or holds it."""
        game = self.game
        if self.state.held == obj:
            yield ()
        elif obj in game.pickupable:
            for receptacle in self.places[obj]:
                command = f"take {game.objects[obj]} from {game.receptacles[receptacle]}"
                yield (Stop(receptacle, command, inside=True),)

    def _put(self, obj: int, receptacle: int) -> Stop:
        names = {"o": self.game.objects[obj], "r": self.game.receptacles[receptacle]}
        return Stop(receptacle, self.game.wording.put.format(**names), inside=True)

    def _to_lamps(self) -> Iterator[Route]:
        game, state = self.game, self.state
        for lamp, obj in product(sorted(game.lamps), sorted(game.wanted)):
            command = "" if state.flags[lamp] & TOGGLED else f"use {game.objects[lamp]}"
            for fetch in self._fetches(obj):
                for stand in self.places[lamp]:
                    yield from self._with_free_hand((*fetch, Stop(stand, command, inside=False)))
                if state.held == lamp:  # a lamp gives light only from a receptacle
                    for down in self._put_down():
                        yield (down, *fetch, Stop(down.receptacle, command, inside=False))

    def _with_free_hand(self, route: Route) -> Iterator[Route]:
        """Yield a route; if it begins with taking something, with what is held put down first."""
        if self.state.held == NOTHING or not route[0].command.startswith("take "):
            yield route
            return
        location_of = self.game.location_of
        on_the_way = {self.state.location, location_of[route[0].receptacle]}
        stops = {stop.receptacle for stop in route}
        downs = self._put_down()
        # Anywhere else is a detour, the same to each receptacle but for the opening.
        detour = min(
            (down for down in downs if location_of[down.receptacle] not in on_the_way),
            key=lambda down: self.game.is_closed(self.state, down.receptacle),
            default=None,
        )
        for down in downs:
            is_on_the_way = location_of[down.receptacle] in on_the_way
            if down is detour or is_on_the_way or down.receptacle in stops:
                yield (down, *route)

    def _put_down(self) -> list[Stop]:
        """Return the stops at which what is held can be put down."""
        held, game = self.state.held, self.game
        otype = game.object_type[held]
        return [
            self._put(held, receptacle)
            for receptacle, rtype in enumerate(game.receptacle_type)
            if (rtype, otype) in game.fits
        ]
