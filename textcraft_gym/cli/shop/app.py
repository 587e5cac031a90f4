"""The routes of the web site.

Every session has an address that cannot be guessed, and each of its moves an address below that, so
that the browser's Back button shows earlier pages. Actions are posted forms; no page needs
JavaScript.
"""

from __future__ import annotations

import json
import math
import secrets
import zlib
from collections import OrderedDict
from threading import Lock
from typing import Any

from flask import Flask, Response, abort, render_template, request
from jinja2 import StrictUndefined
from werkzeug.exceptions import HTTPException

from textcraft_gym.cli.shop.recording import Recording, Run, replayed, saved
from textcraft_gym.cli.shop.session import MAX_ACTIONS, Session, SessionOver, Storefront
from textcraft_gym.envs.webshop.actions import CLICK, SEARCH, can_be_clicked, click, parse, search
from textcraft_gym.envs.webshop.goals import SPLITS
from textcraft_gym.envs.webshop.tasks import task_at
from textcraft_gym.errors import RunError, UnknownName

MAX_SESSIONS = 1000
MAX_BODY = 16 * 1024
MAX_QUERY = 400
MAX_ACTION = 1000
TASKS_PER_PAGE = 25
TILES = 8

_MOST_DIGITS = 9
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Sessions:
    """The open sessions by name; above ``MAX_SESSIONS``, the least recently used one is dropped."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = Lock()

    def add(self, session: Session) -> str:
        """Add a session and return its name."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._sessions[name] = session
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        return name

    def find(self, name: str) -> Session:
        """Return a session; respond 404 if there is none."""
        with self._lock:
            if name not in self._sessions:
                abort(
                    404,
                    "There is no such session. Old ones are dropped; closing the shop ends all.",
                )
            self._sessions.move_to_end(name)
            return self._sessions[name]

    def act(
        self,
        session: Session,
        number: int,
        action: str,
    ) -> None:
        """Play an action on the page after a move; respond 409 if it is not the last page."""
        with self._lock:
            if number != session.last and not session.is_over:
                abort(409, "This page is out of date: the session has gone on.")
            session.act(action)


class Pages:
    """The view functions.

    Args:
        front: The shop.
        run: Recorded episodes to step through.
        first: The task to offer first.
    """

    def __init__(
        self,
        front: Storefront,
        run: Run | None,
        first: str | None,
    ) -> None:
        self.front = front
        self.run = run
        self.first = first
        self.sessions = Sessions()

    def tasks(self) -> bytes:
        """List the tasks of a split, or the one with a given number."""
        catalogue = self.front.market.catalogue
        counts = {name: len(catalogue.split(name)) for name in SPLITS}
        split = request.args.get("split", self.front.split)
        if split not in counts:
            abort(404, "There is no such split.")

        query = request.args.get("number", "").strip()
        numbers = catalogue.split(split)
        if query:
            number = _number(query)
            numbers = catalogue.split("all")[number : number + 1]

        page = _number(request.args.get("page", "1"))
        first_listed = max(page - 1, 0) * TASKS_PER_PAGE
        return _page(
            "tasks.html",
            goals=catalogue.goals,
            splits={name: count for name, count in counts.items() if count},
            split=split,
            query=query,
            numbers=numbers[first_listed:][:TASKS_PER_PAGE],
            page=page,
            pages=math.ceil(len(numbers) / TASKS_PER_PAGE),
            run=self.run,
            first=self.front.task(self.first) if self.first else None,
        )

    def begin(self) -> Response:
        """Start a session of the task with the posted number."""
        number = _number(request.form.get("number", ""))
        if number >= len(self.front.market.catalogue.goals):
            abort(404, "There is no such task.")
        session = Session(self.front, task_at(self.front.market, number))
        return _redirect(f"/sessions/{self.sessions.add(session)}/0")

    def latest(self, name: str) -> Response:
        """Redirect to the last move of a session."""
        return _redirect(f"/sessions/{name}/{self.sessions.find(name).last}")

    def session(self, name: str, number: str) -> bytes:
        """Show the page after a move; only the last one is active."""
        session = self.sessions.find(name)
        is_live = number == str(session.last) and not session.is_over
        return self._shop(session, _number(number), f"/sessions/{name}", is_live)

    def act(self, name: str, number: str) -> Response:
        """Play the posted action, or a search for the posted words."""
        session = self.sessions.find(name)
        try:
            self.sessions.act(session, _number(number), _posted_action())
        except SessionOver:
            ends = f"it ends with a purchase or after {MAX_ACTIONS} actions"
            abort(409, f"This session is over: {ends}.")
        return _redirect(f"/sessions/{name}/{session.last}")

    def save(self, name: str) -> Response:
        """Send a session as a file that the shop can replay."""
        session = self.sessions.find(name)
        text = json.dumps(saved(session), indent=2) + "\n"
        answer = Response(text, mimetype="application/json")
        file_name = f"session-{session.task.number}.json"
        answer.headers["Content-Disposition"] = f'attachment; filename="{file_name}"'
        return answer

    def replay(self, episode: str, number: str) -> bytes:
        """Show the page after a recorded move, and the action that followed."""
        recording = self._recording(_number(episode))
        return self._shop(
            recording.session,
            _number(number),
            f"/replay/{episode}",
            recording=recording,
        )

    def _recording(self, episode: int) -> Recording:
        if self.run is None or episode >= len(self.run.records):
            abort(404, "There is no such episode.")
        try:
            return replayed(self.front, self.run.records[episode])
        except (RunError, UnknownName) as error:
            abort(422, str(error))

    def _shop(
        self,
        session: Session,
        number: int,
        base: str,
        is_live: bool = False,
        recording: Recording | None = None,
    ) -> bytes:
        if number > session.last:
            abort(404, "The session has no such move yet.")
        has_next = number < session.last
        next_action = session.moves[number + 1].action if has_next else None
        # A replay highlights the target of the next action.
        name, argument = parse(next_action or "")
        return _page(
            "shop.html",
            session=session,
            shop=session.front.market,
            goal=session.task.goal,
            state=session.state(number),
            move=session.moves[number],
            number=number,
            base=base,
            is_live=is_live,
            next_action=next_action,
            is_reset_next=has_next and next_action is None,
            clicked=argument if name == CLICK else "",
            typed=argument if name == SEARCH else "",
            recording=recording,
            run=self.run,
        )


def create_app(
    front: Storefront,
    run: Run | None = None,
    first: str | None = None,
) -> Flask:
    """Return the shop as a web application; its server must refuse requests of other sites.

    Args:
        front: The shop.
        run: Recorded episodes of the same shop to step through.
        first: The task to offer first.

    Raises:
        RunError: If the run was played in another shop.
        UnknownName: If there is no such task.
    """
    if run and run.fingerprint != front.fingerprint:
        raise RunError(f"{run.name} was played in another shop: the data's fingerprints differ")
    if first is not None:
        front.task(first)
    app = Flask(__name__)
    app.config.update(MAX_CONTENT_LENGTH=MAX_BODY, MAX_FORM_MEMORY_SIZE=MAX_BODY)

    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    functions = {"can_be_clicked": can_be_clicked, "click": click, "tile": tile, "initial": initial}
    app.jinja_env.globals.update(functions, MAX_QUERY=MAX_QUERY, MAX_ACTIONS=MAX_ACTIONS)

    pages = Pages(front, run, first)
    app.add_url_rule("/", view_func=pages.tasks)
    app.add_url_rule("/sessions", view_func=pages.begin, methods=["POST"])
    app.add_url_rule("/sessions/<name>", view_func=pages.latest)
    app.add_url_rule("/sessions/<name>/<number>", view_func=pages.session)
    app.add_url_rule("/sessions/<name>/<number>", view_func=pages.act, methods=["POST"])
    app.add_url_rule("/sessions/<name>/session.json", view_func=pages.save)
    app.add_url_rule("/replay/<episode>/<number>", view_func=pages.replay)

    app.after_request(_add_security_headers)
    app.register_error_handler(HTTPException, _error_page)
    return app


def tile(asin: str) -> int:
    """Return the index of the coloured tile that is shown for a product instead of a picture."""
    return zlib.crc32(asin.encode("utf-8", "replace")) % TILES


def initial(title: str) -> str:
    """Return the letter on the tile, the first of the title."""
    return next(filter(str.isalnum, title), "").upper()


def _posted_action() -> str:
    """Return the action of a form, or the search for its words."""
    action, words = request.form.get("action"), request.form.get("words")
    if (action is None) == (words is None):
        abort(400, "Expected either an action or search words.")
    if words is not None:
        if len(words) > MAX_QUERY:
            abort(400, f"Expected at most {MAX_QUERY} characters of search words.")
        return search(words)
    if len(action or "") > MAX_ACTION:
        abort(400, f"Expected at most {MAX_ACTION} characters in an action.")
    return action or ""


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > _MOST_DIGITS:
        abort(400, "Expected a number.")
    return int(text)


def _redirect(address: str) -> Response:
    return Response(status=303, headers={"Location": address})


def _page(template: str, **names: Any) -> bytes:
    """Render a page."""
    # JSON data may contain lone surrogates, which UTF-8 cannot encode.
    return render_template(template, **names).encode("utf-8", "replace")


def _add_security_headers(answer: Response) -> Response:
    for name, value in _HEADERS.items():
        answer.headers[name] = value
    if answer.mimetype != "text/css":
        answer.headers.setdefault("Cache-Control", "no-store")
    return answer


def _error_page(error: HTTPException) -> Response:
    return Response(_page("error.html", error=error), error.code, error.get_headers())
