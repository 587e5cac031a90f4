"""Where things are kept, and that nothing fails because they are not."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

import pytest

from textcraft_gym.storage.cache import atomic_write, cache_folder, keep


def test_cache_folder__is_the_variable_or_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "textcraft_gym"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "textcraft_gym"


def test_cache_folder__without_a_home_is_temporary(monkeypatch):
    for name in ("TEXTCRAFT_GYM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert cache_folder() == Path(tempfile.gettempdir()) / "textcraft_gym"


def test_keep__makes_folders_and_replaces(tmp_path):
    file = tmp_path / "a" / "b" / "kept"
    assert keep(file, lambda stream: stream.write(b"one"))
    assert keep(file, lambda stream: stream.write(b"two"))
    assert file.read_bytes() == b"two"
    assert list(file.parent.iterdir()) == [file]


def fail(stream, error: type[BaseException]):
    stream.write(b"half")
    raise error


def test_keep__leaves_the_old_where_the_new_fails(tmp_path):
    file = tmp_path / "kept"
    file.write_bytes(b"old")
    assert not keep(file, lambda stream: fail(stream, OSError))
    with pytest.raises(KeyboardInterrupt):
        keep(file, lambda stream: fail(stream, KeyboardInterrupt))
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_keep__where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert not keep(tmp_path / "file" / "kept", lambda stream: stream.write(b"one"))


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr
)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_atomic_write__leaves_the_old_and_nothing_else_where_the_new_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, call: str, error: BaseException
):
    file = tmp_path / "written"
    file.write_text("old")

    def fails(*args: object) -> None:
        raise error

    monkeypatch.setattr(*(os, "fsync") if call == "fsync" else (Path, "replace"), fails)
    with pytest.raises(
        type(error),
        match=f"No space left on device: '{file}'" if isinstance(error, OSError) else None,
    ):
        atomic_write(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_atomic_write__syncs_the_file_before_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    file = tmp_path / "written"
    synced: list[tuple[bool, bool]] = []
    monkeypatch.setattr(
        os,
        "fsync",
        lambda opened: synced.append((stat.S_ISDIR(os.fstat(opened).st_mode), file.exists())),
    )
    atomic_write(file, "one\ntwo\n")
    assert synced == [(False, False), (True, True)]
    assert file.read_bytes() == b"one\ntwo\n"


def test_atomic_write__writes_through_links_and_pipes(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("old")
    (tmp_path / "link").symlink_to("folder/file")
    atomic_write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_text() == "new"
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)
    atomic_write(tmp_path / "pipe", "through")
    assert os.read(pipe, 100) == b"through"
    os.close(pipe)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder", "link", "pipe"]
