"""The dialogues of the tech tree are those that agents have there, and every claim in them
holds."""

from __future__ import annotations

import random
import re
from itertools import islice, pairwise

import gymnasium as gym
import minetechtree as data
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
from textcraft_gym.agents.adapt.step_plan import parse_plan
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.games.crafting import read_parts, read_recipe
from textcraft_gym.agents.games.minetechtree.knowledge import read_held, ways
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.minetechtree.moves import Refused, understand
from textcraft_gym.envs.minetechtree.tasks import all_tasks

EXAMPLE_COUNT = 250
EXECUTORS = ("goal", "next trial", "sub-task", "impossible")
PLANNERS = ("plan", "full plan", "reflection")
SHORT = Prompts("short")
TASKS = (
    "stick",
    "oak_door",
    "wooden_axe",
    "stone_pickaxe",
    "furnace",
    "torch",
    "white_bed",
    "leather_boots",
    "cooked_beef",
    "iron_boots",
    "furnace_minecart",
    "diamond",
)
"""Tasks of each group, some of which are held out."""
LONG = TASKS[8:]
"""Those of which a step of a plan may take more turns than ADaPT has for it."""


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


@pytest.fixture(params=TASKS)
def situation(request: pytest.FixtureRequest) -> data.Situation:
    """The situation of the episode that ``play`` begins."""
    env = gym.make("MineTechTree-v0", split="all").unwrapped
    env.reset(seed=0, options={"task": request.param})
    return data.Situation(env.task, env.game)


def goal_of(branch: Branch) -> str:
    return branch.text.split("Goal: ")[1].split(".\n")[0]


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


def test_goals__that_are_held_out_are_in_plans_one_level_down_alone(examples: list[Example]):
    held_out = {name.replace("_", " ") for name in data.held_out()}
    assert len(held_out) > 10
    assert data.held_out() < all_tasks("vanilla").keys()
    for _, branch in branches(examples, *EXECUTORS, "full plan", "reflection"):
        item = re.split(r" (?:using|with) ", re.sub(r"^\w+ (?:\d+ )?", "", goal_of(branch)))[0]
        assert item in ways()
        assert item not in held_out


def test_goals__are_what_react_reads_and_says(situation: data.Situation):
    for seed in range(6):
        (goal,) = situation.goal(random.Random(seed))
        if goal is None:
            continue
        model = scripted(goal)
        episode = play(ReActAgent(MINETECHTREE, SHORT), {"executor": model}, situation.task.id)
        assert [request["prompt"] for request in model.asked] == prompts(situation.text, goal)
        assert episode.won


@pytest.mark.parametrize("in_full", [False, True])
def test_steps__are_what_adapt_and_plan_and_execute_read_and_say(
    situation: data.Situation, in_full: bool
):
    worn = situation.game.aims[0].worn
    lines = (
        situation.full_steps() if in_full else situation.step_texts(situation.item, 1, worn=worn)
    )
    steps = situation.attempts(lines, random.Random(1))
    if None in steps and situation.task.id in LONG:
        return
    assert None not in steps
    if in_full:
        agent, failed = PlanAndExecuteAgent(MINETECHTREE, SHORT), []
        (plan,) = situation.full_plan(random.Random(1))
    else:
        agent, failed = ADaPTAgent(MINETECHTREE, SHORT), ["task failed!"]
        plan = situation.plan(situation.sentence, situation.item, 1, worn=worn)
    planner, executor = scripted(plan), scripted(*failed, *steps)
    episode = play(agent, {"executor": executor, "planner": planner}, situation.task.id)
    assert [request["prompt"] for request in planner.asked] == prompts(situation.text, plan)
    assert [request["prompt"] for request in executor.asked[len(failed) :]] == prompts(
        situation.text, *steps
    )
    assert episode.won


def test_mistakes__are_not_learnt(examples: list[Example]):
    wrong = question_count = 0
    for _, branch in branches(examples, *EXECUTORS):
        refused = [
            (learnt, line)
            for line, answer, learnt in turns(branch)
            if answer.startswith("Could not")
        ]
        questions = [line for learnt, line in refused if learnt]
        assert len(questions) <= (branch.kind in ("goal", "next trial")), branch.text
        assert all(goal_of(branch).removeprefix("obtain 1 ") in line for line in questions)
        question_count += len(questions)
        wrong += len(refused) - len(questions)
    assert wrong > 10
    assert question_count > 10


def test_recipes__that_are_remembered_wrongly_are_read_in_the_answer(examples: list[Example]):
    read = late = 0
    for _, branch in branches(examples, *EXECUTORS):
        spoken = turns(branch)
        for at, ((line, answer, _), (thought, _, learnt)) in enumerate(pairwise(spoken)):
            named = [read_parts(parts) for parts in re.findall(r" takes (\d[^;]+)", answer)]
            if named and "Could not craft" in answer and thought.startswith("think: ") and learnt:
                quoted = answer.partition(": ")[2]
                assert thought.startswith(f"think: So {quoted}. ") or len(quoted) > 120, thought
                own = thought.replace(f"So {quoted}. ", "")
                said = re.search(r"(?: using | takes )(\d[^.]+)", own)
                amounts = [sorted(part.amount for part in parts) for parts in named]
                assert sorted(part.amount for part in read_parts(said[1])) in amounts, branch.text
                read += " using " in own
                lines = [earlier for earlier, _, _ in spoken[:at]]
                if line in lines:  # the same one, after what it was taken to need was got
                    late += "mine " in " ".join(lines[lines.index(line) :])
        for thought, _, _ in spoken:
            if said := re.match(
                r"think: So (\d+ .+?) takes [^.]+\. (?!It takes)(\d+ .+?):", thought
            ):
                assert said[1].split(" ", 1)[1] == said[2].split(" ", 1)[1], branch.text
    assert read > 10
    assert late > 3


def test_claims__of_completion_are_of_what_is_held(examples: list[Example]):
    claimed = 0
    for _, branch in branches(examples, "sub-task"):
        if not branch.text.endswith("Task completed!\n") or "I wear" in branch.text:
            continue
        claimed += 1
        held = read_held(branch.spans[0].text) if "Inventory: " in branch.spans[0].text else {}
        for line, answer, _ in turns(branch):
            if answer.startswith(("Mined", "Hunted", "Crafted", "Smelted")):
                for item, count in [
                    (want.item, want.amount) for want in read_parts(answer.split(" ", 1)[1])
                ]:
                    held[item] = held.get(item, 0) + count
                recipe = read_recipe(line)
                for part in recipe.parts if recipe else ():
                    held[part.item] = held.get(part.item, 0) - part.amount
                    assert held[part.item] >= 0, branch.text
        wanted = read_recipe(goal_of(branch)).makes
        assert held.get(wanted.item, 0) >= wanted.amount, branch.text
    assert claimed > EXAMPLE_COUNT / 4


def test_claims__of_failure_are_of_trees_that_are_not_in_view(examples: list[Example]):
    for example, branch in branches(examples, "impossible"):
        (trees,) = re.findall(r"There are no (.+) trees here\. task failed!", branch.text)
        assert not re.search(rf"(?:: |, ){trees} trees", example.situation)


def test_plans__begin_with_the_amount_that_is_asked_for(examples: list[Example]):
    using = 0
    for _, branch in branches(examples, "plan"):
        amount = re.match(r"\w+ (\d+) ", goal_of(branch))
        assert branch.spans[1].text.strip().startswith(f"# {amount[1] if amount else 1} "), (
            branch.text
        )
        using += " using " in goal_of(branch)
    assert using > 5


def test_plans__are_read_by_the_agents_and_end_in_an_action_of_the_game(examples: list[Example]):
    for _, branch in branches(examples, *PLANNERS):
        plan = parse_plan(branch.spans[1].text)
        steps = [plan] if isinstance(plan, str) else list(plan.parts)
        assert not isinstance(understand(steps[-1]), Refused)
        for step in steps:
            recipe = read_recipe(step)
            assert step.startswith("equip ") or recipe.makes.item in ways(), step
