"""Generated games as files: they read back as they were, and the real engine plays them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest

from textcraft_gym.envs.alfworld import export
from textcraft_gym.envs.alfworld.export import export_game, installed_logic, write_problem
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import (
    TASK_TYPES,
    GameError,
    Problem,
    parse_problem,
    read_game,
)
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import make_id

LOADER = {
    "general": {"training_method": "dqn"},
    "env": {"goal_desc_human_anns_prob": 0, "task_types": [1, 2, 3, 4, 5, 6]},
}


def names(problem: Problem) -> dict[str, str]:
    """What the player calls each thing."""
    ids = sorted(
        {thing for fact in problem.facts for thing in fact[1:] if "_bar_" in thing}, key=str.lower
    )
    kinds = [
        thing.split("_bar_")[0].lower() + "basin" * ("basin" in thing.lower()) for thing in ids
    ]
    left = Counter(kinds)
    called = {}
    for thing, kind in zip(ids, kinds, strict=True):
        called[thing] = f"{kind} {left[kind]}"
        left[kind] -= 1
    return called


def walkthrough(problem: Problem) -> list[str]:
    """Commands that win, made from the facts one object at a time."""
    arguments = defaultdict(list)
    for predicate, *ids in problem.facts:
        arguments[predicate].append(ids)
    called, rtypes, inside = (
        names(problem),
        dict(arguments["receptacleType"]),
        dict(arguments["inReceptacle"]),
    )
    openable = {id for (id,) in arguments["openable"]}
    task_type, otype, target = problem.goal
    here, commands = "", []

    def reach(receptacle: str) -> None:
        nonlocal here
        place = dict(arguments["receptacleAtLocation"])[receptacle]
        if place != here:
            commands.append(f"go to {called[receptacle]}")
            here = place

    def open_up(receptacle: str) -> None:
        reach(receptacle)
        if receptacle in openable:
            openable.remove(receptacle)
            commands.append(f"open {called[receptacle]}")

    objects = [thing for thing, id in arguments["objectType"] if id == otype]
    targets = [id for id, rtype in rtypes.items() if rtype == target]
    for thing in objects[: 2 if task_type == "pick_two_obj_and_place" else 1]:
        open_up(inside[thing])
        commands.append(f"take {called[thing]} from {called[inside[thing]]}")
        for word, kind in (
            ("clean", "SinkBasinType"),
            ("heat", "MicrowaveType"),
            ("cool", "FridgeType"),
        ):
            if word in task_type:
                appliance = next(id for id, rtype in rtypes.items() if rtype == kind)
                reach(appliance)
                commands.append(f"{word} {called[thing]} with {called[appliance]}")
        if targets:
            open_up(targets[0])
            commands.append(f"move {called[thing]} to {called[targets[0]]}")
        else:
            lamp = next(thing for thing, id in arguments["objectType"] if id == target)
            reach(inside[lamp])
            commands.append(f"use {called[lamp]}")
    return commands


def test_write_problem__reads_back_as_it_was():
    for split in ("train", "valid_unseen"):
        for task_id in split_ids(split)[:60]:
            problem = generate(task_id)
            again = parse_problem(write_problem(problem, "p"), problem.task)
            assert again == problem
            assert list(again.things.items()) == list(problem.things.items())


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("", "expected an id"),
        ("trial", "expected an id"),
        ("../trial", "expected an id"),
        ("a/b/c", "expected an id"),
        ("pick_and_place_with_movable_recep-1/trial", "movable"),
        ("pick_and_place_simple-AppleSliced-1/trial", "Sliced"),
    ],
)
def test_export_game__refuses_ids_that_the_loader_would_pass_over(task_id, message, tmp_path):
    with pytest.raises(GameError, match=message):
        export_game(generate(split_ids("train")[0]), task_id, tmp_path, [])
    assert not list(tmp_path.iterdir())


def test_export_game__says_what_to_install(tmp_path, monkeypatch):
    installed_logic.cache_clear()
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    with pytest.raises(GameError, match=r"\.\[alfworld\]' in a clone"):
        export_game(generate(split_ids("train")[0]), "task/trial", tmp_path, [])
    assert not list(tmp_path.iterdir())
    installed_logic.cache_clear()


@pytest.mark.real_engine
@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_export_game__writes_what_is_read_as_an_official_game(task_type, tmp_path):
    task_id = next(task_id for task_id in split_ids("train") if task_id.startswith(task_type))
    problem = generate(task_id)
    file = export_game(problem, task_id, tmp_path, walkthrough(problem))
    assert file == tmp_path / task_id / "game.tw-pddl"
    assert read_game(file) == problem
    game = json.loads(file.read_text(encoding="utf-8"))
    assert (game["solvable"], game["walkthrough"]) == (True, walkthrough(problem))
    assert f'"Your task is to: {problem.task}"' in game["grammar"]
    data = json.loads(file.with_name("traj_data.json").read_text(encoding="utf-8"))
    otype, target = (name.removesuffix("Type") for name in problem.goal[1:])
    where = "toggle_target" if task_type == "look_at_obj_in_light" else "parent_target"
    assert data["task_type"] == task_type
    assert data["pddl_params"]["object_target"] == otype
    assert data["pddl_params"][where] == target


@pytest.mark.real_engine
def test_installed_logic__does_not_import_the_package():
    installed_logic.cache_clear()
    assert "(define (domain alfred)" in installed_logic().domain
    assert "UNKNOWN GOAL" in installed_logic().grammar


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task_type", ["pick_heat_then_place_in_recep", "look_at_obj_in_light"])
def test_export_game__is_won_in_textworld(task_type, tmp_path):
    import textworld
    from alfworld.agents.environment import alfred_tw_env as environment

    task_id = make_id(task_type, 30 if "heat" in task_type else 330, 1)
    problem = generate(task_id)
    file = export_game(problem, task_id, tmp_path, walkthrough(problem))
    infos = textworld.EnvInfos(won=True, feedback=True)
    engine = textworld.start(str(file), infos, wrappers=[environment.AlfredDemangler])
    state = engine.reset()
    assert state.feedback.startswith(
        "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. "
    )
    assert state.feedback.endswith(f"Your task is to: {problem.task}")
    assert not state.won
    for command in walkthrough(problem):
        assert not state.won
        state, _, done = engine.step(command)
        assert state.feedback != "Nothing happens.", command
    assert state.won
    assert done


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_export_game__is_found_by_the_official_loader(tmp_path):
    from alfworld.agents.environment import alfred_tw_env as environment

    ids = split_ids("valid_unseen")[:12]
    files = {str(export_game(generate(task_id), task_id, tmp_path, ["look"])) for task_id in ids}
    dataset = {"data_path": str(tmp_path), "num_train_games": -1}
    assert set(environment.AlfredTWEnv({**LOADER, "dataset": dataset}).game_files) == files
