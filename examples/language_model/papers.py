"""The papers' tables with the packaged language model, played as far as there is time.

The runs are kept beside the pages, packed in one file: a later start goes on from them, and so does
a reader who would rather see the episodes than believe the pages. It takes hours on two cores, and
needs torch, transformers and gguf for batched.py.

python examples/language_model/papers.py benchmarks/results/papers --minutes 60
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path

from textcraft_gym.papers import PAPERS

SOURCE = Path(__file__).parent
DIGEST = "sha256-d9d2e4700ebd"
"""The packaged adapter with its base."""
MODEL = f"batched:BatchedModel,digest={DIGEST}"
WORKERS, TREE_WORKERS = 40, 12
"""Numbers of concurrent episodes: the model has room for 48 dialogues, or for 12 long ones.

It keeps what it read of each if a few places are left for single questions.
"""
UNPLAYED: Mapping[str, tuple[str, ...]] = {
    "adapt/table2": ("lats",),
    "adapt/table7": ("lats",),
    "deps/table4": ("unlimited",),
    "deps/table6": ("zero_shot_replanning", "inner_monologue", "dep"),
    "autoplan/table3a": ("adaplanner", "adaplanner_0"),
}
"""Rows that are not played: LATS, DEPS to the end of its context and table 6's re-plans ask for
hours, and AdaPlanner is AutoPlan's rival. Rows whose point is examples are left out anyway."""
TREE = (
    *("deps/table2", "deps/table3", "deps/table4", "deps/table20", "deps/table21"),
    "deps/figure9",
)
"""DEPS's tables of the tech tree, whose dialogues are long."""
TABLES = (
    *("adapt/table2", "adapt/table3", "adapt/table7"),
    *TREE,
    "deps/table8",
    *("adapt/table1", "adapt/figure6", "adapt/figure7", "adapt/figure12"),
    *("adapt/figure4", "adapt/table8", "deps/table6"),
    "autoplan/table3b",
    "autoplan/table3a",
)
"""The tables, most-read first; those behind one whose runs they share take no time."""
MOMENT = 0.001
"""Seconds in which nothing is played, and the pages are written all the same."""
ARCHIVE = "runs.tar.xz"
UNNEEDED = ("calls.jsonl.gz", ".lock")
"""Files of a run that neither another start nor ``textcraft-gym verify`` needs."""
BEGUN = frozenset({"config.json", "report.md"})
"""Files of a run of which nothing was played."""


def main() -> int:
    """Play what is missing, and write the pages and the packed runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder of the pages and of the packed runs")
    parser.add_argument("--out", type=Path, default=Path("runs/papers"), help="folder of the runs")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="when to stop")
    args = parser.parse_args()

    archive = args.results / ARCHIVE
    if archive.exists() and not args.out.exists():
        unpack(archive, args.out)
    end = time.monotonic() + 60 * args.minutes
    status = 0
    for name in TABLES:
        # When time is over, too, the tables that follow have pages of the runs that they share.
        status = reproduce(name, args.out, end - time.monotonic()) or status
    for page in sorted(args.out.glob("*-*.*")):
        if page.suffix in (".md", ".csv"):
            shutil.copy(page, args.results)
    pack(args.out, archive)
    return status


def reproduce(name: str, out: Path, seconds: float) -> int:
    """Play what is missing of a table, write its page, and return the exit status."""
    workers = TREE_WORKERS if name in TREE else WORKERS
    command = [sys.executable, "-m", "textcraft_gym", "reproduce", name, "--out", str(out)]
    command += ["--model", MODEL, "--workers", str(workers), "--no-calls"]
    # Rows that begin alike, such as an agent's with more trials, ask the same.
    command += ["--cassette", str(out / "answers.sqlite")]
    if name in UNPLAYED:
        command += ["--rows", ",".join(rows(name))]
    if seconds != float("inf"):
        command += ["--max-seconds", str(max(seconds, MOMENT))]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.call(command, env=environment)  # noqa: S603


def rows(name: str) -> list[str]:
    """Return the keys of the rows of a table that are played."""
    paper, key = name.split("/")
    unplayed = UNPLAYED.get(name, ())
    return [row.key for row in PAPERS[paper][key].rows if row.key not in unplayed]


def unpack(archive: Path, out: Path) -> None:
    """Unpack the runs into a new folder."""
    out.mkdir(parents=True)
    with tarfile.open(archive) as packed:
        packed.extractall(out, filter="data")


def pack(out: Path, archive: Path) -> None:
    """Pack the runs of a folder; the same runs make the same archive."""
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for folder in sorted({file.parent for file in out.glob("runs/**/*.json")}):
            names = {file.name for file in folder.iterdir() if file.is_file()} - {*UNNEEDED}
            for name in sorted(names if names - BEGUN else ()):
                member = (folder / name).relative_to(out).as_posix()
                packed.add(folder / name, member, filter=_nameless)


def _nameless(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    info.mode = 0o644
    return info


if __name__ == "__main__":
    raise SystemExit(main())
