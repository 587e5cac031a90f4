"""Generates the game of a task id: the same game, byte for byte, on every machine.

The floor plan alone determines the room: its receptacles, their locations and its lamps. The whole
id determines the rest.

Every game can be won from every state that play leads to: the goal object, the appliance and the
lamp are there, nothing is locked or used up, and an object that was taken can go back to where it
was. No game is won at the start.
"""

from __future__ import annotations

import random

from textcraft_gym.envs.alfworld.household import Household, declarations, initial_facts
from textcraft_gym.envs.alfworld.pddl_names import bare
from textcraft_gym.envs.alfworld.placement import choose_receptacles, draw_start, place_objects
from textcraft_gym.envs.alfworld.problem import Problem
from textcraft_gym.envs.alfworld.rooms import build_room
from textcraft_gym.envs.alfworld.task_id import parse_id
from textcraft_gym.envs.shuffle import pick

SENTENCES = {
    "pick_and_place_simple": ("put a {object} in {target}.", "put some {object} on {target}."),
    "look_at_obj_in_light": (
        "look at {object} under the {target}.",
        "examine the {object} with the {target}.",
    ),
    "pick_clean_then_place_in_recep": (
        "put a clean {object} in {target}.",
        "clean some {object} and put it in {target}.",
    ),
    "pick_heat_then_place_in_recep": (
        "put a hot {object} in {target}.",
        "heat some {object} and put it in {target}.",
    ),
    "pick_cool_then_place_in_recep": (
        "put a cool {object} in {target}.",
        "cool some {object} and put it in {target}.",
    ),
    "pick_two_obj_and_place": (
        "put two {object} in {target}.",
        "find two {object} and put them in {target}.",
    ),
}


def generate(task_id: str) -> Problem:
    """Return the game of a task id.

    Raises:
        GameError: If the id is malformed or its room does not offer the task.
    """
    spec = parse_id(task_id)
    goal = spec.goal
    room = build_room(spec.plan)
    # The order of the draws is part of every game: another order would make other games of the same
    # ids.
    rng = random.Random(spec.id).random
    receptacles = choose_receptacles(room, goal, spec.difficulty.receptacles)
    objects = place_objects(rng, room, goal, receptacles, spec.difficulty)
    start = draw_start(rng, room)
    sentences = SENTENCES[goal.task_type]
    sentence = pick(rng, sentences)
    household = Household(goal, receptacles, room.fixtures, objects, start)
    task = sentence.format(object=bare(goal.otype).lower(), target=bare(goal.target).lower())
    return Problem(declarations(household), tuple(initial_facts(rng, household)), goal, task)
