"""Episodes as they were played, in a file."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym

from textcraft_gym.agents.contract.agent import latched, won_in
from textcraft_gym.errors import UnknownName
from textcraft_gym.storage.outputs import check_output
from textcraft_gym.storage.trajectories import FORMATS, Trajectory, rows
from textcraft_gym.wrappers.text_wrapper import TextWrapper

TURNS = "turns"
STYLES = (TURNS, *FORMATS)

_log = logging.getLogger("textcraft_gym.wrappers")


class Turn(NamedTuple):
    """An action and its result."""

    action: str
    observation: str
    reward: float


class TranscriptRecorder(TextWrapper):
    """Write each episode to a file, as JSON lines, when it ends.

    The lines of an episode are written at once and whole, so that many environments, also in
    several processes of a vector, can share a file. An episode that is left for another by
    ``reset``, or by ``close``, is written as well, with a ``stop_reason`` of ``left``; one without
    any turn is not. Steps after a truncation are not recorded.

    Lines that cannot be written, as on a full disk, break no episode: they are kept, and written
    with the next ones or by ``close``, which raises ``OSError`` if they still cannot.

    - ``turns``: ``task``, ``seed``, ``won``, ``reward``, ``stop_reason``, ``beginning`` and
      ``turns``, each with ``action``, ``observation`` and ``reward``. ``stop_reason`` is
      ``terminated``, ``truncated`` or ``left``, ``reward`` the sum, and ``won`` null if the
      environment does not say.
    - ``openai``, ``sharegpt``, ``trl``, ``verl``: a dialogue as trainers read it, with ``item_id``,
      ``env``, ``task``, ``seed``, ``stop_reason``, ``won`` and ``reward``; see
      ``textcraft_gym.storage.trajectories``.

    Args:
        env: An environment of text, its actions not numbered yet.
        path: The file; lines are added to it, and its folder is made if it is missing.
        style: ``turns`` or a format of dialogues.
        system: The system message of dialogues, such as the game's manual; by default none.

    Raises:
        ValueError: If ``path`` is a folder or of a run, or the observations or actions are not
            text.
        UnknownName: For another style.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        path: str | Path,
        *,
        style: str = TURNS,
        system: str = "",
    ) -> None:
        if style not in STYLES:
            raise UnknownName.of("style", style, STYLES)
        if Path(path).is_dir():
            raise ValueError(f"expected a file to write to, got the folder {path}")
        check_output(Path(path))
        super().__init__(env, path=str(path), style=style, system=system)
        self._expect_text()
        self.path = Path(path)
        self.style = style
        self.system = system
        self._beginning = ""
        self._about: tuple[str | None, int | None, bool | None] = None, None, None
        self._turns: tuple[Turn, ...] = ()
        self._over = False
        self._unwritten = b""

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[str, dict[str, Any]]:
        """Begin a task and a new line of the file."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._write("left")
        self._beginning = observation
        self._about = info.get("task"), seed, won_in(info)
        self._over = False
        return observation, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Play one action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not self._over:
            self._turns = (*self._turns, Turn(action, observation, float(reward)))
            task, seed, won = self._about
            self._about = task, seed, latched(won, info)
            self._over = terminated or truncated
            if self._over:
                self._write("terminated" if terminated else "truncated")
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Write the unfinished episode.

        Raises:
            OSError: If the file cannot be written.
        """
        self._write("left")
        self.env.close()
        if self._unwritten:
            self._append()

    def _write(self, stop_reason: str) -> None:
        if not self._turns:
            return
        lines = "".join(json.dumps(row) + "\n" for row in self._rows(stop_reason))
        self._turns = ()
        has_warned = bool(self._unwritten)
        self._unwritten += lines.encode()
        try:
            self._append()
        except OSError as error:
            if not has_warned:
                _log.warning("%s: an episode could not be written: %s", self.path, error.strerror)

    def _append(self) -> None:
        """Write what is unwritten."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Without it Windows would end the line with two characters.
        binary: int = getattr(os, "O_BINARY", 0)
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | binary, 0o644)
        try:
            while self._unwritten:
                # One write to a file in append mode, so that lines of several processes do not mix.
                self._unwritten = self._unwritten[os.write(file, self._unwritten) :]
        finally:
            os.close(file)

    def _rows(self, stop_reason: str) -> list[dict[str, Any]]:
        task, seed, won = self._about
        reward = sum(turn.reward for turn in self._turns)
        if self.style == TURNS:
            row = {
                "task": task,
                "seed": seed,
                "won": won,
                "reward": reward,
                "stop_reason": stop_reason,
                "beginning": self._beginning,
                "turns": [turn._asdict() for turn in self._turns],
            }
            return [row]
        game = self.unwrapped
        turns = []
        observation = self._beginning
        for turn in self._turns:
            turns.append((observation, turn.action))
            observation = turn.observation
        trajectory = Trajectory(
            env=game.spec.id if game.spec else type(game).__name__,
            task=task,
            seed=seed,
            turns=turns,
            won=won,
            reward=reward,
            system=self.system,
            about={"stop_reason": stop_reason},
        )
        return rows(trajectory, FORMATS[self.style])

    def _state(self) -> tuple[Any, ...]:
        return self._beginning, self._about, self._turns, self._over

    def _set_state(self, state: tuple[Any, ...]) -> None:
        self._beginning, self._about, self._turns, self._over = state
