"""The commands ``textcraft-gym serve ...``: read arguments and start a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.cli.terminal import say
from textcraft_gym.errors import require
from textcraft_gym.plugins import key_values
from textcraft_gym.serving.descriptors import make_room
from textcraft_gym.serving.sessions import MAX_SESSIONS, SESSION_SECONDS

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Serve environments or a model to other programs, on this machine unless told otherwise.",
)

Host = Annotated[
    str, typer.Option(help="Address to listen on; by default reached from this machine only.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to serve on; 0 takes a free one.")]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", help="A name by which clients may address the server; may be repeated."
    ),
]
MaxSessions = Annotated[
    int, typer.Option(min=1, help="Maximum number of sessions that are open at once.")
]
SessionTimeout = Annotated[
    float, typer.Option(help="Seconds without use after which a session is closed.")
]

EnvArgs = Annotated[
    list[str] | None, typer.Option("--env-arg", help="KEY=VALUE for gym.make; may be repeated.")
]


@app.command()
def agentgym(
    env: Annotated[str, typer.Option(help="textcraft, alfworld or webshop.")],
    games: Annotated[
        Path | None,
        typer.Option(
            help="A folder of ALFWorld's official games, such as json_2.1.1; by default generated ones."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="A folder or file of WebShop's products, with their synthetic goals."),
    ] = None,
    mapping: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file of item ids and tasks, such as mappings_test.json; may be repeated."
        ),
    ] = None,
    env_arg: EnvArgs = None,
    host: Host = "127.0.0.1",
    port: Port = 36001,
    allow_host: AllowedHosts = None,
    max_sessions: MaxSessions = MAX_SESSIONS,
    session_timeout: SessionTimeout = SESSION_SECONDS,
) -> None:
    """Serve an environment to AgentGym's clients, in place of AgentGym's own server."""
    given = {"games": str(games)} if games else {}
    given |= {"data": str(data), "goals": "synthetic"} if data else {}
    require("serve", "fastapi", "uvicorn")
    from textcraft_gym.integrations.agentgym.app import create_app
    from textcraft_gym.serving.server import run_server

    app = create_app(
        env,  # type: ignore[arg-type]  # checked there
        mapping=mapping or (),
        max_sessions=max_sessions,
        session_seconds=session_timeout,
        **{**given, **key_values(env_arg or [])},
    )
    run_server(
        app,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
        on_start=lambda address: _show(f"AgentGym's {env} is served", address, max_sessions),
    )


@app.command()
def model(
    model: Annotated[
        str, typer.Option(help="A model, as for evaluate: local, openai:NAME, MODULE:CLASS.")
    ],
    name: Annotated[
        str | None,
        typer.Option(help="The model's name for clients; by default the first word of --model."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    allow_host: AllowedHosts = None,
) -> None:
    """Serve a model behind OpenAI's API, for agents of other programs."""
    require("serve", "fastapi", "uvicorn")
    from textcraft_gym.serving.model.app import MAX_BODY, create_app
    from textcraft_gym.serving.server import run_server

    name = name or model.partition(":")[0]
    app = create_app(make_model(model), name)
    run_server(
        app,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
        max_body=MAX_BODY,
        on_start=lambda address: _show(f"The model {name} is served", f"{address}/v1"),
    )


@app.command()
def openenv(
    env: Annotated[
        str, typer.Option(help="The id of an environment of text, also as my_module:My-v0.")
    ],
    env_arg: EnvArgs = None,
    max_steps: Annotated[
        int | None,
        typer.Option(
            min=1, help="Maximum number of commands of an episode; by default the id's limit."
        ),
    ] = None,
    web: Annotated[bool, typer.Option(help="Add the page /web, where a person plays.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: AllowedHosts = None,
    max_sessions: MaxSessions = MAX_SESSIONS,
    session_timeout: SessionTimeout = SESSION_SECONDS,
) -> None:
    """Serve an environment to OpenEnv's clients."""
    require("openenv", "fastapi", "uvicorn", "openenv")
    from textcraft_gym.integrations.openenv import create_app
    from textcraft_gym.serving.server import run_server

    max_sessions = min(max_sessions, make_room().sockets)
    app = create_app(
        env,
        max_steps=max_steps,
        max_sessions=max_sessions,
        session_seconds=session_timeout,
        web=web,
        **key_values(env_arg or []),
    )
    run_server(
        app,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
        on_start=lambda address: _show(f"{env} is served to OpenEnv", address, max_sessions),
    )


def _show(what: str, address: str, sessions: int | None = None) -> None:
    """Print where a server is, and how much it can hold."""
    room = f"{make_room().connections:,} connections"
    room += f" and {sessions:,} sessions" if sessions else ""
    say(f"{what} at {address} for up to {room} (Ctrl-C closes it)")
