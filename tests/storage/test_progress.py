"""The progress bar."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from textcraft_gym.storage import progress
from textcraft_gym.storage.progress import progress_bar


def test_progress_bar__is_silent_without_a_terminal(capsys):
    with progress_bar("Reading") as update:
        update(1, 2)
    assert capsys.readouterr() == ("", "")


def test_progress_bar__prints_a_line_every_ten_seconds_without_a_terminal(capsys, monkeypatch):
    now = iter([0.0, 4.0, 10.5, 12.0, 20.4, 21.0])
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(now)))
    with progress_bar("Reading") as update:
        for done in range(1, 6):
            update(done, 8)
    assert capsys.readouterr() == ("", "Reading: 25%\nReading: 62%\n")


def test_progress_bar__is_shown_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "BAR_SECONDS", 0.0)
    with progress_bar("Reading a lot") as update:
        update(1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Reading a lot" in err
    assert "50%" in err
