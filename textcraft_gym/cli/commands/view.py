"""The command ``textcraft-gym view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.terminal import say
from textcraft_gym.errors import require

app = typer.Typer(add_completion=False)


@app.command()
def view(
    folder: Annotated[Path, typer.Argument(help="Folder of runs, or of folders of runs.")] = Path(
        "runs"
    ),
    bundle: Annotated[
        Path | None,
        typer.Option(help="Write a static site into this new folder, and serve nothing."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; by default this machine only.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve on; 0 takes a free one.")
    ] = 7070,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Host name that browsers may use; may be repeated."),
    ] = None,
) -> None:
    """Show all runs below a folder while they grow.

    The pages are those of `report`, and show each episode as it ends, with its calls.

    They are a web site of this machine that only reads.
    """
    require("report", "jinja2")
    if not folder.is_dir():
        raise NotADirectoryError(f"there is no folder {folder}")
    if bundle:
        _write(folder, bundle)
        return
    require("view", "flask", "a2wsgi", "uvicorn")
    from textcraft_gym.cli.view.app import MAX_BODY, create_app
    from textcraft_gym.cli.view.library import Library
    from textcraft_gym.serving.wsgi import run_wsgi

    run_wsgi(
        create_app(Library(folder), folder.resolve().name),
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
        max_body=MAX_BODY,
        on_start=lambda address: say(f"Showing {folder} at {address}/ (Ctrl-C stops it)"),
    )


def _write(folder: Path, out: Path) -> None:
    from textcraft_gym.cli.view.bundle import write_bundle
    from textcraft_gym.reports.growing import find_runs, grown

    written = write_bundle(grown(find_runs(folder), {}), folder.resolve().name, out)
    say(
        f"Wrote {written.runs} {'run' if written.runs == 1 else 'runs'} to {out / 'index.html'}: "
        f"{written.files} files, {written.size / 1e6:.1f} MB"
    )
