"""The page of budgets states the numbers that agents play with."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from textcraft_gym.agents.defaults import DEFAULTS, Settings, settings_for
from textcraft_gym.agents.deps import deps
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.games.alfworld import controller
from textcraft_gym.agents.games.webshop import skills
from textcraft_gym.agents.registry import find_agent, takes
from textcraft_gym.evaluation.episode import DEFAULT_MAX_CALLS

PAGE = (Path(__file__).parents[1] / "docs" / "budgets.md").read_text(encoding="utf-8")
SETTINGS = ("turns", "patience", "max_tokens", "planner_tokens", "d_max", "lookahead")
AGENTS = sorted({agent for agent, _ in DEFAULTS})


def rows(heading: str) -> list[dict[str, str]]:
    """Return the rows of the table of a section."""
    table = re.findall(r"^\| (.+) \|$", PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0], re.MULTILINE)
    headings, _, *lines = [line.split(" | ") for line in table]
    assert headings[-4:] == ["paper", "code", "ours", "why"]
    return [dict(zip(headings, line, strict=True)) for line in lines]


def numbers(cell: str) -> dict[str, int]:
    return {name: int(number) for name, _, number in (pair.partition("=") for pair in cell.split())}


def options(agent: str) -> dict[str, Any]:
    """Return the arguments of an agent that are no settings, with their defaults."""
    parameters = inspect.signature(find_agent(agent)).parameters.values()
    left_out = ("profile", "prompts", *SETTINGS)
    return {one.name: one.default for one in parameters if one.name not in left_out}


def test_settings__are_those_of_the_page():
    stated = {
        (agent, row["game"]): numbers(row["ours"])
        for row in rows("Turns, tokens and depth")
        for agent in row["agent"].split(", ")
    }
    assert stated == {
        (agent, game): {name: getattr(settings_for(agent, game), name) for name in SETTINGS if takes(agent, name)}
        for agent, game in DEFAULTS
    }


def test_settings__are_the_papers_and_name_those_of_its_code_that_differ():
    for row in rows("Turns, tokens and depth"):
        ours = numbers(row["ours"])
        paper, code = ({} if row[source] == "-" else numbers(row[source]) for source in ("paper", "code"))
        assert paper.items() <= ours.items()
        assert set(code) <= set(ours)
        assert all(f"`{name}={number}`" in row["why"] for name, number in code.items() if number != ours[name])


@pytest.mark.parametrize("agent", AGENTS)
def test_options__are_those_of_the_page(agent: str):
    stated = {row["argument"]: row["ours"] for row in rows("Other choices") if agent in row["agent"].split(", ")}
    found = options(agent)
    assert stated == {name: value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}


def test_tokens_of_chats__are_the_same_for_every_agent():
    assert {settings.chat_tokens for settings in DEFAULTS.values()} == {Settings.chat_tokens}


def test_bounds__of_modules_and_episodes_are_those_of_the_page():
    games = {
        "ALFWorld": "alfworld",
        "HotpotQA": "hotpotqa",
        "TextCraft": "textcraft",
        "WebShop": "webshop",
        "the tech tree": "minetechtree",
        "the tabletop": "tabletop",
    }
    assert {row["what"]: row["ours"] for row in rows("Calls of single modules and whole episodes")} == {
        "tokens of a turn in messages or by tools (`chat_tokens`)": str(Settings.chat_tokens),
        "tokens of SimpleMatch, in WebShop": str(skills.SIMPLE_MATCH_TOKENS),
        "tokens of DetailMatch, in WebShop": str(skills.DETAIL_MATCH_TOKENS),
        "tokens of an explanation, in DEPS": str(deps.EXPLANATION_TOKENS),
        "tokens of a command's number, in ALFWorld's controller": str(controller.CHOICE_TOKENS),
        **{
            f"actions of an episode, in {name}": str(load_profile(profile).max_steps) for name, profile in games.items()
        },
        "model calls of an episode": str(DEFAULT_MAX_CALLS),
    }
