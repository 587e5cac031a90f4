"""Whom the guard lets through, asked as a server asks it: by messages of the ASGI interface."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from textcraft_gym.serving import guard
from textcraft_gym.serving.guard import Guard

PIECES = [
    {"type": "http.request", "body": b"12345", "more_body": True},
    {"type": "http.request", "body": b"678"},
]
GONE = {"type": "http.disconnect"}


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the body, as an application does that reads all of it."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def ask(
    messages: list[dict[str, Any]] | None = None,
    app: Any = echo,
    kind: str = "http",
    headers: dict[str, str] | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Return what is sent back to a client whose messages come one by one, and who then says
    nothing more."""
    coming = list(messages or [{"type": "http.request", "body": b""}])
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not coming:
            await asyncio.sleep(3600)
        return coming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "localhost:80"} | (headers or {})
    scope = {
        "type": kind,
        "headers": [
            (key.encode(), value.encode("latin-1")) for key, value in given.items() if value
        ],
    }
    asyncio.run(Guard(app, **options)(scope, receive, send))
    return sent


def status(**request: Any) -> int:
    first: int = ask(**request)[0]["status"]
    return first


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "127.3.2.1", "[::1]:8000", "box:80"]
)
def test_guard__takes_its_own_hosts(host: str):
    assert status(headers={"host": host}, hosts=["Box"]) == 200


@pytest.mark.parametrize(
    "host", ["", "evil.test", "127.0.0.1.evil.test", "10.0.0.1", "[::1", "user@", "localhost@evil"]
)
def test_guard__refuses_other_hosts(host: str):
    assert status(headers={"host": host}) == 403


@pytest.mark.parametrize(
    "host", ["box", "Box.example.org", "10.0.0.1", "::1", "0.0.0.0", "localhost"]
)
def test_guard__takes_names_and_addresses_of_its_own(host: str):
    named = f"[{host}]" if ":" in host else host
    assert status(headers={"host": f"{named}:8000"}, hosts=[host]) == 200


@pytest.mark.parametrize("host", ["box:8000", "http://box", "box/", "me@box", "[::1]", "[", ""])
def test_guard__refuses_names_that_no_request_has(host: str):
    with pytest.raises(ValueError, match="without scheme and port, got"):
        Guard(echo, hosts=[host])


def test_guard__on_an_open_address_takes_addresses_and_no_unknown_names():
    assert status(headers={"host": "10.0.0.1:80"}, any_address=True) == 200
    assert status(headers={"host": "evil.test"}, any_address=True) == 403


def test_guard__refuses_two_hosts():
    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    sent = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(
        Guard(echo)({"type": "http", "headers": [(b"host", b"localhost")] * 2}, receive, send)
    )
    assert sent[0]["status"] == 403


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://localhost:80", 200),
        ("https://LOCALHOST:80", 200),
        ("http://localhost:81", 403),
        ("http://evil.test", 403),
        ("null", 403),
        ("localhost:80", 403),
        ("http://[", 403),
        ("http://[x]:80", 403),
    ],
)
def test_guard__takes_no_page_of_another_site(origin: str, expected: int):
    assert status(headers={"origin": origin}) == expected
    (answer, *_) = ask(kind="websocket", headers={"origin": origin})
    assert answer["type"] == ("websocket.accept" if expected == 200 else "websocket.close")


@given(
    st.text(st.characters(max_codepoint=255), max_size=30),
    st.text(st.characters(max_codepoint=255), max_size=30),
)
@example("[", "http://[")
def test_guard__survives_any_header(host: str, origin: str):
    expected = (
        200 if not origin or origin.lower() in ("http://localhost:80", "//localhost:80") else None
    )
    assert status(headers={"origin": origin}) in ({expected} if expected else {200, 403})
    assert status(headers={"host": host}) in {200, 403}


def test_guard__gives_a_body_in_one_piece():
    assert ask(PIECES)[1]["body"] == b"12345678"
    assert ask(PIECES, max_body=8)[1]["body"] == b"12345678"


def test_guard__refuses_a_body_that_is_too_large(monkeypatch: pytest.MonkeyPatch):
    called = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        called.append(scope)

    answer = ask(PIECES, app, max_body=7)
    assert answer[0]["status"] == 413
    assert (b"content-type", b"application/json") in answer[0]["headers"]
    assert json.loads(answer[1]["body"]) == {"error": "expected a body of at most 7 bytes"}
    monkeypatch.setattr(guard, "MAX_DISCARDED", 99)
    endless = [{"type": "http.request", "body": b"12345", "more_body": True}] * 20
    assert ask(endless, app, max_body=7)[0]["status"] == 413
    assert not called


def test_guard__calls_nothing_for_a_body_that_does_not_come():
    called = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        called.append(scope)

    assert ask(PIECES[:1], app, body_seconds=0.01)[0]["status"] == 408
    assert ask([PIECES[0], GONE], app) == []
    assert not called


def test_guard__ends_an_answer_that_takes_too_long():
    async def silent(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(3600)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(3600)

    assert ask(app=silent, answer_seconds=0.01)[0]["status"] == 504
    with pytest.raises(
        TimeoutError, match="no answer within"
    ):  # the server then closes the connection
        ask(app=slow, answer_seconds=0.01)


def test_guard__leaves_the_timeouts_of_an_application_to_it():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise TimeoutError("a service that it asked")

    with pytest.raises(TimeoutError, match="a service that it asked"):
        ask(app=app)


def test_guard__ends_an_application_with_itself():
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            seen.append("ended")

    async def cancel() -> None:
        scope = {"type": "http", "headers": [(b"host", b"localhost")]}
        body = asyncio.Future[Any]()
        body.set_result({"type": "http.request", "body": b""})
        under_way = asyncio.ensure_future(Guard(app)(scope, lambda: body, lambda message: body))
        await asyncio.wait({under_way}, timeout=0.05)
        under_way.cancel()
        await asyncio.wait({under_way})

    asyncio.run(cancel())
    assert seen == ["ended"]


def test_guard__tells_an_application_that_the_client_is_gone():
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend([await receive(), await receive()])

    ask([*PIECES, GONE], app)
    assert seen == [{"type": "http.request", "body": b"12345678", "more_body": False}, GONE]


def test_guard__leaves_the_life_of_an_application_alone():
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    ask(kind="lifespan", app=app, headers={"host": "evil.test"})
    assert seen == ["lifespan"]
