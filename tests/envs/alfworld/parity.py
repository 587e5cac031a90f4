"""Both engines on the games of a folder: counts the records that were compared, and prints those that differ.

``python -m tests.envs.alfworld.parity FOLDER [STEPS] [--games N] [--minutes M] [--seed N] [--plain]`` takes the games
evenly from all types of tasks, in an order that the seed draws. Each game is written down as it
ends, and is not played again by a later call with the same engine, folder, steps and seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

from tests.envs.alfworld.judge import difference, walk
from tests.envs.alfworld.memoised import memoised
from textcraft_gym.envs import alfworld

NOTES = Path("runs/parity")
ENGINE = sorted([*Path(alfworld.__file__).parent.glob("*.py"), *Path(__file__).parent.glob("*.py")])
"""The code that decides what is compared: results of other code are not counted."""


class Compared(NamedTuple):
    """The comparison of one game.

    Attributes:
        game: Its file, relative to the folder.
        records: Number of records that were compared.
        mismatches: Descriptions of those that differ, or of the error that ended the game.
    """

    game: str
    records: int
    mismatches: list[str]


class Notes:
    """The games that were compared, a line of JSON each, so that a stopped run goes on.

    Args:
        file: The file; an unfinished last line is dropped.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        file.write_text("".join(whole), encoding="utf-8")
        self.compared = [Compared(**json.loads(line)) for line in whole]

    def add(self, compared: Compared) -> None:
        """Write down one game."""
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(compared._asdict()) + "\n")
        self.compared.append(compared)


def task_type(file: Path) -> str:
    """Return the type of a game's task, which the name of its folder begins with."""
    return file.parts[-3].partition("-")[0]


def evenly(files: Iterable[Path], seed: int) -> list[Path]:
    """Return games in an order that the seed draws and that takes the types of tasks in turn."""
    of_type: defaultdict[str, list[Path]] = defaultdict(list)
    for file in sorted(files):
        of_type[task_type(file)].append(file)
    for games in of_type.values():
        random.Random(seed).shuffle(games)
    rounds = zip_longest(*(of_type[name] for name in sorted(of_type)))
    return [file for file in chain.from_iterable(rounds) if file is not None]


def compare(game: str, folder: Path, steps: int, seed: int, plain: bool) -> Compared:
    """Play one game on both engines."""
    records, mismatches = 0, []
    try:
        with nullcontext() if plain else memoised():
            for real, native in walk(folder / game, steps, seed):
                records += 1
                if real != native:
                    mismatches.append(f"{game}: {native.command!r}\n{difference(real, native)}")
    except (
        Exception
    ) as error:  # either engine may fail in any way, which is a finding and must not end the others
        mismatches.append(f"{game}: {type(error).__name__}: {error}")
    return Compared(game, records, mismatches)


def compared_within(
    seconds: float | None, games: Sequence[str], play: Callable[[str], Compared]
) -> Iterator[Compared]:
    """Yield games as they end, in several processes, for so many seconds or, for None, until all
    have ended."""
    deadline = None if seconds is None else time.monotonic() + seconds
    # TextWorld keeps some megabytes of every game that it loads, so no process plays many.
    with multiprocessing.Pool(maxtasksperchild=50) as pool:
        played = pool.imap_unordered(play, games)
        for _ in games:
            try:
                yield played.next(
                    None if deadline is None else max(0.0, deadline - time.monotonic())
                )
            except multiprocessing.TimeoutError:
                return


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare games, and print their number and those of records and mismatches by type of task."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.envs.alfworld.parity", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="where to look for games")
    parser.add_argument(
        "steps", type=int, nargs="?", default=200, help="how many commands to play in each"
    )
    parser.add_argument("--games", type=int, help="how many games to compare; by default all")
    parser.add_argument(
        "--minutes", type=float, help="when to stop; by default after the last game"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="draws the order of games, and the commands"
    )
    parser.add_argument(
        "--plain", action="store_true", help="play TextWorld as it is, ten times slower"
    )
    given = parser.parse_args(arguments)
    folder = given.folder.resolve()
    how = {"steps": given.steps, "seed": given.seed, "plain": given.plain}
    code = [file.read_text(encoding="utf-8") for file in ENGINE]
    notes = Notes(
        NOTES / f"{hashlib.sha256(repr((str(folder), how, code)).encode()).hexdigest()[:12]}.jsonl"
    )
    files = evenly(folder.rglob("game.tw-pddl"), given.seed)[: given.games]
    wanted = {str(file.relative_to(folder)): task_type(file) for file in files}
    known = {compared.game: compared for compared in notes.compared if compared.game in wanted}
    print(f"{len(wanted)} games, of which {len(known)} are in {notes.file}", flush=True)
    seconds = None if given.minutes is None else 60 * given.minutes
    missing = [game for game in wanted if game not in known]
    for compared in compared_within(seconds, missing, partial(compare, folder=folder, **how)):
        notes.add(compared)
        known[compared.game] = compared
        print(*compared.mismatches, f"{len(known)} of {len(wanted)} games", sep="\n", flush=True)
    return report(wanted, known.values())


def report(types: dict[str, str], compared: Iterable[Compared]) -> int:
    """Print the numbers of each type of task and of all, and return the exit status."""
    rows: defaultdict[str, list[Compared]] = defaultdict(list)
    for comparison in compared:
        rows[types[comparison.game]].append(comparison)
    everything = [comparison for some in rows.values() for comparison in some]
    for name, some in [*sorted(rows.items()), ("all", everything)]:
        records, mismatches = (
            sum(comparison.records for comparison in some),
            sum(len(comparison.mismatches) for comparison in some),
        )
        print(f"{name}: {len(some)} games, {records} records, {mismatches} mismatches")
    return 1 if not everything or any(comparison.mismatches for comparison in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
