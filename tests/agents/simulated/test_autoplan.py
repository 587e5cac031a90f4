from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from textcraft_gym import RunSpec, evaluate, optimise_plan
from textcraft_gym.agents.autoplan.autoplan import Talk
from textcraft_gym.agents.autoplan.update import Experience, update_prompt
from textcraft_gym.agents.autoplan.wording import Wording
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.agents.simulated.autoplan import OPEN, SEARCH, Rules

WORDING = Wording(Prompts(), "alfworld")
SITUATION = (
    "You are in the middle of a room. Looking quickly around you, you see a bed 1, a countertop 1, a fridge 1, a "
    "microwave 1, and a shelf 1."
)
TASK = "heat some egg and put it in shelf"
HEATING = "To heat a thing takes a microwave."
TAKEN = ("go to countertop 1", "You arrive at countertop 1. On the countertop 1, you see a egg 1.")
HELD = (*TAKEN, "take egg 1 from countertop 1", "You pick up the egg 1 from the countertop 1.")
WRONG = "Nothing happens.\nbed 1 cannot heat anything: that takes a microwave."


def ask(section: str, *turns: str, plan: str = "", span: int = 5) -> str:
    information = WORDING.fill("plan", plan=plan) + "\n" if plan else ""
    talk = Talk(WORDING.fill("opening", situation=SITUATION, task=TASK, information=information))
    for action, answer in zip(turns[::2], turns[1::2], strict=True):
        talk.answer(WORDING.fill("thought"), "I look for the egg.")
        talk.answer(WORDING.fill("action"), action)
        talk.hear(answer)
    if section == "action":
        talk.answer(WORDING.fill("thought"), "Hm.")
    return complete(talk.asked(WORDING.fill(section)), span)


def complete(prompt: str, span: int = 5) -> str:
    return SimulatedModel(span).complete(prompt, stop=(), max_tokens=400, temperature=0.0, sample=0).text


def update(*experiences: Experience, plan: str = "") -> list[str]:
    return [line.partition(". ")[2] for line in complete(update_prompt(WORDING, plan, experiences)).splitlines()]


def test_player__searches_in_alphabetical_order_or_as_its_plan_says():
    assert ask("thought") == "I look for the egg."
    assert ask("action") == "go to bed 1"
    assert ask("action", plan="Search these places first: shelf, countertop.") == "go to shelf 1"


def test_player__tries_what_heats_until_a_plan_or_a_message_says_it():
    assert ask("action", *HELD) == "go to bed 1"
    assert (
        ask("action", *HELD, "go to bed 1", "You arrive at bed 1. On the bed 1, you see nothing.")
        == "heat egg 1 with bed 1"
    )
    silent = (*HELD, "go to bed 1", "You arrive at bed 1.", "heat egg 1 with bed 1")
    assert ask("action", *silent, "Nothing happens.") == "go to countertop 1"
    assert ask("action", *silent, WRONG) == "go to microwave 1"
    for plan in (HEATING, "3. Heat it with the microwave.".lower()):
        assert ask("action", *HELD, plan=plan) == "go to microwave 1"


def test_player__opens_only_if_it_knows_that_it_can():
    fridge = ("go to fridge 1", "You arrive at fridge 1. The fridge 1 is closed.")
    assert ask("action", *fridge, plan=f"{OPEN}\nSearch these places first: fridge.") == "open fridge 1"
    assert ask("action", *fridge) != "open fridge 1"
    told = ("take egg 1 from fridge 1", "Nothing happens.\nfridge 1 is closed: open it first.")
    assert ask("action", *fridge, *told, plan="Search these places first: fridge.") == "open fridge 1"


def test_reflections__tell_what_the_game_said():
    assert ask("summary", *HELD) == "I found a egg in the countertop."
    assert ask("flaws", *TAKEN) == "I do not know of any."
    assert ask("revision", *HELD) == "Add to the plan: Search these places first: countertop."
    for section in ("flaws", "revision"):
        assert HEATING in ask(section, *HELD, "heat egg 1 with bed 1", WRONG)


def test_update__keeps_rules_and_adds_those_of_successes_and_reflections():
    found = "I found a egg in the fridge."
    assert update(Experience(TASK, True, found)) == [SEARCH, "Search these places first: fridge."]
    assert update(Experience(TASK, False, found)) == [SEARCH]
    places = ("shelf", "fridge", "desk", "fridge", "fridge", "shelf")
    twice = [
        Experience(TASK, True, f"I found a egg in the {place}.", f"I found a mug in the {place}.") for place in places
    ]
    plan = "Search these places first: bed, desk."
    assert update(*twice, plan=plan) == [SEARCH, "Search these places first: bed, desk, fridge, shelf."]
    assert update(Experience(TASK, False, found, f"I learned: {HEATING}"), plan=OPEN) == [SEARCH, OPEN, HEATING]
    assert update(Experience(TASK, False, found, revision=f"Add: {OPEN}"), plan=HEATING) == [SEARCH, OPEN, HEATING]


def test_rules__are_read_back_from_their_own_lines():
    rules = Rules({"heat": "microwave", "clean": "sink"}, True, ["fridge", "shelf"])
    again = Rules()
    again.read("\n".join(rules.lines()))
    assert again == rules


def test_formalizer__writes_what_was_written():
    assert complete(WORDING.fill("formalizer", action="go to bed 1")) == "go to bed 1"


@pytest.mark.parametrize("game", ["textcraft", "minetechtree", "webshop", "default"])
def test_player__answers_in_every_game(game: str):
    wording = Wording(Prompts(), game)
    talk = Talk(wording.fill("opening", situation="Ticks left: 3.\nCrafting commands:\n", task="x", information=""))
    for section in ("thought", "action", "summary", "flaws", "revision"):
        text = complete(talk.asked(wording.fill(section)))
        assert text
        talk.answer(wording.fill(section), text)


def test_plan__of_a_few_batches_makes_the_player_win_more(tmp_path: Path):
    heat = RunSpec("ALFWorld-v0", wrappers=("HelpfulFeedback",), limit=8)
    done = optimise_plan(heat, tmp_path / "plans", task_type="heat", batch=4, iterations=1)
    text = done[-1].plan.read_text()
    assert HEATING in text
    assert OPEN in text
    test = RunSpec(
        "ALFWorld-v0", "valid_seen", "autoplan", env_args={"task_types": "pick_heat_then_place_in_recep"}, limit=10
    )
    without = sum(record["won"] for record in evaluate(test, tmp_path / "without"))
    planned = replace(test, agent_args={"plan": str(done[-1].plan)})
    assert sum(record["won"] for record in evaluate(planned, tmp_path / "with")) > without
