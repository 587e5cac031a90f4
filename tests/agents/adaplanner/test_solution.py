"""Solutions, and the examples of them in the prompts."""

from __future__ import annotations

import ast
import re
from importlib.resources import files

import pytest

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents import prompts
from textcraft_gym.agents.adaplanner.adaplanner import AdaPlannerAgent
from textcraft_gym.agents.adaplanner.solution import (
    carried,
    explained,
    read_solution,
    source_of,
    step_of,
    title_of,
)
from textcraft_gym.agents.games import MINETECHTREE, game_names, load_profile
from textcraft_gym.agents.program.parse import ProgramError
from textcraft_gym.agents.program.values import AGENT
from textcraft_gym.registration import find

EXAMPLES = {
    file.name.removesuffix(".txt"): file.read_text(encoding="utf-8")
    for file in (files(prompts) / "adaplanner" / "examples").iterdir()
}


def test_examples__are_there_for_every_kind_of_task_of_every_avatar():
    avatars = {game: load_profile(game).avatar for game in game_names()}
    assert set(EXAMPLES) == {
        f"{game}_{kind}" for game, avatar in avatars.items() if avatar for kind in avatar.kinds
    }


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example__is_of_its_kind_and_has_steps_with_assertions(name: str):
    game, kind = name.split("_")
    profile = load_profile(game)
    opening, head, body = EXAMPLES[name].partition("\ndef solution")
    task = profile.read(opening)[1]
    assert profile.avatar
    assert profile.avatar(None, "").kind(task) == kind
    (function,) = read_solution(source_of(f"{head}{body}")).program.body
    assert isinstance(function, ast.FunctionDef)
    assert [step_of(node) for node in function.body] == [*range(1, len(function.body) + 1)]
    for number, node in enumerate(function.body, 1):
        assert title_of(node).startswith(f"[Step {number}] ")
        assert isinstance(node.body[-1], ast.Assert)
        assert f"f'Error in [Step {number}]: " in ast.unparse(node.body[-1])
    methods = {*profile.avatar.methods, "report", "receptacles", "holding", "location"}
    template = (files(prompts) / "adaplanner" / f"{game}.txt").read_text(encoding="utf-8")
    assert set(re.findall(r"agent\.(\w+)", f"{body}{template}")) <= methods
    assert set(profile.avatar.methods) <= set(re.findall(r"agent\.(\w+)", template))


def test_example__of_the_tech_tree_wins_in_its_world():
    situation, _, source = EXAMPLES["minetechtree_task"].partition("\ndef solution")
    env = find("MineTechTree-v0").make()
    assert env.reset(seed=1002, options={"task": "leather_boots"})[0] == situation
    models = {"planner": ScriptedModel(f"def solution{source}"), "checker": ScriptedModel("no")}
    episode = run_episode(
        env,
        AdaPlannerAgent(MINETECHTREE, examples=0),
        task="leather_boots",
        seed=1002,
        model=models,
    )
    assert episode.won
    assert episode.calls == {"planner": 1, "checker": 1}


def test_carried__are_texts_numbers_and_lists():
    names = {"a": 1, "b": "x", "c": ["y", 2], "d": None, "agent": AGENT, "e": True}
    assert carried(names) == {"a": 1, "b": "x", "c": ["y", 2], "e": True}


def test_explained__says_where_an_error_is_if_that_is_known():
    error = ProgramError("it broke")
    assert explained(error, "a\nb") == "it broke"
    error.line = 2
    assert explained(error, "a\n  b") == "In line 2, b\nit broke"
    assert explained(error, "a") == "it broke"
