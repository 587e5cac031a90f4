"""The notebooks run: as scripts where what they import is installed, as notebooks with the extra [docs]."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
NEEDS = {"maskable_ppo": "sb3_contrib", "serve_and_connect": "openenv"}
"""The package that a notebook needs beyond those of the suite."""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook__runs_as_a_script(notebook: Path, tmp_path: Path):
    if notebook.stem in NEEDS:
        pytest.importorskip(NEEDS[notebook.stem])
    result = subprocess.run(
        [sys.executable, str(notebook)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
@pytest.mark.filterwarnings("default")
def test_notebook__runs_as_a_notebook(notebook: Path, tmp_path: Path):
    jupytext = pytest.importorskip("jupytext", reason="the extra [docs] is not installed")
    nbclient = pytest.importorskip("nbclient", reason="the extra [docs] is not installed")
    if notebook.stem in NEEDS:
        pytest.importorskip(NEEDS[notebook.stem])
    read = jupytext.read(notebook)
    assert read.cells[0].source.startswith("# ")
    nbclient.NotebookClient(read, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any(cell.get("outputs") for cell in read.cells)
