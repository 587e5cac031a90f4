"""Runs on Ray: a local cluster, and one of two nodes on this machine, of which one dies in the
middle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import count, islice
from pathlib import Path

import pytest

from tests.runs.mortal import Mortal, Unsendable
from tests.runs.test_backends import ADAPT, DEV, mortal
from tests.runs.test_killed_runs import kill_in_the_middle
from tests.runs.test_runner import lines, untimed
from textcraft_gym.runs.backends import BackendError, RayBackend
from textcraft_gym.runs.rollouts import rollouts
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

ray = pytest.importorskip("ray", reason="Ray is not installed: make test-ray", exc_type=ImportError)
cluster_utils = import_module("ray.cluster_utils")
ROOT = Path(__file__).parents[2]
# Ray leaves sockets and files to the end of the process.
pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
SOON = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 200,
    "health_check_failure_threshold": 3,
}
"""A node that does not answer is taken for dead after a second, not after half a minute."""


@pytest.fixture(scope="module", autouse=True)
def _as_in_a_users_shell() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.delenv("RAY_ADDRESS", raising=False)
        yield


@pytest.fixture(scope="module")
def cluster() -> Iterator[cluster_utils.Cluster]:
    made = cluster_utils.Cluster(
        initialize_head=True, head_node_args={**SMALL, "_system_config": SOON}
    )
    made.add_node(**SMALL)
    yield made
    made.shutdown()


def wandering(folder: Path, **args: object) -> RunSpec:
    agent = "tests.runs.mortal:Wanderer"
    return RunSpec(
        "TextCraft-v0", "dev", agent, agent_args={"folder": str(folder), **args}, limit=60
    )


def tasks_by_node(folder: Path) -> dict[str, list[str]]:
    return {file.stem: file.read_text().split() for file in folder.glob("*.tasks")}


def test_ray__comes_to_the_same_as_the_loop_on_every_node_of_a_cluster(tmp_path: Path, cluster):
    backend = RayBackend(cluster.address)
    evaluate(replace(wandering(tmp_path, machines=2), workers=2, backend=backend), tmp_path / "run")
    played = tasks_by_node(tmp_path)
    assert set(played) == {node.node_id for node in cluster.list_all_nodes()}
    assert sorted(task for tasks in played.values() for task in tasks) == DEV[:60]
    assert not ray.is_initialized()
    here = evaluate(ADAPT, tmp_path / "here")
    assert untimed(
        evaluate(replace(ADAPT, workers=2, backend=backend), tmp_path / "there")
    ) == untimed(here)


def test_ray__plays_again_what_a_worker_died_of_and_doubles_nothing(tmp_path: Path, cluster):
    expected = evaluate(mortal(tmp_path, 0), tmp_path / "unharmed")
    config = mortal(tmp_path, 2)
    records = evaluate(
        replace(config, workers=2, backend=RayBackend(cluster.address)), tmp_path / "harmed"
    )
    assert Mortal(**config.agent_args).deaths == 2
    assert untimed(records) == untimed(expected)
    assert len(lines(tmp_path / "harmed")) == 8


def test_ray__takes_a_job_that_kills_every_worker_for_an_error(tmp_path: Path, cluster):
    config = mortal(tmp_path, 1000)
    records = evaluate(
        replace(config, workers=2, backend=RayBackend(cluster.address)), tmp_path / "run"
    )
    assert Mortal(**config.agent_args).deaths in (
        3,
        6,
    )  # in a batch with others, it is tried alone again
    assert [bool(record["error"]) for record in records] == [place == 2 for place in range(8)]
    assert records[2]["error"].startswith("3 workers died playing it: ")
    assert len(lines(tmp_path / "run")) == 8


def test_ray__loses_and_doubles_nothing_when_a_node_dies_in_the_middle(tmp_path: Path, cluster):
    doomed = cluster.add_node(**SMALL)
    written_before: list[int] = []

    def kill_in_the_middle(record: dict) -> None:
        if not written_before and (tmp_path / "waiting").exists():
            cluster.remove_node(doomed, allow_graceful=False)
            written_before.append(len(lines(tmp_path / "run")))

    records = evaluate(
        replace(
            wandering(tmp_path, machines=3, doomed=doomed.node_id),
            workers=3,
            backend=RayBackend(cluster.address),
        ),
        tmp_path / "run",
        on_episode=kill_in_the_middle,
    )
    played = tasks_by_node(tmp_path)
    in_vain = played[doomed.node_id][3]
    assert [in_vain in tasks for tasks in played.values()].count(True) == 2
    assert written_before
    assert 0 < written_before[0] < 60
    assert sorted(line["task"] for line in lines(tmp_path / "run")) == DEV[:60]
    assert [(record["error"], record["steps"]) for record in records] == [(None, 1)] * 60


def test_ray__joins_the_cluster_that_the_process_is_connected_to(cluster):
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        jobs = ((None, seed) for seed in count())
        endless = rollouts(
            RunSpec(
                "TextCraft-v0",
                agent="react",
                model="tests.doubles:Crafter,reach=2",
                workers=2,
                backend="ray",
            ),
            jobs,
        )
        episodes = sorted(islice(endless, 6), key=lambda episode: episode.seed)
        endless.close()
        assert ray.is_initialized()
    finally:
        ray.shutdown()
    again = rollouts(
        RunSpec("TextCraft-v0", agent="react", model="tests.doubles:Crafter,reach=2"),
        [(episode.task, episode.seed) for episode in episodes],
    )
    assert list(again) == episodes


def test_ray__makes_an_error_of_what_cannot_be_sent_and_says_why_workers_cannot_begin(
    tmp_path: Path, cluster
):
    backend = RayBackend(cluster.address)
    config = RunSpec("TextCraft-v0", "dev", "unsendable", limit=2)
    records = evaluate(replace(config, agent=Unsendable(), backend=backend), tmp_path / "run")
    assert all(record["error"].startswith("the episode cannot be sent: ") for record in records)
    with pytest.raises(BackendError, match="reach of 1 or more"):
        list(
            rollouts(
                RunSpec(
                    "TextCraft-v0",
                    agent="react",
                    model="tests.doubles:Crafter,reach=0",
                    backend=backend,
                ),
                [(None, 0)],
            )
        )
    with pytest.raises(BackendError, match="cannot share a cassette"):
        evaluate(
            replace(ADAPT, cassette=tmp_path / "tape.sqlite", backend=backend), tmp_path / "taped"
        )
    assert not (tmp_path / "taped").exists()


def test_command__plays_on_a_cluster_of_its_own_and_goes_on_elsewhere(tmp_path: Path):
    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "evaluate",
        "--env",
        "TextCraft-v0",
        "--agent",
        "expert",
    ]
    command += ["--out", str(tmp_path / "run"), "--limit", "4", "--no-table"]
    result = subprocess.run(
        [*command, "--backend", "ray", "--workers", "2"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert len(lines(tmp_path / "run")) == 4
    subprocess.run([*command, "--backend", "process"], check=True, capture_output=True)
    assert len(lines(tmp_path / "run")) == 4


def test_example__trains_with_rllib():
    for module in ("ray.rllib.algorithms.ppo", "torch"):
        pytest.importorskip(
            module,
            reason="RLlib with PyTorch is not installed: make test-ray",
            exc_type=ImportError,
        )
    command = [sys.executable, ROOT / "examples" / "rllib_env.py", "--iterations", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    trained = re.search(r"iteration 0: ([\d.]+) steps an episode, return ([\d.]+)", result.stdout)
    assert trained
    assert float(trained[1]) <= 100
    assert 0 < float(trained[2]) <= 1


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143)]
)
def test_command__asks_nothing_more_when_it_is_killed_or_terminated(
    tmp_path: Path, sent: int, status: int
):
    ended, output = kill_in_the_middle(tmp_path / "run", sent, "--backend", "ray", "--workers", "2")
    assert ended == status
    assert ("Stopped with 0 episodes in" in output) == (sent == signal.SIGTERM)
