"""What a model was asked in an episode, and what it answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from textcraft_gym.agents.contract.agent import Node, Report
from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Dialogue,
    Message,
    Model,
    form_of,
    prompt_messages,
)

Prompt: TypeAlias = str | list[dict[str, Any]]
"""A text, or messages: each with its ``role`` and ``content``, as chat models are sent them."""


@dataclass
class Call:
    """One completion that was asked for in an episode.

    Attributes:
        role: Who asked: ``executor``, ``planner`` or another name.
        prompt: What the model read: a text that it was to continue, or messages.
        text: What it answered, without its reasoning and the stop sequence that ended it.
        reasoning: What it thought before, if it shows that.
        tool_calls: The calls that it made, each with ``id``, ``name`` and ``arguments``.
        finish_reason: Why the answer ended; empty if there is none.
        error: Why there is no answer; None if there is one.
        tokens: Tokens by kind, as the model counted them.
        cost: Price of the completion.
        seconds: How long the answer took.
        stop: Stop sequences.
        max_tokens: Maximum number of tokens to write.
        temperature: Sampling temperature.
        seed: Seed of the sampling.
        tools: The tools that were offered, each with ``name``, ``description`` and ``parameters``.
        entry: Number of entries of the transcript before the call; the next one is what followed.
        place: Where it was made in the trace: the index of a part at each level, and at the last
            the number of parts before it.
    """

    role: str
    prompt: Prompt
    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str = ""
    error: str | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    cost: float = 0.0
    seconds: float = 0.0
    stop: list[str] = field(default_factory=list)
    max_tokens: int = 0
    temperature: float = 0.0
    seed: int = 0
    tools: list[dict[str, Any]] = field(default_factory=list)
    entry: int = 0
    place: list[int] = field(default_factory=list)


class CallLog:
    """The calls of an episode, as they are made."""

    def __init__(self) -> None:
        self._calls: list[tuple[Call, Node]] = []

    def add(
        self,
        role: str,
        model: Model,
        request: CompletionRequest,
        answer: Completion | Exception,
        *,
        seconds: float,
        entry: int,
        node: Node,
    ) -> None:
        """Add a request to one of the run's models, with its answer."""
        call = Call(
            role,
            _prompt_of(request.prompt, reads_lines=_reads_lines(model)),
            seconds=seconds,
            stop=list(request.stop),
            max_tokens=request.max_tokens,
            temperature=float(request.temperature),
            seed=request.sample,
            tools=[asdict(tool) for tool in request.tools],
            entry=entry,
        )
        if isinstance(answer, Completion):
            call.text, call.reasoning = answer.text, answer.reasoning
            call.finish_reason = answer.finish_reason
            call.tool_calls = [made._asdict() for made in answer.tool_calls]
        else:
            call.error = f"{type(answer).__name__}: {answer}"
        self._keep(call, node)

    def report(
        self,
        report: Report,
        *,
        entry: int,
        node: Node,
    ) -> None:
        """Add what an agent had from elsewhere, if it says what it asked."""
        if report.prompt is None:
            return
        call = Call(report.role, _prompt_of(report.prompt), report.text, entry=entry)
        call.tokens, call.cost, call.seconds = report.tokens, float(report.cost), report.seconds
        self._keep(call, node)

    def pay(
        self,
        cost: float,
        tokens: Mapping[str, int],
    ) -> None:
        """Add to the last call what it took."""
        call, _ = self._calls[-1]
        call.cost, call.tokens = cost, dict(tokens)

    def calls(self, trace: Node) -> list[Call]:
        """Return the calls with their places in the trace of the episode."""
        paths: dict[int, list[int]] = {}
        _add_paths(trace, [], paths)
        for call, node in self._calls:
            # A search may make nodes of its own that do not end in the trace.
            call.place = [*paths.get(id(node), []), *call.place[-1:]]
        return [call for call, _ in self._calls]

    def _keep(self, call: Call, node: Node) -> None:
        call.place = [len(node.parts)]
        self._calls.append((call, node))


def _add_paths(
    node: Node,
    path: list[int],
    paths: dict[int, list[int]],
) -> None:
    """Add the path to each node of a trace: the index of a part at each level."""
    paths[id(node)] = path
    for index, part in enumerate(node.parts):
        if isinstance(part, Node):
            _add_paths(part, [*path, index], paths)


def _reads_lines(model: Model) -> bool:
    """Return whether a model reads a dialogue as a text, and not as messages."""
    return form_of(model) == "line" or not getattr(model, "dialogue", True)


def _prompt_of(prompt: Any, *, reads_lines: bool = True) -> Prompt:
    if isinstance(prompt, str) and (reads_lines or not isinstance(prompt, Dialogue)):
        return str(prompt)
    return [_message(message) for message in prompt_messages(prompt)]


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        written["tool_calls"] = [call._asdict() for call in message.tool_calls]
    if message.tool_call_id:
        written["tool_call_id"] = message.tool_call_id
    return written
