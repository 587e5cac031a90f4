"""The commands without what they need."""

from __future__ import annotations

import sys

import pytest

from tests.doubles import CRAFTER
from textcraft_gym.cli.main import main


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["agentgym", "--env", "textcraft"], "serve"),
        (["model", "--model", CRAFTER], "serve"),
        (["openenv", "--env", "TextCraft-v0"], "openenv"),
    ],
)
def test_command__says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    extra: str,
):
    modules = (
        "textcraft_gym.integrations.agentgym.app",
        "textcraft_gym.integrations.openenv",
        "textcraft_gym.serving.model.app",
    )
    for module in modules:
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.setattr(sys, "argv", ["textcraft-gym", "serve", *command])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    expected = (
        f"textcraft-gym: this needs the package fastapi: pip install '.[{extra}]' "
        "in a clone of textcraft_gym\n"
    )
    assert capsys.readouterr().err == expected


def test_command__refuses_a_name_with_a_port(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("fastapi", reason="fastapi (extra [serve]) is not installed")
    pytest.importorskip("uvicorn", reason="uvicorn (extra [serve]) is not installed")
    command = ["model", "--model", CRAFTER, "--port", "0", "--allow-host", "box:8000"]
    monkeypatch.setattr(sys, "argv", ["textcraft-gym", "serve", *command])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    expected = "textcraft-gym: expected a name such as box.example.org, without scheme and port, got 'box:8000'\n"
    assert capsys.readouterr().err == expected
