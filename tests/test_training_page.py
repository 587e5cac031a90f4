"""The code in docs/training.md runs and does as the text says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import textcraft_gym.wrappers

PAGE = (Path(__file__).parents[1] / "docs" / "training.md").read_text(encoding="utf-8")


def blocks(fence: str) -> list[str]:
    return re.findall(rf"```{fence}\n(.*?)```", PAGE, re.DOTALL)


def test_page__its_code_does_as_it_says(capsys: pytest.CaptureFixture[str]):
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(block, names)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "False 3"
    assert shown[-8:] == [
        "You need 6 oak planks and hold 0. You need 3 honeycomb and hold 0.",
        "Discrete(524) (128,) True",
        "True 40 0.0",
        str([*names["path"], names["command"]]),
        "(4, 64) [0. 0. 0. 0.]",
        "16 0.0",
        "['minecraft:ladder', 'minecraft:beehive'] [ True  True  True]",
        "[{}, {'task': 'minecraft:chest', 'won': False}, {}]",
    ]
    assert names["command"].startswith("craft 1 acacia boat")


def test_page__its_code_that_needs_more_is_code_at_least():
    found = blocks("python extra")
    assert len(found) == 4
    for block in found:
        compile(block, "docs/training.md", "exec")


def test_page__names_every_wrapper():
    for name in textcraft_gym.wrappers.__all__:
        assert name[0].islower() or f"`{name}(" in PAGE, name
