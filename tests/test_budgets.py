"""The page of budgets states the numbers that agents play with."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from textcraft_gym.agents.defaults import DEFAULTS, GENERAL, Settings, settings_for
from textcraft_gym.agents.deps import deps
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.games.alfworld import controller
from textcraft_gym.agents.games.webshop import skills
from textcraft_gym.agents.registry import find_agent, takes
from textcraft_gym.episodes.episode import DEFAULT_MAX_CALLS

PAGE = (Path(__file__).parents[1] / "docs" / "budgets.md").read_text(encoding="utf-8")
SETTINGS = ("turns", "patience", "max_tokens", "planner_tokens", "d_max", "lookahead")
AGENTS = sorted({agent for agent, _ in DEFAULTS})

EXECUTOR_TURNS = {"alfworld": 20, "webshop": 15, "textcraft": 20}
"""Maximum number of turns of an executor, ADaPT's section 4.2 and appendix."""
REACT_TURNS = {"alfworld": 60, "webshop": 45, "textcraft": 60}
"""The same of ReAct alone, three times as many."""
MAX_DEPTHS = {"alfworld": 3, "webshop": 3, "textcraft": 4}
"""ADaPT's d_max, and the trials of Try-Again and Reflexion."""
AUTOPLAN_ACTIONS = {"alfworld": 35, "hotpotqa": 10}
"""AutoPlan's section 4.2, for all of its methods."""
AUTOPLAN_TRIALS, DEPS_STEPS = 5, 50
"""Reflexion's iterations in AutoPlan's table 3, and the steps of DEPS in ALFWorld, its appendix
A.1.1."""
QUESTION_STEPS = {"react": 7, "reflexion": 6}
"""Thoughts, and as many actions, of an attempt in HotpotQA, of the papers of ReAct and Reflexion;
its trials are 5."""
PAPERS = {
    ("adapt", "demonstrations"): "six whole heat look table 1 whole table 6 skills figure 5",
    ("react", "form"): "numbered lines",
    ("adapt", "tell_planner"): "commands room task",
    ("try_again", "temperature"): "0.7 second",
    ("reflexion", "trust_claims"): "best",
    ("reflexion", "memory"): "3",
    ("autoplan", "formalizer"): "with",
    ("autoplan", "reflect"): "training",
    ("autoplan", "temperature"): "0.9 optimising greedy evaluating",
    ("adaplanner", "examples"): "1",
    ("adaplanner", "skills"): "successes",
    ("deps", "rounds"): "7 8 table 4 0 1 3 5 unlimited",
    ("deps", "selector"): "with without DEP",
    ("zero_shot", "rounds"): "0",
    ("inner_monologue", "feedback"): "success scene held",
    ("deps", "feedback"): "which held explainer",
    ("tree_of_thoughts", "order"): "breadth depth",
    ("tree_of_thoughts", "samples"): "5",
    ("tree_of_thoughts", "width"): "5",
    ("deps", "temperature"): "default",
    ("deps", "tau"): "1 equation 2",
    ("progprompt", "assertions"): "5 none",
}
"""What a cell of the column ``paper`` says, by an agent of its row and the row's name: numbers and
decisive words."""


def rows(heading: str) -> list[dict[str, str]]:
    """Return the rows of the table of a section."""
    table = re.findall(
        r"^\| (.+) \|$", PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0], re.MULTILINE
    )
    headings, _, *lines = [line.split(" | ") for line in table]
    assert headings[-4:] == ["paper", "code", "ours", "why"]
    return [dict(zip(headings, line, strict=True)) for line in lines]


def numbers(cell: str) -> dict[str, int]:
    return {name: int(number) for name, _, number in (pair.partition("=") for pair in cell.split())}


def options(agent: str) -> dict[str, Any]:
    """Return the arguments of an agent that are no settings, with their defaults."""
    parameters = inspect.signature(find_agent(agent)).parameters.values()
    left_out = ("profile", "prompts", "settings")
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.name not in left_out
    }


def test_settings__are_those_of_the_page():
    stated = {
        (agent, row["game"]): numbers(row["ours"])
        for row in rows("Turns, tokens and depth")
        for agent in row["agent"].split(", ")
    }
    assert stated == {
        (agent, game): {
            name: getattr(settings_for(agent, game), name)
            for name in SETTINGS
            if takes(agent, name)
        }
        for agent, game in DEFAULTS
    }


def test_settings__are_the_papers_and_name_those_of_its_code_that_differ():
    for row in rows("Turns, tokens and depth"):
        ours = numbers(row["ours"])
        paper, code = (
            {} if row[source] == "-" else numbers(row[source]) for source in ("paper", "code")
        )
        assert paper.items() <= ours.items()
        assert set(code) <= set(ours)
        assert all(
            f"`{name}={number}`" in row["why"]
            for name, number in code.items()
            if number != ours[name]
        )


@pytest.mark.parametrize("agent", AGENTS)
def test_options__are_those_of_the_page(agent: str):
    stated = {
        row["argument"]: row["ours"]
        for row in rows("Other choices")
        if agent in row["agent"].split(", ")
    }
    defaults = options(agent)
    assert stated == {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in defaults.items()
    }


def test_tokens_of_chats__are_the_same_for_every_agent():
    assert {settings_for(*row).chat_tokens for row in DEFAULTS} == {GENERAL.chat_tokens}


def test_bounds__of_modules_and_episodes_are_those_of_the_page():
    games = {
        "ALFWorld": "alfworld",
        "HotpotQA": "hotpotqa",
        "TextCraft": "textcraft",
        "WebShop": "webshop",
        "the tech tree": "minetechtree",
        "the tabletop": "tabletop",
    }
    assert {
        row["what"]: row["ours"] for row in rows("Calls of single modules and whole episodes")
    } == {
        "tokens of a turn in messages or by tools (`chat_tokens`)": str(GENERAL.chat_tokens),
        "tokens of SimpleMatch, in WebShop": str(skills.SIMPLE_MATCH_TOKENS),
        "tokens of DetailMatch, in WebShop": str(skills.DETAIL_MATCH_TOKENS),
        "tokens of an explanation, in DEPS": str(deps.EXPLANATION_TOKENS),
        "tokens of a command's number, in ALFWorld's controller": str(controller.CHOICE_TOKENS),
        **{
            f"actions of an episode, in {name}": str(load_profile(profile).max_steps)
            for name, profile in games.items()
        },
        "model calls of an episode": str(DEFAULT_MAX_CALLS),
    }


def published(agent: str, game: str) -> dict[str, int]:
    """Return what the papers say of an agent in a game; ``default`` is TextCraft for those that
    name it."""
    if agent == "autoplan":
        return {"turns": AUTOPLAN_ACTIONS["alfworld" if game == "default" else game]}
    if game == "hotpotqa" and agent in QUESTION_STEPS:
        return {"turns": 2 * QUESTION_STEPS[agent]} | ({"d_max": 5} if agent == "reflexion" else {})
    if game == "default" and agent in ("react", "plan_and_execute"):
        game = "textcraft"
    turns = REACT_TURNS if agent == "react" else EXECUTOR_TURNS
    if game not in turns or agent not in (
        "adapt",
        "plan_and_execute",
        "react",
        "reflexion",
        "try_again",
    ):
        return {}
    return {"turns": turns[game]} | ({"d_max": MAX_DEPTHS[game]} if takes(agent, "d_max") else {})


def test_papers__say_the_turns_and_depths_of_the_page():
    for row in rows("Turns, tokens and depth"):
        for agent in row["agent"].split(", "):
            stated = {} if row["paper"] == "-" else numbers(row["paper"])
            assert stated == published(agent, row["game"]), (agent, row["game"])


def test_papers__say_the_other_choices_of_the_page():
    stated = {
        (agent, row["argument"]): row["paper"]
        for row in rows("Other choices")
        for agent in row["agent"].split(", ")
        if row["paper"] != "-"
    }
    singles = rows("Calls of single modules and whole episodes")
    stated |= {("", row["what"]): row["paper"] for row in singles if row["paper"] != "-"}
    cells = {cell for key, cell in stated.items() if key not in PAPERS}
    assert cells <= {stated[key] for key in PAPERS}  # agents that share a row with one of these
    for key, said in PAPERS.items():
        words = re.findall(r"[a-zA-Z]+|\d+(?:\.\d+)?", stated[key])
        assert [word for word in words if word[0].isdigit()] == [
            word for word in said.split() if word[0].isdigit()
        ], key
        remaining = iter(words)
        assert all(word in remaining for word in said.split()), key


def test_papers__with_bounds_of_their_own_for_others_agents_are_those_of_the_page():
    table = re.findall(
        r"^\| (.+) \|$",
        PAGE.partition("## In other papers\n")[2].partition("\n## ")[0],
        re.MULTILINE,
    )
    cells = [tuple(line.split(" | ")) for line in table[2:]]
    actions = AUTOPLAN_ACTIONS
    react, reflexion = settings_for("react", "alfworld"), settings_for("reflexion", "alfworld")
    questions = settings_for("react", "hotpotqa").turns // 2
    trials = f"{AUTOPLAN_TRIALS} trials"
    assert cells == [
        (
            "react",
            "hotpotqa",
            "AutoPlan",
            f"{actions['hotpotqa']} actions",
            f"{questions} actions",
            "turns=20",
        ),
        (
            "react",
            "alfworld",
            "AutoPlan",
            f"{actions['alfworld']} actions",
            f"{react.turns} turns",
            "turns=70",
        ),
        (
            *("reflexion", "alfworld", "AutoPlan", f"{actions['alfworld']} actions, {trials}"),
            *(
                f"{reflexion.turns} turns, {reflexion.d_max} trials",
                f"turns=70 d_max={AUTOPLAN_TRIALS}",
            ),
        ),
        (
            *("zero_shot, inner_monologue, dep, deps", "alfworld", "DEPS", f"{DEPS_STEPS} actions"),
            *(f"{load_profile('alfworld').max_steps} actions", f"--max-steps {DEPS_STEPS}"),
        ),
    ]
    for agent, game, *_, options in (cell for cell in cells if "=" in cell[-1]):
        assert settings_for(agent, game, Settings(**numbers(options))).turns == 2 * actions[game]
