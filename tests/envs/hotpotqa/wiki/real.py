"""The original's questions, where they lie beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

REAL = Path(__file__).parents[5] / "shared" / "hotpotqa"
needs_real = pytest.mark.skipif(
    not REAL.is_dir(),
    reason="the real questions may not be bundled; they are looked for beside the project",
)
