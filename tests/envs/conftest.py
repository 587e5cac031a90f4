from __future__ import annotations

import pytest

from textcraft_gym.envs.minetechtree.minedojo_specifications import MineDojoMissing, find_minedojo


@pytest.fixture
def installed() -> None:
    """Skip where MineDojo's files are not installed."""
    try:
        find_minedojo()
    except MineDojoMissing as error:
        pytest.skip(str(error))
