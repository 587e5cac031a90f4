"""The contract between an agent and the loop that runs it.

An agent is a generator over one episode. It yields requests (act, ask a model, reset, keep a moment and go back to it)
and is sent the answers: an agent that calls another writes ``yield from``, and one loop can own one environment or
many. When the episode ends, by the environment or by a limit on steps or calls, ``EpisodeOver`` is thrown at the yield:
let it pass, or catch it to reset for another trial or to go back. An agent keeps its state in the generator's local
variables, never on ``self``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

MAX_NOTE = 10_000
"""Maximum length of a note, in characters; the rest is cut off."""


class Step(NamedTuple):
    """The environment's answer to an action; after a reset the reward is 0 and both end flags are False."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @property
    def won(self) -> bool:
        """Whether the step won: ``info["won"]``, or for environments without it, an end with a reward."""
        return bool(self.info.get("won", self.terminated and self.reward > 0))


class Message(NamedTuple):
    """One message of a dialogue with a model.

    Attributes:
        role: ``system``, ``user`` or ``assistant``.
        content: The text.
    """

    role: str
    content: str


class Dialogue(str):
    """A text prompt that is also a dialogue: completion models continue the text, chat models get the messages.

    Attributes:
        messages: The same dialogue, message by message.
    """

    messages: tuple[Message, ...]

    def __new__(cls, text: str, messages: Iterable[Message]) -> Dialogue:
        """Return the text with its messages."""
        dialogue = super().__new__(cls, text)
        dialogue.messages = tuple(messages)
        return dialogue

    def __getnewargs__(self) -> tuple[str, tuple[Message, ...]]:  # type: ignore[override]  # str has one argument
        """Return the constructor's arguments, for pickle and copy."""
        return str(self), self.messages

    def extended(self, text: str, *messages: Message) -> Dialogue:
        """Return the dialogue with more text and the messages of that text."""
        return Dialogue(f"{self}{text}", (*self.messages, *messages))


Prompt: TypeAlias = str | Sequence[Message]
"""Input of a model: a text, messages, or both in one as a ``Dialogue``. Messages may be dicts in OpenAI's form, too."""


def _message(message: Message | Mapping[str, str]) -> Message:
    return Message(message["role"], message["content"]) if isinstance(message, Mapping) else message


def prompt_text(prompt: Prompt) -> str:
    """Return a prompt as one text, for models that take no messages."""
    return prompt if isinstance(prompt, str) else "\n\n".join(_message(message).content for message in prompt)


def prompt_messages(prompt: Prompt) -> tuple[Message, ...]:
    """Return a prompt as messages, for chat models; a plain text is one message of the user."""
    if isinstance(prompt, Dialogue):
        return prompt.messages
    return (Message("user", prompt),) if isinstance(prompt, str) else tuple(map(_message, prompt))


class Completion(NamedTuple):
    """A model's answer to one request.

    Attributes:
        text: The text, without the stop sequence that ended it.
        usage: Token counts (``prompt_tokens``, ``completion_tokens``), if the model reports them.
        cost: Price of the completion, in the currency of the model's price.
        logprobs: Log-probability of each token written, if the model was made to report them.
        token_ids: Id of each token written, if the model reports them.
    """

    text: str
    usage: Mapping[str, int] = {}
    cost: float = 0.0
    logprobs: tuple[float, ...] | None = None
    token_ids: tuple[int, ...] | None = None


class CompletionRequest(NamedTuple):
    """One request to a model, as a value; see ``Ask`` for the fields. ``sample`` is the seed that the model sees."""

    prompt: Prompt
    stop: tuple[str, ...]
    max_tokens: int
    temperature: float
    sample: int


@dataclass(frozen=True)
class Act:
    """Play ``text`` in the environment; answered by a Step.

    Attributes:
        text: The action.
        claim: The agent's claim of success if the environment ends the episode at this action, such as True for a
            purchase; None for no claim.
    """

    text: str
    claim: bool | None = None


@dataclass(frozen=True)
class Ask:
    """Have a model complete ``prompt``; answered by a Completion, or where ``n`` is above 1 by a list of them.

    Attributes:
        prompt: The text or the dialogue to continue.
        role: Which of the run's models answers (``executor``, ``planner`` or another name), and the name under which
            the calls are counted; the executor's model answers for roles that the run has no model for.
        stop: Stop sequences; the one that ends the completion is not part of it.
        max_tokens: Maximum number of tokens to write.
        temperature: Sampling temperature; 0 for the likeliest completion.
        sample: Sample index, used where the temperature is above 0; each trial takes another. The model sees a seed
            derived from it, the task and the episode's seed.
        n: Number of samples, which are requested together and count as ``n`` calls. Each has its own seed; at
            temperature 0 they are equal.

    Raises:
        ValueError: If ``n`` is less than 1.
    """

    prompt: Prompt
    role: str = "executor"
    stop: tuple[str, ...] = ()
    max_tokens: int = 256
    temperature: float = 0.0
    sample: int = 0
    n: int = 1

    def __post_init__(self) -> None:
        if type(self.n) is not int or self.n < 1:
            raise ValueError(f"expected n of 1 or more, got {self.n!r}")


@dataclass(frozen=True)
class Reset:
    """Start the same task with the same seed again; answered by the first Step. Refunds no steps and no calls."""


@dataclass(frozen=True)
class Snapshot:
    """Keep this moment of the episode; answered by a value that means something to ``Restore`` only.

    It counts as no step. In an environment that cannot go back ``Unsupported``, which names it, is thrown at the yield.
    """


@dataclass(frozen=True)
class Restore:
    """Go back to a moment that was kept; answered by the step that led to it. Refunds no steps and no calls.

    Attributes:
        moment: What a ``Snapshot`` of this episode was answered by.
    """

    moment: object


Request: TypeAlias = Act | Ask | Reset | Snapshot | Restore
Routine: TypeAlias = Generator[Request, Any, bool | None]


class ModelError(RuntimeError):
    """A model cannot be made, or gave no completion after all retries."""


class Model(Protocol):
    """Completes text. A model that is more efficient on batches is a ``BatchingModel``.

    One that is used to a bundled set of prompts names it by an attribute ``prompts`` of its class: a run with this
    model as executor takes that set, unless it is given another.
    """

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the completion of one request; equal arguments give equal completions, as far as the model can.

        Raises:
            ModelError: If there is none.
        """


CompleteMany: TypeAlias = Callable[[Sequence[CompletionRequest]], Sequence[Completion | Exception]]
"""Completes a batch: an answer for each request, in their order; an exception where a request failed."""


class BatchingModel(Model, Protocol):
    """A model that completes many requests at once; a run sends it one batch at a time."""

    @property
    def complete_many(self) -> CompleteMany | None:
        """Completes a batch; None if requests must be sent one by one after all."""


def batch_method(model: Model) -> CompleteMany | None:
    """Return a model's ``complete_many``, None if it has none."""
    method: CompleteMany | None = getattr(model, "complete_many", None)
    return method


class EpisodeOver(Exception):
    """Thrown into an agent at the end of the episode.

    Attributes:
        step: The last step.
        claim: The agent's claim of success at that moment: what it claimed by the action that ended the episode, else
            True if that won, since the environment says so; None if the agent was cut off before it could say.
    """

    def __init__(self, step: Step, claim: bool | None = None) -> None:
        super().__init__("the episode is over")
        self.step = step
        self.claim = claim if claim is not None else True if step.won else None

    @property
    def won(self) -> bool:
        """Whether the last step won."""
        return self.step.won


@dataclass
class Node:
    """A part of an episode: a (sub)task, its costs, its outcome and its events.

    Attributes:
        task: The task in words.
        role: ``agent`` for the whole episode, else the agent's own name for the part (``executor``, ``planner``).
        depth: Level of decomposition, 0 for the whole.
        steps: Actions played in this part, without those of its children.
        calls: Completions asked for in this part, without those of its children.
        tokens: Tokens of these completions, as counted by the model.
        outcome: Whether the part succeeded, according to the agent or the environment; None if it was cut short.
        parts: The events in order: an int is an index into the episode's transcript, a str is a note of the agent (a
            thought, a plan, a verdict), a Node is a part of this part.
    """

    task: str
    role: str
    depth: int
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    outcome: bool | None = None
    parts: list[Node | int | str] = field(default_factory=list)

    @property
    def children(self) -> list[Node]:
        """Child nodes, in order."""
        return [part for part in self.parts if isinstance(part, Node)]

    def walk(self) -> Iterator[Node]:
        """Yield this node and all its descendants, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Play:
    """One episode from the agent's point of view: its history, and generators for the requests.

    Attributes:
        first: First step, returned by the reset.
        seed: Seed for the agent's own randomness; derived from the task and the episode's seed.
        history: Actions of the current trial with the steps they led to, in order; after going back, of the branch.
        node: Node of the trace that is being played.
    """

    first: Step
    seed: int = 0
    history: list[tuple[str, Step]] = field(default_factory=list)
    node: Node = field(default_factory=lambda: Node("", "agent", 0))

    @contextmanager
    def sub(self, task: str, role: str, depth: int) -> Iterator[Node]:
        """Record the events of the ``with`` block in a child node; the agent sets the node's ``outcome``."""
        parent, node = self.node, Node(str(task), str(role), int(depth))
        parent.parts.append(node)
        self.node = node
        try:
            yield node
        except EpisodeOver as over:
            # The claim counts for every open part; one that is cut short keeps its outcome, None if it set none.
            node.outcome = node.outcome if over.claim is None else over.claim
            raise
        finally:
            self.node = parent

    def note(self, text: str) -> None:
        """Record a text that is no action in the trace: a thought, a plan, a verdict. Long texts are cut off."""
        self.node.parts.append(str(text)[:MAX_NOTE])

    @property
    def last(self) -> Step:
        """The last step of the current trial; the first step if nothing was played in it."""
        return self.history[-1][1] if self.history else self.first

    def act(self, text: str, *, claim: bool | None = None) -> Generator[Request, Any, Step]:
        """Play an action and return the step; see ``Act`` for the claim."""
        step: Step = yield Act(text, claim)
        return step

    def ask(
        self,
        prompt: Prompt,
        *,
        role: str = "executor",
        stop: tuple[str, ...] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        sample: int = 0,
    ) -> Generator[Request, Any, Completion]:
        """Return a model's completion of ``prompt``; see ``Ask`` for the arguments."""
        completion: Completion = yield Ask(prompt, role, stop, max_tokens, temperature, sample)
        return completion

    def ask_many(
        self,
        prompt: Prompt,
        *,
        n: int,
        role: str = "executor",
        stop: tuple[str, ...] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        sample: int = 0,
    ) -> Generator[Request, Any, list[Completion]]:
        """Return ``n`` samples of a model's completion, asked for together; see ``Ask`` for the arguments.

        Where the budget of calls allows fewer than ``n``, none is asked for and the episode ends.
        """
        answer = yield Ask(prompt, role, stop, max_tokens, temperature, sample, n)
        return [answer] if n == 1 else answer

    def reset(self) -> Generator[Request, Any, Step]:
        """Start the task again and return the first step."""
        step: Step = yield Reset()
        return step

    def replay(self, actions: Iterable[str]) -> Generator[Request, Any, Step]:
        """Reset and play actions that were played before; they are counted as steps again."""
        actions = tuple(actions)  # before the reset, which empties the history
        step = yield from self.reset()
        for action in actions:
            step = yield from self.act(action)
        return step

    def rewind(self, mark: int) -> Generator[Request, Any, Step]:
        """Reset and replay the first ``mark`` actions of this trial."""
        return (yield from self.replay(action for action, _ in self.history[:mark]))

    def snapshot(self) -> Generator[Request, Any, object]:
        """Keep this moment for ``restore``.

        Raises:
            Unsupported: If the environment cannot go back; ``replay`` can then take the place of ``restore``.
        """
        moment: object = yield Snapshot()
        return moment

    def restore(self, moment: object) -> Generator[Request, Any, Step]:
        """Go back to a moment that ``snapshot`` returned, and return the step that led to it."""
        step: Step = yield Restore(moment)
        return step


class Agent(Protocol):
    """Plays episodes."""

    def episode(self, play: Play) -> Routine:
        """Play one episode and return whether the agent claims success; None if it makes no claim."""


Policy: TypeAlias = Callable[[str, dict[str, Any]], str]
"""The simplest agent: a function from the last observation and info to an action."""
