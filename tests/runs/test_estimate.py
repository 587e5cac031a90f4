from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import fmean
from types import ModuleType

import pytest

from tests.doubles import CRAFTER, Crafter
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.envs.textcraft.tasks import Task
from textcraft_gym.errors import RunError
from textcraft_gym.reports.metrics import ALL
from textcraft_gym.runs.estimate import EXPECTED_COSTS, Amount, estimate, notes, row_of, total
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate, plan

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FIGURES = json.loads(EXPECTED_COSTS.read_text(encoding="utf-8"))


class Untouchable:
    """A model that must not be asked."""

    name = "untouchable"

    def __init__(self) -> None:
        raise AssertionError("the model was made")

    def complete(self, prompt, **how) -> Completion:
        raise AssertionError("the model was asked")


class Dear(Crafter):
    """A crafter, at a price."""

    def complete(self, prompt, **how) -> Completion:
        return super().complete(prompt, **how)._replace(cost=0.5)


REACT = RunSpec("TextCraft-v0", "test", "react", model=f"{__name__}:Untouchable", limit=20)


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield import_module("expected_costs")
    sys.modules.pop("expected_costs")


def test_figures__are_of_agents_in_worlds_that_they_play(measuring: ModuleType):
    pairs = [(env, agent) for env, agents in FIGURES.items() for agent in agents]
    assert pairs == [pair for pair in measuring.pairs() if pair in pairs]
    assert measuring.as_json(FIGURES) == EXPECTED_COSTS.read_text(encoding="utf-8")


def test_figures__are_measured_by_group_and_role(
    measuring: ModuleType, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(measuring, "MODEL", f"{CRAFTER},reach=2")
    measured = measuring.measure("TextCraft-v0", "plan_and_execute")
    assert list(measured) == list(FIGURES["TextCraft-v0"]["plan_and_execute"])
    (calls, *_), (planned, *_) = (measured[ALL][role] for role in ("executor", "planner"))
    assert 1 < calls[1] < calls[0] < calls[2]
    assert planned == [1, 1, 1]


def test_figures__of_all_tasks_together_have_no_groups(
    measuring: ModuleType, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(measuring, "MODEL", CRAFTER)
    measured = measuring.measure("TextCraft-v0", "react", most=2, by_group=False)
    assert list(measured) == [ALL]


def test_estimate__asks_nothing_and_writes_nothing(tmp_path: Path):
    estimated = estimate(REACT, tmp_path / "run")
    assert not list(tmp_path.iterdir())
    assert (estimated.episodes, estimated.planned, estimated.cost, estimated.unpriced) == (
        20,
        20,
        None,
        ("executor",),
    )
    assert 20 < estimated.calls.low < estimated.calls.mean < estimated.calls.high < 1000
    assert row_of(estimated)[4:] == ("-", "-")


def test_estimate__sums_the_groups_of_the_tasks():
    estimated = estimate(replace(REACT, limit=None))
    groups = {"depth 2": 77, "depth 3": 112, "depth 4": 11}
    figures = FIGURES["TextCraft-v0"]["react"]
    for index, value in enumerate(estimated.prompt_tokens):
        by_hand = sum(n * figures[group]["executor"][1][index] for group, n in groups.items())
        assert value == pytest.approx(by_hand)


def test_estimate__takes_all_groups_for_one_without_figures():
    deep = replace(REACT, split="all", env_args={"recipes": "made:depth=6"}, limit=None)
    depths = [episode.about["group"] for episode in plan(Run(deep)).episodes.values()]
    figures = FIGURES["TextCraft-v0"]["react"]
    assert set(depths) - set(figures)
    by_hand = sum(figures.get(depth, figures[ALL])["executor"][0][0] for depth in depths)
    assert estimate(deep).calls.mean == pytest.approx(by_hand)


def test_estimate__neither_solves_nor_reads_the_tasks(monkeypatch: pytest.MonkeyPatch):
    for costly in ("optimal_length", "content"):
        monkeypatch.setattr(Task, costly, property(lambda task: pytest.fail("not needed")))
    assert estimate(REACT).episodes == 20


def test_estimate__prices_each_role_by_its_model():
    spec = replace(
        REACT,
        agent="plan_and_execute",
        model="openai:small,price=1/10",
        planner="openai:large,price=100",
    )
    figures = FIGURES["TextCraft-v0"]["plan_and_execute"]
    estimated = estimate(replace(spec, tasks=("minecraft:beehive",)))
    (_, executor_reads, executor_writes), (_, planner_reads, planner_writes) = (
        [amount[0] for amount in figures["depth 2"][role]] for role in ("executor", "planner")
    )
    by_hand = executor_reads + 10 * executor_writes + 100 * (planner_reads + planner_writes)
    assert estimated.cost.mean == pytest.approx(by_hand / 1e6)
    without = estimate(replace(spec, tasks=("minecraft:beehive",), planner="openai:large"))
    assert without.cost.mean < estimated.cost.mean
    assert "The model of planner has no price, and counts as free." in notes(without)


def test_estimate__of_a_local_model_has_no_price_and_no_word_of_others():
    local = estimate(replace(REACT, model="local:context=8192"))
    assert (local.cost, local.unpriced) == (Amount(0, 0, 0), ())
    (note,) = notes(local)
    assert "A local model has no price; the time shows once the run has 5 episodes." in note
    assert "chat" not in note

    spec = replace(REACT, agent="plan_and_execute", model="local", planner="openai:m,price=1")
    planned = estimate(spec)
    assert planned.cost.mean > 0
    assert planned.unpriced == ()
    assert estimate(replace(spec, planner="openai:m")).unpriced == ("planner",)
    assert "chat model" in notes(planned)[0]


def test_estimate__is_nothing_for_an_agent_that_asks_no_model():
    estimated = estimate(replace(REACT, agent="expert"))
    assert (estimated.calls, estimated.cost) == (Amount(0, 0, 0), Amount(0, 0, 0))
    assert row_of(estimated) == ("20", "0", "0", "0", "0", "-")
    assert notes(estimated) == ["The agent asks no model."]


def test_estimate__has_only_episodes_where_nothing_was_measured():
    estimated = estimate(replace(REACT, agent="tests.runs.flawed_agents:Stumbling", model=None))
    assert (estimated.episodes, estimated.calls, estimated.cost) == (20, None, None)
    assert notes(estimated) == [
        "No figures for tests.runs.flawed_agents:Stumbling in TextCraft-v0: the run tells what it "
        "takes once it has 5 episodes."
    ]
    assert row_of(estimated) == ("20", "-", "-", "-", "-", "-")


def test_estimate__goes_by_the_episodes_that_the_folder_has(tmp_path: Path):
    spec = replace(REACT, model=Dear(4), workers=3, max_cost=40.0)
    with pytest.warns(UserWarning, match="stopped"):
        records = evaluate(spec, tmp_path)
    played = [record for record in records if not record["error"]]
    before = (tmp_path / "episodes.jsonl").read_bytes()
    estimated = estimate(spec, tmp_path)
    assert (estimated.episodes, estimated.planned) == (20 - len(played), 20)
    done = {record["task"] for record in played}
    left = Counter(
        episode.about["group"]
        for (task, _), episode in plan(Run(spec)).episodes.items()
        if task not in done
    )

    def by_hand(value) -> float:
        total = 0.0
        for group, count in left.items():
            of_group = [record for record in played if record["group"] == group] or played
            total += count * fmean(map(value, of_group))
        return total

    assert estimated.calls.mean == pytest.approx(
        by_hand(lambda record: sum(record["calls"].values()))
    )
    assert estimated.cost.mean == pytest.approx(by_hand(lambda record: record["cost"]))
    assert estimated.seconds.mean == pytest.approx(
        by_hand(lambda record: record["model_seconds"]) / 3
    )
    (note,) = notes(estimated)
    assert note.startswith(f"Taken from the run's own {len(played)} episodes so far.")
    unknown = [group for group in left if group not in {record["group"] for record in played}]
    assert unknown == re.findall(r"depth \d", note)
    assert (tmp_path / "episodes.jsonl").read_bytes() == before
    with pytest.raises(RunError, match="another run"):
        estimate(replace(spec, seed=1), tmp_path)


def test_total__adds_what_is_known():
    known, unknown = (
        estimate(REACT),
        estimate(replace(REACT, agent="tests.runs.flawed_agents:Stumbling")),
    )
    both = total([known, known, unknown])
    assert both.episodes == 60
    assert both.calls == known.calls.times(2)
    timed = replace(known, seconds=Amount(9, 9, 9))
    scripted = estimate(replace(REACT, agent="expert"))
    assert total([timed, timed, scripted]).seconds == Amount(18, 18, 18)
    assert total([timed, known]).seconds is None


def test_row_of__has_two_digits():
    estimated = replace(
        estimate(REACT),
        calls=Amount(1234, 987, 45_678),
        prompt_tokens=Amount(3_456_789, 2_000_000, 4e6),
        cost=Amount(1234.5, 0.0123, 9),
        seconds=Amount(8000, 45, 600),
    )
    assert row_of(estimated) == (
        "20",
        "1.2k (990 to 46k)",
        "3.5M (2M to 4M)",
        row_of(estimated)[3],
        "1,200 (0.012 to 9)",
        "2.2 h (45 s to 10 min)",
    )
