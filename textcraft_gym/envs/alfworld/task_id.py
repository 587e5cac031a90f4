"""Ids of generated tasks, in ALFWorld's form, and the settings that they encode.

``pick_heat_then_place_in_recep-Egg-None-Fridge-12/trial_00042`` gives the task type, the object,
the target, the floor plan and the trial. A difficulty other than the default is appended,
``trial_00042_receptacles12_distractors5_hidden100``.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from textcraft_gym.envs.alfworld.facts import ROOM_KINDS, TASK_ROOMS
from textcraft_gym.envs.alfworld.goals import draw_goal, goal_options
from textcraft_gym.envs.alfworld.pddl_names import bare
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, GameError, Goal
from textcraft_gym.envs.alfworld.rooms import MAX_RECEPTACLES
from textcraft_gym.errors import UnknownName

BOUNDS = {"receptacles": (8, MAX_RECEPTACLES), "distractors": (0, 100), "hidden": (0, 100)}
"""Smallest and largest value of each field of Difficulty; every task fits into 8 receptacles."""

_ID = re.compile(
    r"(?P<task_type>[a-z_]+)-(?P<otype>[A-Za-z]+)-None-(?P<target>[A-Za-z]+)-(?P<plan>[1-9]\d{0,2})"
    r"/trial_(?P<trial>\d{5})"
    r"(?:_receptacles(?P<receptacles>\d{1,3}))?"
    r"(?:_distractors(?P<distractors>\d{1,3}))?"
    r"(?:_hidden(?P<hidden>\d{1,3}))?",
    re.ASCII,
)


class Difficulty(NamedTuple):
    """How hard a game is to search.

    Attributes:
        receptacles: Number of receptacles, 8 to 60; None for the default size of the room.
        distractors: Number of objects that the task does not need, 0 to 100; None for about
            ALFRED's number.
        hidden: Chance in per cent that a goal object starts in a closed receptacle, 0 to 100;
            objects that fit into no closed receptacle start in an open one all the same.
    """

    receptacles: int | None = None
    distractors: int | None = None
    hidden: int = 40


class TaskSpec(NamedTuple):
    """The settings in a task id: goal, floor plan, trial and difficulty."""

    goal: Goal
    plan: int
    trial: int
    difficulty: Difficulty = Difficulty()

    @property
    def id(self) -> str:
        """The id in ALFWorld's form, with the fields of the difficulty that are not the default."""
        task_type, otype, target = self.goal
        task = f"{task_type}-{bare(otype)}-None-{bare(target)}-{self.plan}"
        trial = f"trial_{self.trial:05d}"
        for name, value in self.difficulty._asdict().items():
            if value != getattr(Difficulty(), name):
                trial += f"_{name}{value}"
        return f"{task}/{trial}"


def parse_id(task_id: str) -> TaskSpec:
    """Parse a task id.

    Raises:
        GameError: If it is malformed, not in its shortest form, or its room does not offer the
            task.
    """
    match = _ID.fullmatch(task_id)
    if not match:
        form = "<task type>-<Object>-None-<Target>-<floor plan>/trial_<5 digits>"
        raise GameError(f"expected {form}, got {task_id!r}")
    goal = Goal(match["task_type"], f"{match['otype']}Type", f"{match['target']}Type")
    given = {name: int(match[name]) for name in Difficulty._fields if match[name]}
    difficulty = Difficulty()._replace(**given)
    spec = TaskSpec(goal, int(match["plan"]), int(match["trial"]), difficulty)
    check_difficulty(difficulty)
    # The id must name a goal that its room offers, and spell it in the only canonical way.
    targets = dict(goal_options(goal.task_type, spec.plan)).get(match["otype"], ())
    if match["target"] not in targets:
        raise GameError(f"{task_id}: no such task on floor plan {spec.plan}")
    if spec.id != task_id:
        raise GameError(f"expected the id {spec.id}, got {task_id}")
    return spec


def make_id(
    task_type: str,
    plan: int,
    trial: int,
    difficulty: Difficulty = Difficulty(),  # noqa: B008 a value
) -> str:
    """Return the id of a task of this type on this floor plan.

    The trial determines the object and the target.

    Raises:
        UnknownName: If there is no such task type.
        GameError: If the task is not set in such a room, or the trial or the difficulty is out of
            bounds.
    """
    if task_type not in TASK_TYPES:
        raise UnknownName.of("task type", task_type, TASK_TYPES)
    if not 0 <= trial <= 99999:
        raise GameError(f"expected a trial in 0..99999, got {trial}")
    check_difficulty(difficulty)
    options = goal_options(task_type, plan)
    if not options:
        ranges = [ROOM_KINDS[kind].plans for kind in TASK_ROOMS[task_type]]
        plans = ", ".join(f"{plans[0]}-{plans[-1]}" for plans in ranges)
        raise GameError(f"{task_type} is set on floor plans {plans}, not on {plan}")
    goal = draw_goal(random.Random(f"{task_type}/{plan}/{trial}").random, task_type, options)
    return TaskSpec(goal, plan, trial, difficulty).id


def check_difficulty(difficulty: Difficulty) -> None:
    """Raise GameError if a field is out of bounds."""
    for name, value in difficulty._asdict().items():
        least, most = BOUNDS[name]
        if value is not None and not least <= value <= most:
            raise GameError(f"expected {name} in {least}..{most}, got {value}")
