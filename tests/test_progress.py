"""The progress bar."""

from __future__ import annotations

import sys

from textcraft_gym.progress import progress_bar


def test_progress_bar__is_silent_without_a_terminal(capsys):
    with progress_bar("Reading") as progress:
        progress(1, 2)
    assert capsys.readouterr() == ("", "")


def test_progress_bar__is_shown_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("Reading a lot") as progress:
        progress(1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Reading a lot" in err
