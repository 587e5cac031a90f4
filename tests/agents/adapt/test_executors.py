"""The three published executors of ALFWorld, whose examples are played: hybrid, of single skills,
of whole tasks."""

from __future__ import annotations

import re

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.adapt.step_plan import Group, parse_plan
from textcraft_gym.agents.games import ALFWORLD, TEXTCRAFT
from textcraft_gym.agents.games.alfworld.household import Household, HouseholdTask, kind, read_task
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.agents.registry import AGENTS, make_agent, takes
from textcraft_gym.envs.alfworld.facts import CONTENTS, OPENABLE, OTYPES, PROPERTIES, RTYPES
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, Goal, Problem
from textcraft_gym.envs.alfworld.rules import apply
from textcraft_gym.envs.alfworld.text import WORDINGS, Dialect

FILES = {
    "hybrid": "react/alfworld.txt",
    "atomic": "react/alfworld_atomic.txt",
    "task": "react/alfworld_task.txt",
}
SKILLED = ("adapt", "plan_and_execute", "react", "reflexion", "try_again")
KINDS = ("", "clean", "heat", "cool", "lamp", "two")
NAMED = re.compile(r"\ba (\w+ \d+)")


def prompt(demonstrations: str, dialect: Dialect | None = None) -> str:
    return (
        Prompts(dialect=dialect)
        .of("react", FILES[demonstrations].removeprefix("react/").removesuffix(".txt"))
        .text
    )


def examples(demonstrations: str, dialect: Dialect | None = None) -> list[str]:
    """Return the examples, each from its room to the end of its turns."""
    shown = prompt(demonstrations, dialect).partition("\n\nNow it is your turn.")[0]
    return re.findall(
        r"^You are in the middle .+?Task completed!$", shown, re.DOTALL | re.MULTILINE
    )


def play_example(example: str, dialect: Dialect) -> str:
    """Play an example in a household like that of its room, and return the kind of its task, which its last turn does.

    Every command must be answered as in the example, and the task be done at the end and no sooner.
    """
    room, _, rest = example.partition("\n\nYour task is to: ")
    head, *turns = rest.split("\n> ")
    sentence, _, known = head.partition("\n")
    household, task = Household(room), read_task(sentence)
    assert task
    spots = {
        place: int(spot)
        for place, spot in re.findall(r"> go to (.+)\nYou arrive at loc (\d+)", example)
    }
    game = Game(household_of(example, task, spots), dialect)
    state = game.first
    if known:
        before, answer = known.removeprefix("The last action was: ").split("\n")
        turns = [f"go to {before.rpartition(' from ')[2]}", f"{before}\n{answer}", *turns]
    for turn in turns[:-1]:
        assert not household.done(task), turn
        command, _, answer = turn.partition("\n")
        if command.startswith("think: "):
            assert answer == "OK."
            continue
        state, played, *_ = apply(game, state, command)
        assert played == (answer or played)  # where the last action took place, nothing is shown
        household.read(command, played)
    assert household.done(task)
    assert state.won == (task.target != "" or task.lamp != "")
    return "two" if task.amount == 2 else "lamp" if task.lamp else task.treatment


def household_of(example: str, task: HouseholdTask, spots: dict[str, int]) -> Problem:
    """Return a household with the receptacles of an example's room, and in each what it shows there
    first."""
    places = NAMED.findall(example.partition("\n")[0])
    contents: dict[str, list[str]] = {}
    for place, things in re.findall(
        r"(?:On the|The) (\w+ \d+)(?: is open. In it)?, you see (.+)\.", example
    ):
        contents.setdefault(place, NAMED.findall(things))
    contents |= {place: [] for place in places if place not in contents}
    for thing, place in re.findall(r"The last action was: take (.+) from (.+)", example):
        contents[place].append(thing)
    free = iter(sorted({*range(1, 9)} - {*spots.values()}))
    facts: list[tuple[str, ...]] = [("atLocation", "agent", "door")]
    for place, inside in contents.items():
        spot = f"loc_bar_{99 - (spots.get(place) or next(free))}"
        facts += [
            ("receptacleType", id_of(place), type_of(place)),
            ("receptacleAtLocation", id_of(place), spot),
        ]
        facts += (
            [("openable", id_of(place))] if type_of(place).removesuffix("Type") in OPENABLE else []
        )
        facts += [("inReceptacle", id_of(thing), id_of(place)) for thing in inside]
        facts += [("objectAtLocation", id_of(thing), spot) for thing in inside]
        fitting = CONTENTS[type_of(place).removesuffix("Type")]
        facts += [("canContain", type_of(place), f"{otype}Type") for otype in fitting]
    shown = {thing for inside in contents.values() for thing in inside}
    # A number says how many there are: those below it are elsewhere.
    for thing in {
        f"{kind(name)} {number}" for name in shown for number in range(1, int(name.split()[1]) + 1)
    }:
        facts += [("objectType", id_of(thing), type_of(thing)), ("pickupable", id_of(thing))]
        otype = type_of(thing).removesuffix("Type")
        facts += [(able, id_of(thing)) for able, otypes in PROPERTIES.items() if otype in otypes]
    facts += [("isOn", f"loc_bar_{99 - spot}") for spot in range(1, 9)]  # names count every id
    return Problem({}, tuple(facts), goal_of(task), task.thing)


def id_of(name: str) -> str:
    """Return an id of a name: lists are in the order of the ids, the highest number of a kind
    first."""
    head = kind(name).removesuffix("basin")
    return f"{head}_bar_{99 - int(name.split()[1])}{'_basin' * (head != kind(name))}"


def type_of(name: str) -> str:
    (type_name,) = {
        known for known in (*RTYPES, *OTYPES) if known.removesuffix("Type").lower() == kind(name)
    }
    return f"{type_name.removesuffix('Type')}Type"


def goal_of(task: HouseholdTask) -> Goal:
    if not (task.target or task.lamp):
        return Goal(TASK_TYPES[0], "NoType", "NoType")
    form = task.treatment or ("look" if task.lamp else "two" if task.amount == 2 else "simple")
    (task_type,) = [task_type for task_type in TASK_TYPES if form in task_type]
    return Goal(task_type, type_of(task.thing), type_of(task.lamp or task.target))


@pytest.mark.parametrize("dialect", WORDINGS)
def test_demonstrations__of_whole_tasks_have_one_of_each_kind_and_do_it(dialect: Dialect):
    assert sorted(
        play_example(example, dialect) for example in examples("task", dialect)
    ) == sorted(KINDS)


@pytest.mark.parametrize("dialect", WORDINGS)
def test_demonstrations__of_single_skills_are_the_papers_six_and_do_what_is_asked(dialect: Dialect):
    shown = examples("atomic", dialect)
    assert [re.findall(r"\n> (\w+) [^\n]+", example)[-1] for example in shown] == [
        *("take", WORDINGS[dialect].put.split()[0], "clean", "heat", "cool", "use")
    ]
    assert [play_example(example, dialect) for example in shown] == [
        "",
        "",
        "clean",
        "heat",
        "cool",
        "lamp",
    ]
    assert not any("find" in example for example in shown)


@pytest.mark.parametrize("dialect", WORDINGS)
def test_demonstrations__of_the_hybrid_are_the_single_skills_and_the_whole_tasks_heat_and_look(
    dialect: Dialect,
):
    whole = {play_example(example, dialect): example for example in examples("task", dialect)}
    assert examples("hybrid", dialect) == [
        *examples("atomic", dialect),
        whole["heat"],
        whole["lamp"],
    ]
    heads = {prompt(name, dialect).partition("\n\nHere are examples")[0] for name in FILES}
    tails = {prompt(name, dialect).rpartition("\n\nNow it is your turn.")[2] for name in FILES}
    assert len(heads) == len(tails) == 1


@pytest.mark.parametrize("demonstrations", FILES)
@pytest.mark.parametrize("name", SKILLED)
def test_agent__takes_one_of_three_executors(name: str, demonstrations: str):
    prompts = Prompts()
    agent = make_agent(
        name, profile=ALFWORLD, prompts=prompts, args={"demonstrations": demonstrations}
    )
    assert FILES[demonstrations] in prompts.read
    assert not (set(FILES.values()) - {FILES[demonstrations]}) & set(prompts.read)
    model = ScriptedModel("task failed!")
    run_episode(
        gym.make("ALFWorld-v0"),
        agent,
        seed=0,
        model={"executor": model, "planner": ScriptedModel("Step 1: a")},
    )
    assert model.asked[0]["prompt"].startswith(prompt(demonstrations).partition("{situation}")[0])


def test_agent__has_the_hybrid_executor_by_default():
    for name in AGENTS:
        assert takes(name, "demonstrations") == (name in SKILLED)
        if name in SKILLED:
            prompts = Prompts()
            make_agent(name, profile=ALFWORLD, prompts=prompts)
            assert FILES["hybrid"] in prompts.read


def test_agent__refuses_an_executor_that_there_is_not():
    with pytest.raises(ValueError, match="hybrid, atomic or task, got 'gold'"):
        make_agent("react", profile=ALFWORLD, args={"demonstrations": "gold"})
    with pytest.raises(PromptError, match=r"no prompt react/textcraft_task\.txt"):
        ReActAgent(TEXTCRAFT, demonstrations="task")


def test_plans__of_the_examples_do_the_task_in_the_room():
    shown = Prompts().of("adapt", "alfworld").text.partition("\n\nNow it is your turn.")[0]
    kinds = []
    for room, sentence, written in re.findall(
        r"^(You are in .+)\n\nYour task is to: (.+)\nPlan, one level down:\n((?:.+\n?)+)",
        shown,
        re.MULTILINE,
    ):
        task, plan = read_task(sentence), parse_plan(written)
        assert task
        assert isinstance(plan, Group)
        steps = [read_task(str(step)) for step in plan.parts]
        named = [place for step in steps if step for place in (*step.places, step.target) if place]
        assert set(named) <= set(NAMED.findall(room))
        if plan.logic == "any":
            assert steps == [HouseholdTask(task.thing, places=(place,)) for place in named]
        search = HouseholdTask(task.thing)
        treated = [search._replace(treatment=task.treatment)] if task.treatment else []
        lit = [search._replace(lamp=task.lamp)] if task.lamp else []
        put = [search._replace(target=named[-1])] if task.target else []
        if plan.logic == "all":
            assert steps == [search, *treated, *lit, *put] * task.amount
            assert not task.target or kind(named[-1]) == task.target
        kinds.append(
            "two" if task.amount == 2 else "lamp" if task.lamp else task.treatment or plan.logic
        )
    assert sorted(kinds) == ["all", "any", "clean", "cool", "heat", "lamp"], "none of two things"
