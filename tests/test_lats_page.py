"""The page of LATS is what the code gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.test_results import RESULTS, benchmark
from textcraft_gym import evaluate


def test_page__follows_from_its_numbers(monkeypatch: pytest.MonkeyPatch):
    lats = benchmark("lats", monkeypatch)
    numbers = (RESULTS / lats.NUMBERS).read_text(encoding="utf-8")
    found = lats.read_numbers(numbers)
    assert lats.write_numbers(list(found.values())) == numbers
    assert (RESULTS / lats.PAGE).read_text(encoding="utf-8") == lats.page(numbers)
    assert (RESULTS / lats.FIGURE).read_text(encoding="utf-8") == lats.curves(found)


def test_page__has_every_agent_in_every_world_and_no_errors(monkeypatch: pytest.MonkeyPatch):
    lats = benchmark("lats", monkeypatch)
    found = lats.read_numbers((RESULTS / lats.NUMBERS).read_text(encoding="utf-8"))
    assert set(found) == {(world, agent) for world in lats.WORLDS for agent in lats.AGENTS}
    for one in found.values():
        assert (one.episodes, one.errors) == (lats.LIMIT * len(lats.SEEDS), 0)
        assert list(one.won_by) == sorted(one.won_by)
        assert one.won_by[-1] == one.won
        assert bool(one.restores) == (one.agent in lats.GOES_BACK)
    page = lats.page((RESULTS / lats.NUMBERS).read_text(encoding="utf-8"))
    assert "reads the environment's reward while it searches, and goes back in the environment" in page
    assert "(75.9)" in page
    assert "(38.0)" in page


def test_outcomes__are_counted_from_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lats = benchmark("lats", monkeypatch)
    records = evaluate(replace(lats.spec("TextCraft", "LATS", 0), limit=3), tmp_path)
    one = lats.outcome("TextCraft", "LATS", records)
    assert (one.episodes, one.errors, one.steps) == (3, 0, sum(record["steps"] for record in records))
    assert one.restores == sum(len(record["restores"]) for record in records)
    assert one.nodes >= one.steps
    assert one.calls == sum(sum(record["calls"].values()) for record in records)
    assert lats.read_numbers(lats.write_numbers([one])) == {("TextCraft", "LATS"): one}
