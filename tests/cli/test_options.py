"""Commands that do alike take the options that do alike; what differs is named here, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from tests.cli.test_main import run
from tests.doubles import CRAFTER
from textcraft_gym.cli.app import COMMANDS, app
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

READS_TASKS = {
    "evaluate",
    "sweep",
    "optimise-plan",
    "play",
    "tasks",
    "demos",
    "serve agentgym",
    "serve openenv",
    "serve mcp",
}
"""Commands that play or list the tasks of an environment."""
NO_LIMIT = {
    "play": "it plays one episode",
    "serve agentgym": "its clients say how many",
    "serve openenv": "its clients say how many",
    "serve mcp": "its client says how many",
}
NO_JSON = {
    "play": "a person reads it",
    "view": "it serves pages",
    "shop": "it serves pages",
    "demos": "its file is JSON lines",
    "export": "its file is JSON lines",
    "submit": "it adds to a board, whose file is JSON",
    "recipes import": "it writes files",
    "serve agentgym": "it serves",
    "serve openenv": "it serves",
    "serve model": "it serves",
    "serve mcp": "it serves",
    "setup local": "it installs",
    "new world": "it writes files",
    "new agent": "it writes files",
}


def commands(command: Any = None, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield each command that does something with its options, groups apart."""
    if command is None:
        root = get_command(app)
        for child in COMMANDS:
            yield from commands(root.get_command(None, child), child)
        return
    below = getattr(command, "commands", {})
    for child in below:
        yield from commands(below[child], f"{name} {child}")
    if not below:
        yield name, {option for param in command.params for option in param.opts}


def test_commands__take_split_limit_and_json_where_others_do():
    options = dict(commands())
    assert options.keys() >= READS_TASKS | NO_LIMIT.keys()
    for name, taken in options.items():
        if name in READS_TASKS:
            assert "--split" in taken, name
            assert ("--limit" in taken) != (name in NO_LIMIT), name
        assert ("--json" in taken) != (name in NO_JSON), name
    for name in ("evaluate", "sweep", "optimise-plan", "reproduce"):
        command = get_command(app).get_command(None, name)
        (out,) = (param for param in command.params if "--out" in param.opts)
        assert not out.required, name


def test_export__writes_the_first_dialogues(tmp_path: Path):
    evaluate(RunSpec("TextCraft-v0", "test", "expert", limit=3), tmp_path / "run")
    out = tmp_path / "two.jsonl"
    assert "Wrote 2 episodes" in run(
        "export", str(tmp_path / "run"), "--out", str(out), "--limit", "2", "--won-only"
    )
    assert len([json.loads(line) for line in out.read_text().splitlines()]) == 2


def test_optimise_plan__names_its_folder_and_resumes_in_it(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = ["optimise-plan", "--env", "TextCraft-v0", "--model", CRAFTER, "--limit", "1"]
    small = [*plan, "--batch", "1", "--iterations", "1"]
    assert "The folder is" in run(*small)
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("TextCraft-v0-plans-")
    run(*small)
    assert list((tmp_path / "runs").iterdir()) == [folder]
    run(*small, "--seed", "1")
    assert len(list((tmp_path / "runs").iterdir())) == 2
