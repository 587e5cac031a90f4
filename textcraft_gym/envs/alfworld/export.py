"""Exports generated games as files that ALFWorld's loader and TextWorld can play.

The PDDL domain and the grammar that such a file needs are not copied into this package: they are
read from the installed package alfworld, or from a wheel of another release, whose dialect the game
then has.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from textcraft_gym.envs.alfworld.problem import TASK, GameError, Problem, goal_form
from textcraft_gym.errors import how_to_install

_LOGIC_FILES = ("alfred.pddl", "alfred.twl2")


class Logic(NamedTuple):
    """ALFWorld's PDDL domain and text grammar, which are the same in every game of a release."""

    domain: str
    grammar: str


def write_problem(problem: Problem, name: str) -> str:
    """Return a problem in PDDL, which ``parse_problem`` reads back.

    Args:
        problem: The problem.
        name: Its name in the file, a single word.
    """
    objects = []
    # Neighbours of one sort are declared on one line.
    for sort, declarations in groupby(problem.things.items(), key=itemgetter(1)):
        ids = " ".join(id for id, _ in declarations)
        objects.append(f"{ids} - {sort}")
    facts = [f"({' '.join(fact)})" for fact in problem.facts]
    lines = [
        f"(define (problem {name})",
        "(:domain alfred)",
        "(:objects",
        *objects,
        ")",
        "(:init",
        *facts,
        ")",
        f"(:goal {goal_form(problem.goal)})",
        ")",
    ]
    return "\n".join(lines) + "\n"


def export_game(
    problem: Problem,
    task_id: str,
    folder: Path,
    walkthrough: Sequence[str],
    logic: Logic | None = None,
) -> Path:
    """Write ``<folder>/<task_id>/game.tw-pddl`` and its ``traj_data.json``.

    ALFWorld's loader skips a game without the latter.

    Args:
        problem: The game.
        task_id: ``<task>/<trial>``.
        folder: The data path of a split in ALFWorld's configuration.
        walkthrough: Commands that win the game, in the dialect of the grammar.
        logic: Domain and grammar; None for those of the installed package ``alfworld``.

    Returns:
        The game file.

    Raises:
        GameError: If ``alfworld`` is not installed, or the loader would skip a game with this id.
    """
    _check_id(task_id)
    logic = logic or installed_logic()
    game = {
        "pddl_domain": logic.domain,
        "grammar": TASK.sub(lambda _: f"Your task is to: {problem.task}", logic.grammar),
        "pddl_problem": write_problem(problem, f"plan_{task_id.rpartition('/')[2]}"),
        "solvable": True,
        "walkthrough": list(walkthrough),
    }
    file = folder / task_id / "game.tw-pddl"
    file.parent.mkdir(parents=True, exist_ok=True)
    _write_json(file.with_name("traj_data.json"), _trajectory(problem, task_id))
    _write_json(file, game)
    return file


@lru_cache(maxsize=1)
def installed_logic() -> Logic:
    """Return the domain and grammar of the installed package ``alfworld``, without importing it.

    Raises:
        GameError: If it is not installed or lacks them.
    """
    spec = find_spec("alfworld")
    if spec is None or not spec.submodule_search_locations:
        raise GameError(f"export_game needs the package alfworld: {how_to_install('alfworld')}")
    data = Path(spec.submodule_search_locations[0]) / "data"
    try:
        return Logic(*((data / name).read_text(encoding="utf-8") for name in _LOGIC_FILES))
    except OSError as error:
        raise GameError(
            f"the installed package alfworld lacks its domain or its grammar: {error}"
        ) from error


def wheel_logic(wheel: Path) -> Logic:
    """Return the domain and grammar in a wheel of ``alfworld``.

    ``pip download alfworld==0.3.5`` fetches one.

    Raises:
        GameError: If it cannot be read or lacks them.
    """
    try:
        with ZipFile(wheel) as files:
            return Logic(*(files.read(f"alfworld/data/{name}").decode() for name in _LOGIC_FILES))
    except (OSError, BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise GameError(f"{wheel}: no wheel with ALFWorld's domain and grammar: {error}") from error


def _check_id(task_id: str) -> None:
    task, slash, trial = task_id.partition("/")
    if not slash or not task or not trial or "/" in trial or ".." in (task, trial):
        raise GameError(f"expected an id <task>/<trial>, got {task_id!r}")
    for skipped in ("movable", "Sliced"):
        if skipped in task_id:
            raise GameError(
                f"{task_id}: ALFWorld's loader skips folders with {skipped} in their names"
            )


def _trajectory(problem: Problem, task_id: str) -> dict[str, Any]:
    otype, target = (name.removesuffix("Type") for name in problem.goal[1:])
    # The fields that ALFWorld's loader reads from ALFRED's trajectories.
    under_lamp = problem.goal.task_type == "look_at_obj_in_light"
    return {
        "task_id": task_id.rpartition("/")[2],
        "task_type": problem.goal.task_type,
        "pddl_params": {
            "object_target": otype,
            "object_sliced": False,
            "parent_target": "" if under_lamp else target,
            "toggle_target": target if under_lamp else "",
            "mrecep_target": "",
        },
    }


def _write_json(file: Path, value: dict[str, Any]) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8", newline="\n")
