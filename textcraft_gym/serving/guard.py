"""Refuses what no honest client sends, before an application sees it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
"""An application of the ASGI interface, such as one of FastAPI or Starlette."""

MAX_BODY = 256 * 1024
BODY_SECONDS = 20.0
ANSWER_SECONDS = 600.0
MAX_DISCARDED = 64 * 1024 * 1024
"""Maximum bytes read of a body that is too large: most clients send all before they read."""

POLICY_VIOLATION = 1008
"""The code with which a WebSocket is closed that the server does not want."""


class _Refusal(NamedTuple):
    status: int
    reason: str


class Guard:
    """An ASGI application around another one, which checks each request first.

    - ``Host`` is ``localhost``, a loopback address or one of ``hosts``: a web page whose name was
      made to lead to this machine (DNS rebinding) cannot reach the application.
    - ``Origin``, if there is one, is the server itself: pages of other sites can neither post nor
      open a WebSocket.
    - The body is at most ``max_body`` bytes and has come within ``body_seconds``. Only then the
      application is called, so that a client that stops in the middle, or vanishes, costs no more
      than its connection.
    - The answer is finished within ``answer_seconds``. WebSockets may stay open.

    A refusal is an answer of status 400, 403, 408, 413 or 504 with ``{"error": reason}``; a
    WebSocket is not accepted.

    Args:
        app: The application.
        hosts: Further names and addresses under which clients may address the server, without
            scheme and port.
        any_address: Accept every IP address as ``Host``, for a server that listens on more than
            loopback. An address cannot be rebound, so that only names need to be listed.
        max_body: Maximum bytes of a request's body.
        body_seconds: Maximum seconds until the body has come.
        answer_seconds: Maximum seconds from then to the end of the answer.

    Raises:
        ValueError: If one of ``hosts`` can never be that of a request.
    """

    def __init__(
        self,
        app: Application,
        *,
        hosts: Collection[str] = (),
        any_address: bool = False,
        max_body: int = MAX_BODY,
        body_seconds: float = BODY_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        for host in hosts:
            if not _address(host) and _hostname(host) != host.lower():
                expected = "a name such as box.example.org, without scheme and port"
                raise ValueError(f"expected {expected}, got {host!r}")
        self.app = app
        self.hosts = {"localhost", *(host.lower() for host in hosts)}
        self.any_address = any_address
        self.max_body = max_body
        self.body_seconds = body_seconds
        self.answer_seconds = answer_seconds

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
    ) -> None:
        """Pass a request on, or refuse it."""
        kind = scope["type"]
        refusal = self._refusal(scope) if kind in ("http", "websocket") else None
        if refusal and kind == "websocket":
            await close_websocket(send, refusal.reason)
        elif refusal:
            await _refuse(send, refusal)
        elif kind == "http":
            await self._serve(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: MutableMapping[str, Any]) -> _Refusal | None:
        hosts = _values(scope, b"host")
        origins = _values(scope, b"origin")
        if len(hosts) != 1 or not self._is_known(hosts[0]):
            return _Refusal(403, "the Host of this request is not one of this server's")
        # Only browsers send an Origin. Behind a proxy the scheme may differ, the host does not.
        if any(_netloc(origin) != hosts[0].lower() for origin in origins):
            return _Refusal(403, "this request was made by the page of another site")
        return None

    def _is_known(self, host: str) -> bool:
        name = _hostname(host) or ""
        address = _address(name)
        if address and (self.any_address or address.is_loopback):
            return True
        return name in self.hosts

    @property
    def _too_large(self) -> _Refusal:
        return _Refusal(413, f"expected a body of at most {self.max_body} bytes")

    async def _serve(
        self,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
    ) -> None:
        try:
            body = await asyncio.wait_for(self._body(receive), self.body_seconds)
        except asyncio.TimeoutError:
            late = f"no body within {self.body_seconds:g} seconds"
            await _refuse(send, _Refusal(408, late))
            return
        if body is None:  # the client is gone
            return
        if isinstance(body, _Refusal):
            await _refuse(send, body)
            return
        request: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        begun = False

        async def receive_again() -> Message:
            # Behind the body an application waits here for the client's disconnect.
            return request.pop() if request else await receive()

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        if await _ends_within(self.answer_seconds, self.app(scope, receive_again, send_and_note)):
            return
        late = f"no answer within {self.answer_seconds:g} seconds"
        if begun:  # too late for a status: raising makes the server close the connection
            raise TimeoutError(late)
        await _refuse(send, _Refusal(504, late))

    async def _body(self, receive: Receive) -> bytes | _Refusal | None:
        """Return the body, a refusal if it is too large, or None if the client is gone."""
        body = bytearray()
        length = 0
        while length <= MAX_DISCARDED:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            length += len(message.get("body", b""))
            if length <= self.max_body:
                body += message.get("body", b"")
            if not message.get("more_body"):
                break
        return bytes(body) if length <= self.max_body else self._too_large


async def _ends_within(seconds: float, work: Awaitable[None]) -> bool:
    """Return whether the work ends in time, or raise what it raises; late work is cancelled."""
    task = asyncio.ensure_future(work)
    try:
        # Not wait_for: its error cannot be told from a TimeoutError of the work.
        in_time, _ = await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
        await asyncio.wait({task})
    if in_time:
        task.result()
    return bool(in_time)


def _hostname(host: str) -> str | None:
    """Return the name or address in a value of ``Host``, in lower case; None if there is none."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _netloc(url: str) -> str | None:
    """Return the host and port of a URL in lower case; None if it is none."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return None


def _values(scope: MutableMapping[str, Any], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


async def close_websocket(send: Send, reason: str) -> None:
    """Refuse a WebSocket."""
    await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason})


async def _refuse(send: Send, refusal: _Refusal) -> None:
    body = json.dumps({"error": refusal.reason}).encode()
    # What is left of the body is not read, so that the connection cannot be used again.
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
