"""Serves the environments to OpenEnv's clients (extra ``[openenv]``)."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Mapping, MutableMapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Any
from uuid import uuid4

from gymnasium.error import Error as GymnasiumError
from gymnasium.error import ResetNeeded

from textcraft_gym.errors import UnknownName, needs

with needs("openenv"):
    from fastapi import FastAPI, Request, Response
    from openenv.core.env_server.http_server import create_app as create_openenv_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import (
        Action,
        ConcurrencyConfig,
        EnvironmentMetadata,
        Observation,
        State,
    )
    from openenv.core.env_server.web_interface import create_web_interface_app
    from pydantic import BeforeValidator, Field

import textcraft_gym
from textcraft_gym.envs.text_env import Draws
from textcraft_gym.registration import find
from textcraft_gym.serving.answers import json_answer
from textcraft_gym.serving.guard import Application, Receive, Send, close_websocket
from textcraft_gym.serving.sessions import MAX_SESSIONS, SESSION_SECONDS
from textcraft_gym.session import TextEpisode
from textcraft_gym.task import UNGROUPED, Task, tasks_of

MAX_COMMAND = 10_000
"""Maximum number of characters of a command."""
MAX_NAME = 255
RESET_FIRST = "the episode is over, or none has started: reset first"
CONNECT_AGAIN = "this session was closed, since it was not used for long: connect again"
NOT_BY_REQUESTS = (
    "each request to /reset and /step is answered by an environment of its own: "
    "play an episode over the WebSocket /ws"
)
OPEN = (
    r"/openapi\.json|/docs|/redoc|/health|/metadata|/schema|/state|/reset|/step|/mcp|/ws"
    r"|/list_environments"
    r"|/[^/]+/(?:splits|tasks|num_tasks|task|task_range)"
)
"""The paths that are answered; OpenEnv and what it is made of have more, such as for uploads."""
OPEN_ON_THE_PAGE = (
    r"/|/ws/ui|/web/?|/web/(?:metadata|reset|step|state|theme\.css|favicon\.ico|manifest\.json)"
    r"|/web/(?:assets|static)/.+|/web/gradio_api/(?:queue/(?:join|data)|cancel|heartbeat/[^/]+)"
)
"""Further paths, with the page ``/web``."""
_NO_SUCH_METHOD = -32601
"""JSON-RPC's code."""


def _as_unicode(text: Any) -> Any:
    """Replace halves of surrogate pairs, which JSON can have and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


Unicode = Annotated[str, BeforeValidator(_as_unicode)]


class TextAction(Action):  # type: ignore[misc, unused-ignore]
    """A command of the game."""

    command: Unicode = Field(
        max_length=MAX_COMMAND,
        description="A command of the game, or a reply that ends with one, as 'Action: look'.",
    )


class TextObservation(Observation):  # type: ignore[misc, unused-ignore]
    """What the player reads, and what the game tells beside it."""

    text: str = Field(description="What the player reads.")
    task: str | None = Field(default=None, description="The id of the task.")
    won: bool | None = Field(
        default=None,
        description="Whether the task is done; null if the game does not say.",
    )
    invalid_reason: str | None = Field(
        default=None,
        description="Code of why the command had no effect, if so.",
    )
    admissible_commands: list[str] = Field(
        default_factory=list,
        description=(
            "The commands that would have an effect now; listed with admissible=true or --web."
        ),
    )


class TextState(State):  # type: ignore[misc, unused-ignore]
    """Where an episode is; ``episode_id`` and ``step_count`` are OpenEnv's."""

    episode_id: Unicode | None = Field(default=None, max_length=MAX_NAME)
    task: Unicode | None = Field(default=None, description="The id of the task.")
    split: Unicode | None = Field(
        default=None,
        description="The split that the task was drawn from.",
    )
    seed: int | None = Field(default=None, ge=0, description="The seed of the reset.")
    reward: float = Field(default=0.0, description="The sum of the rewards.")
    won: bool | None = Field(
        default=None,
        description="Whether the task is done; null if the game does not say.",
    )
    done: bool = Field(
        default=True,
        description="Whether the episode is over; so it is before the first reset.",
    )


class ServedWorld:
    """An environment that is served: its splits and their tasks, which all sessions share.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        split: The split that is played by default; None for that of ``gym.make``.
        max_steps: Maximum number of commands of an episode; by default the limit registered for the
            id.
        env_args: Further arguments of ``gym.make``.

    Raises:
        UnknownName, ValueError: As for a ``TextEpisode``.
    """

    def __init__(
        self,
        env_id: str,
        *,
        split: str | None = None,
        max_steps: int | None = None,
        **env_args: Any,
    ) -> None:
        self.registered = find(env_id)
        self.env_id = env_id
        self.max_steps = max_steps
        if split is None:
            split = self.registered.default_split(env_args)
        self.default_split = split
        self.env_args = env_args
        self._tasks: dict[str | None, Sequence[Task] | None] = {}
        # Raises for an argument that does not exist before anything is served.
        self.tasks(self.default_split)

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, the default first; tasks without splits are all one split."""
        if self.default_split is not None:
            names = (self.default_split, *self.registered.splits(self.env_args))
            return tuple(dict.fromkeys(names))
        return () if self.tasks(None) is None else (UNGROUPED,)

    def chosen(self, split: str | None) -> str | None:
        """Return the split of a client's environment; None where environments take none.

        Raises:
            UnknownName: For a split that this world does not list: others can be files, which
                clients do not choose.
        """
        if split is not None and split not in self.splits:
            raise UnknownName.of("split", split, self.splits)
        if split is None or self.default_split is None:
            return self.default_split
        return split

    def episode(self, split: str | None) -> TextEpisode:
        """Return an episode of a chosen split."""
        return TextEpisode(self.env_id, split=split, max_steps=self.max_steps, **self.env_args)

    def tasks(self, split: str | None) -> Sequence[Task] | None:
        """Return the tasks of a chosen split, None if the environment lists none."""
        if split not in self._tasks:
            episode = self.episode(split)
            self._tasks[split] = tasks_of(episode.env)
            episode.close()
        return self._tasks[split]


class TextEnvironment(
    Environment[TextAction, TextObservation, TextState],  # type: ignore[misc, unused-ignore]
):
    """One session of a world, with OpenEnv's methods, and those of its task provider.

    ``reset`` takes a task by its id, or by split and index; a seed alone draws one from the split.
    A step before the first reset or after the end of an episode raises ``ResetNeeded``.

    Args:
        world: What is served.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    # One thread plays all sessions: a command takes microseconds.
    REQUIRES_SINGLE_THREAD_EXECUTOR = True

    def __init__(self, world: ServedWorld) -> None:
        super().__init__()
        self.world = world
        self._episodes: dict[str | None, TextEpisode] = {}
        self._episode: TextEpisode | None = None
        self._state = TextState()
        self._closed = False

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        task: str | None = None,
        split: str | None = None,
        index: int | None = None,
        **unknown: Any,
    ) -> TextObservation:
        """Begin an episode.

        Args:
            seed: The seed; None to go on from the last, or to begin at random.
            episode_id: A name of the episode; by default one is made.
            task: A task id, of any split.
            split: The split from which a task is chosen or drawn; by default the server's.
            index: The number of the task in the split, in place of its id.
            unknown: Refused.

        Raises:
            UnknownName: For a task, a split or another argument that does not exist.
            ValueError: If an argument is not of its type, or a task is named twice.
            IndexError: If the split has no task with this number.
        """
        for name in unknown:
            known = ["seed", "episode_id", "task", "split", "index"]
            raise UnknownName.of("argument of reset", name, known)
        if self._closed:
            raise ResetNeeded(CONNECT_AGAIN)
        # Pydantic checks the types.
        state = TextState(episode_id=episode_id or str(uuid4()), task=task, split=split, seed=seed)
        chosen = self.world.chosen(split)
        if index is not None:
            if task is not None:
                raise ValueError("expected a task or an index, got both")
            task = _task_at(self._listed(split), index).id
        if chosen not in self._episodes:
            self._episodes[chosen] = self.world.episode(chosen)
        episode = self._episodes[chosen]
        episode.reset(task, state.seed)
        self._episode = episode
        self._state = state.model_copy(update={"split": chosen})
        return _observation(episode, reward=None)

    def step(
        self,
        action: TextAction,
        timeout_s: float | None = None,
        **ignored: Any,
    ) -> TextObservation:
        """Play a command.

        Raises:
            ResetNeeded: Before the first reset, after the end of an episode, and in a closed
                session.
        """
        if self._closed:
            raise ResetNeeded(CONNECT_AGAIN)
        episode = self._episode
        if episode is None or episode.over:
            raise ResetNeeded(RESET_FIRST)
        episode.step(action.command)
        return _observation(episode, reward=episode.last.reward)

    @property
    def state(self) -> TextState:
        """Where the episode is."""
        episode = self._episode
        if episode is None:
            return self._state
        progress = {
            "step_count": episode.steps,
            "task": episode.task,
            "reward": episode.reward,
            "won": episode.won,
            "done": episode.over,
        }
        state: TextState = self._state.model_copy(update=progress)
        return state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the name and the manual of the environment."""
        return EnvironmentMetadata(
            name=self.world.env_id,
            description=self.world.registered.summary,
            readme_content=self.world.registered.manual,
            version=textcraft_gym.__version__,
            author="the textcraft_gym developers",
        )

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        self._listed(None)
        return list(self.world.splits)

    def num_tasks(self, split: str) -> int:
        """Return the number of tasks of a split."""
        return len(self._listed(split))

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return the tasks of a split."""
        return self.get_task_range(split)

    def get_task(
        self,
        split: str,
        index: int,
    ) -> dict[str, Any]:
        """Return one task of a split.

        Raises:
            IndexError: If there is none with this number.
        """
        return _described(_task_at(self._listed(split), index), index)

    def get_task_range(
        self,
        split: str,
        start: int | None = None,
        stop: int | None = None,
    ) -> list[dict[str, Any]]:
        """Return the tasks of a split from one number up to another, as a slice has them."""
        tasks = self._listed(split)
        indices = range(len(tasks))[start:stop]
        return [_described(tasks[index], index) for index in indices]

    def web_actions(self, observation: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the buttons of the web page: the admissible commands."""
        commands = observation.get("admissible_commands", ())
        return [(command, {"command": command}) for command in commands]

    def render_web(self, observation: Mapping[str, Any]) -> str | None:
        """Return the picture of a game that draws one, for the web page."""
        game: Any = self._episode.env.unwrapped if self._episode else None
        if not isinstance(game, Draws):
            return None
        picture = b64encode(game.picture().encode()).decode()
        return f'<img alt="" src="data:image/svg+xml;base64,{picture}" style="max-width: 100%">'

    def close(self) -> None:
        """Close the environments of the session."""
        self._closed = True
        self._episode = None
        self._state = TextState()
        while self._episodes:
            self._episodes.popitem()[1].close()

    def _listed(self, split: str | None) -> Sequence[Task]:
        """Return the tasks of a split, for OpenEnv's routes of tasks."""
        tasks = self.world.tasks(self.world.chosen(split))
        if tasks is None:
            raise NotImplementedError  # which OpenEnv answers with 501
        return tasks


def create_app(
    env_id: str,
    *,
    max_steps: int | None = None,
    max_sessions: int = MAX_SESSIONS,
    session_seconds: float = SESSION_SECONDS,
    web: bool = False,
    **env_args: Any,
) -> FastAPI:
    """Return the application that serves an environment to OpenEnv's clients.

    Serve it with ``textcraft_gym.serving.server.run_server``, which guards it.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        max_steps: Maximum number of commands of an episode; by default the limit registered for the
            id.
        max_sessions: Maximum number of sessions that are open at once.
        session_seconds: Seconds without use after which a session is closed.
        web: Add the web page ``/web``, where a person plays; so does the variable
            ``ENABLE_WEB_INTERFACE``. Admissible commands, of which its buttons are made, are then
            in every observation.
        env_args: Further arguments of ``gym.make``.

    Raises:
        UnknownName, ValueError: For an environment that cannot be made.
    """
    # The library of the web page reports its use to its makers unless told not to.
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    web = web or os.environ.get("ENABLE_WEB_INTERFACE", "").lower() in ("true", "1", "yes")
    if web and "admissible" in find(env_id).parameters:
        env_args = {"admissible": True, **env_args}
    world = ServedWorld(env_id, max_steps=max_steps, **env_args)
    build = create_openenv_app
    if web:
        build = partial(create_web_interface_app, title_override=f"{env_id}, played with OpenEnv")
    app: FastAPI = build(
        partial(TextEnvironment, world),
        TextAction,
        TextObservation,
        env_name=env_id,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=max_sessions,
            session_timeout=session_seconds,
        ),
        state_cls=TextState,
    )
    app.add_exception_handler(ResetNeeded, partial(_refused, 409))
    for mistake in (GymnasiumError, ValueError, IndexError):
        app.add_exception_handler(mistake, partial(_refused, 400))
    # At /mcp OpenEnv would open sessions that no connection ends; its validator wants an answer.
    routes = app.router.routes
    app.router.routes = [route for route in routes if getattr(route, "path", None) != "/mcp"]
    app.add_api_route("/mcp", _without_tools, methods=["POST"], response_model=None)
    app.add_middleware(_OpenPaths, paths=f"{OPEN}|{OPEN_ON_THE_PAGE}" if web else OPEN)
    return app


class _OpenPaths:
    """An application around another one, which answers 404 for every path that is not open."""

    def __init__(self, app: Application, paths: str) -> None:
        self.app = app
        self.is_open = re.compile(paths).fullmatch

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
    ) -> None:
        if scope["type"] == "lifespan" or self.is_open(scope["path"]):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await close_websocket(send, "no such path")
        else:
            await json_answer({"detail": "Not Found"}, 404)(scope, receive, send)


async def _without_tools() -> Response:
    message = "this environment has no tools: play it over the WebSocket /ws"
    error = {"code": _NO_SUCH_METHOD, "message": message}
    return json_answer({"jsonrpc": "2.0", "error": error, "id": None})


async def _refused(status: int, request: Request, mistake: Exception) -> Response:
    """Answer a caller's mistake over HTTP; OpenEnv answers those over a WebSocket."""
    detail = NOT_BY_REQUESTS if isinstance(mistake, ResetNeeded) else str(mistake)
    return json_answer({"detail": detail}, status)


def _observation(episode: TextEpisode, *, reward: float | None) -> TextObservation:
    info = episode.last.info
    return TextObservation(
        text=episode.observation,
        task=episode.task,
        won=episode.won,
        invalid_reason=info.get("invalid_reason"),
        admissible_commands=info.get("admissible_commands", []),
        reward=reward,
        done=episode.over,
    )


def _task_at(tasks: Sequence[Task], index: int) -> Task:
    if type(index) is not int or not 0 <= index < len(tasks):
        raise IndexError(f"expected an index in 0..{len(tasks) - 1}, got {index!r}")
    return tasks[index]


def _described(task: Task, index: int) -> dict[str, Any]:
    """Return a task as OpenEnv lists it, without what has to be worked out, as a plan."""
    return {"id": task.id, "index": index, "group": getattr(task, "group", UNGROUPED)}
