"""The numbers that agents play games with."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.defaults import (
    DEFAULTS,
    GENERAL,
    MAX_DEPTH,
    UNSET,
    Settings,
    settings_for,
)
from textcraft_gym.agents.games import ALFWORLD, game_names, load_profile
from textcraft_gym.agents.registry import AGENTS, find_agent, make_agent, takes, why_not

STEP = {  # turns, patience, max_tokens
    "alfworld": (20, 5, 100),
    "default": (20, 8, 150),
    "minetechtree": (20, 8, 150),
    "textcraft": (20, 8, 150),
    "webshop": (15, 3, 100),
}
ALONE = {
    "alfworld": (60, 5, 100),
    "default": (60, 8, 150),
    "minetechtree": (60, 8, 150),
    "textcraft": (60, 8, 150),
    "webshop": (45, 3, 100),
}
PLANNER_TOKENS = {
    "alfworld": 400,
    "default": 800,
    "minetechtree": 800,
    "textcraft": 800,
    "webshop": 800,
}
D_MAX = {"alfworld": 3, "default": 3, "minetechtree": 4, "textcraft": 4, "webshop": 3}
MAX_STEPS = {
    "alfworld": 300,
    "default": None,
    "minetechtree": 1000,
    "textcraft": 1000,
    "webshop": 300,
}
GOAL_PLANNERS = ("chain_of_thought", "code_as_policies", "dep", "deps", "progprompt", "zero_shot")


@pytest.mark.parametrize("game", STEP)
def test_defaults__are_those_of_the_papers(game: str):
    for agent in ("adapt", "plan_and_execute"):
        settings = settings_for(agent, game)
        assert astuple(settings)[:3] == STEP[game]
        assert settings.planner_tokens == PLANNER_TOKENS[game]
    assert astuple(settings_for("react", game))[:3] == ALONE[game]
    for agent in ("adapt", "reflexion", "try_again"):
        assert settings_for(agent, game).d_max == D_MAX[game]
        assert astuple(settings_for(agent, game))[:3] == STEP[game]
        assert astuple(settings_for(agent, game, Settings(d_max=2)))[:3] == STEP[game]
        assert astuple(settings_for(agent, game, Settings(d_max=1)))[:3] == ALONE[game]
        assert settings_for(agent, game, Settings(d_max=1, turns=7)).turns == 7
    for agent in GOAL_PLANNERS:
        assert settings_for(agent, game).planner_tokens == 1024
    assert settings_for("inner_monologue", game).planner_tokens == 100
    assert load_profile(game).max_steps == MAX_STEPS[game]


def test_defaults__of_questions_are_those_of_react_and_reflexion():
    """Seven and six turns, each a thought and an action; no turn in vain ends an attempt."""
    for agent in ("adapt", "plan_and_execute", "react", "try_again"):
        assert astuple(settings_for(agent, "hotpotqa"))[:3] == (14, 14, 100)
    assert astuple(settings_for("reflexion", "hotpotqa"))[:3] == (12, 12, 100)
    assert [
        settings_for(agent, "hotpotqa").d_max for agent in ("adapt", "reflexion", "try_again")
    ] == [3, 5, 5]
    alone = Settings(d_max=1)
    assert settings_for("reflexion", "hotpotqa", alone) == settings_for("react", "hotpotqa", alone)
    assert load_profile("hotpotqa").max_steps == 100


def test_defaults__are_of_agents_and_games_that_there_are():
    for agent, game in DEFAULTS:
        assert agent in AGENTS
        assert game in (*game_names(), "default")


def test_defaults__are_what_agents_play_with():
    for agent in {agent for agent, _ in DEFAULTS}:
        for game in (*game_names(), "default"):
            if not why_not(agent, game):
                made = make_agent(agent, profile=game)
                assert made.settings == settings_for(agent, game)
                # A search has as many steps as it can sample.
                if agent not in ("best_of_n", "lats", "tree_of_thoughts"):
                    assert made.max_steps == load_profile(game).max_steps


def test_defaults__have_a_row_of_every_agent_that_takes_a_profile():
    assert {agent for agent, game in DEFAULTS if game == "default"} == {
        name
        for name in AGENTS
        if takes(name, "profile") and name != "random_text"  # it has ReAct's turns
    }


def test_defaults__state_what_the_agent_uses():
    for (agent, _), row in DEFAULTS.items():
        assert row.chosen().keys() == {*find_agent(agent).uses}, agent


def test_settings_for__puts_what_is_given_before_defaults():
    given = Settings(turns=7, patience=UNSET, d_max=2)
    settings = settings_for("adapt", "alfworld", given)
    assert astuple(settings) == (7, 5, 100, 512, 400, 2, 15)
    assert ADaPTAgent(ALFWORLD, settings=given).settings == settings


def test_settings_for__bounds_a_turn_of_a_chat_too():
    assert settings_for("react", "textcraft", Settings(max_tokens=9)).chat_tokens == 9
    assert (
        settings_for("react", "textcraft", Settings(max_tokens=9, chat_tokens=99)).chat_tokens == 99
    )


def test_settings_for__falls_back_on_the_agents_row_for_any_game():
    assert (
        settings_for("react", "chess")
        == settings_for("react", "default")
        == replace(GENERAL, turns=60)
    )
    assert settings_for("my_agent", "textcraft") == GENERAL


@pytest.mark.parametrize("name", ["turns", "patience", "max_tokens", "planner_tokens", "d_max"])
def test_settings__are_numbers_of_1_or_more(name: str):
    for value in (0, -1):
        with pytest.raises(ValueError, match=f"expected {name} of 1 or more, got {value!r}"):
            Settings(**{name: value})
    for other in (1.5, True, "3"):
        with pytest.raises(
            ValueError, match=f"expected {name} to be a whole number, got {other!r}"
        ):
            Settings(**{name: other})


def test_settings__bound_the_depth():
    assert Settings(d_max=MAX_DEPTH).d_max == MAX_DEPTH
    with pytest.raises(ValueError, match=r"expected d_max in 1\.\.20, got 21"):
        Settings(d_max=MAX_DEPTH + 1)
