"""The controller of the tabletop, and the player that repeats."""

from __future__ import annotations

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.baselines.repeater import RepeaterAgent
from textcraft_gym.agents.deps.deps import DEPAgent
from textcraft_gym.agents.deps.zero_shot import ZeroShotAgent
from textcraft_gym.agents.games import TABLETOP
from textcraft_gym.agents.games.tabletop.controller import Placing
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.testing import AgentContract

RED = "put the red blocks in a red bowl"


def lines(plan: str) -> list[str]:
    return [goal.line for goal in Placing(Prompts()).goals(plan)]


@pytest.mark.parametrize(
    "written",
    [
        f"1. {RED}",
        f"1) {RED}.",
        f"  12: {RED}",
        f"- {RED}",
        f"#3. {RED}",
        f"Step 4: P{RED[1:]}",
        f"{RED} # the first",
        RED,
    ],
)
def test_goals__are_read_from_lines_as_models_write_them(written: str):
    assert lines(f"Here is the plan:\n{written}\nThat is all.") == [RED]


def test_goals__are_of_every_form_and_nothing_else():
    plan = [
        "put the red block on the lightest brown block",
        "put the red block on the green and blue blocks",
        "move the red ring to the middle of the stand",
        "move the red ring to the darker brown side",
        "pack the letter E shape in the brown box",
        "put the red letter E shape in the top letter E shape hole",
    ]
    assert lines("\n".join(f"{number}. {goal}" for number, goal in enumerate(plan, 1))) == plan
    assert lines("1. fly\n2. put it there\ndone\n\n3.") == []


@given(st.text())
def test_goals__of_any_text_raise_nothing(text: str):
    lines(text)
    lines(f"1. {text}\n{RED}")


def play(agent, task: str, *plans: str, explained: str = "", **env_args):
    env = gym.make("Tabletop-v0", split="all", **env_args)
    models = {
        "planner": ScriptedModel(*plans),
        "explainer": ScriptedModel(*[explained] * 20),
        "executor": ScriptedModel(),
    }
    return run_episode(env, agent, task=task, seed=16, model=models)


PYRAMID = """1. put the blue block on the lightest brown block
2. put the yellow block on the middle brown block
3. put the purple block on the darkest brown block
4. put the pink block on the blue and yellow blocks
5. put the green block on the yellow and purple blocks
6. put the white block on the pink and green blocks"""


def test_placing__repeats_a_goal_that_was_missed_and_gives_up_one_that_is_impossible():
    """A block falls in this draw and takes another along, which a plan does not know."""
    episode = play(ZeroShotAgent(TABLETOP), "stack-block-pyramid/0", PYRAMID, reliability="cliport")
    said = [said for _, said in episode.transcript]
    assert any("It took the" in answer for answer in said)
    assert not episode.won
    assert episode.claimed_success is False
    missed = [number for number, answer in enumerate(said) if answer.startswith("Missed: ")]
    assert all(
        episode.transcript[number][0] == episode.transcript[number + 1][0] for number in missed
    )


def test_dep__is_told_what_is_on_the_table_and_mends_it():
    env = gym.make("Tabletop-v0", split="all", expert=True, reliability="cliport")
    first = play(ZeroShotAgent(TABLETOP), "stack-block-pyramid/0", PYRAMID, reliability="cliport")
    env.reset(seed=16, options={"task": "stack-block-pyramid/0"})
    for action, _ in first.transcript[1:]:
        info = env.step(action)[4]
    mended = "\n".join(f"{number}. {goal}" for number, goal in enumerate(info["expert_plan"], 1))
    agent = DEPAgent(TABLETOP)
    episode = play(
        agent, "stack-block-pyramid/0", PYRAMID, mended, reliability="cliport", explained="It fell."
    )
    assert episode.won
    assert episode.calls == {"planner": 2, "explainer": 1}


def test_repeater__goes_on_with_a_goal_until_the_goals_are_spent():
    env = gym.make("Tabletop-v0", split="all", expert=True, reliability="cliport")
    episode = run_episode(env, RepeaterAgent(), task="stack-block-pyramid/0", seed=16)
    assert (episode.won, episode.stop_reason, episode.steps) == (False, "truncated", 15)
    assert episode.transcript[-1][0] == episode.transcript[-2][0]
    env = gym.make("Tabletop-v0", split="all", expert=True)
    episode = run_episode(env, RepeaterAgent(), task="stack-block-pyramid/0", seed=16)
    assert (episode.won, episode.steps) == (True, 6)


class TestDEPContract(AgentContract):
    env_id = "Tabletop-v0"
    tasks = ("stack-block-pyramid/0", "packing-shapes/1", "put-block-in-bowl/2")

    def make_agent(self):
        return DEPAgent(TABLETOP)
