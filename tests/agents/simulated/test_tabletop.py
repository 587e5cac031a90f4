"""The simulated model at a table: from the words alone."""

from __future__ import annotations

import gymnasium as gym
import pytest

from textcraft_gym import make_agent, run_episode, tasks
from textcraft_gym.agents.games import TABLETOP
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.agents.simulated.tabletop import CHANGED, NOTHING, UNLUCKY, Table, names

PAPER = tasks("Tabletop-v0", "paper")
PYRAMID = """There is a stand of a lightest brown, a middle brown and a darkest brown block.
There are 4 blocks of pink, green, white, red on the table.
The blue block is on the lightest brown block.
The cyan block is on the middle brown block.
Goals left: 12."""


def play(agent: str, task: str, seed: int = 0, reliability: str = "oracle", **model):
    env = gym.make("Tabletop-v0", split="all", reliability=reliability)
    return run_episode(
        env, make_agent(agent, profile="tabletop"), task=task, seed=seed, model=SimulatedModel(**model), max_steps=100
    )


def asked(agent: str, situation: str, task: str) -> str:
    return Prompts().of(agent, "tabletop").fill(situation=situation, task=task, information="")


def complete(prompt: str, **options) -> str:
    return SimulatedModel(**options).complete(prompt, stop=(), max_tokens=600, temperature=0.0, sample=0).text


@pytest.mark.parametrize(
    "agent", ["zero_shot", "dep", "inner_monologue", "react", "adapt", "plan_and_execute", "reflexion", "autoplan"]
)
def test_model__solves_every_table_without_misses(agent: str):
    for task in PAPER:
        episode = play(agent, task.id)
        assert episode.won, task.id
        goals = [action for action, _ in episode.transcript if action not in (None, "look")]
        assert len(goals) == task.optimal_length


def test_model__plans_from_the_table_in_the_prompt():
    prompt = asked("deps", PYRAMID, "stack the blocks into a pyramid")
    assert complete(prompt).split("\n") == [
        "1. put the pink block on the darkest brown block",
        "2. put the green block on the blue and cyan blocks",
        "3. put the white block on the cyan and pink blocks",
        "4. put the red block on the green and white blocks",
    ]
    assert complete(asked("inner_monologue", PYRAMID, "stack the blocks into a pyramid")) == (
        "1. put the pink block on the darkest brown block"
    )


def test_table__is_read_with_what_was_answered_since():
    goal = "put the pink block on the darkest brown block"
    table = Table(f"{PYRAMID}\n> {goal}\nDone: the pink block is on the darkest brown block.")
    assert goal not in list(table.goals())
    fallen = "Missed: the green block is on the table. It took the blue block with it."
    goals = list(Table(f"{PYRAMID}\n> x\n{fallen}").goals())
    assert goals[0] == "put the pink block on the lightest brown block"
    assert sum("put the blue block" in goal for goal in goals) == 1


def test_dep__stacks_again_what_fell_and_zero_shot_does_not():
    won = {
        agent: [play(agent, "stack-block-pyramid/0", seed, "cliport").won for seed in range(30)]
        for agent in ("dep", "zero_shot")
    }
    assert all(won["dep"])
    assert not all(won["zero_shot"])


def test_misjudgement__ends_a_monologue_early_and_takes_a_fall_for_bad_luck():
    episode = play("inner_monologue", "towers-of-hanoi/0", misjudge=1.0)
    assert (episode.won, episode.claimed_success) == (False, True)
    assert [action for action, _ in episode.transcript if action != "look"][1:] != []
    seed = next(seed for seed in range(30) if not play("zero_shot", "stack-block-pyramid/0", seed, "cliport").won)
    episode = play("dep", "stack-block-pyramid/0", seed, "cliport", misjudge=1.0)
    assert not episode.won
    assert UNLUCKY in str(episode.trace)
    assert CHANGED in str(play("dep", "stack-block-pyramid/0", seed, "cliport").trace)


def test_slip__is_another_colour_or_place_of_the_table():
    prompt = asked("deps", PYRAMID, "stack the blocks into a pyramid")
    plan, slipped = complete(prompt).split("\n"), complete(prompt, slip=1.0).split("\n")
    assert [one.split(". ")[0] for one in slipped] == ["1", "2", "3", "4"]
    assert not set(plan) & set(slipped)
    words = {word for group in names(prompt, "") for word in group}
    assert {"pink", "green", "white", "red", "blue", "cyan", "darkest"} <= words


def test_spoilt__things_are_given_up():
    seed = next(
        seed
        for seed in range(30)
        if "floor" in play("zero_shot", "packing-shapes/0", seed, "cliport").transcript[-1][1]
    )
    for agent in ("react", "dep"):
        episode = play(agent, "packing-shapes/0", seed, "cliport")
        assert (episode.won, episode.claimed_success) == (False, False)
    assert NOTHING in str(episode.trace)


def test_span__of_two_holds_no_block_with_the_two_beneath():
    prompt = asked("deps", PYRAMID, "stack the blocks into a pyramid")
    assert complete(prompt, span=2).startswith("task failed! 3 things to keep in mind")
    assert complete(prompt, span=3).startswith("1. put")


def test_profile__reports_the_table():
    assert TABLETOP.max_steps == 100
