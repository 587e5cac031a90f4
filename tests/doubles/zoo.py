"""A zoo of servers of language models: each speaks OpenAI's API in a way of its own.

What they do is what real ones do according to their documentation or to their users' reports. The
model behind each is the same expert, so that an episode is lost only by what the server, or a form
of writing, keeps from the agent.
"""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.doubles.expert import (
    THOUGHT,
    Words,
    arguments_of,
    commands_left,
    finish,
    next_words,
    token_limit,
    told_by_the_game,
)
from tests.doubles.server import (
    Answer,
    Reply,
    Request,
    completion,
    hangs,
    hangs_up,
    sends,
    stops_halfway,
)


@dataclass(frozen=True)
class Behaviour:
    """One server of the zoo.

    Attributes:
        name: Its name.
        does: What it does, in one sentence.
        answer: How it answers a request.
        expected: How an episode ends: ``won``, ``lost: LIMIT``, ``stopped`` for the whole run, or
            ``error``.
        because: A part of the message that says why.
        options: Options of the model that the server needs.
        form: The executor's form, where the server shows only in one.
        bounds: Further options, of waiting, which keep the test short.
        base: Path of the API.
    """

    name: str
    does: str
    answer: Answer
    expected: str = "won"
    because: str = ""
    options: str = ""
    form: str = ""
    bounds: str = "timeout=10,max_retries=1"
    base: str = "/v1"


OK = b"HTTP/1.1 200 OK\r\n"
ZOO: dict[str, Behaviour] = {}
"""Every server, by name."""


def behaviour(
    does: str, expected: str = "won", because: str = "", **details: str
) -> Callable[[Answer], Answer]:
    """Add a function to the zoo as a server, under its own name."""

    def add(answer: Answer) -> Answer:
        name = getattr(answer, "__name__", "").replace("_", " ")
        ZOO[name] = Behaviour(name, does, answer, expected, because, **details)
        return answer

    return add


def writes(request: Request, text: str, **choice: Any) -> dict[str, Any]:
    """Return a completion of a text, as far as the request lets it come, with its usage."""
    written, finish_reason = finish(request, text)
    usage = {
        "prompt_tokens": len(told_by_the_game(request).split()),
        "completion_tokens": len(written.split()),
    }
    usage["total_tokens"] = sum(usage.values())
    return completion(request, written, usage, **{"finish_reason": finish_reason, **choice})


def plain(request: Request) -> Reply:
    """Answer with the bare words, as the best of servers."""
    return sends(writes(request, next_words(request).text))


def once(trouble: Answer) -> Answer:
    """Answer the second request with trouble, and all others plainly."""
    return lambda request: (trouble if request.number == 1 else plain)(request)


def refusal(
    message: str, status: int = 400, code: str | None = None, param: str | None = None
) -> Reply:
    """Return an error in the form that OpenAI publishes."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return sends({"error": error}, status)


ZOO["plain"] = Behaviour("plain", "Writes the bare command.", plain)
ZOO["completion endpoint"] = Behaviour(
    "completion endpoint",
    "Has the endpoint that continues a text.",
    plain,
    options="endpoint=completion",
)

# How a command is written. COMMAND stands for it, and NEXT for the one after it; a plan is written
# as it is.
FORMS = {
    "leading line breaks": (
        "Begins with two line breaks, where reasoning was taken out.",
        "\n\nCOMMAND",
    ),
    "prompt mark": ("Repeats the mark at which the prompt ends.", "> COMMAND"),
    "label": ("Labels the command.", "Action: COMMAND"),
    "thought and action": (
        "Thinks in a line of its own first.",
        "Thought: I go on with the plan.\nAction: COMMAND",
    ),
    "inline code": ("Writes the command as code.", "`COMMAND`"),
    "bold": ("Writes the command in bold.", "**COMMAND**"),
    "quotes": ("Quotes the command.", '"COMMAND"'),
    "full stop": ("Ends the command like a sentence.", "COMMAND."),
    "code block": ("Puts the command in a code block.", "```\nCOMMAND\n```"),
    "code block in prose": (
        "Explains, and puts the command in a code block.",
        "Now I go on:\n\n```text\nCOMMAND\n```\n\nThis brings us closer to the goal.",
    ),
    "chatty": (
        "Talks before and after the command.",
        "Sure, let's go on!\n\nCOMMAND\n\nTell me what happens.",
    ),
    "JSON": ("Answers with a JSON object.", '{"thought": "I go on.", "action": "COMMAND"}'),
    "JSON in a code block": (
        "Answers with a JSON object in a code block.",
        '```json\n{"action": "COMMAND"}\n```',
    ),
    "tags": ("Puts the command between tags.", "<action>COMMAND</action>"),
    "imagines the game": (
        "Goes on with an imagined answer and a next command.",
        "COMMAND\nGot 5 of everything\n> craft 1 dream using 5 everything\nCrafted 1 dream",
    ),
    "imagines observations": (
        "Writes several labelled turns with imagined observations.",
        "Action: COMMAND\nObservation: Got 5 of everything\nAction: craft 1 dream using 5 everything",
    ),
}


def in_form(form: str) -> Answer:
    """Answer with the command in a form."""

    def answer(request: Request) -> Reply:
        words = next_words(request)
        return sends(
            writes(request, words.text if words.is_plan else form.replace("COMMAND", words.text))
        )

    return answer


ZOO |= {name: Behaviour(name, does, in_form(form)) for name, (does, form) in FORMS.items()}

# Reasoning: within the text, beside it, or without an end.
THOUGHTS = {
    "think tags": (
        "Reasons between `<think>` tags in the text.",
        f"<think>\n{THOUGHT}\n</think>\n\nWORDS",
    ),
    "think tag unopened": (
        "Ends the reasoning in the text with `</think>` alone.",
        f"{THOUGHT}\n</think>\n\nWORDS",
    ),
    "THINK marks": (
        "Reasons between `[THINK]` marks in the text.",
        f"[THINK]{THOUGHT}[/THINK]WORDS",
    ),
    "harmony channels": (
        "Writes gpt-oss's channels into the text.",
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>WORDS<|return|>",
    ),
}


def thinking(form: str) -> Answer:
    """Answer with reasoning in the text."""
    return lambda request: sends(writes(request, form.replace("WORDS", next_words(request).text)))


ZOO |= {name: Behaviour(name, does, thinking(form)) for name, (does, form) in THOUGHTS.items()}


@behaviour("Reasons in `reasoning_content`, as DeepSeek and vLLM have it.")
def reasoning_content(request: Request) -> Reply:
    return sends(writes(request, next_words(request).text, message={"reasoning_content": THOUGHT}))


@behaviour(
    "Reasons in `reasoning`, as OpenRouter and Groq have it, and begins the text with line breaks."
)
def reasoning_apart(request: Request) -> Reply:
    return sends(writes(request, f"\n\n{next_words(request).text}", message={"reasoning": THOUGHT}))


@behaviour("Sends reasoning and text as parts of the content, as Mistral does.")
def reasoning_part(request: Request) -> Reply:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
    return sends(completion(request, None, message={"content": [thought, text_part(request)]}))


def text_part(request: Request) -> dict[str, str]:
    """Return the next words as a part of a content."""
    return {"type": "text", "text": next_words(request).text}


def thinks_for(tokens: int) -> Answer:
    """Answer after many tokens of reasoning, which count as tokens written."""

    def answer(request: Request) -> Reply:
        words = next_words(request)
        enough = token_limit(request) >= tokens + len(words.text.split())
        usage = {"prompt_tokens": 100, "completion_tokens": min(tokens, token_limit(request))}
        choice = completion(
            request,
            words.text if enough else "",
            usage,
            finish_reason="stop" if enough else "length",
            message={"reasoning_content": "What is next? " * 100},
        )
        return sends(choice)

    return answer


ZOO |= {
    name: Behaviour(name, does, thinks_for(tokens), expected, options=options)
    for name, does, tokens, expected, options in (
        (
            "long reasoning",
            "Reasons for 900 tokens, more than an agent lets it write.",
            900,
            "won",
            "",
        ),
        ("longer reasoning", "Reasons for 6,000 tokens.", 6000, "lost: length", ""),
        (
            "longer reasoning, allowed",
            "Reasons for 6,000 tokens.",
            6000,
            "won",
            "reasoning_tokens=8000",
        ),
    )
}


@behaviour("Reasons in the text until its tokens are spent.", "lost: length")
def think_tag_unclosed(request: Request) -> Reply:
    return sends(writes(request, "<think>\n" + f"{THOUGHT}\n" * 1000))


# Parameters that a server does not take.
UNSUPPORTED = "Unsupported parameter: '{0}' is not supported with this model."
MESSAGES = {
    "max_tokens": UNSUPPORTED + " Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: '{0}' does not support {1} with this model. "
    "Only the default (1) value is supported.",
}


def refuses(*fields: str) -> Answer:
    """Refuse fields of a request as OpenAI does, the first that is there."""

    def answer(request: Request) -> Reply:
        for field in fields:
            if field in request.body:
                message = MESSAGES.get(field, UNSUPPORTED).format(field, request.body[field])
                code = "unsupported_value" if "value" in message else "unsupported_parameter"
                return refusal(message, param=field, code=code)
        return plain(request)

    return answer


def refuses_with(reply: Callable[[str], Reply], *fields: str) -> Answer:
    """Refuse fields of a request in a server's own words."""

    def answer(request: Request) -> Reply:
        unknown = next((field for field in fields if field in request.body), None)
        return plain(request) if unknown is None else reply(unknown)

    return answer


def extra_forbidden(field: str) -> Reply:
    """Return an error as pydantic words it, in the form that Mistral and vLLM send it."""
    detail = {
        "type": "extra_forbidden",
        "loc": ["body", field],
        "msg": "Extra inputs are not permitted",
        "input": 1,
    }
    return sends(
        {"object": "error", "message": {"detail": [detail]}, "type": "invalid_request_error"}, 422
    )


def validation(field: str) -> Reply:
    """Return an error as Text Generation Inference words it, which wants 0 < top_p < 1."""
    message = f"Input validation error: `{field}` must be > 0.0 and < 1.0"
    return sends({"error": message, "error_type": "validation"}, 422)


def unknown_name(field: str) -> Reply:
    """Return an error as Gemini's endpoint words it: in a list."""
    message = f'Invalid JSON payload received. Unknown name "{field}": Cannot find field.'
    return sends([{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}], 400)


def in_plain_text(field: str) -> Reply:
    """Return an error that is no JSON."""
    return Reply(f"{field} is not supported by this model".encode(), 400, "text/plain")


SENT = ("max_tokens", "temperature", "top_p", "stop", "seed")
REFUSALS = {
    "wants max_completion_tokens": (
        "Refuses `max_tokens` and names another.",
        refuses("max_tokens"),
    ),
    "refuses stop": ("Refuses `stop`.", refuses("stop")),
    "refuses temperature": ("Refuses any temperature but 1.", refuses("temperature")),
    "refuses top_p": ("Refuses `top_p`.", refuses("top_p")),
    "refuses seed": ("Refuses `seed`.", refuses("seed")),
    "refuses one after another": (
        "Refuses all of these, one at a time, as o4-mini does.",
        refuses(*SENT),
    ),
    "extra forbidden": (
        "Refuses unknown fields with status 422.",
        refuses_with(extra_forbidden, "top_p", "seed"),
    ),
    "validates": ("Refuses `top_p` of 1 in a text.", refuses_with(validation, "top_p")),
    "unknown name": (
        "Refuses unknown fields in a list.",
        refuses_with(unknown_name, "top_p", "seed"),
    ),
    "refuses in plain text": (
        "Refuses `top_p` in plain text.",
        refuses_with(in_plain_text, "top_p", "seed"),
    ),
}
ZOO |= {name: Behaviour(name, does, answer) for name, (does, answer) in REFUSALS.items()}


@behaviour("Refuses messages with fields beyond the published ones.")
def strict_about_messages(request: Request) -> Reply:
    known = {"role", "content", "name", "tool_calls", "tool_call_id"}
    fields = itertools.chain.from_iterable(request.body["messages"])
    unknown = next((field for field in fields if field not in known), None)
    return plain(request) if unknown is None else refusal(f"property '{unknown}' is unsupported")


@behaviour("Wants users and assistants to take turns, as Gemma's template does.")
def wants_turns(request: Request) -> Reply:
    roles = [message["role"] for message in request.body["messages"]]
    turns = [role for role in roles if role != "system"]
    if any(role != ("user", "assistant")[place % 2] for place, role in enumerate(turns)):
        return refusal("Conversation roles must alternate user/assistant/user/assistant/...")
    return plain(request)


@behaviour("Refuses messages of the system, as Gemma's template does.")
def refuses_system_role(request: Request) -> Reply:
    if any(message["role"] == "system" for message in request.body["messages"]):
        return refusal("System role not supported")
    return plain(request)


@behaviour("Refuses tools, as vLLM does without a parser for them.")
def refuses_tools(request: Request) -> Reply:
    message = (
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    )
    return refusal(message) if request.body.get("tools") else plain(request)


@behaviour(
    "Has a model without a chat template, which takes no messages.", "error", "chat template"
)
def no_chat_template(request: Request) -> Reply:
    message = "default chat template is no longer allowed, so you must provide a chat template"
    return refusal(message) if request.is_chat else plain(request)


# Answers without a usable text.
EMPTY = {
    "empty": ("Answers with an empty text.", "lost: empty", {"content": ""}, "stop"),
    "null": ("Answers with null.", "lost: empty", {}, "stop"),
    "filtered": ("A filter takes the text away.", "lost: content_filter", {}, "content_filter"),
    "refuses to play": (
        "The model refuses, in the field `refusal`.",
        "lost: refusal",
        {"refusal": "I'm sorry, I cannot assist with that."},
        "stop",
    ),
}


def empty(message: Mapping[str, Any], finish_reason: str) -> Answer:
    """Answer without a text."""
    usage = {"prompt_tokens": 100, "completion_tokens": 0}
    return lambda request: sends(
        completion(request, None, usage, finish_reason=finish_reason, message=dict(message))
    )


ZOO |= {
    name: Behaviour(name, does, empty(message, finish_reason), expected)
    for name, (does, expected, message, finish_reason) in EMPTY.items()
}


@behaviour("Refuses the prompt because of a filter, as Azure does.", "lost: content_filter")
def filtered_prompt(request: Request) -> Reply:
    message = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    return refusal(message, code="content_filter", param="prompt")


# Calls of tools.
def call(command: str, number: int) -> dict[str, Any]:
    """Return a command as a call of a tool, in OpenAI's form."""
    verb, arguments = arguments_of(command)
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": verb, "arguments": json.dumps(arguments)},
    }


def calls(request: Request, *commands: str) -> Reply:
    """Return commands as calls of tools, without a text."""
    made = [call(command, 10 * request.number + place) for place, command in enumerate(commands)]
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    return sends(
        completion(request, None, usage, finish_reason="tool_calls", message={"tool_calls": made})
    )


@behaviour("Calls the tools that it is offered.", form="tools")
def calls_tools(request: Request) -> Reply:
    return calls(request, next_words(request).text) if request.body.get("tools") else plain(request)


@behaviour("Calls tools for all that is left to do at once.", form="tools")
def calls_tools_at_once(request: Request) -> Reply:
    return calls(request, *commands_left(request)) if request.body.get("tools") else plain(request)


@behaviour("Is offered tools, and writes a text.", form="tools")
def ignores_tools(request: Request) -> Reply:
    return plain(request)


@behaviour("Writes a command as the call of a tool that nobody offered.")
def calls_unasked(request: Request) -> Reply:
    words = next_words(request)
    return plain(request) if words.is_plan else calls(request, words.text)


@behaviour("Calls for a tool that no game has.", "lost: no command")
def calls_for_a_browser(request: Request) -> Reply:
    if next_words(request).is_plan:
        return plain(request)
    made = {
        "id": "call_0",
        "type": "function",
        "function": {"name": "browse", "arguments": '{"page": 1}'},
    }
    return sends(
        completion(request, None, finish_reason="tool_calls", message={"tool_calls": [made]})
    )


# Limits of the server, and of the account.
def limited(**headers: str) -> Reply:
    """Return an error of status 429 that passes."""
    error = {
        "message": "Rate limit reached for requests",
        "type": "requests",
        "code": "rate_limit_exceeded",
    }
    return sends({"error": error}, 429, **headers)


ZOO |= {
    name: Behaviour(name, does, once(trouble))
    for name, does, trouble in (
        ("limited once", "Refuses a request for now, with status 429.", lambda request: limited()),
        (
            "Retry-After",
            "Says with status 429 how long to wait.",
            lambda request: limited(Retry_After="1"),
        ),
        (
            "broken once",
            "Fails once with status 500.",
            lambda request: refusal("The server had an error", 500),
        ),
        (
            "page once",
            "Has a gateway that fails once, with a page and status 502.",
            lambda request: page(502),
        ),
        (
            "error in 200 once",
            "Sends an error with status 200, once.",
            lambda request: error_in_200(request),
        ),
        (
            "no choices once",
            "Sends an empty list of choices, once.",
            lambda request: no_choices(request),
        ),
        ("hangs up once", "Drops the connection once.", hangs_up),
        ("stops halfway once", "Drops the connection within an answer, once.", stops_halfway),
    )
}


WAITS = {
    "wait of 59 seconds": ("59", "error", "asks to wait 59 s"),
    "wait of a day": ("86400", "error", "asks to wait 86400 s"),
    "wait for ever": ("inf", "error", "asks to wait inf s"),
    "wait until a far date": ("Fri, 31 Dec 2100 23:59:59 GMT", "error", "asks to wait"),
    "wait until a past date": ("Wed, 21 Oct 2015 07:28:00 GMT", "won", ""),
    "wait until no date": ("Foo, 99 Bar 2100 29:59:59 GMT", "won", ""),
    "wait of less than nothing": ("-5", "won", ""),
}


def waits(retry_after: str) -> Answer:
    """Answer the second request with the wish to be asked later."""
    return once(lambda request: limited(Retry_After=retry_after))


ZOO |= {
    name: Behaviour(
        name,
        f"Says once with status 429 to wait, `Retry-After: {retry_after}`.",
        waits(retry_after),
        *ending,
    )
    for name, (retry_after, *ending) in WAITS.items()
}


@behaviour("Limits requests for ever.", "error", "Rate limit reached")
def limited_for_ever(request: Request) -> Reply:
    return limited(Retry_After="0")


@behaviour("Is overloaded for ever, with status 503.", "error", "overloaded")
def overloaded(request: Request) -> Reply:
    return refusal("The engine is currently overloaded", 503)


@behaviour("Has no money left, with status 429.", "stopped", "exceeded your current quota")
def quota_spent(request: Request) -> Reply:
    message = "You exceeded your current quota, please check your plan and billing details."
    error = {
        "message": message,
        "type": "insufficient_quota",
        "param": None,
        "code": "insufficient_quota",
    }
    return sends({"error": error}, 429)


@behaviour(
    "Has no money left, with status 402, as DeepSeek and OpenRouter send it.",
    "stopped",
    "Insufficient Balance",
)
def balance_spent(request: Request) -> Reply:
    return refusal("Insufficient Balance", 402)


@behaviour("Refuses the key, and repeats some of it.", "stopped", "Incorrect API key provided")
def wrong_key(request: Request) -> Reply:
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    shown = f"{key[:8]}{'*' * 12}{key[-4:]}"
    return refusal(f"Incorrect API key provided: {shown}.", 401, code="invalid_api_key")


@behaviour("Has no model of this name.", "stopped", "does not exist")
def no_such_model(request: Request) -> Reply:
    message = f"The model `{request.body['model']}` does not exist or you do not have access to it."
    return refusal(message, 404, code="model_not_found")


@behaviour("Has its API elsewhere: the address lacks /v1.", "stopped", "/v1", base="")
def address_without_v1(request: Request) -> Reply:
    return (
        plain(request) if request.path.startswith("/v1/") else sends({"detail": "Not Found"}, 404)
    )


OVERFLOWS = {
    "overflow": (
        "OpenAI's",
        "This model's maximum context length is 128 tokens. However, your messages resulted in 900 tokens. "
        "Please reduce the length of the messages.",
        "context_length_exceeded",
    ),
    "overflow of vLLM": (
        "vLLM's",
        "This model's maximum context length is 128 tokens. However, you requested 1050 tokens (900 in the messages, "
        "150 in the completion). Please reduce the length of the messages or completion.",
        None,
    ),
    "overflow of llama.cpp": (
        "llama.cpp's",
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        None,
    ),
}


def overflows(message: str, code: str | None) -> Answer:
    """Refuse requests of more than a thousand characters."""
    return lambda request: (
        refusal(message, param="messages", code=code)
        if len(json.dumps(request.body)) > 1000
        else plain(request)
    )


ZOO |= {
    name: Behaviour(
        name,
        f"Has a context that the prompt exceeds, in {whose} words.",
        overflows(message, code),
        "lost: context",
    )
    for name, (whose, message, code) in OVERFLOWS.items()
}


# Errors that last, and connections.
@behaviour(
    "Sends an error with status 200 for ever, as gateways do.", "error", "Provider returned error"
)
def error_in_200(request: Request) -> Reply:
    return sends({"error": {"code": 502, "message": "Provider returned error"}})


@behaviour("Sends an empty list of choices for ever.", "error", "choices")
def no_choices(request: Request) -> Reply:
    return sends({**writes(request, "x"), "choices": []})


@behaviour("Sends a page of HTML.", "error", "HTML")
def html(request: Request) -> Reply:
    return page(200)


def page(status: int) -> Reply:
    """Return a page of HTML."""
    return Reply(
        b"<!DOCTYPE html><html><title>Welcome</title></html>", status, "text/html; charset=utf-8"
    )


@behaviour("Sends half a JSON object.", "error", "choices")
def half_of_json(request: Request) -> Reply:
    return Reply(json.dumps(writes(request, "x")).encode()[:-20])


@behaviour("Repeats the headers of a request in its error.", "error", "headers were")
def repeats_headers(request: Request) -> Reply:
    return refusal(f"bad request, headers were {dict(request.headers)}")


@behaviour("Drops each connection.", "error", "no answer")
def drops_connections(request: Request) -> Reply:
    return hangs_up(request)


@behaviour(
    "Sends a byte now and then, for ever.", "error", "0.5", bounds="timeout=0.5,max_retries=0"
)
def drips(request: Request) -> Reply:
    return Reply(itertools.repeat(b"\n", 100), delay=0.1)


@behaviour(
    "Sends a header now and then, for ever.", "error", "0.5", bounds="timeout=0.5,max_retries=0"
)
def drips_a_head(request: Request) -> Reply:
    return Reply(
        itertools.chain([OK], itertools.repeat(b"X-Wait: 1\r\n", 100)), status=0, delay=0.1
    )


@behaviour(
    "Holds the connection, and answers nothing.", "error", "0.5", bounds="timeout=0.5,max_retries=0"
)
def holds_the_connection(request: Request) -> Reply:
    return hangs(10)(request)


@behaviour("Sends headers without an end.", "error", "no answer", bounds="timeout=20,max_retries=0")
def endless_head(request: Request) -> Reply:
    return Reply(itertools.chain([OK], itertools.repeat(b"X-More: 1\r\n" * 4096, 4096)), status=0)


@behaviour(
    "Sends a body without an end.", "error", "longer than", bounds="timeout=20,max_retries=0"
)
def endless_body(request: Request) -> Reply:
    return Reply(itertools.repeat(b" " * 65_536, 4096))


@behaviour(
    "Sends a stream without an end.", "error", "longer than", bounds="timeout=20,max_retries=0"
)
def endless_stream(request: Request) -> Reply:
    whole = writes(request, "x")
    event = {
        **whole,
        "choices": [{"index": 0, "delta": {"content": "x" * 60_000}, "finish_reason": None}],
    }
    return Reply(
        itertools.repeat(f"data: {json.dumps(event)}\n\n".encode(), 4096),
        content_type="text/event-stream",
    )


@behaviour(
    "Keeps a stream alive, and sends nothing in it.",
    "error",
    "0.5",
    bounds="timeout=0.5,max_retries=0",
)
def empty_stream(request: Request) -> Reply:
    return Reply(
        itertools.repeat(b": keep-alive\n\n", 100), content_type="text/event-stream", delay=0.1
    )


@behaviour(
    "Sends a small body that unpacks to a large one.",
    "error",
    "longer than",
    bounds="timeout=20,max_retries=0",
)
def gzip_bomb(request: Request) -> Reply:
    return Reply(bomb(), headers={"Content-Encoding": "gzip"})


@behaviour("Does the same with deflate.", "error", "longer than", bounds="timeout=20,max_retries=0")
def deflate_bomb(request: Request) -> Reply:
    return Reply(zlib.compress(gzip.decompress(bomb()), 1), headers={"Content-Encoding": "deflate"})


@behaviour(
    "Packs its answers by Brotli, though it was not asked to.",
    "error",
    "decompressed",
    bounds="max_retries=0",
)
def packs_by_brotli(request: Request) -> Reply:
    return Reply(b"\x0b\x02\x80{}\x03", headers={"Content-Encoding": "br"})


@cache
def bomb(megabytes: int = 64) -> bytes:
    """Return so many megabytes of spaces, packed."""
    return gzip.compress(b" " * (megabytes << 20), compresslevel=1)


@behaviour("Packs its answers, though it was not asked to.")
def packs(request: Request) -> Reply:
    body = json.dumps(writes(request, next_words(request).text)).encode()
    return Reply(gzip.compress(body), headers={"Content-Encoding": "gzip"})


@behaviour("Sends empty lines before an answer while it waits for its turn, as DeepSeek does.")
def empty_lines_first(request: Request) -> Reply:
    body = json.dumps(writes(request, next_words(request).text)).encode()
    return Reply(itertools.chain(itertools.repeat(b"\n", 5), [body]), delay=0.01)


# What a terminal would obey.
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2028\r  99 x made-up line"


@behaviour("Refuses with terminal sequences in its message.", "error", "made-up line")
def refuses_in_sequences(request: Request) -> Reply:
    return refusal(f"no {ESCAPES}\n  99 x made-up line")


@behaviour("Writes terminal sequences before the command.")
def writes_sequences(request: Request) -> Reply:
    words = next_words(request)
    return sends(
        writes(request, words.text if words.is_plan else f"Sure! {ESCAPES}\n\n{words.text}")
    )


# Streams.
def events(values: Iterable[object]) -> Iterator[bytes]:
    """Yield values as events of a stream, with comments between them that keep it alive."""
    for value in values:
        yield b": keep-alive\n\n"
        yield f"data: {json.dumps(value)}\n\n".encode()
    yield b"data: [DONE]\n\n"


def chunks(request: Request, words: Words) -> Iterator[dict[str, Any]]:
    """Yield a completion as the chunks of a stream: its role, its text in two halves, its end and
    its usage."""
    whole = writes(request, words.text)
    text = whole["choices"][0]["message"]["content"]
    deltas: list[dict[str, str]] = [
        {"role": "assistant", "content": ""},
        {"reasoning_content": THOUGHT},
    ]
    deltas += [{"content": text[: len(text) // 2]}, {"content": text[len(text) // 2 :]}]
    head = {**whole, "object": "chat.completion.chunk", "usage": None}
    for delta in deltas:
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {
        **head,
        "choices": [
            {"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}
        ],
    }
    yield {**head, "choices": [], "usage": whole["usage"]}


@behaviour("Answers in streams only.", options="stream=true")
def streams_only(request: Request) -> Reply:
    if not request.body.get("stream"):
        return refusal("This model only supports streaming: set `stream` to true.", param="stream")
    return Reply(events(chunks(request, next_words(request))), content_type="text/event-stream")


@behaviour("Answers in a stream, though nobody asked for one.")
def streams_unasked(request: Request) -> Reply:
    return Reply(
        events(chunks(request, next_words(request))),
        content_type="text/event-stream; charset=utf-8",
    )


@behaviour(
    "Breaks off a stream with an error.", "error", "Provider disconnected", options="stream=true"
)
def breaks_off_streams(request: Request) -> Reply:
    values = list(chunks(request, next_words(request)))
    end = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
    error = {
        **values[0],
        "error": {"code": 502, "message": "Provider disconnected"},
        "choices": [end],
    }
    return Reply(events([*values[:3], error]), content_type="text/event-stream")


# Odd but usable answers.
@behaviour("Sends the content as a list of parts.")
def content_parts(request: Request) -> Reply:
    return sends(completion(request, None, message={"content": [text_part(request)]}))


@behaviour("Sends null as usage.")
def null_usage(request: Request) -> Reply:
    return sends({**writes(request, next_words(request).text), "usage": None})


@behaviour(
    "Sends null for all that an answer lacks: the error, the refusal, tool calls, the reason."
)
def null_fields(request: Request) -> Reply:
    nothing = {
        "refusal": None,
        "tool_calls": None,
        "function_call": None,
        "reasoning_content": None,
    }
    answer = writes(request, next_words(request).text, finish_reason=None, message=nothing)
    return sends({**answer, "error": None})


@behaviour("Ends for a reason of its own, with an empty list of tool calls.")
def own_reason(request: Request) -> Reply:
    return sends(
        writes(request, next_words(request).text, finish_reason="eos", message={"tool_calls": []})
    )


@behaviour("Writes half a surrogate pair after the command.")
def half_a_surrogate_pair(request: Request) -> Reply:
    words = next_words(request)
    return sends(
        writes(request, words.text if words.is_plan else f"{words.text}\n\nWell done \ud83d")
    )


FAULTS = (
    *("drips", "drips a head", "holds the connection", "empty stream"),
    *(
        "endless head",
        "endless body",
        "endless stream",
        "gzip bomb",
        "deflate bomb",
        "packs by brotli",
    ),
    *("repeats headers", "refuses in sequences", "drops connections", "html", "half of json"),
)
"""The servers from which no client ever gets an answer, whatever it asks."""


def table() -> str:
    """Return the zoo as a table in Markdown: each server, what it does, how an episode ends and
    with which option."""
    rows = ["| server | what it does | what happens | option |", "| --- | --- | --- | --- |"]
    for kind in ZOO.values():
        reason = f', "{kind.because}"' if kind.because else ""
        options = [f"`{kind.options}`"] if kind.options else []
        options += [f"`--agent-arg form={kind.form}`"] if kind.form else []
        rows.append(
            f"| {kind.name} | {kind.does} | {kind.expected}{reason} | {', '.join(options)} |"
        )
    return "\n".join(rows)
