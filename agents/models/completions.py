"""What clients of remote models share: prices, stop sequences, and room for reasoning."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from textcraft_gym.agents.contract.model import Completion, ModelError
from textcraft_gym.errors import at_least, number

MAX_PRICE = 1e12
"""Maximum price of a million tokens, with which the price of any number of tokens is finite."""
REASONING_TOKENS = 4096
"""Tokens that are added to the limit of an answer once a model is seen to reason."""
NO_MONEY = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credit)|billing|payment required|out of credits",
    re.I,
)
"""Finds, in an error's message or code, that an account has no money left."""


@dataclass(frozen=True)
class Price:
    """Price of a million tokens of the prompt, and of the completion.

    Raises:
        ValueError: If one is no number from 0 to ``MAX_PRICE``.
    """

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        for price in (self.prompt, self.completion):
            number("price", price)
            if not 0 <= price <= MAX_PRICE:
                raise ValueError(
                    f"expected a price of 0 or more, up to {MAX_PRICE:.0e}, got {price!r}"[:200]
                )

    def of(self, usage: Mapping[str, int]) -> float:
        """Return the price of a completion with this usage."""
        prompt = usage.get("prompt_tokens", 0) * self.prompt
        return (prompt + usage.get("completion_tokens", 0) * self.completion) / 1_000_000


class ReasoningRoom:
    """Tokens for reasoning, which are added to the limit of each answer.

    Args:
        tokens: Their number; None for none, and for ``REASONING_TOKENS`` from the moment that the
            model is seen to reason.

    Attributes:
        tokens: Their number now.
    """

    def __init__(self, tokens: int | None = None) -> None:
        if tokens is not None:
            at_least("reasoning_tokens", tokens, 0)
        self._learns = tokens is None
        self.tokens = tokens or 0

    def learn(self, completion: Completion, given: int) -> bool:
        """Learn from a completion whether the model reasons.

        Args:
            completion: The completion.
            given: The room that its request had.

        Returns:
            Whether the completion was cut off before it had a text, and another one would have more
            room.
        """
        # Cut off before it wrote anything: some models reason where nobody can see it.
        cut_off = completion.is_empty and completion.finish_reason == "length"
        reasoned = bool(completion.reasoning or completion.usage.get("reasoning_tokens"))
        # A number that the caller gave is kept.
        if self._learns and (cut_off or reasoned):
            self.tokens = REASONING_TOKENS
        return cut_off and self.tokens > given


def with_costs_of(completion: Completion, spent: Collection[Completion]) -> Completion:
    """Return a completion with the tokens and costs of those that were paid for before it."""
    if not spent:
        return completion
    usage = dict(completion.usage)
    cost = completion.cost
    for earlier in spent:
        cost += earlier.cost
        for kind, count in earlier.usage.items():
            usage[kind] = usage.get(kind, 0) + count
    return completion._replace(usage=usage, cost=cost)


def calls_as_text(completion: Completion) -> Completion:
    """Return a completion whose tool calls, which nobody asked for, are read as text."""
    if not completion.tool_calls:
        return completion
    text = completion.text
    if not text.strip():
        text = "\n".join(f"{call.name}({call.arguments})" for call in completion.tool_calls)
    finish_reason = completion.finish_reason
    if finish_reason == "tool_calls":
        finish_reason = "stop"
    return completion._replace(text=text, tool_calls=(), finish_reason=finish_reason)


@contextmanager
def counted(spent: Collection[Completion]) -> Iterator[None]:
    """Have a ``ModelError`` tell what was spent before it."""
    try:
        yield
    except ModelError as error:
        if spent:
            error.spent = with_costs_of(Completion(""), spent)
        raise


def stops_to_send(stop: tuple[str, ...]) -> list[str]:
    """Return the stop sequences for a chat model.

    A lone line break is none: reasoning and answers begin with one.
    """
    return [end for end in stop if end.strip("\n")]


def cut(text: str, stop: tuple[str, ...]) -> str:
    """Cut a text at the first stop sequence, since some servers ignore ``stop``.

    Line breaks at its beginning do not count.
    """
    if any(end.startswith("\n") for end in stop):
        text = text.lstrip("\r\n")
    for end in stop:
        text, _, _ = text.partition(end)
    return text
