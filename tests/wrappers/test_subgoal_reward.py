"""Rewards on the way that change no best policy."""

from __future__ import annotations

from typing import NamedTuple

import gymnasium as gym
import pytest

from tests.wrappers.worlds import Corridor
from textcraft_gym.agents.games.webshop.pages import ASIN
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.wrappers import ActionMasking, SubgoalReward

GAMMA = 0.9


class Edge(NamedTuple):
    """What an action earns, and the state it leads to; None where that is the end."""

    reward: float
    after: tuple | None


class Model(NamedTuple):
    """All states within bounds, what can be done there, and the potential of each as the wrapper
    has it."""

    edges: dict[tuple, dict[str, Edge]]
    potential: dict[tuple, float]


def held(env: gym.Env) -> tuple:
    return tuple(sorted(env.unwrapped.snapshot().position[0]))


def explore(env: gym.Env, task: str, most: int) -> Model:
    """Every state with at most so many of an item, by playing each action from each of them."""
    shaped = env if isinstance(env, SubgoalReward) else None
    info = env.reset(seed=0, options={"task": task})[1]
    states = [(held(env), env.get_wrapper_attr("snapshot")(), info["admissible_commands"])]
    edges: dict[tuple, dict[str, Edge]] = {states[0][0]: {}}
    potential = {}
    for state, snapshot, commands in states:
        for command in commands:
            env.get_wrapper_attr("restore")(snapshot)
            potential[state] = shaped._potential if shaped else 0.0
            _, reward, terminated, _, info = env.step(command)
            after = None if terminated else held(env)
            if after and max(count for _, count in after) > most:
                continue
            edges[state][command] = Edge(float(reward), after)
            if after is not None and after not in edges:
                edges[after] = {}
                states.append(
                    (after, env.get_wrapper_attr("snapshot")(), info["admissible_commands"])
                )
    return Model(edges, potential)


def solved(model: Model) -> tuple[dict[tuple, float], dict[tuple, set[str]]]:
    """The value of each state by value iteration, and its best actions."""
    values = dict.fromkeys(model.edges, 0.0)

    def worth(edge: Edge) -> float:
        return edge.reward + (GAMMA * values[edge.after] if edge.after is not None else 0.0)

    for _ in range(250):
        values |= {state: max(map(worth, edges.values())) for state, edges in model.edges.items()}
    best = {
        state: {command for command, edge in edges.items() if worth(edge) > values[state] - 1e-6}
        for state, edges in model.edges.items()
    }
    return values, best


@pytest.mark.parametrize(
    ("task", "most"), [("minecraft:acacia_boat", 9), ("minecraft:polished_granite", 4)]
)
def test_best_policy__is_the_same_in_every_state(task, most):
    env = find("TextCraft-v0").make(split="all", distractors=0, admissible=True, expert=True)
    plain = explore(env, task, most)
    shaped = explore(SubgoalReward(env, GAMMA, scale=0.3), task, most)
    assert plain.edges.keys() == shaped.edges.keys()
    assert len(plain.edges) > 10
    assert plain.edges != shaped.edges
    (values, best), (shaped_values, shaped_best) = solved(plain), solved(shaped)
    assert shaped_best == best
    assert all(value > 0 for value in values.values())
    assert any(len(edges) > len(best[state]) for state, edges in plain.edges.items())
    for state, value in values.items():
        assert shaped_values[state] == pytest.approx(value - shaped.potential[state])


@pytest.mark.parametrize("env_id", BUNDLED)
def test_reward__of_a_way_without_errors_telescopes(env_id):
    env = SubgoalReward(find(env_id).make(expert=True), GAMMA, scale=0.5)
    plain = find(env_id).make()
    info = env.reset(seed=3)[1]
    plain.reset(seed=3)
    length, total, discount = len(info["expert_plan"]), 0.0, 1.0
    while not info["won"]:
        action = info["expert_plan"][0]
        _, reward, _, _, info = env.step(action)
        assert info["shaping"] > 0
        assert reward - info["shaping"] == pytest.approx(plain.step(action)[1])
        total += discount * info["shaping"]
        discount *= GAMMA
    assert total == pytest.approx(0.5 * length)


def test_reward__of_a_step_away_is_a_loss():
    env = SubgoalReward(find("ALFWorld-v0").make(expert=True, admissible=True), 1.0)
    info = env.reset(seed=0)[1]
    env.step(info["expert_plan"][0])
    assert env.step("look")[1] == 0.0
    info = env.step(info["expert_plan"][1])[4]
    longer = next(
        command
        for command in info["admissible_commands"]
        if command.startswith(("go to", "close", "move", "put"))
        and command != info["expert_plan"][0]
    )
    before = len(info["expert_plan"])
    _, reward, _, _, info = env.step(longer)
    assert reward == pytest.approx(-0.1 * (len(info["expert_plan"]) - before))


def test_potential__where_the_expert_knows_no_way_is_that_of_stuck():
    class Lost(Corridor):
        expert = True

        def _info(self):
            left = self.rooms - self.place
            return {"expert_plan": [] if self.place == 1 else ["on"] * left}

    env = SubgoalReward(Lost(rooms=3), 1.0, scale=1.0, stuck=50)
    env.reset(seed=0)
    assert [env.step("on")[1] for _ in range(3)] == [3.0 - 50.0, 50.0 - 1.0, 1.0 + 1.0]


def test_end__without_success_has_the_potential_0():
    env = SubgoalReward(find("WebShopLite-v0").make(expert=True), 1.0, scale=1.0)
    length = len(env.reset(seed=0)[1]["expert_plan"])
    total = 0.0
    step = env.step("search[tea]")
    total += step[4]["shaping"]
    for action in (f"click[{ASIN.findall(step[0])[0].lower()}]", "click[buy now]"):
        info = env.step(action)[4]
        total += info["shaping"]
    assert info["won"] is False
    assert total == pytest.approx(length)


def test_numbered_actions__earn_the_same():
    env = find("TextCraft-v0").make(admissible=True, expert=True)
    rewards = []
    for wrapped in (
        SubgoalReward(ActionMasking(env, 64), GAMMA),
        ActionMasking(SubgoalReward(env, GAMMA), 64),
    ):
        wrapped.reset(seed=0)
        rewards.append([wrapped.step(action)[1] for action in (1, 0, 2)])
    assert rewards[0] == rewards[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"gamma": 0}, "gamma above 0"),
        ({"gamma": 1.01}, "gamma above 0 and at most 1, got 1.01"),
        ({"gamma": float("nan")}, "gamma"),
        ({"gamma": 1, "scale": 0}, "scale above 0"),
        ({"gamma": 1, "scale": float("inf")}, "scale above 0"),
        ({"gamma": 1, "stuck": 0}, "stuck of 1 or more"),
    ],
)
def test_arguments__that_are_wrong_raise(arguments, said):
    with pytest.raises(ValueError, match=said):
        SubgoalReward(find("TextCraft-v0").make(expert=True), **arguments)


@pytest.mark.parametrize("make_env", [Corridor, lambda: find("TextCraft-v0").make()])
def test_environment__without_an_expert_raises(make_env):
    with pytest.raises(ValueError, match="make it with expert=True"):
        SubgoalReward(make_env(), 0.9)
