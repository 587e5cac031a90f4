"""The planners of goals win in the tech tree with what their teacher says, which follows from what
they hold."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice, pairwise
from types import SimpleNamespace

import gymnasium as gym
import pytest
import recorded
import techplans as data
from bill import bill, links, wood_of
from dialogue import Example
from minetechtree import held_out

from tests.examples.dialogues import branches, learns_only_the_players_lines
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.games.crafting import Want
from textcraft_gym.agents.games.minetechtree.knowledge import ways
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.envs.minetechtree.tasks import SEVERAL, split_tasks
from textcraft_gym.goals import parse_goals
from textcraft_gym.task import task_hash

EXAMPLE_COUNT = 250
ENV = "MineTechTree-v0"
KINDS = {f"{agent} planner" for agent in data.AGENTS} | {"deps explainer"}


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


def played(
    agent: str,
    task: str,
    rng: random.Random | None = None,
    errors: int = 1,
    **env_args: object,
) -> recorded.Record:
    env = gym.make(ENV, split="all", **env_args)
    player = make_agent(agent, profile=MINETECHTREE, prompts=Prompts("short"))
    planner = data.Planner(env.unwrapped, agent, rng, errors)
    return recorded.record(env, player, task, planner, data.ROLES)


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 10)) == list(islice(data.examples(3), 10))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_kind_of_dialogue_and_learn_the_last_answer(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == KINDS
    for _, branch in branches(examples, *KINDS):
        assert learns_only_the_players_lines(branch), branch.text
        assert branch.end


@pytest.mark.parametrize("agent", [*data.AGENTS, "dep"])
def test_agents__win_every_task_with_the_teacher(agent: str):
    for task in split_tasks("core71", "vanilla"):
        record = played(agent, task.id)
        assert record.episode.won, task.id
        assert agent == "inner_monologue" or len(record.exchanges) == 1
        for exchange in record.exchanges:
            assert exchange.prompt.startswith("You are in the ")


@pytest.mark.parametrize("agent", ["deps", "chain_of_thought"])
def test_plans__of_what_is_worn_begin_and_end_with_it(agent: str):
    for item in ("shield", "iron_boots"):
        (exchange,) = played(agent, item).exchanges
        first, *_, last = exchange.said.text.strip().splitlines()
        name = item.replace("_", " ")
        assert first.removeprefix("# ") == f"{name}: equip it in the end."
        assert last == f"equip({{'{name}': 1}}, {{'{name}': 1}});"


def test_deps__mends_every_plan_that_forgets_something():
    mended = 0
    for task in split_tasks("core71", "vanilla"):
        record = played("deps", task.id, random.Random(task.id))
        assert record.episode.won, task.id
        assert [exchange.said.learnt for exchange in record.exchanges[1:]] == [True] * (
            len(record.exchanges) - 1
        )
        assert not record.exchanges[0].said.learnt or len(record.exchanges) == 1
        mended += len(record.exchanges) == 3
    assert mended > 40  # others have what was forgotten all the same


def test_deps__explains_a_failure_by_what_was_forgotten():
    wants = [Want("stone pickaxe", 1)]
    for link in links(bill(wants, {})):
        record = played(
            "deps", "stone_pickaxe", SimpleNamespace(choice=lambda choices, link=link: link)
        )
        if len(record.exchanges) > 1:  # where what was forgotten is held all the same nothing fails
            explanation = record.exchanges[1].said.text
            assert re.search(rf"I lacked .*\d {link.part}", explanation), (link, explanation)


def test_deps__explains_by_the_inventory_a_plan_that_takes_what_it_forgot_for_held():
    believed = 0
    for task in split_tasks("core71", "vanilla"):
        record = played("deps", task.id, random.Random(task.id), errors=3)
        assert record.episode.won, task.id
        for lacking, plan in pairwise(exchange.said for exchange in record.exchanges):
            if "I lacked " not in lacking.text:
                continue
            assert lacking.learnt
            assert "missed" not in lacking.text
            for part in re.findall(r"([a-z]+[a-z ]*) 0 of", lacking.text):
                if re.search(rf"^# {part}: .*held: enough", plan.text, re.MULTILINE):
                    assert not plan.learnt
                    believed += 1
    assert believed > 40


def test_deps__says_of_what_fails_twice_more_often_that_a_part_lacks_than_that_it_was_missed():
    rng, again = random.Random(0), Counter[bool]()
    for _ in range(150):
        for branch in data.dialogues(data.drawn(rng), "deps", rng):
            before = re.findall(r"I lacked .+", "".join(span.text for span in branch.spans[:-1]))
            if before and before[-1] in branch.spans[-1].text:
                again["it was missed" in before[-1]] += 1
    assert again[False] > again[True] > 0


def test_deps__takes_a_miss_for_one():
    record = played("deps", "oak_door", reliability=0.6)
    said = [exchange.said.text for exchange in record.exchanges if exchange.role == "explainer"]
    assert said
    assert all(text.endswith("I lacked nothing: it was missed.") for text in said)


def test_explanations__name_what_the_inventory_lacks(examples: list[Example]):
    lacked = 0
    for _, branch in branches(examples, "deps explainer"):
        prompt, said = branch.spans[0].text, branch.spans[1].text
        inventory = re.findall(r"^Inventory: (.+)$", prompt, re.MULTILINE)[-1]
        held = {name: int(count) for count, name in re.findall(r"(\d+) ([a-z ]+)", inventory)}
        for name, count, needed in re.findall(
            r"([a-z ]+) (\d+) of (\d+)", said.partition("Held: ")[2]
        ):
            name = name.strip()
            kind = name in ("log", "planks")
            amount = sum(
                number
                for item, number in held.items()
                if item == name or (kind and item.endswith(f" {name}"))
            )
            assert amount == int(count) or "pickaxe" in name, branch.text
            lacking = re.findall(rf"(\d+) {name}\b", said.partition("I lacked ")[2])
            assert lacking == [str(int(needed) - amount)] * (int(count) < int(needed)), said
            lacked += bool(lacking)
    assert lacked > 10


@pytest.mark.parametrize("missing", [0, 1])
def test_last_steps__take_one_goal_or_two(missing: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(data, "PART_MISSING", missing)
    rng = random.Random(0)
    counts: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
    for item in sorted({*ways()} - {"log", "planks"}):
        situation = data.last_steps(item, 0, rng)
        goals = steps([Want(item, 1)], situation.given)
        counts[item.replace(" ", "_") in held_out()][goals] += 1
    assert counts[False].keys() <= {1, 1 + missing}
    assert counts[True] == {1 + missing: len(held_out())}


def test_bill__names_each_thing_once_and_after_all_that_take_it():
    for task in split_tasks("all", "vanilla"):
        lines = bill([Want(task.id.replace("_", " "), 1)], {})
        names = [line.item for line in lines]
        assert len(set(names)) == len(names)
        for at, line in enumerate(lines):
            assert not set(line.recipe.things[1:]) & set(names[: at + 1]), task.id


def test_bill__takes_what_is_held_off():
    held = {"oak planks": 3, "birch planks": 2, "crafting table": 1}
    lines = bill([Want("chest", 1)], held)
    assert list(map(str, lines)) == [
        "chest: 1, 0 held, so 1 more. craft 1 chest using 8 planks with crafting table.",
        "crafting table: 1, 1 held: enough.",
        "planks: 8, 5 held, so 3 more. craft 4 planks using 1 log.",
        "log: 1, 0 held, so 1 more. mine.",
    ]


def test_goals__that_are_held_out_are_in_plans_of_their_last_steps_alone(examples: list[Example]):
    names = {name.replace("_", " ") for name in held_out()}
    lines: Counter[int] = Counter()
    for _, branch in branches(examples, "deps planner"):
        (task,) = re.findall(
            r"^Goal: obtain (.+)\.$", branch.text.partition("plan as goals:")[0], re.MULTILINE
        )
        wanted = {want.partition(" ")[2] for want in task.split(", ")}
        goals = [goal for goal in parse_goals(branch.spans[-1].text) if goal.verb != "equip"]
        assert len(wanted) == 1 or not wanted & names
        if wanted <= names:
            assert goals[-1].name in wanted
            lines[len(goals)] += 1
    assert lines.keys() == {1, 2}
    assert min(lines.values()) > 2
    # From nothing none of them is had in as few.
    assert min(steps([Want(name, 1)], {}) for name in names) > 2


def test_goals__of_several_are_none_of_those_that_are_measured():
    measured = {task_hash(ENV, task) for split in SEVERAL for task in split_tasks(split, "vanilla")}
    contents = {
        frozenset(task.content.split("; "))
        for split in SEVERAL
        for task in split_tasks(split, "vanilla")
    }
    held = {task_hash(ENV, task) for task in split_tasks("all", "vanilla") if task.id in held_out()}
    rng = random.Random(0)
    drawn = [
        situation.task
        for situation in (data.drawn(rng) for _ in range(600))
        if not takes_two_steps_at_most(situation)
    ]
    assert sum(len(task.aims) > 1 for task in drawn) > 50
    assert not {task_hash(ENV, task) for task in drawn} & (measured | held)
    assert (
        not {frozenset(task.content.split("; ")) for task in drawn if len(task.aims) > 1} & contents
    )


def takes_two_steps_at_most(situation: data.Situation) -> bool:
    wants = [
        Want(aim.item.removeprefix("minecraft:").replace("_", " "), 1)
        for aim in situation.task.aims
    ]
    return steps(wants, situation.given) <= 2


def steps(wants: Iterable[Want], held: Mapping[str, int]) -> int:
    """Return the number of goals of a plan."""
    wood = wood_of(want.item for want in wants)
    return sum(line.missing > 0 for line in bill(wants, held, wood))


def test_worlds__are_drawn_for_training_alone():
    situation = data.drawn(random.Random(0))
    env = data.Practice(situation.task, situation.world)
    again, other = (
        data.Practice(situation.task, situation.world),
        data.Practice(situation.task, situation.world + 1),
    )
    first, second, third = (
        practice.reset(seed=0, options={"task": situation.task.id})[0]
        for practice in (env, again, other)
    )
    assert first == second != third


def test_prompts__of_agents_whose_plans_differ_in_form_end_in_other_words(examples: list[Example]):
    agents: dict[str, set[str]] = {}
    for _, branch in branches(examples, *KINDS):
        last = branch.spans[0].text.rpartition("\n")[2]
        agents.setdefault(last, set()).add(branch.kind.split()[0])
    assert all(len(asking) == 1 for asking in agents.values()), agents
