"""The official engine, TextWorld, started as alfworld starts it; needs the extra ``[alfworld]``."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.export import export_game
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import GameError, read_dialect
from textcraft_gym.envs.alfworld.tasks import GAME_FILE, Task
from textcraft_gym.envs.alfworld.text import Dialect
from textcraft_gym.errors import how_to_install


class RealEngine:
    """Plays one game at a time.

    Args:
        dialect: The dialect in which games are expected to be.

    Attributes:
        commands: Admissible commands of the current state.

    Raises:
        GameError: If the packages are not installed.
    """

    def __init__(self, dialect: Dialect) -> None:
        try:
            self._textworld: Any = import_module("textworld")
            alfworld: Any = import_module("alfworld.agents.environment.alfred_tw_env")
        except ImportError as error:
            raise GameError(
                f"engine='textworld' needs its packages ({error}): " + how_to_install("alfworld")
            ) from error
        self._wrapper: Any = alfworld.AlfredDemangler
        self._dialect = dialect
        self._exported = tempfile.TemporaryDirectory(prefix="alfworld-")
        self._engine: Any = None
        self._file: Path | None = None
        self.commands: list[str] = []

    def begin(self, task: Task) -> str:
        """Reset a game and return its opening text.

        Raises:
            GameError: If its file is in another dialect.
        """
        file = task.file or self._export(task)
        if file != self._file:  # loading takes seconds, resetting a loaded game does not
            if (dialect := read_dialect(file)) != self._dialect:
                raise GameError(
                    f"{file}: engine='textworld' needs the dialect of the file, {dialect!r}"
                )
            infos = self._textworld.EnvInfos(won=True, admissible_commands=True, feedback=True)
            self._engine = self._textworld.start(str(file), infos, wrappers=[self._wrapper])
            self._file = file
        state = self._engine.reset()
        self.commands = list(state.admissible_commands)
        return str(state.feedback)

    def play(self, command: str) -> tuple[str, bool]:
        """Play a command and return the answer and whether the goal holds."""
        state, _, _ = self._engine.step(command)
        self.commands = list(state.admissible_commands)
        return str(state.feedback), bool(state.won)

    def close(self) -> None:
        """Remove the game files that were exported."""
        self._exported.cleanup()

    def _export(self, task: Task) -> Path:
        file = Path(self._exported.name) / task.id / GAME_FILE
        if not file.exists():
            game = task.game(self._dialect)
            plan = expert_plan(game, game.first) or []
            export_game(generate(task.id), task.id, Path(self._exported.name), plan)
        return file
