"""Secrets of this process, known by their value, and texts without them.

Whatever uses a key registers it: ``make_model``, a run's spec, a client. Whatever is written
afterwards, such as a record, an error or a line on a terminal, goes through ``redact``.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus, unquote

Json = TypeVar("Json")

HIDDEN = "..."
"""What stands in place of a secret."""

MIN_LENGTH = 8
"""Length of the shortest secret, and of the shortest part of one that is replaced."""

PLACEHOLDERS = frozenset(
    {
        "none",
        "empty",
        "anything",
        "not-needed",
        "no-key-required",
        "sk-no-key-required",
        "placeholder",
    }
)
"""Values that are no secrets, and shown: what is given as a key to a server that needs none."""

_MASKED = range(MIN_LENGTH - 1, 2, -1)
"""Numbers of characters shown at either end of a masked secret; more are parts like any other."""
_MASK = re.compile(r"(?:\*{2,}|\.{3,}|…|•{2,})+")

_BYTES = {"encoding": "utf-8", "errors": "surrogatepass"}
_ESCAPES = (
    partial(quote, safe="", **_BYTES),
    partial(quote_plus, **_BYTES),
    html.escape,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: repr(text)[1:-1],
    lambda text: repr(text.encode(**_BYTES))[2:-1],
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_WORD = re.compile(
    r"(?:x?(?:api|access|auth|private|secret))?keys?|\w*token|\w*secrets?|\w*passw(?:or)?ds?|"
    r"passphrase|pwd|auth|authorization|bearer|credentials?|cookies?"
)
_ABOUT = frozenset(
    {"id", "ids", "type", "count", "limit", "length", "size", "name", "file", "path"}
)
"""Last words of names that say something about a token or a key: ``token_ids``, ``key_file``."""

_USERINFO = re.compile(
    r"(?P<before>://?|//|^(?=[^/?#\s:@]+:))"
    # What follows a colon and is no port is a password, which may contain anything, also @, / and
    # ?.
    r"(?P<userinfo>[^/?#\s:@]*:(?!\d*(?:[/?#]|$))\S*|[^/?#\s]*)@"
)
_QUERY = re.compile(r"(?P<before>[?&;#](?P<name>[^=&;#\s]+)=)(?P<value>[^&;#\s]*)")
_QUERY_NAMES = frozenset({"code", "sig", "signature"})
"""Further names of secrets in the query of an address."""
_BROKEN_JSON = re.compile(r"(?P<before>(?P<name>[\w-]+)[\"']?\s*:\s*[\"']?)(?P<value>[^\"',}\]]+)")
_SCHEME = re.compile(r"(?:bearer|basic|token)\s+", re.IGNORECASE)
"""Beginning of a header's value that is no part of the secret."""

_KEYS_OF_PROVIDERS = re.compile(
    r"_API_KEY$|_(?:API|AUTH|SESSION)_TOKEN$|_SECRET_ACCESS_KEY$|^HF_TOKEN$|^AWS_BEARER_TOKEN"
)
_ADDRESSES = re.compile(r"_BASE_URL$|_PROXY$", re.IGNORECASE)


class Secrets:
    """Values that no text may show. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known = _Known(frozenset())

    def register(self, value: str) -> None:
        """Remember a secret; a text shorter than ``MIN_LENGTH``, such as ``none``, is none."""
        value = value.strip()
        if len(value) < MIN_LENGTH or value.lower() in PLACEHOLDERS:
            return
        with self._lock:
            if value not in self._known.values:
                self._known = _Known(self._known.values | {value})

    def redact(self, text: str) -> str:
        """Return a text with ``HIDDEN`` for every (part of a) secret, in linear time.

        Replaced are ``MIN_LENGTH`` or more consecutive characters of a secret in upper or lower
        case, as they are or escaped for a URL, HTML, JSON or Python, or in base64, and what a
        masked secret shows, as in ``sk-ab***wxyz``.
        """
        known = self._known  # a snapshot, which no other thread changes
        if not known.values:
            return text
        return known.without_ends(known.runs.sub(known.without_parts, text))


class _Known:
    """What a text is searched for, made once for each set of values."""

    def __init__(self, values: frozenset[str]) -> None:
        self.values = values
        self.parts: set[str] = set()
        self.heads: set[str] = set()
        self.tails: set[str] = set()
        for value in values:
            for form in _forms(value):
                self.parts.update(_parts(form.lower()))
            for shown in _MASKED:
                self.heads.add(value[:shown])
                self.tails.add(value[-shown:])
        self.runs = self._find_runs()

    def _find_runs(self) -> re.Pattern[str]:
        """Return what finds the runs of secrets' characters that are long enough to hold a part.

        Only these are looked at closely, each once: most of a text has too short ones.
        """
        if not self.values:
            return re.compile("(?!)")
        characters: set[str] = set()
        for part in self.parts:
            characters.update(part, part.upper())
        alphabet = "".join(map(re.escape, sorted(characters)))
        return re.compile(f"(?<![{alphabet}])[{alphabet}]{{{MIN_LENGTH},}}")

    def without_parts(self, run: re.Match[str]) -> str:
        """Return a run of characters without parts of secrets.

        Parts that overlap or touch are one.
        """
        text, shown, end = run[0], "", -1
        for start, part in enumerate(_parts(text)):
            if part.lower() in self.parts:
                if start > end:
                    shown += text[max(end, 0) : start] + HIDDEN
                end = start + MIN_LENGTH
        return shown + text[max(end, 0) :]

    def without_ends(self, text: str) -> str:
        """Return a text without the characters of a secret that stand next to a mask."""
        shown, end = [], 0
        for mask in _MASK.finditer(text):
            start, stop = mask.span()
            head = self._head(text[end:start])
            tail = self._tail(text, stop)
            if head or tail:
                shown += [text[end : start - head], HIDDEN]
                end = stop + tail
        return "".join([*shown, text[end:]])

    def _head(self, before: str) -> int:
        """Return how many characters of a secret end a text."""
        for length in _MASKED:
            if length <= len(before) and before[-length:] in self.heads:
                return length
        return 0

    def _tail(self, text: str, start: int) -> int:
        """Return how many characters of a secret begin a text from ``start`` on."""
        for length in _MASKED:
            if start + length <= len(text) and text[start : start + length] in self.tails:
                return length
        return 0


def _parts(text: str) -> Iterator[str]:
    """Yield every ``MIN_LENGTH`` consecutive characters of a text."""
    return (text[start : start + MIN_LENGTH] for start in range(len(text) - MIN_LENGTH + 1))


def _forms(value: str) -> set[str]:
    """Return the texts that a value can be written as."""
    forms = {value}
    for _ in range(2):  # twice, as JSON in the repr of an answer
        forms |= {escape(form) for form in forms for escape in _ESCAPES}
    return forms | set(_base64(value.encode(**_BYTES)))


def _base64(data: bytes) -> Iterator[str]:
    """Yield the base64 forms of data within other data, such as in ``user:password``."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + data).decode()
        # The first characters depend on what is before, the last on what is behind.
        certain = coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield certain
        yield certain.translate(str.maketrans("+/", "-_"))


_process = Secrets()
register = _process.register
redact = _process.redact


def redacted(value: Json) -> Json:
    """Return a JSON value with every text redacted.

    The names of an object stay, since readers look for them.
    """
    shown: Any = value
    if isinstance(value, str):
        shown = redact(value)
    elif isinstance(value, dict):
        shown = {name: redacted(item) for name, item in value.items()}
    elif isinstance(value, list):
        shown = [redacted(item) for item in value]
    elif isinstance(value, tuple):
        make = getattr(value, "_make", tuple)  # of a named tuple
        shown = make(map(redacted, value))
    return shown  # type: ignore[no-any-return]  # of the same type


def secrets_of(options: Mapping[str, Any]) -> list[str]:
    """Return the secrets among options: of fields named so, at any depth, and in addresses."""
    secrets: list[str] = []
    _sift(options, secrets)
    return secrets


def without_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    """Register the secrets among options, and return the options with ``HIDDEN`` in their place."""
    secrets: list[str] = []
    shown: dict[str, Any] = _sift(options, secrets)
    for secret in secrets:
        register(secret)
    return redacted(shown)


def register_environment() -> None:
    """Register the environment's keys of model providers, and passwords in addresses."""
    for name, value in os.environ.items():
        if _KEYS_OF_PROVIDERS.search(name):
            register(value)
        elif _ADDRESSES.search(name):
            without_secrets({name: value})


def is_secret_name(name: str) -> bool:
    """Return whether a field holds a secret: ``X-Auth-Token`` does, ``max_tokens`` does not."""
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and words[-1] not in _ABOUT and any(map(_SECRET_WORD.fullmatch, words))


def _sift(
    value: Any,
    secrets: list[str],
    *,
    secret: bool = False,
) -> Any:
    """Return a JSON value with ``HIDDEN`` in place of its secrets, which are added to a list."""
    if isinstance(value, Mapping):
        shown: dict[str, Any] = {}
        for name, item in value.items():
            shown[name] = _sift(item, secrets, secret=secret or is_secret_name(str(name)))
        return shown
    if isinstance(value, list | tuple):
        return [_sift(item, secrets, secret=secret) for item in value]
    if secret:
        return _hidden(value, secrets)
    return _sift_text(value, secrets) if isinstance(value, str) else value


def _hidden(value: Any, secrets: list[str]) -> Any:
    """Return ``HIDDEN`` for the value of a secret field; what cannot be a secret as it is."""
    if value is None or isinstance(value, bool) or str(value).lower() in PLACEHOLDERS:
        return value
    secrets.append(_SCHEME.sub("", str(value), count=1))
    return HIDDEN


def _sift_text(text: str, secrets: list[str]) -> str:
    """Return a text without the secrets of an address, or of an object that is no valid JSON."""

    def user(match: re.Match[str]) -> str:
        name, _, password = match["userinfo"].partition(":")
        secrets.extend((password or name, unquote(password or name)))
        return f"{match['before']}{HIDDEN}@"

    def field(match: re.Match[str]) -> str:
        if not (is_secret_name(match["name"]) or match["name"].lower() in _QUERY_NAMES):
            return match[0]
        secret = _SCHEME.sub("", match["value"], count=1)
        secrets.extend((secret, unquote(secret)))
        return match["before"] + HIDDEN

    if text.startswith(("{", "[")):
        return _BROKEN_JSON.sub(field, text)
    if "://" not in text and "@" not in text:
        return text
    return _QUERY.sub(field, _USERINFO.sub(user, text))
