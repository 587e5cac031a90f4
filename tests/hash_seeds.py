"""A Python program's output under a hash seed, which only a process of its own can have."""

from __future__ import annotations

import os
import subprocess
import sys


def printed(hash_seed: int, code: str, *arguments: str) -> str:
    """Return what a program prints, without the last line's end."""
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.rstrip("\n")
