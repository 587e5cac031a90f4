"""All episodes in one loop of this process; only models are asked beside it, for many episodes at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textcraft_gym.evaluation.backends.backend import Play
from textcraft_gym.evaluation.worker import Setup, Stage


class LoopBackend:
    """Plays where it is called: right where models are what takes time and answer over a network."""

    @contextmanager
    def open(self, setup: Setup, workers: int) -> Iterator[Play]:
        """See ``Backend``; whatever the setup raises is passed on."""
        stage = Stage(setup, workers)
        try:
            yield stage.play
        finally:
            stage.close()
