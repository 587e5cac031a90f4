"""The planners that DEPS is compared with."""

from __future__ import annotations

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel, play
from tests.doubles import Recorded
from textcraft_gym.agents.deps.code_as_policies import CodeAsPoliciesAgent, ProgPromptAgent
from textcraft_gym.agents.deps.deps import DEPAgent, DEPSAgent
from textcraft_gym.agents.deps.inner_monologue import InnerMonologueAgent
from textcraft_gym.agents.deps.replanner import REPLAN
from textcraft_gym.agents.deps.selector import FixedSelector, LearnedSelector
from textcraft_gym.agents.deps.zero_shot import ChainOfThoughtAgent, ZeroShotAgent
from textcraft_gym.agents.games import ALFWORLD, MINETECHTREE, TEXTCRAFT
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.episodes.schedule import run_episodes

GOALS = [
    "get({'oak logs': 2})",
    "craft({'oak planks': 8})",
    "get({'honeycomb': 3})",
    "craft({'beehive': 1})",
]
LOGS, PLANKS, COMB, HIVE = (
    "get('oak logs', 2)",
    "craft('oak planks', 8)",
    "get('honeycomb', 3)",
    "craft('beehive', 1)",
)
PLAN = "\n".join(GOALS)


def played_with(agent, *answers: str):
    planner = ScriptedModel(*answers)
    episode = play(agent, {"planner": planner, "executor": ScriptedModel()})
    return episode, planner.asked


@pytest.mark.parametrize("agent", [ZeroShotAgent(TEXTCRAFT), ChainOfThoughtAgent(TEXTCRAFT)])
def test_zero_shot__plans_once(agent):
    episode, questions = played_with(agent, f"# thoughts\n{PLAN}")
    assert (episode.won, len(questions)) == (True, 1)
    episode, questions = played_with(agent, GOALS[3], PLAN)
    assert (episode.won, episode.claimed_success, len(questions)) == (False, False, 1)


def test_zero_shot__plans_anew_when_told_what_failed():
    episode, questions = played_with(ZeroShotAgent(TEXTCRAFT, rounds=2), GOALS[3], PLAN)
    assert (episode.won, len(questions)) == (True, 2)
    message = questions[1]["prompt"][2].content
    assert message == (
        f'I failed on step 1 "{GOALS[3]}".\n'
        f"Inventory: You are not carrying anything.\n{REPLAN.format(task='craft beehive')}"
    )


def test_inner_monologue__is_told_of_each_goal():
    episode, questions = played_with(
        InnerMonologueAgent(TEXTCRAFT), GOALS[0], "fly", GOALS[3], *GOALS[1:]
    )
    assert episode.won
    assert [question["prompt"][-1].content for question in questions[1:4]] == [
        "Success: yes\nInventory: [oak logs] (2)\nNext goal:",
        "Success: I found no step in that.\nInventory: [oak logs] (2)\nNext goal:",
        "Success: no\nInventory: [oak logs] (2)\nNext goal:",
    ]


def test_feedback__says_why_where_it_is_asked_for():
    _, questions = played_with(ZeroShotAgent(TEXTCRAFT, rounds=1, feedback="reason"), GOALS[3])
    assert (
        f'step 1 "{GOALS[3]}": beehive takes 6 planks, 3 honeycomb.\n'
        in questions[1]["prompt"][2].content
    )
    _, questions = played_with(InnerMonologueAgent(TEXTCRAFT, feedback="reason"), GOALS[3])
    assert questions[1]["prompt"][-1].content.startswith(
        "Success: beehive takes 6 planks, 3 honeycomb.\n"
    )
    for agent in (ZeroShotAgent, InnerMonologueAgent):
        for unknown in ("why", "", 0):
            with pytest.raises(ValueError, match=f"unknown feedback {unknown!r}"):
                agent(TEXTCRAFT, feedback=unknown)


@pytest.mark.parametrize(
    "agent",
    [
        DEPSAgent,
        DEPAgent,
        ZeroShotAgent,
        ChainOfThoughtAgent,
        InnerMonologueAgent,
        CodeAsPoliciesAgent,
        ProgPromptAgent,
    ],
)
def test_sampling__is_the_papers_and_each_answer_another_sample(agent):
    _, questions = played_with(agent(TEXTCRAFT), *["fly"] * 3)
    assert {question["temperature"] for question in questions} == {0.7}
    assert len({question["sample"] for question in questions}) == len(questions)
    tokens = {100} if agent is InnerMonologueAgent else {1024}
    assert {question["max_tokens"] for question in questions} == tokens
    assert played_with(agent(TEXTCRAFT, temperature=0), "fly")[1][0]["temperature"] == 0
    for temperature in (-0.1, 2.1, True, "0.7"):
        with pytest.raises(ValueError, match="expected a temperature from 0 to 2"):
            agent(TEXTCRAFT, temperature=temperature)


def test_dep__is_deps_without_its_selector():
    assert type(DEPSAgent(MINETECHTREE).selector) is LearnedSelector
    assert (
        type(DEPSAgent(TEXTCRAFT).selector) is type(DEPSAgent(ALFWORLD).selector) is FixedSelector
    )
    assert type(DEPAgent(MINETECHTREE).selector) is FixedSelector
    assert DEPAgent(MINETECHTREE).rounds == DEPSAgent(MINETECHTREE).rounds == 12
    assert type(make_agent("dep", profile="minetechtree")) is DEPAgent


def test_planners__play_a_household_beside_deps():
    """All look where a thing is likeliest, and where it was not there look elsewhere, if they may
    plan again."""
    env = gym.make("ALFWorld-v0", split="valid_seen", admissible=True, max_episode_steps=-1)
    jobs = [(task.id, 0) for task in env.get_wrapper_attr("tasks")[::10]]

    def wins(name: str, **args: int) -> int:
        agent = make_agent(name, profile=ALFWORLD, args=args)
        return sum(
            bool(episode.won)
            for episode in run_episodes([env], agent, jobs, model=Recorded("planners_alfworld"))
        )

    once, deps = wins("zero_shot"), wins("deps")
    assert once < deps
    assert once < wins("inner_monologue")
    assert once < wins("zero_shot", rounds=12)


def test_inner_monologue__ends_when_the_model_says_so_or_its_goals_are_spent():
    episode, questions = played_with(InnerMonologueAgent(TEXTCRAFT), GOALS[0], "Done.")
    assert (episode.won, episode.claimed_success, len(questions)) == (False, True, 2)
    episode, questions = played_with(InnerMonologueAgent(TEXTCRAFT, goals=3), *GOALS[:1] * 9)
    assert (episode.claimed_success, len(questions)) == (False, 3)
    with pytest.raises(ValueError, match="goals of 1 or more"):
        InnerMonologueAgent(TEXTCRAFT, goals=0)


PROGRAMS = {
    "calls": f"{LOGS}\n{PLANKS}\n{COMB}\n{HIVE}",
    "questions": f"if count('planks') < 6:\n    {LOGS}\n    {PLANKS}\nwhile count('honeycomb') < 3: {COMB}\n{HIVE}",
    "functions": f"def need(x, n):\n    return get(x, n)\nneed('oak_logs', 2)\n{PLANKS}\nneed('honeycomb', 3)\n{HIVE}",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_code_as_policies__plays_what_its_program_calls(program: str):
    assert played_with(CodeAsPoliciesAgent(TEXTCRAFT), PROGRAMS[program])[0].won


def test_progprompt__does_what_a_check_asks_for():
    checks = f"assert count('oak planks') >= 6 else {PLANKS}\n    assert count('honeycomb') >= 3 else {COMB}"
    assert played_with(
        ProgPromptAgent(TEXTCRAFT), f"def plan():\n    {LOGS}\n    {checks}\n    {HIVE}"
    )[0].won


@pytest.mark.parametrize(
    "program",
    [
        "# nothing",
        "no program",
        "import os\nos.system('x')",
        "get()",
        "get(1, 2)",
        "get('a', 'b')",
        "while True: pass",
        HIVE,
    ],
)
def test_code_as_policies__fails_and_does_not_break(program: str):
    episode, _ = played_with(CodeAsPoliciesAgent(TEXTCRAFT), program)
    assert not episode.won
    assert episode.claimed_success in (True, False)


def test_planners__win_more_where_they_plan_anew():
    env = gym.make("TextCraft-v0", split="test", max_episode_steps=-1)
    jobs = [(task.id, 0) for task in env.get_wrapper_attr("tasks")[::16]]

    def wins(name: str, **args: int) -> int:
        agent = make_agent(name, profile=TEXTCRAFT, args=args)
        return sum(
            bool(episode.won)
            for episode in run_episodes([env], agent, jobs, model=Recorded("planners_textcraft"))
        )

    planned = wins("zero_shot")
    assert 0 < planned < wins("zero_shot", rounds=8)
    for name in ("chain_of_thought", "inner_monologue", "progprompt", "code_as_policies"):
        assert wins(name) >= planned, name
