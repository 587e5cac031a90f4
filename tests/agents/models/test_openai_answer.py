"""What is read of answers that no server should send."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from textcraft_gym.agents.models.openai_answer import (
    MAX_DEPTH,
    Malformed,
    error_of,
    parse,
    read_completion,
    reasoning_apart,
    usage_of,
)

ANSWER: dict[str, Any] = {
    "choices": [
        {
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "a", "logprob": -1.0}]},
            "token_ids": [1, 2],
            "message": {
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "thinking", "thinking": [{"text": "well"}]},
                ],
                "refusal": None,
                "reasoning": "so",
                "tool_calls": [{"id": "1", "function": {"name": "act", "arguments": {"a": 1}}}],
            },
        }
    ],
    "usage": {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": 3},
    },
}
CALL = {"index": 0, "id": "1", "function": {"name": "act", "arguments": "{}"}}
CHUNK: dict[str, Any] = {
    "choices": [
        {
            "finish_reason": None,
            "delta": {"content": "look", "reasoning": "so", "tool_calls": [CALL]},
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5},
}
VALUES = (
    "null",
    "5",
    "-1",
    "1.5",
    "true",
    '"x"',
    "[]",
    "{}",
    "[1]",
    "[[]]",
    "[null]",
    '{"a": 1}',
    '"\\ud800"',
)
NUMBERS = ("NaN", "Infinity", "-Infinity", "1e400", "1" * 400, "1" * 5000)
DEEP = (
    "[" * 100_000,
    *("[" * depth + "]" * depth for depth in (99, 500, 900)),
    '{"a":' * 480 + "1" + "}" * 480,
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a JSON value."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from paths(item, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], text: str) -> str:
    """Return a JSON value with one part replaced by a text, which need not be JSON."""
    if not path:
        return text
    whole = part = copy.deepcopy(value)
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = "PART"
    return json.dumps(whole).replace('"PART"', text)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_answer__that_is_changed_anywhere_is_read_or_malformed(streamed: bool):
    read = 0
    for path in paths(CHUNK if streamed else ANSWER):
        for text in (*VALUES, *NUMBERS, *DEEP):
            changed = replaced(CHUNK if streamed else ANSWER, path, text)
            body = (f"data: {changed}\n\ndata: [DONE]\n" if streamed else changed).encode()
            error_of(body)
            try:
                answer = parse(body)
                usage = usage_of(answer)
                assert all(type(count) is int and count >= 0 for count in usage.values())
                completion = read_completion(answer, takes_tools=True)
                reasoning_apart(answer)
            except Malformed:
                continue
            read += 1
            assert isinstance(completion.text, str)
            if path and path[0] != "usage":
                assert usage == usage_of(CHUNK if streamed else ANSWER)
    assert read > 100


@pytest.mark.parametrize("key", ["logprobs", "token_ids"])
@pytest.mark.parametrize(
    "value", [5, "x", [None], {"content": 5}, {"content": [{}]}, {"token_logprobs": ["x"]}]
)
def test_answer__has_its_text_whatever_stands_beside_it(key: str, value: Any):
    completion = read_completion({"choices": [{**ANSWER["choices"][0], key: value}]})
    assert completion.text == "look"
    assert getattr(completion, key) is None


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (7, 7),
        (7.0, 7),
        (-7, None),
        (True, None),
        ("many", None),
        (None, None),
        (10**400, None),
        (1 << 53, None),
    ]
    + [(float(name), None) for name in ("nan", "inf", "-inf")],
)
def test_usage__is_what_can_be_read_of_it(count: Any, expected: int | None):
    usage = usage_of({"usage": {"prompt_tokens": count, "completion_tokens": 5}})
    assert usage == {"completion_tokens": 5} | (
        {} if expected is None else {"prompt_tokens": expected}
    )


def test_answer__may_have_some_levels():
    assert parse(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 900, 100_000):
        with pytest.raises(Malformed, match="expected JSON"):
            parse(b"[" * depth + b"]" * depth)
