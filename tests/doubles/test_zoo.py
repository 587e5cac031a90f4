"""The servers of the zoo do what they say, as a plain client of HTTP sees them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple

import gymnasium as gym
import pytest

from tests.doubles.expert import PLAN, PLANNED, TASK, THOUGHT, next_words
from tests.doubles.server import Request, serving
from tests.doubles.zoo import ZOO, table

PROMPT = "A demonstration:\nGoal: craft planks.\n> get 2 birch logs\nGot 2 birch logs\n\nGoal: craft birch boat.\n>"
ASK: dict[str, Any] = {
    "model": "m",
    "max_tokens": 50,
    "messages": [{"role": "user", "content": PROMPT}],
}
LONGEST = 1 << 20
"""Number of bytes of a body that are read at most."""


class Got(NamedTuple):
    """What a client got; the status is 0 if the connection ended before that."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def message(self) -> dict[str, Any]:
        """The message of the only choice."""
        message: dict[str, Any] = json.loads(self.body)["choices"][0]["message"]
        return message


def ask(name: str, body: Mapping[str, Any] = ASK, *, times: int = 1, key: str = "") -> Got:
    """Send a server a number of equal requests, and return the last answer."""
    kind = ZOO[name]
    with serving(kind.answer) as server:
        connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
        for _ in range(times):
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            connection.request("POST", f"{kind.base}/chat/completions", json.dumps(body), headers)
            try:
                response = connection.getresponse()
                got = Got(response.status, response.read(LONGEST), dict(response.headers))
            except HTTPException:
                got = Got(0, b"", {})
                connection.close()
        connection.close()
    return got


def dialogue(played: int, form: str = "user") -> dict[str, Any]:
    """Return a request after some commands of the plan were played; the answers are of the user or
    of a tool."""
    messages = [{"role": "system", "content": "You play.\nGot 2 birch logs"}, *ASK["messages"]]
    for command, answer in PLAN[:played]:
        messages += [
            {"role": "assistant", "content": f"{command}\n{answer}"},
            {"role": form, "content": answer},
        ]
    return {**ASK, "messages": messages}


@pytest.mark.parametrize("form", ["user", "tool"])
@pytest.mark.parametrize("played", range(len(PLAN)))
def test_expert__counts_what_was_played_in_each_form(form: str, played: int):
    text = PROMPT + "".join(f" {command}\n{answer}\n>" for command, answer in PLAN[:played])
    for path, body in (
        ("/v1/chat/completions", dialogue(played, form)),
        ("/v1/completions", {"prompt": text}),
    ):
        assert next_words(Request(path, {}, body)).text == PLAN[played][0]


def test_expert__writes_a_plan_where_one_is_asked_for():
    body = {"prompt": f"Execution Order: ...\n{PROMPT}"}
    assert next_words(Request("/v1/completions", {}, body)) == (PLANNED, True)


def test_expert__knows_the_shortest_plan_and_the_answers_of_the_game():
    env = gym.make("TextCraft-v0", split="test", expert=True)
    _, info = env.reset(seed=0, options={"task": TASK})
    assert list(info["expert_plan"]) == [command for command, _ in PLAN]
    assert [env.step(command)[0] for command, _ in PLAN] == [answer for _, answer in PLAN]


def test_plain__stops_as_it_is_asked_to():
    assert ask("plain").message["content"] == "get 2 birch logs"
    assert ask("plain", ASK | {"max_tokens": 2}).message["content"] == "get 2"
    assert (
        json.loads(ask("plain", ASK | {"max_tokens": 2}).body)["choices"][0]["finish_reason"]
        == "length"
    )
    assert ask("leading line breaks", ASK | {"stop": ["\n"]}).message["content"] == ""


CONTENTS = {
    "code block": "```\nget 2 birch logs\n```",
    "thought and action": "Thought: I go on with the plan.\nAction: get 2 birch logs",
    "JSON": '{"thought": "I go on.", "action": "get 2 birch logs"}',
    "think tags": f"<think>\n{THOUGHT}\n</think>\n\nget 2 birch logs",
    "half a surrogate pair": "get 2 birch logs\n\nWell done \ud83d",
    "content parts": [{"type": "text", "text": "get 2 birch logs"}],
    "empty lines first": "get 2 birch logs",
    "long reasoning": "",
    "null": None,
}


@pytest.mark.parametrize(("name", "content"), CONTENTS.items(), ids=CONTENTS)
def test_server__writes_in_its_form(name: str, content: object):
    assert ask(name).message["content"] == content


def test_server__packs_its_answer():
    answer = json.loads(gzip.decompress(ask("packs").body))
    assert answer["choices"][0]["message"]["content"] == "get 2 birch logs"


STATUSES = {
    ("refuses stop", "stop"): 400,
    ("refuses one after another", "stop"): 400,
    ("extra forbidden", "top_p"): 422,
    ("unknown name", "seed"): 400,
    ("refuses in plain text", "top_p"): 400,
    ("refuses stop", "top_p"): 200,
    ("quota spent", "stop"): 429,
    ("balance spent", "stop"): 402,
    ("no such model", "stop"): 404,
    ("address without v1", "stop"): 404,
    ("overloaded", "stop"): 503,
    ("error in 200", "stop"): 200,
    ("drops connections", "stop"): 0,
    ("streams only", "stop"): 400,
}


@pytest.mark.parametrize(("name", "parameter"), STATUSES, ids=" ".join)
def test_server__answers_with_its_status(name: str, parameter: str):
    assert ask(name, ASK | {parameter: "x"}).status == STATUSES[name, parameter]


def test_server__has_trouble_only_once():
    statuses = [ask("limited once", times=times).status for times in (1, 2, 3)]
    assert statuses == [200, 429, 200]
    assert ask("Retry-After", times=2).headers["Retry-After"] == "1"
    assert [ask("hangs up once", times=times).status for times in (1, 2, 3)] == [200, 0, 200]
    assert ask("stops halfway once", times=2).body == b'{"choices": ['


def test_server__names_the_parameter_that_it_refuses():
    error = json.loads(ask("wants max_completion_tokens").body)["error"]
    assert (error["param"], error["code"]) == ("max_tokens", "unsupported_parameter")


def test_server__repeats_what_it_should_not():
    assert b"sk-proj-" in ask("wrong key", key="sk-proj-0123456789").body
    assert b"sk-proj-0123456789" in ask("repeats headers", key="sk-proj-0123456789").body


def test_server__sends_a_stream_of_events():
    events = ask("streams only", ASK | {"stream": True}).body.decode().split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    values = [
        json.loads(event.removeprefix("data: "))
        for event in events[:-2]
        if event.startswith("data: ")
    ]
    deltas = [choice["delta"] for value in values for choice in value["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == "get 2 birch logs"
    assert values[-1]["usage"]["completion_tokens"] == 4


def test_server__sends_what_a_terminal_obeys():
    for name in ("refuses in sequences", "writes sequences"):
        assert "\x1b]0;owned\x07" in str(json.loads(ask(name).body)).encode().decode(
            "unicode_escape"
        )


@pytest.mark.parametrize("name", ["endless body", "endless stream", "gzip bomb", "deflate bomb"])
def test_server__has_more_than_anybody_reads(name: str):
    body = ZOO[name].answer(Request("/v1/chat/completions", {}, ASK)).body
    size = (
        len(zlib.decompress(body, 47)) if isinstance(body, bytes) else sum(map(len, body))
    )  # gzip or deflate
    assert size > 60 << 20


def test_server__calls_the_tools_that_it_is_offered():
    tools = [{"type": "function", "function": {"name": "get", "parameters": {}}}]
    made = ask("calls tools", ASK | {"tools": tools}).message["tool_calls"]
    assert [call["function"] for call in made] == [
        {"name": "get", "arguments": '{"count": 2, "item": "birch logs"}'},
    ]
    several = ask("calls tools at once", ASK | {"tools": tools}).message["tool_calls"]
    arguments = [json.loads(call["function"]["arguments"]) for call in several]
    assert [call["id"] for call in several] == ["call_0", "call_1", "call_2", "call_3"]
    assert arguments[3] == {"count": 1, "item": "birch boat", "ingredients": "5 birch planks"}
    assert ask("calls tools").message["content"] == "get 2 birch logs"


def test_zoo__has_two_dozen_servers_and_every_ending():
    assert len(ZOO) >= 24
    limits = {
        f"lost: {limit}" for limit in ("context", "length", "content_filter", "refusal", "empty")
    }
    assert {behaviour.expected for behaviour in ZOO.values()} == {
        "won",
        "stopped",
        "error",
        "lost: no command",
        *limits,
    }
    assert len(table().splitlines()) == len(ZOO) + 2
