from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from textcraft_gym.agents.contract.agent import Completion, ModelError
from textcraft_gym.agents.models.cassette import Cassette

ASK: dict[str, Any] = {"stop": ("\n",), "max_tokens": 50, "temperature": 0.0, "sample": 0}


class Counting:
    """A model that says how often it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, prompt: str, **how: Any) -> Completion:
        self.calls += 1
        return Completion(f"{prompt} {self.calls} \ud83d\u00e9", {"prompt_tokens": self.calls}, cost=1.0)


def test_cassette__asks_once_and_then_replays(tmp_path: Path):
    model = Counting()
    cassette = Cassette(tmp_path / "tape", model)
    first = cassette.complete("p", **ASK)
    assert (first.text, first.cost) == ("p 1 \ud83d\u00e9", 1.0)
    again = cassette.complete("p", **ASK)
    assert (again.text, again.usage, again.cost) == (first.text, first.usage, 0.0)
    assert model.calls == 1
    replayed = Cassette(tmp_path / "tape", name="counting").complete("p", **ASK)
    assert replayed == again


@pytest.mark.parametrize(
    "change",
    [{"stop": ()}, {"stop": ("\n", "x")}, {"max_tokens": 51}, {"temperature": 0.7}, {"sample": 1}],
    ids=lambda change: next(iter(change)),
)
def test_cassette__tells_apart_whatever_was_asked(tmp_path: Path, change: dict[str, Any]):
    model = Counting()
    cassette = Cassette(tmp_path / "tape", model)
    assert cassette.complete("p", **ASK).text != cassette.complete("p", **ASK | change).text
    assert cassette.complete("q", **ASK).text.startswith("q")
    other = Cassette(tmp_path / "tape", model, name="another model")
    other.complete("p", **ASK)
    assert model.calls == 4


def test_cassette__does_not_make_up_what_it_does_not_hold(tmp_path: Path):
    Cassette(tmp_path / "tape", Counting()).close()
    with pytest.raises(ModelError, match="holds no answer of counting to a prompt that ends 'p'"):
        Cassette(tmp_path / "tape", name="counting").complete("p", **ASK)


def test_cassette__records_no_failure(tmp_path: Path):
    class Broken(Counting):
        def complete(self, prompt: str, **how: Any) -> Completion:
            if not self.calls:
                self.calls += 1
                raise ModelError("not now")
            return super().complete(prompt, **how)

    cassette = Cassette(tmp_path / "tape", Broken())
    with pytest.raises(ModelError, match="not now"):
        cassette.complete("p", **ASK)
    assert cassette.complete("p", **ASK).text.startswith("p 2")


def test_cassette__is_named_when_it_is_missing_or_no_cassette(tmp_path: Path):
    with pytest.raises(ModelError, match="no such cassette"):
        Cassette(tmp_path / "missing")
    (tmp_path / "text").write_text("This is no database, whatever its name says. " * 50)
    with pytest.raises(ModelError, match="is no cassette"):
        Cassette(tmp_path / "text", Counting())


def test_cassette__is_whole_after_a_kill(tmp_path: Path):
    code = """
import os, signal, sys
from textcraft_gym.agents.contract.agent import Completion
from textcraft_gym.agents.models.cassette import Cassette
class Model:
    name = "m"
    def complete(self, prompt, **how):
        if prompt == "3":
            os.kill(os.getpid(), signal.SIGKILL)
        return Completion("answer " + prompt)
cassette = Cassette(sys.argv[1], Model())
for prompt in range(10):
    cassette.complete(str(prompt), stop=(), max_tokens=1, temperature=0, sample=0)
"""
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "tape")])
    assert killed.returncode == -9
    replay = Cassette(tmp_path / "tape", name="m")
    ask: dict[str, Any] = {"stop": (), "max_tokens": 1, "temperature": 0, "sample": 0}
    assert [replay.complete(str(n), **ask).text for n in range(3)] == ["answer 0", "answer 1", "answer 2"]
    with pytest.raises(ModelError):
        replay.complete("3", **ask)


def test_cassette__is_shared_by_threads_and_connections(tmp_path: Path):
    cassettes = [Cassette(tmp_path / "tape", Counting()) for _ in range(2)]

    def work(cassette: Cassette) -> None:
        for number in range(50):
            cassette.complete(str(number % 25), **ASK)

    threads = [threading.Thread(target=work, args=(cassettes[n % 2],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with closing(sqlite3.connect(tmp_path / "tape")) as tape:
        assert tape.execute("select count(*) from completions").fetchone() == (25,)
    assert len({cassette.complete("7", **ASK).text for cassette in cassettes}) == 1
