"""What a model was asked in an episode, and what it answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

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
