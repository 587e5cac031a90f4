"""What a verdict takes, before anything is played."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.cli.test_main import run
from textcraft_gym.papers import ADAPT, DEPS
from textcraft_gym.papers.power import Size, needs
from textcraft_gym.papers.table import Table


def said(table: Table, tasks: int, families: int | None = None) -> list[str]:
    sizes = {"all": Size(tasks, tasks if families is None else families)}
    return [*needs(table, dict.fromkeys(table.settings, sizes))]


def test_needs__are_episodes_and_seeds_of_the_pairs_that_count():
    table = replace(ADAPT["table1"], columns=ADAPT["table1"].columns[-1:])
    rows = tuple(
        replace(table.row(key), published=table.row(key).published[-1:])
        for key in ("react", "adapt")
    )
    (one,) = said(replace(table, rows=rows), 134)
    assert one.startswith("in All at most 1 of 1 pairs of rows can have a verdict.")
    assert "about 50 episodes of each row, --seeds 1 " in one
    (short,) = said(replace(table, rows=rows), 20)
    assert "about 50 episodes of each row, --seeds 3 " in short
    (in_few,) = said(replace(table, rows=rows), 134, 5)
    (few,) = said(replace(table, rows=rows), 5)
    assert in_few == few
    assert few == (
        "in All at most 0 of 1 pairs of rows can have a verdict. 1 of them have too few tasks for "
        "any number of seeds."
    )


def test_needs__has_no_word_of_pairs_that_the_paper_does_not_tell_apart():
    assert said(DEPS["table8"], 500) == []
    assert said(ADAPT["table1"], 0) == []


def test_dry_run__says_what_a_verdict_takes(tmp_path: Path):
    out = ("--dry-run", "--model", "openai:m", "--out", str(tmp_path / "out"))
    shown = run("reproduce", "adapt/table1", *out).replace("\n", " ")
    assert "adapt/table1: in All at most 6 of 6 pairs of rows can have a verdict." in shown
    assert "adapt/table1: in the groups at most 12 of 12 pairs" in shown
    assert "pairs of rows" not in run("reproduce", "adapt/table1", "--rows", "react", *out)
