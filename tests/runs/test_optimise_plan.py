from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym import RunSpec, UnknownName, optimise_plan
from textcraft_gym.agents.contract.model import Completion, ModelLimit, prompt_text
from textcraft_gym.envs.alfworld.problem import TASK_TYPES
from textcraft_gym.errors import RunError
from textcraft_gym.reports.records import read_records, without_timing
from textcraft_gym.runs.optimise_plan import draw, full_name


class Writer:
    """Answers with a digest of the prompt, and is killed or broken at one of its calls."""

    prompts_read: ClassVar[list[str]] = []
    killed_at: ClassVar[int | None] = None
    error: ClassVar[type[BaseException]] = KeyboardInterrupt

    def complete(self, prompt, **how) -> Completion:
        if len(self.prompts_read) == self.killed_at:
            type(self).killed_at = None
            raise self.error
        self.prompts_read.append(prompt_text(prompt))
        text = hashlib.sha256(repr((prompt_text(prompt), how)).encode()).hexdigest()[:8]
        return Completion(
            f"get {text}", {"prompt_tokens": len(prompt_text(prompt)), "completion_tokens": 3}, 0.5
        )


@pytest.fixture(autouse=True)
def writer():
    Writer.prompts_read.clear()
    Writer.killed_at, Writer.error = None, KeyboardInterrupt


SPEC = RunSpec("TextCraft-v0", "test", agent_args={"turns": 2}, model=f"{__name__}:Writer")
HOW: dict[str, Any] = {"batch": 2, "iterations": 2}


def files(folder: Path) -> dict[str, Any]:
    """Return what an optimisation wrote, without times, and without prices, since a replay costs
    nothing."""
    contents: dict[str, Any] = {file.name: file.read_text() for file in folder.glob("plan-*.txt")}
    for number in (1, 2):
        records = [
            {**without_timing(record), "cost": 0}
            for record in read_records(folder / f"batch-{number}")
        ]
        contents[f"batch-{number}"] = sorted(records, key=lambda record: record["task"])
    return contents


def test_optimise_plan__goes_on_wherever_it_was_killed(tmp_path: Path):
    done = optimise_plan(SPEC, tmp_path / "whole", **HOW)
    whole, paid = files(tmp_path / "whole"), list(Writer.prompts_read)
    assert [(iteration.episodes, iteration.plan.name) for iteration in done] == [
        (2, "plan-1.txt"),
        (2, "plan-2.txt"),
    ]
    assert sum(iteration.cost for iteration in done) == 0.5 * len(paid)
    assert done[0].calls == {
        "thought": 4,
        "action": 4,
        "formalizer": 4,
        "summary": 2,
        "flaws": 2,
        "update": 1,
    }
    assert done[1].calls == {**done[0].calls, "revision": 2}
    assert sum(done[0].tokens.values()) + sum(done[1].tokens.values()) == sum(
        map(len, paid)
    ) + 3 * len(paid)
    assert whole["plan-1.txt"].strip() in paid[-1]
    assert len({record["task"] for number in (1, 2) for record in whole[f"batch-{number}"]}) == 4
    kept = json.loads((tmp_path / "whole" / "summary.json").read_text())
    assert [iteration["plan"] for iteration in kept["iterations"]] == ["plan-1.txt", "plan-2.txt"]
    assert (sum(kept["calls"].values()), kept["cost"]) == (len(paid), 0.5 * len(paid))
    assert sum(kept["tokens"].values()) == sum(map(len, paid)) + 3 * len(paid)
    lines = (tmp_path / "whole" / "report.md").read_text().splitlines()
    assert [line.split(" | ")[:3] for line in lines[2:4]] == [["| 1", "0", "2"], ["| 2", "0", "2"]]
    assert "| revision |" in lines[0]
    for kill in range(0, len(paid), 6):
        out = tmp_path / str(kill)
        Writer.prompts_read.clear()
        Writer.killed_at = kill
        with pytest.raises(KeyboardInterrupt):
            optimise_plan(SPEC, out, **HOW)
        again = optimise_plan(SPEC, out, **HOW)
        kept = {name: text for name, text in files(out).items() if name.startswith("plan")}
        assert kept == {name: text for name, text in whole.items() if name.startswith("plan")}
        assert sorted(Writer.prompts_read) == sorted(paid), f"killed at {kill}"
        assert [(iteration.calls, iteration.tokens) for iteration in again] == [
            (iteration.calls, iteration.tokens) for iteration in done
        ]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_optimise_plan__loses_no_call_when_its_process_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    spec = replace(SPEC, model="tests.runs.mortal:Witness")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    monkeypatch.setenv("WITNESS", str(tmp_path / "whole.txt"))
    done = optimise_plan(spec, whole, **HOW)
    monkeypatch.setenv("WITNESS", str(tmp_path / "killed.txt"))
    code = f"from textcraft_gym.runs.optimise_plan import *; optimise_plan({spec!r}, {str(killed)!r}, **{HOW!r})"
    for call in (4, 15, 16, 25):  # in a turn, in a reflection, at the update, in the second batch
        run = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "KILLED_AT": str(call)}, check=False
        )
        assert run.returncode == -signal.SIGKILL
    again = optimise_plan(spec, killed, **HOW)
    assert (tmp_path / "killed.txt").read_text() == (tmp_path / "whole.txt").read_text()
    assert files(killed) == files(whole)
    assert [(iteration.calls, iteration.tokens) for iteration in again] == [
        (iteration.calls, iteration.tokens) for iteration in done
    ]


def test_optimise_plan__does_more_iterations_elsewhere_and_writes_lost_plans_again(tmp_path: Path):
    out, moved = tmp_path / "out", tmp_path / "moved"
    optimise_plan(SPEC, out, **HOW)
    before = len(Writer.prompts_read)
    plan = (out / "plan-2.txt").read_text()
    (out / "plan-2.txt").unlink()
    optimise_plan(SPEC, out, **HOW)
    assert ((out / "plan-2.txt").read_text(), len(Writer.prompts_read)) == (plan, before)
    out.rename(moved)
    seen = []
    optimise_plan(
        SPEC,
        moved,
        **{**HOW, "iterations": 3},
        on_iteration=lambda iteration: seen.append(iteration.number),
    )
    assert seen == [1, 2, 3]
    (moved / "plan-1.txt").write_text("another\n")
    with pytest.raises(RunError, match=r"plan-1.txt differs from the plan in"):
        optimise_plan(SPEC, moved, **HOW)
    with pytest.raises(RunError, match="batch: 2, now 3"):
        optimise_plan(SPEC, moved, batch=3)


def test_optimise_plan__reflects_where_the_steps_of_a_run_are_spent(tmp_path: Path):
    done = optimise_plan(replace(SPEC, max_steps=1), tmp_path, batch=2, iterations=1)
    assert done[0].calls == {
        "thought": 2,
        "action": 2,
        "formalizer": 2,
        "summary": 2,
        "flaws": 2,
        "update": 1,
    }


def test_optimise_plan__plays_tasks_of_the_type_alone(tmp_path: Path):
    spec = replace(SPEC, agent_args={"turns": 1})
    optimise_plan(spec, tmp_path, task_type="depth 3", batch=4, iterations=1)
    assert [record["group"] for record in read_records(tmp_path / "batch-1")] == ["depth 3"] * 4
    assert json.loads((tmp_path / "config.json").read_text())["task_type"] == "depth 3"


class Planner(Writer):
    prompts_read: ClassVar[list[str]] = []


def test_optimise_plan__has_the_planner_write_the_plan(tmp_path: Path):
    optimise_plan(replace(SPEC, planner=f"{__name__}:Planner"), tmp_path, **HOW)
    assert [prompt.endswith("New plan:") for prompt in Planner.prompts_read] == [True, True]
    assert not any(prompt.endswith("New plan:") for prompt in Writer.prompts_read)


def test_optimise_plan__stops_at_an_episode_that_breaks_and_plays_it_again(tmp_path: Path):
    Writer.killed_at, Writer.error = 3, ZeroDivisionError
    with pytest.raises(RunError, match="1 of 2 episodes of batch 1 failed, the first with ZeroDiv"):
        optimise_plan(SPEC, tmp_path, **HOW)
    assert not (tmp_path / "update-1.json").exists()
    assert len(optimise_plan(SPEC, tmp_path, **HOW)) == 2


class Speechless(Writer):
    """Has nothing to say about a batch."""

    def complete(self, prompt, **how) -> Completion:
        completion = super().complete(prompt, **how)
        return completion._replace(text="") if how["max_tokens"] > 1000 else completion


def test_optimise_plan__stops_at_an_update_that_is_empty(tmp_path: Path):
    spec = replace(
        SPEC, agent_args={"turns": 2, "planner_tokens": 1001}, model=f"{__name__}:Speechless"
    )
    with pytest.raises(ModelLimit, match="the answer has no text"):
        optimise_plan(spec, tmp_path, **HOW)
    assert not list(tmp_path.glob("plan-*.txt"))


def test_optimise_plan__plays_each_task_of_a_batch_once(tmp_path: Path):
    with pytest.raises(ValueError, match="expected repeats of 1, got 2"):
        optimise_plan(replace(SPEC, repeats=2), tmp_path, **HOW)


def test_optimise_plan__plays_a_world_without_tasks_by_its_seeds(tmp_path: Path):
    spec = RunSpec(
        "tests.foreign_worlds:GuessDigit-v0",
        agent_args={"turns": 1},
        model=SPEC.model,
        seed=5,
        won_at=1.0,
    )
    optimise_plan(spec, tmp_path, **HOW)
    played = [
        record["seed"] for number in (1, 2) for record in read_records(tmp_path / f"batch-{number}")
    ]
    assert sorted(played) == [5, 6, 7, 8]
    with pytest.raises(ValueError, match="lists no tasks"):
        optimise_plan(spec, tmp_path / "typed", task_type="heat")
    with pytest.raises(RunError, match=r"does not report wins, .*: give won_at"):
        optimise_plan(replace(spec, won_at=None), tmp_path / "unknown", **HOW)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"batch": 0}, "batch of 1 or more"),
        ({"iterations": 0}, "iterations of 1 or more"),
        ({"batch": 3}, "a batch of at most 2"),
        ({"task_type": "heat"}, "unknown type of tasks 'heat'"),
    ],
)
def test_optimise_plan__refuses_what_makes_no_sense(how: dict, message: str, tmp_path: Path):
    with pytest.raises(ValueError, match=message):
        optimise_plan(replace(SPEC, limit=2), tmp_path / "out", **how)
    with pytest.raises(UnknownName, match="beehvie"):
        optimise_plan(replace(SPEC, tasks=("minecraft:beehvie",)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "index"),
    [("heat", 3), ("Pick Two", 5), ("light", 1), ("simple", 0), (TASK_TYPES[2], 2)],
)
def test_full_name__is_that_of_the_only_group(name: str, index: int):
    assert full_name(name, TASK_TYPES) == TASK_TYPES[index]


@pytest.mark.parametrize("name", ["pick", "slice", ""])
def test_full_name__names_the_groups_where_there_is_none_or_more(name: str):
    with pytest.raises(UnknownName, match="pick_two_obj_and_place"):
        full_name(name, TASK_TYPES)


@settings(max_examples=50)
@given(st.integers(1, 12), st.data(), st.integers(0, 3))
def test_draw__takes_each_task_once_before_any_again(number: int, data: st.DataObject, seed: int):
    size = data.draw(st.integers(1, number))
    ids = [f"task {index}" for index in range(number)]
    batches = [batch for batch, _ in zip(draw(ids, seed, size), range(2 * number), strict=False)]
    assert all(len(set(batch)) == size for batch in batches)
    played = [task for batch in batches for task in batch]
    for start in range(0, number * (len(played) // number), number):
        assert sorted(played[start : start + number]) == sorted(ids)
    assert batches == [
        batch for batch, _ in zip(draw(ids, seed, size), range(2 * number), strict=False)
    ]
