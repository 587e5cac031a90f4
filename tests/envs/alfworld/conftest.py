"""Tests beside the real engine run wherever it is installed; a broken installation is a failure, no reason to skip."""

from __future__ import annotations

import pytest

from tests.envs.alfworld.judge import MISSING, OFFICIAL

WITHOUT_ENGINE = f"the real engine's packages {MISSING} need a compiler and Python 3.12 or older: extra [alfworld]"
WITHOUT_GAMES = "the official games may not be bundled; they are looked for beside the project"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if MISSING and item.get_closest_marker("real_engine"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_ENGINE))
        if not OFFICIAL.is_dir() and item.get_closest_marker("official_games"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_GAMES))
