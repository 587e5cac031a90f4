"""The contract between an agent and whatever runs it.

An agent is a generator over one episode. It yields requests (act, ask a model, begin again) and is sent the answers:
an agent that calls another writes ``yield from``, and one loop can own one environment or many. When the episode
ends, by the environment or by a bound on steps or calls, ``EpisodeOver`` is thrown at the yield: let it pass, or catch
it to begin again. What an agent must remember stands in the generator's own variables, never on the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

MAX_NOTE = 10_000
"""Characters of a note that are kept."""


class Step(NamedTuple):
    """What the environment answered; after a reset the reward is 0 and both ends are False."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Message(NamedTuple):
    """One turn of a dialogue with a model.

    Attributes:
        role: ``system``, ``user`` or ``assistant``.
        content: What was said.
    """

    role: str
    content: str


Prompt: TypeAlias = str | Sequence[Message]
"""What a model goes on from: a text, or a dialogue."""


def prompt_text(prompt: Prompt) -> str:
    """Return a prompt as one text, for a model that knows no dialogues."""
    return prompt if isinstance(prompt, str) else "\n\n".join(message.content for message in prompt)


class Completion(NamedTuple):
    """What a model wrote.

    Attributes:
        text: What it wrote, without the text that stopped it.
        usage: The tokens it counted (``prompt_tokens``, ``completion_tokens``), if it did.
        cost: What it costs, in the currency of the model's price.
    """

    text: str
    usage: Mapping[str, int] = {}
    cost: float = 0.0


@dataclass(frozen=True)
class Act:
    """Play ``text`` in the environment; answered by a Step."""

    text: str


@dataclass(frozen=True)
class Ask:
    """Have a model complete ``prompt``; answered by a Completion.

    Attributes:
        prompt: The text or the dialogue to go on from.
        role: Which of the run's models answers, ``executor``, ``planner`` or another word under which calls are then
            counted; the executor's answers where the run has none of that name.
        stop: Texts that end the completion, not part of it.
        max_tokens: The most tokens to write.
        temperature: 0 for the likeliest completion.
        sample: Which sample, where the temperature is above 0: another trial takes another number. The model sees a
            number made of this, the task and the seed.
    """

    prompt: Prompt
    role: str = "executor"
    stop: tuple[str, ...] = ()
    max_tokens: int = 256
    temperature: float = 0.0
    sample: int = 0


@dataclass(frozen=True)
class Reset:
    """Begin the same task with the same seed again; answered by the first Step. Spent steps and calls stay spent."""


Request: TypeAlias = Act | Ask | Reset
Routine: TypeAlias = Generator[Request, Any, bool | None]


class ModelError(RuntimeError):
    """A model that gave no completion, after every retry."""


class Model(Protocol):
    """Whatever completes text. It raises ModelError where it cannot."""

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the completion; see ``Ask`` for the arguments. Equal arguments give equal ones, as far as it can."""


class EpisodeOver(Exception):
    """Thrown into an agent when the episode has ended; ``step`` is the last one."""

    def __init__(self, step: Step) -> None:
        super().__init__("the episode is over")
        self.step = step

    @property
    def won(self) -> bool:
        """Whether the last step won: as ``info["won"]`` says, or where there is none, if it ended with a reward."""
        return bool(self.step.info.get("won", self.step.terminated and self.step.reward > 0))


@dataclass
class Node:
    """A part of an episode: what was attempted, what it took, and what happened in it.

    Attributes:
        task: What was to be done, in words.
        role: Who did it: ``agent`` for the whole, else what the agent calls it (``executor``, ``planner``).
        depth: The level of decomposition, 0 for the whole.
        steps: Actions played in this part, those of its children not counted.
        calls: Completions asked for in this part.
        tokens: Tokens of these, as the model counted them.
        outcome: Whether the agent takes the part to have succeeded, or the environment said so; None if it did not
            come to an end.
        parts: In order: a number is a place in the episode's transcript, a text is a note of the agent (a thought, a
            plan, a verdict), a node is a part of this part.
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
        """The nodes among the parts."""
        return [part for part in self.parts if isinstance(part, Node)]

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Play:
    """One episode as its agent sees it: what happened, and how to ask for what comes next.

    Attributes:
        first: The answer to the reset.
        seed: A number that differs from episode to episode and is the same in every repetition of one.
        history: The actions of this trial with their answers, in order.
        node: The part of the episode that is being played.
    """

    first: Step
    seed: int = 0
    history: list[tuple[str, Step]] = field(default_factory=list)
    node: Node = field(default_factory=lambda: Node("", "agent", 0))

    @contextmanager
    def sub(self, task: str, role: str, depth: int) -> Iterator[Node]:
        """Play what stands in the ``with`` block as a part of its own; the agent sets the node's ``outcome``."""
        above, node = self.node, Node(str(task), str(role), int(depth))
        above.parts.append(node)
        self.node = node
        try:
            yield node
        except EpisodeOver as over:
            node.outcome = True if over.won else node.outcome
            raise
        finally:
            self.node = above

    def note(self, text: str) -> None:
        """Keep in the trace what was written and not played: a thought, a plan, a verdict; of a long one the start."""
        self.node.parts.append(str(text)[:MAX_NOTE])

    def act(self, text: str) -> Generator[Request, Any, Step]:
        """Play ``text`` and return what the environment answers."""
        step: Step = yield Act(text)
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

    def reset(self) -> Generator[Request, Any, Step]:
        """Begin the task again and return the first step."""
        step: Step = yield Reset()
        return step

    def rewind(self, mark: int) -> Generator[Request, Any, Step]:
        """Begin again and replay the first ``mark`` actions of this trial; they count as steps once more."""
        actions = [action for action, _ in self.history[:mark]]
        step = yield from self.reset()
        for action in actions:
            step = yield from self.act(action)
        return step


class Agent(Protocol):
    """Something that plays."""

    def episode(self, play: Play) -> Routine:
        """Play one episode and return whether it believes to have succeeded, or None if it does not say."""


Policy: TypeAlias = Callable[[str, dict[str, Any]], str]
"""The simplest agent: a function of the last observation and info that returns an action."""
