from __future__ import annotations

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel, play
from tests.doubles import Recorded
from textcraft_gym import run_episode
from textcraft_gym.agents.deps.deps import WHY, DEPSAgent
from textcraft_gym.agents.deps.goal_planner import MAX_DIALOGUE
from textcraft_gym.agents.deps.replanner import REPLAN
from textcraft_gym.agents.games import ALFWORLD, DEFAULT, TEXTCRAFT
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.episodes.schedule import run_episodes

GET = "get({'oak logs': 2}, null, null); # step 1"
PLANKS = "craft({'oak planks': 8}, {'oak logs': 2}, null); # step 2"
HIVE = "craft({'beehive': 1}, {'oak planks': 6, 'honeycomb': 3}, null); # step 3"
COMB = "get({'honeycomb': 3}, null, null);"


def test_deps__plans_executes_describes_explains_and_plans_anew():
    planner = ScriptedModel(f"{GET}\n{PLANKS}\n{HIVE}", f"{COMB}\n{HIVE}")
    explainer = ScriptedModel("I have no honeycomb.")
    episode = play(
        DEPSAgent(TEXTCRAFT),
        {"executor": ScriptedModel(), "planner": planner, "explainer": explainer},
    )
    assert (episode.won, episode.claimed_success) == (True, None)
    dialogue = planner.asked[1]["prompt"]
    assert [message.role for message in dialogue] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert dialogue[2].content == (
        f'I succeeded on step 1, 2. I failed on step 3 "{HIVE}".\nInventory: [oak planks] (8)\n{WHY}'
    )
    assert dialogue[3].content == "I have no honeycomb."
    assert dialogue[4].content == REPLAN.format(task="craft beehive")
    assert explainer.asked[0]["prompt"] == dialogue[:3]


def test_deps__passes_over_what_is_held_already():
    plan = f"{GET}\n{PLANKS}\n{GET}\n{PLANKS}\n{COMB}\n{HIVE}"
    episode = play(
        DEPSAgent(TEXTCRAFT, rounds=0),
        {"planner": ScriptedModel(plan), "executor": ScriptedModel()},
    )
    assert episode.won
    actions = [action for action, _ in episode.transcript if action != "inventory"]
    assert actions.count("craft 4 oak planks using 1 oak logs") == 2


@pytest.mark.parametrize(("rounds", "plans"), [(0, 1), (1, 2), (4, 5)])
def test_deps__plans_anew_as_often_as_it_may(rounds: int, plans: int):
    models = {
        "planner": ScriptedModel(*[HIVE] * 9),
        "explainer": ScriptedModel(*["Why?"] * 9),
        "executor": ScriptedModel(),
    }
    episode = play(DEPSAgent(TEXTCRAFT, rounds=rounds), models)
    assert (episode.won, episode.claimed_success) == (False, False)
    assert len(models["planner"].asked) == plans
    assert len(models["explainer"].asked) == plans - 1


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("I would get some logs.", "I found no step in that."),
        ("get('unobtainium')", "I failed on step 1 \"get('unobtainium')\".\n"),
        ("get({'honeycomb': 9999})\ncraft({'diamond': 1})", "I succeeded on step 1. I failed on step 2"),
    ],
)  # fmt: skip
def test_deps__says_what_was_wrong_with_a_plan(plan: str, said: str):
    models = {
        "planner": ScriptedModel(plan),
        "explainer": ScriptedModel(),
        "executor": ScriptedModel(),
    }
    play(DEPSAgent(TEXTCRAFT, rounds=1), models)
    assert models["explainer"].asked[0]["prompt"][2].content.startswith(said)


def test_deps__takes_a_name_for_the_known_one_that_is_most_like_it():
    plan = f"get({{'oak log': 2}})\ncraft({{'oak plank': 8}})\nget({{'honey_combs': 3}})\n{HIVE}"
    episode = play(
        DEPSAgent(TEXTCRAFT, rounds=0),
        {"planner": ScriptedModel(plan), "executor": ScriptedModel()},
    )
    assert episode.won


def test_deps__keeps_the_task_and_the_latest_of_a_long_dialogue():
    planner = ScriptedModel(*["x" * (MAX_DIALOGUE // 3)] * 9)
    play(
        DEPSAgent(TEXTCRAFT),
        {"planner": planner, "explainer": ScriptedModel(), "executor": ScriptedModel()},
    )
    first, last = planner.asked[0]["prompt"], planner.asked[-1]["prompt"]
    assert last[0] == first[0]
    assert last[-1].content == REPLAN.format(task="craft beehive")
    assert sum(len(message.content) for message in last[1:]) <= MAX_DIALOGUE
    assert [message.role for message in last] == ["user", *["assistant", "user"] * (len(last) // 2)]


def test_deps__chooses_commands_in_a_household():
    env = gym.make("ALFWorld-v0", admissible=True, expert=True, max_episode_steps=-1)
    task = "pick_heat_then_place_in_recep-Plate-None-Fridge-5/trial_00001_receptacles10_distractors2_hidden0"
    plan = "#1 pick a plate at countertop 1\n#2 heat the plate with microwave 1\n#3 put the plate in fridge 1"
    controller = Recorded("deps_controller")
    models = {"planner": ScriptedModel(plan), "controller": controller, "executor": ScriptedModel()}
    episode = run_episode(env, DEPSAgent(ALFWORLD, rounds=0), task=task, seed=0, model=models)
    assert episode.won
    refusing = {
        **models,
        "planner": ScriptedModel(plan),
        "controller": ScriptedModel("0"),
        "explainer": ScriptedModel(),
    }
    run_episode(env, DEPSAgent(ALFWORLD, rounds=1), task=task, seed=0, model=refusing)
    described = refusing["explainer"].asked[0]["prompt"][2].content
    assert described.startswith(
        'I failed on step 1 "pick a plate at countertop 1": No command serves.'
    )


@pytest.mark.parametrize("said", ["7777", "-1", "seven", "0.5", "Done", "1\n2", "\x00"])
def test_choosing__bears_whatever_a_model_says(said: str):
    env = gym.make("ALFWorld-v0", admissible=True, max_episode_steps=-1)
    models = {
        "planner": ScriptedModel("#1 pick a x at y"),
        "controller": ScriptedModel(*[said] * 40),
        "executor": ScriptedModel(),
    }
    assert run_episode(env, DEPSAgent(ALFWORLD, rounds=0), seed=0, model=models).error is None


def test_deps__wins_more_with_more_rounds():
    env = gym.make("TextCraft-v0", split="test", max_episode_steps=-1)
    jobs = [(task.id, 0) for task in env.get_wrapper_attr("tasks")[::8]]

    def wins(rounds: int) -> int:
        agent = make_agent("deps", profile=TEXTCRAFT, args={"rounds": rounds})
        model = Recorded("deps_rounds")
        return sum(bool(episode.won) for episode in run_episodes([env], agent, jobs, model=model))

    assert wins(0) < wins(3) < wins(8)


def test_deps__needs_a_controller_and_sensible_numbers():
    with pytest.raises(ValueError, match="no controller for the game default"):
        DEPSAgent(DEFAULT)
    with pytest.raises(ValueError, match="rounds of 0 or more"):
        DEPSAgent(TEXTCRAFT, rounds=-1)
    with pytest.raises(ValueError, match="selector to be one of fixed, random, nearest, learned"):
        DEPSAgent(TEXTCRAFT, selector="best")
