"""Models behind OpenAI's API: OpenAI's own, or those of any compatible server. Extra ``[openai]``."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import openai

from textcraft_gym.agents.contract.model import Completion, Message, ModelError, Prompt, prompt_messages, prompt_text
from textcraft_gym.errors import at_least

PARAMETERS = ("max_tokens", "temperature", "top_p", "stop", "seed", "logprobs")
"""Sampling parameters that are sent, each of which can be left out or renamed."""

MAX_STOPS = 4
"""Maximum number of stop sequences that the API accepts; completions are cut at the others after they arrive."""


@dataclass(frozen=True)
class Price:
    """Price of a million tokens of the prompt, and of the completion."""

    prompt: float
    completion: float


class OpenAIModel:
    """A model by its name on a server.

    Sent are ``max_tokens``, ``temperature``, ``top_p`` (1), ``stop``, ``seed`` where the temperature is above 0, and
    ``logprobs`` if asked for; for models that refuse one of these or want another, see ``omit``, ``rename``, ``extra``.

    Args:
        name: The model's name on the server.
        endpoint: ``chat``, which is sent messages, or ``completion``, which is sent the prompt as one text.
        base_url: The server's address; by default ``OPENAI_BASE_URL``, else OpenAI's.
        api_key: By default ``OPENAI_API_KEY``; any text for a server that needs none.
        timeout: Seconds to wait for an answer.
        max_retries: Maximum number of retries after a time-out, a lost connection, a status of 429 or of 500 and above.
        price: Price per million tokens; without one a completion costs nothing.
        dialogue: Whether the chat endpoint is sent a dialogue message by message; else as one message of the user.
        omit: Names of ``PARAMETERS`` to leave out.
        rename: New names of ``PARAMETERS``, such as ``{"max_tokens": "max_completion_tokens"}``.
        extra: Further parameters of each request, such as ``{"reasoning_effort": "low"}``.
        logprobs: Whether completions have the log-probabilities of their tokens. Token ids are kept wherever a server
            sends them, as vLLM does for ``extra={"return_token_ids": true}``.

    Raises:
        ModelError: If there is no key.
        ValueError: If an argument has a wrong type or value.
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
        dialogue: bool = True,
        omit: Collection[str] = (),
        rename: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
        logprobs: bool = False,
    ) -> None:
        if endpoint not in ("chat", "completion"):
            raise ValueError(f"expected the endpoint chat or completion, got {endpoint!r}")
        _check_connection(base_url, timeout, max_retries)
        for option, flag in (("dialogue", dialogue), ("logprobs", logprobs)):
            if type(flag) is not bool:
                raise ValueError(f"expected {option} to be true or false, got {flag!r}")
        _check_parameters(omit, rename, extra)
        self.name = name
        self.endpoint = endpoint
        self.price = price
        self.dialogue = dialogue
        self.omit = frozenset(omit)
        self.rename = dict(rename or {})
        self.extra = dict(extra or {})
        self.logprobs = logprobs
        try:
            self._client = openai.OpenAI(base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries)
        except openai.OpenAIError as error:
            raise ModelError(f"{name}: {error}") from error
        self._closing = weakref.finalize(self, self._client.close)

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the completion; the sample is the server's seed where the temperature is above 0.

        Raises:
            ModelError: If the server gave none, after every retry.
        """
        parameters: dict[str, Any] = {"max_tokens": max_tokens, "temperature": temperature, "top_p": 1}
        if stop:
            parameters["stop"] = list(stop[:MAX_STOPS])
        if temperature > 0:
            parameters["seed"] = sample
        if self.logprobs:
            # The chat endpoint takes a flag; the other takes the number of alternatives to report, at least 1.
            parameters["logprobs"] = True if self.endpoint == "chat" else 1
        sent = {self.rename.get(key, key): value for key, value in parameters.items() if key not in self.omit}
        try:
            return self._completion(self._ask(prompt, {**sent, **self.extra}), stop)
        except openai.APIConnectionError as error:
            reason = f"{error} ({error.__cause__})" if error.__cause__ else str(error)
            server = self._client.base_url.netloc.decode()  # the whole address may hold a password
            raise ModelError(f"{self.name}: no answer from {server}: {reason}") from error
        except (openai.OpenAIError, ValueError, LookupError, TypeError, AttributeError) as error:
            # The others come out of the SDK when a server's answer is malformed.
            raise ModelError(f"{self.name}: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Close the connections; they are also closed with the last reference to the model."""
        self._closing()

    def _ask(self, prompt: Prompt, parameters: dict[str, Any]) -> Any:
        """Return the server's answer. The parameters bypass the SDK's signature, so that any name can be sent."""
        if self.endpoint == "completion":
            return self._client.completions.create(model=self.name, prompt=prompt_text(prompt), extra_body=parameters)
        turns = prompt_messages(prompt) if self.dialogue else (Message("user", prompt_text(prompt)),)
        messages: Any = [{"role": role, "content": content} for role, content, *_ in turns]
        return self._client.chat.completions.create(model=self.name, messages=messages, extra_body=parameters)

    def _completion(self, answer: Any, stop: tuple[str, ...]) -> Completion:
        choice = answer.choices[0]
        written = (choice.message.content if self.endpoint == "chat" else choice.text) or ""
        text = _cut(written, stop)
        usage = {
            name: int(count)
            for name in ("prompt_tokens", "completion_tokens")
            if (count := getattr(answer.usage, name, None)) is not None
        }
        # Log-probabilities and ids cannot be cut at a character.
        if text != written:  # the server's tokens are then not those of this text
            return Completion(text, usage, self._cost(usage))
        return Completion(text, usage, self._cost(usage), _logprobs(choice), _token_ids(choice))

    def _cost(self, usage: dict[str, int]) -> float:
        if not self.price:
            return 0.0
        prompt = usage.get("prompt_tokens", 0) * self.price.prompt
        return (prompt + usage.get("completion_tokens", 0) * self.price.completion) / 1_000_000


def _logprobs(choice: Any) -> tuple[float, ...] | None:
    """Return the log-probability of each token, None if the server sent none; the two endpoints differ in form."""
    found = getattr(choice, "logprobs", None)
    if found is None:
        return None
    content = getattr(found, "content", None)
    values = getattr(found, "token_logprobs", None) if content is None else [token.logprob for token in content]
    return None if values is None else tuple(map(float, values))


def _token_ids(choice: Any) -> tuple[int, ...] | None:
    """Return the id of each token, None if the server sent none; the field is vLLM's."""
    found = getattr(choice, "token_ids", None)
    return None if found is None else tuple(map(int, found))


def _cut(text: str, stop: tuple[str, ...]) -> str:
    """Cut a text at the first stop sequence: some servers ignore ``stop``."""
    for end in stop:
        text = text.split(end, 1)[0]
    return text


def _check_connection(base_url: str | None, timeout: float, max_retries: int) -> None:
    """Refuse here what would fail at every call."""
    if base_url is not None and not str(base_url).startswith(("http://", "https://")):
        raise ValueError(f"expected base_url to begin with http:// or https://, got {base_url!r}")
    if type(timeout) not in (int, float) or not timeout > 0:
        raise ValueError(f"expected timeout to be a number of seconds above 0, got {timeout!r}")
    at_least("max_retries", max_retries, 0)


def _check_parameters(omit: Collection[str], rename: Mapping[str, str] | None, extra: Mapping[str, Any] | None) -> None:
    """Make sure that parameters are left out, renamed and added by name."""
    for option, mapping in (("rename", rename), ("extra", extra)):
        if not isinstance(mapping, Mapping | None):
            raise ValueError(f'expected {option} to be an object such as {{"name": "value"}}, got {mapping!r}')
    if isinstance(omit, str) or not isinstance(omit, Collection):
        raise ValueError(f"expected omit to be a list of names, got {omit!r}")
    unknown = [parameter for parameter in (*omit, *(rename or {})) if parameter not in PARAMETERS]
    if unknown:
        raise ValueError(f"expected omit and rename to name some of {', '.join(PARAMETERS)}, got {unknown[0]!r}")
