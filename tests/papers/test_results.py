from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.reports.test_records import record
from textcraft_gym.papers.page import Page
from textcraft_gym.papers.results import (
    Runs,
    Verdict,
    cell,
    conclusion,
    counted,
    is_told_apart,
    judged,
    judged_together,
    published_orders,
    verdicts,
)
from textcraft_gym.papers.table import (
    Claim,
    Column,
    Order,
    Paper,
    Row,
    Setting,
    Statement,
    Table,
    Term,
    cells,
    gains_more,
    is_above,
    is_comparable,
)

LOW, HIGH = (Setting("TextCraft-v0", "dev", agent) for agent in ("react", "adapt"))
TABLE = Table(
    "table1",
    "Table 1: a test",
    "About it.",
    (
        Column("All", episodes=200),
        Column("deep", "depth 3", episodes=60),
        Column("score", measure="score", episodes=200),
        Column("calls", measure="calls"),
    ),
    (
        Row("react", "ReAct", LOW, cells("20.0 1.8 25.0 ?")),
        Row("adapt", "ADaPT", HIGH, cells("50.0* 38.7 60.0 ?")),
        Row("other", "Other", None, cells("10.0 ? 1.0 ?"), missing="it is elsewhere"),
    ),
    (Statement("ADaPT is first", (is_above("adapt", "react", "All"),), "section 5.2"),),
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


def found(runs: dict[Setting, Runs], table: Table = TABLE) -> list[Verdict]:
    """Return the verdicts on all pairs of a table, adjusted together."""
    return verdicts(table, published_orders(table), runs)


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
    by_order = {verdict.order: verdict for verdict in found(played([run(low)], [run(high)]))}
    assert set(by_order) == {Order("adapt", "react", name) for name in ("All", "deep", "score")}
    verdict = by_order[Order("adapt", "react", "All")]
    assert (verdict.judgement, verdict.difference) == (judgement, pytest.approx((high - low) / 0.6))
    assert verdict.low <= verdict.difference <= verdict.high


def test_verdict__of_one_run_is_not_surer_than_its_tasks():
    """A greedy run that is played again is the same; that shows nothing of other tasks."""
    once = found(played([run(20)], [run(26)]))
    thrice = found(played([run(20)] * 3, [run(26)] * 3))
    assert (
        [verdict.judgement for verdict in once]
        == [verdict.judgement for verdict in thrice]
        == ["too close to tell"] * 3
    )


def test_verdicts__are_adjusted_for_all_pairs():
    one_pair = Table("t", "T", "", TABLE.columns[:1], TABLE.rows)
    runs = played([run(10)], [run(24, seed=3)])
    alone, among = (found(runs, table)[0] for table in (one_pair, TABLE))
    assert alone.order == among.order
    assert alone.p_value < among.p_value


def test_verdict__leaves_out_what_broke():
    broken = [
        {**record, "error": "x"} if index < 30 else record for index, record in enumerate(run(0))
    ]
    all_verdicts = found(played([run(0)], [broken]))
    assert counted(all_verdicts)["too close to tell"] == len(all_verdicts)


def page(**changes: Any) -> Page:
    runs = played([run(6)], [run(40)])
    arguments = {
        "table": TABLE,
        "rows": ["react", "adapt", "other"],
        "models": ("a|b",),
        "played": [runs],
        "prompts": ("standard",),
        "notes": ("Made data.",),
    }
    return Page(PAPER, **{**arguments, **changes})


def test_page__has_published_numbers_beside_those_of_models():
    text = page().markdown()
    assert text.startswith("# Table 1: a test\n\nSomebody, 2020, section 5.1.\n\nAbout it.\n")
    assert "| ReAct | 20.0 | 10.0 [5, 20] | 1.8 |" in text
    assert "| Other | 10.0 | - | - | - | 1.0 | - | - | - |" in text
    assert "* from memory of the printed paper" in text
    assert "†" not in text
    assert "Other: not played; it is elsewhere." in text
    assert "- a|b in All and score: 2 of 2 pairs of rows are as published." in text
    assert "- a|b in the groups: 1 of 1 pairs of rows are as published." in text
    assert (
        "the paper says in section 5.2 that ADaPT is first. 1 of 1 comparisons agree: it holds here"
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
    assert "2 the other way (react above adapt in All by 56.7 points, p " in text


def test_page__of_some_rows_has_no_others():
    text = page(rows=["adapt"], played=[{HIGH: Runs((run(40),))}]).markdown()
    assert "ReAct" not in text
    assert "In the published order?" not in text


def test_page__of_a_wide_table_has_models_below_the_published_numbers():
    both = {
        "models": ("a", "b"),
        "played": [played([run(6)], [run(9)]), {}],
        "prompts": ("standard",) * 2,
    }
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
    of_all = page(
        models=models,
        played=[played([run(6)], [run(9)])] * len(models),
        prompts=("standard",) * len(models),
    )
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


# What the paper's own episodes tell apart, and what is adjusted together.


def test_pairs__that_the_paper_does_not_tell_apart_are_not_counted():
    few = replace(
        TABLE,
        columns=tuple(column._replace(episodes=10) for column in TABLE.columns),
        statements=(),
    )
    assert not is_told_apart(few, Order("adapt", "react", "All"))
    assert is_told_apart(TABLE, Order("adapt", "react", "All"))
    unknown = replace(
        TABLE, columns=tuple(column._replace(episodes=None) for column in TABLE.columns)
    )
    assert not is_told_apart(unknown, Order("adapt", "react", "All"))
    text = page(table=few).markdown()
    assert "Not counted are 3 of 3 pairs of rows, which the paper's own episodes" in text
    assert (
        "adapt above react in All; adapt above react in deep; adapt above react in score." in text
    )
    assert "pairs of rows are as published" not in text
    assert "Not counted" not in page().markdown()


def test_main_columns__are_adjusted_apart_from_groups():
    orders = published_orders(TABLE)
    assert judged_together(TABLE, orders) == {
        "All and score": [order for order in orders if order.column != "deep"],
        "the groups": [Order("adapt", "react", "deep")],
    }
    # One pair in All and one in score: twice the p-value of one alone, and not thrice.
    runs = played([run(20)], [run(35, seed=5)])
    alone = found(runs, replace(TABLE, columns=TABLE.columns[:1]))
    by_family = judged_together(TABLE, [order for order in orders if "other" not in order])
    (in_all, in_score) = verdicts(TABLE, by_family["All and score"], runs)
    assert alone[0].p_value < 0.05
    assert in_all.p_value == in_score.p_value == pytest.approx(2 * alone[0].p_value)


def test_page__says_how_many_pairs_could_be_decided():
    """Five tasks a group, all changed one way, have p 0.0625."""
    few = {setting: Runs((run(won, episodes=10),)) for setting, won in ((LOW, 0), (HIGH, 10))}
    text = page(played=[few]).markdown()
    assert (
        "in All and score: 2 of 2 pairs of rows are as published. With as many tasks at most 2"
        in text
    )
    assert (
        "in the groups: 0 of 1 pairs of rows are as published, 1 too close to tell. With as many tasks at most 0 could"
        in text
    )


def test_fitted_row__is_in_no_order():
    rows = (TABLE.rows[0], replace(TABLE.rows[1], fitted=True), TABLE.rows[2])
    orders = published_orders(replace(TABLE, rows=rows))
    assert orders == [order for order in published_orders(TABLE) if "adapt" not in order]
    assert orders


# Statements.


def judgements(statement: Statement, *players: dict[Setting, Runs]) -> list[str]:
    return [finding.judgement for finding in judged(TABLE, statement, players)]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (0.0, "as published"),
        (30.0, "as published"),
        (60.0, "too close to tell"),
        (90.0, "the other way"),
    ],
)
def test_statement__of_more_than_some_points(points: float, expected: str):
    runs = played([run(6)], [run(40)])  # 56.7 points
    statement = Statement("more", (is_above("adapt", "react", "All", points),))
    (finding,) = judged(TABLE, statement, [runs])
    assert finding.judgement == conclusion(statement, [finding]) == expected
    assert finding.value == pytest.approx(100 * 34 / 60)
    assert finding.low < finding.value < finding.high


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ((3, 4), ["as published", "as published"]),
        ((3, 6), ["the other way", "as published"]),
        ((6, 3), ["as published", "the other way"]),
    ],
)
def test_statement__of_comparable_numbers(calls: tuple[int, int], expected: list[str]):
    """Neither has more than 1.5 times the calls of the other."""
    low, high = (
        [
            {**record, "calls": {"executor": count + index % 2}}
            for index, record in enumerate(run(6))
        ]
        for count in calls
    )
    statement = Statement("comparable", is_comparable("react", "adapt", "calls", 1.5))
    assert judgements(statement, played([low], [high])) == expected


def test_statement__of_an_equivalence_takes_a_narrow_interval():
    within = Statement(
        "alike", (Claim((Term("adapt", "All"), Term("react", "All", -1.0)), -20.0, 20.0),)
    )
    assert judgements(within, played([run(20)], [run(20)])) == ["as published"]
    assert judgements(within, played([run(6)], [run(40)])) == ["the other way"]
    few = {setting: Runs((run(2, episodes=6),)) for setting in (LOW, HIGH)}
    assert judgements(within, few) == ["too close to tell"]


def test_statement__of_a_number_alone_takes_tasks_enough():
    low = Statement("hardly any", (Claim((Term("react", "All"),), None, 10.0),))
    assert judgements(low, {LOW: Runs((run(0),))}) == ["as published"]
    assert judgements(low, {LOW: Runs((run(0, episodes=7),))}) == ["too close to tell"]
    assert judgements(low, {LOW: Runs((run(30),))}) == ["the other way"]
    assert judgements(low, {HIGH: Runs((run(30),))}) == []


def test_statement__of_a_larger_gain_compares_the_gains_of_disjoint_groups():
    columns = (Column("shallow", "depth 2"), Column("deep", "depth 3"))
    table = replace(
        TABLE, columns=columns, rows=tuple(replace(row, published=()) for row in TABLE.rows)
    )
    even, odd = ([index % 2 == parity for index in range(60)] for parity in (0, 1))

    def won(which: list[bool]) -> list[dict[str, Any]]:
        return [{**record, "won": hit} for record, hit in zip(run(0), which, strict=True)]

    runs = played([won(even)], [won([True] * 60)])  # all gains are of odd tasks, of depth 3
    for better, worse, expected in (
        ("deep", "shallow", "as published"),
        ("shallow", "deep", "the other way"),
    ):
        statement = Statement("gain", (gains_more("adapt", "react", better, worse),))
        (finding,) = judged(table, statement, [runs])
        assert (finding.judgement, abs(finding.value)) == (expected, 100.0)
    assert odd.count(True) == 30


def test_statement__of_a_larger_gain_compares_the_gains_on_the_same_tasks():
    columns = (Column("ten"), Column("three"))
    others = [replace(setting, env_args={"distractors": 3}) for setting in (LOW, HIGH)]
    rows = tuple(
        replace(row, played=(setting, other), published=())
        for row, setting, other in zip(TABLE.rows, (LOW, HIGH), others, strict=False)
    )
    table = replace(TABLE, columns=columns, rows=rows)
    runs = played([run(0)], [run(50)]) | dict.fromkeys(others, Runs((run(6),)))
    statement = Statement("gain", (gains_more("adapt", "react", "ten", "three"),))
    (finding,) = judged(table, statement, [runs])
    assert finding.value == pytest.approx(100 * 50 / 60)
    assert 0 < finding.low < finding.value < finding.high
    assert finding.judgement == "as published"


def test_statement__is_surer_of_one_claim_than_of_each_of_several():
    runs = played([run(20)], [run(33, seed=5)])
    claim = is_above("adapt", "react", "All")
    for claims, expected in (((claim,), "as published"), ((claim,) * 3, "too close to tell")):
        assert set(judgements(Statement("more", claims), runs)) == {expected}


def test_statement__with_few_against_it_is_open():
    claims = (
        is_above("adapt", "react", "All"),
        is_above("react", "adapt", "All"),
        is_above("adapt", "react", "All", 60.0),
    )
    statement = Statement("most", claims, least=2)
    findings = judged(TABLE, statement, [played([run(6)], [run(40)])])
    assert counted(findings) == dict.fromkeys(counted(findings), 1)
    assert conclusion(statement, findings) == "too close to tell"


def test_statement__of_most_groups_holds_with_some_against_it():
    claims = (is_above("adapt", "react", "All"), is_above("react", "adapt", "All"))
    runs = played([run(6)], [run(40)])
    for least, expected in ((1, "as published"), (None, "the other way")):
        statement = Statement("most", claims, least=least)
        findings = judged(TABLE, statement, [runs])
        assert conclusion(statement, findings) == expected
        text = page(table=replace(TABLE, statements=(statement,))).markdown()
        assert "1 of 2 comparisons agree" in text
        assert "1 against it (react in All against adapt in All)" in text


def test_statement__of_two_models_compares_their_rows():
    claim = Claim((Term("adapt", "All"), Term("adapt", "All", -1.0, 1)), -20.0, 20.0)
    statement = Statement("models are alike", (claim,), models=2)
    runs = [{HIGH: Runs((run(won),))} for won in (40, 40, 6)]
    assert judgements(statement, runs[0], runs[1]) == ["as published"]
    assert judgements(statement, runs[0], runs[2]) == ["the other way"]
    table = replace(TABLE, statements=(statement,))
    both = page(table=table, models=("a", "b"), played=runs[1:], prompts=("standard",) * 2)
    assert "- a and b: the paper says that models are alike." in both.markdown()
    assert (
        "- The paper says that models are alike. That takes 2 models."
        in page(table=table).markdown()
    )


def test_statement__of_rows_that_were_not_played_says_so():
    statement = Statement("it is last", (is_above("react", "other", "All"),))
    text = page(table=replace(TABLE, statements=(statement,))).markdown()
    assert "- The paper says that it is last. Its rows were not played." in text


# What prompts were played, and rows without a model.


def prompted(*prompts: str) -> Page:
    rows = (TABLE.rows[0], replace(TABLE.rows[1], needs_examples=True), TABLE.rows[2])
    return page(
        table=replace(TABLE, rows=rows, prompted="Its prompt shows two tasks."),
        models=tuple("ab")[: len(prompts)],
        played=[played([run(6)], [run(40)])] * len(prompts),
        prompts=prompts,
    )


def test_page__has_words_of_the_prompts_that_were_played():
    standard, short, own = (prompted(name).about()[0] for name in ("standard", "short", "mine"))
    assert standard == "About it. Its prompt shows two tasks."
    assert short.startswith("About it. The prompts are the set `short`")
    assert own == "About it. The prompts are those of the folder `mine`."
    both = prompted("standard", "short").about()[0]
    assert "Its prompt shows two tasks. The prompts of b are the set `short`" in both


def test_row_of_examples__is_left_out_with_prompts_that_have_none():
    assert "| ADaPT |" in prompted("standard").markdown()
    short = prompted("short").markdown()
    assert "| ADaPT |" not in short
    assert "Left out, since examples are their point and the prompts have none: ADaPT." in short
    assert "pairs of rows" not in short
    assert "adapt" not in prompted("short").csv()
    both = prompted("standard", "short")
    of_adapt = dict(both.by_origin(both.shown[1]))
    assert of_adapt["a"][0].startswith("66.7")
    assert of_adapt["b"] == ["-"] * 4


def test_scripted_row__never_stands_under_a_model():
    scripted = replace(HIGH, asks=False)
    rows = (TABLE.rows[0], replace(TABLE.rows[1], played=scripted), TABLE.rows[2])
    runs = {LOW: Runs((run(6),)), scripted: Runs((run(40),))}
    of_both = page(
        table=replace(TABLE, rows=rows),
        models=("a", "b"),
        played=[runs, runs],
        prompts=("standard",) * 2,
    )
    assert of_both.origins == ("published", "a", "b", "scripted")
    assert [origin for origin, _ in of_both.by_origin(rows[0])] == ["published", "a", "b"]
    assert [origin for origin, _ in of_both.by_origin(rows[1])] == ["published", "scripted"]
    of_row = {(line["row"], line["model"]) for line in of_both.cells() if "model" in line}
    assert of_row == {("react", "a"), ("react", "b"), ("adapt", "scripted")}
    for _, of_column in of_both.by_column(rows[1]):
        assert dict(of_column)["a"] == dict(of_column)["b"] == "-"
    assert "scripted" not in page().origins
