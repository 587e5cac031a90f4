"""The code of docs/agent_libraries.md, each block with its library: ``make test-libraries``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import textcraft_gym
from tests.doubles import ShortCrafter

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agent_libraries.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```python (\w+)\n(.*?)```", PAGE, re.DOTALL))
PACKAGES = {
    "langchain": ("langchain", "langchain-openai"),
    "agents": ("openai-agents",),
    "smolagents": ("smolagents", "openai"),
    "llama_index": ("llama-index-core", "llama-index-llms-openai-like"),
}
"""What each block needs; the clone's own folder ``agents`` hides the SDK of that name from here."""


def test_page__has_a_test_for_every_block():
    assert list(BLOCKS) == list(PACKAGES)


@pytest.mark.parametrize("library", PACKAGES)
def test_library__wins_with_the_served_model_and_stops(library: str, tmp_path: Path):
    for package in ("fastapi", *PACKAGES[library]):
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed: make test-libraries")
    from tests.serving.live import serving
    from textcraft_gym.serving.model.app import create_app

    script = tmp_path / "block.py"
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "textcraft_gym").symlink_to(ROOT / "textcraft_gym")
    with serving(create_app(ShortCrafter(), "local")) as port:
        block = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", BLOCKS[library])
        script.write_text(block, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, str(script)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "The game is won. 1.0"


def test_game__says_its_end_once():
    game = textcraft_gym.ToolGame("TextCraft-v0", max_steps=1)
    game.reset(seed=0)
    assert game.step("inventory").splitlines()[-1] == "The game is over."
    assert game.step("inventory") == "The episode is over: reset begins another."
