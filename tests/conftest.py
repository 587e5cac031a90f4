"""Property tests draw the same examples on every machine, and are not timed one by one; the user's cache is unused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("reproducible", derandomize=True, deadline=None, database=None)
settings.load_profile("reproducible")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
