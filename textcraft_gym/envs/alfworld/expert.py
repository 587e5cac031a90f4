"""An expert that knows every fact: a short plan to the goal from any state."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from textcraft_gym.envs.alfworld.game import CLEAN, COOL, HOT, NOTHING, SINKS, TOGGLED, Game, State
from textcraft_gym.envs.alfworld.rules import apply, is_won, moves

_TREATMENTS = {
    "pick_clean_then_place_in_recep": ("clean", CLEAN, "cleanable", SINKS),
    "pick_heat_then_place_in_recep": ("heat", HOT, "heatable", ("MicrowaveType",)),
    "pick_cool_then_place_in_recep": ("cool", COOL, "coolable", ("FridgeType",)),
}


def expert_plan(game: Game, state: State) -> list[str] | None:
    """Return the shortest of the plans that bring about the goal object by object; None if there is none.

    What it holds and does not need it puts down at the next place that takes it.
    """
    if is_won(game, state):
        return []
    plans = (walk.commands for walk in _ways(game, state) if walk.won)
    return min(plans, key=len, default=None)


def can_win(game: Game, state: State) -> bool:
    """Return whether there is a plan."""
    return is_won(game, state) or any(walk.won for walk in _ways(game, state))


class Walk:
    """Commands on the way to a goal, played as they are added; one that cannot be played ends it."""

    def __init__(self, game: Game, state: State) -> None:
        self.game = game
        self.state = state
        self.commands: list[str] = []
        self.stuck = False

    @property
    def won(self) -> bool:
        """Whether the commands lead to the goal."""
        return not self.stuck and is_won(self.game, self.state)

    def do(self, command: str) -> None:
        """Add a command."""
        self.stuck = self.stuck or command not in moves(self.game, self.state).commands
        if not self.stuck:
            self.commands.append(command)
            self.state = apply(self.game, self.state, command)[0]

    def reach(self, r: int, *, inside: bool = False) -> None:
        """Go to a receptacle, and open it to get at its inside."""
        if self.game.location_of[r] != self.state.location:
            self.do(f"go to {self.game.receptacles[r]}")
        if inside and not self.stuck and self.closed(r):
            self.do(f"open {self.game.receptacles[r]}")

    def closed(self, r: int) -> bool:
        """Whether a receptacle of this location must be opened first."""
        number = self.game.here[self.state.location].index(r)
        return r in self.game.openable and not self.state.places[self.state.location].content.opened[number]

    def fetch(self, one: int) -> None:
        """Have an object in the hand."""
        if self.state.held == one:
            return
        found = _whereabouts(self.game, self.state, one)
        if found is None or one not in self.game.pickupable:
            self.stuck = True
            return
        if self.state.held != NOTHING:
            self.put_down(found)
        self.reach(found, inside=True)
        self.do(f"take {self.game.objects[one]} from {self.game.receptacles[found]}")

    def put_down(self, towards: int) -> None:
        """Leave what is in the hand: here, or where one goes next, or anywhere."""
        game, location = self.game, self.state.location
        kind = game.object_type[self.state.held]
        fitting = [r for r, receptacle in enumerate(game.receptacle_type) if (receptacle, kind) in game.fits]
        rank = {location: 0, game.location_of[towards]: 1}
        fitting.sort(key=lambda r: (rank.get(game.location_of[r], 2), r in game.openable))
        if not fitting:
            self.stuck = True
            return
        self.put(fitting[0])

    def put(self, r: int) -> None:
        """Put what is in the hand into a receptacle."""
        thing = self.game.objects[self.state.held]
        self.reach(r, inside=True)
        self.do(self.game.put.format(o=thing, r=self.game.receptacles[r]))


def _ways(game: Game, state: State) -> Iterator[Walk]:
    objects = [one for one, kind in enumerate(game.object_type) if kind == game.goal.otype]
    if game.goal.task_type == "look_at_obj_in_light":
        yield from _to_the_light(game, state, objects)
        return
    targets = [r for r, kind in enumerate(game.receptacle_type) if kind == game.goal.target]
    needed = 2 if game.goal.task_type == "pick_two_obj_and_place" else 1
    for target in targets:
        inside = _contents(game, state, target)
        for chosen in combinations(objects, needed):
            walk = Walk(game, state)
            missing = [one for one in chosen if one not in inside or game.goal.task_type in _TREATMENTS]
            for one in sorted(missing, key=lambda one: one != state.held):
                _deliver(walk, one, target)
            yield walk


def _deliver(walk: Walk, one: int, target: int) -> None:
    game = walk.game
    treatment = _TREATMENTS.get(game.goal.task_type)
    ready = treatment is None or walk.state.flags[one] & treatment[1]
    if ready and one in _contents(game, walk.state, target):
        return
    walk.fetch(one)
    if treatment and not ready:
        verb, _, able, appliances = treatment
        places = [r for r, kind in enumerate(game.receptacle_type) if kind in appliances]
        if not places or one not in getattr(game, able):
            walk.stuck = True
            return
        near = min(places, key=lambda r: game.location_of[r] != walk.state.location)
        walk.reach(near)
        walk.do(f"{verb} {game.objects[one]} with {game.receptacles[near]}")
    if not walk.stuck:
        walk.put(target)


def _to_the_light(game: Game, state: State, objects: list[int]) -> Iterator[Walk]:
    for lamp, kind in enumerate(game.object_type):
        if kind == game.goal.target and lamp in game.toggleable:
            for one in objects:
                walk = Walk(game, state)
                if state.held == lamp:
                    walk.put_down(0)
                walk.fetch(one)
                stands = _whereabouts(game, walk.state, lamp)
                if not walk.stuck and stands is not None:
                    walk.reach(stands)
                    if not walk.state.flags[lamp] & TOGGLED:
                        walk.do(f"use {game.objects[lamp]}")
                    yield walk


def _contents(game: Game, state: State, r: int) -> tuple[int, ...]:
    location = game.location_of[r]
    return state.places[location].content.contents[game.here[location].index(r)]


def _whereabouts(game: Game, state: State, one: int) -> int | None:
    """Return a receptacle that an object is in, here if it can be, rather an open one."""
    found = [r for r in range(len(game.receptacles)) if one in _contents(game, state, r)]

    def effort(r: int) -> int:
        location = game.location_of[r]
        opened = state.places[location].content.opened[game.here[location].index(r)]
        return 2 * (location != state.location) + (r in game.openable and not opened)

    return min(found, key=effort, default=None)
