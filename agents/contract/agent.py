"""The contract between an agent and the loop that runs it.

An agent is a generator over one episode. It yields requests (act, ask a model, compute, reset, keep
a moment and go back to it) and is sent the answers: an agent that calls another writes
``yield from``, and one loop can own one environment or many. When the episode ends, by the
environment or by a limit on steps or calls, ``EpisodeOver`` is thrown at the yield: let it pass, or
catch it to reset for another trial or to go back. An agent keeps its state in the generator's local
variables, never on ``self``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from textcraft_gym.agents.contract.model import Completion, Form, ModelError, Prompt, Tool
from textcraft_gym.replies import CommandReader, Turn, code_block, plain_text

__all__ = [
    "Act",
    "Agent",
    "AgentLike",
    "Ask",
    "Completion",
    "Compute",
    "EpisodeOver",
    "ModelError",
    "Node",
    "Play",
    "Report",
    "Request",
    "Reset",
    "Restore",
    "Routine",
    "Snapshot",
    "Step",
    "latched",
    "won_in",
]

Found = TypeVar("Found")
"""What a reader finds in a reply; falsy for nothing."""
Result = TypeVar("Result")
Reading: TypeAlias = Literal["lenient", "strict"]

MAX_NOTE = 10_000
"""Maximum length of a note, in characters; the rest is cut off."""


WINS = ("won", "is_success", "success")
"""Info keys that can say whether the task is done: this suite's and other libraries'."""


def won_in(info: Mapping[str, Any]) -> bool | None:
    """Return whether info says that the task is done; None if it does not say.

    The first key of ``WINS`` that says so decides.

    A key says it by a truth value, or by the number 0 or 1, of Python or of NumPy.
    """
    for key in WINS:
        value = info.get(key)
        # An array of a vectorised environment says nothing of one episode.
        if getattr(value, "ndim", 0) == 0 and value in (0, 1):
            return bool(value)
    return None


def latched(won: bool | None, info: Mapping[str, Any]) -> bool | None:
    """Return whether the task is done now, or was before: a win is never taken back."""
    now = won_in(info)
    return won if now is None else bool(won) or now


class Step(NamedTuple):
    """The environment's answer to an action.

    After a reset the reward is 0 and both end flags are False.
    """

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @property
    def won(self) -> bool:
        """Whether info says that the task is done; False if it says nothing, see ``won_in``."""
        return won_in(self.info) is True


@dataclass(frozen=True)
class Act:
    """Play ``text`` in the environment; answered by a Step.

    Attributes:
        text: The action.
        claim: The agent's claim of success if the environment ends the episode at this action, such
            as True for a purchase; None for no claim.
    """

    text: str
    claim: bool | None = None


@dataclass(frozen=True)
class Ask:
    """Have a model complete ``prompt``.

    Answered by a Completion, or where ``n`` is above 1 by a list of them.

    Attributes:
        prompt: The text or the dialogue to continue.
        role: Which of the run's models answers (``executor``, ``planner`` or another name), and the
            name under which the calls are counted; the executor's model answers for roles that the
            run has no model for.
        stop: Stop sequences; the one that ends the completion is not part of it.
        max_tokens: Maximum number of tokens to write.
        temperature: Sampling temperature; 0 for the likeliest completion.
        sample: Sample index, used where the temperature is above 0; each trial takes another. The
            model sees a seed derived from it, the task and the episode's seed.
        n: Number of samples, which are requested together and count as ``n`` calls. Each has its
            own seed; at temperature 0 they are equal.
        tools: Tools that the model may call instead of writing text.

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
    tools: tuple[Tool, ...] = ()

    def __post_init__(self) -> None:
        if type(self.n) is not int or self.n < 1:
            raise ValueError(f"expected n of 1 or more, got {self.n!r}")


@dataclass(frozen=True)
class Compute:
    """Call a function in another thread; answered by what it returns.

    So other episodes go on while it takes long. What it raises is raised at the yield.

    Attributes:
        function: The function.
    """

    function: Callable[[], Any]


@dataclass(frozen=True)
class Reset:
    """Start the same task with the same seed again; answered by the first Step.

    Refunds no steps and no calls.
    """


@dataclass(frozen=True)
class Snapshot:
    """Keep this moment of the episode; answered by a value for ``Restore``.

    It counts as no step. In an environment that cannot go back ``Unsupported``, which names it, is
    thrown at the yield.
    """


@dataclass(frozen=True)
class Restore:
    """Go back to a kept moment; answered by the step that led to it.

    Refunds no steps and no calls.

    Attributes:
        moment: What a ``Snapshot`` of this episode was answered by.
    """

    moment: object


Request: TypeAlias = Act | Ask | Compute | Reset | Snapshot | Restore
Routine: TypeAlias = Generator[Request, Any, bool | None]


class EpisodeOver(Exception):
    """Thrown into an agent at the end of the episode.

    Attributes:
        step: The last step.
        claim: What the agent claimed by the action that ended the episode, such as True for a
            purchase; None if the game or a budget ended it without a word of the agent.
    """

    def __init__(self, step: Step, claim: bool | None = None) -> None:
        super().__init__("the episode is over")
        self.step = step
        self.claim = claim

    @property
    def won(self) -> bool:
        """Whether the last step won."""
        return self.step.won


@dataclass
class Node:
    """A part of an episode: a (sub)task, its costs, its outcome and its events.

    Attributes:
        task: The task in words.
        role: ``agent`` for the whole episode, else the agent's own name for the part (``executor``,
            ``planner``).
        depth: Level of decomposition, 0 for the whole.
        steps: Actions played in this part, without those of its children.
        calls: Completions asked for in this part, without those of its children.
        tokens: Tokens of these completions, as counted by the model.
        outcome: Whether the part succeeded, according to the agent; None if it did not say: the
            game ended the episode, or a budget cut it short.
        parts: The events in order: an int is an index into the episode's transcript, a str is a
            note of the agent (a thought, a plan, a verdict), a Node is a part of this part.
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


@dataclass(frozen=True)
class Report:
    """Completions that an agent had from elsewhere than from the run's models.

    Attributes:
        role: The name under which they are counted.
        calls: Number of completions.
        prompt_tokens, completion_tokens: Tokens that were read and written.
        cost: Their price.
        seconds: How long they took.
        prompt: What was asked, a text or messages; None to keep no more than the numbers.
        text: What was answered.

    Raises:
        ValueError: For a number below 0, or that is no number.
    """

    role: str = "executor"
    calls: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    prompt: Prompt | None = None
    text: str = ""

    def __post_init__(self) -> None:
        for name in ("calls", "prompt_tokens", "completion_tokens"):
            if type(getattr(self, name)) is not int or not 0 <= getattr(self, name) < 1 << 53:
                raise ValueError(f"expected {name} of 0 or more, got {getattr(self, name)!r}")
        for name in ("cost", "seconds"):
            amount = getattr(self, name)
            if not isinstance(amount, int | float) or not 0 <= amount < math.inf:
                raise ValueError(f"expected {name} of 0 or more, got {amount!r}")

    @property
    def tokens(self) -> dict[str, int]:
        """The tokens by kind; a kind without any is left out."""
        counts = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
        }
        return {kind: count for kind, count in counts.items() if count}


@dataclass
class Play:
    """One episode from the agent's point of view: its history, and generators for the requests.

    Attributes:
        first: First step, returned by the reset.
        seed: Seed for the agent's own randomness; derived from the task and the episode's seed.
        history: Actions of the current trial with the steps they led to, in order; after going
            back, of the branch.
        node: Node of the trace that is being played.
        form: How the executor's model is best talked with.
        reading: How a reply is read for its command: ``lenient``, or ``strict`` as the papers'
            programs do.
        replies: Counts of the model's replies. Of those read for a command ``bare`` were a command
            or a thought alone, ``worded`` had words around the command, and ``no_command`` held
            none of the game's (see ``count``). The loop adds ``asked``, ``empty`` and ``cut``.
        reports: What the agent has reported, and the loop has not counted yet, each with its node.
    """

    first: Step
    seed: int = 0
    history: list[tuple[str, Step]] = field(default_factory=list)
    node: Node = field(default_factory=lambda: Node("", "agent", 0))
    form: Form = "line"
    reading: Reading = "lenient"
    replies: Counter[str] = field(default_factory=Counter)
    reports: list[tuple[Report, Node]] = field(default_factory=list)

    @contextmanager
    def sub(
        self,
        task: str,
        role: str,
        depth: int,
    ) -> Iterator[Node]:
        """Record the events of the ``with`` block in a child node.

        The agent sets the node's ``outcome``.
        """
        parent, node = self.node, Node(str(task), str(role), int(depth))
        parent.parts.append(node)
        self.node = node
        try:
            yield node
        except EpisodeOver as over:
            # The claim counts for every open part; one that is cut short keeps its outcome, None if
            # it set none.
            if over.claim is not None:
                node.outcome = over.claim
            raise
        finally:
            self.node = parent

    def note(self, text: str) -> None:
        """Record a text in the trace that is no action: a thought, a plan, a verdict.

        Long texts are cut off.
        """
        self.node.parts.append(str(text)[:MAX_NOTE])

    def report(
        self,
        *,
        role: str = "executor",
        calls: int = 1,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cost: float = 0.0,
        seconds: float = 0.0,
        prompt: Prompt | None = None,
        text: str = "",
    ) -> None:
        """Count completions of a model that the agent asks by itself; see ``Report``.

        Raises:
            ValueError: For a number below 0, or that is no number.
        """
        report = Report(
            role,
            calls,
            prompt_tokens,
            completion_tokens,
            cost,
            seconds,
            prompt,
            str(text),
        )
        self.reports.append((report, self.node))

    @property
    def last(self) -> Step:
        """The last step of the current trial; the first step if nothing was played in it."""
        return self.history[-1][1] if self.history else self.first

    def read(self, reader: CommandReader, reply: str) -> Turn:
        """Return the turn in a reply, in this episode's reading; ``count`` counts it."""
        if self.reading == "strict":
            return reader.read(reply, strict=True)
        # A model may repeat the dialogue so far, whose commands are not to be played again.
        answered = {(action, step.observation.partition("\n")[0]) for action, step in self.history}
        return reader.read(reply, answered)

    def count(self, turn: Turn) -> None:
        """Count a reply that was read for a command, by the turn that it is."""
        kind = "worded" if turn.mended else "bare"
        self.replies[kind if turn.known else "no_command"] += 1

    def understand(
        self,
        read: Callable[[str], Found],
        reply: str,
    ) -> Found:
        """Return what a reader finds in a reply.

        The lenient reading also tries its code block, then its lines without marks.
        """
        result = read(reply)
        if self.reading == "strict":
            return result
        for mended in (code_block(reply), plain_text(reply)):
            if result:
                break
            if mended != reply:
                result = read(mended)
        return result

    def act(
        self,
        text: str,
        *,
        claim: bool | None = None,
    ) -> Generator[Request, Any, Step]:
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
        tools: tuple[Tool, ...] = (),
    ) -> Generator[Request, Any, Completion]:
        """Return a model's completion of ``prompt``, never empty; see ``Ask`` for the arguments."""
        completion: Completion = yield Ask(
            prompt,
            role,
            stop,
            max_tokens,
            temperature,
            sample,
            tools=tools,
        )
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
        """Return ``n`` samples of a completion, requested together; see ``Ask``.

        Where the budget of calls allows fewer than ``n``, none is asked for and the episode ends.
        Samples may be empty, but not all of several.
        """
        answer = yield Ask(prompt, role, stop, max_tokens, temperature, sample, n)
        return [answer] if n == 1 else answer

    def compute(
        self,
        function: Callable[..., Result],
        *arguments: Any,
    ) -> Generator[Request, Any, Result]:
        """Return what a function returns that takes long, such as one that asks a server.

        It is called in another thread, while other episodes go on.
        """
        result: Result = yield Compute(partial(function, *arguments))
        return result

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
            Unsupported: If the environment cannot go back; ``replay`` can then take the place of
                ``restore``.
        """
        moment: object = yield Snapshot()
        return moment

    def restore(self, moment: object) -> Generator[Request, Any, Step]:
        """Go back to a moment that ``snapshot`` returned, and return the step that led to it."""
        step: Step = yield Restore(moment)
        return step


class Agent(Protocol):
    """Plays episodes.

    An agent that asks no model may say so by an attribute ``asks = False``: then its runs name
    none.
    """

    def episode(self, play: Play) -> Routine:
        """Play one episode; return whether the agent claims success, None without a claim."""


class Actor(Protocol):
    """Plays actions, and knows nothing of requests; see ``agents/own_agent.py``."""

    @property
    def act(self) -> Callable[..., Any]:
        """Returns the next action."""


AgentLike: TypeAlias = Agent | Actor | Callable[..., Any]
"""What can be played: an agent, an object with ``act``, a function, or a class of such."""
