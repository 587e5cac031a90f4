"""The dialogues of ALFWorld are those that agents have there, and every claim in them holds."""

from __future__ import annotations

import random
import re
from itertools import islice

import households as data
import pytest
from dialogue import Branch, Example

from tests.agents.scripted import play
from tests.examples.dialogues import (
    branches,
    learns_only_the_players_lines,
    prompts,
    scripted,
    turns,
)
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.adapt.plan_and_execute import PlanAndExecuteAgent
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.adapt.reflexion import ReflexionAgent
from textcraft_gym.agents.adapt.step_plan import Plan, parse_plan
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.games import ALFWORLD
from textcraft_gym.agents.games.alfworld.household import kind, read_task
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import parse_id

EXAMPLE_COUNT = 250
TASK_COUNT = 40
EXECUTORS = ("goal", "sub-task", "search", "in vain", "interrupted", "next trial")
PLANNERS = ("plan", "full plan", "reflection")
SHORT = Prompts("short")
NOTHING = "Nothing happens."


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


@pytest.fixture(scope="module")
def tasks() -> list[str]:
    rng = random.Random(1)
    return [data.draw_task(rng) for _ in range(TASK_COUNT)]


def steps_of(plan: Plan | None) -> list[str]:
    assert plan
    return (
        [plan]
        if isinstance(plan, str)
        else [step for part in plan.parts for step in steps_of(part)]
    )


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 20)) == list(islice(data.examples(3), 20))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_kind_of_dialogue_and_are_short(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == {
        *EXECUTORS,
        *PLANNERS,
    }
    for example in examples:
        assert (
            len(example.situation) + sum(len(branch.text) for branch in example.branches)
            <= data.LONGEST
        )


def test_examples__what_is_learnt_are_the_players_lines_only(examples: list[Example]):
    for _, branch in branches(examples, *EXECUTORS, *PLANNERS):
        assert learns_only_the_players_lines(branch), branch.text


def test_tasks__are_of_the_split_train_and_none_is_a_goal_of_another_split_in_the_same_room(
    tasks: list[str],
):
    held_out = [
        parse_id(task) for split in ("valid_seen", "valid_unseen") for task in split_ids(split)
    ]
    goals, rooms = (
        {(spec.goal, spec.plan) for spec in held_out},
        {parse_id(t).plan for t in split_ids("valid_unseen")},
    )
    train = {(spec.goal, spec.plan, spec.trial) for spec in map(parse_id, split_ids("train"))}
    for spec in map(parse_id, tasks):
        assert (spec.goal, spec.plan, spec.trial) in train
        assert (spec.goal, spec.plan) not in goals
        assert spec.plan not in rooms


def test_goals__are_what_react_reads_and_says(tasks: list[str]):
    types = set()
    for task in tasks:
        situation = data.Situation(task)
        (goal,) = situation.goal(random.Random(task))
        if goal:
            model = scripted(goal)
            episode = play(ReActAgent(ALFWORLD, SHORT), {"executor": model}, task)
            assert [request["prompt"] for request in model.asked] == prompts(situation.text, goal)
            assert episode.won
            types.add(situation.game.goal.task_type)
    assert len(types) == 6


@pytest.mark.parametrize("interrupted", [False, True])
def test_steps__are_what_adapt_reads_and_says(tasks: list[str], interrupted: bool):
    """The attempt at the whole fails, at once or after a few actions; then its plan is carried
    out."""
    played = 0
    for task in tasks:
        situation, rng = data.Situation(task), random.Random(task)
        plan = situation.plan(situation.sentence)
        first = situation.broken_off(rng)
        attempt = (
            [line for line, _, _ in turns(Branch("", tuple(first.spans)))] if interrupted else []
        )
        steps = situation.steps(first.state if interrupted else situation.game.first, rng)
        if interrupted and first.won:
            continue
        planner, executor = scripted(plan), scripted(*attempt, "task failed!", *steps)
        models = {"executor": executor, "planner": planner}
        won = play(ADaPTAgent(ALFWORLD, SHORT), models, task).won
        if len(steps) < len(situation.stages()) and not won:  # one of them went on for too long
            continue
        assert won
        assert [request["prompt"] for request in planner.asked] == prompts(situation.text, plan)
        sent = [request["prompt"] for request in executor.asked[len(attempt) + 1 :]]
        assert sent == prompts(situation.text, *steps)
        played += 1
    assert played > TASK_COUNT / 2


def test_searches__are_what_the_executor_of_a_full_plan_reads_and_says(tasks: list[str]):
    """Places are searched one group after another, up to the one where the thing is."""
    searched = 0
    for task in tasks:
        situation = data.Situation(task)
        searches = list(filter(None, situation.all_searches(random.Random(task))))
        (plan,) = situation.full_plan(random.Random(task))
        if searches and turns(searches[-1])[-1][0].endswith("Task completed!"):
            executor, planner = scripted(*searches), scripted(plan)
            play(
                PlanAndExecuteAgent(ALFWORLD, SHORT),
                {"executor": executor, "planner": planner},
                task,
            )
            expected = prompts(situation.text, *searches)
            assert [request["prompt"] for request in planner.asked] == prompts(situation.text, plan)
            assert [request["prompt"] for request in executor.asked[: len(expected)]] == expected
            searched += len(searches)
    assert searched > TASK_COUNT / 2


def test_trials__are_what_reflexion_reads_and_says(tasks: list[str]):
    played = 0
    for task in tasks * 3:
        situation = data.Situation(task)
        rng = random.Random(f"{task}/{played}")
        made = {branch.kind: branch for branch in situation.another_trial(rng) if branch}
        if len(made) < 2:
            continue
        reflection, trial = made["reflection"], made["next trial"]
        if "From an earlier trial: " in reflection.text:
            continue  # there was another trial before it
        transcript = reflection.text.partition("What you did:\n")[2].partition("\n\nReflection:")[0]
        lines = re.findall(r"^> (.*)", transcript, re.MULTILINE)
        if "Task completed!" not in lines[-1] and "task failed!" not in lines[-1]:
            continue  # patience ends it, and not the player
        executor, reflector = scripted(*lines, trial), scripted(reflection)
        models = {"executor": executor, "reflection": reflector}
        episode = play(ReflexionAgent(ALFWORLD, SHORT, settings=Settings(d_max=2)), models, task)
        assert [request["prompt"] for request in reflector.asked] == prompts(
            situation.text, reflection
        )
        assert [request["prompt"] for request in executor.asked[len(lines) :]] == prompts(
            situation.text, trial
        )
        assert episode.won
        played += 1
    assert played > 10


def test_trials__search_where_no_earlier_one_has(tasks: list[str]):
    count = 0
    for task in tasks * 6:
        situation = data.Situation(task)
        for branch in situation.another_trial(random.Random(f"{task}/{count}")):
            if branch and branch.kind == "reflection" and "From an earlier trial: " in branch.text:
                memory, _ = branch.spans[0].text.split("What you did:")
                empty = re.search(r"I looked at (.*) and saw no", memory)[1].split(", ")
                search = re.search(r"Step 1: .* from (.*)", branch.spans[1].text)[1].split(", ")
                assert not {*empty} & {*search}, branch.text
                count += 1
    assert count > 5


def test_mistakes__are_not_learnt_and_are_recovered_from(examples: list[Example]):
    wrong = 0
    for _, branch in branches(examples, *EXECUTORS):
        said = turns(branch)
        for line, answer, learnt in said:
            assert not (learnt and answer == NOTHING), branch.text
            wrong += not learnt
            assert learnt or answer == NOTHING, line
        assert said[-1][2]
    assert wrong > 10


def test_searches__say_where_was_looked_and_what_is_left(examples: list[Example]):
    """The list is of the places seen so far; the next ones are others. After the first of two
    things it is said too."""
    lists = seconds = 0
    for _, branch in branches(examples, "goal"):
        seen: list[str] = []
        for line, answer, _ in turns(branch):
            if place := re.search(
                r"(?:On the|The) (\w+ \d+)(?:, you see| is open\. In it)", answer
            ):
                seen = list(dict.fromkeys([*seen, place[1]]))
            if looked := re.search(
                r"Looked: (.*?)\. (?:Next|I look for another \w+): (.*)\.", line
            ):
                said = [
                    f"{name} {number}"
                    for name, *numbers in map(str.split, looked[1].split(", "))
                    for number in numbers
                ]
                assert sorted(said) == sorted(seen), branch.text
                assert not {*said} & {*looked[2].split(", ")}, branch.text
                lists += 1
            if "I look for another" in line or ": 1 of 2 " in line:
                assert "think: 1 of 2 " in line
                assert "You move the" in branch.text.partition(line)[0]
                seconds += 1
    assert lists > 10
    assert seconds > 10


def test_claims__of_completion_are_of_what_was_done(examples: list[Example]):
    claimed = 0
    for _, branch in branches(examples, *EXECUTORS):
        if branch.text.endswith("Task completed!\n"):
            claimed += 1
            claim = turns(branch)[-1][0].removeprefix("think: ")
            answers = branch.text.rpartition("think: ")[0]
            thing = re.findall(r"\w+ \d+", claim)[0]
            proofs = {
                "hold": rf"You pick up the {thing} from|carrying: a {thing}\.",
                "is in": rf"You move the {thing} to the ",
                "is clean": rf"You clean the {thing} ",
                "is hot": rf"You heat the {thing} ",
                "is cool": rf"You cool the {thing} ",
                "under": "You turn on the ",
            }
            assert any(
                word in claim and re.search(proof, answers) for word, proof in proofs.items()
            ), branch.text
    assert claimed > EXAMPLE_COUNT / 3


def test_claims__of_failure_are_of_what_was_not_seen(examples: list[Example]):
    failed = 0
    for _, branch in branches(examples, "search", "in vain", "sub-task", "interrupted"):
        if branch.text.endswith("task failed!\n"):
            failed += 1
            missing = re.findall(r"I saw no (\w+) (?:there|anywhere)", branch.text)[0]
            things = re.findall(r"(\w+) \d+", " ".join(answer for _, answer, _ in turns(branch)))
            assert missing not in things, branch.text
    assert failed > 10


def test_plans__are_read_by_the_agents_in_steps_that_the_executor_knows(examples: list[Example]):
    for _, branch in branches(examples, *PLANNERS):
        for step in steps_of(parse_plan(branch.spans[1].text)):
            assert read_task(step), step


def test_plans__of_a_search_name_every_place_once(tasks: list[str]):
    for task in tasks:
        situation = data.Situation(task)
        steps = situation.alternatives(situation.stages()[0])
        named = [place for step in steps for place in read_task(step).places]
        assert len(named) == len(set(named))
        assert {kind(place) for place in named} == {kind(place) for place in situation.places}
        numbered = [place for place in named if " " in place]
        rest = [place for place in situation.places if kind(place) not in named]
        assert sorted(numbered) == sorted(rest)
