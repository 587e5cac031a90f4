"""What goals mean, when they are impossible, and what they are worth."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.envs.tabletop.tables import BOXING, KIT, MATCHING, RINGS, STACKING, WORLDS, play
from textcraft_gym.envs.tabletop.admissible import admissible_commands, possible_commands
from textcraft_gym.envs.tabletop.reliability import RELIABILITIES
from textcraft_gym.envs.tabletop.rules import (
    ALREADY_THERE,
    BLOCKED,
    NO_SUCH_THING,
    NO_SUPPORT,
    REASONS,
    SPOILT,
    TAKEN,
    TOO_LARGE,
    UNKNOWN_GOAL,
    WHICH_HOLE,
    WRONG_SHAPE,
    apply,
    is_won,
    moves_left,
    parts,
    parts_done,
)
from textcraft_gym.envs.tabletop.state import SIDES, SUPPORTS, Game, Rates, first_state

LIGHT, MIDDLE, DARK = SIDES
ALWAYS_MISSED, ALWAYS_SPOILT = Rates(0.0), Rates(0.0, 1.0)


@pytest.mark.parametrize(
    ("world", "actions", "said", "reason"),
    [
        (
            MATCHING,
            ["put the purple blocks in a red bowl"],
            "There is no purple block.",
            NO_SUCH_THING,
        ),
        (MATCHING, ["put the gray blocks in a gray bowl"], "There is no gray bowl.", NO_SUCH_THING),
        (
            MATCHING,
            ["put the green blocks in a red bowl"] * 2,
            "The green block is already in the red bowl.",
            ALREADY_THERE,
        ),
        (
            RINGS,
            ["move the pink ring to the middle of the stand"],
            "There is no pink ring.",
            NO_SUCH_THING,
        ),
        (
            RINGS,
            ["move the blue ring to the darker brown side"],
            "The blue ring is under the green ring.",
            BLOCKED,
        ),
        (
            RINGS,
            [
                "move the red ring to the darker brown side",
                "move the green ring to the darker brown side",
            ],
            "The green ring does not go on the red ring, which is smaller.",
            TOO_LARGE,
        ),
        (
            RINGS,
            ["move the red ring to the lighter brown side"],
            "The red ring is already on the lighter brown side.",
            ALREADY_THERE,
        ),
        (BOXING, ["pack the heart in the brown box"], "There is no heart.", NO_SUCH_THING),
        (
            BOXING,
            ["pack the star in the brown box"] * 2,
            "The star is already in the brown box.",
            ALREADY_THERE,
        ),
        (
            KIT,
            ["put the green star in the top star hole"],
            "There is no green star.",
            NO_SUCH_THING,
        ),
        (
            KIT,
            ["put the red star in the left star hole"],
            "There is no left star hole.",
            NO_SUCH_THING,
        ),
        (
            KIT,
            ["put the red star in the star hole"],
            "There are two star holes: top and middle.",
            WHICH_HOLE,
        ),
        (
            KIT,
            ["put the red star in the ring hole"],
            "The red star does not fit the ring hole.",
            WRONG_SHAPE,
        ),
        (
            KIT,
            ["put the red star in the top star hole", "put the blue star in the top star hole"],
            "The hole is taken.",
            TAKEN,
        ),
        (
            KIT,
            ["put the gray ring in the left ring hole", "put the gray ring in the ring hole"],
            "The gray ring is already in the ring hole.",
            ALREADY_THERE,
        ),
        (
            STACKING,
            ["put the gray block on the middle brown block"],
            "There is no gray block.",
            NO_SUCH_THING,
        ),
        (
            STACKING,
            ["put the red block on the green and gray blocks"],
            "There is no gray block.",
            NO_SUCH_THING,
        ),
        (
            STACKING,
            ["put the red block on the green and blue blocks"],
            "The green and blue blocks do not lie side by side in the pyramid.",
            NO_SUPPORT,
        ),
        (
            STACKING,
            [
                "put the red block on the middle brown block",
                "put the blue block on the middle brown block",
            ],
            "The red block is there.",
            TAKEN,
        ),
        (
            STACKING,
            ["put the red block on the middle brown block"] * 2,
            "The red block is already on the middle brown block.",
            ALREADY_THERE,
        ),
        (STACKING, ["move the red ring to the darker brown side"], None, UNKNOWN_GOAL),
        (KIT, ["sit down"], "That is no goal: sit down", UNKNOWN_GOAL),
    ],
)
def test_apply__says_why_a_goal_is_impossible(world, actions, said, reason):
    before, _, _ = play(world, actions[:-1])
    state, text, why = play(world, actions[-1:], before)
    assert why == reason
    assert said is None or text == said
    counted = reason != UNKNOWN_GOAL
    assert state == before._replace(goals=before.goals + counted)


ROWS = [
    "put the red block on the lightest brown block",
    "put the green block on the middle brown block",
    "put the blue block on the darkest brown block",
    "put the pink block on the green and red blocks",
    "put the cyan block on the green and blue blocks",
    "put the white block on the pink and cyan blocks",
]


def test_pyramid__is_built_from_below():
    state, text, reason = play(STACKING, ROWS)
    assert (reason, text) == ("", "Done: the white block is on the pink and cyan blocks.")
    assert is_won(STACKING, state)
    for row in ROWS[3:]:
        assert play(STACKING, [row])[2] == NO_SUPPORT


def test_pyramid__does_not_rest_on_blocks_that_lie_apart():
    assert (
        play(STACKING, [*ROWS[:3], "put the pink block on the red and blue blocks"])[2]
        == NO_SUPPORT
    )
    assert (
        play(STACKING, [*ROWS[:4], "put the cyan block on the pink and red blocks"])[2]
        == NO_SUPPORT
    )


def test_pyramid__moves_no_block_that_carries_another():
    _, text, reason = play(
        STACKING, [*ROWS[:2], ROWS[3], "put the green block on the darkest brown block"]
    )
    assert (text, reason) == ("The green block is under the pink block.", BLOCKED)
    assert play(STACKING, [*ROWS[:2], "put the green block on the darkest brown block"])[2] == ""
    assert (
        play(STACKING, [*ROWS[:4], "put the red block on the red and green blocks"])[2]
        == NO_SUPPORT
    )


def test_bowls__take_one_block_for_each_goal_and_those_on_the_table_first():
    state, text, _ = play(MATCHING, ["put the red blocks in a red bowl"])
    assert state.at == ("red", "table", "table", "table")
    assert text == "Done: the red block is in the red bowl."
    state, _, _ = play(
        MATCHING, ["put the red blocks in a pink bowl", "put the red blocks in a red bowl"]
    )
    assert state.at == ("pink", "table", "red", "table")
    state, _, reason = play(MATCHING, ["put the red blocks in a red bowl"], state)
    assert (state.at, reason) == (("red", "table", "red", "table"), "")


def test_bowls__are_matched_though_a_block_stays_that_has_none():
    goals = ["put the red blocks in a red bowl"] * 2 + ["put the green blocks in a green bowl"]
    assert parts(MATCHING) == 3
    state, _, _ = play(MATCHING, goals)
    assert is_won(MATCHING, state)
    assert state.at[3] == "table"
    state, _, reason = play(MATCHING, ["put the gray blocks in a pink bowl"], state)
    assert reason == ""
    assert is_won(MATCHING, state)


def test_kit__takes_either_of_two_objects_of_one_shape():
    for colour, other in (("red", "blue"), ("blue", "red")):
        state, _, _ = play(
            KIT,
            [
                f"put the {colour} star in the top star hole",
                f"put the {other} star in the middle star hole",
            ],
        )
        assert parts_done(KIT, state) == 2
    state, _, reason = play(
        KIT, ["put the red star in the top star hole", "put the red star in the middle star hole"]
    )
    assert (reason, state.at[0], parts_done(KIT, state)) == ("", "middle", 1)


def test_packing__is_won_by_the_object_that_is_wanted():
    state, _, _ = play(BOXING, ["pack the star in the brown box"])
    assert (is_won(BOXING, state), state.best) == (False, 0)
    assert is_won(BOXING, play(BOXING, ["pack the letter E shape in the brown box"], state)[0])


def test_moves_left__are_the_fewest_by_brute_force():
    """Breadth first from the end over all legal moves of three rings and of four."""
    for count in (3, 4):
        known = {(DARK,) * count: 0}
        edge = list(known)
        while edge:
            reached = []
            for at in edge:
                for ring, side in product(range(count), SIDES):
                    free = not {at[ring], side} & set(
                        at[:ring]
                    )  # no smaller one on it, nor where it goes
                    after = (*at[:ring], side, *at[ring + 1 :])
                    if free and after not in known:
                        known[after] = known[at] + 1
                        reached.append(after)
            edge = reached
        assert len(known) == 3**count
        assert all(moves_left(at) == moves for at, moves in known.items())


def test_rings__move_as_brute_force_says():
    """Which of all goals are possible in every state of three rings."""
    for at in product(SIDES, repeat=3):
        state = first_state(RINGS)._replace(at=at)
        for ring, side in product(range(3), SIDES):
            _, _, reason = play(
                RINGS, [f"move the {RINGS.things[ring].colour} ring to the {side}"], state
            )
            blocked = any(at[smaller] in (at[ring], side) for smaller in range(ring))
            assert (reason == "") == (not blocked and side != at[ring])


def test_reward__is_for_what_is_done_for_the_first_time():
    goals = [
        "move the red ring to the darker brown side",
        "move the red ring to the lighter brown side",
    ] * 3
    bests = []
    state = first_state(RINGS)
    for goal in goals:
        state, _, _ = play(RINGS, [goal], state)
        bests.append(state.best)
    assert bests == [1] * 6


def test_miss__leaves_a_thing_where_it_is():
    for world, goal, said in (
        (
            MATCHING,
            "put the red blocks in a red bowl",
            "Missed: the red block is still on the table.",
        ),
        (
            RINGS,
            "move the red ring to the darker brown side",
            "Missed: the red ring is still on the lighter brown side.",
        ),
        (STACKING, ROWS[0], "Missed: the red block is still on the table."),
    ):
        for rates in (ALWAYS_MISSED, ALWAYS_SPOILT):
            state, text, _ = play(world, [goal], rates=rates)
            assert (text, state.at, state.spoilt, state.goals) == (
                said,
                first_state(world).at,
                frozenset(),
                1,
            )


def test_miss__can_spoil_an_object_for_good():
    goal = "put the red star in the top star hole"
    state, text, _ = play(KIT, [goal], rates=ALWAYS_SPOILT)
    assert text == "Missed: the red star is stuck askew in the top star hole."
    assert parts_done(KIT, state) == 0
    assert play(KIT, [goal], state)[1:] == (
        "The red star is stuck askew in the top star hole.",
        SPOILT,
    )
    assert play(KIT, ["put the red star in the middle star hole"], state)[2] == SPOILT
    assert play(KIT, ["put the blue star in the top star hole"], state)[2] == TAKEN
    state, text, _ = play(BOXING, ["pack the star in the brown box"], rates=ALWAYS_SPOILT)
    assert text == "Missed: the star is on the floor."
    assert play(BOXING, ["pack the star in the brown box"], state)[1:] == (
        "The star is on the floor, out of reach.",
        SPOILT,
    )


def test_miss__of_the_upper_rows_takes_a_block_along():
    state, _, _ = play(STACKING, ROWS[:5])
    after, text, _ = play(STACKING, ROWS[5:], state, ALWAYS_SPOILT)
    assert text == "Missed: the white block is on the table. It took the pink block with it."
    assert parts_done(STACKING, after) == 4
    assert after.best == 5
    assert play(STACKING, ROWS[5:], after)[2] == NO_SUPPORT
    assert is_won(STACKING, play(STACKING, [ROWS[3], ROWS[5]], after)[0])


@pytest.mark.parametrize(("built", "goal", "falls"), [(4, 3, "red"), (3, 4, "blue")])
def test_miss__takes_along_the_block_that_carries_no_other(built, goal, falls):
    state, _, _ = play(STACKING, [*ROWS[:3], ROWS[built]])
    after, text, _ = play(STACKING, [ROWS[goal]], state, ALWAYS_SPOILT)
    assert text.endswith(f"It took the {falls} block with it.")
    placed = {at for at in after.at if at != "table"}
    assert all(set(supports) <= placed for place, supports in SUPPORTS.items() if place in placed)


@settings(max_examples=60)
@given(st.sampled_from(WORLDS), st.integers(0, 2**31), st.sampled_from(list(RELIABILITIES)))
def test_walk__keeps_what_must_hold_and_admits_what_is_possible(world, seed, reliability):
    """Random goals, possible or not: nothing is lost or doubled, and what is listed is what
    works."""
    rng = random.Random(seed)
    rates = RELIABILITIES[reliability][world.kind]
    state = first_state(world)
    everything = possible_commands(world)
    for _ in range(20):
        admissible = admissible_commands(world, state)
        assert set(admissible) <= set(everything)
        for goal in rng.sample(everything, min(len(everything), 6)):
            mirrored = re.sub(r"on the (\w+) and (\w+) blocks", r"on the \2 and \1 blocks", goal)
            assert (play(world, [goal], state)[2] == "") == bool({goal, mirrored} & set(admissible))
        goal = rng.choice(admissible if rng.random() < 0.8 else everything)
        before, game = state, Game(world, 15, rates, str(seed))
        state, _, reason, why = apply(game, state, goal)
        assert reason in ("", *REASONS)
        assert bool(why) == bool(reason)
        assert before.best <= state.best <= parts(world)
        assert parts_done(world, state) <= state.best
        assert state.goals == before.goals + (goal != "look")
        if world in (STACKING, KIT):  # a place holds one thing
            placed = [at for at in state.at if at != "table"]
            assert len(placed) == len(set(placed))
        assert apply(game, before, goal)[0] == state
