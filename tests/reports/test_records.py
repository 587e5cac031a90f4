from __future__ import annotations

import errno
import json
import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym import RunSpec, evaluate, optimise_plan
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.errors import RunError
from textcraft_gym.reports import records as reading
from textcraft_gym.reports.compare import compare
from textcraft_gym.reports.metrics import ALL, summarise_by_group
from textcraft_gym.reports.records import line_of, malformed, read_config, read_lines, read_records
from textcraft_gym.reports.tables import distinct_errors
from textcraft_gym.runs import run_folder
from textcraft_gym.runs.run_folder import RunFolder
from textcraft_gym.verify.recheck import verify

SPEC = RunSpec("TextCraft-v0", "dev", "expert", limit=4)


def record(task: str = "a", **changes: Any) -> dict[str, Any]:
    """Return a record as it is read."""
    about = {"task": task, "group": ALL, "family": task, "depth": 1, "optimal_length": None}
    return json.loads(json.dumps(asdict(Episode()))) | about | changes


def write(folder: Path, *lines: bytes | dict[str, Any]) -> None:
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    (folder / "episodes.jsonl").write_bytes(b"".join(text + b"\n" for text in texts))


def tasks(folder: Path) -> list[str]:
    return [record["task"] for record in read_records(folder)]


def test_read_records__of_a_folder_without_episodes_are_none(tmp_path: Path):
    assert list(read_records(tmp_path)) == []


def test_read_records__skips_blank_lines_and_the_unfinished_one(tmp_path: Path):
    write(tmp_path, record("a"), b"", b" \t", record("b"))
    with (tmp_path / "episodes.jsonl").open("ab") as file:
        file.write(b'\n\n{"task": "c", "rew')
    assert tasks(tmp_path) == ["a", "b"]


def test_read_records__of_an_editor_that_marks_and_ends_lines_in_its_way(tmp_path: Path):
    text = "\ufeff" + "".join(json.dumps(record(task)) + "\r\n" for task in "ab")
    (tmp_path / "episodes.jsonl").write_text(text, encoding="utf-8", newline="")
    assert tasks(tmp_path) == ["a", "b"]


DAMAGED = [
    b"nonsense",
    b"[]",
    b"7",
    b"{}",
    b"\xff",
    b"\0\0\0",
    b"[" * 100_000,
    b'{"task": "a", "depth": 1',
    json.dumps(record(group=None)).encode(),
    json.dumps(record(depth="1")).encode(),
    json.dumps(record(reward=float("nan"))).encode(),
    json.dumps(record(steps=1 << 63)).encode(),
    json.dumps(record(calls={"executor": None})).encode(),
    json.dumps(record(trace={})).encode(),
    json.dumps(record(more=1)).encode(),
    json.dumps(record(transcript=[["get", "got"]])).encode(),
    json.dumps(record(transcript=[[None, "a"]], restores=[[1, 0]])).encode(),
]


@pytest.mark.parametrize("line", DAMAGED)
def test_read_records__leaves_out_a_damaged_line_with_a_word(tmp_path: Path, line: bytes):
    write(tmp_path, record("a"), line, record("b"))
    with pytest.warns(
        UserWarning, match=r"episodes.jsonl: skipped line 2: .*plays their episodes again"
    ):
        assert tasks(tmp_path) == ["a", "b"]


def test_read_records__counts_damaged_lines(tmp_path: Path):
    write(tmp_path, b"x", record("a"), b"y", b"z")
    with pytest.warns(UserWarning, match="skipped line 1 and 2 more: not JSON"):
        assert tasks(tmp_path) == ["a"]


def test_line__that_is_too_long_is_left_out_and_not_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    line = json.dumps(record("a")).encode() + b"\n"
    monkeypatch.setattr(reading, "MAX_LINE", len(line))
    write(tmp_path, record("a"), record("ab"), record("b"), record("abc" * 5000), record("c"))
    lines = list(read_lines(tmp_path))
    assert [read_line.record and read_line.record["task"] for read_line in lines] == [
        "a",
        None,
        "b",
        None,
        "c",
    ]
    assert lines[3].wrong.startswith("longer than")


def test_records__are_the_last_of_each_episode_with_what_broken_attempts_have_cost(tmp_path: Path):
    broken = {"error": "x", "stop_reason": "error"}
    write(
        tmp_path,
        record(cost=1.0, **broken),
        record("b"),
        record(cost=2.0, **broken),
        record(cost=4.0, steps=1),
    )
    records = read_records(tmp_path)
    assert [(row["task"], row["steps"], row.get("spent_before")) for row in records] == [
        ("a", 1, 3.0),
        ("b", 0, None),
    ]
    assert (len(records), records[-1]["task"], [row["task"] for row in records[:1]]) == (
        2,
        "b",
        ["a"],
    )
    assert records.attempts == {"error": 2}
    assert records.done == set(records.played) == {("a", 0), ("b", 0)}
    assert [row["task"] for row in records.chosen([("b", 0), ("c", 0), ("a", 0)])] == ["b", "a"]


def test_records__tell_interrupted_attempts_from_broken_ones(tmp_path: Path):
    broken, cut = (
        {"error": error, "stop_reason": "error"} for error in ("x", "RunStopped: interrupted")
    )
    write(tmp_path, record(**cut), record("b", **broken), record("b", **cut), record(), record("b"))
    assert read_records(tmp_path).attempts == {"interruption": 2, "error": 1}
    assert len(read_records(tmp_path)) == 2


def test_records__that_still_end_with_an_error_are_not_done(tmp_path: Path):
    write(tmp_path, record("a", error="x", stop_reason="error"), record("b"), record("b", repeat=1))
    assert read_records(tmp_path).done == {("b", 0), ("b", 1)}


def test_records__of_a_file_that_is_gone_say_so(tmp_path: Path):
    write(tmp_path, record("a"))
    records = read_records(tmp_path)
    (tmp_path / "episodes.jsonl").unlink()
    with pytest.raises(RunError, match="changed or removed"):
        list(records)


@pytest.mark.parametrize(
    "config", ["[]", "null", '"x"', "7", "{}", '{"schema": 2}', "{", "[" * 100_000, '{"schema": 4}']
)
def test_read_config__of_what_is_none(tmp_path: Path, config: str):
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(RunError, match=str(tmp_path)):
        read_config(tmp_path)


def test_read_config__says_what_is_no_run_folder(tmp_path: Path):
    with pytest.raises(RunError, match="not a run folder"):
        read_config(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no devices that are files")
@pytest.mark.parametrize("name", ["config.json", "episodes.jsonl"])
@pytest.mark.parametrize("endless", ["pipe", "/dev/zero", "/dev/null"])
def test_readers__open_no_pipe_and_no_device(tmp_path: Path, name: str, endless: str):
    if endless == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).symlink_to(endless)
    with pytest.raises(RunError, match=f"{name} is not a regular file"):
        read_config(tmp_path) if name == "config.json" else read_records(tmp_path)


def test_read_config__has_a_maximum_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "MAX_FILE", 100)
    (tmp_path / "config.json").write_text(" " * 101)
    with pytest.raises(RunError, match="is longer than"):
        read_config(tmp_path)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.just("\ud800"),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=2),
    max_leaves=6,
)
FITTING = {
    "task": st.text(),
    "group": st.text() | st.just("\udcff"),
    "reward": st.floats(allow_nan=False),
    "steps": st.integers(),
    "error": st.none() | st.text(),
    "tokens": st.dictionaries(st.text(), st.integers()),
    "transcript": st.lists(st.tuples(st.none() | st.text(), st.text())),
}


@given(
    st.fixed_dictionaries({}, optional=FITTING),
    st.sampled_from(sorted(record())),
    st.none() | VALUES,
)
def test_reader__reads_what_the_writer_takes(
    tmp_path_factory: pytest.TempPathFactory, fitting, name, value
):
    written = {**record(), **fitting, **({} if value is None else {name: value})}
    try:
        line = line_of(written)
    except (TypeError, ValueError):
        assert malformed(json.loads(json.dumps(written))) or "inf" in json.dumps(written).lower()
        return
    path = tmp_path_factory.mktemp("run")
    folder = RunFolder(path)
    with folder.locked({}):
        folder.append(written, line)
        folder.close()
    assert list(folder.records) == list(read_records(path)) == [json.loads(line)]


def test_writer__refuses_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "MAX_LINE", 1000)
    with pytest.raises(ValueError, match="at most 0 MiB"):
        line_of(record("a" * 1000))


def test_episode__of_which_the_record_is_too_long_is_an_error_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    evaluate(SPEC, tmp_path / "whole")
    longest = max(map(len, (tmp_path / "whole" / "episodes.jsonl").read_bytes().splitlines()))
    monkeypatch.setattr(reading, "MAX_LINE", longest - 200)  # times have more digits or fewer
    records = evaluate(SPEC, tmp_path / "cut")
    assert any(
        "its record cannot be written: expected a line of" in str(record["error"])
        for record in records
    )
    assert records == list(read_records(tmp_path / "cut"))


def test_run__is_mended_where_it_goes_on(tmp_path: Path):
    whole = evaluate(SPEC, tmp_path)
    lines = (tmp_path / "episodes.jsonl").read_bytes().splitlines()
    write(tmp_path, lines[0], b"damaged \xff", lines[2], b"", lines[3][:-9])
    with pytest.warns(UserWarning, match="skipped line 2 and 1 more"):
        assert len(read_records(tmp_path)) == 2
    again = evaluate(SPEC, tmp_path)
    assert [record["task"] for record in again] == [record["task"] for record in whole]
    assert (tmp_path / "damaged.jsonl").read_bytes() == b"damaged \xff\n" + lines[3][:-9] + b"\n"
    assert verify(tmp_path).identical


def test_folder__of_another_run_is_not_touched(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"schema": 2}')
    write(tmp_path, record("a"), b"damaged")
    with (tmp_path / "episodes.jsonl").open("ab") as file:
        file.write(b'{"unfinished')
    before = (tmp_path / "episodes.jsonl").read_bytes()
    with pytest.raises(RunError, match="format 4, got 2"):
        optimise_plan(RunSpec("HotpotQA-v0", model=None), tmp_path)
    with pytest.raises(RunError, match="format 4, got 2"):
        evaluate(SPEC, tmp_path)
    assert (tmp_path / "episodes.jsonl").read_bytes() == before
    assert not (tmp_path / "damaged.jsonl").exists()


def test_run__that_cannot_be_mended_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "config.json").write_text('{"schema": 4}')
    write(tmp_path, record("a"), b"damaged")
    before = (tmp_path / "episodes.jsonl").read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(run_folder, "_copy", full)
    with pytest.raises(OSError, match="No space left"), RunFolder(tmp_path).locked({}):
        pass
    assert (tmp_path / "episodes.jsonl").read_bytes() == before
    assert not list(tmp_path.glob("*.new"))


def long_records(folder: Path, number: int) -> Iterator[int]:
    with (folder / "episodes.jsonl").open("w") as file:
        for index in range(number):
            yield file.write(
                json.dumps(record(f"task {index}", won=index % 3 == 0, picture="x" * 50_000)) + "\n"
            )


def test_tables__keep_no_transcript_in_memory(tmp_path: Path):
    size = sum(long_records(tmp_path, 400))
    tracemalloc.start()
    records = read_records(tmp_path)
    summaries = summarise_by_group(records)
    compared = compare(records, records)
    assert not distinct_errors(records)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (summaries[ALL].episodes, compared.tasks) == (400, 400)
    assert peak < size / 10
