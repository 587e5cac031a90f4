"""The page of HotpotQA is what the code gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_results import RESULTS, benchmark
from textcraft_gym.evaluation.metrics import summarise_by_group
from textcraft_gym.evaluation.runner import evaluate


def test_page__follows_from_its_numbers(monkeypatch: pytest.MonkeyPatch):
    hotpotqa = benchmark("hotpotqa", monkeypatch)
    played, guessed = ((RESULTS / name).read_text(encoding="utf-8") for name in (hotpotqa.PLAYED, hotpotqa.GUESSED))
    assert (RESULTS / hotpotqa.PAGE).read_text(encoding="utf-8") == hotpotqa.page(played, guessed)


def test_results__are_of_every_agent_without_errors(monkeypatch: pytest.MonkeyPatch):
    hotpotqa, experiments = (benchmark(name, monkeypatch) for name in ("hotpotqa", "experiments"))
    found = experiments.read_csv((RESULTS / hotpotqa.PLAYED).read_text(encoding="utf-8"))
    assert set(found) == {of.name for table in hotpotqa.TABLES for of in table.experiments}
    for by_group in found.values():
        assert set(by_group) == {*hotpotqa.GROUPS, "all"}
        assert (by_group["all"].tasks, by_group["all"].errors) == (200, 0)


def test_results__are_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    hotpotqa, experiments = (benchmark(name, monkeypatch) for name in ("hotpotqa", "experiments"))
    found = experiments.read_csv((RESULTS / hotpotqa.PLAYED).read_text(encoding="utf-8"))
    summaries = summarise_by_group(evaluate(hotpotqa.NUMBERED.spec(0), tmp_path))
    for group, summary in summaries.items():
        assert summary.rate == pytest.approx(found[hotpotqa.NUMBERED.name][group].rates[0], rel=1e-5), group
