"""Plan-and-Execute, Try-Again and Reflexion."""

from __future__ import annotations

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel, play
from tests.doubles import Recorded
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.plan_and_execute import PlanAndExecuteAgent
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.adapt.reflexion import ReflexionAgent
from textcraft_gym.agents.adapt.try_again import TryAgainAgent
from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.games import ALFWORLD, HOTPOTQA, TEXTCRAFT, WEBSHOP
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.episodes.schedule import run_episodes

FAIL = "task failed!"
DONE = "Task completed!"
CRAFT = "craft 4 oak planks using 1 oak logs"
WIN = [
    "get 2 oak logs",
    "get 3 honeycomb",
    CRAFT,
    CRAFT,
    "craft 1 beehive using 6 oak planks, 3 honeycomb",
]


def test_plan_and_execute__plans_once_and_decomposes_nothing():
    plan = "Step 1: a\nStep 2: b\nStep 3: c\nExecution Order: ((Step 1 OR Step 2) AND Step 3)"
    models = {
        "executor": ScriptedModel(FAIL, "get 1 honeycomb", DONE, FAIL),
        "planner": ScriptedModel(plan),
    }
    episode = play(PlanAndExecuteAgent(TEXTCRAFT), models)
    assert (episode.calls, episode.claimed_success, episode.k_max) == (
        {"planner": 1, "executor": 4},
        False,
        2,
    )
    tasks = [
        request["prompt"].rpartition("Goal: ")[2].splitlines()[:2]
        for request in models["executor"].asked
    ]
    assert tasks == [
        ["a.", ">"],
        ["b.", ">"],
        ["b.", "> get 1 honeycomb"],
        ["c.", "Inventory: [honeycomb] (1) "],
    ]


def test_plan_and_execute__without_a_plan_has_failed():
    episode = play(
        PlanAndExecuteAgent(TEXTCRAFT),
        {"executor": ScriptedModel(), "planner": ScriptedModel("no")},
    )
    assert (episode.calls, episode.claimed_success, episode.steps) == ({"planner": 1}, False, 0)


def test_try_again__begins_again_warmer_until_it_succeeds():
    model = ScriptedModel("get 1 oak logs", FAIL, FAIL, *WIN, "never asked")
    episode = play(TryAgainAgent(TEXTCRAFT), {"executor": model})
    assert (episode.won, episode.claimed_success, episode.trials, episode.reward) == (
        True,
        None,
        3,
        1.0,
    )
    assert [request["temperature"] for request in model.asked] == [0.0, 0.0, 0.7] + [0.7] * 5
    samples = [request["sample"] for request in model.asked]
    assert samples[:2] == [0, 0]
    assert len({samples[2], samples[3]}) == 2
    assert len(set(samples[3:])) == 1
    assert "Got 1" not in model.asked[2]["prompt"]


def test_try_again__has_d_max_trials():
    episode = play(
        TryAgainAgent(TEXTCRAFT, settings=Settings(d_max=3)), {"executor": ScriptedModel()}
    )
    assert (episode.claimed_success, episode.trials, episode.calls) == (False, 3, {"executor": 3})
    assert [node.role for node in episode.trace.children] == ["executor"] * 3


TRIALS = [TryAgainAgent, ReflexionAgent]


@pytest.mark.parametrize("agent", TRIALS)
def test_trials__go_on_after_a_false_claim_unless_claims_are_trusted(agent):
    def played(*answers: str, **options):
        models = {"executor": ScriptedModel(*answers), "reflection": ScriptedModel(*"AB")}
        episode = play(agent(TEXTCRAFT, settings=Settings(d_max=3), **options), models)
        return (
            episode.claimed_success,
            episode.won,
            episode.trials,
            episode.calls.get("reflection", 0),
        )

    reflects = agent is ReflexionAgent
    assert played(DONE, *WIN) == (None, True, 2, int(reflects))
    assert played(DONE, DONE, FAIL) == (False, False, 3, 2 * reflects)
    assert played(FAIL, DONE, DONE) == (True, False, 3, 2 * reflects)
    assert played(FAIL, DONE, trust_claims=True) == (True, False, 2, int(reflects))


@pytest.mark.parametrize("agent", TRIALS)
def test_trials__have_the_turns_of_a_step_of_a_plan(agent):
    models = {"executor": ScriptedModel(*["inventory"] * 99), "reflection": ScriptedModel("A")}
    episode = play(agent(TEXTCRAFT, settings=Settings(d_max=2)), models)
    assert (episode.trials, episode.steps) == (2, 40)


@pytest.mark.parametrize("agent", TRIALS)
def test_trials__claim_nothing_where_the_last_one_was_cut_off(agent):
    models = {"executor": ScriptedModel(FAIL, "inventory"), "reflection": ScriptedModel("A")}
    episode = play(agent(TEXTCRAFT), models, max_calls=2)
    assert (episode.trials, episode.claimed_success, episode.stop_reason) == (2, None, "max_calls")


def test_trials__claim_what_was_claimed_last_where_there_is_no_budget_for_another():
    models = {"executor": ScriptedModel("inventory", FAIL), "reflection": ScriptedModel()}
    episode = play(ReflexionAgent(TEXTCRAFT), models, max_calls=2)
    assert (episode.claimed_success, episode.stop_reason) == (False, "max_calls")
    env = gym.make("WebShopLite-v0", max_episode_steps=-1)
    model = ScriptedModel("search[tablet cover mint]", "click[b08tpnmm1p]", "click[buy now]")
    episode = run_episode(
        env, TryAgainAgent(WEBSHOP), task="40-B0MG6PPCYP", seed=0, model=model, max_steps=3
    )
    assert (episode.won, episode.claimed_success, episode.stop_reason) == (
        False,
        True,
        "terminated",
    )


@pytest.mark.parametrize(
    ("profile", "task", "form", "lines", "answered"),
    [
        (
            WEBSHOP,
            "40-B0MG6PPCYP",
            "line",
            ["search[tablet cover mint]", "click[b08tpnmm1p]", "click[buy now]"],
            "> click[buy now]\nYour score",
        ),
        (
            HOTPOTQA,
            "q1",
            "numbered",
            ["Thought 1: I guess.\nAction 1: finish[no]"],
            "finish[no]\nObservation 1: Episode",
        ),
    ],
    ids=["webshop", "hotpotqa"],
)
def test_reflexion__reads_the_answer_to_the_action_that_ended_the_trial(
    profile, task, form, lines, answered
):
    models = {"executor": ScriptedModel(*lines, FAIL), "reflection": ScriptedModel("A")}
    play(ReflexionAgent(profile, settings=Settings(d_max=2), form=form), models, task)
    (request,) = models["reflection"].asked
    assert answered in request["prompt"]


@pytest.mark.parametrize(
    "name", ["adapt", "naive_buyer", "plan_and_execute", "react", "reflexion", "try_again"]
)
def test_purchase__is_a_claim(name: str):
    envs = [gym.make("WebShopLite-v0", split="adapt_test", max_episode_steps=-1)]
    jobs = [(task.id, 0) for task in envs[0].get_wrapper_attr("tasks")[::5]]
    episodes = list(
        run_episodes(envs, make_agent(name, profile=WEBSHOP), jobs, model=Recorded("purchases"))
    )
    bought = [episode for episode in episodes if episode.stop_reason == "terminated"]
    assert len(bought) > 10
    assert all(episode.claimed_success for episode in bought)
    assert {episode.won for episode in bought} == {True, False}
    assert None not in {episode.claimed_success for episode in episodes}


@pytest.mark.parametrize(
    ("game", "env", "split"),
    [
        (TEXTCRAFT, "TextCraft-v0", "test"),
        (ALFWORLD, "ALFWorld-v0", "dev"),
        (WEBSHOP, "WebShopLite-v0", "adapt_dev"),
    ],
)
@pytest.mark.parametrize("name", ["adapt", "reflexion", "try_again"])
def test_agent__is_react_alone_at_a_d_max_of_1(name: str, game: GameProfile, env: str, split: str):
    def played(agent):
        envs = [gym.make(env, split=split, max_episode_steps=-1)]
        jobs = [(task.id, 0) for task in envs[0].get_wrapper_attr("tasks")[::9]]
        episodes = run_episodes(envs, agent, jobs, model=Recorded("d_max"))
        return [
            (episode.transcript, episode.calls, episode.claimed_success, episode.stop_reason)
            for episode in episodes
        ]

    assert played(make_agent(name, profile=game, args={"d_max": 1})) == played(ReActAgent(game))


def test_reflexion__reads_its_last_reflections_in_the_next_trial():
    models = {"executor": ScriptedModel(*[FAIL] * 4, *WIN), "reflection": ScriptedModel(*"ABCD")}
    episode = play(ReflexionAgent(TEXTCRAFT, settings=Settings(d_max=5), memory=2), models)
    assert (episode.won, episode.trials) == (True, 5)
    assert episode.calls == {"executor": 9, "reflection": 4}
    learned = [
        [
            line.rpartition(" ")[2]
            for line in request["prompt"].splitlines()
            if line.startswith("From an earlier")
        ]
        for request in models["executor"].asked[:5]
    ]
    assert learned == [[], ["A"], ["A", "B"], ["B", "C"], ["C", "D"]]
    assert models["reflection"].asked[0]["max_tokens"] == 256


def test_reflexion__reflects_on_the_thoughts_too_but_not_after_the_last_trial():
    models = {
        "executor": ScriptedModel("think: bees?", "get 1 bee", FAIL, FAIL),
        "reflection": ScriptedModel("A"),
    }
    episode = play(ReflexionAgent(TEXTCRAFT, settings=Settings(d_max=2)), models)
    assert (episode.claimed_success, episode.calls) == (False, {"executor": 4, "reflection": 1})
    prompt = models["reflection"].asked[0]["prompt"]
    assert prompt.endswith(
        "> think: bees?\nOK.\n> get 1 bee\nCould not find bee\n> task failed!\n\nReflection:"
    )


def test_reflexion__without_memory_begins_as_if_nothing_had_been():
    models = {"executor": ScriptedModel(), "reflection": ScriptedModel(*"ABC")}
    play(ReflexionAgent(TEXTCRAFT, memory=0), models)
    assert len({request["prompt"] for request in models["executor"].asked}) == 1


class Losing(gym.Wrapper):
    """Ends a trial in a loss at the third action."""

    def reset(self, **how):
        self.left = 3
        return self.env.reset(**how)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.left -= 1
        return observation, reward, terminated, truncated or self.left == 0, info


@pytest.mark.parametrize(
    "agent",
    [
        TryAgainAgent(TEXTCRAFT, settings=Settings(d_max=3)),
        ReflexionAgent(TEXTCRAFT, settings=Settings(d_max=3)),
    ],
)
def test_trials__go_on_after_one_that_the_environment_ended(agent):
    env = Losing(gym.make("TextCraft-v0", split="all", max_episode_steps=-1))
    models = {"executor": ScriptedModel(*["inventory"] * 9), "reflection": ScriptedModel("A", "B")}
    episode = run_episode(env, agent, task="minecraft:beehive", seed=0, model=models)
    assert (episode.trials, episode.steps, episode.claimed_success) == (3, 9, None)


def test_plan_and_execute__gives_its_executor_the_turns_of_a_part():
    models = {"executor": ScriptedModel(*["inventory"] * 99), "planner": ScriptedModel("Step 1: a")}
    assert play(PlanAndExecuteAgent(TEXTCRAFT), models).steps == 20


@pytest.mark.parametrize("options", [{"memory": -1}, {"memory": "three"}, {"reflection_tokens": 0}])
def test_reflexion__refuses_numbers_that_make_no_sense(options):
    with pytest.raises(ValueError, match=r"or more|a whole number"):
        ReflexionAgent(TEXTCRAFT, **options)


@pytest.mark.parametrize("temperature", ["hot", -1, 3, True])
def test_try_again__refuses_a_temperature_that_is_none(temperature):
    with pytest.raises(ValueError, match="temperature"):
        TryAgainAgent(TEXTCRAFT, temperature=temperature)
