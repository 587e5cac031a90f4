from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Generator, Sequence
from datetime import datetime, timezone
from itertools import count
from typing import Any

import gymnasium as gym
import pytest

from textcraft_gym import make_agent, run_episode
from textcraft_gym.agents.baselines.expert import ExpertAgent
from textcraft_gym.agents.baselines.random_agent import RandomAgent
from textcraft_gym.agents.contract.agent import (
    Act,
    Ask,
    EpisodeOver,
    Node,
    Play,
    Request,
    Reset,
    Routine,
)
from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    ModelError,
    ModelLimit,
)
from textcraft_gym.episodes.episode import MAX_ERROR, MAX_REFUSALS, MAX_TRACEBACK, TIMES, AgentError
from textcraft_gym.episodes.schedule import run_episodes
from textcraft_gym.episodes.step_limit import registered_limit
from textcraft_gym.spaces import AnyText
from textcraft_gym.wrappers import HelpfulFeedback


class CountdownEnv(gym.Env[str, str]):
    """A foreign text world without any info: say what was said, end after ``length`` steps, pay
    what is said."""

    def __init__(self, length: int = 3) -> None:
        self.observation_space = self.action_space = AnyText()
        self.length = length
        self.seeds: list[int | None] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self.left = self.length
        self.seeds.append(seed)
        return f"{self.left} left", {}

    def step(self, action: str):
        self.left -= 1
        return f"{self.left} left", float(action), self.left == 0, False, {}


class Scripted:
    """An agent made of one generator function."""

    def __init__(self, episode) -> None:
        self.episode = episode


def test_run_episode__plays_a_function_in_a_foreign_environment():
    seen = []

    def policy(observation: str, info: dict[str, Any]) -> str:
        seen.append((observation, info))
        return "0.5"

    episode = run_episode(CountdownEnv(), policy, seed=7)
    assert seen == [("3 left", {}), ("2 left", {}), ("1 left", {})]
    assert (episode.reward, episode.steps, episode.stop_reason, episode.trials) == (
        1.5,
        3,
        "terminated",
        1,
    )
    assert (episode.task, episode.won, episode.claimed_success, episode.seed) == (
        None,
        None,
        None,
        7,
    )
    assert episode.transcript == [
        (None, "3 left"),
        ("0.5", "2 left"),
        ("0.5", "1 left"),
        ("0.5", "0 left"),
    ]


def test_run_episode__draws_and_records_a_seed_when_none_is_given():
    env = CountdownEnv()
    episode = run_episode(env, lambda observation, info: "0")
    assert env.seeds == [episode.seed]


def test_run_episode__tells_each_request_and_the_record_up_to_it():
    def episode(play: Play) -> Routine:
        yield from play.act("0.5")
        yield from play.ask("?")
        yield from play.reset()
        yield from play.act("0.25")
        return None

    requests = []
    run_episode(
        CountdownEnv(),
        Scripted(episode),
        model=Echo(),
        on_request=lambda request, record: requests.append(
            (request, len(record.transcript), sum(record.calls.values()))
        ),
    )
    assert requests == [(Act("0.5"), 1, 0), (Ask("?"), 2, 0), (Reset(), 2, 1), (Act("0.25"), 3, 1)]


def test_run_episode__takes_the_belief_that_the_agent_returns():
    def gives_up(play: Play) -> Routine:
        yield from play.act("0")
        return False

    episode = run_episode(CountdownEnv(), Scripted(gives_up), seed=0)
    assert (episode.claimed_success, episode.stop_reason, episode.steps) == (False, "agent", 1)


def test_run_episode__keeps_its_own_bound_on_steps():
    episode = run_episode(CountdownEnv(10), lambda observation, info: "1", seed=0, max_steps=4)
    assert (episode.steps, episode.stop_reason, episode.reward) == (4, "max_steps", 4.0)


@pytest.mark.parametrize(("max_episode_steps", "limit"), [(None, 100), (-1, 100), (20, 100)])
def test_registered_limit__is_the_ids_even_where_make_lifted_it(max_episode_steps, limit):
    assert registered_limit(gym.make("TextCraft-v0", max_episode_steps=max_episode_steps)) == limit


def test_run_episode__lets_an_agent_begin_again_and_keeps_the_best_reward():
    trials = []

    def three_trials(play: Play) -> Routine:
        for reward in ("0", "1", "0"):
            try:
                while True:
                    yield from play.act(reward)
            except EpisodeOver as over:
                trials.append((over.step.observation, [action for action, _ in play.history]))
            first = yield from play.reset()
            assert first.observation == "2 left"
            assert play.history == []
        return True

    env = CountdownEnv(2)
    episode = run_episode(env, Scripted(three_trials), seed=11)
    assert trials == [("0 left", ["0", "0"]), ("0 left", ["1", "1"]), ("0 left", ["0", "0"])]
    assert (episode.reward, episode.trials, episode.steps, episode.claimed_success) == (
        2.0,
        4,
        6,
        True,
    )
    assert env.seeds == [11] * 4


def test_run_episode__reset_refills_no_steps():
    def stubborn(play: Play) -> Routine:
        ends = 0
        while ends < 5:
            try:
                yield from play.reset()
                yield from play.act("0")
            except EpisodeOver:
                ends += 1
        return None

    episode = run_episode(CountdownEnv(9), Scripted(stubborn), seed=0, max_steps=3)
    assert (episode.steps, episode.stop_reason) == (3, "max_steps")


def test_run_episode__stops_an_agent_that_never_stops():
    refused = []

    def endless(play: Play) -> Routine:
        while True:
            try:
                yield from play.act("0")
            except EpisodeOver:
                refused.append(1)

    with pytest.raises(AgentError, match="does not stop"):
        run_episode(CountdownEnv(9), Scripted(endless), seed=0, max_steps=2)
    assert len(refused) == MAX_REFUSALS + 1


def test_run_episode__stops_an_agent_that_only_begins_again():
    def restless(play: Play) -> Routine:
        while True:
            yield from play.reset()

    with pytest.raises(AgentError, match="began again"):
        run_episode(CountdownEnv(), Scripted(restless), seed=0)


def test_run_episode__acting_after_the_end_is_the_agents_error():
    def deaf(play: Play) -> Routine:
        try:
            yield from play.act("0")
        except EpisodeOver:
            yield from play.act("0")
        return None

    with pytest.raises(AgentError, match="after the end"):
        run_episode(CountdownEnv(1), Scripted(deaf), seed=0)


def test_run_episode__refuses_what_is_no_request():
    def muttering(play: Play) -> Routine:
        yield "get 1 oak log"
        return None

    with pytest.raises(AgentError, match="expected a request"):
        run_episode(CountdownEnv(), Scripted(muttering), seed=0)


class Echo:
    """A model that repeats how it was asked."""

    def complete(self, prompt, *, stop, max_tokens, temperature, sample):
        return Completion(
            f"{prompt}|{stop}|{max_tokens}|{temperature}|{sample}", {"prompt_tokens": 1}
        )


def test_run_episode__has_the_model_of_the_role_answer():
    answers = []

    def asking(play: Play) -> Routine:
        answers.append(
            (yield from play.ask("p", stop=("\n",), max_tokens=5, temperature=0.7, sample=2)).text
        )
        answers.append((yield from play.ask("q", role="planner")).text)
        return None

    class Planner(Echo):
        def complete(self, prompt, **how):
            return Completion("a plan")

    episode = run_episode(
        CountdownEnv(), Scripted(asking), seed=0, model={"executor": Echo(), "planner": Planner()}
    )
    assert [answer.rpartition("|")[0] for answer in answers] == ["p|('\\n',)|5|0.7", ""]
    assert answers[1] == "a plan"
    assert episode.calls == {"executor": 1, "planner": 1}


def test_run_episode__bounds_the_calls():
    def chatty(play: Play) -> Routine:
        while True:
            yield from play.ask("again?")

    episode = run_episode(CountdownEnv(), Scripted(chatty), seed=0, model=Echo(), max_calls=3)
    assert (episode.calls, episode.stop_reason) == ({"executor": 3}, "max_calls")


def test_run_episode__says_which_model_is_missing():
    def asking(play: Play) -> Routine:
        yield from play.ask("?", role="planner")
        return None

    with pytest.raises(AgentError, match="planner model"):
        run_episode(CountdownEnv(), Scripted(asking), seed=0, model={"reflection": Echo()})
    assert run_episode(
        CountdownEnv(), Scripted(asking), seed=0, model={"executor": Echo()}
    ).calls == {"planner": 1}


def test_run_episode__makes_the_sample_of_task_seed_and_trial_where_something_is_drawn():
    def sampling(temperature: float, trial: int) -> Scripted:
        def asking(play: Play) -> Routine:
            completion = yield from play.ask("p", temperature=temperature, sample=trial)
            return samples.append(int(completion.text.rpartition("|")[2]))

        return Scripted(asking)

    samples: list[int] = []
    for temperature, trial, seed in [
        (0.7, 1, 0),
        (0.7, 1, 0),
        (0.7, 2, 0),
        (0.7, 1, 5),
        (0.0, 1, 0),
        (0.0, 2, 5),
    ]:
        run_episode(CountdownEnv(), sampling(temperature, trial), seed=seed, model=Echo())
    assert samples[0] == samples[1]
    assert len({*samples[1:4]}) == 3
    assert samples[4:] == [0, 0]
    assert all(0 <= sample < 1 << 31 for sample in samples)


def test_run_episode__lets_a_model_be_asked_between_trials():
    def reflecting(play: Play) -> Routine:
        try:
            yield from play.act("0")
        except EpisodeOver:
            thought = yield from play.ask("what went wrong?")
            yield from play.reset()
            return thought.text.startswith("what")
        return None

    episode = run_episode(CountdownEnv(1), Scripted(reflecting), seed=0, model=Echo())
    assert (episode.claimed_success, episode.calls, episode.trials) == (True, {"executor": 1}, 2)


def test_run_episode__passes_on_what_an_agent_raises():
    def broken(observation: str, info: dict[str, Any]) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_episode(CountdownEnv(), broken, seed=0)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_steps": "2"}, "max_steps to be a whole number, got '2'"),
        ({"max_calls": "2"}, "max_calls to be a whole number, got '2'"),
        ({"temperature": "1"}, "temperature to be a number, got '1'"),
        ({"won_at": "1"}, "won_at to be a number, got '1'"),
    ],
)
def test_run_episode__takes_no_text_of_a_number(given: dict, expected: str):
    with pytest.raises(ValueError, match=f"expected {expected}"):
        run_episode(CountdownEnv(), lambda observation, info: "0", **given)


def test_run_episodes__say_what_is_no_environment_and_no_job():
    for other in ("TextCraft-v0", None, CountdownEnv):
        with pytest.raises(
            ValueError, match=r"expected an environment, as gym\.make returns it, got"
        ):
            run_episode(other, attempting("0"))
    for envs in ("TextCraft-v0", CountdownEnv()):
        with pytest.raises(ValueError, match="expected envs to be a sequence of environments, got"):
            list(run_episodes(envs, attempting("0"), [(None, 0)]))
    for job in ("minecraft:beehive", 3, (None,)):
        with pytest.raises(ValueError, match=r"expected a job \(task, seed\), got"):
            list(run_episodes([CountdownEnv()], attempting("0"), [job]))


@pytest.mark.parametrize("max_steps", [0, -5])
def test_run_episode__refuses_a_bound_that_allows_nothing(max_steps: int):
    with pytest.raises(ValueError, match="1 or more"):
        run_episode(CountdownEnv(), lambda observation, info: "0", max_steps=max_steps)


def test_run_episode__says_what_is_no_agent():
    with pytest.raises(AgentError, match="generator, got NoneType"):
        run_episode(CountdownEnv(), Scripted(lambda play: None), seed=0)


def test_run_episode__closes_the_agent_when_the_episode_is_over():
    closed = []

    def tidy(play: Play) -> Routine:
        try:
            while True:
                yield from play.act("0")
        finally:
            closed.append(True)

    run_episode(CountdownEnv(), Scripted(tidy), seed=0)
    assert closed == [True]


def test_expert_agent__wins_in_the_fewest_steps():
    env = gym.make("TextCraft-v0", split="test", max_episode_steps=-1, **ExpertAgent.env_args)
    episode = run_episode(env, ExpertAgent(), task="minecraft:beehive", seed=3)
    assert (episode.won, episode.reward, episode.steps) == (True, 1.0, 5)
    assert episode.transcript[-1] == (episode.transcript[-1][0], "Crafted 1 minecraft:beehive")


def test_random_agent__plays_the_same_for_the_same_task_and_seed():
    env = gym.make("TextCraft-v0", max_episode_steps=-1, **RandomAgent.env_args)

    def play(seed: int) -> list[tuple[str | None, str]]:
        return run_episode(
            env, RandomAgent(), task="minecraft:chest", seed=seed, max_steps=20
        ).transcript

    assert play(1) == play(1)
    assert play(1) != play(2)


class Unasked:
    """A model that must not be asked."""

    def complete(self, prompt: Any, **_: Any) -> Completion:
        raise AssertionError("the model was asked")


@pytest.mark.parametrize("around", [lambda env: env, HelpfulFeedback], ids=["bare", "wrapped"])
@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (
            ExpertAgent(),
            r"ExpertAgent reads info\['expert_plan'\], which ALFWorld-v0 lacks: make it with expert=True",
        ),
        (RandomAgent(), "RandomAgent .* make it with admissible=True"),
        (make_agent("deps", profile="alfworld"), "make it with admissible=True"),
    ],
    ids=["expert", "random", "deps"],
)
def test_run_episode__refuses_an_environment_that_lacks_what_the_agent_reads(agent, said, around):
    requests: list[Request] = []
    with pytest.raises(ValueError, match=said):
        run_episode(
            around(gym.make("ALFWorld-v0")),
            agent,
            seed=0,
            model=Unasked(),
            on_request=lambda request, episode: requests.append(request),
        )
    assert requests == []


def test_run_episode__refuses_a_foreign_environment_without_the_info():
    with pytest.raises(ValueError, match="RandomAgent reads info"):
        run_episode(CountdownEnv(), RandomAgent(), seed=0)


@pytest.mark.parametrize("lacking", ["reset", "step"])
def test_run_episodes__does_not_advise_an_argument_that_is_given(lacking, monkeypatch):
    """A world that takes ``expert`` but does not fill its key is at fault, not who made it."""
    env = gym.make("TextCraft-v0", expert=True)
    infos = [] if lacking == "reset" else [{"expert_plan": ["inventory"]}]
    monkeypatch.setattr(
        env.unwrapped, "_info", lambda: {"won": False} | (infos.pop() if infos else {})
    )
    monkeypatch.setattr(env.unwrapped, "_play", lambda _: ("", 0.0, False, False, {"won": False}))
    (episode,) = run_episodes([env], ExpertAgent(), [(None, 0)])
    assert "it is made with expert=True, and so must fill that key" in str(episode.error)
    assert "--env-arg" not in str(episode.error)


def test_run_episode__refuses_a_text_in_place_of_a_list_of_actions(monkeypatch):
    env = gym.make("TextCraft-v0", admissible=True)
    info = {"task": "minecraft:chest", "won": False, "admissible_commands": "inventory"}
    monkeypatch.setattr(env.unwrapped, "_info", lambda: info)
    said = (
        r"expected TextCraft-v0 to give a list of texts as info\['admissible_commands'\], got 'inv"
    )
    with pytest.raises(ValueError, match=said):
        run_episode(env, RandomAgent(), seed=0)


@pytest.mark.parametrize(
    ("method", "returned", "said"),
    [
        ("reset", (None, {}), r"expected a text as observation of reset\(\), got None"),
        ("reset", ("", None), r"expected a mapping as info of reset\(\), got None"),
        ("step", (5, 0.0, False, False, {}), r"expected a text as observation of step\(\), got 5"),
        ("step", ("", "one", False, False, {}), "expected a number as reward of .*, got 'one'"),
        ("step", ("", 0.0, False, False, None), r"a mapping as info of step\(\), got None"),
    ],
)
def test_run_episode__says_what_a_foreign_world_must_return(method, returned, said, monkeypatch):
    env = CountdownEnv()
    monkeypatch.setattr(env, method, lambda *_, **__: returned)
    with pytest.raises(TypeError, match=said):
        run_episode(env, lambda observation: "wait", seed=0, max_steps=3)


def test_run_episodes__makes_a_record_of_an_environment_that_lacks_what_the_agent_reads():
    (episode,) = run_episodes([gym.make("ALFWorld-v0")], RandomAgent(), [(None, 0)])
    assert episode.stop_reason == "error"
    assert "make it with admissible=True" in str(episode.error)
    assert (episode.steps, episode.calls) == (0, {})


def dividing(play: Play) -> Routine:
    """Halve the work until it is one action, as a decomposing agent does."""

    def part(size: int, depth: int) -> Generator[Any, Any, bool]:
        with play.sub(f"{size} actions", "executor", depth) as node:
            yield from play.ask("how?")
            if size == 1:
                yield from play.act("0")
            else:
                for half in (size // 2, size - size // 2):
                    yield from part(half, depth + 1)
            node.outcome = True
            return True

    return (yield from part(3, 1))


def shape(node: Node) -> tuple[Any, ...]:
    return (
        node.task,
        node.depth,
        node.steps,
        node.calls,
        node.tokens,
        node.outcome,
        [shape(c) for c in node.children],
    )


def test_run_episode__keeps_the_tree_of_what_was_attempted():
    episode = run_episode(CountdownEnv(9), Scripted(dividing), seed=0, model=Echo())
    leaf = ("1 actions", 3, 1, 1, 1, True, [])
    assert shape(episode.trace) == (
        *("", 0, 0, 0, 0, True),
        [
            (
                "3 actions",
                1,
                0,
                1,
                1,
                True,
                [
                    ("1 actions", 2, 1, 1, 1, True, []),
                    ("2 actions", 2, 0, 1, 1, True, [leaf, leaf]),
                ],
            )
        ],
    )
    assert episode.k_max == 3
    assert sum(node.steps for node in episode.trace.walk()) == episode.steps == 3
    assert sum(node.calls for node in episode.trace.walk()) == sum(episode.calls.values()) == 5


def test_run_episode__keeps_the_tree_as_far_as_it_came():
    episode = run_episode(CountdownEnv(2), Scripted(dividing), seed=0, model=Echo())
    assert [node.outcome for node in episode.trace.walk()] == [None, None, True, None, None]
    assert (episode.stop_reason, episode.claimed_success, episode.steps) == ("terminated", None, 2)


def test_run_episode__rewinds_by_playing_again():
    seen = []

    def backtracking(play: Play) -> Routine:
        for action in ("1", "2", "3"):
            yield from play.act(action)
        step = yield from play.rewind(2)
        seen.append((step.observation, [action for action, _ in play.history]))
        step = yield from play.rewind(0)
        seen.append((step.observation, play.history[:]))
        return None

    episode = run_episode(CountdownEnv(9), Scripted(backtracking), seed=0)
    assert seen == [("7 left", ["1", "2"]), ("9 left", [])]
    assert (episode.steps, episode.trials) == (5, 3)


class LimitedEnv(CountdownEnv):
    """Truncates where the other terminates, and speaks of winning: by the action ``win``."""

    def step(self, action: str):
        self.left -= 1
        won = action == "win"
        return f"{self.left} left", float(won), won, self.left == 0, {"won": won}


def attempting(action: str, then: Callable[[Play], Routine] | None = None) -> Scripted:
    """Think and act three times in a part of depth 1, then go on with ``then``, or claim
    success."""

    def episode(play: Play) -> Routine:
        with play.sub("the task", "executor", 1) as node:
            for _ in range(3):
                yield from play.ask("?")
                play.note("think: hm")
                yield from play.act(action)
            if then:
                yield from then(play)
            node.outcome = True
        return True

    return Scripted(episode)


def crash(play: Play) -> Routine:
    raise ZeroDivisionError("a bug")
    yield


def act_deafly(play: Play) -> Routine:
    try:
        while True:
            yield from play.act("lose")
    except EpisodeOver:
        yield from play.act("lose")
    return True


@pytest.mark.parametrize(
    ("agent", "bounds", "stop_reason", "claimed", "outcome", "steps"),
    [
        (attempting("win"), {}, "terminated", None, None, 1),
        (attempting("lose", act_deafly), {}, "error", None, None, 5),
        (
            attempting("lose", lambda play: (yield from play.act("lose"))),
            {"max_steps": 3},
            "max_steps",
            None,
            None,
            3,
        ),
        (attempting("lose"), {"max_calls": 2}, "max_calls", None, None, 2),
        (attempting("lose", crash), {}, "error", None, None, 3),
        (attempting("lose"), {}, "agent", True, True, 3),
    ],
    ids=["won", "acted afterwards", "out of steps", "out of calls", "crashed", "stopped by itself"],
)
def test_run_episodes__keeps_trace_and_belief_however_an_episode_ends(
    agent, bounds, stop_reason, claimed, outcome, steps
):
    (episode,) = run_episodes([LimitedEnv(5)], agent, [(None, 0)], model=Echo(), **bounds)
    (part,) = episode.trace.children
    assert (episode.stop_reason, episode.claimed_success, episode.trace.outcome) == (
        stop_reason,
        claimed,
        claimed,
    )
    assert (part.outcome, part.steps, episode.steps, episode.k_max) == (outcome, steps, steps, 1)
    assert part.calls == episode.calls["executor"]
    assert part.tokens == episode.tokens["prompt_tokens"]
    played = [place for place in part.parts if isinstance(place, int)]
    assert [episode.transcript[place] for place in played] == episode.transcript[1:]
    assert part.parts.count("think: hm") == min(3, part.calls)
    assert episode.won is (stop_reason == "terminated")
    assert bool(episode.error) is bool(episode.traceback) is (stop_reason == "error")


def test_run_episodes__keeps_trace_and_belief_when_the_environment_truncates():
    (episode,) = run_episodes([LimitedEnv(2)], attempting("lose"), [(None, 0)], model=Echo())
    assert (episode.stop_reason, episode.claimed_success, episode.won) == ("truncated", None, False)
    assert episode.trace.children[0].steps == 2


class EndingEnv(CountdownEnv):
    """Ends as an action says."""

    def step(self, action: str):
        return action, 0.0, "end" in action, "cut" in action, {"won": "won" in action}


@pytest.mark.parametrize(
    ("action", "claim", "claimed"),
    [
        ("end", True, True),
        ("end", False, False),
        ("end", None, None),
        ("end won", None, None),  # the game says so, not the agent
        ("end won", False, False),
        ("cut", True, None),
        ("end cut", True, True),
        ("nothing", True, None),  # a purchase where there is nothing to buy claims nothing
    ],
)
def test_run_episode__takes_the_claim_of_the_action_that_ended_it(
    action: str, claim: bool | None, claimed: bool | None
):
    def buying(play: Play) -> Routine:
        with play.sub("part", "executor", 1):
            yield from play.act(action, claim=claim)
            yield from play.act("cut")
        return True

    episode = run_episode(EndingEnv(), Scripted(buying), seed=0)
    assert (episode.claimed_success, episode.trace.children[0].outcome) == (claimed, claimed)


def test_run_episode__takes_no_other_claim_of_an_action_than_yes_or_no():
    def buying(play: Play) -> Routine:
        yield from play.act("0", claim="yes")
        return True

    with pytest.raises(
        AgentError, match="the claim of an action to be True, False or None, got 'yes'"
    ):
        run_episode(CountdownEnv(), Scripted(buying), seed=0)


def test_run_episodes__makes_a_record_of_a_model_that_fails():
    class Failing(Echo):
        def complete(self, prompt, **how):
            raise ModelError("no answer")

    class Mute(Echo):
        def complete(self, prompt, **how):
            return "just text"

    for model, error in (
        (Failing(), "ModelError: no answer"),
        (Mute(), "ModelError: expected a model to answer"),
    ):
        (episode,) = run_episodes([LimitedEnv()], attempting("win"), [(None, 0)], model=model)
        assert (episode.stop_reason, episode.calls, episode.claimed_success) == (
            "error",
            {"executor": 1},
            None,
        )
        assert str(episode.error).startswith(error)
        with pytest.raises(ModelError):
            run_episode(LimitedEnv(), attempting("win"), seed=0, model=model)


class Together(Echo):
    """Answers only once ``parties`` are asking at the same time."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties, timeout=20)

    def complete(self, prompt, **how):
        self.barrier.wait()
        return super().complete(prompt, **how)


def test_run_episodes__sends_the_calls_of_all_episodes_out_together():
    envs = [CountdownEnv(9) for _ in range(4)]
    episodes = list(
        run_episodes(
            envs, Scripted(dividing), [(None, seed) for seed in range(4)], model=Together(4)
        )
    )
    assert [episode.error for episode in episodes] == [None] * 4
    assert sorted(episode.seed for episode in episodes) == [0, 1, 2, 3]


def test_run_episodes__come_to_the_same_whatever_is_played_beside_them():
    class Dawdling(Echo):
        def complete(self, prompt, **how):
            time.sleep(hash(prompt) % 3 / 1000)
            return super().complete(prompt, **how)

    jobs = [(None, seed) for seed in range(12)]
    alone = list(run_episodes([CountdownEnv(3)], Scripted(dividing), jobs, model=Echo()))
    beside = list(
        run_episodes(
            [CountdownEnv(3) for _ in range(5)], Scripted(dividing), jobs, model=Dawdling()
        )
    )
    assert sorted(beside, key=lambda episode: episode.seed) == alone


def test_run_episodes__goes_on_after_one_that_broke():
    def fragile(observation: str, info: dict[str, Any]) -> str:
        seen.append(1)
        if len(seen) == 2:
            raise KeyError("once")
        return "1"

    seen: list[int] = []
    episodes = list(run_episodes([CountdownEnv(2)], fragile, [(None, 0), (None, 1), (None, 2)]))
    assert [episode.error for episode in episodes] == ["KeyError: 'once'", None, None]
    assert [episode.reward for episode in episodes] == [1, 2, 2]


class Cancelled(Echo):
    def complete(self, prompt, **how):
        raise asyncio.CancelledError


def test_run_episodes__outlives_a_model_that_would_end_its_thread():
    for envs in ([CountdownEnv()], [CountdownEnv(), CountdownEnv()]):
        episodes = list(
            run_episodes(envs, attempting("0"), [(None, 0), (None, 1)], model=Cancelled())
        )
        assert [episode.error for episode in episodes] == ["ModelError: CancelledError: "] * 2


def test_run_episodes__ends_its_helpers_and_agents_when_it_is_left():
    closed = []

    def tidy(play: Play) -> Routine:
        try:
            while True:
                yield from play.ask("?")
                yield from play.act("0")
        finally:
            closed.append(True)

    before = set(threading.enumerate())
    jobs = [(None, seed) for seed in range(50)]
    under_way = run_episodes(
        [CountdownEnv(1) for _ in range(4)], Scripted(tidy), jobs, model=Echo()
    )
    next(under_way)
    helpers = set(threading.enumerate()) - before
    assert len(helpers) == 4
    under_way.close()
    for helper in helpers:
        helper.join(timeout=10)
        assert not helper.is_alive()
    assert 1 <= len(closed) < 50


def test_run_episodes__of_nothing_is_nothing_and_without_environments_an_error():
    assert (
        list(run_episodes([CountdownEnv(), CountdownEnv()], attempting("0"), [], model=Echo()))
        == []
    )
    with pytest.raises(ValueError, match="one environment or more"):
        list(run_episodes([], attempting("0"), [(None, 0)]))


@pytest.mark.parametrize(
    ("completion", "error"),
    [
        ("x", "expected a model to answer with a Completion, got str"),
        (Completion(b"x"), "completion of text"),
        (Completion("x", {}, 10**400), "finite cost"),
        (Completion("x", {}, "much"), "finite cost"),
        (Completion("x", {}, float("nan")), "finite cost"),
        (Completion("x", {}, -0.5), "finite cost"),
        (Completion("x", {"prompt_tokens": -1}), "numbers of tokens"),
        (Completion("x", {"prompt_tokens": float("inf")}), "numbers of tokens"),
        (Completion("x", {"prompt_tokens": None}), "numbers of tokens"),
        (Completion("x", {"prompt_tokens": "many"}), "numbers of tokens"),
        (Completion("x", {"prompt_tokens": 10**400}), "numbers of tokens"),
    ],
)
def test_run_episodes__makes_a_record_of_a_completion_that_is_none(completion, error):
    class Odd(Echo):
        def complete(self, prompt, **how):
            return completion

    (episode,) = run_episodes([CountdownEnv()], attempting("0"), [(None, 0)], model=Odd())
    assert error in str(episode.error)


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": "many"}, {"completion_tokens": -1}, {"prompt_tokens": 10**400}]
)
def test_run_episodes__counts_the_cost_of_a_completion_whose_usage_cannot_be_read(
    usage: dict[str, Any],
):
    class Priced(Echo):
        def complete(self, prompt, **how):
            return Completion("x", usage, 0.5)

    def asking(play: Play) -> Routine:
        yield Ask("p", n=3, temperature=1.0)

    (episode,) = run_episodes([CountdownEnv()], Scripted(asking), [(None, 0)], model=Priced())
    assert (episode.cost, episode.tokens, episode.stop_reason) == (1.5, {}, "error")


@pytest.mark.parametrize(
    "error", [ModelError("no choices"), ModelLimit("filtered", "content_filter")], ids=repr
)
def test_run_episodes__counts_what_an_error_has_cost(error: ModelError):
    error.spent = Completion("", {"prompt_tokens": 7}, 0.5)

    class Spending(Echo):
        def complete(self, prompt, **how):
            raise error

    (episode,) = run_episodes([CountdownEnv()], attempting("0"), [(None, 0)], model=Spending())
    assert (episode.cost, episode.tokens, episode.replies) == (0.5, {"prompt_tokens": 7}, {})
    assert sum(node.tokens for node in episode.trace.walk()) == 7


def test_run_episodes__counts_the_documented_kinds_of_tokens():
    class Total(Echo):
        def complete(self, prompt, **how):
            return Completion(
                "x", {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4, "details": {}}
            )

    (episode,) = run_episodes([CountdownEnv(9)], attempting("0"), [(None, 0)], model=Total())
    assert episode.tokens == {"prompt_tokens": 9, "completion_tokens": 3}
    assert sum(node.tokens for node in episode.trace.walk()) == 12


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_run_episodes__bounds_what_it_keeps_of_an_error():
    def loud(observation: str, info: dict[str, Any]) -> str:
        raise errors.pop()

    errors = [Unspeakable(), ValueError("x" * 5_000_000)]
    first, second = run_episodes([CountdownEnv()], loud, [(None, 0), (None, 1)])
    assert len(str(first.error)) == MAX_ERROR
    assert len(str(first.traceback)) <= MAX_TRACEBACK
    assert second.error == "Unspeakable: its message cannot be shown"


@pytest.mark.parametrize("claimed_success", [1, "no", [], float("nan")])
def test_run_episode__takes_no_other_belief_than_yes_or_no(claimed_success):
    def believing(play: Play) -> Routine:
        yield from play.act("0")
        return claimed_success

    with pytest.raises(AgentError, match="True, False or None"):
        run_episode(CountdownEnv(), Scripted(believing), seed=0)


def test_run_episode__refuses_an_action_that_is_no_text():
    with pytest.raises(AgentError, match="to be text, got NoneType"):
        run_episode(CountdownEnv(), lambda observation, info: None, seed=0)


def test_run_episode__keeps_a_win_over_a_reset():
    def greedy(play: Play) -> Routine:
        try:
            yield from play.act("win")
        except EpisodeOver:
            yield from play.reset()
            yield from play.act("lose")
        return None

    episode = run_episode(LimitedEnv(5), Scripted(greedy), seed=0)
    assert (episode.won, episode.reward, episode.stop_reason, episode.trials) == (
        True,
        1.0,
        "agent",
        2,
    )
    assert episode.trace.parts == [0, 1, 2, 3]


class PayingEnv(CountdownEnv):
    """Pays at every step and never ends."""

    def step(self, action: str):
        return "go on", 0.01, False, False, {}


def test_run_episode__takes_no_reward_for_a_win_where_only_a_bound_was_hit():
    def acting(play: Play) -> Routine:
        with play.sub("part", "executor", 1):
            while True:
                yield from play.act("0")

    episode = run_episode(PayingEnv(), Scripted(acting), seed=0, max_steps=5)
    assert (episode.stop_reason, episode.claimed_success, episode.trace.children[0].outcome) == (
        "max_steps",
        None,
        None,
    )


def test_run_episode__asking_too_much_after_the_end_does_not_change_how_it_ended():
    def asking(play: Play) -> Routine:
        try:
            yield from play.act("win")
        except EpisodeOver:
            while True:
                yield from play.ask("?")

    assert (
        run_episode(LimitedEnv(5), Scripted(asking), seed=0, model=Echo(), max_calls=3).stop_reason
        == "terminated"
    )


def sampling(
    n: int, drawn: list[list[str]], *, temperature: float = 0.7, trial: int = 1
) -> Scripted:
    """Ask for some samples at once, and act once."""

    def episode(play: Play) -> Routine:
        with play.sub("part", "executor", 1):
            completions = yield from play.ask_many("p", n=n, temperature=temperature, sample=trial)
            drawn.append([completion.text for completion in completions])
            yield from play.act("0")
        return True

    return Scripted(episode)


def test_ask_many__draws_samples_that_differ_and_counts_each():
    drawn: list[list[str]] = []
    for seed, n in ((0, 4), (0, 4), (0, 2), (0, 1), (5, 1)):
        episode = run_episode(CountdownEnv(1), sampling(n, drawn), seed=seed, model=Echo())
        assert (episode.calls, episode.tokens) == ({"executor": n}, {"prompt_tokens": n})
        assert (episode.trace.children[0].calls, episode.trace.children[0].tokens) == (n, n)
    assert drawn[0] == drawn[1]
    assert len({*drawn[0]}) == 4
    assert drawn[2] == drawn[0][:2]
    assert drawn[3] == drawn[0][:1]
    assert drawn[4] != drawn[3]


def test_ask_many__of_one_is_what_ask_draws():
    drawn: list[list[str]] = []

    def asking(play: Play) -> Routine:
        drawn.append([(yield from play.ask("p", temperature=0.7, sample=1)).text])
        return None

    for agent in (Scripted(asking), sampling(1, drawn)):
        run_episode(CountdownEnv(1), agent, seed=3, model=Echo())
    assert drawn[0] == drawn[1]


def test_ask_many__at_temperature_0_draws_equal_samples():
    drawn: list[list[str]] = []
    run_episode(CountdownEnv(1), sampling(3, drawn, temperature=0.0), seed=0, model=Echo())
    assert len(drawn[0]) == 3
    assert len({*drawn[0]}) == 1


@pytest.mark.parametrize("envs", [1, 2])
def test_ask_many__sends_its_samples_out_together(envs: int):
    drawn: list[list[str]] = []
    jobs = [(None, seed) for seed in range(envs)]
    agent = sampling(3, drawn)
    played = list(
        run_episodes([CountdownEnv(1) for _ in range(envs)], agent, jobs, model=Together(3 * envs))
    )
    assert [episode.error for episode in played] == [None] * envs
    assert run_episode(CountdownEnv(1), agent, seed=0, model=Together(3)).steps == 1


def test_ask_many__asks_for_none_where_the_budget_allows_fewer():
    drawn: list[list[str]] = []
    episode = run_episode(CountdownEnv(1), sampling(4, drawn), seed=0, model=Echo(), max_calls=3)
    assert (episode.stop_reason, episode.calls, episode.steps, drawn) == ("max_calls", {}, 0, [])
    assert run_episode(
        CountdownEnv(1), sampling(4, drawn), seed=0, model=Echo(), max_calls=4
    ).calls == {"executor": 4}


def test_ask_many__passes_on_a_sample_that_fails_and_counts_the_others():
    class Half(Echo):
        def complete(self, prompt, *, sample, **how):
            if sample % 2:
                raise ModelError("an odd seed")
            return Completion("x", {"prompt_tokens": 1}, cost=1.0)

    (episode,) = run_episodes([CountdownEnv(1)], sampling(16, []), [(None, 0)], model=Half())
    assert episode.error == "ModelError: an odd seed"
    assert 0 < episode.cost == episode.tokens["prompt_tokens"] < 16


class Batching(Echo):
    """Keeps the size of each batch, and bears no two at once."""

    def __init__(self, pause: float = 0.005) -> None:
        self.pause = pause
        self.sizes: list[int] = []
        self.lock = threading.Lock()

    def complete(self, prompt, **how):
        raise AssertionError("asked one by one")

    def complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion | Exception]:
        assert self.lock.acquire(blocking=False)
        time.sleep(self.pause)
        self.sizes.append(len(requests))
        self.lock.release()
        how = ("prompt", "stop", "max_tokens", "temperature", "sample")
        return [
            Echo.complete(self, **{name: getattr(request, name) for name in how})
            for request in requests
        ]


def test_run_episodes__sends_all_that_is_pending_as_one_batch():
    jobs = [(None, seed) for seed in range(6)]
    model = Batching()
    batched = list(
        run_episodes([CountdownEnv(3) for _ in range(6)], Scripted(dividing), jobs, model=model)
    )
    alone = list(run_episodes([CountdownEnv(3)], Scripted(dividing), jobs, model=Echo()))
    assert sorted(batched, key=lambda episode: episode.seed) == alone
    assert model.sizes == [6] * len(model.sizes)
    assert sum(model.sizes) == sum(episode.calls["executor"] for episode in alone)


def test_run_episode__sends_samples_as_one_batch():
    model, drawn = Batching(), []
    run_episode(CountdownEnv(1), sampling(5, drawn), seed=0, model=model)
    assert model.sizes == [5]
    one_by_one: list[list[str]] = []
    run_episode(CountdownEnv(1), sampling(5, one_by_one), seed=0, model=Echo())
    assert drawn == one_by_one


def planning(executor_prompts: list[str], pause: float = 0.0) -> Scripted:
    """Ask the executor once and then, after a pause in which all else waits, the planner."""

    def episode(play: Play) -> Routine:
        yield from play.ask(executor_prompts.pop(0))
        time.sleep(pause)
        yield from play.ask("?", role="planner")
        return None

    return Scripted(episode)


def test_run_episodes__sends_a_model_one_batch_at_a_time():
    class Dawdling(Echo):
        def complete(self, prompt, **how):
            time.sleep(float(prompt))
            return super().complete(prompt, **how)

    model = Batching()
    agent = planning([str(number / 500) for number in range(8)])
    jobs = [(None, seed) for seed in range(8)]
    models = {"executor": Dawdling(), "planner": model}
    episodes = list(run_episodes([CountdownEnv() for _ in range(8)], agent, jobs, model=models))
    assert [episode.error for episode in episodes] == [None] * 8
    assert sum(model.sizes) == 8


def test_run_episodes__takes_the_answers_at_hand_before_it_sends_a_batch():
    model = Batching()
    models = {"executor": Together(3), "planner": model}
    agent = planning(["?"] * 3, pause=0.05)
    list(
        run_episodes(
            [CountdownEnv() for _ in range(3)],
            agent,
            [(None, seed) for seed in range(3)],
            model=models,
        )
    )
    assert model.sizes == [3]


def test_run_episodes__has_the_same_batches_whichever_of_two_models_is_the_faster_one():
    begun = count()

    def episode(play: Play) -> Routine:
        plans = next(begun) % 2
        for number in range(3):
            yield from play.ask("?", role="planner" if plans > number else "executor")
        return None

    def sizes(**pauses: float) -> dict[str, list[int]]:
        models = {role: Batching(pause) for role, pause in pauses.items()}
        jobs = [(None, seed) for seed in range(4)]
        list(run_episodes([CountdownEnv() for _ in jobs], Scripted(episode), jobs, model=models))
        return {role: model.sizes for role, model in models.items()}

    expected = {"executor": [2, 4, 4], "planner": [2]}
    assert sizes(executor=0.03, planner=0.0) == sizes(executor=0.0, planner=0.03) == expected


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (
            lambda requests: [Completion("x")],
            "ModelError: expected 2 completions of a batch, got 1",
        ),
        (lambda requests: [ModelError("full"), Completion("x")], "ModelError: full"),
        (lambda requests: 1 / 0, "ModelError: ZeroDivisionError: division by zero"),
        (lambda requests: None, "ModelError: TypeError: object of type 'NoneType' has no len()"),
    ],
)
def test_run_episodes__makes_a_record_of_a_batch_that_fails(answer, error: str):
    class Failing(Echo):
        def complete_many(self, requests):
            return answer(requests)

    envs, jobs = [CountdownEnv(), CountdownEnv()], [(None, 0), (None, 1)]
    for played in (
        list(run_episodes(envs, attempting("0"), jobs, model=Failing())),
        list(run_episodes(envs[:1], sampling(2, []), jobs, model=Failing())),
    ):
        assert error in {episode.error for episode in played}


def test_run_episodes__outlives_an_interrupt_raised_in_a_thread():
    class Interrupted(Echo):
        def complete(self, prompt, **how):
            raise KeyboardInterrupt

    episodes = list(
        run_episodes(
            [CountdownEnv(), CountdownEnv()], attempting("0"), [(None, 0)], model=Interrupted()
        )
    )
    assert [episode.error for episode in episodes] == ["ModelError: KeyboardInterrupt: "]
    with pytest.raises(KeyboardInterrupt):
        list(run_episodes([CountdownEnv()], attempting("0"), [(None, 0)], model=Interrupted()))


def test_run_episodes__tells_when_and_how_long_apart_from_comparisons():
    class Slow(Echo):
        def complete(self, prompt, **how):
            time.sleep(0.02)
            return Completion("x")

    before = datetime.now(timezone.utc)
    agent = sampling(2, [])
    first, second = (
        run_episode(CountdownEnv(1), agent, seed=0, model=model) for model in (Slow(), Slow())
    )
    assert first == second
    assert (
        (before.timestamp() - 1) <= datetime.fromisoformat(first.start).timestamp() <= time.time()
    )
    assert datetime.fromisoformat(first.start).utcoffset() == timezone.utc.utcoffset(None)
    assert first.model_seconds >= 0.04
    assert first.seconds >= 0.02
    assert TIMES == ("start", "seconds", "model_seconds")
    (quick,) = run_episodes([CountdownEnv(1)], lambda observation, info: "0", [(None, 0)])
    assert quick.model_seconds == 0 < quick.seconds
