"""Runs on a disk that is full: each stops in one line, keeps what was paid for, and goes on once
there is room."""

from __future__ import annotations

import errno
import json
import os
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.doubles import CRAFTER, Crafter, environment
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.errors import RunStopped
from textcraft_gym.registration import find
from textcraft_gym.reports.records import read_lines, read_records
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate, evaluate_or_raise
from textcraft_gym.wrappers import TranscriptRecorder

COMMAND = """
import resource, sys
from textcraft_gym.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
sys.argv[0] = "textcraft-gym"
main()
"""


class Priced(Crafter):
    """Plays well, at a price for each call, and counts its calls."""

    calls = 0

    def complete(self, prompt, **how) -> Completion:
        type(self).calls += 1
        return super().complete(prompt, **how)._replace(cost=0.5)


SPEC = RunSpec("TextCraft-v0", "test", "react", model=f"{__name__}:Priced,reach=2", limit=12)


class Small(sqlite3.Connection):
    """A connection to a file that may have few pages."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute("pragma max_page_count = 30")


@pytest.mark.parametrize("workers", [1, 4])
def test_evaluate__with_a_full_cassette_stops_and_loses_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
):
    spec = replace(SPEC, workers=workers, cassette=tmp_path / "tape")
    Priced.calls = 0
    connect = sqlite3.connect
    with monkeypatch.context() as patched:
        patched.setattr(
            sqlite3, "connect", lambda *args, **kwargs: connect(*args, factory=Small, **kwargs)
        )
        with pytest.raises(
            RunStopped,
            match=r"tape: an answer could not be recorded: .* disk is full\)\. \d+ of 12",
        ):
            evaluate_or_raise(spec, tmp_path / "run")
    paid = Priced.calls
    costs = [line.record["cost"] for line in read_lines(tmp_path / "run") if line.record]
    assert sum(costs) == pytest.approx(0.5 * paid)
    with closing(connect(tmp_path / "tape")) as tape:
        (kept,) = tape.execute("select count(*) from completions").fetchone()
    assert 0 < paid - kept <= workers  # the answers that only the episodes have got
    records = evaluate(spec, tmp_path / "run")
    whole = evaluate(SPEC, tmp_path / "whole")
    assert [(record["task"], record["won"], record["transcript"]) for record in records] == [
        (record["task"], record["won"], record["transcript"]) for record in whole
    ]


def command(limit: int, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", COMMAND, str(limit), *arguments],
        cwd=cwd,
        # Python takes half a module that it compiled and could not write for a whole one.
        env={**environment(), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("backend", ["loop", "process"])
def test_command__on_a_full_disk_stops_in_one_line_and_goes_on(tmp_path: Path, backend: str):
    of_run = {
        "env": "TextCraft-v0",
        "split": "dev",
        "agent": "react",
        "model": CRAFTER,
        "limit": "8",
        "workers": "2",
        "out": "run",
    }
    run = [
        "evaluate",
        "--no-table",
        "--backend",
        backend,
        *(f"--{name}={value}" for name, value in of_run.items()),
    ]
    stopped = command(12_000, *run, cwd=tmp_path)
    said = stopped.stderr.splitlines()
    assert stopped.returncode == 1, stopped
    # An episode that was under way is kept, too, for its tokens, but is not over.
    kept = read_records(tmp_path / "run").done
    assert said == [
        f"textcraft-gym: stopped: an episode cannot be written: {os.strerror(errno.EFBIG)}. {len(kept)} of 8 "
        "episodes are in run; fix this, and run it again to go on."
    ]
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes().endswith(b"\n")
    before = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    went_on = command(resource.RLIM_INFINITY, *run, cwd=tmp_path)
    assert (went_on.returncode, went_on.stderr) == (0, "")
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes().startswith(before)
    assert len(read_records(tmp_path / "run")) == 8


@pytest.mark.parametrize(
    "arguments",
    [
        "demos --env TextCraft-v0 --split dev --out out.jsonl",
        "export run --out out.jsonl",
        "report run --out out.html",
        "splits make --out out.jsonl",
    ],
)
def test_command__that_cannot_write_its_file_leaves_nothing(tmp_path: Path, arguments: str):
    evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=3), tmp_path / "run")
    before = sorted(tmp_path.rglob("*"))
    failed = command(100, *arguments.split(), cwd=tmp_path)
    assert failed.returncode == 2
    file = tmp_path / arguments.split()[-1]
    assert failed.stderr == f"textcraft-gym: {file}: {os.strerror(errno.EFBIG).lower()}\n"
    assert sorted(tmp_path.rglob("*")) == before


def test_evaluate__whose_summary_cannot_be_written_has_its_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    spec = RunSpec("TextCraft-v0", "dev", "expert", limit=2)
    with monkeypatch.context() as patched:

        def fails(*args: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patched.setattr("textcraft_gym.runs.run_folder.summarise_by_group", fails)
        with pytest.raises(
            RunStopped, match=r"the summary cannot be written: No space left on device\. 2 of 2"
        ):
            evaluate_or_raise(spec, tmp_path)
    assert len(read_records(tmp_path)) == 2
    evaluate(spec, tmp_path, on_episode=lambda record: pytest.fail("it was played already"))
    assert (tmp_path / "summary.json").exists()


def read_json_lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="only Linux has a device that is always full"
)
def test_recorder__that_cannot_write_breaks_no_episode(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "played").symlink_to("/dev/full")
    env = TranscriptRecorder(find("TextCraft-v0").make(split="test"), tmp_path / "played")
    for seed in range(2):
        env.reset(seed=seed)
        assert env.step("inventory")[0]
    env.reset()
    assert caplog.messages == [
        f"{tmp_path / 'played'}: an episode could not be written: No space left on device"
    ]
    with pytest.raises(OSError, match="No space left on device"):
        env.close()
    (tmp_path / "played").unlink()
    env.close()
    assert len((tmp_path / "played").read_text().splitlines()) == 2


def test_recorder__goes_on_in_the_middle_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    env = TranscriptRecorder(find("TextCraft-v0").make(split="test"), tmp_path / "played")
    write = os.write
    with monkeypatch.context() as patched:

        def write_a_part(file: int, data: bytes) -> int:
            if len(data) < 100:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(file, data[: len(data) - 50])

        patched.setattr(os, "write", write_a_part)
        env.reset(seed=0)
        env.step("inventory")
        env.reset(seed=1)
    assert not (tmp_path / "played").read_bytes().endswith(b"\n")
    env.step("inventory")
    env.close()
    assert len(read_json_lines(tmp_path / "played")) == 2
