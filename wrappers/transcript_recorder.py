"""Episodes as they were played, in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import gymnasium as gym

from textcraft_gym.errors import UnknownName
from textcraft_gym.wrappers.text_wrapper import TextWrapper

Style: TypeAlias = Literal["turns", "sharegpt"]
Speaker: TypeAlias = Literal["human", "gpt"]


class Turn(NamedTuple):
    """An action and its result."""

    action: str
    observation: str
    reward: float


def conversation(beginning: str, turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return an episode as a conversation in the style of ShareGPT.

    The game speaks as ``human``, the agent as ``gpt``, in turn; a learner's loss is taken on the agent's messages. The
    answer to the last action is left out, since no message of the agent follows.
    """
    observations = [beginning, *(turn.observation for turn in turns)]
    messages: list[dict[str, Any]] = []
    for observation, turn in zip(observations, turns, strict=False):
        messages += [message("human", observation), message("gpt", turn.action)]
    return messages


def message(speaker: Speaker, text: str) -> dict[str, Any]:
    """Return one message of a conversation; a learner's loss is taken on those of the agent, ``gpt``."""
    return {"from": speaker, "value": text, "loss": speaker == "gpt"}


class TranscriptRecorder(TextWrapper):
    """Write each episode to a file, as one line of JSON, when it ends.

    A line is written at once and whole, so that many environments, also in several processes of a vector, can share a
    file. An episode that is left for another by ``reset``, or by ``close``, is written as well, with a
    ``stop_reason`` of ``left``; one without any turn is not. Steps after a truncation are not recorded.

    - ``turns``: ``{"task", "seed", "won", "reward", "stop_reason", "beginning", "turns": [{"action", "observation",
      "reward"}]}``; ``stop_reason`` is ``terminated``, ``truncated`` or ``left``, and ``reward`` the sum.
    - ``sharegpt``: ``{"conversations": [{"from": "human"|"gpt", "value", "loss"}], "item_id", "reward", "won"}``, which
      trainers read; see ``conversation``.

    Args:
        env: An environment of text, its actions not numbered yet.
        path: The file; lines are added to it, and its folder is made if it is missing.
        style: ``turns`` or ``sharegpt``.

    Raises:
        ValueError: If ``path`` is a folder, or the observations or actions are not text.
        UnknownName: For another style.
    """

    def __init__(self, env: gym.Env[str, str], path: str | Path, *, style: Style = "turns") -> None:
        if style not in get_args(Style):
            raise UnknownName("style", style, get_args(Style))
        if Path(path).is_dir():
            raise ValueError(f"expected a file to write to, got the folder {path}")
        super().__init__(env, path=str(path), style=style)
        self._expect_text()
        self.path = Path(path)
        self.style = style
        self._beginning = ""
        self._about: tuple[str | None, int | None, bool] = None, None, False
        self._turns: tuple[Turn, ...] = ()
        self._over = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a task and a new line of the file."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._write("left")
        self._beginning = observation
        self._about = info.get("task"), seed, False
        self._over = False
        return observation, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Play one action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not self._over:
            self._turns = (*self._turns, Turn(action, observation, float(reward)))
            self._about = *self._about[:2], bool(info.get("won", False))
            self._over = terminated or truncated
            if self._over:
                self._write("terminated" if terminated else "truncated")
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Write the unfinished episode."""
        self._write("left")
        self.env.close()

    def _write(self, stop_reason: str) -> None:
        if not self._turns:
            return
        line = json.dumps(self._line(stop_reason), ensure_ascii=True) + "\n"
        self._turns = ()
        # One write to a file in append mode, so that lines of several processes do not mix.
        self.path.parent.mkdir(parents=True, exist_ok=True)
        binary: int = getattr(os, "O_BINARY", 0)  # without it Windows would end the line with two characters
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | binary, 0o644)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    def _line(self, stop_reason: str) -> dict[str, Any]:
        task, seed, won = self._about
        reward = sum(turn.reward for turn in self._turns)
        if self.style == "sharegpt":
            messages = conversation(self._beginning, self._turns)
            return {"conversations": messages, "item_id": task, "reward": reward, "won": won}
        turns = [turn._asdict() for turn in self._turns]
        about = {"task": task, "seed": seed, "won": won, "reward": reward, "stop_reason": stop_reason}
        return {**about, "beginning": self._beginning, "turns": turns}

    def _state(self) -> tuple[Any, ...]:
        return self._beginning, self._about, self._turns, self._over

    def _set_state(self, state: tuple[Any, ...]) -> None:
        self._beginning, self._about, self._turns, self._over = state
