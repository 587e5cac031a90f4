"""What every client of a remote model does with completions: prices them, cuts them, gives them room to reason."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from textcraft_gym.agents.contract.model import Completion, ModelError
from textcraft_gym.errors import at_least

MAX_PRICE = 1e12
"""Maximum price of a million tokens, with which the price of any number of tokens is finite."""
REASONING_TOKENS = 4096
"""Tokens that are added to the limit of an answer once a model is seen to reason."""
NO_MONEY = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credit)|billing|payment required|out of credits", re.I
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
        cut_off = (
            completion.is_empty and completion.finish_reason == "length"
        )  # some reason where nobody can see it
        if self._learns and (
            cut_off or completion.reasoning or completion.usage.get("reasoning_tokens")
        ):
            self.tokens = REASONING_TOKENS
        return cut_off and self.tokens > given


def with_costs_of(completion: Completion, spent: Collection[Completion]) -> Completion:
    """Return a completion with the tokens and costs of those that were paid for before it."""
    if not spent:
        return completion
    usage = dict(completion.usage)
    for earlier in spent:
        for kind, count in earlier.usage.items():
            usage[kind] = usage.get(kind, 0) + count
    return completion._replace(
        usage=usage, cost=completion.cost + sum(earlier.cost for earlier in spent)
    )


@contextmanager
def counted(spent: Collection[Completion]) -> Iterator[None]:
    """Have a ``ModelError`` tell what was spent before it."""
    try:
        yield
    except ModelError as error:
        error.spent = with_costs_of(Completion(""), spent) if spent else None
        raise


def stops_to_send(stop: tuple[str, ...]) -> list[str]:
    """Return the stop sequences that a chat model may be sent: reasoning and answers begin with a lone line break."""
    return [end for end in stop if end.strip("\n")]


def cut(text: str, stop: tuple[str, ...]) -> str:
    """Cut a text at the first stop sequence, since some servers ignore ``stop``; line breaks before it do not count."""
    text = text.lstrip("\r\n") if any(end.startswith("\n") for end in stop) else text
    for end in stop:
        text = text.split(end, 1)[0]
    return text
