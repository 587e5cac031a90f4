"""Any model behind OpenAI's API: the company's own, or a server of one's own that speaks it. Extra ``[openai]``."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, Literal

import openai

from textcraft_gym.agents.contract.agent import Completion, ModelError, Prompt, prompt_text

MAX_STOPS = 4
"""The API takes no more; a completion is cut at the others here."""


@dataclass(frozen=True)
class Price:
    """What a million tokens cost, of the prompt and of the completion."""

    prompt: float
    completion: float


class OpenAIModel:
    """A model by its name on a server.

    Args:
        name: The model's name there.
        endpoint: ``chat``, where a prompt of text is the user's one message, or ``completion``, where a dialogue is
            one text.
        base_url: The server's address; by default ``OPENAI_BASE_URL``, else OpenAI's.
        api_key: By default ``OPENAI_API_KEY``. A server that wants none takes any text.
        timeout: Seconds to wait for an answer.
        max_retries: How often to try again after a time-out, a lost connection, a status of 429 or of 500 and above.
        price: Per million tokens; without one a completion costs nothing.

    Raises:
        ModelError: If there is no key.
    """

    def __init__(
        self,
        name: str,
        *,
        endpoint: Literal["chat", "completion"] = "chat",
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 5,
        price: Price | None = None,
    ) -> None:
        if endpoint not in ("chat", "completion"):
            raise ValueError(f"expected the endpoint chat or completion, got {endpoint!r}")
        self.name = name
        self.endpoint = endpoint
        self.price = price
        try:
            self._client = openai.OpenAI(base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries)
        except openai.OpenAIError as error:
            raise ModelError(f"{name}: {error}") from error
        self._closing = weakref.finalize(self, self._client.close)

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the completion; a sample number seeds the server where the temperature is above 0.

        Raises:
            ModelError: If the server gave none, after every retry.
        """
        request: dict[str, Any] = {"model": self.name, "max_tokens": max_tokens, "temperature": temperature, "top_p": 1}
        if stop:
            request["stop"] = list(stop[:MAX_STOPS])
        if temperature > 0:
            request["seed"] = sample
        try:
            text, usage = self._ask(prompt, request)
        except (openai.OpenAIError, ValueError, LookupError, TypeError, AttributeError) as error:
            # The later ones are what the SDK lets through when a server answers something else than it should.
            raise ModelError(f"{self.name}: {type(error).__name__}: {error}") from error
        return Completion(_cut(text, stop), usage, self._cost(usage))

    def close(self) -> None:
        """Close the connections; they are also closed with the last reference to the model."""
        self._closing()

    def _ask(self, prompt: Prompt, request: dict[str, Any]) -> tuple[str, dict[str, int]]:
        answer: Any
        if self.endpoint == "chat":
            turns = [("user", prompt)] if isinstance(prompt, str) else prompt
            messages: Any = [{"role": role, "content": content} for role, content in turns]
            answer = self._client.chat.completions.create(messages=messages, **request)
            text = answer.choices[0].message.content
        else:
            answer = self._client.completions.create(prompt=prompt_text(prompt), **request)
            text = answer.choices[0].text
        counted = answer.usage
        usage = {
            name: int(count)
            for name in ("prompt_tokens", "completion_tokens")
            if (count := getattr(counted, name, None)) is not None
        }
        return text or "", usage

    def _cost(self, usage: dict[str, int]) -> float:
        if not self.price:
            return 0.0
        prompt = usage.get("prompt_tokens", 0) * self.price.prompt
        return (prompt + usage.get("completion_tokens", 0) * self.price.completion) / 1_000_000


def _cut(text: str, stop: tuple[str, ...]) -> str:
    """Not every server knows about stops."""
    for end in stop:
        text = text.split(end, 1)[0]
    return text
