from __future__ import annotations

import asyncio
import inspect
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.doubles.server import (
    Reply,
    Request,
    Server,
    fails,
    hangs,
    hangs_up,
    says,
    sends,
    serving,
    stops_halfway,
)
from textcraft_gym.agents.contract.model import (
    Completion,
    Dialogue,
    Message,
    ModelError,
    ModelUnavailable,
)
from textcraft_gym.agents.models import openai_compatible
from textcraft_gym.agents.models.completions import Price
from textcraft_gym.agents.models.openai_compatible import CONNECTS, OpenAIModel

ASK: dict[str, Any] = {"stop": ("\n",), "max_tokens": 50, "temperature": 0.0, "sample": 0}


SLOW = hangs(2.5)


def model(server: Server, **options: Any) -> OpenAIModel:
    return OpenAIModel(
        "m", base_url=server.url, api_key="secret", **{"max_retries": 2, "timeout": 5.0, **options}
    )


def test_complete__asks_the_chat_endpoint():
    with serving(
        says("get 1 oak log", {"prompt_tokens": 7, "completion_tokens": 4, "total_tokens": 11})
    ) as server:
        completion = model(server).complete("a prompt", **ASK)
    assert completion == Completion("get 1 oak log", {"prompt_tokens": 7, "completion_tokens": 4})
    assert server.requests == [
        {
            "path": "/v1/chat/completions",
            "key": "Bearer secret",
            "model": "m",
            "messages": [{"role": "user", "content": "a prompt"}],
            "max_tokens": 50,
            "temperature": 0.0,
            "top_p": 1,
        }
    ]


def test_complete__asks_the_completion_endpoint():
    with serving(says("inventory")) as server:
        assert model(server, endpoint="completion").complete("a prompt", **ASK) == Completion(
            "inventory"
        )
    (request,) = server.requests
    assert (request["path"], request["prompt"], request["stop"]) == (
        "/v1/completions",
        "a prompt",
        ["\n"],
    )


def test_complete__seeds_samples_only_where_there_is_chance():
    with serving(says("x")) as server:
        model(server).complete("p", **ASK | {"temperature": 0.7, "sample": 42})
        model(server).complete("p", **ASK | {"sample": 42})
    assert [request.get("seed") for request in server.requests] == [42, None]


def test_complete__cuts_at_a_stop_that_the_server_ignored():
    with serving(says("one\ntwo END three")) as server:
        assert model(server).complete("p", **ASK).text == "one"
        assert model(server).complete("p", **ASK | {"stop": ("END", "two")}).text == "one\n"
        assert model(server).complete("p", **ASK | {"stop": tuple("vqxyzE")}).text == "one\ntwo "
    assert server.requests[-1]["stop"] == ["v", "q", "x", "y"]


def test_complete__costs_what_the_price_says():
    with serving(
        says("x", {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010})
    ) as server:
        assert model(server, price=Price(2.0, 50.0)).complete("p", **ASK).cost == pytest.approx(
            0.0025
        )


USAGE = {"prompt_tokens": 1000, "completion_tokens": 10}
UNUSABLE = {
    "no choices": {"choices": []},
    "no text": {"choices": [{"message": {"content": 5}}]},
    "an error": {"error": {"message": "upstream", "code": 502}},
    "a filter": {"error": {"message": "content_filter", "code": "content_filter", "status": "400"}},
}


@pytest.mark.parametrize("body", UNUSABLE.values(), ids=UNUSABLE)
def test_complete__counts_what_was_paid_for_an_answer_that_cannot_be_used(body: dict[str, Any]):
    unusable = sends({**body, "usage": USAGE})
    with serving(lambda request: unusable) as server:
        with pytest.raises(ModelError, match=r"^m: ") as raised:
            model(server, price=Price(2.0, 50.0), max_retries=1).complete("p", **ASK)
        request_count = len(server.requests)
    spent = raised.value.spent
    assert spent is not None
    assert spent.cost == pytest.approx(request_count * 0.0025)
    assert spent.usage == {kind: request_count * count for kind, count in USAGE.items()}
    with serving(lambda request: unusable, says("x", USAGE)) as server:
        if "error" not in body:
            assert model(server, price=Price(2.0, 50.0)).complete("p", **ASK).cost == pytest.approx(
                0.005
            )


@pytest.mark.parametrize("depth", [150, 900, 100_000])
def test_complete__names_the_model_where_json_is_too_deep(depth: int):
    deep = Reply(b"[" * depth + b"]" * depth)
    with (
        serving(lambda request: deep) as server,
        pytest.raises(ModelError, match=r"^m: status 200: \[\["),
    ):
        model(server, max_retries=0).complete("p", **ASK)


def test_complete__takes_key_and_address_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    with serving(says("x")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "from the environment")
        OpenAIModel("m").complete("p", **ASK)
    assert server.requests[0]["key"] == "Bearer from the environment"


def test_model__says_that_a_key_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        OpenAIModel("m").complete("p", **ASK)


def test_model__knows_two_endpoints():
    with pytest.raises(ValueError, match="chat or completion, got 'responses'"):
        OpenAIModel("m", endpoint="responses", api_key="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "trouble", [fails(429), fails(500), hangs_up, SLOW], ids=["429", "500", "cut", "slow"]
)
def test_complete__tries_again_after_trouble_that_passes(trouble):
    with serving(trouble, says("at last")) as server:
        assert (
            model(server, timeout=1.0 if trouble is SLOW else 20.0).complete("p", **ASK).text
            == "at last"
        )
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("trouble", "tries"),
    [
        (fails(429), 3),
        (fails(500), 3),
        (hangs_up, 3),
        (SLOW, 3),
        (stops_halfway, None),
        (fails(401), 1),
        (fails(400), 1),
        (fails(200, b"not JSON {"), None),
        (fails(200, b""), None),
        (fails(200, b"[]"), None),
        (fails(200, b'"text"'), None),
        (fails(200, b'{"choices": []}'), None),
        (fails(200, b'{"choices": null}'), None),
        (fails(200, b'{"choices": [{}]}'), None),
        (fails(200, b"{}"), None),
    ],
)
def test_complete__names_the_model_that_does_not_answer(trouble, tries):
    with serving(trouble) as server, pytest.raises(ModelError, match=r"^m: \w+"):
        model(server, timeout=1.0 if trouble is SLOW else 20.0).complete("p", **ASK)
    if tries:
        assert len(server.requests) == tries


def test_complete__of_nothing_is_an_empty_text():
    with serving(says(None), says("")) as server:
        assert model(server).complete("p", **ASK).text == ""
        assert model(server).complete("p", **ASK).text == ""


def test_complete__can_be_called_from_many_threads():
    together = threading.Barrier(8, timeout=20)

    def waits_for_the_others(request: Request) -> Reply:
        together.wait()
        return says("x")(request)

    with serving(waits_for_the_others) as server:
        shared = model(server, max_retries=0, timeout=20.0)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: shared.complete("p", **ASK).text, range(8)))
    assert answers == ["x"] * 8


GOAL = Message("user", "a goal\n>")
DIALOGUE = Dialogue(
    "a goal\n> look\nnothing\n>", [GOAL, Message("assistant", "look"), Message("user", "nothing")]
)


def test_complete__sends_a_dialogue_message_by_message():
    with serving(says("x")) as server:
        model(server).complete(DIALOGUE, **ASK)
        model(server, dialogue=False).complete(DIALOGUE, **ASK)
        model(server, endpoint="completion").complete(DIALOGUE, **ASK)
    messages, one_message, text = server.requests
    assert messages["messages"] == [
        {"role": "user", "content": "a goal\n>"},
        {"role": "assistant", "content": "look"},
        {"role": "user", "content": "nothing"},
    ]
    assert one_message["messages"] == [{"role": "user", "content": str(DIALOGUE)}]
    assert text["prompt"] == str(DIALOGUE)


def test_complete__leaves_out_renames_and_adds_parameters():
    options: dict[str, Any] = {
        "omit": ["temperature", "top_p", "stop"],
        "rename": {"max_tokens": "max_completion_tokens", "seed": "random_seed"},
        "extra": {"reasoning_effort": "low", "of the future": {"a": [1]}},
    }
    with serving(says("one\ntwo")) as server:
        for endpoint in ("chat", "completion"):
            openai_model = model(server, endpoint=endpoint, **options)
            assert (
                openai_model.complete("p", **ASK | {"temperature": 0.5, "sample": 3}).text == "one"
            )
    for request in server.requests:
        assert {
            key: value
            for key, value in request.items()
            if key not in ("path", "key", "messages", "prompt")
        } == {
            "model": "m",
            "max_completion_tokens": 50,
            "random_seed": 3,
            "reasoning_effort": "low",
            "of the future": {"a": [1]},
        }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"omit": ["top_k"]}, "seed, logprobs, stream_options, got 'top_k'"),
        ({"omit": "seed"}, "list of names, got 'seed'"),
        ({"rename": {"n": "m"}}, "got 'n'"),
        ({"rename": "seed"}, "rename to be an object"),
        ({"extra": 3}, "extra to be an object"),
        ({"dialogue": "no"}, "dialogue to be true or false, got 'no'"),
        ({"logprobs": 1}, "logprobs to be true or false, got 1"),
    ],
)
def test_model__says_which_option_is_wrong(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        OpenAIModel("m", api_key="x", **options)


def test_complete__reports_log_probabilities_and_token_ids():
    chat = says(
        "a b",
        logprobs={"content": [{"token": "a", "logprob": -0.5}, {"token": " b", "logprob": -2}]},
    )
    text = says(
        "a b", logprobs={"token_logprobs": [-0.5, -2], "tokens": ["a", " b"]}, token_ids=[5, 6]
    )
    with serving(chat, text, says("a b\n", token_ids=[5, 6, 7]), says("x")) as server:
        assert model(server, logprobs=True).complete("p", **ASK)[3:5] == ((-0.5, -2.0), None)
        assert model(server, logprobs=True, endpoint="completion").complete("p", **ASK)[3:5] == (
            (-0.5, -2.0),
            (5, 6),
        )
        assert model(server, logprobs=True).complete("p", **ASK)[3:5] == (
            None,
            None,
        )  # of a text that was cut here
        assert model(server).complete("p", **ASK)[3:5] == (None, None)
    assert [request.get("logprobs") for request in server.requests] == [True, 1, True, None]


def test_complete__names_the_server_that_is_not_there():
    with serving(says("x")) as server:
        gone = server.url
    with pytest.raises(ModelError, match=r"^m: no answer from 127\.0\.0\.1:\d+: .*refused"):
        OpenAIModel(
            "m", base_url=gone.replace("//", "//me:password@"), api_key="x", max_retries=0
        ).complete("p", **ASK)


def waits_of(
    model: OpenAIModel, error: type[ModelError], monkeypatch: pytest.MonkeyPatch
) -> list[float]:
    """Return the seconds that a model waits between attempts, none of which pass."""
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    with monkeypatch.context() as patched:
        own_asyncio = SimpleNamespace(**vars(asyncio) | {"sleep": wait})
        patched.setattr(openai_compatible, "asyncio", own_asyncio)
        with pytest.raises(error, match="connection failed"):
            model.complete("p", **ASK)
    return waits


def test_complete__gives_up_soon_on_a_server_that_never_answered(monkeypatch: pytest.MonkeyPatch):
    with serving(lambda request: replace(says("x")(request), hangs_up=True)) as server:
        known, unknown = model(server, max_retries=5), model(server, max_retries=5)
        known.complete("p", **ASK)
    waits = waits_of(unknown, ModelUnavailable, monkeypatch)
    assert len(waits) == CONNECTS - 1
    assert sum(waits) < 2
    assert len(waits_of(known, ModelError, monkeypatch)) == 5


def test_complete__shows_the_status_that_was_sent():
    passed_on = fails(200, b'{"error": {"code": 502, "message": "the provider is down"}}')
    with (
        serving(passed_on) as server,
        pytest.raises(ModelError, match=r"^m: status 200: the provider is down$"),
    ):
        model(server, max_retries=0).complete("p", **ASK)
    assert len(server.requests) == 1


def test_page__has_every_option_with_its_default():
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    section = page.partition("## A server\n")[2].partition("\n## ")[0]
    stated = dict(re.findall(r"(?m)^\| `(\w+)` \|.*\| ([^|]+) \|$", section))
    options = {
        name: parameter.default
        for name, parameter in inspect.signature(OpenAIModel).parameters.items()
        if name != "name"
    }
    assert set(stated) == set(options)
    for name, default in options.items():
        if default not in (None, ()):
            assert str(default).lower().removesuffix(".0") in stated[name], name
