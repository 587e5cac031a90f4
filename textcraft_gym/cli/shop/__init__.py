"""WebShop-lite as a local web site, for a person to try a task or to replay an agent's episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from textcraft_gym.errors import require


def serve(
    *,
    split: str = "dev",
    port: int = 0,
    replay: str | Path | None = None,
    task: str | None = None,
    env_args: Mapping[str, Any] | None = None,
    on_start: Callable[[str], None],
) -> None:
    """Serve the shop on the loopback address until Ctrl-C.

    Args:
        split: The split whose tasks are listed.
        port: The port; 0 for a free one.
        replay: A run folder, or a file saved by the shop, whose episodes to step through.
        task: Replay only the episode of this task; without ``replay``, the task to offer first.
        env_args: Further arguments of ``gym.make``; they override those of a replayed run.
        on_start: Called with the address.

    Raises:
        UnknownName: For a split, a task or an argument that does not exist.
        RunError: If the run cannot be read, or is of another environment or shop.
        ShopDataError: If the shop's data cannot be read.
        MissingExtra: If the web framework is not installed.
        OSError: If the port is taken.
    """
    if "split" in (env_args or {}):
        raise ValueError("expected the split as a separate option, not in env_args")
    require("shop", "flask", "a2wsgi", "uvicorn")
    from textcraft_gym.cli.shop.app import create_app
    from textcraft_gym.cli.shop.recording import read_run
    from textcraft_gym.cli.shop.server import run_server
    from textcraft_gym.cli.shop.session import Storefront

    if replay is None:
        front = Storefront.open(split, env_args or {})
        app = create_app(front, first=task)
    else:
        run = read_run(replay, task)
        front = Storefront.open(split, {**run.env_args, **(env_args or {})})
        app = create_app(front, run)
    run_server(app, port, on_start)
