"""The page of training names what there is."""

from __future__ import annotations

from pathlib import Path

import textcraft_gym.wrappers

PAGE = (Path(__file__).parents[1] / "docs" / "training.md").read_text(encoding="utf-8")


def test_page__names_every_wrapper():
    for name in textcraft_gym.wrappers.__all__:
        assert name[0].islower() or f"`{name}(" in PAGE, name
