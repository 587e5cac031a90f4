"""The room that a server has for connections, each of which takes a file descriptor."""

from __future__ import annotations

import socket
from contextlib import suppress
from types import ModuleType
from typing import Any, NamedTuple

MAX_CONNECTIONS = 4096
RESERVED = 64
"""Descriptors for files, the listener, and connections that are turned away."""
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Room(NamedTuple):
    """What a server can hold at once.

    Attributes:
        connections: Number of connections.
        end: Number of the descriptor from which on none is for a connection; None where the system
            has no limit.
    """

    connections: int
    end: int | None = None

    @property
    def sockets(self) -> int:
        """Number of WebSockets: fewer than connections, so that requests find one, too."""
        return self.connections * 3 // 4


def make_room() -> Room:
    """Raise this process's limit of descriptors as far as allowed, and return the room."""
    resource = _limits()
    if resource is None:
        return Room(MAX_CONNECTIONS)
    wanted = MAX_CONNECTIONS + RESERVED
    limit, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= limit < wanted:  # no limit is -1
        limit = wanted
        if hard >= 0:
            limit = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    if limit < 0:
        return Room(MAX_CONNECTIONS)
    reserved = min(RESERVED, limit // 2)
    return Room(min(MAX_CONNECTIONS, limit - reserved), limit - reserved // 2)


def _limits() -> ModuleType | None:
    """Return the module of a process's limits; None on Windows, which has no such limit."""
    try:
        import resource
    except ImportError:
        return None
    return resource


class Listener(socket.socket):
    """A listening socket that turns away connections that would take the last descriptors.

    An event loop accepts every connection that waits before it serves any, so that it would run out
    of descriptors first.

    Args:
        listening: The socket, which this one takes the place of.
        end: Number of the descriptor from which on none is for a connection; None for no limit.
    """

    def __init__(self, listening: socket.socket, end: int | None) -> None:
        super().__init__(fileno=listening.detach())
        self.end = end

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises:
            ConnectionAbortedError: If it was turned away.
        """
        connection, address = super().accept()
        # The system gives the lowest free number: a high one tells that those below are taken.
        if self.end is None or connection.fileno() < self.end:
            return connection, address
        with connection, suppress(OSError):  # the client may be gone
            connection.send(_BUSY)
            connection.shutdown(socket.SHUT_WR)
            # What is left unread would take the answer back.
            connection.recv(1 << 16, socket.MSG_DONTWAIT)
        raise ConnectionAbortedError
