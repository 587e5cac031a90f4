"""Arrays in the cache: the same from wherever they come, whole or not there, and written once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from textcraft_gym.storage import arrays as module
from textcraft_gym.storage.arrays import (
    Append,
    Arrays,
    Names,
    Records,
    RecordWriter,
    cached,
    in_memory,
)

TOTAL = str(sum(range(3000)))
VALUES = ["a", {"b": [1, None]}, "\ud800", "", "caf\u00e9"]


def write(append: Append) -> None:
    """Write arrays of several types and sizes, and one without content."""
    for start in range(0, 3000, 1000):
        append("numbers", np.arange(start, start + 1000, dtype=np.int32))
    append("nothing", np.empty(0, np.int64))
    append("halves", np.arange(5) / 2)
    records = RecordWriter(append, "records")
    for value in VALUES:
        records.add(value)
    records.close()
    Names.write(append, "names", [("b", 7), ("a", 1), ("b", 2)])


def contents(arrays: Arrays) -> Any:
    return {name: (part.dtype, part.tolist()) for name, part in arrays.items()}


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def file(cache) -> Path:
    """The file of arrays that are in the cache."""
    cached("any.arrays", "1", write)
    return cache / "any.arrays"


def unwritten(append: Append) -> None:
    pytest.fail("was written again")


def left_over(cache: Path) -> list[str]:
    return sorted(
        file.name for file in cache.iterdir() if file.name not in ("any.arrays", "any.arrays.lock")
    )


def test_cached__is_what_was_written(file):
    arrays = cached("any.arrays", "1", unwritten)
    assert contents(arrays) == contents(in_memory(write))
    assert arrays["numbers"].tolist() == list(range(3000))
    assert all(part.ctypes.data % 64 == 0 for part in arrays.values() if part.size)
    assert list(Records(arrays, "records")) == VALUES
    names = Names(arrays, "names")
    assert [names.first(name) for name in "abc"] == [1, 7, None]
    assert [names.only(name) for name in "abc"] == [1, None, None]


def test_cached__of_another_stamp_is_replaced(file):
    before = file.read_bytes()
    cached("any.arrays", "2", write)
    assert file.read_bytes() != before
    cached("any.arrays", "2", unwritten)


def test_cached__takes_nothing_damaged(file):
    whole = file.read_bytes()
    damaged = [whole[:size] for size in range(0, len(whole), 997)] + [
        whole[:-1],
        whole + b"x",
        bytes(len(whole)),
    ]
    damaged += [
        whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 499)
    ]
    for content in damaged:
        file.write_bytes(content)
        assert contents(cached("any.arrays", "1", write)) == contents(in_memory(write))
        assert file.read_bytes() == whole


def test_cached__reads_a_file_whole_only_where_somebody_wrote_to_it(file, monkeypatch):
    checksum, read = module._checksum, []
    monkeypatch.setattr(
        module, "_checksum", lambda *arguments: read.append(1) or checksum(*arguments)
    )
    cached("any.arrays", "1", unwritten)
    assert not read
    shutil.copy(file, file.with_name("copy"))
    os.replace(file.with_name("copy"), file)
    for _ in range(2):
        cached("any.arrays", "1", unwritten)
    assert len(read) == 1


def test_cached__of_another_user_is_read_whole(file, monkeypatch):
    shutil.copy(file, file.with_name("copy"))
    os.replace(file.with_name("copy"), file)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    assert contents(cached("any.arrays", "1", unwritten)) == contents(in_memory(write))


def test_cached__is_in_memory_where_nothing_can_be_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path / "file" / "folder"))
    assert contents(cached("any.arrays", "1", write)) == contents(in_memory(write))


def test_cached__is_in_memory_where_files_cannot_be_locked(cache, monkeypatch):
    def unlockable(self: FileLock, *_: object, **__: object) -> None:
        raise NotImplementedError(
            "FileSystem does not appear to support flock; use SoftFileLock instead"
        )

    monkeypatch.setattr(FileLock, "acquire", unlockable)
    assert contents(cached("any.arrays", "1", write)) == contents(in_memory(write))
    assert not (cache / "any.arrays").exists()


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, ValueError])
def test_cached__of_what_cannot_be_written_leaves_nothing(cache, error):
    def fail(append: Append) -> None:
        append("numbers", np.arange(10))
        raise error

    with pytest.raises(error):
        cached("any.arrays", "1", fail)
    assert not (cache / "any.arrays").exists()
    assert left_over(cache) == []


def test_append__takes_one_array_after_another():
    def write(append: Append) -> None:
        append("a", np.arange(3))
        append("b", np.arange(3))
        append("a", np.arange(3))

    with pytest.raises(ValueError, match="expected a part of 'b' or a new array, got 'a'"):
        in_memory(write)


@pytest.mark.parametrize("deferred", [False, True])
def test_records__are_appended_in_parts_unless_they_are_deferred(monkeypatch, deferred):
    monkeypatch.setattr(module, "_CHUNK", 100)
    parts: list[int] = []

    def write(append: Append) -> None:
        def record(name: str, part: np.ndarray) -> None:
            parts.append(part.nbytes)
            append(name, part)

        records = RecordWriter(record, "records", deferred=deferred)
        for number in range(1000):
            records.add(number)
        records.close()

    assert list(Records(in_memory(write), "records")) == list(range(1000))
    assert (max(parts[:-1]) > 2000) if deferred else (max(parts[:-1]) < 110)


# Several processes.

CHILD = """
import sys
import numpy as np
from filelock import FileLock
from textcraft_gym.storage import arrays
from tests.storage.test_arrays import write

def pause(point):
    print(point, flush=True)
    if point == stop:
        sys.stdin.readline()

def tell(owner, name, point):
    function = getattr(owner, name)
    def told(*arguments, **named):
        pause(point)
        return function(*arguments, **named)
    setattr(owner, name, told)

def write_and_tell(append):
    pause("begin")
    def append_and_tell(name, part):
        append(name, part)
        pause(name)
    write(append_and_tell)

stop = sys.argv[1]
tell(FileLock, "acquire", "lock")
tell(arrays.os, "fsync", "written")
tell(arrays.Path, "replace", "sealed")
print(arrays.cached("any.arrays", "1", write_and_tell)["numbers"].sum(), flush=True)
"""


@contextmanager
def process(stop: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that writes the arrays, and wait until it has come to a point, where it waits
    for a line."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", CHILD, stop], **pipes) as child:
        try:
            while child.stdout.readline().strip() != stop:
                assert child.poll() is None, f"ended before {stop!r}"
            yield child
        finally:
            child.kill()


@pytest.mark.parametrize("point", ["begin", "halves", "written", "sealed"])
def test_cached__after_a_kill_is_written_anew(cache, point):
    with process(point):
        pass  # it is killed at the end of the block
    assert not (cache / "any.arrays").exists()
    (unfinished,) = left_over(cache)  # one by name, which the next process overwrites
    assert unfinished == "any.arrays.new"
    assert contents(cached("any.arrays", "1", write)) == contents(in_memory(write))
    assert left_over(cache) == []


def test_cached__is_written_by_one_process_of_two(cache):
    with process("numbers") as first, process("lock") as second:
        second.stdin.close()  # goes on
        assert first.communicate(timeout=60)[0].split()[-1] == TOTAL
        assert second.stdout.read().split() == [TOTAL]
    assert left_over(cache) == []


def test_cached__is_written_by_the_process_that_waited_for_a_killed_one(cache):
    with process("numbers") as first, process("lock") as second:
        second.stdin.close()
        first.kill()
        points = second.stdout.read().split()
        assert (points[0], points[-1]) == ("begin", TOTAL)
    assert left_over(cache) == []
