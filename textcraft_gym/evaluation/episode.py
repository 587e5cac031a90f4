"""The one loop in which agents meet environments: one episode, or many whose model calls go out together."""

from __future__ import annotations

import hashlib
import math
import secrets
import threading
import traceback
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeAlias

import gymnasium as gym

from textcraft_gym.agents.contract.agent import (
    Act,
    Agent,
    Ask,
    Completion,
    EpisodeOver,
    Model,
    ModelError,
    Node,
    Play,
    Policy,
    Request,
    Reset,
    Routine,
    Step,
)
from textcraft_gym.errors import TextCraftGymError

DEFAULT_MAX_STEPS = 100
DEFAULT_MAX_CALLS = 1000
MAX_REFUSALS = 1000
MAX_ERROR, MAX_TRACEBACK = 2000, 20_000
"""Characters that are kept of an error."""
TOKENS = ("prompt_tokens", "completion_tokens")

Models: TypeAlias = Model | Mapping[str, Model] | None
"""What answers an agent's questions: one model, or one for each role, of which ``executor`` answers for the others."""


class AgentError(TextCraftGymError, RuntimeError):
    """An agent that broke the contract: it acted when the episode was over, or asked for what nobody answers."""


@dataclass
class Episode:
    """What happened.

    Attributes:
        task: ``info["task"]`` of the first step, if the environment names its tasks, else the task asked for.
        seed: The seed of the reset.
        reward: The sum of rewards of the best trial, so that a reset never takes one back.
        won: Whether the environment ever said ``info["won"]``; None if it does not speak of that.
        claimed_success: What the agent claims of its own success; True if it let the end of an episode that was won
            pass, and None if it does not say.
        steps: Actions played, over all trials.
        calls: Completions asked for, by role.
        tokens: Tokens as the models counted them, by kind (``prompt_tokens``, ``completion_tokens``).
        cost: What the completions cost, in the currency of the models' prices.
        trials: 1 and the resets that the agent asked for.
        stop_reason: ``terminated``, ``truncated``, ``max_steps``, ``max_calls``, ``error``, or ``agent`` if it stopped
            by itself.
        error: What broke the episode, an exception's name and words; None if nothing did.
        traceback: Where it broke.
        transcript: Each action as it was played with its observation; a reset is an entry with the action None.
        trace: The parts that the agent divided the episode into, each with its steps, calls and outcome.
        k_max: The deepest level of decomposition at which something was executed: an action played or its executor
            asked.
    """

    task: str | None = None
    seed: int = 0
    reward: float = 0.0
    won: bool | None = None
    claimed_success: bool | None = None
    steps: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    cost: float = 0.0
    trials: int = 1
    stop_reason: str = "agent"
    error: str | None = None
    traceback: str | None = None
    transcript: list[tuple[str | None, str]] = field(default_factory=list)
    trace: Node = field(default_factory=lambda: Node("", "agent", 0))
    k_max: int = 0


class Job(NamedTuple):
    """An episode to play: which task, or None for what the seed draws, and the seed of its reset."""

    task: str | None
    seed: int


def run_episode(
    env: gym.Env[str, str],
    agent: Agent | Policy,
    *,
    task: str | None = None,
    seed: int | None = None,
    max_steps: int | None = None,
    model: Models = None,
    max_calls: int = DEFAULT_MAX_CALLS,
) -> Episode:
    """Let an agent play one episode of any Gymnasium environment of text.

    Args:
        env: The environment. None of the suite's info keys is needed.
        agent: An Agent, or a function ``(observation, info) -> action``.
        task: Which task to play; passed to ``reset`` as ``options={"task": task}``.
        seed: The seed of the reset, also behind the agent's own randomness; by default one is drawn and recorded.
        max_steps: The most actions, over all trials; by default what the agent declares (``agent.max_steps``), else
            the limit that the environment is registered with.
        model: What answers the agent's questions, or one for each role.
        max_calls: The most questions.

    Raises:
        AgentError: If the agent breaks the contract. Whatever it, a model or the environment raises is passed on.
    """
    job = Job(task, secrets.randbelow(1 << 31) if seed is None else seed)
    loop = _Loop(env, agent, job, model, step_budget(env, agent, max_steps), max_calls)
    under_way = loop.perform()
    question = next(under_way, None)
    while question:
        question = _go_on(under_way, _complete(*question))
    if loop.failure:
        raise loop.failure
    return loop.episode


def run_episodes(
    envs: Sequence[gym.Env[str, str]],
    agent: Agent | Policy,
    jobs: Iterable[tuple[str | None, int]],
    *,
    max_steps: int | None = None,
    model: Models = None,
    max_calls: int = DEFAULT_MAX_CALLS,
) -> Generator[Episode, None, None]:
    """Play many episodes, as many at a time as there are environments, and yield each as it ends.

    Environments and agent run in this thread alone; only models are asked beside it, all episodes at once. What an
    episode comes to does not depend on what is played next to it. One that breaks is yielded with its ``error``.

    Args:
        envs: Environments of one kind, one for each episode under way.
        agent: One agent for all; a function that asks a model by itself holds up the other episodes.
        jobs: A task (None for what the seed draws) and a seed for each episode.
        max_steps: As in ``run_episode``, for each episode.
        model: As in ``run_episode``; it is asked from other threads.
        max_calls: As in ``run_episode``, for each episode.
    """
    if not envs:
        raise ValueError("expected one environment or more")
    limit = step_budget(envs[0], agent, max_steps)
    idle = list(envs)
    waiting = iter(jobs)
    asked, answered = SimpleQueue[Any](), SimpleQueue[Any]()
    # Daemons: an interrupted run does not wait for a slow server before it ends.
    count = len(envs) if len(envs) > 1 else 0
    helpers = [threading.Thread(target=_serve, args=(asked, answered), daemon=True) for _ in range(count)]
    for helper in helpers:
        helper.start()
    talking = 0
    try:
        while True:
            if idle and (job := next(waiting, None)):
                loop = _Loop(idle.pop(), agent, Job(*job), model, limit, max_calls)
                under_way = loop.perform()
                question = next(under_way, None)
            elif talking:
                loop, under_way, answer = answered.get()
                talking -= 1
                question = _go_on(under_way, answer)
            else:
                return
            while question and not helpers:
                question = _go_on(under_way, _complete(*question))
            if question:
                asked.put((loop, under_way, question))
                talking += 1
            else:
                idle.append(loop.env)
                yield loop.episode
    finally:
        for _ in helpers:
            asked.put(None)


def registered_limit(env: gym.Env[Any, Any]) -> int:
    """Return the step limit that the environment's id is registered with, also where ``gym.make`` lifted it."""
    registered = gym.registry.get(env.spec.id) if env.spec else None
    return (registered and registered.max_episode_steps) or DEFAULT_MAX_STEPS


def step_budget(env: gym.Env[str, str], agent: Agent | Policy, max_steps: int | None = None) -> int:
    """Return the most actions of an episode: as given, else as the agent declares, else as registered."""
    declared = getattr(agent, "max_steps", None) if max_steps is None else max_steps
    limit = registered_limit(env) if declared is None else declared
    if limit < 1:
        raise ValueError(f"expected max_steps of 1 or more, got {limit}")
    return int(limit)


Question: TypeAlias = tuple[Model, Ask, int]
UnderWay: TypeAlias = Generator[Question, "Completion | Exception", None]


def _complete(model: Model, request: Ask, sample: int) -> Completion | Exception:
    """Ask a model; what it raises is an answer too, even what would end a helper's thread without a word."""
    try:
        return model.complete(
            request.prompt,
            stop=request.stop,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            sample=sample,
        )
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error if isinstance(error, Exception) else ModelError(f"{type(error).__name__}: {error}")


def _go_on(under_way: UnderWay, answer: Completion | Exception) -> Question | None:
    """Answer an episode's question and return its next one, or None when it has ended."""
    try:
        return under_way.send(answer)
    except StopIteration:
        return None


def _serve(asked: SimpleQueue[Any], answered: SimpleQueue[Any]) -> None:
    while (job := asked.get()) is not None:
        loop, under_way, question = job
        answered.put((loop, under_way, _complete(*question)))


class _Loop:
    """One episode: owns the environment, answers the agent's requests, and keeps both bounds."""

    def __init__(
        self,
        env: gym.Env[str, str],
        agent: Agent | Policy,
        job: Job,
        model: Models,
        max_steps: int,
        max_calls: int,
    ) -> None:
        self.env = env
        self.agent = agent
        self.options = None if job.task is None else {"task": job.task}
        self.model = model
        self.max_steps = max_steps
        self.max_calls = max_calls
        self.episode = Episode(task=job.task, seed=job.seed, trace=Node(job.task or "", "agent", 0))
        self.failure: Exception | None = None
        self.over = False
        self.exhausted = False
        self.refusals = 0
        self.returns: list[float] = []
        self.play = Play(Step("", 0.0, False, False, {}), node=self.episode.trace)

    def perform(self) -> UnderWay:
        """Play the episode to its end; yield what must be asked of a model, and be sent what it answers."""
        try:
            yield from self.run()
        except Exception as error:  # whatever an agent raises costs its episode, not the run
            self.failure = error
            self.episode.stop_reason = "error"
            self.episode.error = f"{type(error).__name__}: {_words(error)}"[:MAX_ERROR]
            self.episode.traceback = traceback.format_exc()[-MAX_TRACEBACK:]

    def run(self) -> UnderWay:
        first = self.begin()
        self.episode.task = first.info.get("task", self.episode.task)
        self.episode.trace.task = self.episode.task or ""
        play = self.play
        play.first, play.seed = first, _number(self.episode.task, self.episode.seed)
        routine = self.agent.episode(play) if hasattr(self.agent, "episode") else _follow(self.agent, play)
        if not isinstance(routine, Generator):
            raise AgentError(f"expected episode() to be a generator, got {type(routine).__name__}")
        try:
            request = next(routine)
            while True:
                answer = yield from self.answer(request)
                request = routine.throw(answer) if isinstance(answer, EpisodeOver) else routine.send(answer)
        except StopIteration as stop:
            if stop.value is not None and type(stop.value) is not bool:
                raise AgentError(f"expected episode() to return True, False or None, got {stop.value!r}") from None
            self.episode.claimed_success = stop.value
        except EpisodeOver as over:
            self.episode.claimed_success = True if over.won else None
        finally:
            routine.close()
        self.episode.trace.outcome = self.episode.claimed_success

    def answer(self, request: Request) -> Generator[Question, Completion | Exception, Step | Completion | EpisodeOver]:
        """Return what a request asks for, or the end of the episode, which is thrown."""
        if self.spent(request):
            self.refusals += 1
            if self.refusals > MAX_REFUSALS:
                raise AgentError("the agent does not stop, though its steps or calls are spent")
            return EpisodeOver(self.last)
        if isinstance(request, Act):
            step = self.act(request.text)
            return EpisodeOver(step) if self.over else step
        if isinstance(request, Reset):
            return self.again()
        if isinstance(request, Ask) and isinstance(request.role, str):
            return (yield from self.ask(request))
        raise AgentError(f"expected a request (Act, Ask or Reset), got {request!r}")

    def spent(self, request: Request) -> bool:
        """Tell whether a bound ends the episode; no reset refills what is spent."""
        if isinstance(request, Ask) and sum(self.episode.calls.values()) >= self.max_calls:
            self.exhausted = True
            self.episode.stop_reason = self.episode.stop_reason if self.over else "max_calls"
        return self.exhausted

    def act(self, text: str) -> Step:
        if not isinstance(text, str):
            raise AgentError(f"expected an action to be text, got {type(text).__name__}")
        if self.over:
            raise AgentError(f"the agent acted after the end of the episode: {text!r}")
        observation, reward, terminated, truncated, info = self.env.step(text)
        step = self.last = Step(observation, float(reward), terminated, truncated, info)
        self.play.history.append((text, step))
        self.play.node.parts.append(len(self.episode.transcript))
        self.episode.transcript.append((text, observation))
        self.episode.steps += 1
        self.play.node.steps += 1
        self.reach(self.play.node)
        self.returns[-1] += step.reward
        self.episode.reward = max(self.returns)
        self.see(info)
        self.exhausted = self.episode.steps >= self.max_steps
        ends = {"terminated": terminated, "truncated": truncated, "max_steps": self.exhausted}
        self.episode.stop_reason = next((end for end, reached in ends.items() if reached), "agent")
        self.over = self.episode.stop_reason != "agent"
        return step

    def again(self) -> Step:
        # Whoever begins again does something between: beyond all steps and calls there is only beginning again.
        if self.episode.trials > self.max_steps + self.max_calls:
            raise AgentError(f"the agent began again {self.episode.trials} times")
        self.episode.trials += 1
        self.play.history.clear()
        return self.begin()

    def begin(self) -> Step:
        observation, info = self.env.reset(seed=self.episode.seed, options=self.options)
        self.over, self.episode.stop_reason = False, "agent"
        self.returns.append(0.0)
        self.play.node.parts.append(len(self.episode.transcript))
        self.episode.transcript.append((None, observation))
        self.see(info)
        self.last = Step(observation, 0.0, False, False, info)
        return self.last

    def ask(self, request: Ask) -> Generator[Question, Completion | Exception, Completion]:
        model = self.model
        if isinstance(model, Mapping):
            model = model.get(request.role, model.get("executor"))
        if model is None:
            raise AgentError(f"the agent asked the {request.role} model, and this run has none")
        calls, tokens, node = self.episode.calls, self.episode.tokens, self.play.node
        calls[request.role] = calls.get(request.role, 0) + 1
        node.calls += 1
        if request.role == "executor":
            self.reach(node)
        completion = yield model, request, self.sample(request)
        if isinstance(completion, Exception):
            raise completion
        for kind, count in _usage(completion).items():
            tokens[kind] = tokens.get(kind, 0) + count
            node.tokens += count
        self.episode.cost += float(completion.cost)
        return completion

    def sample(self, request: Ask) -> int:
        """Return a number for the server's seed, 31 bits; 0 where nothing is drawn, so that equal prompts are equal."""
        return _number(self.play.seed, request.sample) >> 33 if request.temperature > 0 else 0

    def reach(self, node: Node) -> None:
        self.episode.k_max = max(self.episode.k_max, node.depth)

    def see(self, info: Mapping[str, Any]) -> None:
        if "won" in info:
            self.episode.won = bool(self.episode.won or info["won"])


def _usage(completion: Any) -> dict[str, int]:
    """Return the tokens of a completion, the kinds that are documented; anything else a model answers is its error."""
    if not isinstance(completion, Completion):
        raise ModelError(f"expected a model to answer with a Completion, got {type(completion).__name__}")
    if not isinstance(completion.text, str) or not math.isfinite(completion.cost):
        raise ModelError(f"expected a completion of text at a finite cost, got {completion!r}"[:MAX_ERROR])
    try:
        return {kind: int(completion.usage[kind]) for kind in TOKENS if kind in completion.usage}
    except (TypeError, ValueError) as error:
        raise ModelError(f"expected numbers of tokens, got {completion.usage!r}"[:MAX_ERROR]) from error


def _words(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # an exception of foreign code that cannot even be shown
        return "its words cannot be shown"


def _follow(policy: Policy, play: Play) -> Routine:
    step = play.first
    while True:
        step = yield from play.act(policy(step.observation, step.info))


def _number(of: object, and_of: object) -> int:
    return int.from_bytes(hashlib.sha256(f"{of}/{and_of}".encode()).digest()[:8], "big")
