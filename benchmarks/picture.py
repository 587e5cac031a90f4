"""The documentation's picture: an ADaPT episode as a tree in the report.

Needs chromium and chromedriver.

python benchmarks/picture.py docs/report.png
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from report import chromium

from textcraft_gym.reports.calls import Calls
from textcraft_gym.reports.page import html_page
from textcraft_gym.reports.records import read_config
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

SPEC = RunSpec("TextCraft-v0", "test", "adapt", model="local", tasks=("minecraft:chest_minecart",))
WINDOW = (1000, 8000)
"""So large that nothing scrolls."""
OPEN = """
const nodes = document.querySelectorAll("#episodes details[open] details.node");
nodes.forEach((node, number) => { node.open = number !== 2; });
return nodes[0];
"""
"""Opens all parts of the episode but the first attempt, and returns the whole."""


def main(out: Path) -> None:
    """Play the episode and write its picture."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        run, page = Path(name) / "adapt", Path(name) / "report.html"
        records = evaluate(SPEC, run)
        page.write_text(
            html_page({"adapt": records}, {"adapt": read_config(run)}, calls={"adapt": Calls(run)}),
            encoding="utf-8",
            newline="\n",
        )
        browser.set_window_size(*WINDOW)
        browser.get(f"{page.as_uri()}#episodes?{urlencode({'episode': f'adapt/{SPEC.tasks[0]}'})}")
        clip = {**browser.execute_script(OPEN).rect, "scale": 1}
        taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip})
        out.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
