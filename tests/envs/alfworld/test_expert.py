"""The expert wins from wherever a random player got to."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.envs.alfworld.judge import OFFICIAL
from textcraft_gym import tasks
from textcraft_gym.envs.alfworld.expert import can_win, expert_plan
from textcraft_gym.envs.alfworld.game import NOTHING, Game, State
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import TREATED, Goal, Problem, read_game
from textcraft_gym.envs.alfworld.rules import apply, is_won, moves

OFFICIAL_GAMES = sorted(OFFICIAL.rglob("game.tw-pddl"))


def wander(game: Game, steps: int, seed: int) -> Iterator[State]:
    """Yield the states of a random walk that acts where it is three times of four."""
    number = random.Random(seed).random
    state = game.first
    for _ in range(steps):
        commands = moves(game, state).commands
        local = [command for command in commands if not command.startswith("go to")]
        choice = local if number() < 0.75 else commands
        state, *_ = apply(game, state, choice[int(number() * len(choice))])
        yield state


def won_by(game: Game, state: State, plan: list[str]) -> bool:
    """Whether a plan of admissible commands ends with the goal, and not before."""
    for command in plan:
        if state.won or command not in moves(game, state).commands:
            return False
        state, *_ = apply(game, state, command)
    return state.won


def stuck(game: Game, state: State) -> bool:
    """Whether what is held can be put nowhere, so that nothing else can ever be taken."""
    kind = game.object_type[state.held] if state.held != NOTHING else ""
    return bool(kind) and not any((place, kind) in game.fits for place in game.receptacle_type)


LITTLE_GOALS = [
    Goal("pick_and_place_simple", "MugType", "ShelfType"),
    Goal("look_at_obj_in_light", "MugType", "DeskLampType"),
    Goal("pick_clean_then_place_in_recep", "MugType", "ShelfType"),
    Goal("pick_heat_then_place_in_recep", "MugType", "ShelfType"),
    Goal("pick_cool_then_place_in_recep", "MugType", "ShelfType"),
    Goal("pick_two_obj_and_place", "MugType", "ShelfType"),
]
APPLIANCES = ("SinkBasinType", "MicrowaveType", "FridgeType")


def little_game(seed: int) -> Game:
    """Return a household of a few things with the oddities of the official data, more often than these have them.

    Objects are in two receptacles at once, or in none, or cannot be taken, or fit nowhere;
    receptacles share locations, are open or do not open; the agent starts anywhere; objects start
    clean, hot or cool, lamps lit.
    """
    rng = random.Random(seed)
    goal = LITTLE_GOALS[seed % len(LITTLE_GOALS)]
    able, state = TREATED.get(goal.task_type, ("toggleable", "isToggled"))
    rtypes = [
        "ShelfType",
        *rng.choices(("ShelfType", "CabinetType", *APPLIANCES), k=rng.choice((1, 2, 2))),
    ]
    if goal.task_type in TREATED:
        rtypes.append(APPLIANCES[LITTLE_GOALS.index(goal) - 2])
    otypes = ["MugType", *rng.choices(("MugType", "BookType"), k=rng.choice((0, 1, 1)))]
    if goal.task_type == "look_at_obj_in_light":
        otypes.append("DeskLampType")
    receptacles = {f"{rtype[:-4]}_bar_{index}": rtype for index, rtype in enumerate(rtypes)}
    objects = {f"{otype[:-4]}_bar_{index}": otype for index, otype in enumerate(otypes)}
    locations = [f"loc_{index}" for index in range(rng.choice((2, 3, len(rtypes))))]

    def some(predicate: str, ids: Iterable[str], share: float) -> list[tuple[str, ...]]:
        return [(predicate, id) for id in ids if rng.random() < share]

    facts: list[tuple[str, ...]] = [
        ("atLocation", "agent1", rng.choice([*locations, "loc_middle"]))
    ]
    facts += [("receptacleType", *pair) for pair in receptacles.items()]
    facts += [("objectType", *pair) for pair in objects.items()]
    facts += [("receptacleAtLocation", id, rng.choice(locations)) for id in receptacles]
    facts += [*some("openable", receptacles, 0.4), *some("opened", receptacles, 0.2)]
    facts += [
        *some("pickupable", objects, 0.9),
        *some(able, objects, 0.9),
        *some(state, objects, 0.2),
    ]
    for rtype, otype in product(sorted({*rtypes}), sorted({*otypes})):
        if rng.random() < 0.8:
            facts.append(("canContain", rtype, otype))
    for id in objects:
        for receptacle in rng.sample(sorted(receptacles), rng.choice((0, 1, 1, 1, 2, 2))):
            facts.append(("inReceptacle", id, receptacle))
    return Game(Problem({}, tuple(facts), goal, "tidy up."))


def distances(game: Game) -> dict[tuple[object, ...], tuple[State, int | None]]:
    """Return every state that play leads to, with its distance to the goal, found by trying every
    command in each."""

    def key(state: State) -> tuple[object, ...]:
        return (
            state.location,
            state.held,
            tuple(place.content for place in state.places),
            state.flags,
        )

    states = {key(game.first): game.first._replace(won=is_won(game, game.first))}
    before: defaultdict[tuple[object, ...], list[tuple[object, ...]]] = defaultdict(list)
    unexplored = list(states)
    while unexplored:
        here = unexplored.pop()
        for command in moves(game, states[here]).commands:
            after, *_ = apply(game, states[here], command)
            if key(after) not in states:
                states[key(after)] = after
                unexplored.append(key(after))
            before[key(after)].append(here)
    distances: dict[tuple[object, ...], int] = {
        position: 0 for position, state in states.items() if state.won
    }
    queue = deque(distances)
    while queue:
        here = queue.popleft()
        for position in before[here]:
            if position not in distances:
                distances[position] = distances[here] + 1
                queue.append(position)
    return {position: (state, distances.get(position)) for position, state in states.items()}


@pytest.mark.parametrize("seed", range(60))
def test_expert__has_a_shortest_plan_from_every_state_of_a_little_household(seed: int):
    game = little_game(seed)
    for state, distance in list(distances(game).values())[::7]:
        plan = expert_plan(game, state)
        assert (plan is None) is (distance is None), (plan, distance)
        assert can_win(game, state) is (plan is not None)
        if plan is not None:
            assert len(plan) == distance
            assert state.won or won_by(game, state, plan), plan


@pytest.mark.parametrize("seed", range(3))
def test_expert__wins_every_made_game_from_anywhere(seed: int):
    for task in tasks("ALFWorld-v0", "all")[seed::60]:
        game = Game(generate(task.id))
        for state in list(wander(game, 120, seed))[::8]:
            plan = expert_plan(game, state)
            assert plan is not None, task.id
            assert won_by(game, state, plan) or state.won, (task.id, plan)


@pytest.mark.official_games
@pytest.mark.parametrize("file", OFFICIAL_GAMES or [OFFICIAL], ids=lambda file: file.parts[-3])
def test_expert__wins_official_games_from_anywhere_that_has_a_way(file: Path):
    game = Game(read_game(file))
    for seed in range(6):
        for state in list(wander(game, 120, seed))[::4]:
            plan = expert_plan(game, state)
            if plan is None:
                assert stuck(game, state)
            else:
                assert state.won or won_by(game, state, plan)
