"""Says what the runs of ``make demo`` came to, in two sentences, and where to read on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    """Print the sentences about the runs in a folder, and links to its pages."""
    runs: dict[str, Mapping[str, Any]] = {}
    for file in sorted(folder.glob("*/summary.json")):
        runs[file.parent.name] = json.loads(file.read_text(encoding="utf-8"))["all"]
    print()
    for sentence in sentences(runs):
        print(sentence)
    for page in ("report.html", "models.html"):
        if (folder / page).exists():
            print(f"  {(folder / page).resolve().as_uri()}")


def sentences(runs: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what scripted players did, and what a language model did."""
    expert, random = runs["expert"], runs["random"]
    yield (
        f"Without a model, the expert won {expert['won']} of {expert['episodes']} goals and the "
        f"random agent {random['won']}, because it draws from the commands that have an effect."
    )
    if "react" not in runs or "adapt" not in runs:
        yield "No language model played, since its packages could not be installed."
        return
    react, adapt = runs["react"], runs["adapt"]
    yield (
        f"A small language model won {react['won']} of {react['episodes']} goals of three levels "
        f"as ReAct, and {adapt['won']} as ADaPT, which plans where a direct attempt fails."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
