"""What was wrong with a lost attempt, as each game's text tells it."""

from __future__ import annotations

from textcraft_gym.agents.contract.attempt import Attempt, Fault, Turn
from textcraft_gym.agents.games import load_profile


def fault(
    game: str,
    opening: str,
    *turns: Turn,
    claimed: bool = False,
    plan: str = "",
) -> Fault | None:
    profile = load_profile(game)
    refused = turns[-1] if turns and profile.refuses(turns[-1][1]) else None
    return profile.fault(Attempt(opening, turns, refused, plan, claimed))


def test_textcraft__compares_a_command_with_the_list():
    opening = "Crafting commands:\ncraft 1 torch using 1 stick, 1 coal\n\nGoal: craft torch."
    answer = "Could not find a valid recipe for minecraft:torch"
    assert fault("textcraft", opening, ("craft 1 torch using 1 stick", answer)) == "missing part"
    assert fault("textcraft", opening, ("craft 1 torch using 2 stick, 1 coal", answer)) == (
        "wrong count"
    )
    assert fault("textcraft", opening, ("craft 1 torch using 1 log", answer)) == "wrong thing"
    assert fault("textcraft", opening, ("get 1 coal", "Got 1 coal")) is None


def test_minetechtree__tells_a_miss_from_what_is_lacking():
    failed = ("mine 1 oak log", "Failed to mine oak log: it may work another time")
    mined = ("mine 1 birch log", "Mined 1 birch log")
    lacks = ("craft 1 chest using 8 oak planks", "Could not craft chest: requires 8 oak planks")
    few = (lacks[0], "Could not craft chest: requires 8 oak planks (4 held)")
    made = ("craft 4 birch planks using 1 birch log", "Crafted 4 birch planks")
    assert fault("minetechtree", "", failed, lacks) == "miss"
    assert fault("minetechtree", "", failed, mined, lacks) == "missing part", "another log will do"
    assert fault("minetechtree", "", mined, made, lacks) == "wrong count"
    assert fault("minetechtree", "", few) == "wrong count"
    assert fault("minetechtree", "", ("mine 1 x", "Could not execute mine 1 x")) == "wrong thing"
    assert fault("minetechtree", "", mined) is None


def test_tabletop__has_a_miss_explain_only_its_own_goal_unless_the_object_is_lost():
    goal, other = "put the red block on the stand", "put the blue block on the stand"
    missed = (goal, "Missed: the red block is still on the table.")
    floor = (goal, "Missed: the red block is on the floor.")
    taken = (other, "The green block is there.")
    assert fault("tabletop", "", missed) == "miss"
    assert fault("tabletop", "", missed, (goal, "Done: it is there.")) is None
    assert fault("tabletop", "", missed, taken) is None
    assert fault("tabletop", "", floor, taken) == "miss"
    assert fault("tabletop", "", (other, "There is no blue block.")) == "wrong thing"


def test_alfworld__finds_what_a_claimed_task_lacks():
    task = "Your task is to: put two hot mug in cabinet."
    heated = ("heat mug 1 with microwave 1", "You heat the mug 1 using the microwave 1.")
    moved = ("move mug 1 to cabinet 1", "You move the mug 1 to the cabinet 1.")
    assert fault("alfworld", task, moved, moved, claimed=True) == "missing part"
    assert fault("alfworld", task, heated, moved, claimed=True) == "wrong count"
    assert fault("alfworld", task, heated, moved, moved, claimed=True) is None
    assert fault("alfworld", task, moved) is None


def test_webshop__looks_for_the_options_that_the_instruction_names():
    opening = "\nWebShop \nInstruction:  \na red mug \n[Search] "
    page = "\n[Back to Search] \n[< Prev] \ncolor [blue][red]\nA mug \nPrice: $3.0 \n[Buy Now] "
    item, bought = ("click[b01]", page), ("click[buy now]", "Your score (min 0.0, max 1.0): 0.5")
    chosen = ("click[red]", "You have clicked red.")
    assert fault("webshop", opening, item, bought) == "missing part"
    assert fault("webshop", opening, item, chosen, bought) == "wrong thing"
    assert fault("webshop", opening, item) is None
    assert fault("webshop", opening, ("click[buy now]", "Invalid action! Try again.")) is None


def test_hotpotqa__looks_for_the_pages_that_the_question_names():
    question = "Question: Were Ostby Films and Hale Press founded in the same year?"
    first = ("search[Ostby Films]", "Ostby Films is a studio.")
    second = ("search[Hale Press]", "Hale Press is a publisher.")
    assert fault("hotpotqa", question, first, ("finish[yes]", "over")) == "missing part"
    assert fault("hotpotqa", question, first, second, ("finish[yes]", "over")) == "wrong thing"
    assert fault("hotpotqa", question, first, ("finish[]", "over")) is None
