"""What is kept between starts is kept in a folder of the test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch) -> Path:
    """An empty cache folder."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(folder))
    return folder
