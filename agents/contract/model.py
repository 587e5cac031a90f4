"""The contract between an agent's requests and the models that answer them.

A model completes a prompt. Its answer is a value that says what was written, why it ended and what
it took; what keeps a model from answering is a ``ModelError``, whose class says what follows for
the episode and the run.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from textcraft_gym.agents.redaction import redact

Form: TypeAlias = Literal["line", "chat", "tools"]
"""How an executor talks with a model: continued lines, messages, or tool calls."""

FinishReason: TypeAlias = Literal["stop", "length", "content_filter", "refusal", "tool_calls"]
"""Why a completion ended: by itself or at a stop sequence, at the token limit, by a filter, ..."""

Limit: TypeAlias = Literal["context", "length", "content_filter", "refusal", "empty"]
"""Why a model gave no answer: the prompt exceeds its context, or how an empty answer ended."""


class ToolCall(NamedTuple):
    """A model's call of a tool.

    Attributes:
        id: The server's name for the call, which its result repeats.
        name: The tool.
        arguments: A JSON object, as the model wrote it.
    """

    id: str
    name: str
    arguments: str


class Message(NamedTuple):
    """One message of a dialogue with a model.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        content: The text.
        tool_calls: Calls that the assistant made.
        tool_call_id: Of a ``tool`` message, the call whose result it is.
    """

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


class Dialogue(str):
    """A text prompt that is also a dialogue.

    Completion models continue the text; chat models get the messages.

    Attributes:
        messages: The same dialogue, message by message.
    """

    messages: tuple[Message, ...]

    def __new__(cls, text: str, messages: Iterable[Message]) -> Dialogue:
        """Return the text with its messages."""
        dialogue = super().__new__(cls, text)
        dialogue.messages = tuple(messages)
        return dialogue

    # str itself has one argument.
    def __getnewargs__(self) -> tuple[str, tuple[Message, ...]]:  # type: ignore[override]
        """Return the constructor's arguments, for pickle and copy."""
        return str(self), self.messages

    def extended(self, text: str, *messages: Message) -> Dialogue:
        """Return the dialogue with more text and the messages of that text."""
        return Dialogue(f"{self}{text}", (*self.messages, *messages))


Prompt: TypeAlias = str | Sequence[Message]
"""Input of a model: a text, messages (also dicts in OpenAI's form), or both as a ``Dialogue``."""


def _message(message: Message | Mapping[str, str]) -> Message:
    if isinstance(message, Mapping):
        return Message(message["role"], message["content"])
    return message


def prompt_text(prompt: Prompt) -> str:
    """Return a prompt as one text, for models that take no messages."""
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(_message(message).content for message in prompt)


def prompt_messages(prompt: Prompt) -> tuple[Message, ...]:
    """Return a prompt as messages, for chat models; a plain text is one message of the user."""
    if isinstance(prompt, Dialogue):
        return prompt.messages
    if isinstance(prompt, str):
        return (Message("user", prompt),)
    return tuple(map(_message, prompt))


@dataclass(frozen=True)
class Tool:
    """A function that a model may call.

    Attributes:
        name: Its name.
        description: What it does, for the model.
        parameters: JSON Schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)


class Completion(NamedTuple):
    """A model's answer to one request.

    Attributes:
        text: The text, without reasoning and without the stop sequence that ended it.
        usage: Token counts (``prompt_tokens``, ``completion_tokens``), if the model reports them.
        cost: Price of the completion, in the currency of the model's price.
        logprobs: Log-probability of each token written, if the model was made to report them.
        token_ids: Id of each token written, if the model reports them.
        reasoning: What the model thought before it answered, if it shows that.
        finish_reason: Why it ended.
        tool_calls: Calls of the tools that the request offered.
    """

    text: str
    usage: Mapping[str, int] = {}
    cost: float = 0.0
    logprobs: tuple[float, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    reasoning: str = ""
    finish_reason: FinishReason = "stop"
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is neither text nor a tool call."""
        return not self.tool_calls and not self.text.strip()


class CompletionRequest(NamedTuple):
    """One request to a model, as a value; see ``Ask`` for the fields.

    ``sample`` is the seed that the model sees.
    """

    prompt: Prompt
    stop: tuple[str, ...]
    max_tokens: int
    temperature: float
    sample: int
    tools: tuple[Tool, ...] = ()


class ModelError(RuntimeError):
    """A model cannot be made, or gave no completion after all retries; another attempt may succeed.

    Its message shows no secret: it often repeats what a server or a library said.

    Attributes:
        spent: The usage and the cost of answers that could not be used, as a completion without
            text; None without any.
    """

    spent: Completion | None = None

    def __init__(self, message: object = "") -> None:
        super().__init__(redact(str(message)))


class ModelLimit(ModelError):
    """The model's own limit ended an episode: it counts as lost.

    Attributes:
        limit: Which limit.
    """

    def __init__(self, message: object = "", limit: Limit = "empty") -> None:
        super().__init__(message)
        self.limit = limit


class ModelUnavailable(ModelError):
    """No request can succeed until somebody acts: a refused key, no quota, an unknown model."""


_WINDOW = r"context[ _-]?(?:length|window|size|limit)"
_OVERFLOW = re.compile(
    "|".join(
        (
            rf"{_WINDOW}[^.]*(?:exceed|reached|overflow|too |not enough|of only)",
            r"(?:exceed|maximum|larger than|longer than|greater than|too (?:long|large) for)[^.]*"
            + _WINDOW,
            r"(?:prompt|input)[^.]{0,60} too (?:long|large)",
            r"(?:prompt|input) (?:length|tokens?|token count)[^.]*exceed",
            r"input token count is \d+ but",
            r"maximum (?:prompt|input|model) length",
            r"too many (?:input )?tokens",
            r"tokens in the prompt cannot exceed",
            r"`inputs` tokens \+ `max_new_tokens` must be",
            r"reduce the length of (?:the|your) (?:messages|prompt|input)",
        )
    ),
    re.IGNORECASE,
)
_RATE = re.compile(
    r"rate.?limit|quota|throttl|please wait|per[ -]?(?:second|minute|min|hour|day)\b",
    re.IGNORECASE,
)
"""Words of a rate limit, which may speak of too many tokens as well."""


def is_overflow(message: str) -> bool:
    """Return whether an error message, in any server's words, says that the context overflows."""
    return _OVERFLOW.search(message) is not None and _RATE.search(message) is None


class Model(Protocol):
    """Completes text. A model that is more efficient on batches is a ``BatchingModel``.

    Optional attributes of a model tell a run how to talk with it: ``prompts``, a bundled set of
    prompts that it is used to; ``form``, the executor's form (``Form``; ``line`` without it);
    ``context``, the maximum number of tokens of a prompt with its completion. A model that can call
    tools takes them as a further argument ``tools`` and has ``takes_tools = True``.
    """

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
    ) -> Completion:
        """Return the completion of one request.

        Equal arguments give equal completions, as far as the model can.

        Raises:
            ModelError: If there is none.
        """


CompleteMany: TypeAlias = Callable[[Sequence[CompletionRequest]], Sequence[Completion | Exception]]
"""Completes a batch: one answer per request, in order; an exception for a failed request."""
CompleteAsync: TypeAlias = Callable[[CompletionRequest], Awaitable[Completion]]
"""Completes one request in an event loop, beside others."""


class BatchingModel(Model, Protocol):
    """A model that completes many requests at once; a run sends it one batch at a time."""

    @property
    def complete_many(self) -> CompleteMany | None:
        """Completes a batch; None if requests must be sent one by one after all."""


class AsyncModel(Model, Protocol):
    """A model that waits in an event loop; a run sends it every request as soon as it is asked."""

    @property
    def complete_async(self) -> CompleteAsync | None:
        """Completes one request; None if it must be sent from a thread after all."""


def batch_method(model: Model) -> CompleteMany | None:
    """Return a model's ``complete_many``, None if it has none."""
    method: CompleteMany | None = getattr(model, "complete_many", None)
    return method


def async_method(model: Model) -> CompleteAsync | None:
    """Return a model's ``complete_async``, None if it has none."""
    method: CompleteAsync | None = getattr(model, "complete_async", None)
    return method


def form_of(model: Model) -> Form:
    """Return the executor's form that a model names; ``line`` if it names none."""
    form: Form = getattr(model, "form", "line")
    return form
