"""Rows that count one task each, that are played alike, that are compared with others, and that
nothing plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_main import run
from tests.reports.test_records import record
from textcraft_gym import RunSpec
from textcraft_gym.papers import AUTOPLAN, DEPS
from textcraft_gym.papers.reproduce import Job, Reproduction
from textcraft_gym.papers.results import Runs, cell, published_orders, verdicts
from textcraft_gym.papers.table import Column, Order, Row, Setting, Table, cells

PLAYED, OTHER = (Setting("MineTechTree-v0", "MT1", agent) for agent in ("deps", "zero_shot"))
COLUMN = Column("All")


def test_row_of_a_task__counts_its_episodes_alone():
    runs = Runs(
        tuple(
            [record("stick", won=won), record("chest", won=not won)]
            for won in (True, True, False, False)
        )
    )
    result = cell(Row("stick", "stick", PLAYED, task="stick"), 0, COLUMN, {PLAYED: runs})
    assert result is not None
    assert (result.value, result.runs, result.tasks) == (50, 4, 1)
    assert cell(Row("bowl", "bowl", PLAYED, task="bowl"), 0, COLUMN, {PLAYED: runs}) is None


def test_rows_of_different_tasks__are_not_compared():
    rows = (
        Row("stick", "stick", PLAYED, cells("10"), task="stick"),
        Row("chest", "chest", OTHER, cells("20"), task="chest"),
    )
    assert published_orders(Table("table9", "", "", (COLUMN,), rows)) == []
    assert published_orders(DEPS["table20"]) == published_orders(DEPS["table21"]) == []


def test_rows_that_are_played_alike__are_compared_once():
    rows = (
        Row("first", "First", OTHER, cells("10")),
        Row("first_deps", "First with DEPS", PLAYED, cells("20")),
        Row("second", "Second", OTHER, cells("5")),
        Row("second_deps", "Second with DEPS", PLAYED, cells("30")),
    )
    assert published_orders(Table("table9", "", "", (COLUMN,), rows)) == [
        Order("first_deps", "first", "All")
    ]
    table = DEPS["table19"]
    assert len(published_orders(table)) == len(table.columns)
    low, high = table.row("codex_baseline").setting(0), table.row("codex_deps").setting(0)
    assert low is not None
    assert high is not None
    played = {
        setting: Runs(([record(f"task {task}", group="MT1", won=won) for task in range(20)],))
        for setting, won in ((low, False), (high, True))
    }
    (verdict,) = (
        candidate
        for candidate in verdicts(table, published_orders(table), played)
        if candidate.order.column == "MT1"
    )
    assert verdict.judgement == "as published"


@pytest.mark.parametrize(("cost", "shown"), [(0.25, "0.25"), (3.0, "3.0"), (0.0, None)])
def test_cost__is_of_an_episode_and_none_without_a_price(cost: float, shown: str | None):
    runs = Runs(([record("stick", cost=cost), record("chest", cost=cost)],))
    result = cell(Row("deps", "DEPS", PLAYED), 0, Column("dollars", measure="cost"), {PLAYED: runs})
    assert shown == (result and str(result))


def test_p_value__is_of_the_difference_between_runs():
    table = AUTOPLAN["table5"]
    row, column = table.rows[0], table.columns[0]
    assert {row.setting(0), row.against[0]} <= set(table.settings)

    def played(*won: tuple[int, ...]) -> dict[Setting, Runs]:
        settings = (row.setting(0), row.against[0])
        runs = [
            Runs(
                tuple(
                    [
                        record(f"task {task}", group=column.group, won=task < of_run)
                        for task in range(20)
                    ]
                    for of_run in many
                )
            )
            for many in won
        ]
        return {
            setting: of_setting
            for setting, of_setting in zip(settings, runs, strict=True)
            if setting
        }

    from scipy.stats import ttest_ind

    result = cell(row, 0, column, played((4, 6, 5), (9, 12, 10)))
    expected = ttest_ind([0.2, 0.3, 0.25], [0.45, 0.6, 0.5]).pvalue
    assert result is not None
    assert (result.value, result.runs, result.tasks) == (pytest.approx(expected, rel=1e-5), 3, 20)
    assert str(result) == f"{expected:.2g}"
    assert cell(row, 0, column, played((4, 6), (9,))) is None
    assert published_orders(table) == []


@pytest.mark.parametrize(
    ("of_all", "expected"), [(None, (50, None)), (10, (10, 10)), (90, (50, 90))]
)
def test_max_steps__are_the_fewer_of_the_setting_and_the_run(
    of_all: int | None, expected: tuple[int, int | None]
):
    played = [DEPS[table].row("dep").setting(0) for table in ("table6", "table2")]
    plan = Reproduction({}, ("m",), 1, {}, RunSpec("", max_steps=of_all))
    assert (
        tuple(plan.spec(Job(setting, 0, 0)).max_steps for setting in played if setting) == expected
    )


def test_reproduce__of_rows_that_cannot_be_played_has_the_reasons(tmp_path: Path):
    run(
        *("reproduce", "deps/figure4", "--rows", "clip,mineclip"),
        *("--model", "tests.papers.models:Inventory", "--out", str(tmp_path / "out")),
    )
    page = (tmp_path / "out" / "deps-figure4.md").read_text(encoding="utf-8")
    for row in (DEPS["figure4"].row(key) for key in ("clip", "mineclip")):
        assert f"{row.label}: not played; {row.missing}." in page
