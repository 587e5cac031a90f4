"""Tests to inherit: the contracts of agents and of text environments. Run them with pytest.

    from textcraft_gym.testing import AgentContract, EnvContract

    class TestMyAgent(AgentContract):
        def make_agent(self):
            return MyAgent()

    class TestMyWorld(EnvContract):
        env_id = "my_module:My-v0"

The model that answers an agent draws from a few replies, unless ``make_model`` returns another.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import pickle
import random
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict
from itertools import chain, zip_longest
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Text
from gymnasium.utils.env_checker import check_env
from gymnasium.vector.utils import CloudpickleWrapper

from textcraft_gym.agents.contract.agent import AgentLike
from textcraft_gym.agents.contract.model import Completion, Model, Prompt, prompt_text
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.episodes.schedule import run_episodes
from textcraft_gym.errors import Unsupported
from textcraft_gym.registration import INFO_OF, are_actions, find
from textcraft_gym.spaces import AnyText
from textcraft_gym.verify.replay import REPLAYED, STOPPED_BY_AGENT, RecordedActions

NONSENSE = "no such action \U0001fab5 \0"
_WRONG_ARGUMENT = "no_such_argument"
_WRONG_TASK = "no such task"
_MOST_TURNS = 1000


class SayingModel:
    """A model that answers every prompt with the same text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
    ) -> Completion:
        """Return the text, ignoring stops and bounds."""
        return Completion(self.text)


class BabblingModel:
    """A model that draws from a few replies: the same to the same request."""

    replies = (
        "get 1 oak logs",
        "craft 4 oak planks using 1 oak logs",
        "inventory",
        "think: I look again.",
        "Step 1: get 1 oak logs\nStep 2: craft 1 stick\nExecution Order: (Step 1 AND Step 2)",
        "Task completed!",
        "task failed!",
    )

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
    ) -> Completion:
        """Return a reply up to the first stop sequence."""
        request = f"{sample if temperature else 0}/{prompt_text(prompt)}"
        drawn = hashlib.sha256(request.encode()).digest()[0]
        text = self.replies[drawn % len(self.replies)]
        for end in stop:
            text = text.split(end, 1)[0]
        return Completion(text)


class MutteringEnv(gym.Env[str, str]):
    """A foreign environment: no info, no end, and empty observations."""

    def __init__(self) -> None:
        self.observation_space = self.action_space = AnyText()

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[str, dict[str, Any]]:
        """Begin."""
        super().reset(seed=seed)
        return "", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Do nothing."""
        return "", 0.0, False, False, {}


class AgentContract(ABC):
    """Tests of one agent; override ``make_agent``.

    Attributes:
        env_id: The environment that is played.
        tasks: The ids of the played tasks.
    """

    env_id = "TextCraft-v0"
    tasks: tuple[str, ...] = ("minecraft:beehive", "minecraft:hopper", "minecraft:sticky_piston")

    @abstractmethod
    def make_agent(self) -> AgentLike:
        """Return the agent under test."""

    def make_model(self) -> Model:
        """Return the model that answers it."""
        return BabblingModel()

    def play(
        self,
        *,
        workers: int = 1,
        model: Model | None = None,
        max_calls: int = 300,
        max_steps: int | None = None,
    ) -> list[Episode]:
        """Play every task and return the episodes by task; a failed episode fails the test."""
        agent = self.make_agent()
        env_args = getattr(agent, "env_args", {})
        envs = [find(self.env_id).make(split="all", **env_args) for _ in range(workers)]
        jobs = [(task, 0) for task in self.tasks]
        model = model or self.make_model()
        return _sound(
            run_episodes(
                envs,
                agent,
                jobs,
                model=model,
                max_steps=max_steps,
                max_calls=max_calls,
            )
        )

    def test_agent__ends_and_says_whether_it_succeeded(self) -> None:
        """It ends by itself, its claim is True, False or None, and its episode is JSON."""
        for episode in self.play():
            assert episode.stop_reason != "max_calls", (
                f"{episode.task}: it still asked after {episode.calls} calls"
            )
            assert episode.claimed_success is None or type(episode.claimed_success) is bool, (
                f"claimed_success {episode.claimed_success!r}"
            )
            json.dumps(asdict(episode), allow_nan=False)

    def test_agent__plays_the_same_again(self) -> None:
        """The same task, seed and model give the same episode."""
        assert self.play() == self.play()

    def test_agent__keeps_nothing_of_one_episode_for_another(self) -> None:
        """Concurrent episodes of one agent equal sequential ones."""
        assert self.play(workers=len(self.tasks)) == self.play()

    def test_agent__stops_when_its_steps_are_spent(self) -> None:
        """It does not go on acting."""
        for bound in (1, 2, 5):
            for episode in self.play(max_steps=bound):
                assert episode.steps <= bound

    def test_agent__stops_when_its_calls_are_spent(self) -> None:
        """It does not go on asking."""
        for bound in (0, 1, 5):
            for episode in self.play(max_calls=bound):
                assert sum(episode.calls.values()) <= bound

    def test_agent__bears_whatever_a_model_says(self) -> None:
        """Empty text, nonsense, false claims, a cyclic plan and 100 kB end within the bounds."""
        for text in (
            "",
            "\n",
            "Task completed!",
            "task failed!",
            "think: hm",
            "get 1 stick",
            "Step 1: craft beehive\nExecution Order: (Step 1",
            "Execution Order: Step 1 AND Step 1 OR ((((Step 2",
            "Step 1: a\n" * 200,
            "\x00\ud800 {task} {situation} \u2028",
        ):
            self.play(model=SayingModel(text))
        for text in ("x" * 100_000, "craft 1 x using " + "1 y, " * 20_000):
            self.play(model=SayingModel(text), max_calls=20)

    def test_agent__plays_in_a_foreign_world(self) -> None:
        """It needs no info and no format of text, unless it declares its needs (``env_args``).

        An agent that goes back is refused by name where it cannot.
        """
        agent = self.make_agent()
        if not getattr(agent, "env_args", {}):
            (episode,) = run_episodes(
                [MutteringEnv()],
                agent,
                [(None, 0)],
                model=self.make_model(),
                max_calls=300,
            )
            if "MutteringEnv offers no snapshot" not in (episode.error or ""):
                _sound([episode])

    def test_agent__is_recorded_with_all_its_branches(self) -> None:
        """Its actions, resets and returns, played again, lead to the same episode."""
        agent = self.make_agent()
        env = find(self.env_id).make(split="all", **getattr(agent, "env_args", {}))
        for episode in self.play(max_steps=200):
            actions = RecordedActions(episode.transcript, episode.restores)
            job = (episode.task, episode.seed)
            (replayed,) = _sound(run_episodes([env], actions, [job], max_steps=200))
            for name in REPLAYED:
                if name == "stop_reason" and episode.stop_reason in STOPPED_BY_AGENT:
                    continue  # a replay does not know whether the agent would have gone on
                recorded, again = getattr(episode, name), getattr(replayed, name)
                assert again == recorded, f"{episode.task}: {name} was {recorded}, is {again}"
            assert replayed.transcript == episode.transcript


class EnvContract:
    """Tests of one environment of text; set ``env_id``, or override ``make_env``.

    Capabilities that an environment does not offer are not tested: named tasks (``tasks``), an
    expert (``expert=True``), admissible commands (``admissible=True``), rendering
    (``render_mode="ansi"``), snapshots. To refuse one, it must raise ``Unsupported`` with its name.

    Attributes:
        env_id: The id to give to ``gym.make``.
        env_args: Arguments of ``gym.make`` that the environment cannot do without.
        nonsense: An action that does nothing.
        solved: Number of tasks that the expert is tested on.
        turns: Number of actions in a walk where there is no expert to follow.
    """

    env_id: str = ""
    env_args: ClassVar[dict[str, Any]] = {}
    nonsense: str = NONSENSE
    solved: int = 5
    turns: int = 12

    def make_env(self, **arguments: Any) -> gym.Env[str, str]:
        """Return the environment under test, made with further arguments."""
        return gym.make(self.env_id, **{**self.env_args, **arguments})

    def offers(self, argument: str) -> bool:
        """Return whether the environment takes an argument."""
        return argument in inspect.signature(type(self.make_env().unwrapped).__init__).parameters

    def make_informed(self, **arguments: Any) -> gym.Env[str, str]:
        """Return the environment with its expert and its admissible commands, if it has these."""
        return self.make_env(
            **{name: True for name in ("expert", "admissible") if self.offers(name)},
            **arguments,
        )

    def first_task(self) -> dict[str, Any] | None:
        """Return options that name a task of few actions; None without tasks."""
        tasks = self._tasks()
        if not tasks:
            return None
        return {"task": min(tasks, key=lambda task: getattr(task, "optimal_length", 0)).id}

    def walk(
        self,
        env: gym.Env[str, str],
        info: dict[str, Any],
    ) -> list[Any]:
        """Return the steps of ``walking``, and the starts of the two episodes after it."""
        return [*self.walking(env, info), env.reset(), env.step(self.nonsense), env.reset(seed=4)]

    def walking(
        self,
        env: gym.Env[str, str],
        info: dict[str, Any],
    ) -> Iterator[Any]:
        """Play an invalid action, then follow the expert to the end, or play random actions."""
        env.action_space.seed(0)
        most = _MOST_TURNS if "expert_plan" in info else self.turns
        step = env.step(self.nonsense)
        yield step
        for _ in range(most - 1):
            if step[2] or step[3]:
                return
            plan = step[4].get("expert_plan")
            step = env.step(plan[0] if plan else env.action_space.sample())
            yield step

    def test_env__has_spaces_of_text(self) -> None:
        """Observations and actions are text."""
        env = self.make_env()
        for name, space in (("observation", env.observation_space), ("action", env.action_space)):
            assert isinstance(space, Text), f"the {name} space is {space}, expected one of text"

    def test_env__passes_gymnasiums_check(self) -> None:
        """Gymnasium's checker raises neither errors nor warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            modes = self.make_env().metadata.get("render_modes", [])
            check_env(self.make_env().unwrapped, skip_render_check=not modes)
            if "ansi" in modes:
                check_env(self.make_env(render_mode="ansi").unwrapped)

    def test_env__steps_have_the_types_of_gymnasium(self) -> None:
        """Text, a float, two booleans and a dictionary; with tasks also ``task`` and ``won``."""
        env = self.make_informed()
        observation, info = env.reset(seed=0, options=self.first_task())
        keys = {"task", "won"} if self._tasks() else set()
        _has_types(env, keys, observation, info)
        for step in self.walking(env, info):
            types = [type(part) for part in step]
            assert types == [str, float, bool, bool, dict], f"the parts of a step are {types}"
            _has_types(env, keys, step[0], step[4])

    def test_env__plays_any_text(self) -> None:
        """Any sample of the action space can be played."""
        env = self.make_env()
        env.reset(seed=0)
        env.action_space.seed(0)
        for _ in range(50):
            observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
            assert observation in env.observation_space
            if terminated or truncated:
                env.reset()

    def test_env__plays_the_same_again(self) -> None:
        """A seed begins a series of episodes that repeats; without one, episodes are drawn."""
        first, second = self.make_informed(), self.make_informed()
        second.reset(seed=1)
        series = [[env.reset(seed=5), *(env.reset() for _ in range(5))] for env in (first, second)]
        assert series[0] == series[1], "two environments with the same seed begin different series"
        walks = [self.walk(env, env.reset(seed=7)[1]) for env in (first, second)]
        assert walks[0] == walks[1], "the same seed and actions lead to different steps"
        assert isinstance(self.make_env().reset()[0], str)

    def test_env__leaves_global_random_states_alone(self) -> None:
        """It draws from its own seed, never from ``random`` or ``numpy.random``."""
        before = random.getstate(), repr(np.random.get_state())
        env = self.make_informed()
        self.walk(env, env.reset(seed=0)[1])
        assert before == (random.getstate(), repr(np.random.get_state()))
        beginnings = []
        for seed in (3, 4):
            random.seed(seed)
            np.random.seed(seed)
            beginnings.append(self.make_env().reset(seed=0))
        random.setstate(before[0])
        assert beginnings[0] == beginnings[1], "an episode depends on the global random state"

    def test_env__refuses_steps_outside_of_an_episode(self) -> None:
        """Before the first reset and after the end it raises ``ResetNeeded``; then it plays on."""
        for env in (self.make_env(), self.make_env().unwrapped):
            _raises(ResetNeeded, env.step, self.nonsense)
        env = self.make_informed().unwrapped
        *_, last = self.walking(env, env.reset(seed=0, options=self.first_task())[1])
        if not (last[2] or last[3]):
            return
        for _ in range(2):
            _raises(ResetNeeded, env.step, self.nonsense)
        env.reset()
        env.step(self.nonsense)

    def test_env__refuses_an_action_that_is_no_text(self) -> None:
        """It raises ``TypeError``, and the episode goes on."""
        env = self.make_env().unwrapped
        env.reset(seed=0)
        for wrong in (None, 3, b"look", ["look"]):
            _raises(TypeError, env.step, wrong)
        env.step(self.nonsense)

    def test_env__names_a_wrong_argument(self) -> None:
        """An argument that it does not take is an error that names it."""
        error = _raises((TypeError, ValueError), self.make_env, **{_WRONG_ARGUMENT: 1})
        assert _WRONG_ARGUMENT in str(error), f"the error does not name the argument: {error}"

    def test_env__plays_the_task_that_is_named(self) -> None:
        """``options`` name a task; wrong ones raise ``ValueError`` and leave the episode alone."""
        tasks = self._tasks()
        if not tasks:
            return
        env = self.make_env()
        for task in tasks[: self.solved]:
            played = env.reset(seed=1, options={"task": task.id})[1]["task"]
            assert played == task.id, f"asked for {task.id}, played {played}"
        drawn = env.reset(seed=1)
        assert env.reset(seed=1, options={}) == drawn
        assert drawn[1]["task"] in {task.id for task in tasks}, (
            "a seed draws a task that is not listed"
        )
        _raises(ValueError, env.reset, options={"task": _WRONG_TASK})
        _raises(ValueError, env.reset, options={"taks": tasks[0].id})
        env.step(self.nonsense)

    def test_env__is_solved_by_its_expert(self) -> None:
        """Each of the first tasks is won by following the plan, with a reward above 0."""
        tasks = self._tasks()
        if not (tasks and self.offers("expert")):
            return
        env = self.make_env(expert=True)
        for task in tasks[: self.solved]:
            info = env.reset(seed=0, options={"task": task.id})[1]
            rewards: list[float] = []
            terminated = False
            for action in info["expert_plan"]:
                assert not terminated, f"{task.id} ends before its plan does"
                _, reward, terminated, _, info = env.step(action)
                rewards.append(float(reward))
            assert terminated, f"{task.id} does not end with its plan"
            assert info["won"], f"{task.id} is not won by its plan"
            assert sum(rewards) > 0, f"{task.id} is won without a reward"

    def test_env__admits_what_it_lists(self) -> None:
        """Each admissible command does something."""
        if not self.offers("admissible"):
            return
        env = self.make_env(admissible=True)
        info = env.reset(seed=0)[1]
        _has_actions(info)
        for command in info["admissible_commands"]:
            after = deepcopy(env).step(command)[4]
            assert "invalid_reason" not in after, (
                f"{command!r} is admissible, but {after['invalid_reason']}"
            )

    def test_env__renders_text(self) -> None:
        """With ``render_mode="ansi"`` it renders the last observation."""
        if "ansi" not in self.make_env().metadata.get("render_modes", []):
            return
        env = self.make_env(render_mode="ansi")
        observation, _ = env.reset(seed=0)
        for _ in range(2):
            rendered: Any = env.render()
            assert isinstance(rendered, str), f"expected text, got {type(rendered).__name__}"
            assert observation in rendered, f"{rendered!r} does not show {observation!r}"
            observation = env.step(self.nonsense)[0]
        assert self.make_env().unwrapped.render() is None, "it renders without a render mode"

    def test_env__goes_on_alike_when_copied(self) -> None:
        """A copied or unpickled environment goes on with the same steps."""
        for copied in (_pickled, _cloudpickled, deepcopy):
            env = self.make_informed()
            env.reset(seed=0, options=self.first_task())
            info = env.step(self.nonsense)[4]
            twin = copied(env)
            # The copy goes first: if it shared state with the original, the original would go on
            # differently.
            assert self.walk(twin, info) == self.walk(env, info), "a copy goes on differently"

    def test_env__does_not_meet_others(self) -> None:
        """Environments that are stepped in turn behave as each does alone."""

        def playing(seed: int) -> Iterator[Any]:
            env = self.make_informed()
            return chain(self.walking(env, env.reset(seed=seed)[1]), [env.reset()])

        together = list(zip_longest(playing(1), playing(2)))
        for seed, steps in zip((1, 2), zip(*together, strict=True), strict=True):
            assert [step for step in steps if step] == list(playing(seed)), (
                "it plays differently beside another"
            )

    def test_env__returns_to_a_snapshot(self) -> None:
        """After a snapshot is restored, the same actions lead to the same steps."""
        env = self.make_informed()
        info = env.reset(seed=0, options=self.first_task())[1]
        if not env.has_wrapper_attr("snapshot"):
            return
        take = env.unwrapped.get_wrapper_attr("snapshot")
        go_back = env.unwrapped.get_wrapper_attr("restore")
        # One action further: a state that no reset leads to.
        plan = info.get("expert_plan", [])
        info = env.step(plan[0] if len(plan) > 1 else self.nonsense)[4]
        try:
            snapshot = take()
        except Unsupported:
            return
        first = self.walk(env.unwrapped, info)
        go_back(pickle.loads(pickle.dumps(snapshot)))  # noqa: S301  # its own bytes
        assert take() == snapshot, "the restored moment is another"
        assert self.walk(env.unwrapped, info) == first, "the restored episode goes on differently"

    def test_env__offers_or_refuses_by_name(self) -> None:
        """Each optional capability works, or raises ``Unsupported`` with its name."""
        env = self.make_informed()
        info = env.reset(seed=0, options=self.first_task())[1]
        plan = info.get("expert_plan")
        reason = env.step(self.nonsense)[4].get("invalid_reason")
        task = next((task for task in self._tasks() if task.id == info.get("task")), None)
        uses: dict[str, tuple[type, Callable[[Any], Any]]] = {
            "fingerprint": (str, lambda fingerprint: fingerprint),
            "vocabulary": (str, lambda vocabulary: vocabulary),
            "explain": (str, lambda explain: explain(self.nonsense, reason) if reason else ""),
            "possible_commands": (list, lambda possible_commands: possible_commands()),
            "thoughts": (list, lambda thoughts: thoughts(task, plan) if plan else []),
            "snapshot": (tuple, lambda snapshot: tuple(snapshot())),
        }
        for name, (expected, use) in uses.items():
            if env.has_wrapper_attr(name):
                try:
                    result = use(env.get_wrapper_attr(name))
                except Unsupported as error:
                    if name not in str(error):
                        raise AssertionError(
                            f"the refusal of {name} does not name it: {error}"
                        ) from error
                else:
                    assert isinstance(result, expected), f"{name} gives {result!r}"

    def _tasks(self) -> Sequence[Any]:
        env = self.make_env()
        return env.get_wrapper_attr("tasks") if env.has_wrapper_attr("tasks") else ()


def _sound(episodes: Iterable[Episode]) -> list[Episode]:
    played = sorted(episodes, key=lambda episode: episode.task or "")
    for episode in played:
        assert not episode.error, f"{episode.task} broke: {episode.error}\n{episode.traceback}"
    return played


def _has_types(
    env: gym.Env[str, str],
    keys: set[str],
    observation: str,
    info: dict[str, Any],
) -> None:
    """Check an observation, and the keys that the suite gives to info."""
    assert observation in env.observation_space, f"{observation!r} is not in the observation space"
    assert keys <= set(info), f"info has {sorted(info)}, expected {sorted(keys)} among it"
    assert type(info.get("won", False)) is bool, f"info has won={info['won']!r}"
    assert type(info.get("invalid_reason", "")) is str
    _has_actions(info)


def _has_actions(info: dict[str, Any]) -> None:
    """Check the lists of actions that info may have."""
    for key in INFO_OF.values():
        actions = info.get(key, [])
        assert are_actions(actions), f"info has {key}={actions!r}, expected a list of texts"


def _pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))  # noqa: S301  # its own bytes


def _cloudpickled(env: Any) -> Any:
    # As Gymnasium sends environments to the processes of a vector.
    return pickle.loads(pickle.dumps(CloudpickleWrapper(env))).fn  # noqa: S301  # its own bytes


def _raises(
    expected: type[Exception] | tuple[type[Exception], ...],
    call: Callable[..., Any],
    *arguments: Any,
    **named: Any,
) -> Exception:
    """Return the expected error of a call; another one, or none, fails the test."""
    try:
        result = call(*arguments, **named)
    except expected as error:
        return error
    except Exception as error:
        raise AssertionError(f"expected {expected}, got {error!r}") from error
    raise AssertionError(f"expected {expected}, got no error but {result!r}")
