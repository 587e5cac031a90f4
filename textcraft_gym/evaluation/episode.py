"""The one loop in which an agent meets an environment."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import gymnasium as gym

from textcraft_gym.agents.agent import (
    Act,
    Agent,
    Ask,
    Completion,
    EpisodeOver,
    Model,
    Node,
    Play,
    Request,
    Reset,
    Routine,
    Step,
)
from textcraft_gym.errors import TextCraftGymError

DEFAULT_MAX_STEPS = 100
DEFAULT_MAX_CALLS = 1000
MAX_REFUSALS = 1000

Policy: TypeAlias = Callable[[str, dict[str, Any]], str]
"""The simplest agent: a function of the last observation and info that returns an action."""


class AgentError(TextCraftGymError, RuntimeError):
    """An agent that broke the contract: it acted when the episode was over, or asked for what nobody answers."""


@dataclass
class Episode:
    """What happened.

    Attributes:
        task: ``info["task"]`` of the first step, if the environment names its tasks.
        seed: The seed of the reset.
        reward: The sum of rewards of the best trial, so that a reset never takes one back.
        won: Whether the environment ever said ``info["won"]``; None if it does not speak of that.
        belief: What the agent says of its own success, if it says so.
        steps: Actions played, over all trials.
        calls: Completions asked for.
        trials: 1 and the resets that the agent asked for.
        ended: ``terminated``, ``truncated``, ``max_steps``, ``max_calls``, or ``agent`` if it stopped by itself.
        transcript: Each action as it was played with its observation; a reset is an entry with the action None.
        trace: The parts that the agent divided the episode into, each with its steps, calls and outcome.
        k_max: The deepest level of decomposition at which an action was played.
    """

    task: str | None = None
    seed: int = 0
    reward: float = 0.0
    won: bool | None = None
    belief: bool | None = None
    steps: int = 0
    calls: int = 0
    trials: int = 1
    ended: str = "agent"
    transcript: list[tuple[str | None, str]] = field(default_factory=list)
    trace: Node = field(default_factory=lambda: Node("", "agent", 0))
    k_max: int = 0


def run_episode(
    env: gym.Env[str, str],
    agent: Agent | Policy,
    *,
    task: str | None = None,
    seed: int | None = None,
    max_steps: int | None = None,
    model: Model | Mapping[str, Model] | None = None,
    max_calls: int = DEFAULT_MAX_CALLS,
) -> Episode:
    """Let an agent play one episode of any Gymnasium environment of text.

    Args:
        env: The environment. None of the suite's info keys is needed.
        agent: An Agent, or a function ``(observation, info) -> action``.
        task: Which task to play; passed to ``reset`` as ``options={"task": task}``.
        seed: The seed of the reset, also behind the agent's own randomness; by default one is drawn and recorded.
        max_steps: The most actions, over all trials; by default the limit that the environment is registered with.
        model: What answers the agent's questions, or one for each role.
        max_calls: The most questions.

    Raises:
        AgentError: If the agent breaks the contract. Whatever it or the environment raises is passed on.
    """
    limit = registered_limit(env) if max_steps is None else max_steps
    if limit < 1:
        raise ValueError(f"expected max_steps of 1 or more, got {limit}")
    return _Loop(env, task, seed, limit, model, max_calls).run(agent)


def registered_limit(env: gym.Env[Any, Any]) -> int:
    """Return the step limit that the environment's id is registered with, also where ``gym.make`` lifted it."""
    registered = gym.registry.get(env.spec.id) if env.spec else None
    return (registered and registered.max_episode_steps) or DEFAULT_MAX_STEPS


class _Loop:
    """Owns the environment and the models, answers requests, and keeps both bounds."""

    def __init__(
        self,
        env: gym.Env[str, str],
        task: str | None,
        seed: int | None,
        max_steps: int,
        model: Model | Mapping[str, Model] | None,
        max_calls: int,
    ) -> None:
        self.env = env
        self.options = None if task is None else {"task": task}
        self.max_steps = max_steps
        self.model = model
        self.max_calls = max_calls
        self.episode = Episode(seed=secrets.randbelow(1 << 31) if seed is None else seed)
        self.over = False
        self.exhausted = False
        self.refusals = 0
        self.returns: list[float] = []

    def run(self, agent: Agent | Policy) -> Episode:
        first = self.begin()
        self.episode.task = first.info.get("task")
        self.episode.trace = Node(self.episode.task or "", "agent", 0)
        self.play = Play(first, _agent_seed(self.episode.task, self.episode.seed), node=self.episode.trace)
        routine = agent.episode(self.play) if hasattr(agent, "episode") else _follow(agent, self.play)
        if not isinstance(routine, Generator):
            raise AgentError(f"expected episode() to be a generator, got {type(routine).__name__}")
        try:
            request = next(routine)
            while True:
                request = self.answer(routine, request)
        except StopIteration as stop:
            self.episode.belief = self.episode.trace.outcome = stop.value
        except EpisodeOver:
            pass
        finally:
            routine.close()
        return self.episode

    def answer(self, routine: Routine, request: Request) -> Request:
        """Answer one request with what it asks for, or with the end of the episode."""
        if self.spent(request):
            self.refusals += 1
            if self.refusals > MAX_REFUSALS:
                raise AgentError("the agent does not stop, though its steps or calls are spent")
            return routine.throw(EpisodeOver(self.last))
        if isinstance(request, Act):
            step = self.act(request.text)
            return routine.throw(EpisodeOver(step)) if self.over else routine.send(step)
        if isinstance(request, Reset):
            return routine.send(self.again())
        if isinstance(request, Ask):
            return routine.send(self.ask(request))
        raise AgentError(f"expected a request (Act, Ask or Reset), got {request!r}")

    def spent(self, request: Request) -> bool:
        """Tell whether a bound ends the episode; no reset refills what is spent."""
        if isinstance(request, Ask) and self.episode.calls >= self.max_calls:
            self.exhausted, self.episode.ended = True, "max_calls"
        return self.exhausted

    def act(self, text: str) -> Step:
        if self.over:
            raise AgentError(f"the agent acted after the end of the episode: {text!r}")
        observation, reward, terminated, truncated, info = self.env.step(text)
        step = self.last = Step(observation, float(reward), terminated, truncated, info)
        self.play.history.append((text, step))
        self.episode.transcript.append((text, observation))
        self.episode.steps += 1
        self.play.node.steps += 1
        self.episode.k_max = max(self.episode.k_max, self.play.node.depth)
        self.returns[-1] += step.reward
        self.episode.reward = max(self.returns)
        self.see(info)
        self.exhausted = self.episode.steps >= self.max_steps
        ends = {"terminated": terminated, "truncated": truncated, "max_steps": self.exhausted}
        self.episode.ended = next((end for end, reached in ends.items() if reached), "agent")
        self.over = self.episode.ended != "agent"
        return step

    def again(self) -> Step:
        if self.episode.trials > self.max_steps:
            raise AgentError(f"the agent began again {self.max_steps} times")
        self.episode.trials += 1
        self.play.history.clear()
        return self.begin()

    def begin(self) -> Step:
        observation, info = self.env.reset(seed=self.episode.seed, options=self.options)
        self.over, self.episode.ended = False, "agent"
        self.returns.append(0.0)
        self.episode.transcript.append((None, observation))
        self.see(info)
        self.last = Step(observation, 0.0, False, False, info)
        return self.last

    def ask(self, request: Ask) -> Completion:
        model = self.model.get(request.role) if isinstance(self.model, Mapping) else self.model
        if model is None:
            raise AgentError(f"the agent asked the {request.role} model, and this run has none")
        self.episode.calls += 1
        self.play.node.calls += 1
        completion = model.complete(
            request.prompt,
            stop=request.stop,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            sample=request.sample,
        )
        self.play.node.tokens += sum(completion.usage.values())
        return completion

    def see(self, info: Mapping[str, Any]) -> None:
        if "won" in info:
            self.episode.won = bool(self.episode.won or info["won"])


def _follow(policy: Policy, play: Play) -> Routine:
    step = play.first
    while True:
        step = yield from play.act(policy(step.observation, step.info))


def _agent_seed(task: str | None, seed: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{task}/{seed}".encode()).digest()[:8], "big")
