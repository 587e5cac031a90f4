"""A model behind OpenAI's API, asked by OpenAI's own client."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="fastapi (extra [serve]) is not installed")
pytest.importorskip("uvicorn", reason="uvicorn (extra [serve]) is not installed")

import openai
from fastapi.testclient import TestClient

import textcraft_gym
from tests.agents.models.tiny_gguf import tiny_model
from tests.doubles import CRAFTER, Crafter
from tests.serving.live import serving
from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Dialogue,
    Message,
    ModelError,
    ModelLimit,
)
from textcraft_gym.agents.models.llama_server import import_xllamacpp
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate
from textcraft_gym.serving.model.app import create_app
from textcraft_gym.serving.model.batching import MAX_BATCH, Batcher, Overloaded
from textcraft_gym.serving.model.chat_prompt import chat_prompt
from textcraft_gym.testing import SayingModel

PLAYERS = {
    "TextCraft-v0": f"{CRAFTER},reach=3,slip=0.1",
    "ALFWorld-v0": "tests.doubles:Recorded,tape=served",
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(create_app(Crafter(9), "crafter")) as port:
        yield port


@pytest.fixture
def client(port: int) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0
    ) as client:
        yield client


def observation(task: str = "minecraft:beehive") -> str:
    return str(gym.make("TextCraft-v0").reset(seed=0, options={"task": task})[0])


@pytest.mark.parametrize(
    ("env", "agent", "options"),
    [
        ("TextCraft-v0", "react", ",endpoint=chat"),
        ("TextCraft-v0", "adapt", ""),
        ("TextCraft-v0", "adapt", ",endpoint=chat,dialogue=false"),
        ("ALFWorld-v0", "react", ",endpoint=chat"),
        ("ALFWorld-v0", "deps", ""),
        ("ALFWorld-v0", "autoplan", ",endpoint=chat"),
    ],
)
def test_model__plays_as_it_does_without_a_server(
    env: str, agent: str, options: str, tmp_path: Path
):
    # A chat model would be told how to reply in messages, by other prompts than the direct one.
    form = {"form": "line"} if agent == "react" else {}
    records = {}
    with serving(create_app(make_model(PLAYERS[env]), "player")) as port:
        served = f"openai:player,api_key=none,base_url=http://127.0.0.1:{port}/v1{options}"
        for name, model in (("served", served), ("direct", PLAYERS[env])):
            spec = RunSpec(env, agent=agent, agent_args=form, model=model, limit=4, workers=2)
            records[name] = evaluate(spec, tmp_path / name)
    assert [record["error"] for record in records["served"]] == [None] * 4
    parts = ("task", "transcript", "won", "claimed_success", "usage")
    served, direct = (
        sorted(
            (tuple(record.get(part) for part in parts) for record in records[name]),
            key=lambda row: str(row[0]),
        )
        for name in ("served", "direct")
    )
    assert served == direct
    assert any(record["won"] for record in records["served"])


def test_model__says_how_it_wants_to_be_asked(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    class_name = "tests.doubles:ShortCrafter"
    won = {}
    with serving(create_app(make_model(class_name), "short")) as port:
        served = f"openai:short,api_key=none,base_url=http://127.0.0.1:{port}/v1"
        models = {
            "direct": class_name,
            "served": served,
            "chat": f"{served},endpoint=chat",
            "standard": f"{served},prompts=standard",
        }
        for name, model in models.items():
            spec = RunSpec("TextCraft-v0", model=model, limit=4)
            records = evaluate(spec, tmp_path / name)
            won[name] = [record["won"] for record in records]
    assert won["direct"] == won["served"] == [True] * 4
    assert won["chat"] == won["standard"] == [False] * 4
    config = json.loads((tmp_path / "served" / "config.json").read_text(encoding="utf-8"))
    assert config["prompts"] == "short"
    assert config["model"] == f"{served},endpoint=completion,prompts=short,context=2000"
    said = [record.message for record in caplog.records if "list of models" in record.message]
    assert said[0].endswith(": openai:short,endpoint=completion,prompts=short,context=2000")
    assert len(said) == 3  # once for each way to be asked


def test_local_model__says_through_a_server_what_it_says_without(tmp_path: Path):
    try:
        import_xllamacpp()
    except ModelError as error:
        pytest.skip(str(error))
    tiny_model(tmp_path / "tiny.gguf", **{"llama.context_length": 100_000})
    spec = f"local:{tmp_path / 'tiny.gguf'},context=20000,slots=1"
    results = {}
    with serving(create_app(make_model(spec), "local")) as port:
        served = (
            f"openai:local,endpoint=completion,api_key=none,base_url=http://127.0.0.1:{port}/v1"
        )
        for name, model in (("served", served), ("direct", spec)):
            run = RunSpec("TextCraft-v0", agent="react", model=model, limit=2, max_calls=4)
            results[name] = [
                (record["transcript"], record["stop_reason"])
                for record in evaluate(run, tmp_path / name)
            ]
    assert results["served"] == results["direct"]
    assert all(transcript for transcript, _ in results["direct"])


MANUAL = """Answer with one command: get 1 oak log, craft 4 oak planks using 1 oak log, or inventory.
Or write a line that begins with think: first, which is no command."""


def test_model__plays_for_an_agent_that_knows_nothing_of_this_suite(client: openai.OpenAI):
    env = gym.make("TextCraft-v0")
    text, info = env.reset(seed=0, options={"task": "minecraft:beehive"})
    messages: list[Any] = [
        {"role": "system", "content": MANUAL},
        {"role": "user", "content": [{"type": "text", "text": text}]},
    ]
    for _ in range(20):
        answer = client.chat.completions.create(
            model="crafter", messages=messages, temperature=0, stop="\n"
        )
        reply = answer.choices[0].message.content or ""
        text, _, done, _, info = env.step(textcraft_gym.last_command(reply))
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": text}]
        if done:
            break
    assert info["won"]


def test_stream__has_the_pieces_of_the_answer(client: openai.OpenAI):
    request: dict[str, Any] = {"model": "crafter", "temperature": 0, "n": 2, "seed": 3}
    chat = request | {"messages": [{"role": "user", "content": observation()}]}
    whole = client.chat.completions.create(**chat)
    pieces = list(
        client.chat.completions.create(**chat, stream=True, stream_options={"include_usage": True})
    )
    for choice in whole.choices:
        own = [
            piece.choices[0]
            for piece in pieces
            if piece.choices and piece.choices[0].index == choice.index
        ]
        assert "".join(piece.delta.content or "" for piece in own) == choice.message.content
        assert [piece.delta.role for piece in own] == ["assistant"] + [None] * (len(own) - 1)
        assert [piece.finish_reason for piece in own] == [None] * (len(own) - 1) + [
            choice.finish_reason
        ]
        assert len(own) > 3
    assert pieces[-1].usage == whole.usage
    assert {piece.id for piece in pieces} == {pieces[0].id}
    text = request | {"prompt": [observation() + "\n>", "x"], "max_tokens": 2}
    answers = client.completions.create(**text)
    parts = list(client.completions.create(**text, stream=True))
    assert [choice.index for choice in answers.choices] == [0, 1, 2, 3]
    for answer in answers.choices:
        own = [part.choices[0] for part in parts if part.choices[0].index == answer.index]
        assert "".join(part.text for part in own) == answer.text
        assert own[-1].finish_reason == answer.finish_reason == "length"


def test_usage__counts_each_prompt_once(client: openai.OpenAI):
    request: dict[str, Any] = {"model": "crafter", "prompt": ["x" * 40, "y" * 80], "temperature": 0}
    single, three = (client.completions.create(**request, n=n).usage for n in (1, 3))
    assert single
    assert three
    assert single.prompt_tokens == three.prompt_tokens == 30
    assert three.completion_tokens == 3 * single.completion_tokens
    assert three.total_tokens == 30 + three.completion_tokens


def test_models__are_listed(client: openai.OpenAI):
    assert [model.id for model in client.models.list()] == ["crafter"]
    assert client.models.retrieve("crafter").owned_by == "textcraft-gym"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt")


MESSAGES: list[Any] = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("body", "status", "param", "code"),
    [
        ({"model": "gpt", "messages": MESSAGES}, 404, None, "model_not_found"),
        ({"model": "crafter", "messages": []}, 400, "messages", None),
        (
            {"model": "crafter", "messages": [{"role": "king", "content": "x"}]},
            400,
            "messages.0.role",
            None,
        ),
        ({"model": "crafter", "messages": MESSAGES, "max_tokens": 0}, 400, "max_tokens", None),
        (
            {"model": "crafter", "messages": MESSAGES, "temperature": "hot"},
            400,
            "temperature",
            None,
        ),
        ({"model": "crafter", "messages": MESSAGES, "n": 10**9}, 400, "n", None),
        (
            {"model": "crafter", "messages": MESSAGES, "tools": [{"type": "function"}]},
            400,
            "tools.0.function",
            None,
        ),
    ],
)
def test_error__is_in_openais_form(
    client: openai.OpenAI, body: dict[str, Any], status: int, param: Any, code: Any
):
    with pytest.raises(openai.APIStatusError) as refused:
        client.chat.completions.create(**body)
    assert refused.value.status_code == status
    assert (refused.value.param, refused.value.code) == (param, code)
    assert refused.value.type == "invalid_request_error"


def test_error__of_a_picture_says_that_only_text_is_taken(client: openai.OpenAI):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}
    content: Any = [{"type": "text", "text": "What is this?"}, picture]
    with pytest.raises(openai.BadRequestError, match="only text, not a part of type image_url"):
        client.chat.completions.create(
            model="crafter", messages=[{"role": "user", "content": content}]
        )


def test_error__of_a_body_that_is_too_large(port: int):
    with openai.OpenAI(
        base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0
    ) as client:
        with pytest.raises(openai.APIStatusError) as refused:
            client.completions.create(model="crafter", prompt="x" * 10_000_000)
        assert refused.value.status_code == 413
        assert client.completions.create(model="crafter", prompt="x").choices[0].text


class Recorder:
    """A model that takes batches, the first of which waits until the test lets it go."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun, self.go = threading.Event(), threading.Event()
        self.closed = False

    def complete(self, prompt: Any, **_: Any) -> Completion:
        raise AssertionError("asked one by one")

    def complete_many(self, requests: list[CompletionRequest]) -> list[Completion | Exception]:
        self.batches.append([str(request.prompt) for request in requests])
        self.begun.set()
        assert self.go.wait(60)
        return [
            ModelError("no") if request.prompt == "bad" else Completion(str(request.prompt))
            for request in requests
        ]

    def close(self) -> None:
        self.closed = True


def test_requests__that_come_while_the_model_is_busy_are_one_batch():
    model = Recorder()
    with (
        serving(create_app(model, "m")) as port,
        openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="x", max_retries=0) as client,
        ThreadPoolExecutor(40) as threads,
    ):

        def ask(prompt: str) -> str:
            return client.completions.create(model="m", prompt=prompt).choices[0].text

        first = threads.submit(ask, "first")
        assert model.begun.wait(60)
        with socket.create_connection(("127.0.0.1", port)) as vanishing:
            body = json.dumps({"model": "m", "prompt": "vanished"}).encode()
            head = f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
            vanishing.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        others = [threads.submit(ask, prompt) for prompt in (*map(str, range(30)), "bad")]
        assert client.models.list().data  # while the model is busy, other things are answered
        threading.Event().wait(0.5)  # in which the others come
        model.go.set()
        assert first.result() == "first"
        assert [future.result() for future in others[:-1]] == list(map(str, range(30)))
        with pytest.raises(openai.BadRequestError, match="no"):
            others[-1].result()
    assert model.batches[0] == ["first"]
    assert sorted(prompt for batch in model.batches[1:] for prompt in batch) == sorted(
        [*map(str, range(30)), "bad"]
    )
    assert len(model.batches) < 5
    assert model.closed


def test_requests__that_are_too_many_are_refused_until_there_is_room():
    async def ask(batcher: Batcher) -> None:
        request = CompletionRequest("x", (), 1, 0.0, 0)
        first = asyncio.ensure_future(batcher.answers([request] * 2))
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="too many requests: 2 of at most 2 are waiting"):
            await batcher.answers([request])
        model.go.set()
        assert await first == [Completion("x")] * 2
        assert await batcher.answers([request]) == [Completion("x")]

    model = Recorder()
    batcher = Batcher(model, max_waiting=2)
    asyncio.run(ask(batcher))
    batcher.close()


def test_requests__of_clients_that_leave_do_not_pile_up_while_the_model_is_busy():
    async def ask(batcher: Batcher) -> None:
        first = asyncio.ensure_future(batcher.answers([CompletionRequest("first", (), 1, 0.0, 0)]))
        assert await asyncio.to_thread(model.begun.wait, 60)
        for _ in range(9):
            prompt = Dialogue("x", ())
            kept = weakref.ref(prompt)
            leaving = asyncio.ensure_future(
                batcher.answers([CompletionRequest(prompt, (), 1, 0.0, 0)])
            )
            del prompt
            await asyncio.sleep(0)
            assert kept()
            leaving.cancel()
            await asyncio.wait({leaving})
            del leaving
            gc.collect()
            assert not kept()
        model.go.set()
        await first

    model = Recorder()
    batcher = Batcher(model, max_waiting=2)
    asyncio.run(ask(batcher))
    batcher.close()
    assert model.batches == [["first"]]


def test_requests__that_are_many_are_several_batches():
    async def ask(batcher: Batcher) -> None:
        requests = [
            CompletionRequest(str(number), (), 1, 0.0, 0) for number in range(3 * MAX_BATCH // 2)
        ]
        assert [
            answer.text
            for answer in await batcher.answers(requests)
            if isinstance(answer, Completion)
        ] == [request.prompt for request in requests]

    model = Recorder()
    model.go.set()
    batcher = Batcher(model)
    asyncio.run(ask(batcher))
    batcher.close()
    assert list(map(len, model.batches)) == [MAX_BATCH, MAX_BATCH // 2]


def test_request__of_a_client_that_has_gone_is_given_up():
    body = json.dumps({"model": "m", "prompt": "x"}).encode()
    coming = [
        {"type": "http.request", "body": body, "more_body": False},
        {"type": "http.disconnect"},
    ]
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/completions",
        "headers": headers,
        "query_string": b"",
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return coming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    model = Recorder()  # which would answer never
    asyncio.run(create_app(model, "m")(scope, receive, send))
    model.go.set()
    assert sent[0]["status"] == 499


class Telling:
    """A model whose answer is what it was asked."""

    def complete(self, prompt: Any, **request: Any) -> Completion:
        return Completion(json.dumps([prompt, request]))


def test_request__reaches_the_model_as_it_was_asked():
    with TestClient(create_app(Telling(), "m")) as client:

        def echo(path: str, **fields: Any) -> list[Any]:
            answer = client.post(f"/v1/{path}", json={"model": "m", **fields}).json()
            return [
                json.loads(choice.get("text") or choice["message"]["content"])
                for choice in answer["choices"]
            ]

        default = {"stop": [], "max_tokens": 256, "temperature": 0.5}
        assert echo("completions", prompt=["x", "y"], n=2, seed=-1, temperature=0.5) == [
            ["x", {**default, "sample": 2**31 - 1}],
            ["x", {**default, "sample": 0}],
            ["y", {**default, "sample": 2**31 - 1}],
            ["y", {**default, "sample": 0}],
        ]
        parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        messages = [{"role": "developer", "content": parts}, {"role": "tool", "content": None}]
        body = {
            "messages": messages,
            "stop": ["x", ""],
            "max_tokens": 9,
            "max_completion_tokens": 7,
            "seed": 3,
        }
        assert echo("chat/completions", **body) == [
            ["ab\n\n\n>", {"stop": ["x"], "max_tokens": 7, "temperature": 1.0, "sample": 3}]
        ]
        free = [echo("completions", prompt="x")[0][1]["sample"] for _ in range(4)]
        assert len(set(free)) > 1  # without a seed they differ


class Failing:
    """A model that always fails, and takes no batches."""

    def complete(self, prompt: Any, **_: Any) -> Completion:
        raise RuntimeError("broken")


def test_model__that_fails_is_an_answer():
    with TestClient(create_app(Failing(), "m")) as client:
        answer = client.post("/v1/completions", json={"model": "m", "prompt": "x"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "model_error")
        assert client.post("/v1/nothing", json={}).json()["error"]["code"] == "not_found"
        assert client.get("/v1/completions").json()["error"]["code"] == "method_not_allowed"


def test_model__whose_context_is_full_is_at_its_limit_here_as_there():
    class Full(Failing):
        def complete(self, prompt: Any, **_: Any) -> Completion:
            raise ModelLimit("the prompt has 5000 tokens", "context")

    with serving(create_app(Full(), "m")) as port:
        model = make_model(f"openai:m,api_key=none,base_url=http://127.0.0.1:{port}/v1")
        with pytest.raises(ModelLimit, match="5000 tokens") as limit:
            model.complete("x", stop=(), max_tokens=9, temperature=0.0, sample=0)
    assert limit.value.limit == "context"


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.just("\ud800")
)
VALUES = (
    SCALARS
    | st.lists(SCALARS, max_size=3)
    | st.dictionaries(st.text(max_size=5), SCALARS, max_size=3)
)
FIELDS = (
    "messages",
    "prompt",
    "max_tokens",
    "temperature",
    "stop",
    "seed",
    "n",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
)
BODIES = st.fixed_dictionaries(
    {"model": st.just("crafter")},
    optional=dict.fromkeys(FIELDS, VALUES)
    | {"messages": st.just([{"role": "user", "content": "\ud800"}]) | VALUES, "prompt": VALUES},
)


@pytest.fixture(scope="module")
def in_process() -> TestClient:
    return TestClient(create_app(Crafter(), "crafter"))


@given(st.sampled_from(["chat/completions", "completions"]), BODIES | VALUES, st.booleans())
def test_model__answers_anything(in_process: TestClient, path: str, body: Any, half: bool):
    sent = json.dumps(body).encode()
    sent = sent[: len(sent) // 2] if half else sent
    answer = in_process.post(
        f"/v1/{path}", content=sent, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (200, 400), answer.text
    if answer.status_code == 400:
        assert answer.headers["content-type"] == "application/json"
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


def test_chat_prompt__is_the_text_of_this_suites_dialogues():
    dialogues: list[Dialogue] = []

    class Listening(SayingModel):
        def complete(self, prompt: Any, **options: Any) -> Completion:
            if isinstance(prompt, Dialogue):
                dialogues.append(prompt)
            return super().complete(prompt, **options)

    for env_id in ("TextCraft-v0", "ALFWorld-v0", "WebShopLite-v0", "MineTechTree-v0"):
        for agent in ("react", "autoplan"):
            if agent == "react" or env_id == "ALFWorld-v0":
                made = Run(RunSpec(env_id, agent=agent, model=None)).agent
                textcraft_gym.run_episode(
                    gym.make(env_id), made, model=Listening("look"), seed=0, max_calls=30
                )
    assert len(dialogues) > 30
    for dialogue in dialogues:
        assert chat_prompt(dialogue.messages) == dialogue


WORDS = [
    "Goal: craft a",
    "Your task is to: b",
    "Your answer:",
    "Thought:",
    ">",
    "in",
    "x",
    " ",
    "\n",
    "\n\n",
    "\t",
]
CHATS = st.lists(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant"]),
        st.lists(st.sampled_from(WORDS)).map("".join),
    ),
    min_size=1,
)


@given(CHATS)
def test_chat_prompt__asks_where_the_text_so_far_does_not(messages: list[Message]):
    def asking(text: str) -> str:
        line = text.rstrip().rpartition("\n")[2]
        return (
            text if line == ">" or re.search(r"(Your answer|\bThought):$", line) else f"{text}\n>"
        )

    text, separator = "", "\n\n"
    for role, content, *_ in messages:
        if role == "assistant":
            text, separator = f"{asking(text)} {content}", "\n"
        else:
            text = f"{text}{separator}{content}" if text else content
    ends_with_goal = re.search(r"(Goal|Your task is to): [^\n]*\Z", text.rstrip())
    assert chat_prompt(messages) == Dialogue(
        asking(text) if len(messages) > 1 or ends_with_goal else text, messages
    )


def test_chat_prompt__of_any_size_takes_a_moment():
    """Each of these chats fits into a request; a form that is quadratic in its size would take
    hours."""
    goals = [Message("user", "Goal: " * 400_000 + "\nx")]
    assert chat_prompt(goals) == goals[0].content
    turns = [
        Message("user", "x" * 1000),
        *[Message("assistant", "y"), Message("user", "z")] * 100_000,
    ]
    assert chat_prompt(turns).endswith("\n> y\nz\n> y\nz\n>")
    long_line = [Message("assistant", "Thought:")] * 100_000
    assert chat_prompt(long_line).startswith("\n> Thought: Thought: ")


def test_command__serves_a_model_until_ctrl_c():
    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "serve",
        "model",
        "--model",
        CRAFTER,
        "--port",
        "0",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        served, _, address = server.stdout.readline().partition(" at ")
        assert served == "Serving the model tests.doubles"
        with openai.OpenAI(base_url=address.split()[0], api_key="none", max_retries=0) as client:
            assert client.completions.create(model="tests.doubles", prompt="x").choices[0].text
            server.send_signal(signal.SIGINT)
            output, errors = server.communicate(timeout=60)
    assert (server.returncode, output, errors) == (0, "", "")
