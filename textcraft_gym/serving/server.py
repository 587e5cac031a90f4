"""Serves an application over HTTP until Ctrl-C. Extra ``[serve]``."""

from __future__ import annotations

import errno
import logging
import socket
from asyncio import TimerHandle
from collections.abc import Callable, Collection
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

import uvicorn
from uvicorn.config import LOGGING_CONFIG
from uvicorn.logging import DefaultFormatter
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from textcraft_gym.agents.redaction import redact, register_environment
from textcraft_gym.printable import printable_lines
from textcraft_gym.serving.descriptors import Listener, make_room
from textcraft_gym.serving.guard import MAX_BODY, Application, Guard

LOOPBACK = "127.0.0.1"
IDLE_SECONDS = 75
"""Seconds after which an unused connection is closed.

Clients close theirs earlier, so that none loses a request to it.
"""
HEADER_SECONDS = 20.0
"""Maximum seconds that the header of a request takes; the first one counts from the connection."""
SHUTDOWN_SECONDS = 3
"""Seconds that requests under way get at Ctrl-C."""


class _Formatter(DefaultFormatter):  # type: ignore[misc, unused-ignore]
    """Writes the log, which may repeat what was sent, without secrets and control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(redact(super().format(record)))


_FORMATTER = {"()": _Formatter, "fmt": "%(levelprefix)s %(message)s", "use_colors": False}
_LOG = {**LOGGING_CONFIG, "formatters": {**LOGGING_CONFIG["formatters"], "default": _FORMATTER}}


class _Protocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type, unused-ignore]
    """Closes connections whose header does not come; uvicorn waits for it without end."""

    _header_timer: TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._time_header()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _time_header(self) -> None:
        if self.cycle and not self.cycle.response_complete:  # a request is under way
            self._stop_timer()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self._close)

    def _stop_timer(self) -> None:
        if self._header_timer:
            self._header_timer.cancel()
            self._header_timer = None

    def _close(self) -> None:
        if self.transport.get_protocol() is self:  # a WebSocket goes on under another one
            self.transport.close()


def run_server(
    app: Application,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    allowed_hosts: Collection[str] = (),
    max_body: int = MAX_BODY,
    on_start: Callable[[str], object],
) -> None:
    """Serve an application behind a ``Guard`` until Ctrl-C, which lets requests under way end.

    The connections that it holds are those for which ``make_room`` finds descriptors.

    Args:
        app: The application.
        host: Address to listen on; the default is reached from this machine only.
        port: The port; 0 for a free one.
        allowed_hosts: Names, besides localhost, by which clients may address the server.
        max_body: Maximum bytes of a request's body, and of a message of a WebSocket.
        on_start: Called with the server's address.

    Raises:
        OSError: If the port is taken, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    register_environment()  # of whose secrets the log shows none
    # The socket comes first: port 0 is resolved, and a taken port raises, before the server starts.
    room = make_room()
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        reason = f"port {port} of {host} is taken: choose another with --port, 0 for a free one"
        raise OSError(error.errno, reason) from error
    with Listener(listening, room.end) as listener:
        # Connections inherit it; without it the second part of an answer waits 40 ms on Linux.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        guard = Guard(
            app,
            hosts={host, *allowed_hosts},
            any_address=not _is_loopback(host),
            max_body=max_body,
        )
        config = uvicorn.Config(
            guard,
            loop="asyncio",  # the only one that asks the listener to accept
            http=_Protocol,
            log_config=_LOG,
            log_level="warning",
            access_log=False,
            server_header=False,
            ws_max_size=max_body,
            limit_concurrency=room.connections,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        address = f"[{host}]" if family == socket.AF_INET6 else host
        on_start(f"http://{address}:{listener.getsockname()[1]}")
        # Which uvicorn raises again when it has closed everything.
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
