"""What models, servers, worlds and foreign run folders write is shown on a terminal, and obeyed by
none."""

from __future__ import annotations

import html
import io
import json
import re
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from typer.main import get_command

from tests.doubles.server import Request, says, sends, serving
from tests.foreign_worlds import GuessEnv
from textcraft_gym import RunSpec, evaluate
from textcraft_gym.cli import tables
from textcraft_gym.cli.app import app
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.main import main
from textcraft_gym.cli.terminal import say, show_exception
from textcraft_gym.printable import printable
from textcraft_gym.reports.tables import markdown_table

HOSTILE = "x \x1b]0;pwned\x07\x1b[2J\x9b31m\u202e\u2028\r\n  99 x made-up line"
ESCAPED = r"x \x1b]0;pwned\x07\x1b[2J\x9b31m\u202e\u2028\r\n  99 x made-up line"
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OBEYED = ("\x1b]", "\x1b[2J", "\x07", "\u202e", "\u2028", "\r\n  99", "\n  99")


class Loud(GuessEnv):
    """Says what is not in its observation space."""

    observation_space = gym.spaces.Text(1)


gym.register("Loud-v0", entry_point=Loud, max_episode_steps=1)


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


@pytest.mark.filterwarnings("default")
def test_warning__has_no_colours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Gymnasium colours its own, such as of an observation that is not in its space."""
    agent = "tests.foreign_worlds:guess_three"
    played = ["--env", "tests.cli.test_console:Loud-v0", "--agent", agent]
    command(monkeypatch, "evaluate", *played, "--limit", "1", "--out", str(tmp_path / "run"))
    warned = capsys.readouterr().err.splitlines()
    assert any(line.startswith("textcraft-gym: warning: WARN: The obs") for line in warned)
    assert not [line for line in warned if "x1b" in line]


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
        command(
            monkeypatch,
            "sweep",
            *run,
            str(tmp_path / "sweep"),
            "--agents",
            "react",
            "--model",
            model,
        )
        command(monkeypatch, "play", "TextCraft-v0", "--watch", model)
    printed = capsys.readouterr()
    assert obeyed(printed.out) == obeyed(printed.err) == []
    assert printed.err.count(r"\x1b]0;pwned\x07\x1b[2J") == 3


def test_commands__print_what_a_foreign_run_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run = tmp_path / "run"
    records = evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=2), run)
    foreign = [
        {**record, "group": HOSTILE, "task": f"{record['task']}{HOSTILE}"} for record in records
    ]
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "config.json").write_bytes((run / "config.json").read_bytes())
    (theirs / "episodes.jsonl").write_text("".join(json.dumps(record) + "\n" for record in foreign))
    lost = [{**record, "won": False, "calls": {f"role{HOSTILE}": 1}} for record in foreign]
    (tmp_path / "lost").mkdir()
    (tmp_path / "lost" / "config.json").write_bytes((run / "config.json").read_bytes())
    (tmp_path / "lost" / "episodes.jsonl").write_text(
        "".join(json.dumps(record) + "\n" for record in lost)
    )
    monkeypatch.setattr(tables.console, "width", 200)
    for arguments in (
        ("report", theirs),
        ("report", tmp_path / "lost"),
        ("compare", theirs, tmp_path / "lost"),
    ):
        command(monkeypatch, *map(str, arguments))
    printed = capsys.readouterr()
    assert obeyed(printed.out) == obeyed(printed.err) == []
    assert printed.out.count(r"\x1b]0;pwned") >= 4


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Servers, run folders, recipes and products that hold what a terminal obeys, by the names that
    commands use."""
    folder = tmp_path_factory.mktemp("hostile")
    run = folder / "run"
    records = evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=2), run)
    config = json.loads((run / "config.json").read_text())

    def foreign(name: str, changes: dict[str, object], **fields: object) -> str:
        theirs = folder / name
        theirs.mkdir()
        (theirs / "config.json").write_text(json.dumps({**config, **changes}))
        lines = [
            json.dumps({**record, **fields, "task": f"{record['task']}{HOSTILE}"}) + "\n"
            for record in records
        ]
        (theirs / "episodes.jsonl").write_text("".join(lines))
        return str(theirs)

    named = folder / "named \x1b[2J\u202e"
    shutil.copytree(run, named)
    recipes = folder / "pack" / "data" / "minecraft" / "recipes"
    recipes.mkdir(parents=True)
    made = {"type": "minecraft:crafting_shapeless", "ingredients": [{"item": "minecraft:b"}]}
    (recipes / "a.json").write_text(json.dumps({**made, "result": {"item": "minecraft:a"}}))
    (recipes / "other.json").write_text(json.dumps({**made, "type": HOSTILE}))
    (recipes / "broken \x1b[2J.json").write_text("{")
    product = {
        "asin": "B000000001",
        "name": HOSTILE,
        "category": HOSTILE,
        "query": HOSTILE,
        "full_description": HOSTILE,
    }
    product |= {
        "product_category": HOSTILE,
        "small_description": [HOSTILE],
        "pricing": "$1.00",
        "images": [],
    }
    goal = {
        "asin": "B000000001",
        "instruction": HOSTILE,
        "attributes": ["x"],
        "options": [],
        "instruction_attributes": ["x"],
    }
    (folder / "items_shuffle.json").write_text(json.dumps([product]))
    (folder / "items_ins_v2.json").write_text(
        json.dumps({"B000000001": {"attributes": ["x"], "instruction": HOSTILE}})
    )
    (folder / "items_human_ins.json").write_text(json.dumps({"B000000001": [goal]}))
    with (
        serving(lambda request: sends({"error": {"message": HOSTILE}}, status=400)) as refuses,
        serving(says(HOSTILE)) as talks,
    ):
        yield {
            "failed": foreign(
                "failed", {}, group=HOSTILE, error=HOSTILE, traceback=HOSTILE, won=False
            ),
            "odd": foreign("odd", {}, group=HOSTILE, calls={f"role{HOSTILE}": 1}),
            "config": foreign(
                "config", {"agent": HOSTILE, "model": HOSTILE, "agent_args": {HOSTILE: HOSTILE}}
            ),
            "split": foreign("split", {"split": HOSTILE, "version": HOSTILE}),
            "named": str(named),
            "pack": str(folder / "pack"),
            "shop": str(folder),
            "out": str(folder / "out \x1b[2J"),
            "refuses": f"openai:m,api_key=none,max_retries=0,base_url={refuses.url}",
            "talks": f"openai:m\x1b[2J,api_key=none,max_retries=0,base_url={talks.url}",
        }


RUN = "--env TextCraft-v0 --split dev --limit 1 --max-calls 4"
COMMANDS = {
    "evaluate": (
        f"{RUN} --model REFUSES --out OUTa",
        f"{RUN} --model TALKS --out OUTb",
        f"{RUN} --out CONFIG",
        "--env HOSTILE --out OUTc",
        f"{RUN} --agent HOSTILE --out OUTd",
    ),
    "sweep": (
        f"{RUN} --agents react --model REFUSES --model TALKS --out OUTe",
        f"{RUN} --agents react --model TALKS --out OUTf --json",
    ),
    "optimise-plan": (
        "--env ALFWorld-v0 --limit 1 --batch 1 --iterations 1 --max-calls 4 --model TALKS --out OUTg",
        "--env ALFWorld-v0 --limit 1 --batch 1 --iterations 1 --max-calls 4 --model REFUSES --out OUTh",
    ),
    "report": (
        "FAILED ODD CONFIG SPLIT NAMED",
        "FAILED --json",
        "ODD --out OUT.html",
        "ODD CONFIG SPLIT NAMED --latex OUT.tex --csv OUT.csv --md OUT.md --plot OUT.svg",
        "OUTnone",
    ),
    "compare": ("FAILED ODD", "CONFIG NAMED", "FAILED ODD SPLIT", "FAILED ODD --json"),
    "view": ("OUTnone", "ODD --bundle OUTp", "NAMED --bundle OUTq"),
    "verify": ("FAILED", "ODD", "CONFIG", "SPLIT", "NAMED", "FAILED --json"),
    "submit": ("ODD --board OUTr.jsonl", "--check --board ODD", "--check --board OUTs.jsonl"),
    "export": (
        "ODD --out OUT1.jsonl",
        "FAILED --won-only --out OUT2.jsonl",
        "OUTnone --out OUT3.jsonl",
    ),
    "play": (
        "TextCraft-v0 --watch REFUSES",
        "TextCraft-v0 --watch TALKS",
        "WebShopLite-v0 --env-arg data=SHOP --env-arg split=all",
        "TextCraft-v0 --task HOSTILE",
    ),
    "shop": ("--data OUTnone", "--replay ODD", "--task HOSTILE"),
    "envs": ("",),
    "agents": ("",),
    "tasks": (
        "WebShopLite-v0 --env-arg data=SHOP",
        "TextCraft-v0 --env-arg recipes=PACK",
        "HOSTILE",
    ),
    "demos": (
        "--env TextCraft-v0 --limit 1 --out OUT4.jsonl",
        "--env WebShopLite-v0 --env-arg data=SHOP --out OUT5.jsonl",
    ),
    "models check": ("REFUSES", "TALKS", "REFUSES --json", "HOSTILE"),
    "recipes import": ("PACK --out OUTi",),
    "recipes show": ("a --recipes PACK", "HOSTILE"),
    "recipes stats": ("--recipes PACK",),
    "splits paper": ("--recipes PACK",),
    "splits make": ("--recipes PACK --out OUTj.jsonl", "--env HOSTILE --out OUTk.jsonl"),
    "papers": ("--json",),
    "reproduce": (
        "adapt/table3 --rows react --limit 1 --model TALKS --out OUTl",
        "adapt/table3 --rows react --limit 1 --model REFUSES --out OUTm",
        "adapt/table3 --rows HOSTILE --out OUTn",
        "HOSTILE --out OUTo",
    ),
    "serve agentgym": ("--env HOSTILE",),
    "serve mcp": ("--env HOSTILE",),
    "serve model": ("--model HOSTILE",),
    "serve openenv": ("--env HOSTILE",),
    "setup local": ("--dry-run",),
    "new world": ("HOSTILE", "maze --out OUTt"),
    "new agent": ("HOSTILE", "player --out OUTu"),
}


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("name", COMMANDS)
def test_command__prints_no_text_that_a_terminal_obeys(
    name: str,
    hostile: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(
        sys, "stdin", io.StringIO(f"search[x]\nclick[b000000001]\n{HOSTILE}\nquit\n")
    )
    words = {key.upper(): value for key, value in hostile.items()} | {"HOSTILE": HOSTILE}
    put = re.compile("|".join(words))
    for line in COMMANDS[name]:
        command(
            monkeypatch,
            *name.split(),
            *(put.sub(lambda word: words[word[0]], word) for word in line.split()),
        )
        printed = capsys.readouterr()
        assert printed.out or printed.err, line
        for text in (printed.out, printed.err):
            assert CONTROL.findall(text) == [], line
            # The texts of a game that is played have lines of their own.
            assert name == "play" or "\n  99 x made-up line" not in text, line


def test_commands__are_all_walked_over():
    def walk(group: Any, above: str = "") -> Iterator[str]:
        for name in group.list_commands(None):
            command = group.get_command(None, name)
            yield from (
                walk(command, f"{above}{name} ") if hasattr(command, "commands") else [above + name]
            )

    assert set(walk(get_command(app))) == set(COMMANDS)


STRANGE = ["[bold]x", "a|b", "a\nb", ":smile:", "<b>x", "a\\b", "é名"]


@pytest.mark.parametrize("name", STRANGE)
def test_folder__is_shown_by_its_name(tmp_path: Path, monkeypatch, capsys, name: str):
    for folder in (name, "other"):
        evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=2), tmp_path / folder)
    shown = name.replace("\n", r"\n")
    table = (tmp_path / name / "report.md").read_text(encoding="utf-8").splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table if line[:1] == "|"} == {12}
    assert table[2].startswith(f"| {shown.replace('|', chr(92) + '|')} | depth")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables.console, "width", 160)
    capsys.readouterr()
    command(monkeypatch, "compare", "--", name, "other")
    compared = " ".join(capsys.readouterr().out.split())
    assert compared.startswith(f"other against {shown}, task by task ")
    assert f" only {shown} won 0 " in compared
    command(monkeypatch, "report", "--", name, "other")
    assert f"\n {shown} " in capsys.readouterr().out
    command(monkeypatch, "report", "--out", "page.html", "--", name, "other")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.escape(name) in page
    assert "<b>x" not in page


def test_markdown__has_every_cell_in_one_row():
    table = markdown_table(("a|b", "group\n"), [("x\r\n|y", "\u2028")])
    assert table == "| a\\|b | group\\n |\n| --- | --- |\n| x\\r\\n\\|y | \\u2028 |\n"
