"""Property tests draw the same examples on every machine, and are not timed one by one; the user's cache is unused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("reproducible", derandomize=True, deadline=None, database=None)
settings.load_profile("reproducible")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium. Both programs are named, since the package would download what it does not find."""
    from selenium import webdriver

    programs = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    chromium, chromedriver = next(filter(None, programs), None), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("needs the programs chromium (or google-chrome) and chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    headless = ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "window-size=1200,900")
    silent = ("no-first-run", "disable-background-networking", "disable-component-update", "disable-sync")
    for argument in (*headless, *silent):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()
