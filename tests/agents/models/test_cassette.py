from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Dialogue,
    Message,
    Model,
    ModelError,
    ModelLimit,
    ModelUnavailable,
    batch_method,
)
from textcraft_gym.agents.models import cassette as cassette_module
from textcraft_gym.agents.models.cassette import Cassette

ASK: dict[str, Any] = {"stop": ("\n",), "max_tokens": 50, "temperature": 0.0, "sample": 0}


class Counting:
    """A model that says how often it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, prompt: str, **how: Any) -> Completion:
        self.calls += 1
        return Completion(
            f"{prompt} {self.calls} \ud83d\u00e9", {"prompt_tokens": self.calls}, cost=1.0
        )


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
            return Completion(
                " \n" if self.calls < 3 else "at last", {"completion_tokens": 9}, cost=1.0
            )

        def complete_many(
            self, requests: Sequence[CompletionRequest]
        ) -> list[Completion | Exception]:
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
    with pytest.raises(ModelError, match="is not a cassette"):
        Cassette(tmp_path / "text", Counting())


def make_other(
    file: Path, application: int = 0, table: str = "completions (key)", further: str = ""
) -> None:
    with closing(sqlite3.connect(file)) as other, other:
        other.execute(f"pragma application_id = {application}")
        for made in filter(None, (table, further)):
            other.execute(f"create table {made}")


def make_in_wal_mode(file: Path) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("pragma journal_mode = wal")
        other.execute("create table notes (text)")


OTHERS: dict[str, Callable[[Path], object]] = {
    "text": lambda file: file.write_text("This is no database, whatever its name says. " * 50),
    "short": lambda file: file.write_bytes(b"x"),
    "another program's": lambda file: make_other(
        file, 0x42, "completions (key, model, request, answer)"
    ),
    "another table": lambda file: make_other(file, table="notes (text)"),
    "other columns": make_other,
    "more tables": lambda file: make_other(
        file, table="completions (key, model, request, answer)", further="n (t)"
    ),
    "with a log": make_in_wal_mode,
    "damaged": lambda file: file.write_bytes(b"SQLite format 3\0" + bytes(range(200))),
}


@pytest.mark.parametrize("record", [True, False], ids=["recorded", "replayed"])
@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_cassette__changes_no_file_of_another(
    tmp_path: Path, make: Callable[[Path], object], record: bool
):
    make(tmp_path / "other")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ModelError, match="other is not a cassette"):
        Cassette(tmp_path / "other", Counting() if record else None, name="m")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("record", [True, False], ids=["recorded", "replayed"])
def test_cassette__reads_no_pipe_device_or_folder(tmp_path: Path, record: bool):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    for file in (tmp_path / "pipe", tmp_path / "endless", tmp_path):
        with pytest.raises(ModelError, match=f"{file} is not a cassette: not a regular file"):
            Cassette(file, Counting() if record else None, name="m")


def test_cassette__that_is_empty_is_a_new_one_and_nothing_to_replay(tmp_path: Path):
    (tmp_path / "tape").touch()
    with pytest.raises(ModelError, match="no such table"):
        Cassette(tmp_path / "tape", name="m")
    assert (tmp_path / "tape").read_bytes() == b""
    assert Cassette(tmp_path / "tape", Counting()).complete("p", **ASK).text.startswith("p 1")


def test_cassette__knows_its_format(tmp_path: Path):
    with closing(Cassette(tmp_path / "tape", Counting())) as cassette:
        answer = cassette.complete("p", **ASK)
    with closing(sqlite3.connect(tmp_path / "tape")) as tape:
        assert tape.execute("pragma application_id").fetchone() == (int.from_bytes(b"TCGc", "big"),)
        assert tape.execute("pragma user_version").fetchone() == (1,)
        tape.execute("pragma application_id = 0")  # a file of before there were marks
        tape.execute("pragma user_version = 0")
    unmarked = (tmp_path / "tape").read_bytes()
    assert Cassette(tmp_path / "tape", name="counting").complete("p", **ASK).text == answer.text
    assert (tmp_path / "tape").read_bytes() == unmarked
    Cassette(tmp_path / "tape", Counting()).close()
    with closing(sqlite3.connect(tmp_path / "tape")) as tape:
        assert tape.execute("pragma user_version").fetchone() == (1,)
        tape.execute("pragma user_version = 2")
    with pytest.raises(ModelError, match="of a later version, in format 2: expected 1"):
        Cassette(tmp_path / "tape", Counting())


class Full(sqlite3.Connection):
    """A connection to a file that can grow no further than by a page or two."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute("pragma max_page_count = 3")


class ReadOnly(sqlite3.Connection):
    def __init__(self, file: Path, *args: Any, **kwargs: Any) -> None:
        super().__init__(f"{file.absolute().as_uri()}?mode=ro", *args, **{**kwargs, "uri": True})


def connect_with(monkeypatch: pytest.MonkeyPatch, factory: type[sqlite3.Connection]) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **kwargs: connect(*args, factory=factory, **kwargs)
    )


def test_cassette__that_is_full_loses_no_answer_and_asks_for_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    connect_with(monkeypatch, Full)
    model = Counting()
    cassette = Cassette(tmp_path / "tape", model)
    prompts = [f"{number} {'long ' * 500}" for number in range(20)]
    answers: list[Completion] = []

    full = "tape: an answer could not be recorded: database or disk is full"
    with pytest.raises(ModelUnavailable, match=full):
        answers.extend(cassette.complete(prompt, **ASK) for prompt in prompts)
    assert [answer.cost for answer in answers] == [1.0] * model.calls
    assert 1 <= model.calls < 20
    paid = answers.copy()
    with pytest.raises(ModelUnavailable, match=full):
        answers.extend(cassette.complete(prompt, **ASK) for prompt in prompts)
    assert answers == [*paid, *(answer._replace(cost=0.0) for answer in paid)]
    assert model.calls == len(paid)
    assert caplog.messages == [
        f"{tmp_path / 'tape'}: an answer could not be recorded: database or disk is full"
    ]


def test_cassette__goes_on_once_it_can_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cassette_module, "_BUSY_SECONDS", 0)
    model = Counting()
    cassette = Cassette(tmp_path / "tape", model)
    with closing(sqlite3.connect(tmp_path / "tape", isolation_level=None)) as backup:
        backup.execute("begin")
        backup.execute("select * from completions").fetchall()  # what is read may not be written
        paid = cassette.complete("p", **ASK)
        assert (paid.text, paid.cost) == ("p 1 \ud83d\u00e9", 1.0)
        with pytest.raises(
            ModelUnavailable, match="an answer could not be recorded: database is locked"
        ):
            cassette.complete("q", **ASK)
        backup.execute("commit")
    assert cassette.complete("q", **ASK).text.startswith("q 2")
    replay = Cassette(tmp_path / "tape", name="counting")
    assert [replay.complete(prompt, **ASK).text[:3] for prompt in "pq"] == ["p 1", "q 2"]


def test_cassette__writes_when_it_is_closed_what_it_could_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cassette_module, "_BUSY_SECONDS", 0)
    cassette = Cassette(tmp_path / "tape", Counting())
    with closing(sqlite3.connect(tmp_path / "tape", isolation_level=None)) as backup:
        backup.execute("begin")
        backup.execute("select * from completions").fetchall()
        paid = cassette.complete("p", **ASK)
        backup.execute("commit")
    cassette.close()
    assert Cassette(tmp_path / "tape", name="counting").complete("p", **ASK).text == paid.text


def test_cassette__that_is_full_returns_a_whole_batch_and_asks_for_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    connect_with(monkeypatch, Full)
    model = Batching()
    cassette = Cassette(tmp_path / "tape", model)
    complete_many = batch_method(cassette)
    assert complete_many
    prompts = [f"{number} {'long ' * 500}" for number in range(20)]
    answers = complete_many(requests(*prompts))
    assert [answer.cost for answer in answers if isinstance(answer, Completion)] == [1.0] * 20
    with pytest.raises(ModelUnavailable, match="disk is full"):
        complete_many(requests("another"))
    again = complete_many(requests(*prompts))
    assert [answer.text for answer in again if isinstance(answer, Completion)] == [
        f"to {prompt}" for prompt in prompts
    ]
    assert len(model.batches) == 1


def test_cassette__that_cannot_be_written_is_refused_at_the_start_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    model = Counting()
    with closing(Cassette(tmp_path / "tape", model)) as cassette:
        answer = cassette.complete("p", **ASK)
    before = (tmp_path / "tape").read_bytes()
    connect_with(monkeypatch, ReadOnly)
    with pytest.raises(
        ModelError, match="tape: no answer can be recorded: attempt to write a readonly database"
    ):
        Cassette(tmp_path / "tape", model)
    assert Cassette(tmp_path / "tape", name="counting").complete("p", **ASK).text == answer.text
    assert (tmp_path / "tape").read_bytes() == before
    assert model.calls == 1


def test_cassette__replays_what_was_no_answer_where_nobody_can_be_asked(tmp_path: Path):
    class Refusing(Counting):
        def complete(self, prompt: str, **how: Any) -> Completion:
            if prompt == "too long":
                raise ModelLimit("the prompt exceeds the context", "context")
            return Completion("", {"completion_tokens": 9}, cost=1.0, finish_reason="length")

    cassette = Cassette(tmp_path / "tape", Refusing(), name="m")
    empty = cassette.complete("p", **ASK)
    for _ in range(2):
        with pytest.raises(ModelLimit, match="exceeds the context"):
            cassette.complete("too long", **ASK)
    replay = Cassette(tmp_path / "tape", name="m")
    assert replay.complete("p", **ASK) == empty._replace(cost=0.0)
    with pytest.raises(ModelLimit, match="exceeds the context") as raised:
        replay.complete("too long", **ASK)
    assert raised.value.limit == "context"
    answered = Cassette(tmp_path / "tape", Counting(), name="m").complete("p", **ASK)
    assert replay.complete("p", **ASK).text == answered.text


@pytest.mark.parametrize(
    ("usage", "trouble"),
    [
        ({"prompt_tokens": np.int64(7)}, ""),
        ({"prompt_tokens": object()}, "an answer cannot be written as JSON"),
    ],
    ids=["of NumPy", "of nothing"],
)
def test_cassette__returns_what_json_has_not(tmp_path: Path, usage: dict[str, Any], trouble: str):
    class Odd(Counting):
        def complete(self, prompt: str, **how: Any) -> Completion:
            return super().complete(prompt, **how)._replace(usage=usage)

    cassette = Cassette(tmp_path / "tape", Odd())
    answer = cassette.complete("p", **ASK)
    assert (answer.text[:3], answer.cost, answer.usage) == ("p 1", 1.0, usage)
    if trouble:
        with pytest.raises(ModelUnavailable, match=trouble):
            cassette.complete("q", **ASK)
    else:
        assert cassette.complete("q", **ASK).text.startswith("q 2")


def test_cassette__makes_its_folder(tmp_path: Path):
    (tmp_path / "text").touch()
    with pytest.raises(ModelError, match="is not a cassette"):
        Cassette(tmp_path / "text" / "tape", Counting())
    recorded = Cassette(tmp_path / "new" / "runs" / "tape", Counting()).complete("p", **ASK)
    assert (
        Cassette(tmp_path / "new" / "runs" / "tape", Counting()).complete("p", **ASK).text
        == recorded.text
    )
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
    assert [replay.complete(str(n), **ask).text for n in range(3)] == [
        "answer 0",
        "answer 1",
        "answer 2",
    ]
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
        return (
            super().complete(prompt, **how)._replace(logprobs=(-0.5, -1e-9), token_ids=(7, 128000))
        )


def test_cassette__replays_log_probabilities_and_token_ids(tmp_path: Path):
    recorded = Cassette(tmp_path / "tape", Detailed()).complete("p", **ASK)
    assert (recorded.logprobs, recorded.token_ids) == ((-0.5, -1e-9), (7, 128000))
    assert Cassette(tmp_path / "tape", name="counting").complete("p", **ASK) == recorded._replace(
        cost=0.0
    )


class Batching(Counting):
    """Completes batches, and fails where a prompt is ``bad``."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion | Exception]:
        self.batches.append([str(request.prompt) for request in requests])
        return [
            ModelError("no")
            if request.prompt == "bad"
            else Completion(f"to {request.prompt}", cost=1.0)
            for request in requests
        ]


def requests(*prompts: str) -> list[CompletionRequest]:
    return [CompletionRequest(prompt, ("\n",), 50, 0.0, 0) for prompt in prompts]


def test_cassette__sends_what_it_does_not_hold_in_one_batch(tmp_path: Path):
    model = Batching()
    complete_many = batch_method(Cassette(tmp_path / "tape", model))
    assert complete_many
    first = complete_many(requests("a", "bad", "a"))
    assert [answer.cost if isinstance(answer, Completion) else str(answer) for answer in first] == [
        1.0,
        "no",
        0.0,
    ]
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
    """The interpreter closes the cassette while daemon threads are still asking; that must not be a
    crash."""
    (tmp_path / "slow.py").write_text(
        "import time\n"
        "from textcraft_gym.agents.contract.agent import Completion\n"
        "class Slow:\n"
        "    def complete(self, prompt, **how):\n"
        "        time.sleep(0.003)\n"
        "        return Completion('inventory')\n"
    )
    command = "evaluate --env TextCraft-v0 --agent react --model slow:Slow --workers 4 --cassette tape --out run"
    code = (
        "import sys; from textcraft_gym.cli.main import main; sys.argv[0] = 'textcraft-gym'; main()"
    )
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
    while (
        not (episodes.exists() and episodes.stat().st_size)
        and time.monotonic() < deadline
        and run.poll() is None
    ):
        time.sleep(0.01)
    time.sleep(delay)
    run.send_signal(signal.SIGINT)
    output, _ = run.communicate(timeout=30)
    assert run.returncode == 130, output
    assert "run it again to resume." in output
