"""Answers that a model gave once, for episodes that take more than a few scripted lines."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path

from textcraft_gym.agents.contract.model import Completion, ModelError, Prompt, prompt_text
from textcraft_gym.agents.models.spec import make_model

TAPES = Path(__file__).with_name("tapes")
RECORD = "RECORD"
"""Variable of the environment with the spec of a model that answers what a tape lacks, and is
recorded on it."""
OPENINGS = (
    *(
        "Now it is your turn.",
        "Crafting commands:\n",
        "You are in the middle of a room.",
        "WebShop",
        "Question: ",
    ),
)
"""How the games begin: what stands before the last one in a prompt is the suite's own, and may be
worded anew."""


class Recorded:
    """Answers from a file of this folder, by what a prompt says of the game, and by the sample where it is drawn.

    To record a tape anew, with a model that plays as well::

        rm tests/doubles/tapes/deps_rounds.json.gz
        RECORD=openai:MODEL python -m pytest -n 0 tests/agents/deps/test_deps.py

    Args:
        tape: The file's name without its suffixes.

    Raises:
        ModelError: If there is neither such a tape nor a model to record.
    """

    def __init__(self, tape: str) -> None:
        self.name = f"tests.doubles:Recorded,tape={tape}"
        self._file = TAPES / f"{tape}.json.gz"
        self._model = make_model(os.environ[RECORD]) if RECORD in os.environ else None
        if self._model is None and not self._file.exists():
            raise ModelError(f"there is no tape {tape}, and no model to record: {RECORD}=SPEC")
        self._answers: dict[str, str] = (
            json.loads(gzip.decompress(self._file.read_bytes())) if self._file.exists() else {}
        )

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
    ) -> Completion:
        """Return the recorded answer; a token is four characters.

        Raises:
            ModelError: If it is not recorded, and there is no model to record.
        """
        text = prompt_text(prompt)
        task = text[max(0, *map(text.rfind, OPENINGS)) :]
        key = hashlib.sha256(f"{sample if temperature else 0}/{task}".encode()).hexdigest()[:12]
        if key not in self._answers:
            if self._model is None:
                raise ModelError(
                    f"{self._file.name} holds no answer to a prompt that ends {task[-80:]!r}"
                )
            completion = self._model.complete(
                prompt, stop=stop, max_tokens=max_tokens, temperature=temperature, sample=sample
            )
            self._answers[key] = completion.text
            self._file.parent.mkdir(exist_ok=True)
            self._file.write_bytes(
                gzip.compress(json.dumps(self._answers, sort_keys=True).encode(), mtime=0)
            )
        answer = self._answers[key]
        return Completion(
            answer, {"prompt_tokens": -(-len(text) // 4), "completion_tokens": -(-len(answer) // 4)}
        )
