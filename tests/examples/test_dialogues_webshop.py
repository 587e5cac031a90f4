"""The dialogues of WebShop-lite are those that agents have there, and what is bought is right."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import islice

import gymnasium as gym
import pytest
import webshop as data
from dialogue import Branch, Example

from tests.agents.scripted import play
from tests.examples.dialogues import branches, learns_only_the_players_lines, prompts, scripted, turns
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.adapt.plan_and_execute import PlanAndExecuteAgent
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.adapt.reflexion import ReflexionAgent
from textcraft_gym.agents.adapt.step_plan import parse_plan
from textcraft_gym.agents.games import WEBSHOP
from textcraft_gym.agents.prompts import Prompts

EXAMPLE_COUNT = 150
TASK_COUNT = 12
EXECUTORS = ("goal", "buy", "step")
SKILLS = ("simple match", "detail match")
PLANNERS = ("plan", "full plan", "reflection")
SHORT = Prompts("short")


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


@pytest.fixture(scope="module")
def situations() -> dict[str, data.Situation]:
    """Situations in the registered environment, by task."""
    env = gym.make("WebShopLite-v0").unwrapped
    made = {task.id: data.Situation(env.market, task.goal) for task in islice(env.tasks, 3 * TASK_COUNT)}
    return dict(islice(((task, one) for task, one in made.items() if one.right), TASK_COUNT))


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 10)) == list(islice(data.examples(3), 10))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_kind_of_dialogue_and_are_short(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == {*EXECUTORS, *PLANNERS, *SKILLS}
    for example in examples:
        size = len(example.situation) + sum(len(branch.text) for branch in example.branches)
        assert size <= data.LONGEST or example.branches[0].kind in SKILLS


def test_examples__what_is_learnt_are_the_players_lines_only(examples: list[Example]):
    for _, branch in branches(examples, *EXECUTORS, *PLANNERS, *SKILLS):
        assert learns_only_the_players_lines(branch), branch.text


def test_shops__are_for_training_alone():
    registered = gym.make("WebShopLite-v0").unwrapped.market
    assert not registered.products.keys() & data.training_shop(data.TRAINING_SHOPS[0]).shop.products.keys()
    assert 0 not in data.TRAINING_SHOPS


def test_goals__are_what_react_reads_and_says(situations: dict[str, data.Situation]):
    played = 0
    for task, situation in situations.items():
        goals = list(situation.whole(random.Random(task)))
        if not goals:
            continue  # another product seems to fit, or nothing says that this one does
        (goal,) = goals
        played += 1
        model = scripted(goal)
        episode = play(ReActAgent(WEBSHOP, SHORT), {"executor": model}, task)
        assert [asked["prompt"] for asked in model.asked] == prompts(situation.text, goal)
        assert episode.won
    assert played > len(situations) / 2


def test_claims__of_failure_are_where_no_title_shows_all_of_it(examples: list[Example]):
    failed = [branch for _, branch in branches(examples, "step") if branch.text.endswith("task failed!\n")]
    assert failed
    for branch in failed:
        assert "Your task is to: open a product that fits" in branch.text
    opened = [branch for _, branch in branches(examples, "step") if "open a product that fits" in branch.text]
    assert len(opened) > 2 * len(failed)


def test_attributes__are_seen_with_and_without_hyphens():
    situations = islice(data.Situation.drawn(random.Random(5)), 200)
    seen = 0
    for situation in situations:
        for listing in situation.listings:
            words = listing.title.lower().replace("-", " ")
            shows = all(attribute.replace("-", " ") in words for attribute in situation.goal.attributes)
            assert situation.shows_all(listing) == (shows and situation.cheap(listing))
            seen += shows and "-" in listing.title
        if situation.right is None and (failed := situation.nothing_fits(random.Random(0))):
            assert failed.text.endswith("task failed!\n")
            assert not any(
                attribute in listing.title.lower()
                for attribute in situation.goal.attributes
                for listing in situation.listings
                if situation.cheap(listing)
            )
    assert seen > 5


def test_details__that_speak_against_a_product_are_true():
    reasons = Counter()
    for situation in islice(data.Situation.drawn(random.Random(5)), 250):
        for listing in situation.listings[:3] if situation.right else ():
            (branch,) = situation.detail_question(listing.asin).branches
            answer = branch.spans[1].text.strip()
            if price := re.search(r"\$([0-9.]+) is above (\d+\.\d+)", answer):
                assert float(price[1]) > float(price[2])
                assert f"Price: ${price[1]}" in branch.spans[0].text
            reasons["price" if price else answer.split()[0]] += 1
            reasons["kind"] += "another kind" in answer
    assert reasons["price"] > 5
    assert reasons["Yes,"] > 5


def test_modules__are_what_adapt_asks(situations: dict[str, data.Situation]):
    """SimpleMatch names the product, or DetailMatch says yes to one after the others; then it is bought."""
    seen_named = set()
    for task, situation in situations.items():
        simple = situation.simple_question()
        named = "none" not in simple.branches[0].spans[1].text
        plans, details = [situation.first_plan()], []
        if not named:
            plans.append(situation.next_plan())
            for listing in situation.ranked():
                details.append(situation.detail_question(listing.asin))
                if "Yes" in details[-1].branches[0].spans[1].text:
                    break
        (buy,) = (branch for branch in buys(situation) if ("Buy Now" in branch.spans[0].text) != named)
        models = {
            "planner": scripted(*plans),
            "simple_match": scripted(*simple.branches),
            "detail_match": scripted(*(branch for detail in details for branch in detail.branches)),
            "executor": scripted(buy),
        }
        episode = play(ADaPTAgent(WEBSHOP, SHORT), models, task)
        asked = {role: [one["prompt"] for one in model.asked] for role, model in models.items()}
        assert asked["planner"] == prompts(situation.text, *plans)
        assert asked["simple_match"] == prompts(simple.situation, *simple.branches)
        assert asked["detail_match"] == [text for one in details for text in prompts(one.situation, *one.branches)]
        seen_named.add(named)
        if named or details[-1].branches[0].spans[0].text.count(situation.known_right.asin):
            assert asked["executor"] == prompts(situation.text, buy)
            assert episode.won
    assert seen_named == {False, True}


def buys(situation: data.Situation) -> list[Branch]:
    """Return the purchase of a product that is found, and of one that is in view."""
    made = {}
    for seed in range(40):
        (branch,) = situation.buying(random.Random(seed))
        if all(learnt for _, _, learnt in turns(branch)):
            made["Buy Now" in branch.spans[0].text] = branch
    return list(made.values())


def test_steps__are_what_plan_and_execute_reads_and_says(situations: dict[str, data.Situation]):
    for task, situation in situations.items():
        plan, (search, *steps) = situation.full_plan(), situation.all_steps(random.Random(task))
        assert "Your task is to: search for" in prompts(situation.text, search)[0]  # a module does it
        executor, planner = scripted(*steps), scripted(plan)
        episode = play(PlanAndExecuteAgent(WEBSHOP, SHORT), {"executor": executor, "planner": planner}, task)
        assert [asked["prompt"] for asked in planner.asked] == prompts(situation.text, plan)
        assert [asked["prompt"] for asked in executor.asked] == prompts(situation.text, *steps)
        assert episode.won


def test_reflections__are_what_reflexion_asks(situations: dict[str, data.Situation]):
    asked = 0
    for task, situation in situations.items():
        for reflection in situation.reflection(random.Random(task)):
            transcript = reflection.text.partition("What you did:\n")[2].partition("\n\nReflection:")[0]
            lines = re.findall(r"^> (.*)", transcript, re.MULTILINE)
            executor, reflector = scripted(*lines), scripted(reflection)
            models = {"executor": executor, "reflection": reflector}
            play(ReflexionAgent(WEBSHOP, SHORT, d_max=2), models, task)
            assert [one["prompt"] for one in reflector.asked] == prompts(situation.text, reflection)
            asked += 1
    assert asked > TASK_COUNT / 2


def test_purchases__are_right_and_mistakes_are_not_learnt(examples: list[Example]):
    wrong = 0
    for _, branch in branches(examples, "goal", "buy"):
        *before, (last, score, _) = turns(branch)
        assert last == "click[buy now]"
        assert score.endswith(": 1.0")
        for line, answer, learnt in before:
            assert learnt != answer.startswith("Invalid action!"), line
            wrong += not learnt
    assert wrong > 5


def test_plans__are_read_by_the_agents(examples: list[Example]):
    for _, branch in branches(examples, "plan", "full plan", "reflection"):
        assert parse_plan(branch.spans[1].text)
