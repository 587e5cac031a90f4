"""The command ``textcraft-gym agents``."""

from __future__ import annotations

from typing import Annotated

import typer

from textcraft_gym.agents.registry import AGENTS, why_not
from textcraft_gym.cli import tables
from textcraft_gym.cli.agent_arguments import arguments_of, shown_default, summary_of
from textcraft_gym.cli.options import Json
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.registration import SUITE, find

app = typer.Typer(add_completion=False)


@app.command()
def agents(
    name: Annotated[
        str | None, typer.Argument(help="Show the arguments of this agent.", metavar="NAME")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the agents, or the arguments of one.

    A dash marks a game that an agent does not play; --json says why not.
    """
    games = list(dict.fromkeys(find(env_id).profile for env_id in SUITE))
    if name is None:
        _list_agents(games, as_json)
    else:
        _show_arguments(name, games, as_json)


def _list_agents(games: list[str], as_json: bool) -> None:
    """Print which agent plays which game."""
    reasons = {agent: {game: why_not(agent, game) for game in games} for agent in AGENTS}
    if as_json:
        print_json([_reasons_row(agent, reasons[agent]) for agent in AGENTS])
        return

    table = tables.new_table("Agents, and the games that they play", ("agent", *games))
    for agent in AGENTS:
        cells = ["-" if reasons[agent][game] else "plays" for game in games]
        table.add_row(agent, *cells)
    tables.print_table(table)


def _reasons_row(agent: str, reasons: dict[str, str]) -> dict[str, str]:
    return {"agent": agent} | {game: reason or "plays" for game, reason in reasons.items()}


def _show_arguments(name: str, games: list[str], as_json: bool) -> None:
    """Print what an agent is, and its arguments."""
    summary = summary_of(name)
    arguments = arguments_of(name, games)
    if as_json:
        described = [argument._asdict() for argument in arguments]
        print_json({"agent": name, "summary": summary, "arguments": described})
        return

    say(f"{name}: {summary}")
    if not arguments:
        say("It takes no arguments.")
        return
    rows = [
        {
            "argument": argument.name,
            "type": argument.type,
            "default": shown_default(argument.default),
            "meaning": argument.meaning,
        }
        for argument in arguments
    ]
    tables.show_rows("Arguments, for --agent-arg NAME=VALUE", rows)
