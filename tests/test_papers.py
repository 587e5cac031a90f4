"""The pages of results: what they are computed from, and how they judge agreement."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from textcraft_gym.evaluation.metrics import summarise

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import experiments  # noqa: E402
import paper  # noqa: E402
from experiments import Experiment, Result, read_csv, write_csv  # noqa: E402
from paper import Claim, Column, Row, Table  # noqa: E402

EMPTY = summarise([])


def of(rate: float, between_runs: float = 0.0, **changes: float | None) -> Result:
    known = Result(
        (rate,) * 5, 100, 0, rate, between_runs, 0.1, 0.9, rate, between_runs, 7.0, 9.0, 1.5, None, 0.5, None, 1.0
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def found(**rates: Result) -> dict[str, dict[str, Result]]:
    return {EXPERIMENTS[name].name: {"all": of_all} for name, of_all in rates.items()}


EXPERIMENTS = {name: Experiment("TextCraft-v0", "test", name) for name in ("react", "adapt", "reflexion")}
TABLE = Table(
    "Table 9: an example",
    "About it.",
    (Column("success", interval=True),),
    (
        Row("ReAct", EXPERIMENTS["react"], (10.0,)),
        Row("Reflexion", EXPERIMENTS["reflexion"], (20.0,)),
        Row("LATS", None, (25.0,), "not here"),
        Row("ADaPT", EXPERIMENTS["adapt"], (30.0,)),
    ),
    cause="the reason",
)


def test_experiment__differs_by_every_option_in_name_and_folder(tmp_path: Path):
    base = Experiment("TextCraft-v0", "test", "adapt")
    others = [
        replace(base, split="dev"),
        replace(base, args=(("d_max", 2),)),
        replace(base, env_args=(("d_max", 2),)),
        replace(base, model="simulated:span=2"),
        replace(base, planner="simulated:span=2"),
        replace(base, max_calls=5),
    ]
    assert len({of.name for of in [base, *others]}) == len({of.folder(tmp_path, 0) for of in [base, *others]}) == 7
    spec = replace(base, args=(("d_max", 2),), max_calls=5, planner="simulated:span=2").spec(3)
    assert (spec.agent_args, spec.max_calls, spec.planner, spec.seed) == ({"d_max": 2}, 5, "simulated:span=2", 3)


def test_result__is_the_mean_over_runs_with_their_deviation():
    run = replace(EMPTY, episodes=10, steps=4.0, calls={"executor": 2.0, "planner": 1.0}, k_max=1.0, claimed=5)
    runs = [replace(run, won=won, rate=won / 10, reward=won / 10, rightly_claimed=won) for won in (2, 4)]
    ours = experiments.result(runs)
    assert (ours.rates, ours.tasks, ours.rate, ours.calls) == ((0.2, 0.4), 10, pytest.approx(0.3), 3.0)
    assert ours.between_runs == pytest.approx(0.2 / 2**0.5)
    assert (ours.precision, ours.recall, ours.claimed, ours.k_max_won) == (0.6, 1.0, 0.5, None)


def test_results__survive_their_csv_file():
    before = found(react=of(0.25), adapt=of(0.5, 0.125, k_max_won=2.5, precision=0.75))
    assert read_csv(write_csv(before)) == before


def test_table__shows_ours_with_the_published_numbers_in_parentheses():
    text = TABLE.markdown(found(react=of(0.1), reflexion=of(0.2, 0.01), adapt=of(0.3)))
    assert "| Reflexion | 20.0 ± 1.0 [10, 90] (20) |" in text
    assert "| LATS | not here (25) |" in text
    assert "Shape: agrees; 3 of 3 pairs of rows are ordered as published." in text
    assert "the reason" not in text


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [
        ((0.1, 0.3, 0.2), "agrees in part; 2 of 3 {pairs}, 1 the other way: Reflexion above ADaPT (success)."),
        ((0.3, 0.2, 0.1), "**disagrees**; 0 of 3 {pairs}"),
        ((0.1, 0.1, 0.1), "cannot be told; 0 of 3 {pairs}, 3 are too close to tell."),
    ],
)
def test_table__counts_the_pairs_that_come_in_the_published_order(rates: tuple[float, ...], verdict: str):
    react, reflexion, adapt = (of(rate) for rate in rates)
    text = TABLE.markdown(found(react=react, reflexion=reflexion, adapt=adapt))
    assert "Shape: " + verdict.format(pairs="pairs of rows are ordered as published") in text
    assert ("Likely cause: the reason" in text) == ("above" in text)


def test_agreement__leaves_open_what_the_runs_do_not_tell():
    near = found(react=of(0.30, 0.05), reflexion=of(0.28, 0.05), adapt=of(0.9, 0.05))
    agreement = TABLE.agreement(near)
    assert (agreement.same, agreement.close, agreement.opposite) == (2, 1, [])


def test_claims__are_checked_and_the_cause_is_given_where_one_fails():
    claims = (Claim("it wins", lambda found: True), Claim("it flies", lambda found: False))
    text = Table("Figure 9", "About.", claims=claims, cause="no wings").markdown({})
    assert "Published: it wins. Here: it holds." in text
    assert "Published: it flies. Here: **it does not hold**." in text
    assert "Likely cause: no wings" in text


def test_number__without_a_value_is_a_dash():
    assert paper.shown(of(0.5), Column("k_max", value="k_max_won")) == "-"
    assert paper.shown(of(0.5), Column("calls", value="calls")) == "7.0"
