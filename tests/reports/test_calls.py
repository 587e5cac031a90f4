from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym.episodes.calls import Call
from textcraft_gym.errors import RunError
from textcraft_gym.reports.calls import FILE, Calls, _calls, lines_of, member, read_calls
from textcraft_gym.reports.records import SCHEMA
from textcraft_gym.storage.frames import frame

BEGUN = "You are in the middle of a room. " * 3
TEXTS = st.text(max_size=40).map(lambda text: BEGUN + text)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": TEXTS}),
    max_size=6,
)


def begin(folder: Path) -> None:
    """Make it the folder of a run."""
    (folder / "config.json").write_text(json.dumps({"schema": SCHEMA}))


@settings(max_examples=30)
@given(st.lists(st.one_of(TEXTS, st.text(), MESSAGES), max_size=12))
def test_calls__are_read_as_they_were_written(prompts: list[Any]):
    calls = [Call("executor", prompt, f"look {prompt}") for prompt in prompts]
    lines = lines_of(calls)
    assert _calls([json.loads(line) for line in lines.splitlines()]) == calls


def test_calls__of_a_dialogue_repeat_none_of_it():
    dialogue, calls = BEGUN, []
    for turn in range(300):
        dialogue += f"\n> look at {turn}\nNothing happens."
        calls.append(Call("executor", dialogue))
    assert len(lines_of(calls)) < 300 * 400 < sum(len(call.prompt) for call in calls) / 10


def test_calls__are_read_by_the_key_of_the_episode_the_last_attempt(tmp_path: Path):
    first, again = [Call("executor", "a")], [Call("executor", "b"), Call("planner", "c")]
    other = [Call("executor", "d")]
    begin(tmp_path)
    with (tmp_path / FILE).open("wb") as file:
        for key, calls in ((("t", 0), first), (("t", 1), other), (("t", 0), again)):
            file.write(member(key, lines_of(calls)))
    calls = Calls(tmp_path)
    assert dict(calls) == {("t", 0): again, ("t", 1): other}
    assert read_calls(tmp_path, ("t", 0)) == again
    # It is a gzip file of JSON lines for anybody else.
    lines = gzip.decompress((tmp_path / FILE).read_bytes()).splitlines()
    assert [json.loads(line).get("task") for line in lines if b'"task"' in line] == ["t", "t", "t"]


@pytest.mark.parametrize("key", ["t", ("t",), ("t", "0"), (0, "t"), ("t", 0, 0), None])
def test_read_calls__takes_a_task_and_a_repeat(tmp_path: Path, key: Any):
    begin(tmp_path)
    with pytest.raises(ValueError, match=r"expected a key \(task, repeat\) of an episode, got"):
        read_calls(tmp_path, key)


def test_read_calls__names_the_run_or_the_episode_that_there_is_not(tmp_path: Path):
    with pytest.raises(RunError, match=r"none is not a run folder: .* no such file"):
        read_calls(tmp_path / "none", ("t", 0))
    begin(tmp_path)
    with pytest.raises(RunError, match=r"has no episode \('t', 0\)"):
        read_calls(tmp_path, ("t", 0))


CALL = json.loads(lines_of([Call("executor", "a")]))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (b"{", "Expecting"),
        (b"[" * 9999, "calls of"),
        (json.dumps({**CALL, "cost": "1"}).encode(), "expected cost of type float, got '1'"),
        (json.dumps({**CALL, "x": 1}).encode(), "expected a call"),
        (json.dumps({**CALL, "prompt": {"call": 0, "keep": 1, "add": ""}}).encode(), "before it"),
        (json.dumps({**CALL, "prompt": {"call": 0, "keep": 1}}).encode(), "expected prompt"),
    ],
)
def test_calls__that_are_damaged_are_named_in_a_line(tmp_path: Path, text: bytes, wrong: str):
    head = b'{"task": "t", "repeat": 0}\n'
    begin(tmp_path)
    (tmp_path / FILE).write_bytes(frame(head + text) + frame(b"no key\n") + frame(head[:-1]))
    with pytest.raises(RunError, match=wrong) as caught:
        read_calls(tmp_path, ("t", 0))
    assert "\n" not in str(caught.value)


def test_calls__cannot_exhaust_the_memory(tmp_path: Path):
    lines = [{**CALL, "prompt": "a" * (1 << 22)}]
    lines += [{**CALL, "prompt": {"call": 0, "keep": 1 << 22, "add": ""}}] * 400
    text = "".join(json.dumps(line) + "\n" for line in lines)
    begin(tmp_path)
    (tmp_path / FILE).write_bytes(member(("t", 0), text))
    with pytest.raises(RunError, match="too long"):
        read_calls(tmp_path, ("t", 0))
