from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path

import gymnasium as gym
import pytest

import textcraft_gym
from textcraft_gym import UnknownName, run_episode, tasks
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.agents.games import load_profile
from textcraft_gym.cli.demonstrations import THINK, demonstrations, expert_trajectories
from textcraft_gym.manual import manual
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.storage.trajectories import FORMATS, Row, write_trajectories
from textcraft_gym.task import task_hash

GOLDEN = Path(__file__).parent / "golden" / "demonstrations.txt"
TEST_SPLITS = {
    "ALFWorld-v0": ("valid_seen", "valid_unseen"),
    "WebShopLite-v0": ("test", "dev"),
    "HotpotQA-v0": ("test", "dev"),
    "Tabletop-v0": ("paper", "test"),
}


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The split to learn from in each environment; TextCraft has none until one is made, others
    none."""
    made = {}
    for env_id in ("TextCraft-v0", "TextCraftTags-v0"):
        file = tmp_path_factory.mktemp("splits") / "my.jsonl"
        textcraft_gym.make_splits(env_id, out=file)
        made[env_id] = f"{file}:train"
    return (
        dict.fromkeys(BUNDLED, "train") | {"MineTechTree-v0": "core71", "Tabletop-v0": "dev"} | made
    )


def actions(demonstration: Row) -> list[str]:
    said = [turn["value"] for turn in demonstration["conversations"] if turn["from"] == "gpt"]
    return [line for line in said if not line.startswith("think: ")]


@pytest.mark.parametrize("env_id", BUNDLED)
@pytest.mark.parametrize("thoughts", [False, True])
def test_demonstrations__replay_to_a_win(env_id: str, thoughts: bool, train: dict[str, str]):
    env = gym.make(env_id, split=train[env_id])
    trajectories = list(demonstrations(env_id, train[env_id], thoughts=thoughts, seed=5, limit=60))
    assert [trajectory["task"] for trajectory in trajectories] == [
        task.id for task in tasks(env_id, train[env_id])[:60]
    ]
    for trajectory in trajectories:
        assert (trajectory["env"], trajectory["split"], trajectory["seed"], trajectory["won"]) == (
            env_id,
            train[env_id],
            5,
            True,
        )
        played = actions(trajectory)
        assert len(played) == trajectory["optimal_length"]
        observation, info = env.reset(seed=5, options={"task": trajectory["task"]})
        heard = [observation]
        for action in played:
            observation, *_, info = env.step(action)
            heard.append(observation)
        assert info["won"]
        assert heard[:-1] == [
            turn["value"]
            for turn in trajectory["conversations"]
            if turn["from"] == "human" and turn["value"] != "OK."
        ]


@pytest.mark.parametrize("env_id", BUNDLED)
def test_demonstrations__are_dialogues_in_which_only_what_is_said_is_learnt(
    env_id: str, train: dict[str, str]
):
    for trajectory in demonstrations(env_id, train[env_id], thoughts=True, limit=20):
        turns = trajectory["conversations"]
        assert [turn["from"] for turn in turns] == ["human", "gpt"] * (len(turns) // 2)
        assert [turn["loss"] for turn in turns] == [turn["from"] == "gpt" for turn in turns]
        said = [turn["value"] for turn in turns if turn["from"] == "gpt"]
        assert said[0].startswith("think: ")
        assert not any("\n" in line for line in said)


class Reciting:
    """A model that says one line after the other."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = iter(lines)

    def complete(self, prompt, **how):
        return Completion(next(self.lines))


@pytest.mark.parametrize("env_id", BUNDLED)
def test_demonstrations__think_as_react_reads_it(env_id: str, train: dict[str, str]):
    env = gym.make(env_id, split=train[env_id])
    agent = ReActAgent(load_profile(find(env_id).profile))
    for trajectory in demonstrations(env_id, train[env_id], thoughts=True, limit=5):
        said = [turn["value"] for turn in trajectory["conversations"] if turn["from"] == "gpt"]
        episode = run_episode(
            env, agent, task=trajectory["task"], seed=trajectory["seed"], model=Reciting(said)
        )
        assert episode.won
        assert episode.steps == trajectory["optimal_length"]


@pytest.mark.parametrize("env_id", [env_id for env_id in BUNDLED if env_id != "MineTechTree-v0"])
def test_demonstrations__of_train_contain_no_test_task(env_id: str, train: dict[str, str]):
    """Demonstrations have the hashes of their tasks, and no task of train has the hash of one to be
    tested on."""
    others = TEST_SPLITS.get(env_id) or [
        train[env_id].replace(":train", f":{split}") for split in ("dev", "test")
    ]
    learnt = {task_hash(env_id, task) for task in tasks(env_id, train[env_id])}
    tested = {task_hash(env_id, task) for split in others for task in tasks(env_id, split)}
    assert len(learnt) == len(tasks(env_id, train[env_id]))
    assert not learnt & tested
    shown = {
        trajectory["task_hash"] for trajectory in demonstrations(env_id, train[env_id], limit=40)
    }
    assert len(shown) == 40
    assert shown <= learnt
    assert {
        trajectory["task_hash"] for trajectory in demonstrations(env_id, others[-1], limit=40)
    } <= tested


def test_task_hash__is_the_same_in_every_split_and_of_one_environment():
    (everywhere,) = [
        task for task in tasks("TextCraft-v0", "all") if task.id == "minecraft:andesite_wall"
    ]
    (of_test,) = [
        task for task in tasks("TextCraft-v0", "test") if task.id == "minecraft:andesite_wall"
    ]
    assert task_hash("TextCraft-v0", everywhere) == task_hash("TextCraft-v0", of_test)
    assert task_hash("TextCraftTags-v0", of_test) != task_hash("TextCraft-v0", of_test)


def test_demonstrations__are_worded_as_ever():
    """One of each kind; to renew: write what the test computes."""
    wanted = {
        "TextCraft-v0": ("test", ["minecraft:andesite_wall", "minecraft:bookshelf"]),
        "ALFWorld-v0": ("train", [task.id for task in tasks("ALFWorld-v0", "train")[:12]]),
        "WebShopLite-v0": ("train", [task.id for task in tasks("WebShopLite-v0", "train")[:3]]),
    }
    said: list[str] = []
    for env_id, (split, ids) in wanted.items():
        for trajectory in demonstrations(env_id, split, thoughts=True):
            if trajectory["task"] in ids:
                said += [
                    trajectory["item_id"],
                    *[
                        turn["value"]
                        for turn in trajectory["conversations"]
                        if turn["from"] == "gpt"
                    ],
                    "",
                ]
            if trajectory["task"] == ids[-1]:
                break
    assert "\n".join(said) == GOLDEN.read_text(encoding="utf-8")


def test_demonstrations__of_old_wording_have_thoughts_too():
    for dialect, verb in (("0.4", "move"), ("0.3", "put")):
        (trajectory,) = demonstrations(
            "ALFWorld-v0", "train", thoughts=True, limit=1, dialect=dialect
        )
        said = [turn["value"] for turn in trajectory["conversations"] if turn["from"] == "gpt"]
        assert said[-3].startswith("think: I hold remotecontrol 1, which belongs in or on shelf 13")
        assert said[-1].startswith(verb)


@pytest.mark.parametrize("format", FORMATS)
def test_demonstrations__say_the_same_in_every_format(format: str):
    (trajectory,) = demonstrations("ALFWorld-v0", "train", thoughts=True, limit=1, dialect="0.3")
    rows = list(
        demonstrations("ALFWorld-v0", "train", format=format, thoughts=True, limit=1, dialect="0.3")
    )
    assert trajectory["system"] == manual("ALFWorld-v0", dialect="0.3") + THINK
    assert "put {thing} in/on {place}" in trajectory["system"]
    names = {"human": "user", "gpt": "assistant"}
    spoken = [
        {"role": names[said["from"]], "content": said["value"]}
        for said in trajectory["conversations"]
    ]
    messages = [{"role": "system", "content": trajectory["system"]}, *spoken]
    whole = {
        "openai": {"messages": messages},
        "sharegpt": {"conversations": trajectory["conversations"]},
        "trl": {"prompt": messages[:-1], "completion": messages[-1:]},
        "verl": {"messages": messages, "prompt": messages[:2]},
    }[format]
    assert {name: rows[-1][name] for name in whole} == whole
    kept = (
        "item_id",
        "env",
        "split",
        "seed",
        "task",
        "task_hash",
        "optimal_length",
        "won",
        "reward",
    )
    assert [[row[name] for name in kept] for row in rows] == [
        [trajectory[name] for name in kept]
    ] * len(rows)


def test_demonstrations__are_the_same_bytes_in_every_process(tmp_path: Path):
    for env_id, split in (
        ("TextCraft-v0", "test"),
        ("ALFWorld-v0", "train"),
        ("WebShopLite-v0", "train"),
    ):
        trajectories = expert_trajectories(env_id, split, thoughts=True, limit=12)
        write_trajectories(trajectories, tmp_path / "here.jsonl")
        code = (
            "import sys; from textcraft_gym.cli.demonstrations import *;"
            "from textcraft_gym.storage.trajectories import *;"
            f"found = expert_trajectories({env_id!r}, {split!r}, thoughts=True, limit=12);"
            "write_trajectories(found, sys.argv[1])"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "there.jsonl")]
        subprocess.run(command, check=True, env={"PYTHONHASHSEED": "1"})
        assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()


def test_demonstrations__leave_out_what_the_expert_does_not_win():
    (trajectory,) = demonstrations("ALFWorld-v0", "train", limit=1)
    assert trajectory["won"]
    short = gym.registry["ALFWorld-v0"]
    limit, short.max_episode_steps = short.max_episode_steps, 4
    try:
        assert list(demonstrations("ALFWorld-v0", "train", limit=1)) == [None]
    finally:
        short.max_episode_steps = limit


def test_demonstrations__refuse_what_makes_no_sense():
    for wrong, said in (({"limit": 0}, "limit of 1 or more"), ({"seed": -1}, "seed of 0 or more")):
        with pytest.raises(ValueError, match=said):
            next(demonstrations("TextCraft-v0", **wrong))
    with pytest.raises(UnknownName, match="train"):
        next(demonstrations("TextCraft-v0", "tarin"))
    with pytest.raises(UnknownName, match=r"unknown format 'chatml'.*openai, sharegpt, trl, verl"):
        next(demonstrations("TextCraft-v0", format="chatml"))
    with pytest.raises(UnknownName, match="TextCraft-v9"):
        next(demonstrations("TextCraft-v9"))
    assert len(list(islice(demonstrations("TextCraft-v0"), 3))) == 3
