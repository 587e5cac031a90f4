from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from tests.agents.scripted import ScriptedModel, play
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.contract.agent import Node
from textcraft_gym.agents.contract.game_profile import last_turn
from textcraft_gym.agents.defaults import MAX_DEPTH, Settings
from textcraft_gym.agents.games import TEXTCRAFT

FAIL = "task failed!"
DONE = "Task completed!"


def steps(order: str, *texts: str) -> str:
    return (
        "\n".join(f"Step {n}: {text}" for n, text in enumerate(texts, 1))
        + f"\nExecution Order: {order}"
    )


def adapt(
    executor: list[str],
    planner: list[str],
    *,
    task="minecraft:beehive",
    max_calls=1000,
    d_max=4,
    **options,
):
    models = {"executor": ScriptedModel(*executor), "planner": ScriptedModel(*planner)}
    agent = ADaPTAgent(TEXTCRAFT, settings=Settings(d_max=d_max), **options)
    return play(agent, models, task, max_calls=max_calls), models


def outline(node: Node):
    """The tree of tasks with depths and outcomes, executors and planners left out."""
    children = [
        outline(child) for child in node.children if child.role not in ("executor", "planner")
    ]
    return (node.task, node.depth, node.outcome, *([children] if children else []))


def test_adapt__plans_only_when_the_executor_fails():
    episode, models = adapt([DONE], [])
    assert episode.calls == {"executor": 1}
    assert models["planner"].asked == []
    assert (episode.claimed_success, outline(episode.trace.children[0])) == (
        True,
        ("craft beehive", 1, True),
    )


def test_adapt__decomposes_one_level_deeper_what_fails_and_nothing_else():
    plans = [
        steps(
            "Step 1 AND Step 2 AND Step 3", "get 3 honeycomb", "craft 8 oak planks", "craft beehive"
        ),
        steps("Step 1 AND Step 2", "get 2 oak logs", "craft both"),
    ]
    executor = [FAIL, "get 3 honeycomb", DONE, FAIL, "get 2 oak logs", DONE, DONE, DONE]
    episode, _ = adapt(executor, plans)
    assert outline(episode.trace.children[0]) == (
        "craft beehive",
        1,
        True,
        [
            ("get 3 honeycomb", 2, True),
            ("craft 8 oak planks", 2, True, [("get 2 oak logs", 3, True), ("craft both", 3, True)]),
            ("craft beehive", 2, True),
        ],
    )
    assert (episode.k_max, episode.calls) == (3, {"executor": 8, "planner": 2})


def test_adapt__stops_at_the_first_failure_of_all_and_the_first_success_of_any():
    plan = steps("(Step 1 OR Step 2 OR Step 3) AND Step 4 AND Step 5", *"abcde")
    episode, _ = adapt([FAIL, FAIL, DONE, FAIL, DONE], [plan], d_max=2)
    assert outline(episode.trace.children[0]) == (
        "craft beehive",
        1,
        False,
        [("any of 3 steps", 2, True, [("a", 2, False), ("b", 2, True)]), ("d", 2, False)],
    )
    assert episode.claimed_success is False


def test_adapt__does_not_plan_at_d_max():
    episode, models = adapt([FAIL] * 9, [steps("Step 1", "the same")] * 9, d_max=3)
    assert episode.calls == {"executor": 3, "planner": 2}
    assert episode.k_max == 3
    episode, models = adapt([FAIL] * 9, [], d_max=1)
    assert episode.calls == {"executor": 1}
    assert models["planner"].asked == []


def test_adapt__tells_every_attempt_what_is_held_now():
    plan = steps("Step 1 AND (Step 2 OR Step 3)", "get 3 honeycomb", "something else", "a third")
    executor = [FAIL, "get 3 honeycomb", DONE, "get 1 oak logs", FAIL, DONE]
    episode, models = adapt(executor, [plan], d_max=2)
    prompts = [request["prompt"] for request in models["executor"].asked]
    goals = [prompt.rpartition("Goal: ")[2].split("\n>")[0] for prompt in prompts]
    assert goals == [
        "craft beehive.",
        "get 3 honeycomb.",
        "get 3 honeycomb.",
        "something else.\nInventory: [honeycomb] (3) ",
        "something else.\nInventory: [honeycomb] (3) ",
        "a third.\nInventory: [honeycomb] (3) [oak logs] (1) ",
    ]
    looks = [action for action, _ in episode.transcript if action == "inventory"]
    assert len(looks) == 3  # after each of the two that succeeded, and of the one that failed

    episode, models = adapt(
        ["get 1 oak logs", FAIL, DONE, DONE], [steps("Step 1 AND Step 2", "a", "b")], d_max=2
    )
    goals = [
        request["prompt"].rpartition("Goal: ")[2].split("\n>")[0]
        for request in models["executor"].asked
    ]
    assert goals[2:] == [f"{step}.\nInventory: [oak logs] (1) " for step in "ab"]


@pytest.mark.parametrize("reports_state", [False, True])
def test_adapt__tells_each_alternative_the_same_unless_it_is_the_state(reports_state: bool):
    plan = steps("((Step 1 AND Step 2) OR Step 3) AND Step 4", *"abcd")
    profile = (
        TEXTCRAFT
        if reports_state
        else replace(TEXTCRAFT, report=last_turn("Could not"), reports_state=False)
    )
    executor = [FAIL, "get 3 honeycomb", DONE, FAIL, DONE, DONE]
    models = {"executor": ScriptedModel(*executor), "planner": ScriptedModel(plan)}
    play(ADaPTAgent(profile, settings=Settings(d_max=2)), models, "minecraft:beehive")
    goals = [
        request["prompt"].rpartition("Goal: ")[2].split("\n>")[0]
        for request in models["executor"].asked
    ]
    done = (
        "Inventory: [honeycomb] (3) "
        if reports_state
        else "The last action was: get 3 honeycomb\nGot 3 honeycomb"
    )
    assert goals[3] == f"b.\n{done}"
    assert goals[4] == (f"c.\n{done}" if reports_state else "c.")
    assert goals[5] == f"d.\n{done}"


def test_adapt__stops_at_once_when_the_environment_ends_the_episode():
    craft = "craft 4 oak planks using 1 oak logs"
    won = [
        "get 2 oak logs",
        "get 3 honeycomb",
        craft,
        craft,
        "craft 1 beehive using 6 oak planks, 3 honeycomb",
    ]
    episode, _ = adapt([FAIL, *won], [steps("Step 1 AND Step 2", "make it", "never reached")])
    assert (episode.won, episode.reward, episode.claimed_success, episode.stop_reason) == (
        True,
        1.0,
        None,
        "terminated",
    )
    assert outline(episode.trace.children[0]) == ("craft beehive", 1, None, [("make it", 2, None)])


def test_adapt__goes_on_from_where_a_failed_attempt_ended_unless_it_replays():
    plan = steps("Step 1 AND (Step 2 OR Step 3)", "logs", "comb", "comb again")
    executor = [FAIL, "get 1 oak logs", DONE, "get 3 honeycomb", FAIL, "inventory", DONE]
    seen = {}
    for rollback in ("none", "replay"):
        episode, _ = adapt(executor, [plan], rollback=rollback, d_max=2)
        seen[rollback] = [*episode.transcript, episode.steps, episode.trials]
    assert seen["none"][-3:] == [("inventory", "Inventory: [oak logs] (1) [honeycomb] (3) "), 6, 1]
    replayed = [
        ("get 1 oak logs", "Got 1 oak logs"),
        ("inventory", "Inventory: [oak logs] (1) "),
        ("inventory", "Inventory: [oak logs] (1) "),
    ]
    assert seen["replay"][4] == (None, seen["replay"][0][1])
    assert seen["replay"][5:8] == replayed
    assert seen["replay"][-1] == 2
    assert seen["replay"][-2] == len(seen["replay"]) - 2 - 2  # replayed actions are counted


@pytest.mark.parametrize(
    "plan", ["I cannot.", "Execution Order: (Step 1 AND Step 2)", "Step 1:", "x" * 100_000]
)
def test_adapt__takes_a_plan_without_steps_for_a_failure(plan: str):
    episode, _ = adapt([FAIL], [plan])
    assert (episode.claimed_success, episode.calls) == (False, {"executor": 1, "planner": 1})
    assert episode.trace.children[0].children[1].outcome is False


def test_adapt__bears_a_plan_of_200_steps_and_one_that_repeats_the_task():
    many = steps("", *(f"step {n}" for n in range(200)))
    episode, _ = adapt([FAIL, *[DONE] * 200], [many], d_max=2)
    assert (episode.claimed_success, episode.calls["executor"]) == (True, 201)
    again = steps("Step 1", "craft beehive")
    episode, _ = adapt([FAIL] * 1000, [again] * 1000, d_max=MAX_DEPTH, max_calls=30)
    assert (episode.stop_reason, sum(episode.calls.values())) == ("max_calls", 30)
    episode, _ = adapt([FAIL] * 1000, [again] * 1000, d_max=MAX_DEPTH)
    assert (episode.claimed_success, sum(episode.calls.values())) == (False, 2 * MAX_DEPTH - 1)


def test_adapt__never_goes_on_beyond_the_calls_that_it_has():
    tree = steps("Step 1 OR Step 2 OR Step 3", *"abc")
    episode, _ = adapt([FAIL] * 5000, [tree] * 5000, d_max=9, max_calls=77)
    assert (episode.stop_reason, sum(episode.calls.values()), episode.error) == (
        "max_calls",
        77,
        None,
    )


def test_adapt__propagates_the_last_successful_action_where_its_profile_says_so():
    agent = ADaPTAgent(
        replace(TEXTCRAFT, report=last_turn("Could not")), settings=Settings(d_max=2)
    )
    models = {
        "executor": ScriptedModel(FAIL, "get 3 honeycomb", "get 1 moon", DONE, DONE),
        "planner": ScriptedModel(steps("", "a", "b")),
    }
    play(agent, models)
    assert (
        "b.\nThe last action was: get 3 honeycomb\nGot 3 honeycomb\n>"
        in models["executor"].asked[-1]["prompt"]
    )


def test_adapt__has_the_depth_of_the_paper_and_refuses_none():
    assert ADaPTAgent(TEXTCRAFT).settings.d_max == 4
    for d_max in (0, -1, MAX_DEPTH + 1):
        with pytest.raises(ValueError, match="d_max"):
            ADaPTAgent(TEXTCRAFT, settings=Settings(d_max=d_max))
    with pytest.raises(ValueError, match="rollback"):
        ADaPTAgent(TEXTCRAFT, rollback="back")


@pytest.mark.parametrize(
    ("options", "inventory"), [({}, ""), ({"tell_planner": True}, "Inventory: [honeycomb] (3) \n")]
)
def test_adapt__tells_its_planner_what_is_held_only_where_asked_to(options, inventory: str):
    plans = [steps("Step 1 AND Step 2", "get 3 honeycomb", "more"), steps("Step 1", "most")]
    _, models = adapt([FAIL, "get 3 honeycomb", DONE, FAIL, DONE], plans, **options)
    assert (
        models["planner"]
        .asked[1]["prompt"]
        .endswith(f"\n\nGoal: more.\n{inventory}Plan, one level down:")
    )
    assert "more.\nInventory: [honeycomb] (3) \n>" in models["executor"].asked[3]["prompt"]


@pytest.mark.parametrize("bounds", [{"max_calls": 2}, {"max_steps": 3}])
def test_adapt__has_no_outcome_where_it_was_cut_off(bounds):
    executor = [FAIL, *["inventory"] * 20]
    models = {
        "executor": ScriptedModel(*executor),
        "planner": ScriptedModel(steps("Step 1 AND Step 2", "a", "b")),
    }
    episode = play(ADaPTAgent(TEXTCRAFT), models, **bounds)
    assert outline(episode.trace.children[0])[:3] == ("craft beehive", 1, None)
    assert episode.claimed_success is None


def test_adapt__keeps_the_deepest_tree_as_a_record():
    nested = steps(
        "(Step 1 AND (Step 1 OR (Step 1 AND (Step 1 OR (Step 1 AND Step 2)))))", "again", "b"
    )
    episode, _ = adapt([FAIL] * 3000, [nested] * 3000, d_max=MAX_DEPTH, max_calls=2000)
    assert episode.error is None
    assert len(json.dumps(asdict(episode))) > 1000


def test_adapt__tells_nothing_of_a_state_that_was_taken_back():
    plans = [steps("Step 1", "get 1 oak logs")]
    options = {"rollback": "replay", "tell_planner": True, "d_max": 2}
    _, models = adapt(["get 3 honeycomb", FAIL, "get 1 oak logs", DONE], plans, **options)
    prompts = models["planner"].asked[0]["prompt"], models["executor"].asked[2]["prompt"]
    assert ["Inventory: [honeycomb] (3)" in prompt for prompt in prompts] == [True, False]
