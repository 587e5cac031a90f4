"""What all tests have in common: reproducible draws, an own cache, own secrets, and what is skipped for lack of it.

Property tests draw the same examples on every machine, and are not timed one by one; the user's
cache is unused. Tests beside the real engine run wherever it is installed; a broken installation is
a failure, no reason to skip.
"""

from __future__ import annotations

import gc
import shutil
import signal
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.envs.alfworld.judge import MISSING, OFFICIAL, OLD_WHEELS
from textcraft_gym.agents import redaction

settings.register_profile("reproducible", derandomize=True, deadline=None, database=None)
settings.load_profile("reproducible")

WITHOUT_ENGINE = f"the real engine's packages {MISSING} need a compiler and Python 3.12 or older: extra [alfworld]"
WITHOUT_GAMES = "the official games may not be bundled; they are looked for beside the project"
WITHOUT_OLD_WHEELS = (
    "the wheels of alfworld before 0.4 are not beside the engine: make test-engine fetches them"
)


def pytest_configure() -> None:
    # A shell's background jobs begin with interrupts ignored, and so would every process that a
    # test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if MISSING and item.get_closest_marker("real_engine"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_ENGINE))
        if not OLD_WHEELS and item.get_closest_marker("old_wheels"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_OLD_WHEELS))
        if not OFFICIAL.is_dir() and item.get_closest_marker("official_games"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_GAMES))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # What is imported and collected stays to the end: the collector of garbage need not look at it.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _own_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test registers: a made-up key may be a word of another test."""
    monkeypatch.setattr(redaction._process, "_known", redaction._Known(frozenset()))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium. Both programs are named, since the package would download what it does
    not find."""
    from selenium import webdriver

    programs = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    chromium, chromedriver = next(filter(None, programs), None), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("needs the programs chromium (or google-chrome) and chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    headless = (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "window-size=1200,900",
    )
    silent = (
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    )
    for argument in (*headless, *silent):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()
