"""The page of the tabletop is what the code gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.test_results import RESULTS, benchmark
from textcraft_gym.evaluation.metrics import summarise_by_group
from textcraft_gym.evaluation.runner import evaluate


def test_page__follows_from_its_numbers(monkeypatch: pytest.MonkeyPatch):
    tabletop = benchmark("tabletop", monkeypatch)
    played = (RESULTS / tabletop.PLAYED).read_text(encoding="utf-8")
    assert (RESULTS / tabletop.PAGE).read_text(encoding="utf-8") == tabletop.page(played)


def test_results__are_of_every_row_without_errors(monkeypatch: pytest.MonkeyPatch):
    tabletop, experiments = (benchmark(name, monkeypatch) for name in ("tabletop", "experiments"))
    found = experiments.read_csv((RESULTS / tabletop.PLAYED).read_text(encoding="utf-8"))
    assert set(found) == {of.name for table in tabletop.TABLES for of in table.experiments}
    for by_group in found.values():
        assert set(by_group) == {*tabletop.KINDS, "all"}
        assert (by_group["all"].tasks, by_group["all"].errors) == (500, 0)


@pytest.mark.parametrize("agent", ["repeater", "dep"])
def test_results__are_played_again(agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tabletop, experiments = (benchmark(name, monkeypatch) for name in ("tabletop", "experiments"))
    found = experiments.read_csv((RESULTS / tabletop.PLAYED).read_text(encoding="utf-8"))
    experiment = replace(tabletop.REPEATER, agent=agent)
    for group, summary in summarise_by_group(evaluate(experiment.spec(1), tmp_path)).items():
        assert summary.rate == pytest.approx(found[experiment.name][group].rates[1], rel=1e-5), group
