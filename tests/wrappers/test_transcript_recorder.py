"""Episodes in a file."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import gymnasium as gym
import pytest

from tests.wrappers.worlds import Corridor, easy
from textcraft_gym import UnknownName
from textcraft_gym.registration import find
from textcraft_gym.storage.trajectories import FORMATS, Trajectory, rows
from textcraft_gym.wrappers import ActionMasking, ThinkActions, TranscriptRecorder


def lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_turns__are_written_as_they_were_played(tmp_path):
    file = tmp_path / "new" / "folder" / "played.jsonl"
    env = TranscriptRecorder(find("TextCraft-v0").make(expert=True), file)
    observation, info = env.reset(seed=3, options={"task": easy("TextCraft-v0")})
    turns = []
    beginning = observation
    for action in ("think 🪵 \ud800", *info["expert_plan"]):
        assert not file.exists()
        observation, reward, *_ = env.step(action)
        turns.append({"action": action, "observation": observation, "reward": reward})
    assert lines(file) == [
        {
            "task": easy("TextCraft-v0"),
            "seed": 3,
            "won": True,
            "reward": 1.0,
            "stop_reason": "terminated",
            "beginning": beginning,
            "turns": turns,
        }
    ]
    env.reset()
    env.close()
    assert len(lines(file)) == 1


@pytest.mark.parametrize("style", FORMATS)
def test_dialogue__is_what_was_said_in_the_formats_of_trainers(style, tmp_path):
    file = tmp_path / "talk.jsonl"
    env = TranscriptRecorder(ThinkActions(Corridor(rooms=2)), file, style=style, system="Walk.")
    env.reset(seed=0)
    for action in ("think: on", "on", "on"):
        env.step(action)
    said = [("room 0", "think: on"), ("OK.", "on"), ("room 1", "on")]
    about = {"stop_reason": "terminated"}
    trajectory = Trajectory(
        "Corridor", None, 0, said, won=None, reward=1, system="Walk.", about=about
    )
    assert lines(file) == rows(trajectory, FORMATS[style])
    env = TranscriptRecorder(find("TextCraft-v0").make(), file, style=style)
    env.reset(seed=1, options={"task": easy("TextCraft-v0")})
    env.step("inventory")
    env.close()
    assert lines(file)[-1]["item_id"] == f"TextCraft-v0/{easy('TextCraft-v0')}"
    assert lines(file)[-1]["stop_reason"] == "left"


def test_episode__that_is_truncated_or_left_is_written_once(tmp_path):
    file = tmp_path / "played.jsonl"
    env = TranscriptRecorder(gym.make("TextCraft-v0", max_episode_steps=2), file)
    env.reset(seed=0)
    for _ in range(4):
        env.step("inventory")
    env.reset(seed=1)
    env.step("inventory")
    env.step("look")
    env.reset()
    env.reset()
    env.close()
    assert [
        (episode["stop_reason"], episode["seed"], len(episode["turns"])) for episode in lines(file)
    ] == [
        ("truncated", 0, 2),
        ("truncated", 1, 2),
    ]
    env = TranscriptRecorder(find("TextCraft-v0").make(), file)
    for _ in range(2):
        env.reset(seed=5)
        env.step("inventory")
        with pytest.raises(UnknownName):
            env.reset(options={"task": "nothing"})
        env.step("inventory")
    assert lines(file)[-1]["stop_reason"] == "left"
    env.close()
    assert [(episode["stop_reason"], len(episode["turns"])) for episode in lines(file)[2:]] == [
        ("left", 2)
    ] * 2


def test_restore__takes_back_what_was_played_since(tmp_path):
    env = TranscriptRecorder(find("TextCraft-v0").make(expert=True), tmp_path / "played.jsonl")
    plan = env.reset(seed=0)[1]["expert_plan"]
    env.step(plan[0])
    snapshot = env.snapshot()
    env.step("inventory")
    for _ in range(2):
        env.restore(snapshot)
        for action in plan[1:]:
            env.step(action)
    assert [
        [turn["action"] for turn in episode["turns"]]
        for episode in lines(tmp_path / "played.jsonl")
    ] == [plan] * 2


def test_file__is_shared_by_processes(tmp_path):
    file = tmp_path / "played.jsonl"
    wrappers = (partial(TranscriptRecorder, path=file),)
    vector = gym.make_vec("TextCraft-v0", 3, "async", wrappers=wrappers, max_episode_steps=20)
    vector.reset(seed=0)
    for _ in range(200):
        vector.step(["inventory" + "!" * 3000] * 3)
    vector.close()
    assert len(lines(file)) > 25
    assert {episode["stop_reason"] for episode in lines(file)} <= {"truncated", "left"}


def test_arguments__that_are_wrong_raise(tmp_path):
    with pytest.raises(
        UnknownName, match=r"unknown style 'xml'.*turns, openai, sharegpt, trl, verl"
    ):
        TranscriptRecorder(Corridor(), tmp_path / "a", style="xml")
    with pytest.raises(ValueError, match="got the folder"):
        TranscriptRecorder(Corridor(), tmp_path)
    with pytest.raises(ValueError, match="actions of text"):
        TranscriptRecorder(ActionMasking(Corridor(admissible=True), 3), tmp_path / "a")
