"""The picture of the documentation: an episode of ADaPT as a tree in the report. Needs chromium and chromedriver.

python benchmarks/picture.py docs/report.png
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from report import chromium

from textcraft_gym.evaluation.page import html_page
from textcraft_gym.evaluation.records import read_config
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.runner import evaluate

MODEL = "local"
TASK = "minecraft:lantern"
WINDOW = (1000, 8000)
"""So large that nothing scrolls."""
HEIGHT = 1060
"""Height of the picture in pixels; its width is that of the list of episodes."""
ROW = "#episodes details[open]"


def main(out: Path) -> None:
    """Play the episode and write its picture."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        run, page = Path(name) / "adapt", Path(name) / "report.html"
        records = evaluate(RunSpec("TextCraft-v0", "test", "adapt", model=MODEL, tasks=(TASK,)), run)
        page.write_text(html_page({"adapt": records}, {"adapt": read_config(run)}), encoding="utf-8", newline="\n")
        browser.set_window_size(*WINDOW)
        browser.get(f"{page.as_uri()}#episodes?{urlencode({'episode': f'adapt/{TASK}'})}")
        row = browser.find_element("css selector", ROW)
        row.find_element("css selector", "button").click()  # opens all
        clip = {**row.rect, "height": HEIGHT, "scale": 1}
        taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip})
        out.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
