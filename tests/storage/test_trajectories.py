"""The formats of dialogues, and the file that they are written to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from textcraft_gym import UnknownName
from textcraft_gym.storage.trajectories import (
    FORMATS,
    Trajectory,
    find_format,
    rows,
    write_trajectories,
)

TRAJECTORY = Trajectory(
    "Shop-v0",
    "a cup",
    7,
    [("page 1", "click[cup]"), ("page 2", "click[buy now]")],
    won=True,
    reward=1,
    system="You shop.",
    about={"split": "train"},
)
SYSTEM = {"role": "system", "content": "You shop."}
SAID = [
    {"role": "user", "content": "page 1"},
    {"role": "assistant", "content": "click[cup]"},
    {"role": "user", "content": "page 2"},
    {"role": "assistant", "content": "click[buy now]"},
]
ABOUT = {
    "item_id": "Shop-v0/a cup",
    "env": "Shop-v0",
    "task": "a cup",
    "seed": 7,
    "split": "train",
    "won": True,
    "reward": 1.0,
}
DIALOGUES = {
    "openai": [{"messages": [SYSTEM, *SAID]}],
    "sharegpt": [
        {
            "system": "You shop.",
            "conversations": [
                {"from": "human", "value": "page 1", "loss": False},
                {"from": "gpt", "value": "click[cup]", "loss": True},
                {"from": "human", "value": "page 2", "loss": False},
                {"from": "gpt", "value": "click[buy now]", "loss": True},
            ],
        }
    ],
    "trl": [
        {"prompt": [SYSTEM, SAID[0]], "completion": [SAID[1]]},
        {"prompt": [SYSTEM, *SAID[:3]], "completion": [SAID[3]]},
    ],
    "verl": [
        {
            "messages": [SYSTEM, *SAID],
            "data_source": "Shop-v0",
            "prompt": [SYSTEM, SAID[0]],
            "ability": "game",
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": ABOUT,
        }
    ],
}


@pytest.mark.parametrize("format", FORMATS)
def test_format__describes_the_episode_and_tells_it(format: str):
    assert rows(TRAJECTORY, FORMATS[format]) == [
        {**ABOUT, **dialogue} for dialogue in DIALOGUES[format]
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_format__without_a_manual_has_no_system_message(format: str):
    records = rows(replace(TRAJECTORY, system=""), FORMATS[format])
    messages = [
        said
        for row in records
        for key in ("messages", "prompt", "completion")
        for said in row.get(key, [])
    ]
    assert "system" not in {message["role"] for message in messages}
    assert records[0].get("prompt", SAID[:1]) == SAID[:1]
    assert records[0].get("system", "") == ""


def test_row__of_a_world_without_tasks_is_named_by_its_seed():
    (row,) = rows(replace(TRAJECTORY, task=None, won=None), FORMATS["openai"])
    assert (row["item_id"], row["task"], row["won"]) == ("Shop-v0/seed 7", None, None)


def test_find_format__refuses_another_name():
    with pytest.raises(UnknownName, match=r"unknown format 'opanai'.*Did you mean openai"):
        find_format("opanai")


def test_write_trajectories__counts_and_leaves_no_half_file(tmp_path: Path):
    def broken() -> Iterator[Trajectory]:
        yield TRAJECTORY
        raise RuntimeError("out of paper")

    file = tmp_path / "demos.jsonl"
    with pytest.raises(RuntimeError, match="out of paper"):
        write_trajectories(broken(), file)
    with pytest.raises(UnknownName, match="chatml"):
        write_trajectories(iter([TRAJECTORY]), file, "chatml")
    assert list(tmp_path.iterdir()) == []
    assert write_trajectories(iter([TRAJECTORY, None, TRAJECTORY]), file, "trl") == (2, 1)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert lines == rows(TRAJECTORY, FORMATS["trl"]) * 2


@pytest.mark.parametrize("format", FORMATS)
def test_write_trajectories__writes_what_every_reader_decodes(format: str, tmp_path: Path):
    odd = replace(TRAJECTORY, turns=[("caf\u00e9 \U0001fab5\u2028", "half \ud800\0")])
    write_trajectories([odd], tmp_path / "odd.jsonl", format)
    (line,) = (tmp_path / "odd.jsonl").read_bytes().splitlines()
    text = json.dumps(json.loads(line), ensure_ascii=False)
    text.encode()  # half a surrogate pair would raise here
    assert "caf\u00e9 \U0001fab5\u2028" in text
    assert "half ?" in text
