"""An expert with full knowledge of the game: finds a short plan to the goal from any state."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from textcraft_gym.envs.alfworld.game import CLEAN, COOL, HOT, NOTHING, SINKS, TOGGLED, Game, State
from textcraft_gym.envs.alfworld.rules import apply, is_won, moves

# For each task that treats an object: the verb, the flag it sets, the objects that it can be done to, the appliances.
_TREATMENTS = {
    "pick_clean_then_place_in_recep": ("clean", CLEAN, "cleanable", SINKS),
    "pick_heat_then_place_in_recep": ("heat", HOT, "heatable", ("MicrowaveType",)),
    "pick_cool_then_place_in_recep": ("cool", COOL, "coolable", ("FridgeType",)),
}


def expert_plan(game: Game, state: State) -> list[str] | None:
    """Return the shortest of the plans that reach the goal one object after another; None if there is none.

    An object in the hand that the goal does not need is put down at the nearest receptacle that it fits into.
    """
    if is_won(game, state):
        return []
    plans = (walk.commands for walk in _walks(game, state) if walk.won)
    return min(plans, key=len, default=None)


def can_win(game: Game, state: State) -> bool:
    """Return whether there is a plan."""
    return is_won(game, state) or any(walk.won for walk in _walks(game, state))


class Walk:
    """Commands on the way to a goal, played as they are added; an impossible command ends the walk as stuck."""

    def __init__(self, game: Game, state: State) -> None:
        self.game = game
        self.state = state
        self.commands: list[str] = []
        self.stuck = False

    @property
    def won(self) -> bool:
        """Whether the commands reach the goal."""
        return not self.stuck and is_won(self.game, self.state)

    def do(self, command: str) -> None:
        """Add a command."""
        self.stuck = self.stuck or command not in moves(self.game, self.state).commands
        if not self.stuck:
            self.commands.append(command)
            self.state = apply(self.game, self.state, command)[0]

    def reach(self, receptacle: int, *, inside: bool = False) -> None:
        """Go to a receptacle, and open it if its inside is needed."""
        if self.game.location_of[receptacle] != self.state.location:
            self.do(f"go to {self.game.receptacles[receptacle]}")
        if inside and not self.stuck and self.game.is_closed(self.state, receptacle):
            self.do(f"open {self.game.receptacles[receptacle]}")

    def fetch(self, obj: int) -> None:
        """Take an object into the hand."""
        if self.state.held == obj:
            return
        receptacle = _find(self.game, self.state, obj)
        if receptacle is None or obj not in self.game.pickupable:
            self.stuck = True
            return
        if self.state.held != NOTHING:
            self.put_down(receptacle)
        self.reach(receptacle, inside=True)
        self.do(f"take {self.game.objects[obj]} from {self.game.receptacles[receptacle]}")

    def put_down(self, next_stop: int) -> None:
        """Put the held object into any receptacle that it fits into, preferably one that takes no detour."""
        game = self.game
        otype = game.object_type[self.state.held]
        fitting = [receptacle for receptacle, rtype in enumerate(game.receptacle_type) if (rtype, otype) in game.fits]
        if not fitting:
            self.stuck = True
            return
        # First the current location, then that of the next stop; among equals, a receptacle that need not be opened.
        rank = {self.state.location: 0, game.location_of[next_stop]: 1}

        def effort(receptacle: int) -> tuple[int, bool]:
            return rank.get(game.location_of[receptacle], 2), receptacle in game.openable

        self.put(min(fitting, key=effort))

    def put(self, receptacle: int) -> None:
        """Put the held object into a receptacle."""
        obj = self.game.objects[self.state.held]
        self.reach(receptacle, inside=True)
        self.do(self.game.wording.put.format(o=obj, r=self.game.receptacles[receptacle]))


def _walks(game: Game, state: State) -> Iterator[Walk]:
    """Yield a walk for each choice of goal objects and target; some may be stuck."""
    objects = [obj for obj, otype in enumerate(game.object_type) if otype == game.goal.otype]
    if game.goal.task_type == "look_at_obj_in_light":
        yield from _walks_to_lamps(game, state, objects)
        return
    targets = [receptacle for receptacle, rtype in enumerate(game.receptacle_type) if rtype == game.goal.target]
    needed = 2 if game.goal.task_type == "pick_two_obj_and_place" else 1
    for target in targets:
        inside = game.contents(state, target)
        for chosen in combinations(objects, needed):
            walk = Walk(game, state)
            missing = [obj for obj in chosen if obj not in inside or game.goal.task_type in _TREATMENTS]
            # The held object goes first: it would have to be put down to fetch the other.
            for obj in sorted(missing, key=lambda obj: obj != state.held):
                _deliver(walk, obj, target)
            yield walk


def _deliver(walk: Walk, obj: int, target: int) -> None:
    """Fetch an object, treat it if the task requires that, and put it into the target."""
    game = walk.game
    treatment = _TREATMENTS.get(game.goal.task_type)
    is_treated = treatment is None or walk.state.flags[obj] & treatment[1]
    if is_treated and obj in game.contents(walk.state, target):
        return
    walk.fetch(obj)
    if treatment and not is_treated:
        verb, _, able, rtypes = treatment
        appliances = [receptacle for receptacle, rtype in enumerate(game.receptacle_type) if rtype in rtypes]
        if not appliances or obj not in getattr(game, able):
            walk.stuck = True
            return
        nearest = min(appliances, key=lambda appliance: game.location_of[appliance] != walk.state.location)
        walk.reach(nearest)
        walk.do(f"{verb} {game.objects[obj]} with {game.receptacles[nearest]}")
    if not walk.stuck:
        walk.put(target)


def _walks_to_lamps(game: Game, state: State, objects: list[int]) -> Iterator[Walk]:
    lamps = [lamp for lamp, otype in enumerate(game.object_type) if otype == game.goal.target]
    for lamp, obj in product(lamps, objects):
        if lamp not in game.toggleable:
            continue
        walk = Walk(game, state)
        if state.held == lamp:  # a lamp gives light only from a receptacle
            walk.put_down(0)
        walk.fetch(obj)
        stand = _find(game, walk.state, lamp)
        if not walk.stuck and stand is not None:
            walk.reach(stand)
            if not walk.state.flags[lamp] & TOGGLED:
                walk.do(f"use {game.objects[lamp]}")
            yield walk


def _find(game: Game, state: State, obj: int) -> int | None:
    """Return a receptacle that contains an object, preferably at the agent's location, then preferably an open one."""
    containing = [receptacle for receptacle in range(len(game.receptacles)) if obj in game.contents(state, receptacle)]

    def effort(receptacle: int) -> tuple[bool, bool]:
        return game.location_of[receptacle] != state.location, game.is_closed(state, receptacle)

    return min(containing, key=effort, default=None)
