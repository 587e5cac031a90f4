from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import gymnasium as gym
import pytest

from tests.envs.alfworld.judge import OFFICIAL
from textcraft_gym import UnknownName, tasks
from textcraft_gym.envs.alfworld.export import export_game
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, GameError, read_game
from textcraft_gym.envs.alfworld.reasons import REASONS


def make(**arguments):
    return gym.make("ALFWorld-v0", max_episode_steps=-1, **arguments)


def test_tasks__of_the_splits_are_of_all_six_types():
    for split, count in (
        ("train", 3600),
        ("valid_seen", 140),
        ("valid_unseen", 134),
        ("dev", 60),
        ("all", 3874),
    ):
        split_tasks = tasks("ALFWorld-v0", split)
        assert len(split_tasks) == len({task.id for task in split_tasks}) == count
        assert set(Counter(task.task_type for task in split_tasks)) == set(TASK_TYPES)
    assert set(Counter(task.task_type for task in tasks("ALFWorld-v0", "dev")).values()) == {10}
    assert {task.depth for task in split_tasks} == {2, 3, 4}


@pytest.mark.parametrize("split", ["valid_seen", "valid_unseen"])
def test_expert__solves_every_made_game_in_its_plans_length(split: str):
    env = make(split=split, expert=True)
    for task in env.get_wrapper_attr("tasks"):
        _, info = env.reset(seed=0, options={"task": task.id})
        assert not info["won"]
        for command in info["expert_plan"]:
            _, reward, terminated, _, info = env.step(command)
        assert (reward, terminated, info["won"]) == (1.0, True, True)
        assert task.optimal_length >= 3


def test_env__takes_difficulty_types_and_any_made_task():
    env = make(
        split="dev",
        task_types=["pick_two_obj_and_place"],
        receptacles=10,
        distractors=3,
        hidden=100,
    )
    assert len(env.get_wrapper_attr("tasks")) == 10
    observation, info = env.reset(seed=1)
    assert info["task_type"] == "pick_two_obj_and_place"
    assert info["task"].endswith("_receptacles10_distractors3_hidden100")
    assert observation.partition("you see ")[2].partition(".")[0].count(", ") == 9
    other = tasks("ALFWorld-v0", "train")[7]
    assert env.reset(options={"task": other.id})[1]["task"] == other.id


def test_env__says_why_nothing_happened():
    env = make()
    env.reset(seed=0)
    answer, _, _, _, info = env.step("take apple 1 from fridge 99")
    assert (answer, info["invalid_reason"]) == ("Nothing happens.", "no_such_thing")
    assert info["invalid_reason"] in REASONS
    assert "invalid_reason" not in env.step("look")[4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dialect": "say"}, "dialect"),
        ({"engine": "inform"}, "engine"),
        ({"task_types": ["pick_heat"]}, "unknown task type 'pick_heat'"),
        ({"games": "nowhere"}, "no such file or folder: nowhere"),
        ({"receptacles": 3}, "receptacles"),
        ({"hidden": 101}, "hidden"),
    ],
)
def test_env__says_what_is_wrong_with_its_arguments(arguments: dict, message: str):
    with pytest.raises((UnknownName, GameError), match=message):
        make(**arguments)


def test_env__says_where_official_games_would_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "data"))
    with pytest.raises(GameError, match="alfworld-download"):
        make(games="official")


@pytest.mark.official_games
def test_env__plays_official_games_as_their_walkthroughs_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALFWORLD_DATA", str(OFFICIAL))
    env = make(games="official", split="train", expert=True)
    assert len(env.get_wrapper_attr("tasks")) == 12
    for task in env.get_wrapper_attr("tasks"):
        _, info = env.reset(options={"task": task.id})
        assert info["gamefile"] == str(task.file)
        script = json.loads(task.file.read_text())["walkthrough"]
        assert len(info["expert_plan"]) <= len(script)
        for command in script:
            _, _, terminated, _, info = env.step(command)
        assert terminated
        _, info = env.reset(options={"task": task.id})
        for command in info["expert_plan"]:
            _, _, terminated, _, _ = env.step(command)
        assert terminated
    with pytest.raises(UnknownName, match="Possible: train"):
        make(games="official", split="valid_seen")


def test_env__takes_one_task_type_or_several():
    chosen = make(split="dev", task_types="pick_two_obj_and_place").get_wrapper_attr("tasks")
    assert chosen == make(split="dev", task_types=["pick_two_obj_and_place"]).get_wrapper_attr(
        "tasks"
    )
    assert len(chosen) == 10
    with pytest.raises(UnknownName, match="unknown task type 'pick_two'"):
        make(task_types="pick_two")


def test_folder__without_splits_is_none_of_games(tmp_path: Path):
    with pytest.raises(GameError, match="has none of the folders train, valid_seen, valid_unseen"):
        make(games=tmp_path)


def spoil(data: dict, problem: str | None = None, **changes: object) -> str:
    return json.dumps(
        {**data, **({"pddl_problem": problem} if problem is not None else {}), **changes}
    )


@pytest.mark.official_games
def test_folder__with_bad_games_plays_the_others_and_lists_what_is_wrong(tmp_path: Path):
    files = sorted(OFFICIAL.rglob("game.tw-pddl"))
    data = json.loads(files[2].read_text())
    text = data["pddl_problem"]
    at = "(receptacleAtLocation "
    receptacle = text.split(at)[1].split()[0]
    places = [word.rstrip(")") for word in text.split() if word.startswith("loc_")]
    twice = " ".join(f"{at}{receptacle} {place})" for place in sorted(set(places))[:2])
    clock, desk = (text.split(f"({kind}Type ")[1:] for kind in ("object", "receptacle"))
    clock = next(
        fragment.split()[0] for fragment in clock if "AlarmClockType)" in fragment[:200].split()
    )
    desk = next(fragment.split()[0] for fragment in desk if "DeskType)" in fragment[:200].split())
    bad = {
        "already_won": spoil(
            data, text.replace("(:init", f"(:init (inReceptacle {clock} {desk})", 1)
        ),
        "cut": files[2].read_text()[:-200],
        "not_json": "alfworld",
        "other_domain": spoil(data, pddl_domain="(define (domain chess))"),
        "other_grammar": spoil(
            data, grammar=data["grammar"].replace("You arrive at", "You are at")
        ),
        "cut_problem": spoil(data, text[: len(text) // 2]),
        "unknown_sort": spoil(data, text.replace("- location", "- place", 1)),
        "unknown_fact": spoil(data, text.replace("(pickupable ", "(edible ", 1)),
        "unknown_thing": spoil(data, text.replace("(:init", "(:init (pickupable Ghost_bar_1)", 1)),
        "unknown_goal": spoil(data, text.replace("(inReceptacle ?o ?r)", "(holds ?a ?o)")),
        "two_places": spoil(data, text.replace("(:init", f"(:init {twice}", 1)),
        "out_of_reach": spoil(
            data, text.replace("(pickupable AlarmClock", "(toggleable AlarmClock")
        ),
    }
    for name, content in {**bad, "good": files[2].read_text()}.items():
        folder = tmp_path / "train" / name / "trial"
        folder.mkdir(parents=True)
        (folder / "game.tw-pddl").write_text(content)
    with pytest.warns(UserWarning, match=f"skipped {len(bad)} of {len(bad) + 1} games"):
        env = make(games=tmp_path, split="train")
    assert [task.id for task in env.get_wrapper_attr("tasks")] == ["good/trial"]
    skipped = env.get_wrapper_attr("games").skipped
    assert len(skipped) == len(bad)
    for name in bad:
        assert sum(f"{name}/trial" in line for line in skipped) == 1, name
        if name not in ("already_won", "out_of_reach", "two_places"):
            with pytest.raises(GameError, match=name):
                read_game(tmp_path / "train" / name / "trial" / "game.tw-pddl")


@pytest.mark.real_engine
def test_content__is_that_of_the_game_whatever_it_is_called(tmp_path: Path):
    made, other = tasks("ALFWorld-v0", "train")[:2]
    export_game(generate(made.id), "called/otherwise", tmp_path / "valid_unseen", [])
    (read,) = tasks("ALFWorld-v0", "valid_unseen", games=tmp_path)
    assert read.id == "called/otherwise"
    assert read.content == made.content != other.content
