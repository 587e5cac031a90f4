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
    CompleteAsync,
    CompleteMany,
    Completion,
    CompletionRequest,
    Dialogue,
    Form,
    Model,
    ModelError,
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

_TABLE = """
create table if not exists completions (
    key text primary key, model text not null, request text not null, answer text not null
) without rowid
"""
_INSERT = "insert or ignore into completions (key, model, request, answer) values (?, ?, ?, ?)"
_SELECT = "select answer from completions where key = ?"
_BUSY_SECONDS = 60.0
_CLOSING_SECONDS = 5.0


class Cassette:
    """A model that answers from a file, and asks ``model`` for completions that the file lacks.

    Threads and processes may share a file. A replayed completion costs nothing; its usage is the recorded one.

    Args:
        file: An SQLite file; created, with its folder, if it does not exist and there is a model to record.
        model: The model to record; None to replay only.
        name: Name under which completions are filed, by default the model's ``name``.
        form: Without a model, the form in which the recorded one was talked with.

    Raises:
        ModelError: If the file is no cassette, or there is neither a file nor a model.
    """

    def __init__(
        self, file: str | Path, model: Model | None = None, *, name: str | None = None, form: Form | None = None
    ) -> None:
        self.name = redact(name or getattr(model, "name", None) or type(model).__name__)
        self.prompts = getattr(model, "prompts", None)
        self.form = form_of(model) if model else form or "line"
        self.takes_tools = model is None or bool(getattr(model, "takes_tools", False))
        self._file = Path(file)
        self._model = model
        if model is None and not self._file.exists():
            raise ModelError(f"{file}: no such cassette, and no model to record")
        self._tape = _Tape(self._file)
        # Every answer is on disk immediately, so closing the file is the only clean-up.
        self._closing = weakref.finalize(self, self._tape.close)
        try:
            self._tape.prepare(record=model is not None)
        except ModelError:
            self.close()
            raise

    @property
    def complete_many(self) -> CompleteMany | None:
        """Completes a batch: recorded requests from the file, the others in one batch; None if the model has none."""
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
            ModelError: If it is not recorded and there is no model, or the model raises it.
        """
        asked = CompletionRequest(prompt, stop, max_tokens, temperature, sample, tools)
        key, request = self._key(asked)
        recorded = self._find(key)
        if recorded:
            return recorded
        if self._model is None:
            raise ModelError(
                f"{self._file} holds no answer of {self.name} to a prompt that ends {prompt_text(prompt)[-80:]!r}"
            )
        offered: dict[str, Any] = {"tools": tools} if tools else {}
        completion = self._model.complete(
            prompt, stop=stop, max_tokens=max_tokens, temperature=temperature, sample=sample, **offered
        )
        return self._record(key, request, completion)

    def close(self) -> None:
        """Close the file; it is also closed with the last reference to the cassette."""
        self._closing()

    async def _complete_async(self, asked: CompletionRequest) -> Completion:
        key, request = self._key(asked)
        recorded = self._find(key)
        complete = async_method(self._model) if self._model else None
        if recorded or complete is None:
            return recorded or self.complete(**asked._asdict())
        return self._record(key, request, await complete(asked))

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

        Of two equal requests at the same time, the first answer is recorded and returned to both, as in a replay. An
        empty answer is not: the next run asks again.
        """
        if completion.is_empty:
            return completion
        shown = redacted(completion._asdict())
        kept = (
            completion
            if shown == completion._asdict()
            else Completion(**{**shown, "logprobs": None, "token_ids": None})
        )
        self._tape.execute(_INSERT, key, self.name, request, _written(kept))
        return (self._find(key) or completion)._replace(cost=completion.cost)

    def _find(self, key: str) -> Completion | None:
        rows = self._tape.execute(_SELECT, key)
        return _read(rows[0][0]) if rows else None


def _written(completion: Completion) -> str:
    """Return a completion as JSON, without its cost and its empty fields."""
    fields = completion._replace(cost=0.0, usage=dict(completion.usage))._asdict()
    default = Completion("")._asdict()
    return json.dumps({name: value for name, value in fields.items() if name == "text" or value != default[name]})


def _read(answer: str) -> Completion:
    """Return the completion that ``_written`` wrote."""
    fields = json.loads(answer)
    for name in ("logprobs", "token_ids"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "tool_calls" in fields:
        fields["tool_calls"] = tuple(ToolCall(*call) for call in fields["tool_calls"])
    return Completion(**fields)


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

    def prepare(self, *, record: bool) -> None:
        """Create the table of a cassette that records; one that is only replayed may be read-only."""
        if record:
            self.execute(_TABLE)
        if "answer" not in {row[1] for row in self.execute("pragma table_info(completions)")}:
            raise ModelError(f"{self._file} is no cassette: it has no table of completions")

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
