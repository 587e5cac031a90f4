from __future__ import annotations

import json

import pytest

from examples.language_model.papers import DIGEST
from tests.reports.test_records import record
from textcraft_gym import tasks
from textcraft_gym.reports.exposure import FILE, exposure
from textcraft_gym.reports.notes import exposures
from textcraft_gym.reports.pools import Pool

SHIPPED = {"env": "TextCraft-v0", "model": f"local:slots=2,digest={DIGEST}"}


def records(split: str, lost: str = "") -> list[dict]:
    listed = tasks("TextCraft-v0", split)
    return [
        record(task.id, won=not lost or lost not in task.family, family=task.family)
        for task in listed
    ]


def test_exposure__tells_twins_of_training_goals_from_others():
    """Of the 200 goals 96 have a training goal of another colour or wood, of depth 2 and 3."""
    twins, others = exposure(SHIPPED, [records("test", lost="*_banner")])
    assert twins.endswith("]% of 96 goals that its training has in another colour or wood")
    assert others.endswith("]% of 104 goals without such a twin")
    banners = [task for task in tasks("TextCraft-v0", "test") if task.family.endswith("*_banner")]
    assert others.startswith(f"{100 * (104 - len(banners)) / 104:.1f} [")
    assert twins.startswith("100.0 [")


def test_exposure__of_goals_that_were_all_trained_on_is_one_clause():
    (clause,) = exposure(SHIPPED, [records("dev")])
    assert clause.startswith("100.0 [")
    assert clause.endswith("% of 197 goals of its training")


@pytest.mark.parametrize(
    "config",
    [
        {**SHIPPED, "model": "openai:gpt-4o-mini"},
        {**SHIPPED, "model": None},
        {**SHIPPED, "env": "ALFWorld-v0"},
    ],
)
def test_exposure__is_unknown_of_other_models_and_worlds(config: dict):
    assert exposure(config, [records("test")]) == []


def test_exposures__are_a_sentence_for_each_run():
    runs = {"seed0": records("dev"), "seed1": records("dev", lost="*_sign")}
    (sentence,) = exposures(
        [Pool("ADaPT", SHIPPED, runs), Pool("other", {**SHIPPED, "model": ""}, runs)]
    )
    assert sentence.startswith("ADaPT won 9")
    assert "% of 197 goals of its training." in sentence


def test_file__is_what_the_training_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend("examples/language_model")
    written = pytest.importorskip("exposure")
    assert json.loads(FILE.read_text(encoding="utf-8")) == written.exposure()
