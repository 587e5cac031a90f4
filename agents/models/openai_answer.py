"""Reading what servers of OpenAI's API answer, in every form that the API or a gateway allows."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from textcraft_gym.agents.contract.model import Completion, FinishReason, ToolCall
from textcraft_gym.agents.models.completions import calls_as_text
from textcraft_gym.replies import split_reasoning

_FINISH: Mapping[str, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "refusal": "refusal",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
}
"""Reasons, in several providers' words, that do not mean that a completion ended by itself."""

MAX_DEPTH = 100
"""Maximum number of levels of an answer in JSON."""
MAX_MESSAGE = 500
"""Maximum number of characters of a server's message that is passed on."""
MAX_COUNT = 1 << 53
"""Token counts are smaller: a float holds them exactly."""


class Malformed(ValueError):
    """An answer has no completion that can be read."""


class ServerError(NamedTuple):
    """What an answer says of its failure.

    Attributes:
        message: In words.
        code: The server's name for it; a number in some gateways.
        parameter: The parameter that it is about.
    """

    message: str
    code: str = ""
    parameter: str = ""

    @property
    def words(self) -> str:
        """The message and the code."""
        return f"{self.message} {self.code}"


def parse(body: bytes) -> Any:
    """Return the JSON value of a body; a stream of server-sent events is joined into one.

    Raises:
        Malformed: If it is neither.
    """
    text = body.decode(errors="replace").strip()
    if re.match(r"(?:data|event|id|retry)?:", text):
        return _joined(list(_events(text)))
    return _value(text)


def _value(text: str) -> Any:
    """Return a JSON value.

    Raises:
        Malformed: If it is none, or nested so deeply that reading it might exceed Python's stack.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"expected JSON, got {_excerpt(text)!r}") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise Malformed(f"expected JSON of at most {MAX_DEPTH} levels, got {_excerpt(text)!r}")
    return value


def _is_deep(value: Any) -> bool:
    """Return whether a JSON value has more levels than ``MAX_DEPTH``."""
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for outer in level:
            if isinstance(outer, list):
                below += outer
            elif isinstance(outer, dict):
                below += outer.values()
        level = below
    return bool(level)


def error_of(body: bytes) -> ServerError | None:
    """Return the failure that a body tells of, in whatever form; None if it tells of none."""
    try:
        answer = parse(body)
    except Malformed:
        return ServerError(_excerpt(body.decode(errors="replace")) or "an empty answer")
    if isinstance(answer, list) and len(answer) == 1:  # Gemini's endpoint wraps errors in a list
        answer = answer[0]
    if not isinstance(answer, Mapping):
        return ServerError(_excerpt(str(answer)))
    error = _error_field(answer)
    if not error:
        return None
    if isinstance(error, Mapping):
        return _server_error(error)
    return ServerError(_excerpt(str(error)), str(answer.get("code") or answer.get("type") or ""))


def _error_field(answer: Mapping[str, Any]) -> Any:
    """Return what an answer tells of a failure, of a list the first; falsy if it tells of none."""
    error = answer.get("error")
    # Beside choices, a detail or a message is no failure.
    if not error and "choices" not in answer:
        error = answer.get("detail") or answer.get("message")
    return _first_complaint(error) if error and isinstance(error, list) else error


def _first_complaint(complaints: Sequence[Any]) -> dict[str, Any]:
    """Return the first complaint about a request, of FastAPI's list, in OpenAI's fields."""
    first = complaints[0]
    if not isinstance(first, Mapping):
        first = {"message": str(complaints)}
    parameter = _last(first.get("loc"))
    return {"param": parameter, "message": f"{first.get('msg', '')} {parameter}", **first}


def _server_error(error: Mapping[str, Any]) -> ServerError:
    """Return the failure that an object of the API describes."""
    codes = [str(error[key]) for key in ("code", "type", "status") if error.get(key)]
    message = str(error.get("message") or error)
    metadata = error.get("metadata")  # where OpenRouter tells what its provider said
    if isinstance(metadata, Mapping) and metadata.get("raw"):
        message = f"{message}: {metadata['raw']}"
    return ServerError(_excerpt(message), " ".join(codes), str(error.get("param") or ""))


def read_completion(answer: Any, *, takes_tools: bool = False) -> Completion:
    """Return the completion of either endpoint's answer, before it is cut at a stop sequence.

    Args:
        answer: The parsed body.
        takes_tools: Whether the request offered tools. A call that nobody asked for is read as
            text.

    Raises:
        Malformed: If there is none.
    """
    try:
        choice = answer["choices"][0]
        message = choice.get("message")
        if message is None:  # of the completion endpoint
            message = {"content": choice["text"]}
        written = _clean(_content(message.get("content")))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise Malformed(f"expected a completion, got {_excerpt(json.dumps(answer))}") from error
    inside, text = split_reasoning(written)
    completion = Completion(
        text,
        usage_of(answer),
        reasoning=reasoning_apart(answer) or inside,
        finish_reason=_finish_reason(choice, message, text),
        tool_calls=tuple(_calls(message)),
    )
    if not takes_tools:
        completion = calls_as_text(completion)
    if completion.text != written:  # the tokens would be those of another text
        return completion
    return completion._replace(logprobs=_logprobs(choice), token_ids=_token_ids(choice))


def _finish_reason(
    choice: Mapping[str, Any],
    message: Mapping[str, Any],
    text: str,
) -> FinishReason:
    """Return why a completion ended."""
    if not text.strip() and message.get("refusal"):
        return "refusal"
    return _FINISH.get(str(choice.get("finish_reason") or "").lower(), "stop")


def reasoning_apart(answer: Any) -> str:
    """Return the reasoning beside the text of a completion.

    Mistral has it in parts of its own.
    """
    message = answer["choices"][0].get("message") or {}
    beside = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(beside, str):
        return _clean(beside)
    content = message.get("content")
    reasoning = ""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("thinking"):
            reasoning += _content(part["thinking"])
    return _clean(reasoning)


def usage_of(answer: Any) -> dict[str, int]:
    """Return the readable token counts; ``reasoning_tokens`` are among the completion's."""
    counts = answer.get("usage") if isinstance(answer, Mapping) else None
    if not isinstance(counts, Mapping):
        return {}
    details = counts.get("completion_tokens_details")
    if isinstance(details, Mapping):
        counts = {**counts, **details}
    usage: dict[str, int] = {}
    for kind in ("prompt_tokens", "completion_tokens", "reasoning_tokens"):
        number: Any = counts.get(kind)
        if type(number) in (int, float) and 0 <= number < MAX_COUNT:
            usage[kind] = int(number)
    return usage


def _content(content: object) -> str:
    """Return a content as text: it may be missing, or a list of parts of which some are text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Malformed("no text")
    text = ""
    for part in content:
        if isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text"):
            text += str(part.get("text") or "")
    return text


def _calls(message: Mapping[str, Any]) -> Iterable[ToolCall]:
    """Yield the tool calls of a message, in the present form and in that of 2023."""
    calls = message.get("tool_calls")
    if isinstance(message.get("function_call"), Mapping):
        calls = [{"function": message["function_call"]}]
    if not isinstance(calls, list):
        return
    for number, call in enumerate(calls):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            continue
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments or {})
        name = str(call.get("id") or f"call_{number}")
        yield ToolCall(name, function["name"], _clean(arguments))


def _logprobs(choice: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Return the log-probability of each token, None without any.

    The two endpoints differ in form.
    """
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, Mapping):
        return None
    try:
        content = logprobs.get("content")
        if content is None:  # of the completion endpoint
            return tuple(map(float, logprobs["token_logprobs"]))
        return tuple(float(token["logprob"]) for token in content)
    except (LookupError, TypeError, ValueError, OverflowError):
        return None


def _token_ids(choice: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the id of each token, None if the server sent none; the field is vLLM's."""
    try:
        return tuple(map(int, choice["token_ids"]))
    except (LookupError, TypeError, ValueError, OverflowError):
        return None


def _events(text: str) -> Iterable[Any]:
    """Yield the values of a stream of server-sent events, without ``[DONE]``."""
    for line in text.splitlines():
        if line.startswith("data:") and line[5:].strip() not in ("", "[DONE]"):
            yield _value(line[5:])


def _joined(chunks: Sequence[Any]) -> dict[str, Any]:
    """Return the answer that a stream's chunks make; without choices if they are malformed."""
    usage: dict[str, Any] = {}
    for chunk in chunks:
        if isinstance(chunk, Mapping) and chunk.get("usage"):
            usage = {"usage": chunk["usage"]}  # the last one counts them all
    try:
        return {**_joined_choices(chunks), **usage}
    except (LookupError, TypeError, AttributeError, ValueError):
        return usage


def _joined_choices(chunks: Iterable[Any]) -> dict[str, Any]:
    """Return the choices of an answer, or the error that ended it."""
    answer: dict[str, Any] = {}
    message: dict[str, Any] = {"content": ""}
    calls: dict[int, dict[str, Any]] = {}
    choice: dict[str, Any] = {"message": message}
    for chunk in chunks:
        if chunk.get("error"):
            return {"error": chunk["error"]}
        for part in (chunk.get("choices") or [])[:1]:
            answer["choices"] = [choice]
            delta = _delta(part)
            _join_texts(message, delta)
            for call in delta.get("tool_calls") or []:
                _join_call(calls, call)
            choice["finish_reason"] = part.get("finish_reason") or choice.get("finish_reason")
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return answer


def _delta(part: Mapping[str, Any]) -> Any:
    """Return what a chunk adds to a message; the completion endpoint sends a bare text."""
    return part.get("delta") or part.get("message") or {"content": part.get("text")}


def _join_texts(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add the texts of a chunk."""
    for key in ("content", "reasoning_content", "reasoning", "refusal"):
        if delta.get(key):
            message[key] = message.get(key, "") + _content(delta[key])


def _join_call(calls: dict[int, dict[str, Any]], part: Mapping[str, Any]) -> None:
    """Add a chunk of a tool call; without an index it begins another call."""
    index = part.get("index", len(calls))
    whole = calls.setdefault(index, {"function": {"arguments": ""}})
    whole["id"] = part.get("id") or whole.get("id")
    function = part.get("function") or {}
    whole["function"]["name"] = function.get("name") or whole["function"].get("name")
    whole["function"]["arguments"] += function.get("arguments") or ""


def _clean(text: str) -> str:
    """Return a text that can be encoded: surrogate pairs are joined, lone halves replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _last(path: object) -> str:
    return str(path[-1]) if isinstance(path, list) and path else ""


def _excerpt(text: str) -> str:
    """Return the beginning of a message as one line; of an HTML page, what a browser would show."""
    if "<html" in text[:1000].lower() or "<!doctype" in text[:100].lower():
        shown = re.sub(r"(?s)<(style|script).*?</\1>|<[^>]*>", " ", text[:20_000])
        text = "a page in HTML: " + html.unescape(shown)
    return " ".join(text.split())[:MAX_MESSAGE]
