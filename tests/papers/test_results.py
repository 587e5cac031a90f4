from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.reports.test_records import record
from textcraft_gym.papers.page import Page
from textcraft_gym.papers.results import Runs, cell, counted, published_orders, verdicts
from textcraft_gym.papers.table import Column, Order, Paper, Row, Setting, Statement, Table, cells

LOW, HIGH = (Setting("TextCraft-v0", "dev", agent) for agent in ("react", "adapt"))
TABLE = Table(
    "table1",
    "Table 1: a test",
    "About it.",
    (
        Column("All"),
        Column("deep", "depth 3"),
        Column("score", measure="score"),
        Column("calls", measure="calls"),
    ),
    (
        Row("react", "ReAct", LOW, cells("20.0 1.8 25.0 ?")),
        Row("adapt", "ADaPT", HIGH, cells("50.0* 38.7 60.0 ?")),
        Row("other", "Other", None, cells("10.0 ? 1.0 ?"), missing="it is elsewhere"),
    ),
    (Statement("ADaPT is first", (Order("adapt", "react", "All"),), "section 5.2"),),
    ("The paper contradicts itself.",),
    "section 5.1",
)
PAPER = Paper("test", "Somebody, 2020", (TABLE,))


def run(won: int, *, episodes: int = 60, seed: int = 0, **changes: Any) -> list[dict[str, Any]]:
    """Return records of which some are won."""
    winners = set(random.Random(seed).sample(range(episodes), won))
    return [
        record(
            f"task {number}",
            won=number in winners,
            reward=float(number in winners) / 2,
            group=f"depth {2 + number % 2}",
            calls={"executor": 3},
            tokens={"prompt_tokens": 100, "completion_tokens": 20 + number % 2},
            **changes,
        )
        for number in range(episodes)
    ]


def played(low: list[Any], high: list[Any]) -> dict[Setting, Runs]:
    return {LOW: Runs(tuple(low)), HIGH: Runs(tuple(high))}


def test_cell__is_the_mean_over_runs_in_the_papers_unit():
    runs = played([run(6), run(12, seed=1)], [run(30)])
    low, high = (cell(row, 0, TABLE.columns[0], runs) for row in TABLE.rows[:2])
    assert low is not None
    assert high is not None
    assert (low.value, low.runs, low.tasks, str(low)) == (pytest.approx(15), 2, 60, "15.0 ± 7.1")
    assert (high.value, high.between_runs, str(high)) == (50.0, None, "50.0 [38, 62]")
    calls = cell(TABLE.rows[0], 3, TABLE.columns[3], runs)
    assert calls is not None
    assert (calls.value, calls.low) == (3.0, None)
    tokens = cell(TABLE.rows[0], 3, Column("tokens", measure="tokens"), runs)
    assert tokens is not None
    assert (tokens.value, tokens.low) == (120.5, None)
    assert cell(TABLE.rows[2], 0, TABLE.columns[0], runs) is None
    assert cell(TABLE.rows[0], 1, Column("deep", "depth 9"), runs) is None


def test_published_orders__are_of_numbers_that_differ_and_that_tasks_have():
    assert published_orders(TABLE) == [
        Order("adapt", "react", "All"),
        Order("react", "other", "All"),
        Order("adapt", "other", "All"),
        Order("adapt", "react", "deep"),
        Order("adapt", "react", "score"),
        Order("react", "other", "score"),
        Order("adapt", "other", "score"),
    ]


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [
        (6, 40, "as published"),
        (40, 6, "the other way"),
        (20, 22, "too close to tell"),
        (20, 20, "too close to tell"),
    ],
)
def test_verdict__is_by_the_tasks_that_both_rows_have(low: int, high: int, judgement: str):
    by_order = {
        verdict.order: verdict for verdict in verdicts(TABLE, played([run(low)], [run(high)]))
    }
    assert set(by_order) == {Order("adapt", "react", name) for name in ("All", "deep", "score")}
    verdict = by_order[Order("adapt", "react", "All")]
    assert (verdict.judgement, verdict.difference) == (judgement, pytest.approx((high - low) / 0.6))
    assert verdict.low <= verdict.difference <= verdict.high


def test_verdict__of_one_run_is_not_surer_than_its_tasks():
    """A greedy run that is played again is the same; that shows nothing of other tasks."""
    once = verdicts(TABLE, played([run(20)], [run(26)]))
    thrice = verdicts(TABLE, played([run(20)] * 3, [run(26)] * 3))
    assert (
        [verdict.judgement for verdict in once]
        == [verdict.judgement for verdict in thrice]
        == ["too close to tell"] * 3
    )


def test_verdicts__are_adjusted_for_all_pairs():
    one_pair = Table("t", "T", "", TABLE.columns[:1], TABLE.rows)
    runs = played([run(10)], [run(24, seed=3)])
    alone, among = (verdicts(table, runs)[0] for table in (one_pair, TABLE))
    assert alone.order == among.order
    assert alone.p_value < among.p_value


def test_verdict__leaves_out_what_broke():
    broken = [
        {**record, "error": "x"} if index < 30 else record for index, record in enumerate(run(0))
    ]
    all_verdicts = verdicts(TABLE, played([run(0)], [broken]))
    assert counted(all_verdicts)["too close to tell"] == len(all_verdicts)


def page(**changes: Any) -> Page:
    runs = played([run(6)], [run(40)])
    arguments = {
        "rows": ["react", "adapt", "other"],
        "models": ("a|b",),
        "played": [runs],
        "notes": ("Made data.",),
    }
    return Page(PAPER, TABLE, **{**arguments, **changes})


def test_page__has_published_numbers_beside_those_of_models():
    text = page().markdown()
    assert text.startswith("# Table 1: a test\n\nSomebody, 2020, section 5.1.\n\nAbout it.\n")
    assert "| ReAct | 20.0 | 10.0 [5, 20] | 1.8 |" in text
    assert "| Other | 10.0 | - | - | - | 1.0 | - | - | - |" in text
    assert "* from memory of the printed paper" in text
    assert "†" not in text
    assert "Other: not played; it is elsewhere." in text
    assert "- a|b: 3 of 3 pairs of rows are as published." in text
    assert (
        "the paper says in section 5.2 that ADaPT is first. 1 of 1 pairs of rows are as published."
        in text
    )
    assert "- The paper contradicts itself.\n" in text


def test_page__counts_what_broke():
    broken = [
        {**record, "error": "x"} if index < 3 else record for index, record in enumerate(run(6))
    ]
    text = page(played=[played([broken], [run(40)])]).markdown()
    assert "a|b: 3 episodes failed, and count in no number." in text
    assert "episodes failed" not in page().markdown()


def test_page__counts_losses_at_a_limit():
    limited = run(6)
    lost = [episode for episode in limited if not episode["won"]]
    for episode, limit in zip(lost, ("context", "empty", "context"), strict=False):
        episode["limit"] = limit
    text = page(played=[played([limited], [run(40)])]).markdown()
    words = "3 of 120 episodes were lost at a limit of the model or the run (context 2, empty 1)"
    assert f"a|b: {words}." in text
    assert "at a limit" not in page().markdown()


def test_page__says_how_many_tasks_stand_behind_its_numbers():
    assert "of one run. Success is over 60 tasks in All, 30 tasks in deep.\n" in page().markdown()


def test_page__of_a_table_whose_section_is_not_known_names_none():
    table = replace(TABLE, section="", statements=(replace(TABLE.statements[0], section=""),))
    text = page().markdown()
    unknown = replace(page(), table=table).markdown()
    assert "\n\nSomebody, 2020.\n\n" in unknown
    assert "a|b: the paper says that ADaPT is first." in unknown
    assert text.count("section") == 2


def test_page__names_what_is_the_other_way():
    text = page(played=[played([run(40)], [run(6)])]).markdown()
    assert "3 the other way (react above adapt in All by 56.7 points, p " in text


def test_page__of_some_rows_has_no_others():
    text = page(rows=["adapt"], played=[{HIGH: Runs((run(40),))}]).markdown()
    assert "ReAct" not in text
    assert "In the published order?" not in text


def test_page__of_a_wide_table_has_models_below_the_published_numbers():
    both = {"models": ("a", "b"), "played": [played([run(6)], [run(9)]), {}]}
    rows = tuple(replace(row, published=row.published[:2]) for row in TABLE.rows)
    narrow = replace(page(**both), table=replace(TABLE, columns=TABLE.columns[:2], rows=rows))
    headings, *rows = narrow.grid
    assert headings[:4] == ["", "All, published", "All, a", "All, b"]
    assert rows[0][:4] == ["ReAct", "20.0", "10.0 [5, 20]", "-"]

    wide = page(**both)
    headings, *rows = wide.grid
    assert headings[:4] == ["", "", "All", "deep"]
    assert [row[:3] for row in rows[:3]] == [
        ["ReAct", "published", "20.0"],
        ["", "a", "10.0 [5, 20]"],
        ["", "b", "-"],
    ]
    assert '<table class="stacked' in wide.html()
    assert '<table class="beside' in narrow.html()


@pytest.mark.parametrize("models", [("a",), ("a", "b")])
def test_page__has_the_same_numbers_in_each_form(models: tuple[str, ...]):
    of_all = page(models=models, played=[played([run(6)], [run(9)])] * len(models))
    numbers = []
    for form in (of_all.beside, of_all.stacked, of_all.listed):
        cells = Counter(text for row in form[1:] for text in row if text[:1].isdigit())
        numbers.append(cells)
    assert numbers[0] == numbers[1] == numbers[2]
    assert numbers[0]["10.0 [5, 20]"] == len(models)


def test_html__is_text_alone():
    html = page(models=("<script>alert(1)</script>",)).html()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert html.count('<td class="published">') == 24, "twice, of which a screen has room for one"


def test_csv__has_a_row_for_each_cell():
    lines = page().csv().splitlines()
    assert len(lines) == 1 + 3 * 4
    assert lines[1].startswith("test,table1,react,All,20,,,a|b,10,")
    assert lines[5].startswith("test,table1,adapt,All,50,,*,a|b,66.6667,")


def test_cell__of_claims_is_none_where_the_game_ended_wins():
    column = Column("claimed", measure="claimed")
    bought = run(30, claimed_success=True, stop_reason="terminated")
    ended = run(30, claimed_success=None, stop_reason="terminated")
    runs = played([bought], [ended])
    claimed, silent = (cell(row, 0, column, runs) for row in TABLE.rows[:2])
    assert claimed is not None
    assert claimed.value == 100.0
    assert silent is None
