"""Reports of 800 and 8,000 episodes: size, nodes, and time until a browser shows them.

Four players play TextCraft, two of them agents with a model that never gets anywhere; for 8,000
episodes each task is there ten times under other names. The time is from the start of the
navigation until the page is loaded, painted and ready for clicks, the best of several tries, and
stands beside that of a page without any script: a bare table with a row for each episode. Needs
chromium and chromedriver.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from scripted import models
from selenium import webdriver

from textcraft_gym.reports.page import html_page
from textcraft_gym.reports.records import Record, read_config
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

TURNS = {"turns": 12, "patience": 13}
AGENTS = {"expert": {}, "random": {}, "react": TURNS, "adapt": TURNS}
COPIES = (1, 10)
TRIES = 5
LIMIT_MS = 2000
"""Milliseconds within which every report is to be shown."""
COLUMNS = ("task", "group", "won", "steps", "stop_reason")

TIMES = """
const [navigation] = performance.getEntriesByType("navigation");
const [painted] = performance.getEntriesByName("first-contentful-paint");
const [ready] = performance.getEntriesByName("ready");
if (!navigation.loadEventEnd || !painted) return null;
return Math.max(navigation.loadEventEnd, painted.startTime, ready ? ready.startTime : 0);
"""
NODES = (
    "return document.evaluate('count(//node())', document, null, XPathResult.NUMBER_TYPE)"
    ".numberValue"
)
ELEMENTS = "return document.querySelectorAll('*').length"


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a headless browser; both programs are named, or the package would download them."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "window-size=1200,900",
    ):
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
    )
    try:
        yield driver
    finally:
        driver.quit()


def load_time(browser: Any, page: Path) -> float:
    """Return the milliseconds until the page is shown, the best of several tries."""
    times = []
    for _ in range(TRIES):
        browser.get("about:blank")
        browser.get(page.as_uri())
        while (milliseconds := browser.execute_script(TIMES)) is None:
            time.sleep(0.02)
        times.append(milliseconds)
    return min(times)


def bare_table(runs: Mapping[str, Sequence[Record]]) -> str:
    """Return a page with a row for each episode and nothing else."""
    rows = []
    for run, records in runs.items():
        for record in records:
            cells = (run, *(record[key] for key in COLUMNS))
            row = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
            rows.append(f"<tr>{row}</tr>")
    return f"<!doctype html><meta charset=utf-8><table>{''.join(rows)}</table>"


def copied(records: Sequence[Record], copies: int) -> list[Record]:
    """Return records with each task several times, by other names."""
    copied = [*records]
    for copy in range(1, copies):
        copied += [{**record, "task": f"{record['task']} {copy}"} for record in records]
    return copied


def main() -> None:
    """Print a line for each number of episodes, and fail if a report is shown too late."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        played = {
            agent: evaluate(RunSpec("TextCraft-v0", "test", agent, args, models()), folder / agent)
            for agent, args in AGENTS.items()
        }
        configs = {agent: read_config(folder / agent) for agent in AGENTS}
        for copies in COPIES:
            runs = {agent: copied(records, copies) for agent, records in played.items()}
            start = time.perf_counter()
            text = html_page(runs, configs)
            made = time.perf_counter() - start
            page, table = folder / "report.html", folder / "table.html"
            page.write_text(text, encoding="utf-8")
            table.write_text(bare_table(runs), encoding="utf-8")
            bare, shown = load_time(browser, table), load_time(browser, page)
            elements, nodes = browser.execute_script(ELEMENTS), browser.execute_script(NODES)
            print(
                f"{sum(map(len, runs.values())):,} episodes: made in {made:.2f} s, "
                f"{page.stat().st_size / 1e6:.2f} MB, "
                f"{elements:,} elements, {nodes:,.0f} nodes, shown after {shown:,.0f} ms, "
                f"{shown / bare:.2f} times a bare table's {bare:,.0f} ms"
            )
            if shown > LIMIT_MS:
                raise SystemExit(
                    f"the report is shown after {shown:,.0f} ms, and {LIMIT_MS:,} are the limit"
                )


if __name__ == "__main__":
    main()
