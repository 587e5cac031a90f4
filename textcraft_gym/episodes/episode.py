"""One episode: an agent plays in an environment and calls models."""

from __future__ import annotations

import hashlib
import math
import secrets
import time
import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import Any, NamedTuple, SupportsFloat, TypeAlias

import gymnasium as gym

from textcraft_gym.agents.contract.agent import (
    Act,
    Agent,
    AgentLike,
    Ask,
    Compute,
    EpisodeOver,
    Node,
    Play,
    Reading,
    Request,
    Reset,
    Restore,
    Routine,
    Snapshot,
    Step,
    latched,
)
from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Form,
    Limit,
    Model,
    ModelError,
    ModelLimit,
    ModelUnavailable,
    form_of,
)
from textcraft_gym.agents.redaction import redact
from textcraft_gym.agents.registry import as_agent
from textcraft_gym.envs.text_env import Draws, snapshot_of
from textcraft_gym.episodes.calls import Call, CallLog
from textcraft_gym.episodes.episode_limits import (
    NO_LIMITS,
    EpisodeLimit,
    EpisodeLimits,
    LimitReached,
)
from textcraft_gym.episodes.model_calls import Function, ModelCall, ModelCalls
from textcraft_gym.episodes.model_limits import limit_of_answers, limit_of_error
from textcraft_gym.episodes.step_limit import step_budget, without_registered_limit
from textcraft_gym.errors import RunStopped, TextCraftGymError, Unsupported, at_least, number
from textcraft_gym.registration import INFO_OF, check_info, how_to_have
from textcraft_gym.task import tasks_of

# Agents that end by themselves end earlier.
DEFAULT_MAX_CALLS = 1000
MAX_REFUSALS = 1000
MAX_ERROR, MAX_TRACEBACK = 2000, 20_000
"""Maximum lengths of a recorded error and its traceback, in characters."""
TOKENS = ("prompt_tokens", "completion_tokens")
INTERRUPTED = "interrupted"
"""Message of the error of an episode that was under way when its run was interrupted."""
MAX_TOKENS = 1 << 53
"""Number of tokens that no completion has: larger ones have no exact floating-point number."""

Models: TypeAlias = Model | Mapping[str, Model] | None
"""The models of a run: one, or one per role with ``executor`` as the default for the others."""
OnRequest: TypeAlias = Callable[[Request, "Episode"], None]
"""Called with each request of an agent before it is answered, and the episode up to there."""


class AgentError(TextCraftGymError, RuntimeError):
    """An agent broke its contract: it acted after the end, or asked a model that the run lacks."""


@dataclass
class Episode:
    """Record of one episode.

    Attributes:
        task: ``info["task"]`` of the first step, if the environment names its tasks, else the task
            asked for.
        seed: Seed of the reset.
        repeat: Number of the episode among those of one task and seed, from 0; samples of models
            depend on it.
        reward: Sum of rewards of the best trial, so that a reset never takes one back; of a trial
            that goes back, the best of the branches.
        won: Whether info ever said that the task is done (see ``won_in``), or the reward reached
            the bound of the run (``won_at``); None if neither says.
        claimed_success: The agent's own claim of success: its last word, or what it implied by the
            action that ended the episode, such as a purchase. None if it said nothing: the game
            ended the episode, won or not, the agent was cut off, or it never makes claims.
        steps: Actions played, over all trials.
        calls: Completions asked for, by role.
        tokens: Tokens as counted by the models, by kind (``prompt_tokens``, ``completion_tokens``).
        cost: Price of the completions, in the currency of the models' prices.
        replies: Counts of the replies: those of ``Play.replies``, ``asked`` for all completions of
            the run's models, ``empty`` for those without a text, and ``cut`` for texts that ended
            at the token limit. An agent that reads no commands from replies has no ``bare``,
            ``worded`` or ``no_command``.
        trials: 1 plus the resets that the agent asked for.
        stop_reason: ``terminated``, ``truncated``, ``max_steps``, ``max_calls``, ``limit``,
            ``error``, or ``agent`` if it stopped by itself.
        limit: The limit that ended the episode, which is lost by it unless it was won before: the
            model's own, or one that the run sets to each episode; None if none did. The last note
            of the trace says how.
        error: Type and message of the exception that broke the episode; None if none did.
        traceback: Traceback of that exception.
        transcript: Each action as it was played with its observation. A reset is an entry with the
            action None, as is a return to an earlier moment, with the observation of that moment.
        restores: The returns to earlier moments, each as two indices of entries of the transcript:
            its own, and the one whose moment it leads to. Any other entry but a reset follows the
            entry before it.
        trace: The tree of parts into which the agent divided the episode, each with its steps,
            calls and outcome.
        k_max: Deepest level of decomposition at which something was executed: an action played or
            the executor asked.
        picture: The last state as an SVG picture; empty if the environment draws none.
        start: Time of the start, UTC, in ISO 8601. This and the durations are ignored when episodes
            are compared.
        seconds: Duration from the start to the end, during which other episodes may have been
            played, too.
        model_seconds: Sum of the durations of all completions.
    """

    task: str | None = None
    seed: int = 0
    repeat: int = 0
    reward: float = 0.0
    won: bool | None = None
    claimed_success: bool | None = None
    steps: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    cost: float = 0.0
    replies: dict[str, int] = field(default_factory=dict)
    trials: int = 1
    stop_reason: str = "agent"
    limit: Limit | EpisodeLimit | None = None
    error: str | None = None
    traceback: str | None = None
    transcript: list[tuple[str | None, str]] = field(default_factory=list)
    restores: list[tuple[int, int]] = field(default_factory=list)
    trace: Node = field(default_factory=lambda: Node("", "agent", 0))
    k_max: int = 0
    picture: str = ""
    start: str = field(default="", compare=False)
    seconds: float = field(default=0.0, compare=False)
    model_seconds: float = field(default=0.0, compare=False)


TIMES = tuple(field.name for field in fields(Episode) if not field.compare)
"""Fields that differ when an episode is played again."""


@dataclass(frozen=True, eq=False)
class _Moment:
    """A moment of an episode to go back to.

    Attributes:
        episode: The record of the episode.
        position: Index of its entry in the transcript.
        total: Sum of rewards up to there.
        history: The agent's history.
        last: The step that led there.
        game: The environment's snapshot.
    """

    episode: Episode
    position: int
    total: float
    history: tuple[tuple[str, Step], ...]
    last: Step
    game: object


class _Thrown(NamedTuple):
    """An answer that is raised where the agent made its request."""

    error: Exception


_NO_REQUEST = CompletionRequest("", (), 0, 0.0, 0)
"""What a function is asked in the place of a model."""


class Job(NamedTuple):
    """An episode to play.

    Attributes:
        task: The task; None to have the seed draw one.
        seed: Seed of the reset.
        repeat: Number of the episode among those of this task and seed, from 0: each has its own
            random choices of the agent and, at a temperature above 0, its own samples of the
            models.
    """

    task: str | None
    seed: int
    repeat: int = 0


def as_job(job: Job | tuple[str | None, int]) -> Job:
    """Return a job, also of a task and a seed alone.

    Raises:
        ValueError: If it is none.
    """
    if not isinstance(job, tuple | list) or len(job) not in (2, 3):
        raise ValueError(f"expected a job (task, seed), got {job!r}")
    return Job(*job)


def run_episode(
    env: gym.Env[str, str],
    agent: AgentLike,
    *,
    task: str | None = None,
    seed: int | None = None,
    max_steps: int | None = None,
    model: Models = None,
    max_calls: int = DEFAULT_MAX_CALLS,
    won_at: float | None = None,
    temperature: float = 0.0,
    on_request: OnRequest = lambda request, episode: None,
    reading: Reading = "lenient",
) -> Episode:
    """Let an agent play one episode of any Gymnasium text environment.

    Args:
        env: The environment. None of the suite's info keys is needed.
        agent: An Agent, a function ``(observation[, info]) -> action``, or an object with
            ``act(observation[, info])`` and perhaps ``reset()``; a class is made.
        task: Task to play; passed to ``reset`` as ``options={"task": task}``.
        seed: Seed of the reset, and of the agent's own randomness; by default one is drawn and
            recorded.
        max_steps: Maximum number of actions, over all trials; by default ``agent.max_steps`` if the
            agent declares it, else the registered limit of the environment.
        model: The model that the agent asks, or one for each role.
        max_calls: Maximum number of completions. An agent that asks for more samples at once than
            are left gets none, and the episode ends.
        won_at: The reward with which an episode is won, for environments whose info does not say
            so.
        temperature: Sampling temperature where the agent asks for the likeliest completion.
        on_request: Called with each request of the agent before it is answered, and with the record
            up to there, which grows; for those who watch an episode.
        reading: How replies are read for commands: ``lenient`` finds them in the forms in which
            chat models write them, ``strict`` takes the first line as it is, as the papers'
            programs do.

    Raises:
        ValueError: If the agent is none, a number is none or out of bounds, or the environment was
            not made with what the agent declares in ``env_args``.
        AgentError: If the agent breaks the contract. Exceptions of the agent, a model or the
            environment are passed on.
        ModelLimit: If the model's own limit ends the episode, such as an answer without a text.
    """
    job = Job(task, secrets.randbelow(1 << 31) if seed is None else seed)
    player = as_agent(agent)
    limits = step_budget(env, player, max_steps), max_calls
    runner = EpisodeRunner(
        env,
        player,
        job,
        model,
        *limits,
        won_at=won_at,
        temperature=temperature,
        on_request=on_request,
        reading=reading,
    )
    with closing(ModelCalls()) as threads, closing(runner):
        while call := runner.advance():
            threads.answer(call)
    if runner.failure:
        raise runner.failure
    return runner.episode


class EpisodeRunner:
    """Plays one episode: owns the environment, answers the agent, and enforces both budgets.

    Attributes:
        job: The job that it plays.
        episode: The record so far.
        failure: The exception that broke the episode, or the limit that ended it; None if there is
            none.
        log: The calls of models so far; None where they are not kept.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        agent: Agent,
        job: Job,
        model: Models,
        max_steps: int,
        max_calls: int,
        *,
        won_at: float | None = None,
        temperature: float = 0.0,
        on_request: OnRequest = lambda request, episode: None,
        reading: Reading = "lenient",
        limits: EpisodeLimits = NO_LIMITS,
        keeps_calls: bool = False,
    ) -> None:
        at_least("max_calls", max_calls, 0)
        amounts = {"temperature": temperature, "won_at": won_at, **limits._asdict()}
        for name, amount in amounts.items():
            if amount is not None:
                number(name, amount)
        self.env = self.world = env
        self.agent = agent
        self.job = job
        self.options = None if job.task is None else {"task": job.task}
        self.model = model
        self.max_steps = max_steps
        self.max_calls = max_calls
        self.won_at = won_at
        self.temperature = temperature
        self.on_request = on_request
        self.limits = limits
        self.deadline: float | None = None
        self.episode = Episode(
            job.task,
            job.seed,
            job.repeat,
            trace=Node(job.task or "", "agent", 0),
        )
        self.failure: Exception | None = None
        self.log = CallLog() if keeps_calls else None
        self.over = False
        self.out_of_budget = False
        self.refusals = 0
        self.position = 0
        self.total = 0.0
        # The sum of rewards at the end of each branch, by its entry in the transcript.
        self.returns: dict[int, float] = {}
        executor = model.get("executor") if isinstance(model, Mapping) else model
        form: Form = "line" if executor is None else form_of(executor)
        self.play = Play(
            Step("", 0.0, False, False, {}),
            node=self.episode.trace,
            form=form,
            reading=reading,
        )
        self._calls = self._play()
        self._call: ModelCall | None = None

    def advance(self) -> ModelCall | None:
        """Play until the next model call, or to the end.

        The call must be answered before the next ``advance``.

        Returns:
            The call, or None at the end of the episode.
        """
        self._call = next(self._calls, None)
        return self._call

    @property
    def calls(self) -> list[Call]:
        """What models were asked and answered; empty where that is not kept."""
        return self.log.calls(self.episode.trace) if self.log else []

    def close(self) -> None:
        """End the episode if it is under way; its agent can clean up.

        What its models have answered counts.
        """
        while self._call is not None:
            self._call.refuse(_interrupted())
            self.advance()
        self._calls.close()

    def _play(self) -> Generator[ModelCall, None, None]:
        start = time.perf_counter()
        if self.limits.seconds is not None:
            self.deadline = time.monotonic() + self.limits.seconds
        self.episode.start = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        try:
            with without_registered_limit(self.env) as self.world:
                yield from self._run_agent()
        except (ModelLimit, LimitReached) as limit:
            self.failure = limit
            self.episode.stop_reason, self.episode.limit = "limit", limit.limit
            self.play.note(str(limit))
        except Exception as error:  # an agent may raise anything; it costs the episode, not the run
            self._fail(error)
        except (KeyboardInterrupt, SystemExit):  # in the agent's code, or the environment's
            self._fail(_interrupted())
            raise
        finally:
            self._count_reports()
            # The plus drops the kinds that were counted 0 times.
            self.episode.replies = dict(+self.play.replies)
            self._judge()
            self.episode.seconds = round(time.perf_counter() - start, 6)

    def _fail(self, error: Exception) -> None:
        self.failure = error
        self.episode.stop_reason = "error"
        self.episode.error = redact(f"{_kind(error)}: {_message(error, self.env)}")[:MAX_ERROR]
        self.episode.traceback = redact(traceback.format_exc())[-MAX_TRACEBACK:]

    def _run_agent(self) -> Generator[ModelCall, None, None]:
        first = self._reset()
        check_info(self.agent, self.env, first.info)
        self.episode.task = self._task_of(first.info)
        self.episode.trace.task = self.episode.task or ""
        # Without a repeat as in older records, whose random choices must stay the same.
        parts: list[object] = [self.episode.task, self.episode.seed]
        if self.episode.repeat:
            parts.append(f"repeat {self.episode.repeat}")
        self.play.first, self.play.seed = first, _derived_seed(*parts)
        routine = self._routine()
        try:
            request = next(routine)
            while True:
                self._count_reports()
                self.on_request(request, self.episode)
                answer = yield from self._answer(request)
                if isinstance(answer, _Thrown):
                    request = routine.throw(answer.error)
                else:
                    request = routine.send(answer)
        except StopIteration as stop:
            _check_claim("episode() to return", stop.value)
            self.episode.claimed_success = stop.value
        except EpisodeOver as over:
            self.episode.claimed_success = over.claim
        finally:
            routine.close()
            if isinstance(self.world.unwrapped, Draws):
                self.episode.picture = self.world.unwrapped.picture()
        self.episode.trace.outcome = self.episode.claimed_success

    def _routine(self) -> Routine:
        routine = self.agent.episode(self.play)
        if not isinstance(routine, Generator):
            raise AgentError(f"expected episode() to be a generator, got {type(routine).__name__}")
        return routine

    def _task_of(self, info: Mapping[str, Any]) -> str | None:
        """Return the task that the environment says it plays, else the one that it was asked for.

        Raises:
            ValueError: If it was asked for one of its tasks and plays another, so that the record
                would be of that one.
        """
        requested, played = self.episode.task, info.get("task")
        if not isinstance(played, str) or played == requested:
            return requested
        # The environment may call a task of a reset by another name, but not one of its own tasks.
        if requested is not None and any(task.id == requested for task in tasks_of(self.env) or ()):
            raise ValueError(
                f"expected the task {requested!r}, but the environment plays {played!r}"
            )
        return played

    def _answer(self, request: Request) -> Generator[ModelCall, None, Any]:
        """Return the answer to a request; the end and a refusal are thrown into the agent.

        Raises:
            LimitReached: If the episode has reached a limit, which is not thrown into the agent: it
                might go on.
        """
        self._check_limits(request)
        self._check_budget(request)
        if self.out_of_budget:
            return self._refuse()
        if isinstance(request, Act):
            return self._answer_act(request)
        if isinstance(request, Reset):
            return self._next_trial()
        if isinstance(request, Ask) and isinstance(request.role, str):
            completions = yield from self._ask(request)
            return completions if request.n > 1 else completions[0]
        if isinstance(request, Compute):
            return (yield from self._compute(request))
        if isinstance(request, Snapshot):
            return self._keep_moment()
        if isinstance(request, Restore):
            return self._go_back(request.moment)
        raise AgentError(
            f"expected a request (Act, Ask, Compute, Reset, Snapshot or Restore), got {request!r}"
        )

    def _refuse(self) -> _Thrown:
        # An agent may catch EpisodeOver and ask again, which must not become an infinite loop.
        self.refusals += 1
        if self.refusals > MAX_REFUSALS:
            raise AgentError("the agent does not stop, though its steps or calls are spent")
        return _Thrown(EpisodeOver(self.last))

    def _answer_act(self, request: Act) -> Step | _Thrown:
        _check_claim("the claim of an action to be", request.claim)
        step = self._act(request.text)
        if not self.over:
            return step
        # The action that a step limit cut off ended nothing, and claims nothing.
        return _Thrown(EpisodeOver(step, request.claim if step.terminated else None))

    def _check_limits(self, request: Request) -> None:
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise self.limits.out_of_time()
        if isinstance(request, Ask | Compute):  # nothing else costs
            self.limits.check_spent(sum(self.episode.tokens.values()), self.episode.cost)

    def _check_budget(self, request: Request) -> None:
        """End the episode if a request needs more calls than are left; a reset refunds none."""
        if not isinstance(request, Ask):
            return
        if sum(self.episode.calls.values()) + request.n > self.max_calls:
            self.out_of_budget = True
            if not self.over:
                self.episode.stop_reason = "max_calls"

    def _act(self, text: str) -> Step:
        if not isinstance(text, str):
            raise AgentError(f"expected an action to be text, got {type(text).__name__}")
        if self.over:
            raise AgentError(f"the agent acted after the end of the episode: {text!r}")
        observation, reward, terminated, truncated, info = self.world.step(text)
        _check_types("step", observation, info, reward)
        step = self.last = Step(observation, float(reward), terminated, truncated, info)
        self.play.history.append((text, step))
        self.returns.pop(self.position, None)  # the branch goes on
        self.position = self._write(text, observation)
        self.episode.steps += 1
        self.play.node.steps += 1
        self._note_depth(self.play.node)

        self.total += step.reward
        self.returns[self.position] = self.total
        # Best over all trials and branches: a worse retry must not lower it.
        self.episode.reward = max(self.returns.values())
        self._note_win(info)

        self.out_of_budget = self.episode.steps >= self.max_steps
        self.over = True
        # The game's own end goes before a budget that is spent with the same action.
        if terminated:
            self.episode.stop_reason = "terminated"
        elif truncated:
            self.episode.stop_reason = "truncated"
        elif self.out_of_budget:
            self.episode.stop_reason = "max_steps"
        else:
            self.episode.stop_reason = "agent"
            self.over = False
        return step

    def _next_trial(self) -> Step:
        self._check_returns()
        self.episode.trials += 1
        self.play.history.clear()
        return self._reset()

    def _reset(self) -> Step:
        observation, info = self.world.reset(seed=self.episode.seed, options=self.options)
        _check_types("reset", observation, info)
        self.over, self.episode.stop_reason = False, "agent"
        self.position, self.total = self._write(None, observation), 0.0
        self.returns[self.position] = self.total
        self._note_win(info)
        self.last = Step(observation, 0.0, False, False, info)
        return self.last

    def _keep_moment(self) -> _Moment | _Thrown:
        if self.over:
            raise AgentError("the agent took a snapshot after the end of the episode")
        try:
            game = snapshot_of(self.world)
        except Unsupported as refusal:
            return _Thrown(refusal)
        return _Moment(
            self.episode,
            self.position,
            self.total,
            tuple(self.play.history),
            self.last,
            game,
        )

    def _go_back(self, moment: object) -> Step:
        if not isinstance(moment, _Moment) or moment.episode is not self.episode:
            expected = "a moment of this episode, from a Snapshot"
            raise AgentError(f"expected {expected}, got {moment!r}"[:200])
        self._check_returns()
        self.world.get_wrapper_attr("restore")(moment.game)
        self.over, self.episode.stop_reason = False, "agent"
        self.position, self.total, self.last = moment.position, moment.total, moment.last
        self.play.history[:] = moment.history
        self.episode.restores.append((self._write(None, self.last.observation), self.position))
        return self.last

    def _check_returns(self) -> None:
        """Raise AgentError for more resets and restores than steps plus calls: an infinite loop."""
        returns = self.episode.trials + len(self.episode.restores)
        if returns > self.max_steps + self.max_calls:
            raise AgentError(f"the agent began again or went back {returns} times")

    def _write(self, action: str | None, observation: str) -> int:
        """Add an entry to the transcript and the trace, and return its index."""
        index = len(self.episode.transcript)
        self.play.node.parts.append(index)
        self.episode.transcript.append((action, observation))
        return index

    def _ask(self, request: Ask) -> Generator[ModelCall, None, list[Completion]]:
        model = self._model_of(request.role)
        calls, node = self.episode.calls, self.play.node
        calls[request.role] = calls.get(request.role, 0) + request.n
        node.calls += request.n
        if request.role == "executor":  # planning alone does not deepen k_max
            self._note_depth(node)
        samples = [self._sample(request, index) for index in range(request.n)]
        call = ModelCall(model, samples, deadline=self.deadline)
        yield call
        self.episode.model_seconds = round(self.episode.model_seconds + call.seconds, 6)

        # All answers are paid for, so each counts before any is judged.
        completions: list[Completion] = []
        first_error: Exception | None = None
        for index, sample in enumerate(samples):
            answer = call.answers[index]
            self._log(request.role, model, sample, answer, call.durations.get(index, 0.0))
            error = self._count(answer)
            if not isinstance(answer, Exception):
                completions.append(answer)
            first_error = first_error or error
        if first_error:
            raise limit_of_error(first_error) or first_error
        if limit := limit_of_answers(completions, request.max_tokens, request.prompt):
            raise limit  # not thrown into the agent, which could do nothing with it
        return completions

    def _model_of(self, role: str) -> Model:
        model = self.model
        if isinstance(model, Mapping):
            model = model.get(role, model.get("executor"))
        if model is None:
            raise AgentError(f"the agent asked the {role} model, and this run has none")
        return model

    def _compute(self, request: Compute) -> Generator[ModelCall, None, Any]:
        """Call a function of the agent in a thread; what it raises is thrown into the agent.

        Raises:
            RunStopped, LimitReached: If the run or the episode may not go on.
        """
        call = ModelCall(Function(request.function), [_NO_REQUEST], deadline=self.deadline)
        yield call
        answer: Any = call.answers[0]
        if isinstance(answer, RunStopped | LimitReached):
            raise answer
        return _Thrown(answer) if isinstance(answer, Exception) else answer

    def _count_reports(self) -> None:
        """Count the completions that the agent had from elsewhere."""
        for report, node in self.play.reports:
            calls, tokens = self.episode.calls, self.episode.tokens
            calls[report.role] = calls.get(report.role, 0) + report.calls
            for kind, count in report.tokens.items():
                tokens[kind] = tokens.get(kind, 0) + count
            node.calls += report.calls
            node.tokens += sum(report.tokens.values())
            self.episode.cost += report.cost
            self.episode.model_seconds = round(self.episode.model_seconds + report.seconds, 6)
            if self.log:
                self.log.report(report, entry=len(self.episode.transcript), node=node)
        self.play.reports.clear()

    def _sample(self, request: Ask, index: int) -> CompletionRequest:
        """Return the request of one sample.

        At temperature 0 its seed is 0, so that a cassette shares equal prompts.
        """
        temperature = request.temperature or self.temperature
        sample = request.sample if index == 0 else f"{request.sample}/{index}"
        # Seeds of 31 bits are accepted by every server.
        seed = _derived_seed(self.play.seed, sample) >> 33 if temperature > 0 else 0
        return CompletionRequest(
            request.prompt,
            request.stop,
            request.max_tokens,
            temperature,
            seed,
            request.tools,
        )

    def _log(
        self,
        role: str,
        model: Model,
        request: CompletionRequest,
        answer: Completion | Exception,
        seconds: float,
    ) -> None:
        if self.log:
            entry, node = len(self.episode.transcript), self.play.node
            self.log.add(
                role,
                model,
                request,
                answer,
                seconds=round(seconds, 6),
                entry=entry,
                node=node,
            )

    def _count(self, answer: Completion | Exception) -> Exception | None:
        """Add the cost and the tokens of an answer, and whether it was empty or cut off.

        Returns:
            The error that the answer is, or what is wrong with it; None for one that can be used.
        """
        paid: Any = answer
        if isinstance(answer, Exception):
            paid = getattr(answer, "spent", None)  # an error may have cost something
        if paid is not None:
            cost = cost_of(paid) or 0.0
            self.episode.cost += cost
            try:
                counts = token_counts(paid)
            except ModelError as error:
                return error
            for kind, count in counts.items():
                self.episode.tokens[kind] = self.episode.tokens.get(kind, 0) + count
                self.play.node.tokens += count
            if self.log:
                self.log.pay(cost, counts)
        if isinstance(answer, Exception):
            return answer
        self.play.replies["asked"] += 1
        if answer.is_empty:
            self.play.replies["empty"] += 1
        elif answer.finish_reason == "length":
            self.play.replies["cut"] += 1
        return None

    def _note_depth(self, node: Node) -> None:
        self.episode.k_max = max(self.episode.k_max, node.depth)

    def _note_win(self, info: Mapping[str, Any]) -> None:
        self.episode.won = latched(self.episode.won, info)

    def _judge(self) -> None:
        """Have the reward decide whether the episode was won, if the run gives a bound."""
        if self.won_at is not None:
            reward = self.episode.reward
            # Sums of rewards are rounded: ten times 0.1 is less than 1.
            reached = reward >= self.won_at or math.isclose(reward, self.won_at)
            self.episode.won = bool(self.episode.won) or reached


def _interrupted() -> RunStopped:
    return RunStopped(INTERRUPTED, at_limit=False)


def _check_claim(expected: str, claim: object) -> None:
    """Raise AgentError unless a claim is True, False or None."""
    if claim is not None and type(claim) is not bool:
        raise AgentError(f"expected {expected} True, False or None, got {claim!r}") from None


def _check_types(
    method: str,
    observation: Any,
    info: Any,
    reward: Any = 0.0,
) -> None:
    """Make sure that a record can have what a world returns, before the episode is played."""
    for part, value, kind, expected in (
        ("observation", observation, str, "a text"),
        ("reward", reward, SupportsFloat, "a number"),
        ("info", info, Mapping, "a mapping"),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"expected {expected} as {part} of {method}(), got {value!r}"[:500])


def cost_of(completion: Any) -> float | None:
    """Return the cost of a completion; None if it is not a finite number of 0 or more."""
    try:
        cost = float(completion.cost)
    except (AttributeError, TypeError, ValueError, OverflowError):
        return None
    return cost if 0 <= cost < math.inf else None


def token_counts(completion: Any) -> dict[str, int]:
    """Return the tokens of a completion by kind, the documented kinds only.

    Raises:
        ModelError: If it is not a valid completion; checked here, since models are foreign code.
    """
    if not isinstance(completion, Completion):
        raise ModelError(
            f"expected a model to answer with a Completion, got {type(completion).__name__}"
        )
    if not isinstance(completion.text, str) or cost_of(completion) is None:
        raise ModelError(
            f"expected a completion of text at a finite cost, got {completion!r}"[:MAX_ERROR]
        )
    try:
        counts = {kind: int(completion.usage[kind]) for kind in TOKENS if kind in completion.usage}
        if not all(0 <= count < MAX_TOKENS for count in counts.values()):
            raise ValueError("negative, or more than any model can reach")
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(
            f"expected numbers of tokens, got {completion.usage!r}"[:MAX_ERROR]
        ) from error
    return counts


def _kind(error: Exception) -> str:
    """Return the name of an error's class.

    Where no model can be asked it is that of the contract, which runs look for.
    """
    if isinstance(error, ModelUnavailable):
        return ModelUnavailable.__name__
    return type(error).__name__


def _message(error: Exception, env: gym.Env[Any, Any]) -> str:
    if isinstance(error, KeyError):
        for key in INFO_OF.values():
            if error.args == (key,):
                return f"info of this environment lacks {key!r}: {how_to_have(env, key)}"
    try:
        return str(error)
    except Exception:  # an exception of foreign code that cannot even be shown
        return "its message cannot be shown"


def _derived_seed(*parts: object) -> int:
    """Return a 64-bit seed that depends on the parts alone, on every machine."""
    # Python's own hash of a text differs from process to process.
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big")
