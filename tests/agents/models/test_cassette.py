from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Dialogue,
    Message,
    Model,
    ModelError,
    batch_method,
)
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


def test_cassette__asks_again_where_the_answer_was_empty(tmp_path: Path):
    class Mute(Batching):
        def complete(self, prompt: str, **how: Any) -> Completion:
            self.calls += 1
            return Completion(" \n" if self.calls < 3 else "at last", {"completion_tokens": 9}, cost=1.0)

        def complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion | Exception]:
            return [self.complete(str(request.prompt)) for request in requests]

    model = Mute()
    cassette = Cassette(tmp_path / "tape", model)
    answers = [cassette.complete("p", **ASK)]
    complete_many = batch_method(cassette)
    assert complete_many
    answers += complete_many(requests("p"))
    answers += [cassette.complete("p", **ASK) for _ in range(2)]
    assert [(answer.text.strip(), answer.cost) for answer in answers] == [
        ("", 1),
        ("", 1),
        ("at last", 1),
        ("at last", 0),
    ]
    assert model.calls == 3


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


def test_cassette__that_is_only_replayed_is_not_changed(tmp_path: Path):
    (tmp_path / "empty").touch()
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("create table others (key text)")
    other.close()
    for name in ("empty", "other"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(ModelError, match=f"{name} is no cassette: it has no table of completions"):
            Cassette(tmp_path / name, name="m")
        assert (tmp_path / name).read_bytes() == before


def test_cassette__makes_its_folder(tmp_path: Path):
    (tmp_path / "text").touch()
    with pytest.raises(ModelError, match="is no cassette"):
        Cassette(tmp_path / "text" / "tape", Counting())
    recorded = Cassette(tmp_path / "new" / "runs" / "tape", Counting()).complete("p", **ASK)
    assert Cassette(tmp_path / "new" / "runs" / "tape", Counting()).complete("p", **ASK).text == recorded.text
    assert recorded.text.startswith("p 1")


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


def test_cassette__keys_are_those_of_earlier_versions(tmp_path: Path):
    Cassette(tmp_path / "tape", Counting()).complete("p", **ASK)
    Cassette(tmp_path / "tape", Counting()).complete([Message("user", "p")], **ASK)
    with closing(sqlite3.connect(tmp_path / "tape")) as tape:
        keys = {row[0][:16] for row in tape.execute("select key from completions")}
    assert keys == {"fd51bf1804223a14", "9e4de80239c0bf26"}


def test_cassette__tells_dialogues_apart_by_text_and_messages(tmp_path: Path):
    dialogues = [
        "ab",
        Dialogue("ab", [Message("user", "ab")]),
        Dialogue("ab", [Message("user", "a"), Message("user", "b")]),
        Dialogue("a b", [Message("user", "a"), Message("user", "b")]),
    ]
    cassette = Cassette(tmp_path / "tape", Counting())
    answers = [cassette.complete(dialogue, **ASK).text for dialogue in dialogues]
    assert len(set(answers)) == 4
    replay = Cassette(tmp_path / "tape", name="counting")
    assert [replay.complete(dialogue, **ASK).text for dialogue in dialogues] == answers


class Detailed(Counting):
    def complete(self, prompt: str, **how: Any) -> Completion:
        return super().complete(prompt, **how)._replace(logprobs=(-0.5, -1e-9), token_ids=(7, 128000))


def test_cassette__replays_log_probabilities_and_token_ids(tmp_path: Path):
    recorded = Cassette(tmp_path / "tape", Detailed()).complete("p", **ASK)
    assert (recorded.logprobs, recorded.token_ids) == ((-0.5, -1e-9), (7, 128000))
    assert Cassette(tmp_path / "tape", name="counting").complete("p", **ASK) == recorded._replace(cost=0.0)


def of_an_earlier_version(file: Path) -> None:
    """Record ``p`` and take away the columns that a file had not at first."""
    with closing(Cassette(file, Counting())) as cassette:
        cassette.complete("p", **ASK)
    with closing(sqlite3.connect(file)) as tape:
        tape.execute("alter table completions drop column logprobs")
        tape.execute("alter table completions drop column token_ids")


class Batching(Counting):
    """Completes batches, and fails where a prompt is ``bad``."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion | Exception]:
        self.batches.append([str(request.prompt) for request in requests])
        return [
            ModelError("no") if one.prompt == "bad" else Completion(f"to {one.prompt}", cost=1.0) for one in requests
        ]


def requests(*prompts: str) -> list[CompletionRequest]:
    return [CompletionRequest(prompt, ("\n",), 50, 0.0, 0) for prompt in prompts]


def test_cassette__sends_what_it_does_not_hold_in_one_batch(tmp_path: Path):
    model = Batching()
    complete_many = batch_method(Cassette(tmp_path / "tape", model))
    assert complete_many
    first = complete_many(requests("a", "bad", "a"))
    assert [answer.cost if isinstance(answer, Completion) else str(answer) for answer in first] == [1.0, "no", 0.0]
    second = complete_many(requests("b", "a", "bad"))
    assert [getattr(answer, "text", None) for answer in second] == ["to b", "to a", None]
    assert model.batches == [["a", "bad"], ["b", "bad"]]
    complete_many(requests("b", "a"))
    assert len(model.batches) == 2
    assert Cassette(tmp_path / "tape", model).complete("b", **ASK).text == "to b"


def test_cassette__takes_batches_only_for_a_model_that_does(tmp_path: Path):
    one_by_one: Model = Cassette(tmp_path / "tape", Counting())
    assert batch_method(one_by_one) is None
    assert batch_method(Cassette(tmp_path / "tape", name="replayed")) is None


def test_cassette__that_is_closed_answers_nothing(tmp_path: Path):
    cassette = Cassette(tmp_path / "tape", Counting())
    cassette.complete("p", **ASK)
    cassette.close()
    with pytest.raises(ModelError, match="the cassette is closed"):
        cassette.complete("p", **ASK)
    cassette.close()


def test_cassette__can_be_closed_while_threads_use_it(tmp_path: Path):
    cassette = Cassette(tmp_path / "tape", Counting())
    ends: list[str] = []

    def work(thread: int) -> None:
        try:
            for number in range(100_000):
                cassette.complete(f"{thread} {number}", **ASK)
        except Exception as error:
            ends.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    cassette.close()
    for thread in threads:
        thread.join()
    assert ends == [f"ModelError: {tmp_path / 'tape'}: the cassette is closed"] * 8


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_evaluate__interrupted_with_a_cassette_ends_in_order(tmp_path: Path, delay: float):
    """The interpreter closes the cassette while daemon threads are still asking; that must not be a crash."""
    (tmp_path / "slow.py").write_text(
        "import time\n"
        "from textcraft_gym.agents.contract.agent import Completion\n"
        "class Slow:\n"
        "    def complete(self, prompt, **how):\n"
        "        time.sleep(0.003)\n"
        "        return Completion('inventory')\n"
    )
    command = "evaluate --env TextCraft-v0 --agent react --model slow:Slow --workers 4 --cassette tape --out run"
    code = "import sys; from textcraft_gym.cli import main; sys.argv[0] = 'textcraft-gym'; main()"
    run = subprocess.Popen(
        [sys.executable, "-c", code, *command.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 60
    episodes = tmp_path / "run" / "episodes.jsonl"
    while not (episodes.exists() and episodes.stat().st_size) and time.monotonic() < deadline and run.poll() is None:
        time.sleep(0.01)
    time.sleep(delay)
    run.send_signal(signal.SIGINT)
    output, _ = run.communicate(timeout=30)
    assert run.returncode == 130, output
    assert "Stopped." in output
