"""The routes of the site. All of them read; runs are named in queries, and looked up by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, request

from textcraft_gym.cli.view.library import MAX_SELECTED, Library, record_at
from textcraft_gym.errors import RunError, UnknownName
from textcraft_gym.reports.page import LIVE, policy, script
from textcraft_gym.reports.page_episodes import inside
from textcraft_gym.reports.page_runs import FORMS, run_lines, runs_page

MAX_BODY = 1024
_MOST_DIGITS = 9
_HEADERS = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_NOTHING = "default-src 'none'"


class Pages:
    """The view functions, of which one runs at a time.

    Args:
        library: The runs.
        title: What they are called together.
    """

    def __init__(self, library: Library, title: str) -> None:
        self.library = library
        self.title = title
        self.lock = Lock()

    def index(self) -> Response:
        """List all runs."""
        lines = run_lines(self.library.runs())
        addresses = {line.run: f"report?{urlencode({'run': line.run})}" for line in lines}
        if 1 < len(lines) <= MAX_SELECTED:
            addresses[""] = "report"
        page = runs_page(self.title, lines, addresses, is_live=True)
        return _page(page, policy(script("runs.js"), **FORMS))

    def runs(self) -> Response:
        """List all runs for programs."""
        return _json([line._asdict() for line in run_lines(self.library.runs())])

    def report(self) -> Response:
        """Show runs side by side."""
        page = self.library.page(self._names())
        return _page(page, policy(script("report.js"), **LIVE))

    def lines(self) -> Response:
        """Tell what runs have gained since a state."""
        since = request.args.get("since", "")
        return _json(self.library.news(self._names(), since)._asdict())

    def episode(self) -> Response:
        """Tell what an opened episode shows, with what its models read and wrote."""
        run = self.library.run(request.args.get("run", ""))
        record = record_at(run, _place())
        return Response(inside(record, run.calls_of(record)), mimetype="application/json")

    def _names(self) -> list[str]:
        """Return the runs that are asked for; all if none is named."""
        return request.args.getlist("run") or list(self.library.runs())


def create_app(library: Library, title: str) -> Flask:
    """Return the site as an application; its server must refuse requests of other sites.

    Args:
        library: The runs.
        title: What they are called together.
    """
    app = Flask(__name__, static_folder=None)
    app.config.update(MAX_CONTENT_LENGTH=MAX_BODY)
    pages = Pages(library, title)
    routes: Mapping[str, Callable[[], Response]] = {
        "/": pages.index,
        "/runs.json": pages.runs,
        "/report": pages.report,
        "/lines.json": pages.lines,
        "/episode.json": pages.episode,
    }
    for address, view in routes.items():
        app.add_url_rule(address, view_func=_guarded(view, pages.lock))
    app.after_request(_add_headers)
    return app


def _guarded(view: Callable[[], Response], lock: Lock) -> Callable[[], Response]:
    """Return a view that says what it cannot show."""

    def guarded() -> Response:
        try:
            with lock:
                return view()
        except (UnknownName, RunError) as error:
            return _refusal(str(error), 404)
        except ValueError as error:
            return _refusal(str(error), 400)

    guarded.__name__ = view.__name__
    return guarded


def _place() -> int:
    text = request.args.get("place", "")
    if not (text.isascii() and text.isdecimal()) or len(text) > _MOST_DIGITS:
        raise ValueError("expected place to be a number")
    return int(text)


def _page(page: str, allowed: str) -> Response:
    answer = Response(page, mimetype="text/html")
    answer.headers["Content-Security-Policy"] = f"{allowed}; frame-ancestors 'none'"
    return answer


def _json(value: Any, status: int = 200) -> Response:
    # Escaped to ASCII: a text may hold what UTF-8 cannot encode.
    return Response(json.dumps(value), status, mimetype="application/json")


def _refusal(reason: str, status: int) -> Response:
    """Return a reason in JSON to programs, and as text to people."""
    if request.path.endswith(".json"):
        return _json({"error": reason}, status)
    return Response(f"{reason}\n".encode("utf-8", "replace"), status, mimetype="text/plain")


def _add_headers(answer: Response) -> Response:
    for name, value in _HEADERS.items():
        answer.headers[name] = value
    answer.headers.setdefault("Content-Security-Policy", f"{_NOTHING}; frame-ancestors 'none'")
    if answer.status_code == 200:
        answer.add_etag()
        answer.make_conditional(request)
    answer.headers.pop("Date", None)  # the server's own follows
    return answer
