"""The commands ``textcraft-gym serve ...``: read arguments and start a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.cli.options import EnvArgs, Split
from textcraft_gym.cli.terminal import say
from textcraft_gym.errors import require
from textcraft_gym.plugins import key_values
from textcraft_gym.serving.descriptors import make_room
from textcraft_gym.serving.sessions import MAX_SESSIONS, SESSION_SECONDS

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Serve environments or a model to other programs.",
)

Host = Annotated[str, typer.Option(help="Address to listen on; by default this machine only.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to serve on; 0 takes a free one.")]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="Host name that clients may use; may be repeated."),
]
MaxSessions = Annotated[int, typer.Option(min=1, help="Maximum number of open sessions.")]
MaxSteps = Annotated[
    int | None,
    typer.Option(min=1, help="Maximum commands per episode; by default the registered limit."),
]
SessionTimeout = Annotated[float, typer.Option(help="Seconds after which idle sessions close.")]


@app.command()
def agentgym(
    env: Annotated[str, typer.Option(help="textcraft, alfworld or webshop.")],
    games: Annotated[
        Path | None,
        typer.Option(
            help="Folder of ALFWorld's official games, such as json_2.1.1; "
            "by default generated ones."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder or file of WebShop products, with their synthetic goals."),
    ] = None,
    mapping: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of item ids and tasks, such as mappings_test.json; may be repeated."
        ),
    ] = None,
    split: Split = None,
    env_arg: EnvArgs = None,
    host: Host = "127.0.0.1",
    port: Port = 36001,
    allow_host: AllowedHosts = None,
    max_sessions: MaxSessions = MAX_SESSIONS,
    session_timeout: SessionTimeout = SESSION_SECONDS,
) -> None:
    """Serve an environment to AgentGym's clients.

    It replaces AgentGym's own server.
    """
    require("serve", "fastapi", "uvicorn")
    from textcraft_gym.integrations.agentgym.app import create_app
    from textcraft_gym.serving.server import run_server

    env_args: dict[str, Any] = {}
    if games:
        env_args["games"] = str(games)
    if data:
        env_args |= {"data": str(data), "goals": "synthetic"}
    if split is not None:
        env_args["split"] = split
    env_args |= key_values(env_arg or [])
    app = create_app(
        env,  # type: ignore[arg-type]  # checked there
        mapping=mapping or (),
        max_sessions=max_sessions,
        session_seconds=session_timeout,
        **env_args,
    )
    run_server(
        app,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
        on_start=lambda address: _show(f"Serving AgentGym's {env}", address, max_sessions),
    )


@app.command()
def model(
    model: Annotated[
        str, typer.Option(help="Model, as for evaluate: local, openai:NAME, MODULE:CLASS.")
    ],
    name: Annotated[
        str | None,
        typer.Option(help="Model name for clients; by default --model up to the colon."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    allow_host: AllowedHosts = None,
) -> None:
    """Serve a model behind OpenAI's API."""
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
        on_start=lambda address: _show(f"Serving the model {name}", f"{address}/v1"),
    )


@app.command()
def openenv(
    env: Annotated[str, typer.Option(help="Text environment: an id, or my_module:My-v0.")],
    split: Split = None,
    env_arg: EnvArgs = None,
    max_steps: MaxSteps = None,
    web: Annotated[bool, typer.Option(help="Add a page, /web, to play by hand.")] = False,
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
    env_args = key_values(env_arg or [])
    if split is not None:
        env_args["split"] = split
    app = create_app(
        env,
        max_steps=max_steps,
        max_sessions=max_sessions,
        session_seconds=session_timeout,
        web=web,
        **env_args,
    )
    run_server(
        app,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
        on_start=lambda address: _show(f"Serving {env} to OpenEnv", address, max_sessions),
    )


@app.command()
def mcp(
    env: Annotated[str, typer.Option(help="Text environment: an id, or my_module:My-v0.")],
    split: Split = None,
    env_arg: EnvArgs = None,
    max_steps: MaxSteps = None,
) -> None:
    """Serve an environment to a coding agent, over standard input and output.

    The agent starts it by itself, as a server of the Model Context Protocol.
    """
    require("mcp", "mcp")
    from textcraft_gym.integrations.mcp import create_server

    server = create_server(env, split=split, max_steps=max_steps, **key_values(env_arg or []))
    server.run("stdio")


def _show(
    served: str,
    address: str,
    sessions: int | None = None,
) -> None:
    """Print where a server is, and how much it can hold."""
    room = f"{make_room().connections:,} connections"
    if sessions:
        room += f" and {sessions:,} sessions"
    say(f"{served} at {address} for up to {room} (Ctrl-C stops it)")
