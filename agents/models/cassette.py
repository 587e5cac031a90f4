"""A cassette: records a model's completions in one file, and replays them without the model.

The key of a completion is its whole request: model, prompt, stop sequences, tokens, temperature and sample. Completions
are written immediately, so that an interrupted run pays for nothing twice. Secrets of the process are in neither.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from textcraft_gym.agents.contract.model import (
    CompleteMany,
    Completion,
    CompletionRequest,
    Dialogue,
    Model,
    ModelError,
    Prompt,
    batch_method,
    prompt_messages,
    prompt_text,
)
from textcraft_gym.agents.redaction import redact, redacted

_TABLE = """
create table if not exists completions (
    key text primary key, model text not null, request text not null, text text not null, usage text not null,
    logprobs text, token_ids text
) without rowid
"""
_LATER_COLUMNS = ("logprobs", "token_ids")
"""Columns that the files of earlier versions lack."""
_INSERT = """
insert or ignore into completions (key, model, request, text, usage, logprobs, token_ids) values (?, ?, ?, ?, ?, ?, ?)
"""
_SELECT = "select text, usage, logprobs, token_ids from completions where key = ?"
_SELECT_EARLIER = "select text, usage, null, null from completions where key = ?"
_BUSY_SECONDS = 60.0
_CLOSING_SECONDS = 5.0


class Cassette:
    """A model that answers from a file, and asks ``model`` for completions that the file lacks.

    Threads and processes may share a file. A replayed completion costs nothing; its usage is the recorded one.

    Args:
        file: An SQLite file; created, with its folder, if it does not exist and there is a model to record.
        model: The model to record; None to replay only.
        name: Name under which completions are filed, by default the model's ``name``.

    Raises:
        ModelError: If the file is no cassette, or there is neither a file nor a model.
    """

    def __init__(self, file: str | Path, model: Model | None = None, *, name: str | None = None) -> None:
        self.name = redact(name or getattr(model, "name", None) or type(model).__name__)
        self.prompts = getattr(model, "prompts", None)
        self._file = Path(file)
        self._model = model
        if model is None and not self._file.exists():
            raise ModelError(f"{file}: no such cassette, and no model to record")
        self._tape = _Tape(self._file)
        # Every answer is on disk immediately, so closing the file is the only clean-up.
        self._closing = weakref.finalize(self, self._tape.close)
        try:
            self._select = self._tape.prepare(record=model is not None)
        except ModelError:
            self.close()
            raise

    @property
    def complete_many(self) -> CompleteMany | None:
        """Completes a batch: recorded requests from the file, the others in one batch; None if the model has none."""
        return self._complete_many if self._model and batch_method(self._model) else None

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the recorded completion, or the model's, which is then recorded.

        Raises:
            ModelError: If it is not recorded and there is no model, or the model raises it.
        """
        asked = CompletionRequest(prompt, stop, max_tokens, temperature, sample)
        key, request = self._key(asked)
        recorded = self._find(key)
        if recorded:
            return recorded
        if self._model is None:
            raise ModelError(
                f"{self._file} holds no answer of {self.name} to a prompt that ends {prompt_text(prompt)[-80:]!r}"
            )
        completion = self._model.complete(
            prompt, stop=stop, max_tokens=max_tokens, temperature=temperature, sample=sample
        )
        return self._record(key, request, completion)

    def close(self) -> None:
        """Close the file; it is also closed with the last reference to the cassette."""
        self._closing()

    def _complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion | Exception]:
        keyed = [self._key(request) for request in requests]
        answers: dict[str, Completion | Exception] = {}
        missing: dict[tuple[str, str], CompletionRequest] = {}  # equal requests of one batch are asked once
        for (key, written), request in zip(keyed, requests, strict=True):
            recorded = self._find(key)
            if recorded:
                answers[key] = recorded
            else:
                missing[key, written] = request
        if missing and self._model and (complete_many := batch_method(self._model)):
            for (key, written), answer in zip(missing, complete_many(list(missing.values())), strict=True):
                answers[key] = answer if isinstance(answer, Exception) else self._record(key, written, answer)
        ordered: list[Completion | Exception] = []
        for key, _ in keyed:
            answer = answers[key]
            ordered.append(answer)
            if isinstance(answer, Completion):
                answers[key] = answer._replace(cost=0.0)  # an equal request later in the batch was not paid for
        return ordered

    def _key(self, asked: CompletionRequest) -> tuple[str, str]:
        """Return the key of a request, and its JSON text."""
        prompt = asked.prompt
        messages = prompt if isinstance(prompt, str) and not isinstance(prompt, Dialogue) else _plain(prompt)
        bounds = [list(asked.stop), asked.max_tokens, float(asked.temperature), asked.sample]
        tools = [asdict(tool) for tool in asked.tools]
        request = json.dumps(redacted([messages, *bounds, tools] if tools else [messages, *bounds]))
        # A completion model gets the text of a dialogue, a chat model its messages: the key covers both.
        texts = [redact(str(asked.prompt))] if isinstance(asked.prompt, Dialogue) else []
        return hashlib.sha256(json.dumps([self.name, request, *texts]).encode()).hexdigest(), request

    def _record(self, key: str, request: str, completion: Completion) -> Completion:
        """Record a completion and return the recorded one, at the cost of this one.

        Of two equal requests at the same time, the first answer is recorded and returned to both, as in a replay.
        """
        shown = redact(completion.text)
        tokens = (completion.logprobs, completion.token_ids) if shown == completion.text else (None, None)
        logprobs, token_ids = (None if detail is None else json.dumps(detail) for detail in tokens)
        text, usage = json.dumps(shown), json.dumps(dict(completion.usage))
        self._tape.execute(_INSERT, key, self.name, request, text, usage, logprobs, token_ids)
        return (self._find(key) or completion)._replace(cost=completion.cost)

    def _find(self, key: str) -> Completion | None:
        rows = self._tape.execute(self._select, key)
        if not rows:
            return None
        text, usage, *details = rows[0]
        logprobs, token_ids = (None if detail is None else tuple(json.loads(detail)) for detail in details)
        return Completion(json.loads(text), json.loads(usage), logprobs=logprobs, token_ids=token_ids)


def _plain(prompt: Prompt) -> list[list[Any]]:
    """Return the messages of a prompt as JSON values, without their empty fields."""
    messages = []
    for role, content, calls, answered in prompt_messages(prompt):
        message: list[Any] = [role, content]
        messages.append([*message, calls, answered] if calls or answered else message)
    return messages


class _Tape:
    """An SQLite connection shared by threads, which is never closed while one of them uses it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._closed = False
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                file, timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None
            )
        except (OSError, sqlite3.Error) as error:
            raise ModelError(f"{file} is no cassette: {error}") from error

    def execute(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of a statement.

        Raises:
            ModelError: If the tape is closed, or the file cannot be read or written.
        """
        with self._lock:
            if self._closed:
                raise ModelError(f"{self._file}: the cassette is closed")
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise ModelError(f"{self._file} is no cassette, or cannot be used: {error}") from error

    def prepare(self, *, record: bool) -> str:
        """Create the table, or add missing columns; return the statement that finds a completion.

        A file that is only replayed is not changed, since it may be read-only.
        """
        if record:
            self.execute(_TABLE)
        elif not self._columns():
            raise ModelError(f"{self._file} is no cassette: it has no table of completions")
        if self._missing_columns() and record:
            self.execute("begin immediate")  # of two processes that open an old file, one adds the columns
            for column in self._missing_columns():
                self.execute(f"alter table completions add column {column} text")
            self.execute("commit")
        return _SELECT_EARLIER if self._missing_columns() else _SELECT

    def _missing_columns(self) -> list[str]:
        present = self._columns()
        return [column for column in _LATER_COLUMNS if column not in present]

    def _columns(self) -> set[str]:
        return {row[1] for row in self.execute("pragma table_info(completions)")}

    def close(self) -> None:
        """Close the connection once no thread is using it; later uses raise a ModelError."""
        self._closed = True
        # A thread may wait a long time for another process's lock, for which an interrupted run should not wait. Then
        # the connection stays open, and nothing is lost, since every answer is written immediately.
        if self._lock.acquire(timeout=_CLOSING_SECONDS):
            try:
                self._connection.close()
            finally:
                self._lock.release()
