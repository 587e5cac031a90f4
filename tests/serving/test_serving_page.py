"""The code and the commands of docs/serving.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tests.doubles import Crafter
from textcraft_gym.cli.app import app as command_line
from textcraft_gym.serving import descriptors, guard, sessions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run_block(block: str, port: int, folder: Path) -> list[str]:
    script = folder / "block.py"
    script.write_text(re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", block), encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    result = subprocess.run(
        command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_page__plays_with_agentgyms_server(tmp_path: Path):
    pytest.importorskip("fastapi", reason="fastapi (extra [serve]) is not installed")
    from tests.serving.live import serving
    from textcraft_gym.integrations.agentgym.app import create_app

    with serving(create_app("textcraft")) as port:
        goal, got, crafted, closed = run_block(BLOCKS[0], port, tmp_path)
    assert goal == "Goal: craft acacia planks."
    assert got == "{'observation': 'Got 1 acacia logs', 'reward': 0.0, 'done': False}"
    assert (
        crafted
        == "{'observation': 'Crafted 4 minecraft:acacia_planks', 'reward': 1.0, 'done': True}"
    )
    assert closed == "True"


def test_page__plays_with_the_served_model(tmp_path: Path):
    pytest.importorskip("fastapi", reason="fastapi (extra [serve]) is not installed")
    from tests.serving.live import serving
    from textcraft_gym.serving.model.app import create_app

    (name,) = re.findall(r'model="(\w+)"', BLOCKS[1])
    with serving(create_app(Crafter(), name)) as port:
        assert run_block(BLOCKS[1], port, tmp_path) == ["Crafted 1 minecraft:beehive"]


def test_page__has_a_test_for_every_block():
    assert len(BLOCKS) == 2


def test_page__its_commands_exist():
    lines = re.findall(r"^    textcraft-gym (.*)$", PAGE, re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        command: Any = get_command(command_line)
        words = line.split()
        while hasattr(command, "commands"):
            command = command.get_command(None, words.pop(0))
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, line


def test_page__configures_a_coding_agent():
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    ((_, server),) = json.loads(block)["mcpServers"].items()
    assert server["command"] == "textcraft-gym"
    group, name, *options = server["args"]
    command: Any = get_command(command_line).get_command(None, group).get_command(None, name)  # type: ignore[arg-type]
    assert command.make_context(name, options).params["env"] == "TextCraft-v0"


def test_page__names_the_limits():
    for limit in (
        f"{guard.MAX_BODY // 1024} KiB",
        f"{guard.BODY_SECONDS:g} seconds",
        f"{guard.ANSWER_SECONDS / 60:g} minutes",
        f"| {descriptors.MAX_CONNECTIONS:,}, or fewer",
        f"to {descriptors.MAX_CONNECTIONS + descriptors.RESERVED:,} at most",
        f"holds {1024 - descriptors.RESERVED:,}",
        f"in four of these: {descriptors.Room(1024 - descriptors.RESERVED).sockets}",
        f"by default {sessions.MAX_SESSIONS:,}",
        f"by default {sessions.SESSION_SECONDS:,.0f} seconds",
    ):
        assert limit in PAGE
