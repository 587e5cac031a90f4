"""Reading what servers of OpenAI's API answer, in every form that the API or a gateway allows."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from textcraft_gym.agents.contract.model import Completion, FinishReason, ToolCall
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
"""The reasons that do not mean that a completion ended by itself, in the words of several providers."""

MAX_DEPTH = 100
"""Maximum number of levels of an answer in JSON."""
MAX_MESSAGE = 500
"""Maximum number of characters of a server's message that is passed on."""


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


def parse(body: bytes) -> Any:
    """Return the JSON value of a body, or of a stream of server-sent events the answer that its chunks make.

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
        level = [item for outer in level if isinstance(outer, list) for item in outer] + [
            item for outer in level if isinstance(outer, dict) for item in outer.values()
        ]
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
    told = answer.get("error") or answer.get("detail") or answer.get("message")
    if not told or ("choices" in answer and not answer.get("error")):
        return None
    if isinstance(told, list):  # FastAPI's list of what is wrong with a request
        told = told[0] if told and isinstance(told[0], Mapping) else {"message": str(told)}
        told = {
            "param": _last(told.get("loc")),
            "message": f"{told.get('msg', '')} {_last(told.get('loc'))}",
            **told,
        }
    if not isinstance(told, Mapping):
        return ServerError(_excerpt(str(told)), str(answer.get("code") or answer.get("type") or ""))
    codes = [str(told[key]) for key in ("code", "type", "status") if told.get(key)]
    message = str(told.get("message") or told)
    metadata = told.get("metadata")  # where OpenRouter tells what its provider said
    if isinstance(metadata, Mapping) and metadata.get("raw"):
        message = f"{message}: {metadata['raw']}"
    return ServerError(_excerpt(message), " ".join(codes), str(told.get("param") or ""))


def read_completion(answer: Any, *, takes_tools: bool = False) -> Completion:
    """Return the completion of an answer of either endpoint, before anything is cut at a stop sequence.

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
        message = {"content": choice["text"]} if message is None else message
        written = _clean(_content(message.get("content")))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise Malformed(f"expected a completion, got {_excerpt(json.dumps(answer))}") from error
    inside, text = split_reasoning(written)
    calls = tuple(_calls(message))
    finish = _FINISH.get(str(choice.get("finish_reason") or "").lower(), "stop")
    if not text.strip() and message.get("refusal"):
        finish = "refusal"
    if calls and not takes_tools:
        text, calls = (
            text if text.strip() else "\n".join(f"{call.name}({call.arguments})" for call in calls),
            (),
        )
        finish = "stop" if finish == "tool_calls" else finish
    return Completion(
        text,
        usage_of(answer),
        logprobs=_logprobs(choice) if text == written else None,
        token_ids=_token_ids(choice) if text == written else None,
        reasoning=reasoning_apart(answer) or inside,
        finish_reason=finish,
        tool_calls=calls,
    )


def reasoning_apart(answer: Any) -> str:
    """Return the reasoning that stands beside the text of a completion, or in parts of its own, as Mistral has it."""
    message = answer["choices"][0].get("message") or {}
    beside = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(beside, str):
        return _clean(beside)
    content = message.get("content")
    parts = (
        [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    )
    return _clean("".join(_content(part["thinking"]) for part in parts if part.get("thinking")))


def usage_of(answer: Any) -> dict[str, int]:
    """Return the token counts of an answer, those that can be read; ``reasoning_tokens`` are among the completion's."""
    found = answer.get("usage") if isinstance(answer, Mapping) else None
    if not isinstance(found, Mapping):
        return {}
    details = found.get("completion_tokens_details")
    counts = {**found, **(details if isinstance(details, Mapping) else {})}
    kinds = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
    numbers = {kind: counts[kind] for kind in kinds if type(counts.get(kind)) in (int, float)}
    return {kind: int(number) for kind, number in numbers.items() if 0 <= number < 1 << 53}


def _content(content: object) -> str:
    """Return a content as text: it may be missing, or a list of parts of which some are text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Malformed("no text")
    parts = (
        part
        for part in content
        if isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text")
    )
    return "".join(str(part.get("text") or "") for part in parts)


def _calls(message: Mapping[str, Any]) -> Iterable[ToolCall]:
    """Yield the tool calls of a message, in the present form and in that of 2023."""
    listed = message.get("tool_calls") or []
    if isinstance(message.get("function_call"), Mapping):
        listed = [{"function": message["function_call"]}]
    for number, call in enumerate(listed if isinstance(listed, list) else []):
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            arguments = function.get("arguments")
            written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
            yield ToolCall(
                str(call.get("id") or f"call_{number}"), function["name"], _clean(written)
            )


def _logprobs(choice: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Return the log-probability of each token, None if the server sent none; the two endpoints differ in form."""
    found = choice.get("logprobs")
    if not isinstance(found, Mapping):
        return None
    try:
        content = found.get("content")
        values = (
            found["token_logprobs"] if content is None else [token["logprob"] for token in content]
        )
        return tuple(map(float, values))
    except (LookupError, TypeError, ValueError, OverflowError):
        return None


def _token_ids(choice: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the id of each token, None if the server sent none; the field is vLLM's."""
    try:
        return tuple(map(int, choice["token_ids"]))
    except (LookupError, TypeError, ValueError, OverflowError):
        return None


def _events(text: str) -> Iterable[Any]:
    """Yield the values of a stream of server-sent events; what is no value, such as ``[DONE]``, is skipped."""
    for line in text.splitlines():
        if line.startswith("data:") and line[5:].strip() not in ("", "[DONE]"):
            yield _value(line[5:])


def _joined(chunks: Sequence[Any]) -> dict[str, Any]:
    """Return the answer that the chunks of a stream make; one without choices if those are malformed."""
    usage = [
        chunk["usage"] for chunk in chunks if isinstance(chunk, Mapping) and chunk.get("usage")
    ]
    told = {"usage": usage[-1]} if usage else {}
    try:
        return {**_joined_choices(chunks), **told}
    except (LookupError, TypeError, AttributeError, ValueError):
        return told


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
            delta = part.get("delta") or part.get("message") or {"content": part.get("text")}
            for key in ("content", "reasoning_content", "reasoning", "refusal"):
                if delta.get(key):
                    message[key] = message.get(key, "") + _content(delta[key])
            for call in delta.get("tool_calls") or []:
                _join_call(
                    calls.setdefault(
                        call.get("index", len(calls)), {"function": {"arguments": ""}}
                    ),
                    call,
                )
            choice["finish_reason"] = part.get("finish_reason") or choice.get("finish_reason")
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return answer


def _join_call(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Add a chunk of a tool call."""
    whole["id"] = part.get("id") or whole.get("id")
    function = part.get("function") or {}
    whole["function"]["name"] = function.get("name") or whole["function"].get("name")
    whole["function"]["arguments"] += function.get("arguments") or ""


def _clean(text: str) -> str:
    """Return a text that can be encoded: halves of surrogate pairs are joined, or replaced where they stand alone."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _last(path: object) -> str:
    return str(path[-1]) if isinstance(path, list) and path else ""


def _excerpt(text: str) -> str:
    """Return the beginning of a message as one line; of a page in HTML what a browser would show."""
    if "<html" in text[:1000].lower() or "<!doctype" in text[:100].lower():
        text = "a page in HTML: " + html.unescape(
            re.sub(r"(?s)<(style|script).*?</\1>|<[^>]*>", " ", text[:20_000])
        )
    return " ".join(text.split())[:MAX_MESSAGE]
