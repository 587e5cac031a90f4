"""Models of inspect_ai's model layer, with all its providers. Extra ``[inspect]``."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    FinishReason,
    Form,
    Message,
    ModelError,
    ModelLimit,
    ModelUnavailable,
    Prompt,
    Tool,
    ToolCall,
    is_overflow,
    prompt_messages,
    prompt_text,
)
from textcraft_gym.agents.models.completions import (
    NO_MONEY,
    Price,
    ReasoningRoom,
    calls_as_text,
    counted,
    cut,
    stops_to_send,
    with_costs_of,
)
from textcraft_gym.agents.models.event_loop import submit
from textcraft_gym.agents.redaction import register
from textcraft_gym.errors import UnknownName, needs, true_or_false
from textcraft_gym.replies import split_reasoning

with needs("inspect"):
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        Content,
        ContentReasoning,
        ContentText,
        GenerateConfig,
        ModelOutput,
        ModelUsage,
        get_model,
    )
    from inspect_ai.model import Model as Inspects
    from inspect_ai.tool import ToolCall as InspectsCall
    from inspect_ai.tool import ToolInfo, ToolParams
    from inspect_ai.util import LimitExceededError

PARAMETERS = ("max_tokens", "temperature", "seed", "stop_seqs")
"""Fields of inspect's ``GenerateConfig`` that each request sets, each of which can be left out."""
MAX_RETRIES = 5
"""Maximum number of retries; inspect by itself has no end of them."""
ATTEMPT_SECONDS = 300
"""Seconds to wait for one whole answer; inspect by itself waits without end."""

_FINISH: Mapping[str, FinishReason] = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
}
"""Inspect's reasons that do not mean that a completion ended by itself."""


class InspectModel:
    """A model by its name in inspect_ai (``anthropic/claude-sonnet-4-5``), or inspect's own.

    Retries, the number of connections and what a provider needs besides are inspect's own. Each
    request sets ``PARAMETERS``: the seed where the temperature is above 0, and stop sequences but
    for a lone line break, with which reasoning and answers begin; completions are cut at it here.

    Args:
        name: ``PROVIDER/NAME``, or a model that inspect made.
        base_url: The provider's address; by default inspect's.
        api_key: By default the environment's.
        price: Price per million tokens; without one a completion costs nothing.
        dialogue: Whether a dialogue is sent message by message; else as one message of the user.
        reasoning_tokens: Tokens for reasoning, added to the limit of each answer and set in
            inspect's config; by default none, and 4,096 from the moment that the model is seen to
            reason.
        omit: Names of ``PARAMETERS`` to leave out.
        model_args: Arguments of inspect's provider.
        config: Further fields of inspect's ``GenerateConfig``, such as ``max_connections``,
            ``reasoning_effort``, ``top_p``, and ``attempt_timeout``, which is 300 seconds by
            default.

    Raises:
        ModelError: If inspect cannot make the model.
        ValueError: If an argument has a wrong type or value.
    """

    takes_tools = True

    def __init__(
        self,
        name: str | Inspects,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        price: Price | None = None,
        dialogue: bool = True,
        reasoning_tokens: int | None = None,
        omit: Collection[str] = (),
        model_args: Mapping[str, Any] | None = None,
        **config: Any,
    ) -> None:
        true_or_false("dialogue", dialogue)
        _check_names("parameter of inspect to leave out", omit, PARAMETERS)
        fields = [field for field in GenerateConfig.model_fields if field not in PARAMETERS]
        _check_names("option of inspect", config, fields)
        self.name = str(name)
        self.price = price
        self.dialogue = dialogue
        self.omit = frozenset(omit)
        self.room = ReasoningRoom(reasoning_tokens)
        # Inspect itself retries and waits without end.
        defaults: dict[str, Any] = {}
        if isinstance(name, str):  # a model that inspect made has its own
            defaults |= {"max_retries": MAX_RETRIES, "attempt_timeout": ATTEMPT_SECONDS}
        if reasoning_tokens is not None:
            defaults["reasoning_tokens"] = reasoning_tokens
        self.config = GenerateConfig(**defaults).merge(GenerateConfig(**config))
        if isinstance(name, Inspects):
            self._model = name
        else:
            self._model = self._make(name, base_url, api_key, model_args or {})
        # The suite's own models have another one where they do not chat.
        self.form: Form = getattr(self._model.api, "form", "chat")

    def _make(
        self,
        name: str,
        base_url: str | None,
        api_key: str | None,
        model_args: Mapping[str, Any],
    ) -> Inspects:
        register(api_key or "")
        try:
            return get_model(name, base_url=base_url, api_key=api_key, **model_args)
        except Exception as error:  # a provider's constructor may raise anything
            raise ModelError(f"{name}: {_reason(error)}") from error

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
        tools: tuple[Tool, ...] = (),
    ) -> Completion:
        """Return the completion; above temperature 0 the sample is the provider's seed.

        Raises:
            ModelError: If the provider gave none, after every retry; of the class ``ModelLimit`` if
                the prompt exceeds the context or is refused by a filter, ``ModelUnavailable`` if no
                request can succeed.
        """
        request = CompletionRequest(prompt, stop, max_tokens, temperature, sample, tools)
        return submit(self.complete_async(request)).result()

    async def complete_async(self, request: CompletionRequest) -> Completion:
        """Return the completion of one request beside others; see ``complete``."""
        spent: list[Completion] = []  # answers that were paid for and could not be used
        with counted(spent):
            while True:
                room = self.room.tokens
                completion = await self._ask(request, room, spent)
                if not self.room.learn(completion, room):
                    return with_costs_of(completion, spent)
                spent.append(completion)

    def learned_options(self) -> dict[str, Any]:
        """Return the options by which a new model begins with what this one has learned."""
        return {"reasoning_tokens": self.room.tokens} if self.room.tokens else {}

    async def _ask(
        self,
        request: CompletionRequest,
        room: int,
        spent: list[Completion],
    ) -> Completion:
        output = await self._generate(request, room)
        usage = _usage(output.usage)
        cost = self.price.of(usage) if self.price else 0.0
        try:
            completion = completion_of(output, takes_tools=bool(request.tools))
        except ModelLimit as limit:
            spent.append(Completion("", usage, cost))
            raise ModelLimit(f"{self.name}: {limit}", limit.limit) from None
        except ModelError as error:
            spent.append(Completion("", usage, cost))
            raise self._error(error) from error
        return completion._replace(text=cut(completion.text, request.stop), cost=cost)

    async def _generate(self, request: CompletionRequest, room: int) -> ModelOutput:
        """Return inspect's output for a request, with ``room`` more tokens for reasoning."""
        turns = prompt_messages(request.prompt)
        if not self.dialogue:
            turns = (Message("user", prompt_text(request.prompt)),)
        parameters = {
            "max_tokens": request.max_tokens + room,
            "temperature": request.temperature,
            "seed": request.sample if request.temperature > 0 else None,
            "stop_seqs": stops_to_send(request.stop) or None,
        }
        sent = {name: value for name, value in parameters.items() if name not in self.omit}
        try:
            return await self._model.generate(
                list(messages_for(turns)),
                [_tool(tool) for tool in request.tools],
                config=self.config.merge(GenerateConfig(**sent)),
            )
        except LimitExceededError:
            raise  # of a sample of inspect, which it ends
        except Exception as error:  # a provider's client may raise anything
            raise self._error(error) from error

    def _error(self, error: Exception) -> ModelError:
        """Return what a provider's error means for the episode and the run."""
        cause = _last_attempt(error)
        message = f"{self.name}: {_reason(cause)}"
        if is_overflow(message):
            return ModelLimit(message, "context")
        if _status(cause) in (401, 402, 403, 404) or NO_MONEY.search(message):
            return ModelUnavailable(message)
        return ModelError(message)


def messages_for(turns: Collection[Message]) -> Iterator[ChatMessage]:
    """Yield messages as inspect has them."""
    names: dict[str, str] = {}
    for turn in turns:
        if turn.role == "system":
            yield ChatMessageSystem(content=turn.content)
        elif turn.role == "tool":
            name = names.get(turn.tool_call_id)
            yield ChatMessageTool(
                content=turn.content,
                tool_call_id=turn.tool_call_id,
                function=name,
            )
        elif turn.role == "assistant":
            names |= {call.id: call.name for call in turn.tool_calls}
            yield ChatMessageAssistant(
                content=turn.content,
                tool_calls=list(map(_call, turn.tool_calls)) or None,
            )
        else:
            yield ChatMessageUser(content=turn.content)


def completion_of(output: ModelOutput, *, takes_tools: bool = False) -> Completion:
    """Return the completion of inspect's output, before it is cut at a stop sequence.

    Args:
        output: The output.
        takes_tools: Whether the request offered tools. A call that nobody asked for is read as
            text.

    Raises:
        ModelLimit: If the provider refused the prompt: it exceeds the context, or a filter took it.
        ModelError: If there is no completion.
    """
    if output.empty:
        raise ModelError(output.error or "an answer without a choice")
    message, usage = output.message, _usage(output.usage)
    content = message.content if isinstance(message.content, list) else []
    if not usage.get("completion_tokens"):
        _raise_limit(output, content)
    if output.stop_reason == "content_filter":
        # The text is the provider's, not the model's.
        return Completion("", usage, finish_reason=_limit(content))
    inside, text = split_reasoning(message.text)
    completion = Completion(
        text,
        usage,
        reasoning=_reasoning(content) or inside,
        finish_reason=_FINISH.get(output.stop_reason, "stop"),
        tool_calls=tuple(_calls(message)),
    )
    return completion if takes_tools else calls_as_text(completion)


def _raise_limit(output: ModelOutput, content: Collection[Content]) -> None:
    """Raise the limit by which a prompt was not answered, if there is one."""
    text = output.message.text
    if output.stop_reason == "model_length":
        raise ModelLimit(text or "the prompt exceeds the context", "context")
    if output.stop_reason == "content_filter":
        raise ModelLimit(output.error or text or "no text", _limit(content))


def _limit(content: Collection[Content]) -> Literal["refusal", "content_filter"]:
    """Return why a provider withheld an answer: the model refused, or a filter took it."""
    for part in content:
        if isinstance(part, ContentText) and part.refusal:
            return "refusal"
    return "content_filter"


def _reasoning(content: Collection[Content]) -> str:
    """Return the reasoning in parts of its own, without redacted ones."""
    reasoning = [part for part in content if isinstance(part, ContentReasoning)]
    return "\n".join(part.reasoning for part in reasoning if not part.redacted)


def _calls(message: ChatMessageAssistant) -> Iterator[ToolCall]:
    """Yield the tool calls of a message."""
    for call in message.tool_calls or ():
        yield ToolCall(call.id, call.function, json.dumps(call.arguments))


def _usage(usage: ModelUsage | None) -> dict[str, int]:
    """Return token counts.

    Inspect counts apart what a provider's cache read or wrote of the prompt.
    """
    if usage is None:
        return {}
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    counts = {
        "prompt_tokens": usage.input_tokens + cached,
        "completion_tokens": usage.output_tokens,
    }
    if usage.reasoning_tokens:
        counts["reasoning_tokens"] = usage.reasoning_tokens
    return counts


def _call(call: ToolCall) -> InspectsCall:
    """Return a call as inspect has it; arguments that are no object are an error of the model."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return InspectsCall(id=call.id, function=call.name, arguments=arguments)
    return InspectsCall(
        id=call.id,
        function=call.name,
        arguments={},
        parse_error=f"no object: {call.arguments}",
    )


def _tool(tool: Tool) -> ToolInfo:
    parameters = ToolParams.model_validate(dict(tool.parameters))
    return ToolInfo(name=tool.name, description=tool.description, parameters=parameters)


def _last_attempt(error: BaseException) -> BaseException:
    """Return what ended the last attempt, where inspect says only that its retries are spent."""
    last_attempt = getattr(error, "last_attempt", None)
    last: BaseException | None = last_attempt.exception() if last_attempt is not None else None
    return last or error


def _reason(error: BaseException) -> str:
    """Return the provider's message of an error, on one line."""
    message = getattr(error, "provider_message", None) or str(error) or type(error).__name__
    return " ".join(message.split())[:2000]


def _status(error: BaseException | None) -> int | None:
    """Return the HTTP status of an error, as providers' clients name it; None if it has none."""
    while error is not None:
        for name in ("status_code", "code", "status"):
            status = getattr(error, name, None)
            if type(status) is int:
                return status
        error = error.__cause__
    return None


def _check_names(
    kind: str,
    names: Collection[str],
    known: Collection[str],
) -> None:
    for name in names:
        if name not in known:
            raise UnknownName.of(kind, name, list(known))
