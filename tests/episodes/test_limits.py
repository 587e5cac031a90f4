"""Limits of time, tokens and money, of an episode and of a run, also where something never
returns."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from tests.doubles import Crafter
from tests.runs.mortal import wait_for
from tests.runs.test_backends import DEV
from tests.runs.test_budget import PRICE, PRICED
from tests.runs.test_runner import untimed
from textcraft_gym.agents.contract.model import Completion, CompletionRequest, ModelError
from textcraft_gym.agents.models import event_loop
from textcraft_gym.episodes import model_calls
from textcraft_gym.episodes.model_calls import ModelCall, ModelCalls
from textcraft_gym.errors import RunError, RunStopped
from textcraft_gym.reports.metrics import outcome_of, summarise
from textcraft_gym.reports.records import read_records
from textcraft_gym.runs.backends import process
from textcraft_gym.runs.rollouts import rollouts
from textcraft_gym.runs.run_folder import read_config
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate
from textcraft_gym.runs.sweep import grid, sweep
from textcraft_gym.verify.recheck import verify

SOON = 0.3
"""Seconds of a limit that is to be reached."""
ENOUGH = 3.0
"""Seconds of a limit that is to be reached by what never returns, and by nothing else."""
LONG = 600.0
"""Seconds of a limit that is not."""
AT_ONCE = [{"workers": 1}, {"workers": 4}]
STUCK = RunSpec(
    "TextCraft-v0", "dev", "tests.runs.mortal:Stuck", agent_args={"task": DEV[1]}, limit=4
)


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "GRACE_SECONDS", SOON)


class Hanging(Crafter):
    """Never answers the second of its calls, and the others as a crafter does."""

    def __init__(self) -> None:
        super().__init__(2)
        self.calls = 0
        self.ended = threading.Event()

    def complete(self, prompt, **how) -> Completion:
        self.calls += 1
        if self.calls == 2:
            self.ended.wait(LONG)
        return super().complete(prompt, **how)._replace(cost=PRICE)


class HangingInLoop(Hanging):
    """Never answers in an event loop, where it can be cancelled."""

    async def complete_async(self, request) -> Completion:
        self.calls += 1
        if self.calls == 2:
            try:
                await asyncio.sleep(LONG)
            finally:
                self.ended.set()
        return Completion("task failed!")


class HangingBatch(Hanging):
    """Never answers a batch."""

    def complete_many(self, requests) -> list[Completion]:
        self.ended.wait(LONG)
        return []


def look_around(observation: str, info: dict) -> str:
    """Play for ever."""
    return "inventory"


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    model = Hanging()
    yield model
    model.ended.set()


@pytest.mark.parametrize("backend", [*AT_ONCE, {"workers": 2, "backend": "process"}])
@pytest.mark.parametrize(
    ("limit", "name"), [({"episode_cost": 0.5}, "cost"), ({"episode_tokens": 3000}, "tokens")]
)
def test_evaluate__loses_the_episodes_that_reach_a_limit_of_one(
    tmp_path: Path, backend: dict, limit: dict, name: str
):
    whole = {record["task"]: record for record in evaluate(PRICED, tmp_path / "whole")}
    records = evaluate(replace(PRICED, **limit, **backend), tmp_path / "run")
    cut = [record for record in records if record["limit"]]
    assert 0 < len(cut) < len(records)
    for record in records:
        if record in cut:
            assert (record["limit"], record["stop_reason"], record["error"]) == (
                name,
                "limit",
                None,
            )
            assert outcome_of(record) == "limit"
            assert record["cost"] == 0.5 or sum(record["tokens"].values()) >= 3000
            assert record["trace"]["parts"][-1].startswith("the episode has ")
            assert record["steps"] <= whole[record["task"]]["steps"]
        else:
            assert untimed([record]) == untimed([whole[record["task"]]])
    assert summarise(records).limits == {name: len(cut)}
    assert verify(tmp_path / "run", trusted=["tests"]).identical
    assert evaluate(replace(PRICED, **limit), tmp_path / "run", on_episode=pytest.fail) == records


def test_evaluate__goes_on_only_with_the_same_limits_of_an_episode(tmp_path: Path):
    spec = RunSpec("TextCraft-v0", "dev", "expert", limit=1, episode_tokens=500)
    evaluate(spec, tmp_path)
    assert read_config(tmp_path)["episode_tokens"] == 500
    with pytest.raises(RunError, match="episode_tokens: 500, now 600"):
        evaluate(replace(spec, episode_tokens=600), tmp_path)
    evaluate(
        replace(spec, max_seconds=LONG), tmp_path
    )  # a limit of the run is none of its identity


@pytest.mark.parametrize("backend", AT_ONCE)
def test_evaluate__does_not_wait_for_a_model_beyond_the_time_of_an_episode(
    tmp_path: Path, hanging, backend: dict
):
    spec = RunSpec(
        "TextCraft-v0", "test", "react", model=hanging, limit=6, episode_seconds=ENOUGH, **backend
    )
    records = evaluate(spec, tmp_path)
    (cut,) = [record for record in records if record["limit"]]
    assert (cut["limit"], cut["error"], cut["won"]) == ("seconds", None, False)
    assert cut["seconds"] < LONG
    assert (
        cut["calls"]["executor"] == 1 + cut["cost"] / PRICE
    )  # the answer that never came is not known to cost
    assert sum(bool(record["won"]) for record in records) > 1


def test_evaluate__cancels_the_request_that_it_no_longer_waits_for(tmp_path: Path):
    model = HangingInLoop()
    spec = RunSpec(
        "TextCraft-v0", "test", "react", model=model, limit=3, workers=3, episode_seconds=ENOUGH
    )
    cancelled: list[bool] = []
    evaluate(
        spec,
        tmp_path,
        on_episode=lambda record: cancelled.append(not record["limit"] or model.ended.wait(10)),
    )
    assert model.ended.is_set()
    assert all(cancelled)


def test_evaluate__does_not_wait_for_a_batch_beyond_the_time_of_its_episodes(tmp_path: Path):
    model = HangingBatch()
    spec = RunSpec(
        "TextCraft-v0", "test", "react", model=model, limit=4, workers=2, episode_seconds=SOON
    )
    assert {record["limit"] for record in evaluate(spec, tmp_path)} == {"seconds"}
    model.ended.set()


def test_evaluate__checks_the_time_between_the_requests_of_an_agent(tmp_path: Path):
    spec = RunSpec(
        "TextCraft-v0",
        "dev",
        look_around,
        model=None,
        limit=1,
        max_steps=10**9,
        episode_seconds=SOON,
    )
    (record,) = evaluate(spec, tmp_path)
    assert (record["limit"], record["stop_reason"]) == ("seconds", "limit")
    assert record["steps"] > 0


def test_process__ends_an_episode_that_never_returns_and_goes_on_in_a_new_worker(tmp_path: Path):
    spec = replace(STUCK, model=PRICED.model, workers=2, backend="process", episode_seconds=ENOUGH)
    records = evaluate(spec, tmp_path)
    cut = records[1]
    assert [record["limit"] for record in records] == [None, "seconds", None, None]
    assert (cut["error"], cut["won"], cut["stop_reason"], cut["transcript"]) == (
        None,
        False,
        "limit",
        [],
    )
    assert cut["cost"] == PRICE
    assert sum(cut["tokens"].values()) == cut["trace"]["tokens"] > 0
    assert "its process was killed" in cut["trace"]["parts"][0]
    assert summarise(records).limits == {"seconds": 1}
    outcome = verify(tmp_path, trusted=["tests"])
    assert not outcome.count
    assert [what for what in outcome.unverifiable if "no transcript" in what]
    assert evaluate(spec, tmp_path, on_episode=pytest.fail) == records


def test_process__knows_what_the_workers_have_paid_that_died(tmp_path: Path):
    args = {"task": DEV[1], "dies": True}
    records = evaluate(
        replace(STUCK, agent_args=args, model=PRICED.model, backend="process"), tmp_path
    )
    assert records[1]["error"].startswith("3 workers died playing it")
    assert records[1]["cost"] == 3 * PRICE
    assert sum(records[1]["tokens"].values()) > 0


def test_evaluate__stops_after_a_time_in_the_middle_of_a_call_and_goes_on(tmp_path: Path, hanging):
    spec = RunSpec("TextCraft-v0", "test", "react", model=hanging, limit=6, workers=2)
    whole = evaluate(replace(spec, model=Crafter(2)), tmp_path / "whole")
    with pytest.warns(
        UserWarning,
        match=r"stopped at its limit: 2 seconds are over\. . of 6 .*; run it again to go on",
    ):
        records = evaluate(replace(spec, max_seconds=2), tmp_path / "run")
    (stopped,) = [record for record in records if record["error"]]
    assert stopped["error"].startswith("RunStopped: ")
    assert not (tmp_path / "run" / "summary.json").exists()
    went_on = evaluate(replace(spec, max_seconds=LONG), tmp_path / "run")
    assert [(record["won"], record["transcript"]) for record in went_on] == [
        (record["won"], untimed([record])[0]["transcript"]) for record in whole
    ]


def wait_for_payment(pool: process._Pool) -> None:
    """Wait until an episode under way has paid for an answer."""
    wait_for(
        lambda: any(worker.meter.read()[0] == PRICE for worker in pool.workers if worker.given)
    )


def test_process__stops_after_a_time_whatever_its_workers_do(monkeypatch, tmp_path: Path):
    pools = []

    class Pool(process._Pool):
        def __init__(self, *args) -> None:
            super().__init__(*args)
            pools.append(self)

    def let_the_time_pass(record: dict) -> None:
        records.append(record)
        if len(records) == 3:
            wait_for_payment(pools[0])
            pools[0].budget.deadline = time.monotonic()

    monkeypatch.setattr(process, "_Pool", Pool)
    records: list[dict] = []
    spec = replace(STUCK, model=PRICED.model, workers=2, backend="process", max_seconds=LONG)
    with pytest.warns(UserWarning, match="stopped at its limit"):
        evaluate(spec, tmp_path, on_episode=let_the_time_pass)
    assert [record["error"] for record in records[:3]] == [None] * 3
    assert (records[3]["task"], records[3]["cost"]) == (DEV[1], PRICE)
    assert records[3]["error"] == "RunStopped: 600 seconds are over"


def test_process__counts_what_interrupted_episodes_have_cost(monkeypatch, tmp_path: Path):
    pools = []

    class Pool(process._Pool):
        def __init__(self, *args) -> None:
            super().__init__(*args)
            pools.append(self)

    def interrupt(record: dict) -> None:
        ended.append(record)
        if len(ended) == 3:
            wait_for_payment(pools[0])
            raise KeyboardInterrupt

    monkeypatch.setattr(process, "_Pool", Pool)
    ended: list[dict] = []
    spec = replace(STUCK, model=PRICED.model, workers=2, backend="process")
    with pytest.raises(KeyboardInterrupt):
        evaluate(spec, tmp_path, on_episode=interrupt)
    (stopped,) = [record for record in read_records(tmp_path) if record["error"]]
    assert (stopped["task"], stopped["cost"]) == (DEV[1], PRICE)
    assert stopped["error"] == "RunStopped: interrupted"


def test_rollouts__end_after_a_time(hanging):
    spec = RunSpec(
        "TextCraft-v0", split="test", agent="react", model=hanging, workers=2, max_seconds=2
    )
    played = list(rollouts(spec, ((None, seed) for seed in range(10**9))))
    assert len(played) > 1
    assert any((episode.error or "").startswith("RunStopped: ") for episode in played)


def test_sweep__takes_limits_of_an_episode_and_one_of_the_time_of_all_cells(tmp_path: Path):
    cells = list(grid(["react", "adapt"], [], [PRICED.model]))
    base = replace(PRICED, limit=2)
    with pytest.raises(
        RunStopped, match=r"limit of the sweep: 0 seconds are over\. Start it again to go on"
    ) as stopped:
        sweep(replace(base, max_seconds=0.0), cells, tmp_path)
    assert stopped.value.at_limit
    assert not list(tmp_path.rglob("episodes.jsonl"))
    results = sweep(replace(base, max_seconds=LONG, episode_cost=PRICE), cells, tmp_path / "run")
    limits = [summarise(records).limits for records in results.values()]
    assert limits == [{"cost": 2}, {"cost": 2}]


@pytest.mark.parametrize(
    "limit",
    [
        {"episode_cost": 0.0},
        {"episode_cost": float("nan")},
        {"episode_seconds": -1.0},
        {"episode_tokens": 0},
        {"max_seconds": -1.0},
        {"max_seconds": float("inf")},
    ],
)
def test_run_spec__refuses_a_limit_that_makes_no_sense(limit: dict):
    with pytest.raises(ValueError, match=f"expected {next(iter(limit))}"):
        replace(PRICED, **limit)
    with pytest.raises(
        ValueError, match=r"episode_cost needs a price: add price=.* to openai:large"
    ):
        replace(PRICED, model="openai:large,api_key=secret", episode_cost=1.0)


class Scarce(threading.Thread):
    """A thread of a system that has room for few."""

    left = 0

    def start(self) -> None:
        if Scarce.left == 0:
            raise RuntimeError("can't start new thread")
        Scarce.left -= 1
        super().start()


SCARCE_THREADING = SimpleNamespace(**vars(threading) | {"Thread": Scarce})


@pytest.mark.parametrize("room", [0, 2])
def test_evaluate__plays_with_the_threads_that_there_are_and_says_so_once(
    monkeypatch, tmp_path: Path, room: int
):
    monkeypatch.setattr(Scarce, "left", room)
    monkeypatch.setattr(model_calls, "threading", SCARCE_THREADING)
    spec = RunSpec("TextCraft-v0", "test", "react", model=Crafter(2), limit=12, workers=8)
    expected = rf"from at most {room or 1} threads: can't start new thread"
    with pytest.warns(UserWarning, match=expected) as caught:
        records = evaluate(spec, tmp_path)
    assert len(caught) == 1
    assert not any(record["error"] for record in records)


def test_event_loop__says_that_it_has_no_thread_and_starts_when_there_is_one(monkeypatch):
    monkeypatch.setattr(event_loop, "_loop", None)
    monkeypatch.setattr(event_loop, "_thread", None)
    monkeypatch.setattr(Scarce, "left", 0)
    monkeypatch.setattr(event_loop, "threading", SCARCE_THREADING)
    with pytest.raises(ModelError, match="a thread of their own: can't start new thread"):
        event_loop.event_loop()
    monkeypatch.setattr(Scarce, "left", 1)
    assert event_loop.submit(asyncio.sleep(0, "awake")).result(30) == "awake"


def test_process__plays_with_the_workers_that_there_are(monkeypatch, tmp_path: Path):
    start = process._WorkerProcess.__init__
    started = []

    def fails_from_the_second_on(self, pickled_spec: bytes) -> None:
        if started:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        started.append(self)
        start(self, pickled_spec)

    monkeypatch.setattr(process._WorkerProcess, "__init__", fails_from_the_second_on)
    spec = RunSpec("TextCraft-v0", "dev", "expert", limit=3, workers=4, backend="process")
    with pytest.warns(UserWarning, match="only 1 of . workers started"):
        assert len(evaluate(spec, tmp_path)) == 3
    with pytest.raises(process.BackendError, match="no worker can be started"):
        evaluate(spec, tmp_path / "other")


def test_model_calls__cancels_at_its_end_what_it_has_just_sent():
    model, gate = HangingInLoop(), threading.Event()
    event_loop.event_loop().call_soon_threadsafe(gate.wait, 30)
    calls = ModelCalls()
    calls.send(ModelCall(model, [CompletionRequest("Hello", (), 1, 0.0, 0)]))
    calls._start_tasks()
    calls.close()
    gate.set()
    event_loop.submit(asyncio.sleep(0.01)).result(30)
    assert model.calls == 0
    assert not calls._tasks


class Gated:
    """A model that answers one request at a time, once the test opens its gate."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.asked, self.gate = threading.Event(), threading.Event()

    def complete(self, prompt: str, **_: Any) -> Completion:
        self.prompts.append(prompt)
        self.asked.set()
        assert self.gate.wait(30)
        return Completion(prompt)


def test_model_calls__of_other_threads_are_served_unless_they_are_cancelled():
    model = Gated()
    first, second, third = (
        ModelCall(model, [CompletionRequest(prompt, (), 1, 0.0, 0)]) for prompt in "abc"
    )
    calls = ModelCalls(max_threads=1)
    answered: SimpleQueue[ModelCall] = SimpleQueue()
    server = threading.Thread(target=lambda: [answered.put(call) for call in calls.serve()])
    server.start()
    calls.post(first)
    assert model.asked.wait(30)
    calls.post(second)
    calls.post(third)
    calls.cancel(second)
    model.gate.set()
    assert [answered.get(timeout=30) for _ in range(2)] == [first, third]
    assert third.answers == {0: Completion("c")}
    calls.close()
    server.join(30)
    assert not server.is_alive()
    assert answered.empty()
    assert model.prompts == ["a", "c"]
