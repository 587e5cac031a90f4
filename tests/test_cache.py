"""Where things are kept, and that nothing fails because they are not."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from textcraft_gym.cache import cache_folder, keep


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
