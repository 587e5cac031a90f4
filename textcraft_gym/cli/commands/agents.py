"""The command ``textcraft-gym agents``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, NamedTuple
from warnings import warn

import typer

from textcraft_gym.agents.registry import AGENTS, family_of, find_agent, installed_agents, why_not
from textcraft_gym.cli import tables
from textcraft_gym.cli.agent_arguments import arguments_of, shown_default, summary_of
from textcraft_gym.cli.options import Json, Wide
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.plugins import one_line
from textcraft_gym.registration import SUITE, find

HEADINGS = ("family", "agent", "plays", "what it does")


class Row(NamedTuple):
    """An agent, the games that it plays, and what it does."""

    agent: str
    plays: str
    summary: str


app = typer.Typer(add_completion=False)


@app.command()
def agents(
    name: Annotated[
        str | None, typer.Argument(help="Show the arguments of this agent.", metavar="NAME")
    ] = None,
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """List the agents by family, or the arguments of one.

    Those of installed packages are listed too, under the name of the package. With --json it also
    says why an agent does not play a game.
    """
    games = list(dict.fromkeys(find(env_id).profile for env_id in SUITE))
    if name is None:
        _list_agents(games, as_json)
    else:
        _show_arguments(name, games, as_json)


def _list_agents(games: list[str], as_json: bool) -> None:
    """Print which agent plays which game."""
    reasons = {agent: {game: why_not(agent, game) for game in games} for agent in _names()}
    if as_json:
        print_json([_reasons_row(agent, reasons[agent]) for agent in reasons])
        return

    by_family: dict[str, list[Row]] = {}
    for agent in reasons:
        row = Row(agent, _games_of(reasons[agent]), summary_of(agent))
        by_family.setdefault(family_of(agent), []).append(row)
    table = _table(by_family, HEADINGS)
    # On a narrow terminal the columns that are left out follow below the table.
    for shown in (HEADINGS[:3], HEADINGS[:2]):
        if not tables.is_whole(table):
            table = _table(by_family, shown)
    tables.print_table(table)
    for agent, plays, summary in chain.from_iterable(by_family.values()):
        if len(table.headings) == 3:
            tables.print_words(f"{agent}: {summary}", hanging=2)
        elif len(table.headings) == 2:
            tables.print_words(f"{agent} (plays {plays}): {summary}", hanging=2)


def _table(by_family: Mapping[str, Sequence[Row]], headings: Sequence[str]) -> tables.Table:
    """Return the agents with the first of the headings; what has no room beside follows below."""
    table = tables.new_table("Agents", headings, ("family", "agent", "what it does"), needed=2)
    for family, members in by_family.items():
        for row in members:
            first = family if row is members[0] else ""
            cells = (first, *row)[: len(headings)]
            table.add_row(*cells, end_section=row is members[-1])
    return table


def _names() -> list[str]:
    """Return the names of the agents; one of a broken package is left out with a warning."""
    names = [*AGENTS]
    for name in installed_agents():
        try:
            find_agent(name)
        except ValueError as error:
            warn(f"{name} is left out: {one_line(error)}", stacklevel=2)
        else:
            names.append(name)
    return list(dict.fromkeys(names))


def _reasons_row(agent: str, reasons: dict[str, str]) -> dict[str, str]:
    described = {"agent": agent, "family": family_of(agent), "summary": summary_of(agent)}
    return described | {game: reason or "plays" for game, reason in reasons.items()}


def _games_of(reasons: dict[str, str]) -> str:
    """Return the games that an agent plays, in words, from the reasons why it does not."""
    played = [game for game, reason in reasons.items() if not reason]
    others = [game for game, reason in reasons.items() if reason]
    if not others:
        return "all"
    return f"all but {', '.join(others)}" if len(others) <= 2 else ", ".join(played)


def _show_arguments(
    name: str,
    games: list[str],
    as_json: bool,
) -> None:
    """Print what an agent is, and its arguments."""
    summary = summary_of(name)
    arguments = arguments_of(name, games)
    if as_json:
        described = [argument._asdict() for argument in arguments]
        print_json({"agent": name, "summary": summary, "arguments": described})
        return

    tables.print_words(f"{name}: {summary}")
    if not arguments:
        say("It takes no arguments.")
        return
    say("Arguments, for --agent-arg NAME=VALUE:")
    for argument in arguments:
        default = shown_default(argument.default)
        say(f"  {argument.name}  ({argument.type}, default {default})")
        tables.print_words(argument.meaning, indent=6)
