"""The commands ``textcraft-gym new ...``: a world or an agent of your own, to begin with."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.terminal import say, say_command

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Write a world or an agent to begin with.",
)

TEMPLATES = "textcraft_gym.cli.templates"

Name = Annotated[str, typer.Argument(help="Name of the module, such as maze or my_maze.")]
Folder = Annotated[Path, typer.Option("--out", help="Folder to write to; by default this one.")]


@app.command()
def world(name: Name, out: Folder = Path()) -> None:
    """Write a world with an expert, admissible commands and snapshots, its prompt and its test."""
    title = _title(name)
    _write(
        out,
        {
            f"{name}.py": "doors.py",
            f"test_{name}.py": "test_doors.py",
            "prompts/react/default.txt": "doors.txt",
        },
        {'"doors:': f'"{name}:', "Doors": title},
    )
    env = f"{name}:{title}-v0"
    _suggest(
        f"python -m pytest test_{name}.py",
        f"textcraft-gym play {env}",
        f"textcraft-gym evaluate --env {env} --agent expert --out runs/{name}",
    )


@app.command()
def agent(name: Name, out: Folder = Path()) -> None:
    """Write an agent that asks a model for one action at a time, its prompt and its test."""
    title = _title(name)
    _write(
        out,
        {
            f"{name}.py": "asker.py",
            f"test_{name}.py": "test_asker.py",
            f"prompts/{name}/default.txt": "asker.txt",
        },
        {"asker": name, "Asker": title},
    )
    _suggest(
        f"python -m pytest test_{name}.py",
        f"textcraft-gym evaluate --env TextCraft-v0 --agent {name}:{title} --prompts prompts "
        f"--model local --limit 5 --out runs/{name}",
    )


def _title(name: str) -> str:
    """Return the name of the class of a module, ``MyMaze`` of ``my_maze``.

    Raises:
        ValueError: If it is no name of a new module.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise ValueError(f"expected the name of a module, such as my_maze, got {name!r}")
    if find_spec(name) is not None:
        raise ValueError(f"there is a module {name} already: choose another name")
    return "".join(part.capitalize() for part in name.split("_"))


def _write(
    out: Path,
    templates: Mapping[str, str],
    names: Mapping[str, str],
) -> None:
    """Write the template of each file, with its names replaced.

    Raises:
        ValueError: If one of the files is there already.
    """
    for file in templates:
        if (out / file).exists():
            raise ValueError(f"{out / file} is there already")
    for file, template in templates.items():
        text = (files(TEMPLATES) / template).read_text(encoding="utf-8")
        for old, new in names.items():
            text = text.replace(old, new)
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        (out / file).write_text(text, encoding="utf-8", newline="\n")
        say(f"wrote {out / file}")


def _suggest(*commands: str) -> None:
    say("Go on with:")
    if find_spec("pytest") is None:
        say_command("  python -m pip install pytest")
    for command in commands:
        say_command(f"  {command}")
