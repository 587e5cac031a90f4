"""Run notebooks and keep what their cells print, which their pages of the site show.

python docs/notebook_outputs.py notebooks/play_the_worlds.py
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import jupytext
import nbclient

OUTPUTS = Path(__file__).parents[1] / "notebooks" / "outputs"
SECONDS = 1200
"""Maximum time of a cell."""
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def code_of(notebook: Any) -> list[str]:
    """Return the code cells of a notebook."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def digest(notebook: Any) -> str:
    """Return the digest of a notebook's code."""
    return hashlib.sha256("\0".join(code_of(notebook)).encode()).hexdigest()[:16]


def printed(cell: Any) -> str:
    """Return what a cell that ran prints, without warnings and folders of this machine."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stdout":
            texts.append(output.text)
        elif output.output_type == "execute_result":
            texts.append(output.data.get("text/plain", "") + "\n")
    text = _COLOURS.sub("", "".join(texts)).rstrip()
    folder = re.escape(tempfile.gettempdir())
    return re.sub(folder + r"/\w+", "runs", text)


def main(files: list[str]) -> None:
    """Run the notebooks, each in an empty folder."""
    for name in files:
        notebook = jupytext.read(name)
        with tempfile.TemporaryDirectory() as folder:
            where = {"metadata": {"path": folder}}
            nbclient.NotebookClient(notebook, timeout=SECONDS, resources=where).execute()
        outputs = [printed(cell) for cell in notebook.cells if cell.cell_type == "code"]
        kept = {"digest": digest(notebook), "outputs": outputs}
        text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
        (OUTPUTS / f"{Path(name).stem}.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
