"""Tests beside the real engine run wherever it is installed; a broken installation is a failure, no reason to skip."""

from __future__ import annotations

import pytest

from tests.envs.alfworld.judge import MISSING, OFFICIAL, OLD_WHEELS

WITHOUT_ENGINE = f"the real engine's packages {MISSING} need a compiler and Python 3.12 or older: extra [alfworld]"
WITHOUT_GAMES = "the official games may not be bundled; they are looked for beside the project"
WITHOUT_OLD_WHEELS = "the wheels of alfworld before 0.4 are not beside the engine: make test-engine fetches them"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if MISSING and item.get_closest_marker("real_engine"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_ENGINE))
        if not OLD_WHEELS and item.get_closest_marker("old_wheels"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_OLD_WHEELS))
        if not OFFICIAL.is_dir() and item.get_closest_marker("official_games"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_GAMES))
