"""The commands without what they need."""

from __future__ import annotations

import sys

import pytest

from textcraft_gym.cli import main


@pytest.mark.parametrize("command", [["agentgym", "--env", "textcraft"], ["model", "--model", "simulated"]])
def test_command__says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
):
    for module in ("textcraft_gym.integrations.agentgym.app", "textcraft_gym.serving.model_server"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.setattr(sys, "argv", ["textcraft-gym", "serve", *command])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    expected = "textcraft-gym: this needs the package fastapi: pip install 'textcraft-gym[serve]'\n"
    assert capsys.readouterr().err == expected
