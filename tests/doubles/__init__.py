"""Doubles of what the suite talks with: servers of language models, the model behind them, and
models for a spec."""

from __future__ import annotations

import os
from pathlib import Path

from tests.doubles.crafter import Crafter as Crafter
from tests.doubles.crafter import ShortCrafter as ShortCrafter
from tests.doubles.recorded import Recorded as Recorded

CRAFTER = "tests.doubles:Crafter"


def environment() -> dict[str, str]:
    """Return the environment of a process that is to find these doubles from any folder."""
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
