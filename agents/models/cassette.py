"""A cassette: records what a model answers in one file, and replays it without the model.

A completion is found again by everything that was asked: model, prompt, stops, tokens, temperature and sample. It is
written as soon as it is there, so that a run which is cut off pays for nothing twice.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from pathlib import Path

from textcraft_gym.agents.contract.agent import Completion, Model, ModelError, Prompt, prompt_text

_TABLE = """
create table if not exists completions (
    key text primary key, model text not null, request text not null, text text not null, usage text not null
) without rowid
"""
_BUSY_SECONDS = 60.0


class Cassette:
    """A model that answers from a file, and asks ``model`` what the file does not hold.

    Threads and processes may share one file. A replayed completion costs nothing; its usage is the recorded one.

    Args:
        file: An SQLite file; made if there is none and there is a model to record.
        model: The model to record; None to replay only.
        name: The name under which completions are filed, by default the model's ``name``.

    Raises:
        ModelError: If the file is no cassette, or there is neither a file nor a model.
    """

    def __init__(self, file: str | Path, model: Model | None = None, *, name: str | None = None) -> None:
        self.name = name or getattr(model, "name", None) or type(model).__name__
        self._file = Path(file)
        self._model = model
        self._lock = threading.Lock()
        if model is None and not self._file.exists():
            raise ModelError(f"{file}: no such cassette, and no model to record")
        self._tape = sqlite3.connect(self._file, timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None)
        # Every answer is on disk at once, so that all that is left to do for a forgotten cassette is to close its file.
        self._closing = weakref.finalize(self, self._tape.close)
        try:
            self._tape.execute(_TABLE)
        except sqlite3.Error as error:
            self.close()
            raise ModelError(f"{file} is no cassette: {error}") from error

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the recorded completion, or the model's, which is then recorded.

        Raises:
            ModelError: If it is not recorded and there is no model, or the model raises it.
        """
        request = json.dumps([prompt, list(stop), max_tokens, float(temperature), sample])
        key = hashlib.sha256(json.dumps([self.name, request]).encode()).hexdigest()
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
        row = (key, self.name, request, json.dumps(completion.text), json.dumps(dict(completion.usage)))
        with self._lock:
            self._tape.execute("insert or ignore into completions values (?, ?, ?, ?, ?)", row)
        # Of two that asked at the same time the first is recorded, and both go on with its answer, as a replay will.
        return (self._find(key) or completion)._replace(cost=completion.cost)

    def close(self) -> None:
        """Close the file; it is also closed with the last reference to the cassette."""
        self._closing()

    def _find(self, key: str) -> Completion | None:
        with self._lock:
            row = self._tape.execute("select text, usage from completions where key = ?", (key,)).fetchone()
        return Completion(json.loads(row[0]), json.loads(row[1])) if row else None
