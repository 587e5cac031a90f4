"""Agents as people write them, from one module, as they are named in a command."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from tests.foreign_worlds import SayEnv
from textcraft_gym import RunSpec, evaluate, run_episode, run_episodes
from textcraft_gym.agents.registry import as_agent, make_agent
from textcraft_gym.episodes.episode_limits import EpisodeLimits
from textcraft_gym.reports.records import read_config

OWN = '''
import functools, threading

class Remembering:
    """Writes what it knows of earlier steps into its action."""
    def __init__(self):
        self.seen = []
    def act(self, observation):
        self.seen.append(observation)
        return f"get {len(self.seen)} oak logs"

class WithInfo(Remembering):
    def act(self, observation, info):
        assert info["task"]
        return super().act(observation)

class InSteps(Remembering):
    """As in TextWorld: the reward and the end of the last step, too."""
    def act(self, observation, reward, done, info):
        assert reward == 0.0 and done is False and info["task"]
        return super().act(observation)

class Resetting(Remembering):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()  # it cannot be copied
    def reset(self, observation, info=None):
        assert observation.startswith("Crafting commands") and info["task"]
        self.seen = []

class Copied(Remembering):
    def reset(self):
        self.seen = []

class Called:
    def __init__(self):
        self.seen = []
    def __call__(self, *observation_and_info):
        observation, info = observation_and_info
        return Remembering.act(self, observation)

class Waiting(Remembering):
    async def act(self, observation):
        import asyncio
        await asyncio.sleep(0)
        return Remembering.act(self, observation)

remembering, resetting, copied, called = Remembering(), Resetting(), Copied(), Called()
method = Remembering().act

def function(observation):
    return "get 1 oak logs"

class Predicting:
    def predict(self, observation): ...

class Greedy:
    def act(self, observation, state, mask): ...

class Named:
    def act(self, observation, *, state): ...

class Odd:
    def act(self, observation): ...
    def reset(self, a, b, c): ...

class Failing(Remembering):
    def __init__(self):
        raise OSError("no weights")

def factory():
    return Remembering()

number = 3
locked = Remembering()
locked.lock = threading.Lock()
'''
ENV, SPLIT = "TextCraft-v0", "test"
KEEPING = ["Remembering", "WithInfo", "InSteps", "Resetting", "Copied", "Called", "Waiting", "remembering", "resetting", "copied", "called", "method"]  # fmt: skip


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("own", None)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("name", KEEPING)
def test_own_agent__knows_nothing_of_other_episodes(tmp_path: Path, name: str, workers: int):
    spec = RunSpec(ENV, SPLIT, f"own:{name}", limit=6, max_steps=3, workers=workers)
    if (name, workers) == ("resetting", 3):
        with pytest.raises(ValueError, match="own:resetting cannot be copied"):
            evaluate(spec, tmp_path / "run")
        return
    for record in evaluate(spec, tmp_path / "run"):
        assert record["error"] is None
        actions = [action for action, _ in record["transcript"]]
        assert actions == [None, *(f"get {turn} oak logs" for turn in (1, 2, 3))]
    config = read_config(tmp_path / "run")
    assert (config["model"], config["agent"]) == (None, f"own:{name}")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Predicting", "own:Predicting is no agent: expected a function (observation[, info])"),
        ("number", "own:number is no agent: expected a function (observation[, info]) -> action"),
        ("Greedy", "own:Greedy.act takes (observation, state, mask): expected act(observation)"),
        ("Named", "own:Named.act takes (observation, *, state): expected act(observation) or"),
        ("Odd", "own:Odd.reset takes (a, b, c): expected reset() or reset(observation) or reset("),
        ("factory", "own:factory takes (): expected factory(observation) or factory(observation, "),
        ("Failing", "own:Failing: OSError: no weights"),
        ("locked", "own:locked cannot be copied for another episode (TypeError: cannot pickle"),
    ],
)
def test_own_agent__of_no_known_form_is_refused_before_the_first_episode(
    tmp_path: Path, name: str, wrong: str
):
    with pytest.raises(ValueError) as raised:
        evaluate(RunSpec(ENV, SPLIT, f"own:{name}", limit=1), tmp_path / "run")
    assert str(raised.value).startswith(wrong)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "run").exists()


class Sleeping:
    """Answers after a time, as a server does."""

    def act(self, observation: str) -> tuple[str, dict[str, Any]]:
        time.sleep(0.05)
        return "hello", {"prompt_tokens": 100, "completion_tokens": 7, "cost": 0.25, "model": "m"}


class Together(Sleeping):
    """Answers only once eight episodes wait for it."""

    all = Barrier(8)

    def act(self, observation: str) -> tuple[str, dict[str, Any]]:
        self.all.wait(timeout=30)
        return super().act(observation)


def test_own_agent__plays_in_threads_and_reports_its_calls(tmp_path: Path):
    records = evaluate(RunSpec(ENV, SPLIT, Together, limit=8, max_steps=4, workers=8), tmp_path)
    for record in records:
        assert (record["calls"], record["cost"]) == ({"executor": 4}, 1.0)
        assert record["tokens"] == {"prompt_tokens": 400, "completion_tokens": 28}
        assert (record["trace"]["calls"], record["trace"]["tokens"]) == (4, 428)
        assert record["model_seconds"] >= 4 * 0.05
    assert read_config(tmp_path)["agent"] == "Together"


def test_own_agent__is_held_to_the_limits_of_an_episode(tmp_path: Path):
    spec = RunSpec(ENV, SPLIT, Sleeping, limit=1, max_steps=9)
    (record,) = evaluate(replace(spec, episode_cost=0.5), tmp_path / "cost")
    assert (record["limit"], record["steps"], record["cost"]) == ("cost", 2, 0.5)
    (record,) = evaluate(replace(spec, episode_seconds=0.08), tmp_path / "time")
    assert record["limit"] == "seconds"
    assert record["steps"] <= 1  # none where a busy machine answers late
    (record,) = evaluate(replace(spec, max_cost=0.5), tmp_path / "run", on_stop=lambda stop: None)
    assert record["error"].startswith("RunStopped")


class Vague(Sleeping):
    max_steps = "many"


def test_own_agent__with_a_budget_that_is_no_number_is_refused(tmp_path: Path):
    said = "expected max_steps to be a whole number, got 'many'"
    with pytest.raises(ValueError, match=said):
        evaluate(RunSpec(ENV, SPLIT, Vague, limit=1), tmp_path)
    with pytest.raises(ValueError, match=said):
        run_episode(SayEnv(), Vague)


class Hanging:
    """An object that does not come back from its first episode."""

    def __init__(self) -> None:
        self.episodes = 0

    def reset(self) -> None:
        self.episodes += 1

    def act(self, observation: str) -> str:
        time.sleep(0.3 if self.episodes == 1 else 0)
        return "hello"


def test_own_agent__that_hangs_is_not_played_by_two_episodes():
    limits = EpisodeLimits(seconds=0.05)
    jobs = [(None, 0), (None, 1)]
    first, second = run_episodes([SayEnv()], Hanging(), jobs, max_steps=3, limits=limits)
    assert first.limit == "seconds"
    assert "has not come back from an episode that was given up" in (second.error or "")


def raising(observation: str) -> str:
    raise KeyError(observation)


def test_own_agent__that_raises_is_shown_where_it_did():
    (episode,) = run_episodes([SayEnv(), SayEnv()], raising, [(None, 0)])
    assert "    raise KeyError(observation)\n" in (episode.traceback or "")


def pair(observation: str, report: Any) -> Any:
    return ("hello", report)


@pytest.mark.parametrize(
    ("agent", "error"),
    [
        (raising, "KeyError: 'A room."),
        (lambda observation: None, "AgentError: expected an action to be text, got NoneType"),
        (lambda observation: (), "ValueError: expected an action, or an action and a mapping"),
        (partial(pair, report=3), "ValueError: expected an action, or an action and a mapping"),
        (partial(pair, report={"tokens": 3}), "ValueError: expected some of role, calls, prompt_t"),
        (partial(pair, report={"cost": -1}), "ValueError: expected cost of 0 or more, got -1"),
        (partial(pair, report={"calls": True}), "ValueError: expected calls of 0 or more"),
    ],
)
def test_own_agent__that_fails_costs_its_episode(agent: Any, error: str):
    (episode,) = run_episodes([SayEnv()], agent, [(None, 0)])
    assert (episode.error or "").startswith(error)


class Asking:
    """An agent with an episode that has a model of its own."""

    asks = False

    def episode(self, play: Any) -> Any:
        with play.sub("think", "planner", 1):
            reply = yield from play.compute(str.upper, "hello")
            play.report(role="planner", calls=2, prompt_tokens=5)
            with pytest.raises(ZeroDivisionError):
                yield from play.compute(divmod, 1, 0)
        yield from play.act(reply)
        return True


def test_agent__with_a_model_of_its_own_computes_and_reports():
    assert as_agent(agent := Asking()) is agent
    episode = run_episode(SayEnv(), Asking)
    assert episode.transcript[1][0] == "HELLO"
    assert (episode.calls, episode.tokens) == ({"planner": 2}, {"prompt_tokens": 5})
    (node,) = episode.trace.children
    assert (node.calls, node.tokens, episode.trace.calls) == (2, 5, 0)
    assert json.dumps(episode.calls)
    assert make_agent("own:Remembering").asks is False
