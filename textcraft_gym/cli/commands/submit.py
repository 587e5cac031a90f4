"""The command ``textcraft-gym submit``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.options import Trust
from textcraft_gym.cli.terminal import say
from textcraft_gym.reports.tables import percent
from textcraft_gym.verify.board import BOARD, check, read_board
from textcraft_gym.verify.board import submit as submit_run

app = typer.Typer(add_completion=False)


@app.command()
def submit(
    runs: Annotated[list[Path] | None, typer.Argument(help="Run folders.")] = None,
    board: Annotated[
        Path,
        typer.Option(
            help="File of the board, made where there is none; runs are copied to runs/ beside it, "
            "and README.md shows the table."
        ),
    ] = BOARD,
    is_check: Annotated[
        bool, typer.Option("--check", help="Recheck every run of the board, and its lines.")
    ] = False,
    trust: Trust = None,
) -> None:
    """Recheck runs, and add them to a board of results.

    A run that differs from its replay, is unfinished or has only errors is refused.

    Exit status: 0 if every line is right, 1 if a line of the board is wrong, 2 if a run is refused.
    """
    if is_check == bool(runs):
        raise ValueError("expected run folders or --check")
    # A board of one's own may be new; that of the project is in its clones alone.
    if board == BOARD and not board.exists():
        raise ValueError(
            f"there is no {board} here: work in a clone of textcraft_gym, or name a board of your "
            "own with --board"
        )
    if is_check:
        _check(board, trust or ())
        return
    for run in runs or ():
        before = read_board(board)
        entry = submit_run(run, board, trusted=trust or ())
        placed = "was already" if entry in before else "is"
        say(
            f"{run}: rechecked {entry.n} episodes, success {percent(entry.success)}; "
            f"it {placed} on {board}"
        )
    if board == BOARD:
        say(f"Commit {board.parent}, and open a pull request.")


def _check(board: Path, trusted: Sequence[str]) -> None:
    wrong = check(board, trusted=trusted)
    for line in wrong:
        say(line)
    if wrong:
        raise typer.Exit(1)
    say(f"rechecked {len(read_board(board))} runs of {board}: all lines follow from them")
