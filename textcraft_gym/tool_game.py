"""Games whose methods are the tools of a language model, for libraries of agents and trainers."""

from __future__ import annotations

from typing import Any

from textcraft_gym.session import LOST, OVER, WON, TextEpisode


class BaseToolGame:
    """A game without tools: each public method of a derived class is one, but for the two here.

    An object is played as often as wanted, and each episode begins with ``reset``. The answer that
    ends one has a last line that says so, ``The game is won.`` or ``The game is over.``, so that an
    agent stops; after it, tools answer that the episode is over.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        **arguments: Those of ``TextEpisode``: ``max_steps``, ``wrappers``, and arguments of
            ``gym.make``.
    """

    def __init__(self, env_id: str, **arguments: Any) -> None:
        # Private, like all that is no tool: a trainer would offer it to the model.
        self._episode = TextEpisode(env_id, **arguments)

    def reset(
        self,
        task: str | None = None,
        seed: int | None = None,
        **columns: Any,
    ) -> str:
        """Begin an episode.

        Args:
            task: The task id; None to have the seed draw one.
            seed: The seed; None to go on from the last, or to begin at random.
            columns: Other columns of a trainer's row, which are ignored.

        Returns:
            The first observation.
        """
        return self._episode.reset(task, seed)

    def get_reward(self) -> float:
        """Return the sum of the rewards of the episode."""
        return self._episode.reward

    def _play(self, command: str) -> str:
        """Play a command and return the game's answer, with a mark at the end of the game."""
        answer = self._episode.step(command)
        if not self._episode.over or answer == OVER:
            return answer
        return f"{answer}\n{WON if self._episode.won else LOST}"


class ToolGame(BaseToolGame):
    """Any game, with one tool that plays a command."""

    def step(self, action: str) -> str:
        """Play one command of the game.

        Args:
            action: The command, in the game's own words.

        Returns:
            The answer of the game.
        """
        return self._play(action)
