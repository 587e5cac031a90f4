"""An environment as tools of the Model Context Protocol (extra ``[mcp]``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gymnasium.error import Error as GymnasiumError
from gymnasium.error import ResetNeeded

from textcraft_gym.errors import TextCraftGymError, UnknownName, needs
from textcraft_gym.manual import manual
from textcraft_gym.task import tasks_of
from textcraft_gym.tool_game import BaseToolGame

with needs("mcp"):
    try:
        from mcp.server import MCPServer
    except ImportError:  # mcp 1, to which OpenEnv is bound
        from mcp.server.fastmcp import FastMCP as MCPServer

LISTED = 100
"""Maximum number of tasks of one answer."""
INSTRUCTIONS = (
    "Play a game of text. Begin an episode with the tool reset, and play one command after the "
    "other with the tool step, until an answer ends with The game is won. or The game is over.\n\n"
)
"""What a client reads before the game's manual."""


class McpGame(BaseToolGame):
    """A game whose tools list its tasks, begin an episode and play a command.

    What a caller does wrong is an answer: an exception would reach the client without its words.
    """

    def list_tasks(self, start: int = 0) -> str:
        """List the tasks, 100 at a time.

        Args:
            start: The number of the first task to list, counted from 0.

        Returns:
            A task id a line.
        """
        ids = self._ids()
        if ids is None:
            return "This game has no tasks: the seed decides."
        end = max(start, 0) + LISTED
        lines = ids[max(start, 0) : end]
        if end < len(ids):
            lines.append(f"{len(ids) - end} more: list_tasks(start={end})")
        return "\n".join(lines) or f"There are {len(ids)} tasks."

    def begin(
        self,
        task: str | None = None,
        seed: int = 0,
    ) -> str:
        """Begin an episode.

        Args:
            task: A task id; without one the seed draws a task.
            seed: The seed.

        Returns:
            What the player reads first.
        """
        return _answer(self._begin, task, seed)

    def step(self, command: str) -> str:
        """Play one command.

        Args:
            command: The command, in the game's own words.

        Returns:
            The answer of the game.
        """
        return _answer(self._play, command)

    def _begin(self, task: str | None, seed: int) -> str:
        try:
            return self.reset(task, seed)
        except UnknownName as error:
            ids = self._ids()
            if ids is None or task is None:
                raise
            # The game knows the tasks of every split; whoever asks has a list of this one's.
            raise UnknownName.of("task", task, ids) from error

    def _ids(self) -> list[str] | None:
        """Return the ids of the split's tasks; None in a game without tasks."""
        tasks = tasks_of(self._episode.env)
        return None if tasks is None else [task.id for task in tasks]


def create_server(env_id: str, **arguments: Any) -> MCPServer:
    """Return the server of one client, which plays one episode at a time.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        **arguments: Those of ``TextEpisode``: ``split``, ``max_steps``, ``wrappers``, and arguments
            of ``gym.make``.

    Raises:
        UnknownName, ValueError: For an environment that cannot be made.
    """
    game = McpGame(env_id, **arguments)
    # Its log goes to standard error, a line for each request unless it is told not to.
    server = MCPServer(env_id, instructions=INSTRUCTIONS + manual(env_id), log_level="WARNING")
    tools = {"list_tasks": game.list_tasks, "reset": game.begin, "step": game.step}
    for name, tool in tools.items():
        server.tool(name)(tool)
    return server


def _answer(play: Callable[..., str], *arguments: Any) -> str:
    try:
        return play(*arguments)
    except ResetNeeded:
        return "No episode has begun: call reset first."
    except (TextCraftGymError, GymnasiumError, ValueError) as error:
        return str(error)
