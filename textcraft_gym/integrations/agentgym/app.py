"""The application that serves one of AgentGym's environments."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from gymnasium.error import ResetNeeded

from textcraft_gym.errors import TextCraftGymError, UnknownName, needs
from textcraft_gym.integrations.agentgym.numbering import (
    InOrder,
    Numbering,
    alfworld_task_id,
    goals_in_order,
    read_mapping,
    textcraft_goal,
)
from textcraft_gym.integrations.agentgym.routes import (
    ALFWorldRoutes,
    NotValid,
    RecordedEpisode,
    Routes,
    TextCraftRoutes,
    WebShopRoutes,
)
from textcraft_gym.serving.answers import json_answer
from textcraft_gym.serving.sessions import MAX_SESSIONS, SESSION_SECONDS, Sessions
from textcraft_gym.session import TextEpisode

with needs("serve"):
    from fastapi import FastAPI, Request, Response
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

WorldName: TypeAlias = Literal["textcraft", "alfworld", "webshop"]


class _Kind(NamedTuple):
    """How one of AgentGym's environments is served."""

    routes: type[Routes]
    env_id: str
    env_args: dict[str, Any]
    number: Callable[[TextEpisode, Sequence[Path]], Numbering]


def create_app(
    world: WorldName,
    *,
    mapping: Sequence[Path] = (),
    max_sessions: int = MAX_SESSIONS,
    session_seconds: float = SESSION_SECONDS,
    **env_args: Any,
) -> FastAPI:
    """Return the application of a server.

    Failures are answers of status 200 with ``{"error": message}``, as AgentGym's clients expect;
    only what is no request at all has the status 404, 405 or 422. After the end of an episode a
    command is answered, with ``done``.

    Args:
        world: Which of AgentGym's environments.
        mapping: Files that say which task a number means; see ``numbering``. Without any,
            TextCraft's goals and ALFWorld's tasks are numbered in order. WebShop's are the numbers
            of its goals. With a ``split`` its tasks are numbered in order.
        max_sessions: Maximum number of open sessions.
        session_seconds: Seconds without use after which a session is closed.
        env_args: Further arguments of ``gym.make``.

    Raises:
        UnknownName: For an environment or an argument that does not exist.
        DataError: If a mapping cannot be read, or none of its tasks can be played.
        ValueError: For a mapping of WebShop's.
    """
    if world not in _KINDS:
        raise UnknownName.of("environment of AgentGym", world, list(_KINDS))
    kind = _KINDS[world]
    make = partial(RecordedEpisode, kind.env_id, read=str, **{**kind.env_args, **env_args})
    # Also loads the data, and finds what is wrong with the arguments.
    has_own_order = "split" in env_args and not mapping
    number = _in_order(make()) if has_own_order else kind.number(make(), mapping)
    sessions: Sessions[RecordedEpisode] = Sessions(
        max_sessions,
        session_seconds,
        on_close=RecordedEpisode.close,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        sessions.close_all()

    app = FastAPI(title=f"AgentGym's {world}, played by textcraft-gym", lifespan=lifespan)
    for method, path, endpoint in kind.routes(make, number, sessions).routes:
        app.add_api_route(path, _answering(endpoint), methods=[method], response_model=None)
    app.add_exception_handler(RequestValidationError, _refuse_types)
    app.add_exception_handler(HTTPException, _refuse_path)
    app.state.sessions = sessions
    return app


def _answering(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Return an endpoint that answers in JSON, and what a client did wrong as an error."""

    async def answer(**arguments: Any) -> Response:
        try:
            return json_answer(await endpoint(**arguments))
        except ResetNeeded:
            return json_answer({"error": "reset the environment before the first step"})
        except (TextCraftGymError, NotValid) as error:
            return json_answer({"error": str(error)})

    # FastAPI reads the parameters from the signature; names of types are looked up here, where they
    # are defined.
    answer.__signature__ = inspect.signature(endpoint, eval_str=True)  # type: ignore[attr-defined]
    return answer


async def _refuse_types(request: Request, error: RequestValidationError) -> Response:
    problems = []
    for problem in error.errors():
        field = ".".join(map(str, problem["loc"]))
        problems.append(f"{field}: {problem['msg']}")
    return json_answer({"error": "; ".join(problems)}, 422)


async def _refuse_path(request: Request, error: HTTPException) -> Response:
    return json_answer({"error": error.detail}, error.status_code)


def _textcraft_numbering(episode: TextEpisode, mapping: Sequence[Path]) -> Numbering:
    book = episode.env.get_wrapper_attr("book")
    if mapping:
        return read_mapping(mapping, textcraft_goal, book.depths.__contains__)
    return InOrder(goals_in_order(book), again=True)


def _alfworld_numbering(episode: TextEpisode, mapping: Sequence[Path]) -> Numbering:
    if mapping:
        games = episode.env.get_wrapper_attr("games")
        return read_mapping(mapping, alfworld_task_id, games.__contains__)
    return _in_order(episode)


def _webshop_numbering(episode: TextEpisode, mapping: Sequence[Path]) -> Numbering:
    if mapping:
        raise ValueError("WebShop's tasks are the numbers of its goals: expected no mapping")
    return _in_order(episode)


def _in_order(episode: TextEpisode) -> Numbering:
    return InOrder([task.id for task in episode.env.get_wrapper_attr("tasks")])


_KINDS = {
    "textcraft": _Kind(TextCraftRoutes, "TextCraft-v0", {"split": "all"}, _textcraft_numbering),
    "alfworld": _Kind(
        ALFWorldRoutes,
        "ALFWorld-v0",
        {"split": "all", "dialect": "0.3", "admissible": True},
        _alfworld_numbering,
    ),
    "webshop": _Kind(
        WebShopRoutes,
        "WebShopLite-v0",
        {"split": "all", "mode": "text", "products_per_page": 10, "admissible": True},
        _webshop_numbering,
    ),
}
