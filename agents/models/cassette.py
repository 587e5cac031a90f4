"""A cassette: records a model's completions in one file, and replays them without the model.

The key of a completion is its whole request: model, prompt, stop sequences, tokens, temperature and
sample. Completions are written immediately, so that an interrupted run pays for nothing twice. One
that cannot be written is returned all the same, and the model is not asked again before it is.
Secrets of the process are in neither.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import stat
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.agents.contract.model import (
    CompleteAsync,
    CompleteMany,
    Completion,
    CompletionRequest,
    Dialogue,
    Form,
    Model,
    ModelError,
    ModelLimit,
    ModelUnavailable,
    Prompt,
    Tool,
    ToolCall,
    async_method,
    batch_method,
    form_of,
    prompt_messages,
    prompt_text,
)
from textcraft_gym.agents.redaction import redact, redacted

_APPLICATION = int.from_bytes(b"TCGc", "big")
"""SQLite's ``application_id`` of a cassette."""
_FORMAT = 1
"""Version of the format, SQLite's ``user_version``."""
_CREATE = (
    """
    create table if not exists completions (
        key text primary key, model text not null, request text not null, answer text not null
    ) without rowid
    """,
    f"pragma application_id = {_APPLICATION}",
    f"pragma user_version = {_FORMAT}",
)
_COLUMNS = ["key", "model", "request", "answer"]
_INSERT = "insert or ignore into completions (key, model, request, answer) values (?, ?, ?, ?)"
_SELECT = "select answer from completions where key = ?"
_BUSY_SECONDS = 60
_CLOSING_SECONDS = 5.0

_log = logging.getLogger("textcraft_gym.models")


class Cassette:
    """A model that answers from a file, and asks ``model`` for completions that the file lacks.

    Threads and processes may share a file. A replayed completion costs nothing; its usage is the
    recorded one. What is no answer, an empty text or a limit of the model, is asked for again,
    unless the file is all that there is.

    Args:
        file: An SQLite file; created, with its folder, if it does not exist and there is a model to
            record.
        model: The model to record; None to replay only.
        name: Name under which completions are filed, by default the model's ``name``.
        form: Without a model, the form in which the recorded one was talked with.

    Raises:
        ModelError: If the file is not a cassette, cannot be written although there is a model, or
            there is neither.
    """

    def __init__(
        self,
        file: str | Path,
        model: Model | None = None,
        *,
        name: str | None = None,
        form: Form | None = None,
    ) -> None:
        self.name = redact(name or getattr(model, "name", None) or type(model).__name__)
        self.prompts = getattr(model, "prompts", None)
        self.form = form_of(model) if model else form or "line"
        self.takes_tools = model is None or bool(getattr(model, "takes_tools", False))
        self._file = Path(file)
        self._model = model
        if model is None and not self._file.exists():
            raise ModelError(f"{file}: no such cassette, and no model to record")
        is_marked = _check_is_cassette(self._file)
        self._tape = _Tape(self._file)
        # Every answer is on disk immediately, so closing the file is the only clean-up.
        self._closing = weakref.finalize(self, self._tape.close)
        try:
            if model is None:
                # Whether the file can be read at all is known here, not in the first episode.
                self._tape.find("")
            else:
                self._tape.prepare(self.name, is_marked=is_marked)
        except ModelError:
            self.close()
            raise

    @property
    def complete_many(self) -> CompleteMany | None:
        """Completes a batch, of which only unrecorded requests are sent; None if it cannot."""
        return self._complete_many if self._model and batch_method(self._model) else None

    @property
    def complete_async(self) -> CompleteAsync | None:
        """Completes a request that is not recorded beside others; None if the model cannot."""
        return self._complete_async if self._model and async_method(self._model) else None

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
        tools: tuple[Tool, ...] = (),
    ) -> Completion:
        """Return the recorded completion, or the model's, which is then recorded.

        Raises:
            ModelError: If it is not recorded and there is no model, or the model raises it; of the
                class ``ModelUnavailable`` if an earlier answer could not be recorded.
        """
        key, request = self._key(
            CompletionRequest(prompt, stop, max_tokens, temperature, sample, tools)
        )
        recorded = self._find(key)
        if recorded:
            return recorded
        if self._model is None:
            raise ModelError(
                f"{self._file} holds no answer of {self.name} "
                f"to a prompt that ends {prompt_text(prompt)[-80:]!r}"
            )
        offered: dict[str, Any] = {"tools": tools} if tools else {}
        with self._asking(key, request):
            completion = self._model.complete(
                prompt,
                stop=stop,
                max_tokens=max_tokens,
                temperature=temperature,
                sample=sample,
                **offered,
            )
        return self._record(key, request, completion)

    def close(self) -> None:
        """Close the file; it is also closed with the last reference to the cassette."""
        self._closing()

    async def _complete_async(self, request: CompletionRequest) -> Completion:
        key, written = self._key(request)
        recorded = self._find(key)
        if recorded:
            return recorded
        complete = async_method(self._model) if self._model else None
        if complete is None:
            return self.complete(**request._asdict())
        with self._asking(key, written):
            completion = await complete(request)
        return self._record(key, written, completion)

    def _complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion | Exception]:
        keys = [self._key(request) for request in requests]
        answers: dict[str, Completion | Exception] = {}
        # Equal requests of one batch are asked once.
        missing: dict[tuple[str, str], CompletionRequest] = {}
        for (key, written), request in zip(keys, requests, strict=True):
            recorded = self._find(key)
            if recorded:
                answers[key] = recorded
            else:
                missing[key, written] = request
        answers |= self._answers(missing)
        ordered: list[Completion | Exception] = []
        for key, _ in keys:
            answer = answers[key]
            ordered.append(answer)
            if isinstance(answer, Completion):
                # An equal request later in the batch was not paid for.
                answers[key] = answer._replace(cost=0.0)
        return ordered

    def _answers(
        self,
        missing: Mapping[tuple[str, str], CompletionRequest],
    ) -> dict[str, Completion | Exception]:
        """Return the model's answers to a batch by their keys, recorded."""
        complete_many = batch_method(self._model) if self._model else None
        if not missing or complete_many is None:
            return {}
        self._tape.settle()
        answers: dict[str, Completion | Exception] = {}
        completions = complete_many(list(missing.values()))
        for (key, written), answer in zip(missing, completions, strict=True):
            if isinstance(answer, ModelLimit):
                self._record_limit(key, written, answer)
            if not isinstance(answer, Exception):
                answer = self._record(key, written, answer)
            answers[key] = answer
        return answers

    def _key(self, request: CompletionRequest) -> tuple[str, str]:
        """Return the key of a request, and its JSON text."""
        prompt = request.prompt
        is_text = isinstance(prompt, str) and not isinstance(prompt, Dialogue)
        values: list[Any] = [
            prompt if is_text else _plain(prompt),
            list(request.stop),
            request.max_tokens,
            # 0 and 0.0 are one request, and would be two texts.
            float(request.temperature),
            request.sample,
        ]
        if request.tools:
            values.append([asdict(tool) for tool in request.tools])
        written = json.dumps(redacted(values))
        identity = [self.name, written]
        # A completion model gets the text of a dialogue, a chat model its messages: the key covers
        # both.
        if isinstance(prompt, Dialogue):
            identity.append(redact(str(prompt)))
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest(), written

    @contextmanager
    def _asking(self, key: str, request: str) -> Iterator[None]:
        """Record what keeps the model from an answer, if that is its own limit.

        Raises:
            ModelUnavailable: If an earlier answer still cannot be written: none is paid for that
                might be lost.
        """
        self._tape.settle()
        try:
            yield
        except ModelLimit as limit:
            self._record_limit(key, request, limit)
            raise

    def _record(
        self,
        key: str,
        request: str,
        completion: Completion,
    ) -> Completion:
        """Record a completion and return the recorded one, at the cost of this one.

        Of two equal requests at the same time, the first answer is recorded and returned to both,
        as in a replay. An empty answer is apart from those, since the next run asks again.
        """
        try:
            answer = _written(_shown(completion))
            is_empty = completion.is_empty
        except AttributeError:
            # No completion: a model is foreign code, and an episode says what is wrong.
            return completion
        except (TypeError, ValueError, RecursionError) as error:
            self._tape.refuse(f"an answer cannot be written as JSON: {error}")
            return completion
        if is_empty:
            self._tape.keep(_Row(_apart(key), self.name, request, answer))
            return completion
        recorded = self._tape.keep(_Row(key, self.name, request, answer))
        return _read(recorded)._replace(cost=completion.cost)

    def _record_limit(
        self,
        key: str,
        request: str,
        limit: ModelLimit,
    ) -> None:
        """Record a limit of the model for replays; the next run may not meet it."""
        answer = json.dumps({"limit": limit.limit, "message": str(limit)})
        self._tape.keep(_Row(_apart(key), self.name, request, answer))

    def _find(self, key: str) -> Completion | None:
        """Return the recorded completion; without a model to ask, also an empty one.

        Raises:
            ModelLimit: Without a model, if what is recorded is a limit.
        """
        answer = self._tape.find(key)
        if answer is None and self._model is None:
            answer = self._tape.find(_apart(key))
        if answer is None:
            return None
        return _read(answer)


def _apart(key: str) -> str:
    """Return the key of what was recorded for a request in place of an answer."""
    return f"{key} unanswered"


def _shown(completion: Completion) -> Completion:
    """Return a completion without secrets; its tokens, which would tell them, are dropped."""
    shown = redacted(completion._asdict())
    if shown == completion._asdict():
        return completion
    return Completion(**{**shown, "logprobs": None, "token_ids": None})


def _written(completion: Completion) -> str:
    """Return a completion as JSON, without its cost and its empty fields."""
    fields = completion._replace(cost=0.0, usage=dict(completion.usage))._asdict()
    for name, value in Completion("")._asdict().items():
        if name != "text" and fields[name] == value:
            del fields[name]
    return json.dumps(fields, default=float)  # a model may count in numbers of NumPy


def _read(answer: str) -> Completion:
    """Return the completion that ``_written`` wrote.

    Raises:
        ModelLimit: If a limit was recorded.
    """
    fields = json.loads(answer)
    if "limit" in fields:
        raise ModelLimit(fields["message"], fields["limit"])
    for name in ("logprobs", "token_ids"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "tool_calls" in fields:
        fields["tool_calls"] = tuple(ToolCall(*call) for call in fields["tool_calls"])
    return Completion(**fields)


def _plain(prompt: Prompt) -> list[list[Any]]:
    """Return the messages of a prompt as JSON values, without their empty fields."""
    messages = []
    for role, content, calls, call_id in prompt_messages(prompt):
        message: list[Any] = [role, content]
        if calls or call_id:
            message += [calls, call_id]
        messages.append(message)
    return messages


def _check_is_cassette(file: Path) -> bool:
    """Return whether a file is marked as a cassette.

    A new one, or one from before there were marks, is not.

    Only its bytes are read: SQLite itself may change a file that it opens.

    Raises:
        ModelError: If it is anything else.
    """
    header = _sqlite_header(file)
    if not header:
        return False
    if not header.startswith(b"SQLite format 3\0"):
        raise ModelError(f"{file} is not a cassette: not an SQLite file")
    version = int.from_bytes(header[60:64], "big")
    application = int.from_bytes(header[68:72], "big")
    is_marked = application == _APPLICATION
    if not is_marked and (application or not _has_only_completions(file)):
        raise ModelError(f"{file} is not a cassette, but another SQLite file")
    if version > _FORMAT:
        raise ModelError(
            f"{file} is a cassette of a later version, in format {version}: expected {_FORMAT}"
        )
    return is_marked


def _sqlite_header(file: Path) -> bytes:
    """Return the first 100 bytes of a file; none if it is missing or empty.

    Raises:
        ModelError: If it is no file, or cannot be read.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe or a device could be read for ever
            raise ModelError(f"{file} is not a cassette: not a regular file")
        with file.open("rb") as opened:
            return opened.read(100)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ModelError(f"{file} is not a cassette: {error.strerror}") from error


def _has_only_completions(file: Path) -> bool:
    """Return whether an SQLite file has a cassette's table and no other.

    Nothing is changed or locked.
    """
    try:
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?immutable=1", uri=True)
        ) as opened:
            names = opened.execute("select name from sqlite_master").fetchall()
            columns = opened.execute("select name from pragma_table_info('completions')").fetchall()
    except sqlite3.Error:
        return False
    return names == [("completions",)] and [name for (name,) in columns] == _COLUMNS


class _Row(NamedTuple):
    """A row of the table."""

    key: str
    model: str
    request: str
    answer: str


class _Tape:
    """An SQLite connection shared by threads, which is never closed while one of them uses it.

    Rows that cannot be written are kept in memory, and tried again before the model is asked.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._closed = False
        self._unwritten: dict[str, _Row] = {}
        self._trouble = ""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            # Without an isolation level each statement is committed by itself, so that an answer is
            # on disk before the next is paid for. ``_lock`` keeps the threads apart.
            self._connection = sqlite3.connect(
                file,
                timeout=_BUSY_SECONDS,
                check_same_thread=False,
                isolation_level=None,
            )
        except (OSError, sqlite3.Error) as error:
            raise ModelError(f"{file} is not a cassette: {error}") from error

    def prepare(self, model: str, *, is_marked: bool) -> None:
        """Make a new file a cassette, and try whether a row can be written; none is.

        Raises:
            ModelError: If it cannot.
        """
        # ``immediate`` takes the lock for writing at once: SQLite waits for that, not for a later
        # change of a reader's lock.
        create = () if is_marked else ("begin immediate", *_CREATE, "commit")
        probe = _Row("probe", model, "", "")
        with self._lock:
            try:
                for statement in (*create, "begin immediate"):
                    self._execute(statement)
                # A file may be readable but not writable: better known before a model is paid.
                self._execute(_INSERT, *probe)
                self._execute("rollback")
            except (sqlite3.Error, UnicodeError) as error:
                raise ModelError(
                    f"{self._file}: no answer can be recorded: {error}; "
                    "to replay what it holds, replay only"
                ) from error

    def find(self, key: str) -> str | None:
        """Return the answer of a row; None if there is none.

        Raises:
            ModelError: If the tape is closed, or the file cannot be read.
        """
        with self._lock:
            self._check_open()
            try:
                return self._answer(key)
            except sqlite3.Error as error:
                raise ModelError(
                    f"{self._file} is not a cassette, or cannot be read: {error}"
                ) from error

    def keep(self, row: _Row) -> str:
        """Write a row unless there is one of its key, and return the answer of that key.

        What was paid for is never lost to an error: where it cannot be written, it is kept until
        ``settle`` can.
        """
        with self._lock:
            if not self._closed and not self._unwritten:
                try:
                    self._execute(_INSERT, *row)
                    return self._answer(row.key) or row.answer
                except sqlite3.Error as error:
                    _log.warning("%s: an answer could not be recorded: %s", self._file, error)
            return self._unwritten.setdefault(row.key, row).answer

    def settle(self) -> None:
        """Write the rows that could not be written.

        Raises:
            ModelError: If the tape is closed; of the class ``ModelUnavailable`` if they still
                cannot be written.
        """
        with self._lock:
            self._check_open()
            if self._trouble:
                raise ModelUnavailable(f"{self._file}: {self._trouble}")
            try:
                for key, row in list(self._unwritten.items()):
                    self._execute(_INSERT, *row)
                    del self._unwritten[key]
                    self._wait(_BUSY_SECONDS)
            except sqlite3.Error as error:
                # Whoever locks the file was waited for twice: the others need not wait again.
                self._wait(0)
                raise ModelUnavailable(
                    f"{self._file}: an answer could not be recorded: {error}"
                ) from error

    def refuse(self, trouble: str) -> None:
        """Have ``settle`` raise from now on."""
        with self._lock:
            self._trouble = trouble

    def close(self) -> None:
        """Close the connection once no thread is using it; later uses raise a ModelError."""
        self._closed = True
        # A thread may wait a long time for another process's lock, for which an interrupted run
        # should not wait. Then the connection stays open, and nothing is lost but what could not be
        # written.
        if self._lock.acquire(timeout=_CLOSING_SECONDS):
            try:
                with suppress(sqlite3.Error):
                    self._wait(0)
                    for row in self._unwritten.values():
                        self._execute(_INSERT, *row)
                self._connection.close()
            finally:
                self._lock.release()

    def _check_open(self) -> None:
        if self._closed:
            raise ModelError(f"{self._file}: the cassette is closed")

    def _answer(self, key: str) -> str | None:
        if key in self._unwritten:
            return self._unwritten[key].answer
        rows = self._execute(_SELECT, key)
        return rows[0][0] if rows else None

    def _execute(self, statement: str, *values: str) -> list[Any]:
        return self._connection.execute(statement, values).fetchall()

    def _wait(self, seconds: int) -> None:
        """Set how long to wait for another process that locks the file."""
        self._execute(f"pragma busy_timeout = {1000 * seconds}")
