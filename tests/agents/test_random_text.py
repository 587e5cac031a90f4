"""The random agent that sees text only."""

from __future__ import annotations

import random
import re

import gymnasium as gym
import pytest

from textcraft_gym.agents.baselines.random_text import RandomTextAgent
from textcraft_gym.agents.defaults import settings_for
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.games.alfworld import draws as household
from textcraft_gym.agents.games.hotpotqa import draws as wiki
from textcraft_gym.agents.games.textcraft import draws as crafting
from textcraft_gym.agents.games.webshop import draws as shop
from textcraft_gym.episodes.episode import run_episode

CRAFTS = """Crafting commands:
craft 4 oak planks using 1 oak logs
craft 4 birch planks using 1 birch logs
craft 4 stick using 2 planks

Goal: craft stick."""
ROOM = "You see a drawer 1, a shelf 2.\n\nYour task is to: put a mug in drawer."
PAGE = "\nWebShop \nInstruction:  \nfind a red mug, cheap \n[Search] "


def drawn(draw, opening: str, *turns: tuple[str, str], times: int = 400) -> set[str]:
    rng = random.Random(0)
    return {draw(opening, turns, rng) for _ in range(times)}


def test_textcraft__is_drawn_from_printed_commands_and_their_parts():
    assert drawn(crafting.draw, CRAFTS) == {
        "craft 4 oak planks using 1 oak logs",
        "craft 4 birch planks using 1 birch logs",
        "craft 4 stick using 2 oak planks",
        "craft 4 stick using 2 birch planks",
        "get 1 oak logs",
        "get 1 birch logs",
        "get 2 oak planks",
        "get 2 birch planks",
    }


def test_alfworld__is_drawn_from_places_and_things_that_were_named():
    assert drawn(household.draw, ROOM) >= {"go to drawer 1", "open shelf 2", "look"}
    assert not any("take" in action for action in drawn(household.draw, ROOM))
    seen = drawn(household.draw, ROOM, ("go to shelf 2", "On the shelf 2, you see a mug 3."))
    assert {"take mug 3 from shelf 2", "move mug 3 to drawer 1", "use mug 3"} <= seen
    assert not any("in/on" in action for action in seen)
    older = ("go to shelf 2", "You arrive at loc 4. On the shelf 2, you see a mug 3.")
    assert "put mug 3 in/on drawer 1" in drawn(household.draw, ROOM, older)


def test_webshop__is_drawn_from_the_instruction_or_the_buttons():
    searches = drawn(shop.draw, PAGE)
    assert {"search[red mug,]", "search[find a red mug, cheap]"} <= searches
    results = ("search[mug]", "\n[Back to Search] \n[B01ABCDEFG] \nA mug \n$3 ")
    assert drawn(shop.draw, PAGE, results) == {"click[back to search]", "click[b01abcdefg]"}
    # An answer without a button leaves the page as it is.
    said = (*results[:1], results[1]), ("click[x]", "Invalid action! Try a different action.")
    assert drawn(shop.draw, PAGE, *said) == {"click[back to search]", "click[b01abcdefg]"}


def test_hotpotqa__is_drawn_from_names_and_words():
    actions = drawn(wiki.draw, "Question: Who founded Ostby Films?")
    assert actions == {
        "search[Ostby Films]",
        "lookup[founded]",
        *(f"finish[{answer}]" for answer in ("Ostby Films", "yes", "no")),
    }


@pytest.mark.parametrize("game", ["alfworld", "hotpotqa", "textcraft", "webshop"])
def test_turns__are_those_of_react(game: str):
    assert RandomTextAgent(load_profile(game)).max_steps == settings_for("react", game).turns
    assert RandomTextAgent(load_profile(game), turns=3).max_steps == 3


def test_turns__are_at_least_one_and_the_game_has_actions():
    with pytest.raises(ValueError, match="turns"):
        RandomTextAgent(load_profile("textcraft"), turns=0)
    with pytest.raises(ValueError, match="the game tabletop has no random actions of its text"):
        RandomTextAgent(load_profile("tabletop"))


def test_episode__is_of_its_seed_and_needs_no_list_of_commands():
    env = gym.make("TextCraft-v0")
    agent = RandomTextAgent(load_profile("textcraft"), turns=12)
    first, again, other = (run_episode(env, agent, task=None, seed=seed) for seed in (1, 1, 2))
    assert first.transcript == again.transcript != other.transcript
    assert first.steps <= 12
    assert all(re.match("craft|get", action) for action, _ in first.transcript[1:] if action)
