from __future__ import annotations

import pytest

from textcraft_gym.errors import UnknownName
from textcraft_gym.papers import ADAPT, PAPERS
from textcraft_gym.papers.table import Cell, Column, Row, Setting, Table, Training, cells

GAME = Setting("TextCraft-v0", "dev", "react")


def test_cells__are_numbers_with_spreads_and_marks():
    assert cells("33.0 79.77±8.5 ? 71.6b 0=") == (
        Cell(33.0, None, "", "33.0"),
        Cell(79.77, 8.5, "", "79.77 ± 8.5"),
        None,
        Cell(71.6, None, "b", "71.6b"),
        Cell(0.0, None, "=", "0="),
    )


@pytest.mark.parametrize("text", ["x", "-", "1.2.3±", "12 %", "3±", "1,5", "12x"])
def test_cells__are_nothing_else(text: str):
    with pytest.raises(ValueError, match="expected a number or"):
        cells(text)


def test_settings__are_played_once_and_in_the_order_of_the_rows():
    other = Setting("TextCraft-v0", "dev", "adapt", {"d_max": 2})
    table = Table(
        "t",
        "T",
        "",
        (Column("a"), Column("b", "depth 2")),
        (
            Row("x", "X", (other, None)),
            Row("y", "Y", GAME),
            Row("z", "Z", None, missing="lost"),
            Row("w", "W", GAME),
        ),
    )
    assert table.settings == (other, GAME)
    assert table.settings_of(["y"]) == (GAME,)
    with pytest.raises(UnknownName, match="unknown row 'v'"):
        table.settings_of(["v"])


def test_setting__is_told_apart_by_all_that_it_is():
    settings = [
        GAME,
        Setting("TextCraft-v0", "dev", "react", {"turns": 5}),
        Setting("TextCraft-v0", "dev", "react", env_args={"distractors": 0}),
        Setting("TextCraft-v0", "dev", "react", wrappers=("HelpfulFeedback",)),
        Setting("TextCraft-v0", "dev", "react", max_calls=20),
        Setting("TextCraft-v0", "dev", "autoplan", training=Training(24)),
        Setting("TextCraft-v0", "dev", "autoplan", training=Training(24, batch=2)),
    ]
    assert (
        len({setting.name for setting in settings}) == len(dict.fromkeys(settings)) == len(settings)
    )


def test_paper__has_its_tables_by_name():
    assert ADAPT["table2"].row("adapt").published[1] == Cell(52.0, None, "", "52.0")
    with pytest.raises(UnknownName, match="unknown table 'table9'"):
        ADAPT["table9"]
    assert all(paper.key == key for key, paper in PAPERS.items())
