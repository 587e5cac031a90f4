"""What every agent must bear: a test to inherit.

    from textcraft_gym.testing import AgentContract

    class TestMyAgent(AgentContract):
        def make_agent(self):
            return MyAgent()

Run it with pytest; the model that answers is the simulated one, unless ``make_model`` returns another.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import gymnasium as gym

from textcraft_gym.agents.contract.agent import Agent, Completion, Model, Policy, Prompt
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.evaluation.episode import Episode
from textcraft_gym.evaluation.schedule import run_episodes
from textcraft_gym.registration import make
from textcraft_gym.spaces import AnyText


class SayingModel:
    """A model that says the same whatever it is asked."""

    def __init__(self, text: str) -> None:
        self.text = text

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the text, stops and bounds or not."""
        return Completion(self.text)


class MutteringEnv(gym.Env[str, str]):
    """A foreign world: no info, no end, and a text that says nothing."""

    def __init__(self) -> None:
        self.observation_space = self.action_space = AnyText()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin."""
        super().reset(seed=seed)
        return "", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Nothing comes of it."""
        return "", 0.0, False, False, {}


class AgentContract(ABC):
    """Tests of one agent; override ``make_agent``.

    Attributes:
        env_id: The environment that is played.
        tasks: The tasks of it that are played.
    """

    env_id = "TextCraft-v0"
    tasks: tuple[str, ...] = ("minecraft:beehive", "minecraft:hopper", "minecraft:sticky_piston")

    @abstractmethod
    def make_agent(self) -> Agent | Policy:
        """Return the agent under test."""

    def make_model(self) -> Model:
        """Return the model that answers it."""
        return SimulatedModel(span=3)

    def play(
        self, *, workers: int = 1, model: Model | None = None, max_calls: int = 300, max_steps: int | None = None
    ) -> list[Episode]:
        """Play every task and return the episodes by task; one that broke fails the test."""
        agent = self.make_agent()
        env_args = getattr(agent, "env_args", {})
        envs = [make(self.env_id, split="all", **env_args) for _ in range(workers)]
        jobs = [(task, 0) for task in self.tasks]
        model = model or self.make_model()
        return _sound(run_episodes(envs, agent, jobs, model=model, max_steps=max_steps, max_calls=max_calls))

    def test_agent__ends_and_says_whether_it_succeeded(self) -> None:
        """It does not ask for ever, its claim is True, False or None, and what it leaves can be kept as JSON."""
        for episode in self.play():
            assert episode.stop_reason != "max_calls", f"{episode.task}: it still asked after {episode.calls} calls"
            assert episode.claimed_success is None or type(episode.claimed_success) is bool, (
                f"claimed_success {episode.claimed_success!r}"
            )
            json.dumps(asdict(episode), allow_nan=False)

    def test_agent__plays_the_same_again(self) -> None:
        """The same task, seed and model give the same episode."""
        assert self.play() == self.play()

    def test_agent__keeps_nothing_of_one_episode_for_another(self) -> None:
        """Episodes that one agent plays at once are those that it plays one after the other."""
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
        """Nothing, nonsense, lies, a plan of itself and 100 kB each lead to an end within the bounds."""
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
            "x" * 100_000,
            "craft 1 x using " + "1 y, " * 20_000,
        ):
            self.play(model=SayingModel(text))

    def test_agent__plays_in_a_foreign_world(self) -> None:
        """It needs no info and no shape of text, unless it declares what it needs (``env_args``)."""
        agent = self.make_agent()
        if not getattr(agent, "env_args", {}):
            _sound(run_episodes([MutteringEnv()], agent, [(None, 0)], model=self.make_model(), max_calls=300))


def _sound(episodes: Iterable[Episode]) -> list[Episode]:
    played = sorted(episodes, key=lambda episode: episode.task or "")
    for episode in played:
        assert not episode.error, f"{episode.task} broke: {episode.error}\n{episode.traceback}"
    return played
