from __future__ import annotations

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym.agents.games import ALFWORLD
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.evaluation.episode import Episode
from textcraft_gym.evaluation.schedule import run_episodes

SITUATION = (
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, a countertop 1, "
    "a desk 1, a fridge 1, a microwave 1, and a sinkbasin 1."
)
TASK = "put a cool mug in cabinet"
BEGIN = "think: to put a cool mug in cabinet I keep mug, fridge, cabinet in mind, 3 of them"
DESK = "think: a mug may be in the desk, 4 in mind"
TAKEN = "The last action was: take mug 1 from desk 1\nYou pick up the mug 1 from the desk 1."


def complete(prompt: str, span: int = 99, temperature: float = 0.0, sample: int = 0, **options: bool) -> str:
    how = {"stop": (), "max_tokens": 400, "temperature": temperature, "sample": sample}
    return SimulatedModel(span, **options).complete(prompt, **how).text


def turn(*lines: str, task: str = TASK, information: str = "", **how) -> str:
    prompt = Prompts().of("react", "alfworld").fill(situation=SITUATION, task=task, information=information)
    turns = zip(lines[::2], lines[1::2], strict=True)
    return complete(prompt + "".join(f" {line}\n{answer}\n>" for line, answer in turns), **how)


def plan(agent: str, task: str = TASK, information: str = "", **how) -> list[str]:
    prompt = Prompts().of(agent, "alfworld").fill(situation=SITUATION, task=task, information=information)
    return complete(prompt, **how).splitlines()


def test_simulated__says_what_it_is_about_then_where_it_looks_then_looks():
    assert turn() == BEGIN
    assert turn(BEGIN, "OK.") == DESK
    assert turn(BEGIN, "OK.", DESK, "OK.") == "go to desk 1"
    at_desk = (BEGIN, "OK.", DESK, "OK.", "go to desk 1", "You arrive at desk 1. On the desk 1, you see a pen 1.")
    sink = "think: a mug may be in the sinkbasin, 5 in mind"
    assert turn(*at_desk) == sink
    mug = ("go to sinkbasin 1", "You arrive at sinkbasin 1. On the sinkbasin 1, you see a mug 3.")
    take = ("take mug 3 from sinkbasin 1", "You pick up the mug 3 from the sinkbasin 1.")
    assert turn(*at_desk, sink, "OK.", *mug) == take[0]
    assert turn(*at_desk, sink, "OK.", *mug, *take) == "go to fridge 1"


@pytest.mark.parametrize("span", [2, 3, 4, 9])
def test_simulated__fails_where_it_would_have_to_keep_too_much_in_mind(span: int):
    assert (turn(span=span) == BEGIN) is (span >= 3)
    search = turn(BEGIN, "OK.", span=span)
    if span < 4:
        assert search == f"task failed! 4 things to keep in mind, and I keep {span}: mug, fridge, cabinet, desk"
    else:
        assert search == DESK


def test_simulated__goes_on_from_what_it_is_told():
    assert turn(task="cool the mug with fridge 1", information=TAKEN).startswith("think: to cool the mug")
    put = turn("think: to put", "OK.", task="put the mug in cabinet 1", information=TAKEN)
    assert put == "go to cabinet 1"
    assert turn(task="find and take a mug", information=TAKEN) == "Task completed!"
    sentence = "put the mug in cabinet 1"
    done = turn("move mug 1 to cabinet 1", "You move the mug 1 to the cabinet 1.", task=sentence, information=TAKEN)
    assert done == "Task completed!"


def test_simulated__plans_one_level_down():
    assert plan("adapt") == [
        "Step 1: find and take a mug",
        "Step 2: cool the mug with fridge 1",
        "Step 3: put the mug in cabinet 2",
        "Execution Order: (Step 1 AND Step 2 AND Step 3)",
    ]
    assert plan("adapt", information=TAKEN)[0] == "Step 1: cool the mug with fridge 1"
    assert plan("adapt", task="put two mug in desk")[2] == "Step 3: find and take another mug"
    assert plan("adapt", span=2) == ["task failed! 3 things to keep in mind, and I keep 2: mug, fridge, cabinet"]


def test_simulated__plans_where_to_look():
    assert plan("adapt", task="find and take a mug") == [
        "Step 1: find and take a mug from desk",
        "Step 2: find and take a mug from sinkbasin",
        "Step 3: find and take a mug from microwave",
        "Step 4: find and take a mug from countertop",
        "Step 5: find and take a mug from fridge",
        "Step 6: find and take a mug from cabinet",
        "Execution Order: ((Step 1 OR Step 2 OR Step 3 OR Step 4 OR Step 5 OR Step 6))",
    ]
    assert plan("adapt", task="find and take a mug from cabinet")[:2] == [
        "Step 1: find and take a mug from cabinet 2",
        "Step 2: find and take a mug from cabinet 1",
    ]
    light = plan("adapt", task="look at the mug under the desklamp", information=TAKEN)
    assert light[0] == "Step 1: look at the mug under the desklamp at desk"


def test_simulated__plans_in_full_or_as_far_as_it_can_keep_in_mind():
    full = plan("plan_and_execute", span=4)
    assert full[5:8] == [
        "Step 6: find and take a mug from cabinet",
        "Step 7: cool the mug with fridge 1",
        "Step 8: put the mug in cabinet 2",
    ]
    assert full[-1].endswith("OR Step 6) AND Step 7 AND Step 8)")
    too_much = "task failed! 4 things to keep in mind, and I keep 3: mug, fridge, cabinet, a place"
    assert plan("plan_and_execute", span=3) == [too_much]
    assert plan("plan_and_execute", span=3, exempt_plan=True) == plan("adapt")
    undivided = ["Step 1: find and take a mug", "Execution Order: (Step 1)"]
    assert plan("adapt", task="find and take a mug", span=1) == undivided


def test_simulated__reflects_on_where_it_looked_and_looks_elsewhere_after():
    prompt = Prompts().of("reflexion", "alfworld")
    desk = f"> {BEGIN}\nOK.\n> {DESK}\nOK.\n> go to desk 1\nYou arrive at desk 1. On the desk 1, you see a pen 1."
    told = complete(prompt.fill(situation=SITUATION, task=TASK, information="", transcript=desk))
    assert told.startswith("I looked for the mug in desk and saw none. New plan:\nStep 1: find and take a mug\n")
    assert turn(BEGIN, "OK.", information=f"From an earlier trial: {told}").startswith(
        "think: a mug may be in the sink"
    )
    more = desk.replace("desk", "sinkbasin")
    again = complete(prompt.fill(situation=SITUATION, task=TASK, information=told, transcript=more))
    assert again.startswith("I looked for the mug in desk, sinkbasin and saw none.")
    found = f"{desk}\n> take mug 1 from cabinet 1\nYou pick up the mug 1 from the cabinet 1."
    told = complete(prompt.fill(situation=SITUATION, task=TASK, information="", transcript=found))
    assert told.startswith("I found the mug in cabinet 1. New plan:")
    assert turn(BEGIN, "OK.", information=told) == "think: a mug may be in the cabinet, 3 in mind"


def test_simulated__draws_where_to_look_only_where_it_is_asked_to():
    assert len({turn(BEGIN, "OK.", temperature=0.7, sample=sample) for sample in range(60)}) > 4
    assert len({turn(BEGIN, "OK.", sample=sample) for sample in range(9)}) == 1


PIECES = [
    *("\n\nYour task is to: ", TASK, "\n", "\n>", "\n> ", "You arrive at desk 1. On the desk 1, you see "),
    *("a mug 1.", "nothing.", "Nothing happens.", "The last action was: ", "Reflection:", "Plan in full:", BEGIN, DESK),
    *(
        "I looked for the mug in desk and saw none.",
        "find and take a mug from",
        "You pick up the mug 1 from the desk 1.",
    ),
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text()))
def test_simulated__answers_anything(pieces: list[str]):
    for start in ("", SITUATION, f"{SITUATION}\n\nYour task is to: {TASK}\n"):
        assert isinstance(complete(start + "".join(pieces), span=4), str)


def played(agent: str, span: int) -> list[Episode]:
    env = gym.make("ALFWorld-v0", split="valid_unseen", max_episode_steps=-1)
    jobs = [(task.id, 0) for task in env.get_wrapper_attr("tasks")[::3]]
    return list(run_episodes([env], make_agent(agent, profile=ALFWORLD), jobs, model=SimulatedModel(span)))


def wins(agent: str, span: int) -> int:
    return sum(bool(episode.won) for episode in played(agent, span))


def test_simulated__wins_what_a_patient_player_can_win():
    for agent in ("react", "adapt", "reflexion"):
        assert all(episode.won for episode in played(agent, 99)), agent
    # Its trials are of 20 actions, which is too few for one of the searches.
    assert sum(not episode.won for episode in played("try_again", 99)) == 1


def test_simulated__fails_where_it_must_look_far_and_adapt_recovers():
    react, adapt = wins("react", 4), wins("adapt", 4)
    assert react < wins("try_again", 4) < adapt
    assert react < wins("plan_and_execute", 4)
    assert wins("react", 3) < react
