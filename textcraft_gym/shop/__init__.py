"""The shop of WebShop-lite as web pages on this machine, for a person to try a goal or to look at what an agent did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def serve(
    *,
    split: str = "dev",
    port: int = 0,
    replay: str | Path | None = None,
    task: str | None = None,
    env_args: Mapping[str, Any] | None = None,
    on_start: Callable[[str], None],
) -> None:
    """Serve the shop to the browsers of this machine, and to no other, until Ctrl-C.

    Args:
        split: Whose tasks are listed.
        port: Where; 0 takes a free one.
        replay: A run folder, or a file that the shop saved: its episodes can be stepped through.
        task: Only the episode of this task, or where nothing is replayed the task to begin with.
        env_args: Further arguments of ``gym.make``; those of a replayed run hold where they are not named.
        on_start: Is told the address.

    Raises:
        UnknownName: For a split, a task or an argument that does not exist.
        RunError: If the run cannot be read, or was played in another world or shop.
        ShopDataError: If the shop's data cannot be read.
        ValueError: If the web framework is not installed.
        OSError: If the port is taken.
    """
    if "split" in (env_args or {}):
        raise ValueError("the split is an option of its own, not one of env_args")
    try:  # here, so that the other commands neither need these nor wait for them
        from textcraft_gym.shop.app import create_app
        from textcraft_gym.shop.recording import read_run
        from textcraft_gym.shop.server import run_server
        from textcraft_gym.shop.session import Storefront
    except ModuleNotFoundError as error:
        raise ValueError("the shop's pages need Flask: pip install 'textcraft-gym[shop]'") from error
    run = None if replay is None else read_run(replay, task)
    front = Storefront.open(split, {**(run.env_args if run else {}), **(env_args or {})})
    app = create_app(front, run, first=None if run else task)
    run_server(app, port, on_start)
