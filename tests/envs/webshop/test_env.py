"""The environment: modes, what info says, purchases, data of one's own."""

from __future__ import annotations

import json
import pickle
import random
from copy import deepcopy
from itertools import combinations

import gymnasium as gym
import pytest

from textcraft_gym import UnknownName, tasks
from textcraft_gym.envs.webshop import rules
from textcraft_gym.envs.webshop.actions import click, search
from textcraft_gym.envs.webshop.env import WebShopLiteEnv
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.product_templates import product_templates
from textcraft_gym.envs.webshop.queries import MAX_SEARCHES, searches
from textcraft_gym.envs.webshop.tasks import (
    Selection,
    draw_task,
    find_task,
    open_market,
    selected_tasks,
)

ID = "WebShopLite-v0"
PARTS = {
    *("r_type", "r_att", "r_option", "r_price", "score", "w_att", "w_option", "w_price"),
    *("query_match", "category_match", "title_score"),
}


@pytest.fixture
def folder(tmp_path):
    """Three products in the files of the original's data, with human goals and with synthetic
    ones."""
    products = [
        {
            "asin": f"B00000000{number}",
            "name": f"{color.title()} Oak Chair",
            "full_description": "A chair.",
            "pricing": "$20.00",
            "images": [],
            "category": "garden",
            "query": "chairs",
            "product_category": "Home \u203a Chairs",
            "small_description": ["sturdy"],
            "customization_options": {"Size": [{"value": "S"}, {"value": "L"}]},
        }
        for number, color in enumerate(("red", "blue", "green"))
    ]
    facts = {
        f"B00000000{number}": {
            "attributes": ["easy clean", rare],
            "instruction": "i need a chair.",
            "instruction_attributes": [rare],
        }
        for number, rare in enumerate(("easy clean", "easy clean", "long lasting"))
    }
    human = {
        "B000000001": [
            {
                "instruction": "i need a blue chair in size l.",
                "instruction_attributes": ["easy clean"],
                "instruction_options": ["l"],
            }
        ]
    }
    for name, content in (
        ("items_shuffle", products),
        ("items_ins_v2", facts),
        ("items_human_ins", human),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def begin(mode: str = "react", **env_args) -> tuple[gym.Env, str, dict]:
    env = gym.make(ID, mode=mode, expert=True, **env_args)
    options = next(task.id for task in env.get_wrapper_attr("tasks") if task.depth == 2)
    return env, *env.reset(seed=0, options={"task": options})


@pytest.mark.parametrize("mode", ["react", "adapt", "text", "text_rich"])
def test_first_observation__says_what_is_wanted(mode):
    env, observation, info = begin(mode)
    number, _, asin = info["task"].partition("-")
    goal = env.unwrapped.goal
    assert goal.instruction in observation
    assert goal == env.unwrapped.market.catalogue.goals[int(number)]
    assert goal.product.asin == asin


def test_mode__is_react_and_three_products_a_page_unless_asked_for():
    shown = {}
    both = [
        ("react", None),
        ("react", 10),
        ("adapt", None),
        ("text", None),
        ("text_rich", None),
        ("text_rich", 3),
    ]
    for mode, per_page in both:
        env, _, _ = begin(mode, products_per_page=per_page)
        page, *_ = env.step(search(env.unwrapped.goal.instruction))
        asins = env.unwrapped._state.results
        shown[mode, per_page] = sum(asin in page for asin in asins)
    assert shown == {
        ("react", None): 3,
        ("react", 10): 10,
        ("adapt", None): 10,
        ("text", None): 10,
        ("text_rich", None): 10,
        ("text_rich", 3): 3,
    }
    assert gym.make(ID).unwrapped.market.mode == "react"


def test_react__answers_some_actions_in_a_line():
    env, _, info = begin()
    while "click[buy now]" not in info["expert_plan"][:2]:
        observation, *_, info = env.step(info["expert_plan"][0])
    option, buy = info["expert_plan"]
    assert observation.startswith("\n[Back to Search] \n[< Prev] \n")
    assert env.step("click[what is not there]")[0] == "Invalid action!"
    assert env.step(option)[0] == f"You have clicked {option[6:-1]}."
    assert env.step(buy)[0] == "Your score (min 0.0, max 1.0): 1.0"


@pytest.mark.parametrize("mode", ["text", "text_rich"])
def test_invalid_action__shows_the_same_page(mode):
    env, observation, info = begin(mode)
    for action in info["expert_plan"][:-1]:
        observation = env.step(action)[0]
        assert env.unwrapped.goal.instruction in observation
        assert env.step("jump")[0] == observation


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("search[lamp]", None),
        ("click[search]", "nothing_typed"),
        ("click[buy now]", "not_on_page"),
        ("lamp", "unknown_action"),
    ],
)
def test_info__says_why_an_action_did_nothing(action, reason):
    env, _, _ = begin()
    assert env.step(action)[4].get("invalid_reason") == reason
    assert reason is None or reason in rules.REASONS


def test_purchase__earns_part_of_the_reward_and_ends():
    """The right product, but without the option that is asked for."""
    env, _, info = begin()
    goal, market = env.unwrapped.goal, env.unwrapped.market
    other = goal.product
    for action in (search(other.title), click(other.asin)):
        _, reward, terminated, _, info = env.step(action)
        assert (reward, terminated, info["won"], PARTS & info.keys()) == (0.0, False, False, set())
    _, reward, terminated, _, info = env.step("click[Buy Now]")
    assert terminated
    assert not info["won"]
    earned = market.judge(goal, other.asin, {})
    assert {name: info[name] for name in PARTS} == {name: getattr(earned, name) for name in PARTS}
    assert 0.5 < reward == info["score"] == earned.score < 1
    assert info["expert_plan"] == []


def test_info__has_parts_that_nobody_asked_for_as_none():
    env = gym.make(ID, expert=True)
    task = next(task for task in env.get_wrapper_attr("tasks") if task.depth == 1)
    info = env.reset(options={"task": task.id})[1]
    for action in info["expert_plan"]:
        info = env.step(action)[4]
    assert (info["won"], info["score"], info["r_type"], info["r_att"], info["r_price"]) == (
        True,
        1.0,
        1.0,
        1.0,
        1.0,
    )
    assert info["r_option"] is None


def test_admissible_commands__each_do_something():
    env = gym.make(ID, admissible=True)
    number = random.Random(0)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        instruction = env.unwrapped.goal.instruction
        assert info["admissible_commands"] == list(searches(instruction))
        assert len(info["admissible_commands"]) <= MAX_SEARCHES
        assert info["admissible_commands"][0] == search(instruction)
        for _ in range(30):
            *_, terminated, _, info = env.step(number.choice(info["admissible_commands"]))
            assert "invalid_reason" not in info
            if terminated:
                assert info["admissible_commands"] == []
                break


def test_extras__are_there_only_when_asked_for():
    env = gym.make(ID)
    for info in (env.reset(seed=0)[1], env.step("search[lamp]")[4]):
        assert info.keys() == {"task", "won"}


def test_attributes__are_a_page_when_asked_for():
    env, _, info = begin(show_attrs=True)
    for action in info["expert_plan"][:2]:
        page = env.step(action)[0]
    assert "\n[Attributes] " in page
    page = env.step("click[attributes]")[0]
    bought = env.unwrapped.market.products[
        info["expert_plan"][1].removeprefix("click[").removesuffix("]").upper()
    ]
    assert bought.attributes
    assert all(attribute in page for attribute in bought.attributes)


@pytest.mark.parametrize(
    "env_args", [{}, {"mode": "adapt"}, {"mode": "text"}], ids=["react", "adapt", "text"]
)
def test_expert__solves_every_test_task_in_as_many_steps_as_it_says(env_args):
    env = gym.make(ID, split="test", expert=True, **env_args)
    solved = tasks(ID, "test", **env_args)
    assert len(solved) == 500
    for task in solved:
        plan = env.reset(seed=0, options={"task": task.id})[1]["expert_plan"]
        assert len(plan) == task.optimal_length > 2
        results = [env.step(action) for action in plan]
        assert [result[1] for result in results] == [0.0] * (len(plan) - 1) + [1.0]
        assert [result[2] for result in results] == [False] * (len(plan) - 1) + [True]


def test_expert__follows_whatever_is_done_instead():
    """One action brings the goal at most one action nearer, and following the plan after it always
    wins."""
    env = gym.make(ID, expert=True, admissible=True)
    for task in env.get_wrapper_attr("tasks")[::10]:
        number = random.Random(task.id)
        info = env.reset(seed=0, options={"task": task.id})[1]
        for _ in range(12):
            before, after_expert = info["expert_plan"], number.random() < 0.3
            action = before[0] if after_expert else number.choice(info["admissible_commands"])
            if action == "click[buy now]":
                break
            info = env.step(action)[4]
            assert len(info["expert_plan"]) >= len(before) - 1
            if after_expert:
                assert len(info["expert_plan"]) == len(before) - 1
        for left in range(len(info["expert_plan"]), 0, -1):
            assert len(info["expert_plan"]) == left
            info = env.step(info["expert_plan"][0])[4]
        assert info["won"]


@pytest.mark.slow
def test_expert__knows_a_shortest_plan_among_all_products():
    """A search, a product and the purchase are needed, and so are the options, in every product
    that could earn 1."""
    market = open_market()
    for task in selected_tasks(Selection(market, "test")):
        clicks = task.optimal_length - 3
        for asin in market.products if clicks > min(len(task.goal.options), 1) else ():
            values = market.options(asin)
            if market.judge(task.goal, asin, {value: value for value in values}).score == 1.0:
                for fewer in combinations(values, clicks - 1):
                    assert (
                        market.judge(
                            task.goal, asin, {values[value]: value for value in fewer}
                        ).score
                        < 1.0
                    )


def test_copy__shares_the_catalogue():
    env, _, _ = begin()
    twins = deepcopy(env), pickle.loads(pickle.dumps(env)), gym.make(ID), gym.make(ID, mode="text")
    assert all(twin.unwrapped.market.catalogue is env.unwrapped.market.catalogue for twin in twins)
    assert len(pickle.dumps(env)) < 50_000
    assert all(twin.unwrapped.market is env.unwrapped.market for twin in twins[:3])


@pytest.mark.parametrize(
    ("env_args", "message"),
    [
        ({"mode": "html"}, "unknown mode 'html'.*Possible: react, adapt, text, text_rich"),
        ({"goals": "robot"}, "unknown kind of goals 'robot'.*Possible: human, synthetic"),
        ({"goals": "synthetic"}, "expected goals='human' for generated data, got 'synthetic'"),
        ({"products_per_page": 0}, r"expected products_per_page in 1\.\.10, got 0"),
        (
            {"products_per_page": 51, "mode": "text"},
            r"expected products_per_page in 1\.\.50, got 51",
        ),
        ({"num_products": 10}, r"expected num_products >= \d+ of a generated shop, got 10"),
        ({"num_products": 0}, "expected num_products >= 1, got 0"),
        ({"limit_goals": 0}, "expected limit_goals >= 1, or -1 for all, got 0"),
        ({"num_prev_obs": -1}, "expected num_prev_obs in 0..100, got -1"),
        ({"num_prev_actions": True}, "expected num_prev_actions to be a whole number, got True"),
        ({"data": "no such folder"}, "no such folder"),
        ({"split": "valid"}, "unknown split 'valid'.*Possible: test, dev, train"),
    ],
)
def test_argument__that_makes_no_sense_is_refused(env_args, message):
    with pytest.raises(ValueError, match=message):
        gym.make(ID, **env_args)


def test_data__of_ones_own_is_played(folder):
    env = gym.make(ID, data=folder, split="test", expert=True)
    observation, info = env.reset(seed=0)
    assert info["task"] == "0-B000000001"
    assert "\ni need a blue chair in size l, and price lower than " in observation
    query = "search[i need a blue chair in size l, and price lower than "
    assert info["expert_plan"][0].startswith(query)
    assert info["expert_plan"][1:] == ["click[b000000001]", "click[l]", "click[buy now]"]
    for action in info["expert_plan"]:
        info = env.step(action)[4]
    assert info["won"]
    with pytest.raises(ValueError, match=r"split 'dev' of .* has no goal"):
        gym.make(ID, data=folder, split="dev")


def test_data__of_ones_own_survives_pickling(folder):
    env = gym.make(ID, data=folder, split="test", mode="text_rich", expert=True)
    env.reset(seed=0)
    twin = pickle.loads(pickle.dumps(env))
    assert twin.step("search[chair]") == env.step("search[chair]")


def test_synthetic_goals__are_drawn_by_their_weights(folder):
    """Each of three products with two sizes has two goals: those of the attribute that is rarer are
    drawn more."""
    market = open_market(folder, "synthetic")
    assert len(selected_tasks(Selection(market, "all"))) == 6
    test = Selection(market, "test")
    drawn = [draw_task(test, word * ((1 << 64) // 1200)).goal.product.asin for word in range(1200)]
    assert {asin: round(drawn.count(asin) / 100) for asin in sorted(set(drawn))} == {
        "B000000000": 3,
        "B000000001": 3,
        "B000000002": 6,
    }
    assert draw_task(test, (1 << 64) - 1).number == 5


def test_human_goals__are_drawn_evenly():
    dev = Selection(open_market(), "dev")
    assert [draw_task(dev, word).number for word in (0, 999, 1000, 1001)] == [500, 1499, 500, 501]


def test_nouns__of_ones_own_judge(folder):
    """To one who sees no noun in common, nothing is of the right kind."""

    def own(title: str) -> list[str]:
        return [title]

    for nouns, r_type in ((None, 1.0), (own, 0.0)):
        env = gym.make(ID, data=folder, split="test", nouns=nouns)
        env.reset(seed=0)
        for action in ("search[red chair]", "click[b000000000]", "click[buy now]"):
            info = env.step(action)[4]
        assert info["r_type"] == r_type


def test_num_products__is_the_size_of_a_made_shop_or_the_first_of_a_file(folder):
    fewest = len(product_templates())
    assert f"of a generated shop {fewest} to 50,000" in WebShopLiteEnv.__doc__
    assert len(gym.make(ID, num_products=fewest, split="all").unwrapped.market.products) == fewest
    products = gym.make(ID, num_products=100, split="all").unwrapped.market.products
    assert len(products) == 100
    env = gym.make(ID, data=folder, goals="synthetic", split="all", num_products=2)
    assert [*env.unwrapped.market.products] == ["B000000000", "B000000001"]
    assert pickle.loads(pickle.dumps(env)).unwrapped.market is env.unwrapped.market
    assert (
        len(gym.make(ID, data=folder, goals="synthetic", split="all").unwrapped.market.products)
        == 3
    )


def test_filter_goals__keeps_goals_of_the_split_with_their_numbers():
    def keep(number: int, goal: Goal) -> bool:
        return number % 7 == 0 and not goal.options

    env = gym.make(ID, filter_goals=keep)
    kept = [task for task in tasks(ID, "dev") if task.number % 7 == 0 and task.depth == 1]
    assert list(env.get_wrapper_attr("tasks")) == kept
    assert {env.reset(seed=seed)[1]["task"] for seed in range(300)} <= {task.id for task in kept}
    with pytest.raises(ValueError, match="has no goal that filter_goals keeps"):
        gym.make(ID, filter_goals=lambda number, goal: False)


def test_limit_goals__draws_those_that_the_original_draws(folder):
    """The original shuffles with a seed, then draws by weight with the same generator."""
    market = open_market(folder, "synthetic")
    draw = random.Random(233)
    order = list(range(6))
    draw.shuffle(order)
    weights = [goal.weight for goal in market.catalogue.goals]
    cumulative = [0.0]
    for weight in weights:
        cumulative.append(cumulative[-1] + weight)
    expected: list[int] = []
    while len(expected) < 4:
        place = draw.uniform(0, cumulative[-1])
        index = min(sum(bound <= place for bound in cumulative), len(cumulative) - 2)
        if index not in expected:
            expected.append(index)
    limited = gym.make(
        ID, data=folder, goals="synthetic", split="all", limit_goals=4
    ).get_wrapper_attr("tasks")
    assert [task.number for task in limited] == expected
    for limit in (-1, 6, 100):
        env = gym.make(ID, data=folder, goals="synthetic", split="all", limit_goals=limit)
        assert [task.number for task in env.get_wrapper_attr("tasks")] == list(range(6))
    dev = gym.make(ID, limit_goals=20).get_wrapper_attr("tasks")
    assert len({task.number for task in dev} & set(range(500, 1500))) == len(dev) == 20


@pytest.mark.parametrize(
    ("num_prev_obs", "num_prev_actions"), [(0, 0), (1, 0), (0, 2), (2, 1), (3, 3)]
)
def test_past__stands_before_each_observation(num_prev_obs, num_prev_actions):
    env, observation, info = begin(
        "text", num_prev_obs=num_prev_obs, num_prev_actions=num_prev_actions
    )
    plain, first, _ = begin("text")
    assert observation == first
    observations, actions = [first], []
    for action in ["jump", *info["expert_plan"]]:
        snapshot = env.get_wrapper_attr("snapshot")()
        said, now = env.step(action)[0], plain.step(action)[0]
        actions.append(action)
        parts = [now]
        for back in range(1, 1 + max(num_prev_obs, num_prev_actions)):
            parts += actions[-back:][:1] if back <= min(num_prev_actions, len(actions)) else []
            parts += (
                observations[-back:][:1] if back <= min(num_prev_obs, len(observations)) else []
            )
        assert said == " [SEP] ".join(parts[::-1])
        observations.append(now)
        env.get_wrapper_attr("restore")(snapshot)
        assert env.step(action)[0] == said
    assert env.reset(seed=0, options={"task": info["task"]})[0] == first


@pytest.mark.parametrize(
    "task_id", ["", "0", "0-", "00-", "-1", "0-B0", "9" * 5000, "\u0663-x", None, 3]
)
def test_task__that_is_none_is_refused(task_id):
    market = open_market()
    with pytest.raises(UnknownName, match="unknown task"):
        find_task(Selection(market, "test"), task_id)


def test_splits__are_those_of_the_papers():
    numbers = {
        split: [task.number for task in tasks(ID, split)]
        for split in ("test", "dev", "train", "all")
    }
    assert numbers["test"] == list(range(500))
    assert numbers["dev"] == list(range(500, 1500))
    assert numbers["test"] + numbers["dev"] + numbers["train"] == numbers["all"]
    assert len(numbers["train"]) > 400
    assert [task.number for task in tasks(ID, "adapt_test")] == list(range(100))


def test_task__is_a_value():
    first, again = (tasks(ID, "test")[3] for _ in range(2))
    assert first == again
    assert hash(first) == hash(again)
    assert len(repr(first)) < 100
    assert pickle.loads(pickle.dumps(first)) == first
    with pytest.raises(AttributeError):
        first.number = 4


def test_render__is_the_last_action_and_its_answer():
    env, observation, _ = begin(render_mode="ansi")
    assert env.render() == observation
    observation, *_ = env.step("search[lamp]")
    assert env.render() == f"> search[lamp]\n{observation}"
