from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.reports.metrics import claim_of, groups, summarise, summarise_by_group
from textcraft_gym.reports.success import wilson_interval
from textcraft_gym.reports.tables import effort_table, markdown, success_table
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate


@given(
    st.integers(1, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))
)
def test_wilson_interval__agrees_with_scipy(counts: tuple[int, int]):
    from scipy.stats import binomtest

    interval = binomtest(*counts).proportion_ci(method="wilson")
    assert wilson_interval(*counts) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_wilson_interval__knows_nothing_without_trials():
    assert wilson_interval(0, 0) == (0.0, 1.0)


NUMBERS = count()


def record(depth: int = 2, won: bool = True, **more) -> dict:
    effort = {"calls": {}, "tokens": {}, "replies": {}, "cost": 0.0, "k_max": 0}
    effort |= {"claimed_success": None, "stop_reason": "agent", "restores": [], "repeat": 0}
    effort |= {"limit": None}
    task = more.get("task", f"task {next(NUMBERS)}")
    return {
        "task": task,
        "family": task,
        "group": f"depth {depth}",
        "depth": depth,
        "won": won,
        "reward": float(bool(won)),
        "steps": 6,
        "optimal_length": 3,
        **effort,
        **more,
    }


def test_summarise__keeps_errors_out_of_every_rate():
    summary = summarise([record(), record(won=False, steps=100), record(won=False, error="boom")])
    assert (summary.episodes, summary.errors, summary.won, summary.rate) == (2, 1, 1, 0.5)
    assert (summary.reward, summary.steps, summary.steps_over_optimal) == (0.5, 53, 2.0)
    assert (summary.low, summary.high) == wilson_interval(1, 2)


def test_summarise__of_errors_alone_has_no_rate():
    summary = summarise([record(won=False, error="boom")])
    assert (summary.episodes, summary.errors, summary.rate, summary.reward) == (0, 1, None, None)


def test_summarise_by_group__has_a_row_a_group_and_one_for_all():
    by_group = summarise_by_group([record(4, False), record(2), record(2, False), record(3)])
    assert {group: (s.won, s.episodes, s.depth) for group, s in by_group.items()} == {
        "depth 2": (1, 2, 2.0),
        "depth 3": (1, 1, 3.0),
        "depth 4": (0, 1, 4.0),
        "all": (2, 4, 2.75),
    }
    assert list(by_group) == ["depth 2", "depth 3", "depth 4", "all"]


def test_summarise_by_group__orders_by_depth_and_then_by_name():
    records = [
        record(depth, group=group)
        for depth, group in ((10, "a"), (9, "heat"), (9, "cool"), (2, "z"))
    ]
    assert list(summarise_by_group(records)) == ["z", "cool", "heat", "a", "all"]
    runs = [summarise_by_group(records[:2]), summarise_by_group(records[2:])]
    assert groups(runs) == ["z", "cool", "heat", "a"]


def test_summarise_by_group__has_one_row_where_tasks_form_no_groups():
    by_group = summarise_by_group([record(2, group="all"), record(3, group="all", error="boom")])
    assert {group: (s.won, s.episodes, s.errors) for group, s in by_group.items()} == {
        "all": (1, 1, 1)
    }
    assert list(summarise_by_group([record(2, group="all"), record(3, group="b")])) == ["b", "all"]
    assert list(summarise_by_group([])) == ["all"]


def test_markdown__shows_each_run_and_group():
    runs = {"a": [record()], "b": [record(won=False, error="x")]}
    lines = markdown({name: summarise_by_group(records) for name, records in runs.items()})
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in lines.splitlines()]
    assert rows[2] == [
        "a",
        "depth 2",
        "1",
        "1",
        "100.0",
        "20.7-100.0",
        "100.0",
        "6.0",
        "2.00",
        "0",
        "0",
    ]
    assert rows[4] == ["b", "depth 2", "0", "0", "-", "-", "-", "-", "-", "0", "1"]
    assert len(rows) == 6


def test_summarise__counts_calls_by_role_and_the_agents_own_verdict():
    episodes = [
        record(
            calls={"executor": 4, "planner": 2},
            tokens={"prompt_tokens": 10},
            cost=0.5,
            k_max=2,
            claimed_success=True,
        ),
        record(
            won=False,
            calls={"executor": 2},
            tokens={"prompt_tokens": 30},
            cost=0.25,
            k_max=1,
            claimed_success=True,
        ),
        record(calls={"executor": 3}, claimed_success=False),
        record(won=False, error="x", cost=1.0, claimed_success=True, calls={"reflection": 9}),
    ]
    summary = summarise(episodes)
    assert summary.calls == {"executor": 3.0, "planner": pytest.approx(2 / 3)}
    assert (summary.tokens, summary.cost) == (pytest.approx(40 / 3), 1.75)
    assert (summary.k_max, summary.k_max_won) == (1.0, 1.0)
    assert summarise([record(k_max=3), record(k_max=1, won=False)]).k_max_won == 3.0
    assert summarise([record(k_max=1, won=False)]).k_max_won is None
    claims = (summary.claimed, summary.rightly_claimed, summary.wrongly_claimed, summary.recall)
    assert claims == (2, 1, 1, 0.5)
    silent = summarise([record(won=False)])
    assert (silent.claimed, silent.wrongly_claimed, silent.recall) == (None, None, None)


@pytest.mark.parametrize(
    ("claimed", "stop_reason", "claim"),
    [
        (True, "terminated", "success"),  # a purchase
        (True, "agent", "success"),
        (False, "terminated", "failure"),  # giving up in HotpotQA
        (False, "agent", "failure"),
        (None, "terminated", "game"),
        (None, "truncated", "nothing"),
        (None, "max_steps", "nothing"),
        (None, "limit", "nothing"),
        (None, "agent", "nothing"),  # AutoPlan, whose turns are spent
    ],
)
def test_claim_of__tells_the_agents_word_from_the_games(claimed, stop_reason: str, claim: str):
    assert claim_of(record(claimed_success=claimed, stop_reason=stop_reason)) == claim


def test_summarise__of_a_game_that_ends_at_the_goal_has_no_right_and_no_missed_claims():
    by_game = {"stop_reason": "terminated", "claimed_success": None}
    wins = [record(**by_game) for _ in range(3)]
    claims = [record(won=False, claimed_success=claimed) for claimed in (True, True, False)]
    summary = summarise([*wins, *claims, record(won=False, **by_game)])
    assert (summary.ended_by_game, summary.won_by_game) == (4, 3)
    assert (summary.claimed, summary.wrongly_claimed, summary.recall) == (2, 2, None)
    # One win that the agent could have claimed, and did not.
    assert summarise([*wins, record(claimed_success=False)]).recall == 0.0
    _, *rows = effort_table(
        {"run": summarise_by_group([*wins, record(claimed_success=True, calls={"executor": 1})])}
    )
    assert rows[-1][-4:] == ("1", "0", "0.0", "3")


class Told:
    """Wins, and neither divides its task nor says that it has won."""

    env_args: ClassVar[dict[str, bool]] = {"expert": True}

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, dict[str, int]]:
        return info["expert_plan"][0], {"calls": 1}


def test_effort__of_an_agent_without_levels_and_claims_is_a_dash(tmp_path: Path):
    records = evaluate(RunSpec("TextCraft-v0", "test", Told, limit=2), tmp_path)
    assert [(record["won"], record["claimed_success"]) for record in records] == [(True, None)] * 2
    _, *rows = effort_table({"run": summarise_by_group(records)})
    assert {row[-6:] for row in rows} == {(*("-",) * 5, "2")}


def test_markdown__shows_calls_only_of_runs_that_asked_a_model():
    runs = {"with": [record(calls={"executor": 4}, claimed_success=True)], "without": [record()]}
    _, _, effort = markdown(
        {run: summarise_by_group(records) for run, records in runs.items()}
    ).partition("\n\n")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in effort.splitlines()]
    reached = ["depth used", "depth used when won"]
    assert lines[0] == [
        "run",
        "group",
        "executor",
        "tokens",
        "total cost",
        *reached,
        "says it won",
        "says it won: wrong",
        "says it won: missed %",
        "game ended it",
    ]
    assert lines[2:] == [
        ["with", group, "4.0", "0", "-", "-", "-", "1", "0", "0.0", "0"]
        for group in ("depth 2", "all")
    ]


def test_success_table__has_tokens_beside_success_only_where_a_run_asked_a_model():
    asking = [record(calls={"executor": 4}, tokens={"prompt_tokens": 90, "completion_tokens": 11})]
    runs = {"with": summarise_by_group(asking), "without": summarise_by_group([record()])}
    headings, *rows = success_table(runs)
    place = headings.index("tokens")
    assert headings[place - 1 : place + 2] == ("steps", "tokens", "steps / shortest")
    assert [(row[0], row[place]) for row in rows if row[1] == "all"] == [
        ("with", "101"),
        ("without", "-"),
    ]
    assert "tokens" not in success_table({"without": runs["without"]})[0]
