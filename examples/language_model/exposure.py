"""Writes which tasks the packaged adapter was trained on, or on nearly the same ones.

The report and the papers' pages then show the success on these tasks, and on the others, apart:

    python examples/language_model/exposure.py agents/models/adapters/exposure.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from minetechtree import held_out
from papers import DIGEST

from textcraft_gym import tasks


def exposure() -> dict[str, Any]:
    """Return the tasks of the training by world, for the adapter of a digest."""
    crafting = [task for split in ("train", "dev") for task in tasks("TextCraft-v0", split)]
    families = {task.family for task in crafting}
    twins = [task.id for task in tasks("TextCraft-v0", "test") if task.family in families]
    tools = {task.id for task in tasks("MineTechTree-v0")} - held_out()
    return {
        "digest": DIGEST,
        "trained": {
            "TextCraft-v0": sorted(task.id for task in crafting),
            "MineTechTree-v0": sorted(tools),
        },
        "twins": {"TextCraft-v0": sorted(twins)},
    }


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    file.write_text(json.dumps(exposure(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
