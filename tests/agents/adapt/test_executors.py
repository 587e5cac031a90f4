"""The three published executors of ALFWorld: with examples of single skills, of whole tasks, and of both."""

from __future__ import annotations

import re

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.games import ALFWORLD, TEXTCRAFT
from textcraft_gym.agents.games.alfworld.household import Household, read_task
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.agents.registry import AGENTS, make_agent, takes
from textcraft_gym.envs.alfworld.reasons import read
from textcraft_gym.envs.alfworld.text import WORDINGS

FILES = {"atomic": "react/alfworld.txt", "task": "react/alfworld_task.txt", "both": "react/alfworld_both.txt"}
SKILLED = ("adapt", "plan_and_execute", "react", "reflexion", "try_again")
KINDS = ("", "clean", "heat", "cool", "lamp", "two")


def prompt(demonstrations: str, dialect: str | None = None) -> str:
    return Prompts(dialect=dialect).of("react", FILES[demonstrations].removeprefix("react/").removesuffix(".txt")).text


def examples(demonstrations: str, dialect: str | None = None) -> list[str]:
    """Return the examples, each from its room to the end of its turns."""
    shown = prompt(demonstrations, dialect).partition("\n\nNow it is your turn.")[0]
    return re.findall(r"^You are in the middle .+?Task completed!$", shown, re.DOTALL | re.MULTILINE)


def kind_of(example: str) -> str:
    """Return the kind of task of an example; its last turn must have done it, and none before."""
    room, _, rest = example.partition("\n\nYour task is to: ")
    head, *turns = rest.split("\n> ")
    sentence, _, known = head.partition("\n")
    household, task = Household(room), read_task(sentence)
    assert task
    if known:
        household.read(*known.removeprefix("The last action was: ").split("\n"))
    for turn in turns[:-1]:
        assert not household.done(task), turn
        command, _, answer = turn.partition("\n")
        if command.startswith("think: "):
            assert answer == "OK."
            continue
        form = read(command)
        assert form
        assert form[0] == "go" or all(name in answer for name in form[1].values())
        household.read(command, answer)
    assert household.done(task)
    return "two" if task.amount == 2 else "lamp" if task.lamp else task.treatment


@pytest.mark.parametrize("dialect", WORDINGS)
def test_demonstrations__of_whole_tasks_have_one_of_each_kind_and_do_it(dialect: str):
    assert sorted(map(kind_of, examples("task", dialect))) == sorted(KINDS)


@pytest.mark.parametrize("dialect", WORDINGS)
def test_demonstrations__of_single_skills_do_what_is_asked(dialect: str):
    assert [kind_of(example) for example in examples("atomic", dialect)] == ["", "heat"]


@pytest.mark.parametrize("dialect", WORDINGS)
def test_demonstrations__both_are_the_two_others(dialect: str):
    assert examples("both", dialect) == [*examples("atomic", dialect), *examples("task", dialect)]
    assert [len(examples(name, dialect)) for name in FILES] == [2, 6, 8]
    heads = {prompt(name, dialect).partition("\n\nHere are examples")[0] for name in FILES}
    tails = {prompt(name, dialect).rpartition("\n\nNow it is your turn.")[2] for name in FILES}
    assert len(heads) == len(tails) == 1


@pytest.mark.parametrize("demonstrations", FILES)
@pytest.mark.parametrize("name", SKILLED)
def test_agent__takes_one_of_three_executors(name: str, demonstrations: str):
    prompts = Prompts()
    agent = make_agent(name, profile=ALFWORLD, prompts=prompts, args={"demonstrations": demonstrations})
    assert FILES[demonstrations] in prompts.read
    assert not (set(FILES.values()) - {FILES[demonstrations]}) & set(prompts.read)
    model = ScriptedModel("task failed!")
    run_episode(
        gym.make("ALFWorld-v0"), agent, seed=0, model={"executor": model, "planner": ScriptedModel("Step 1: a")}
    )
    assert model.asked[0]["prompt"].startswith(prompt(demonstrations).partition("{situation}")[0])


def test_agent__has_the_executor_of_single_skills_by_default():
    for name in AGENTS:
        assert takes(name, "demonstrations") == (name in SKILLED)
        if name in SKILLED:
            prompts = Prompts()
            make_agent(name, profile=ALFWORLD, prompts=prompts)
            assert FILES["atomic"] in prompts.read


def test_agent__refuses_an_executor_that_there_is_not():
    with pytest.raises(ValueError, match="atomic, task or both, got 'gold'"):
        make_agent("react", profile=ALFWORLD, args={"demonstrations": "gold"})
    with pytest.raises(PromptError, match=r"no prompt react/textcraft_task\.txt"):
        ReActAgent(TEXTCRAFT, demonstrations="task")
