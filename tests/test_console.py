"""What models, servers, worlds and foreign run folders write is shown on a terminal, and obeyed by none."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pytest

from tests.doubles.server import Request, sends, serving
from textcraft_gym import RunSpec, display, evaluate
from textcraft_gym.cli import main
from textcraft_gym.console import Console, say, show_exception
from textcraft_gym.printable import printable

HOSTILE = "x \x1b]0;pwned\x07\x1b[2J\u202e\u2028\r\n  99 x made-up line"
ESCAPED = r"x \x1b]0;pwned\x07\x1b[2J\u202e\u2028\r\n  99 x made-up line"
OBEYED = ("\x1b]", "\x1b[2J", "\x07", "\u202e", "\u2028", "\r\n  99", "\n  99")


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["textcraft-gym", *arguments])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    try:
        main()
    except SystemExit:
        return


def obeyed(printed: str) -> list[str]:
    return [sign for sign in OBEYED if sign in printed]


def test_printable__escapes_what_a_terminal_obeys_and_nothing_else():
    assert printable(HOSTILE) == ESCAPED
    assert (
        printable("caf\u00e9 \u6f22\u5b57 \U0001f600 a\u00a0b\u3000c")
        == "caf\u00e9 \u6f22\u5b57 \U0001f600 a\u00a0b\u3000c"
    )
    assert printable("\ud800\u200b\x00\x9b") == r"\ud800\u200b\x00\x9b"


def test_say__prints_one_line(capsys: pytest.CaptureFixture[str]):
    say(HOSTILE)
    say(HOSTILE, error=True)
    printed = capsys.readouterr()
    assert printed.out == printed.err == f"{ESCAPED}\n"


def test_show_exception__prints_a_traceback(capsys: pytest.CaptureFixture[str]):
    try:
        raise RuntimeError("a\x1b[2Jb")
    except RuntimeError:
        show_exception(*sys.exc_info())
    lines = capsys.readouterr().err.split("\n")
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-2:] == [r"RuntimeError: a\x1b[2Jb", ""]


def test_console__keeps_colours(capsys: pytest.CaptureFixture[str]):
    console = Console(force_terminal=True, color_system="standard", width=80, no_color=False)
    console.print("[red]a\x1b[2Jb[/]", highlight=False)
    assert capsys.readouterr().out == "\x1b[31ma\\x1b[2Jb\x1b[0m\n"


def test_commands__print_what_a_server_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def hostile(request: Request):
        return sends({"error": {"message": HOSTILE}}, status=400)

    with serving(hostile) as server:
        model = f"openai:m,api_key=none,max_retries=0,base_url={server.url}"
        run = ("--env", "TextCraft-v0", "--split", "dev", "--limit", "1", "--out")
        command(monkeypatch, "evaluate", *run, str(tmp_path / "run"), "--model", model)
        command(monkeypatch, "sweep", *run, str(tmp_path / "sweep"), "--agents", "react", "--model", model)
        command(monkeypatch, "play", "TextCraft-v0", "--watch", model)
    printed = capsys.readouterr()
    assert obeyed(printed.out) == obeyed(printed.err) == []
    assert printed.err.count(r"\x1b]0;pwned\x07\x1b[2J") == 3


def test_commands__print_what_a_foreign_run_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run = tmp_path / "run"
    records = evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=2), run)
    foreign = [{**record, "group": HOSTILE, "task": f"{record['task']}{HOSTILE}"} for record in records]
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "config.json").write_bytes((run / "config.json").read_bytes())
    (theirs / "episodes.jsonl").write_text("".join(json.dumps(record) + "\n" for record in foreign))
    lost = [{**record, "won": False, "calls": {f"role{HOSTILE}": 1}} for record in foreign]
    (tmp_path / "lost").mkdir()
    (tmp_path / "lost" / "config.json").write_bytes((run / "config.json").read_bytes())
    (tmp_path / "lost" / "episodes.jsonl").write_text("".join(json.dumps(record) + "\n" for record in lost))
    monkeypatch.setattr(display.console, "width", 200)
    for arguments in (("report", theirs), ("report", tmp_path / "lost"), ("compare", theirs, tmp_path / "lost")):
        command(monkeypatch, *map(str, arguments))
    printed = capsys.readouterr()
    assert obeyed(printed.out) == obeyed(printed.err) == []
    assert printed.out.count(r"\x1b]0;pwned") >= 4
