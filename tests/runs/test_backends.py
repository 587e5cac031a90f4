from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest

from tests.runs.mortal import Mortal, Stillborn, Unsendable
from tests.runs.test_runner import kill_after_three, lines, untimed
from textcraft_gym import UnknownName, tasks
from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.reports.records import read_config
from textcraft_gym.runs.backends import (
    BACKENDS,
    BackendError,
    LoopBackend,
    ProcessBackend,
    make_backend,
)
from textcraft_gym.runs.rollouts import rollouts
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

ADAPT = RunSpec("TextCraft-v0", "test", "adapt", model="tests.doubles:Crafter,reach=2", limit=8)
DEV = [task.id for task in tasks("TextCraft-v0", "dev")]


def mortal(folder: Path, times: int) -> RunSpec:
    """A run of eight tasks, of which the third is deadly."""
    args = {"folder": str(folder), "task": DEV[2], "times": times}
    return RunSpec("TextCraft-v0", "dev", "tests.runs.mortal:Mortal", agent_args=args, limit=8)


def test_process__comes_to_the_same_as_the_loop_and_writes_one_line_a_task(tmp_path: Path):
    here = evaluate(ADAPT, tmp_path / "here")
    assert untimed(
        evaluate(replace(ADAPT, workers=2, backend="process"), tmp_path / "beside")
    ) == untimed(here)
    assert sorted(line["task"] for line in lines(tmp_path / "beside")) == sorted(
        record["task"] for record in here
    )
    configs = [read_config(tmp_path / name) for name in ("beside", "here")]
    beside, alone = (
        {key: config[key] for key in config if key not in ("started", "finished")}
        for config in configs
    )
    assert beside == alone


def test_process__plays_again_what_a_worker_died_of_and_doubles_nothing(tmp_path: Path):
    expected = evaluate(mortal(tmp_path, 0), tmp_path / "unharmed")
    config = mortal(tmp_path, 2)
    agent = Mortal(**config.agent_args)
    records = evaluate(replace(config, workers=2, backend="process"), tmp_path / "harmed")
    assert agent.deaths == 2
    assert untimed(records) == untimed(expected)
    assert len(lines(tmp_path / "harmed")) == 8


def test_process__takes_a_job_that_kills_every_worker_for_an_error(tmp_path: Path):
    config = mortal(tmp_path, 1000)
    records = evaluate(replace(config, workers=2, backend="process"), tmp_path / "run")
    assert Mortal(**config.agent_args).deaths == 3
    assert [bool(record["error"]) for record in records] == [place == 2 for place in range(8)]
    assert records[2]["error"] == "3 workers died playing it, the last with exit code -9"
    assert len(lines(tmp_path / "run")) == 8


def test_process__shares_a_cassette_among_its_workers(tmp_path: Path):
    tape = tmp_path / "tape.sqlite"
    recorded = evaluate(
        replace(ADAPT, workers=2, backend="process", cassette=tape), tmp_path / "one"
    )
    assert untimed(
        evaluate(replace(ADAPT, cassette=tape, replay_only=True), tmp_path / "two")
    ) == untimed(recorded)


def test_process__makes_an_error_of_what_cannot_be_sent(tmp_path: Path):
    config = RunSpec("TextCraft-v0", "dev", "unsendable", limit=2)
    records = evaluate(replace(config, agent=Unsendable(), backend="process"), tmp_path)
    assert all(record["error"].startswith("the episode cannot be sent: ") for record in records)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (lambda observation, info: "inventory", "cannot be sent to another process"),
        (Stillborn(), "exited before it could play, with exit code 7"),
    ],
    ids=["unsendable", "stillborn"],
)
def test_process__says_why_workers_cannot_begin_before_there_is_a_folder(
    tmp_path: Path, agent, message: str
):
    with pytest.raises(BackendError, match=message):
        evaluate(
            RunSpec("TextCraft-v0", "dev", limit=2, agent=agent, backend="process"),
            tmp_path / "run",
        )
    assert not (tmp_path / "run").exists()


def test_process__passes_on_that_a_model_cannot_be_had(tmp_path: Path):
    config = replace(ADAPT, model="tests.doubles:Crafter,reach=0")
    with pytest.raises(ModelError, match="reach of 1 or more"):
        evaluate(config, tmp_path / "run")
    with pytest.raises(BackendError, match=r"ModelError: .*reach of 1 or more"):
        evaluate(replace(config, workers=2, backend="process"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_process__tells_a_script_to_keep_what_it_does_to_itself(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(
        "from textcraft_gym import RunSpec, rollouts\n"
        "spec = RunSpec('TextCraft-v0', agent='expert', backend='process')\n"
        "print(list(rollouts(spec, [(None, 0)])))\n"
    )
    result = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert result.returncode == 1
    assert 'if __name__ == "__main__"' in result.stderr.splitlines()[-1]


PROMPT = """
from textcraft_gym import RunSpec, evaluate

def policy(observation):
    return "inventory"

evaluate(RunSpec("TextCraft-v0", "dev", policy, limit=1, backend="process"), "run")
"""


def test_process__says_how_to_send_what_has_no_file(tmp_path: Path):
    command = [sys.executable, "-c", PROMPT]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = result.stderr.splitlines()[-1]
    assert "BackendError" in said
    assert said.endswith("; put it into a module, and import it from there")


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_process__leaves_a_killed_run_ready_to_go_on_anywhere_and_no_worker_behind(tmp_path: Path):
    present = tmp_path / "present"
    present.mkdir()
    config = RunSpec(
        "TextCraft-v0",
        "dev",
        "tests.runs.mortal:Present",
        agent_args={"folder": str(present)},
        limit=8,
    )
    beside = replace(config, workers=2, backend="process")
    code = (
        "import sys, time; from textcraft_gym.runs.runner import *;"
        f"evaluate({beside!r}, sys.argv[1], on_episode=lambda record: time.sleep(0.1))"
    )
    before = kill_after_three(tmp_path / "killed", code)
    assert 3 <= before < 8
    workers = [int(file.name) for file in present.iterdir()]
    deadline = time.monotonic() + 30
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_alive, workers))
    new = []
    went_on = evaluate(config, tmp_path / "killed", on_episode=new.append)
    assert len(new) == 8 - before
    assert untimed(went_on) == untimed(evaluate(config, tmp_path / "whole"))


class Repeating(LoopBackend):
    """Yields every episode twice."""

    @contextmanager
    def open(self, run):
        with super().open(run) as play:
            yield lambda jobs: (episode for episode in play(jobs) for _ in range(2))


class Unwilling:
    def open(self, run):
        raise BackendError("not today")


def test_evaluate__writes_no_task_twice_whatever_a_backend_does(tmp_path: Path):
    assert len(evaluate(replace(ADAPT, backend=Repeating()), tmp_path)) == len(lines(tmp_path)) == 8


def test_evaluate__opens_no_backend_when_nothing_is_left_to_play(tmp_path: Path):
    with pytest.raises(BackendError, match="not today"):
        evaluate(replace(ADAPT, backend=Unwilling()), tmp_path)
    records = evaluate(ADAPT, tmp_path)
    assert evaluate(replace(ADAPT, backend=Unwilling()), tmp_path) == json.loads(
        json.dumps(records)
    )


@pytest.mark.parametrize("name", ["threads", "ray:", "process:2", ""])
def test_make_backend__names_the_backends_there_are(name: str):
    with pytest.raises(UnknownName, match="loop, process, ray, ray:ADDRESS"):
        make_backend(name)
    assert [type(make_backend(name)).__name__ for name in BACKENDS] == [
        "LoopBackend",
        "ProcessBackend",
    ] + 2 * ["RayBackend"]


@pytest.mark.parametrize("backend", ["loop", "process"])
def test_rollouts__go_on_as_long_as_one_asks(backend: str):
    jobs = ((None, seed) for seed in count())
    with_model = {"model": "tests.doubles:Crafter,reach=2", "workers": 2, "max_steps": 30}
    endless = rollouts(
        RunSpec("TextCraft-v0", agent="react", split="test", backend=backend, **with_model), jobs
    )
    episodes = sorted(islice(endless, 6), key=lambda episode: episode.seed)
    endless.close()
    assert len({episode.seed for episode in episodes}) == 6
    again = rollouts(
        RunSpec("TextCraft-v0", agent="react", **with_model),
        [(episode.task, episode.seed) for episode in episodes],
    )
    assert sorted(again, key=lambda episode: episode.seed) == episodes
    assert all(episode.calls["executor"] > 0 for episode in episodes)


def test_rollouts__takes_an_agent_its_arguments_and_a_backend_of_ones_own():
    (episode,) = rollouts(
        RunSpec(
            "TextCraft-v0",
            agent="random",
            max_steps=4,
            env_args={"distractors": 0},
            backend=ProcessBackend(),
        ),
        [(DEV[0], 3)],
    )
    assert (episode.task, episode.seed, episode.steps, episode.stop_reason) == (
        DEV[0],
        3,
        4,
        "max_steps",
    )
    with pytest.raises(ValueError, match="workers of 1 or more"):
        next(rollouts(RunSpec("TextCraft-v0", agent="expert", workers=0), [(None, 0)]))
    with pytest.raises(UnknownName, match="exprt"):
        next(rollouts(RunSpec("TextCraft-v0", agent="exprt"), [(None, 0)]))
