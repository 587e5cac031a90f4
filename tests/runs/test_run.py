"""A run resolves its world once, and makes what it plays with once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from tests.doubles import CRAFTER
from textcraft_gym import RunSpec, evaluate, registration, rollouts
from textcraft_gym.runs import run
from textcraft_gym.runs.run import Run

SPEC = RunSpec("TextCraft-v0", "test", "adapt", model=CRAFTER, limit=1)
ONCE = {"World": 1, "Prompts": 1, "load_profile": 1, "as_agent": 1, "make": 1}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of calls of what resolves a run."""
    counted: Counter[str] = Counter()

    def counting(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            counted[name] += 1
            return call(*arguments, **named)

        return wrapped

    # The constructor of a world and ``gym.make`` are counted wherever an id is resolved again.
    for holder, name in (
        (registration, "World"),
        (run, "Prompts"),
        (run, "load_profile"),
        (run, "as_agent"),
        (gym, "make"),
    ):
        monkeypatch.setattr(holder, name, counting(name, getattr(holder, name)))
    return counted


def test_evaluate__resolves_a_run_once(calls: Counter[str], tmp_path: Path):
    (record,) = evaluate(SPEC, tmp_path)
    assert record["won"]
    assert calls == ONCE


def test_rollouts__resolve_a_run_once(calls: Counter[str]):
    (episode,) = rollouts(SPEC, [("minecraft:beehive", 0)])
    assert episode.won
    assert calls == ONCE


def test_run__makes_an_environment_for_each_worker_and_closes_them():
    played = Run(RunSpec("TextCraft-v0", agent="expert"))
    assert played.spec.split == played.world.default_split() == "dev"
    first = played.env
    assert played.envs(2)[0] is first
    assert played.limited(played.spec).envs(2) == played.envs(2)
    played.close()
    assert played.env is not first
