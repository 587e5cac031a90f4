"""Runs that stop before their last episode: at a limit of money or tokens, or since no further
episode can succeed."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from tests.doubles import Crafter
from textcraft_gym import rollouts
from textcraft_gym.agents.contract.model import Completion, ModelError, ModelUnavailable
from textcraft_gym.errors import RunStopped
from textcraft_gym.reports.records import read_records, without_timing
from textcraft_gym.runs.optimise_plan import optimise_plan
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate, play_run
from textcraft_gym.runs.sweep import grid, sweep

PRICE = 0.125
"""Price of a call, which adds up without rounding."""


class Priced(Crafter):
    """Plays well, at the same price for each call."""

    def complete(self, prompt, **how) -> Completion:
        return super().complete(prompt, **how)._replace(cost=PRICE)


class NoMoney(ModelUnavailable):
    """As a provider's client may name it."""


class Failing:
    """Counts its calls, which raise as long as ``fails`` says so, and else give up the task."""

    def __init__(self, error: Exception | None = None, fails=lambda call: True) -> None:
        self.error, self.fails = error or NoMoney("quota spent"), fails
        self.calls = 0

    def complete(self, prompt, **how) -> Completion:
        self.calls += 1
        if self.fails(self.calls):
            raise self.error
        return Completion("task failed!")


class FailingBatches(Failing):
    """Fails with whole batches."""

    def complete_many(self, requests):
        self.calls += 1
        raise self.error


PRICED = RunSpec("TextCraft-v0", "test", "react", model=f"{__name__}:Priced,reach=2", limit=12)
FAILING = RunSpec("TextCraft-v0", "test", "react", limit=30)


def spent(folder: Path) -> float:
    """Return what all attempts of a run have cost."""
    return sum(
        json.loads(line)["cost"] for line in (folder / "episodes.jsonl").read_text().splitlines()
    )


def comparable(records: list[dict]) -> list[dict]:
    """Return records without what tells a run from one that stopped on its way."""
    untimed = [without_timing(record) for record in records]
    return json.loads(json.dumps([{**record, "spent_before": 0.0} for record in untimed]))


@pytest.mark.parametrize(
    "backend", [{"workers": 1}, {"workers": 8}, {"workers": 2, "backend": "process"}]
)
def test_evaluate__stops_at_a_cost_and_goes_on_with_a_higher_one(tmp_path: Path, backend: dict):
    whole = evaluate(PRICED, tmp_path / "whole")
    spec = replace(PRICED, max_cost=2.0, **backend)
    with pytest.warns(
        UserWarning,
        match=r"stopped at its limit: spent .* of 2 in money .*; run it again with a higher limit",
    ):
        records = evaluate(spec, tmp_path / "run")
    played = [record for record in records if not record["error"]]
    assert 1 <= len(played) < 12
    if "backend" not in backend:
        assert all(
            record["error"].startswith("RunStopped: spent 2")
            for record in records
            if record not in played
        )
        assert 2.0 <= spent(tmp_path / "run") <= 2.0 + (backend["workers"] - 1) * PRICE
    assert not (tmp_path / "run" / "summary.json").exists()
    before = spent(tmp_path / "run")
    with pytest.warns(UserWarning, match="of 2 in money"):
        assert evaluate(spec, tmp_path / "run") == records
    assert spent(tmp_path / "run") == before
    resumed = evaluate(replace(spec, max_cost=100), tmp_path / "run")
    assert comparable(resumed) == comparable(whole)
    assert sum(record["cost"] + record.get("spent_before", 0) for record in resumed) == spent(
        tmp_path / "run"
    )


def test_evaluate__stops_at_a_number_of_tokens_of_all_starts(tmp_path: Path):
    with pytest.warns(UserWarning, match=r"of 5,000 tokens"):
        first = evaluate(replace(PRICED, max_tokens_total=5_000), tmp_path)
    with pytest.warns(UserWarning, match=r"of 10,000 tokens"):
        evaluate(replace(PRICED, max_tokens_total=10_000), tmp_path)
    tokens = [
        sum(json.loads(line)["tokens"].values())
        for line in (tmp_path / "episodes.jsonl").read_text().splitlines()
    ]
    assert 5_000 <= sum(tokens[: len(first)]) < 6_500
    assert 10_000 <= sum(tokens) < 11_500


def test_evaluate__does_not_stop_where_its_limit_is_what_it_costs(tmp_path: Path):
    evaluate(PRICED, tmp_path / "whole")
    cost = spent(tmp_path / "whole")
    for workers in (1, 4):
        spec = replace(PRICED, max_cost=cost, workers=workers)
        assert not any(record["error"] for record in evaluate(spec, tmp_path / str(workers)))
        assert (tmp_path / str(workers) / "summary.json").exists()


@pytest.mark.parametrize(
    "limit", [{"max_cost": -1.0}, {"max_cost": float("nan")}, {"max_tokens_total": -1}]
)
def test_run_spec__refuses_a_limit_that_makes_no_sense(limit: dict):
    with pytest.raises(ValueError, match="of 0 or more"):
        replace(PRICED, **limit)


def test_run_spec__takes_no_limit_of_money_that_can_never_be_reached():
    with pytest.raises(
        ValueError, match=r"max_cost needs a price: add price=.* to openai:large,api_key=\.\.\."
    ):
        replace(PRICED, planner="openai:large,api_key=secret", max_cost=1.0)
    replace(PRICED, planner="openai:large,price=1/2", max_cost=1.0)


def test_rollouts__end_at_a_limit():
    jobs = ((None, seed) for seed in count())
    episodes = list(rollouts(replace(PRICED, max_cost=3.0), jobs))
    assert sum(episode.cost for episode in episodes) == 3.0
    assert [episode.error for episode in episodes[:-1]] == [None] * (len(episodes) - 1)


@pytest.mark.parametrize("make_model", [Failing, FailingBatches])
@pytest.mark.parametrize("workers", [1, 8])
def test_evaluate__stops_when_no_request_can_succeed(
    tmp_path: Path, workers: int, make_model: type[Failing]
):
    model = make_model()
    with pytest.warns(
        UserWarning, match=r"the model cannot be asked \(ModelUnavailable: quota spent\)"
    ) as caught:
        records = evaluate(replace(FAILING, model=model, workers=workers), tmp_path)
    assert len(caught) == 1
    assert model.calls <= 3 + workers
    assert 3 <= len(records) <= 3 + workers
    assert (
        len(evaluate(replace(FAILING, model=Crafter(), workers=workers), tmp_path / "other")) == 30
    )


def test_evaluate__stops_when_no_request_of_its_processes_can_succeed(tmp_path: Path):
    spec = replace(FAILING, model=f"{__name__}:Failing", workers=2, backend="process")
    with pytest.warns(UserWarning, match="the model cannot be asked"):
        assert 3 <= len(evaluate(spec, tmp_path)) <= 3 + 2 * 2


def test_evaluate__goes_on_while_some_episodes_are_played(tmp_path: Path):
    model = Failing(fails=lambda call: call % 3 > 0)
    records = evaluate(replace(FAILING, model=model), tmp_path)
    assert [bool(record["error"]) for record in records] == [True, True, False] * 10


def test_evaluate__stops_where_nothing_but_errors_comes_from_the_start(tmp_path: Path):
    down = Failing(ModelError("connection refused."))
    with pytest.warns(
        UserWarning,
        match="the first 10 episodes all failed.* ModelError: connection refused. 0 of .*; fix",
    ):
        assert len(evaluate(replace(FAILING, model=down), tmp_path)) == 10
    later = Failing(ModelError("reset"), fails=lambda call: call > 1)
    records = evaluate(replace(FAILING, model=later), tmp_path)
    assert [record["error"] is None for record in records] == [task == 10 for task in range(30)]


def test_sweep__has_one_limit_for_all_cells(tmp_path: Path):
    cells = list(grid(["react", "adapt"], [], [PRICED.model]))
    base = replace(PRICED, limit=2)
    sweep(base, cells, tmp_path / "whole")
    cost = sum(spent(tmp_path / "whole" / cell.name) for cell in cells)
    with pytest.raises(
        RunStopped, match=rf"limit of the sweep: spent {cost - PRICE:g} of {cost - PRICE:g}"
    ) as stopped:
        sweep(replace(base, max_cost=cost - PRICE), cells, tmp_path / "run")
    assert stopped.value.at_limit
    assert len(read_records(tmp_path / "run" / cells[0].name)) == 2
    results = sweep(replace(base, max_cost=2 * cost), cells, tmp_path / "run")
    assert [len(records) for records in results.values()] == [2, 2]
    assert (
        list(sweep(replace(base, max_cost=1.0), cells, tmp_path / "run")) == cells
    )  # nothing is left to play


def test_sweep__begins_no_cell_after_one_that_stopped(tmp_path: Path):
    cells = list(grid(["react", "adapt"], [], [f"{__name__}:Failing"]))
    with pytest.raises(RunStopped, match="cannot be asked"):
        sweep(replace(FAILING, limit=2), cells, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [cells[0].name]


def test_optimise_plan__writes_no_plan_after_a_batch_that_stopped(tmp_path: Path):
    spec = replace(FAILING, model=Failing())
    with pytest.raises(RunStopped, match="cannot be asked"):
        optimise_plan(spec, tmp_path / "plans")
    assert not list((tmp_path / "plans").glob("plan-*"))
    with pytest.raises(ValueError, match="no max_cost"):
        optimise_plan(replace(spec, max_cost=1.0), tmp_path / "other")


class Ticking(Priced):
    """Counts the answers that are paid for; asked for one more than so many, it is interrupted."""

    def __init__(self, until: float = math.inf) -> None:
        super().__init__(2)
        self.until = until
        self.paid: list[str] = []

    def complete(self, prompt, **how) -> Completion:
        if len(self.paid) >= self.until:
            raise KeyboardInterrupt
        self.paid.append("")
        return super().complete(prompt, **how)


class Own(Ticking):
    """The same as an agent of its own."""

    def episode(self, play):
        while True:
            yield from play.compute(self.complete, "")
            play.report(cost=PRICE)
            yield from play.act("inventory")

    def complete(self, prompt, **how) -> Completion:
        return super().complete(prompt, stop=(), max_tokens=1, temperature=0.0, sample=0)


def ticking(kind: str, until: float = math.inf) -> tuple[Ticking, RunSpec]:
    """Return what is paid for, and a run that asks it."""
    spec = replace(PRICED, max_cost=4.0, max_steps=12)
    if kind == "own":
        own = Own(until)
        return own, replace(spec, agent=own, model=None)
    model = Ticking(until)
    return model, replace(spec, model=model)


@pytest.mark.parametrize("kind", ["own", "react"])
def test_evaluate__counts_what_interrupted_episodes_have_cost(tmp_path: Path, kind: str):
    paid = 0
    for _ in range(3):
        ticks, spec = ticking(kind, until=8)
        with pytest.raises(KeyboardInterrupt):
            evaluate(spec, tmp_path)
        paid += len(ticks.paid)
        assert spent(tmp_path) == paid * PRICE
    assert {record["error"] for record in read_records(tmp_path)} <= {
        "RunStopped: interrupted",
        None,
    }
    ticks, spec = ticking(kind)
    with pytest.warns(UserWarning, match=r"spent 4 of 4 in money"):
        evaluate(spec, tmp_path)
    assert paid + len(ticks.paid) == 4.0 / PRICE


@pytest.mark.parametrize("kind", ["own", "react"])
@pytest.mark.parametrize("place", ["on_request", "on_episode"])
def test_evaluate__counts_what_several_interrupted_episodes_have_cost(
    tmp_path: Path, kind: str, place: str
):
    """Wherever the interrupt comes, in an episode or between two."""
    ticks, spec = ticking(kind)
    calls = count(1)

    def interrupt(*args) -> None:
        if place == "on_episode" or next(calls) > 30:
            raise KeyboardInterrupt

    unheard = dict.fromkeys(("on_start", "on_stop", "on_episode"), lambda *args: None)
    with pytest.raises(KeyboardInterrupt):
        play_run(
            replace(spec, workers=4, max_cost=100),
            tmp_path,
            **{**unheard, place: interrupt},
        )
    assert len(read_records(tmp_path)) > 1
    # Those of the other workers may be in flight.
    assert len(ticks.paid) - 4 <= spent(tmp_path) / PRICE <= len(ticks.paid)


def test_evaluate__keeps_no_interrupted_episode_that_has_cost_nothing(tmp_path: Path):
    _, spec = ticking("own", until=0)
    with pytest.raises(KeyboardInterrupt):
        evaluate(spec, tmp_path)
    assert len(read_records(tmp_path)) == 0
