"""Refusals in the form of OpenAI's API."""

from __future__ import annotations


class Refused(Exception):
    """A request that is answered by an error; the rest is as in OpenAI's API."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = {
            "message": message,
            "type": "server_error" if status >= 500 else "invalid_request_error",
            "param": param,
            "code": code,
        }
