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
"""Numbers of characters that a masked secret shows of its beginning or end; longer ones are parts like any other."""
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
    r"(?:x?(?:api|access|auth|private|secret))?keys?|\w*token|\w*secrets?|\w*passw(?:or)?ds?|passphrase|pwd|"
    r"auth|authorization|bearer|credentials?|cookies?"
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
        """Remember a secret; a text of less than ``MIN_LENGTH`` characters, such as ``none``, is none."""
        value = value.strip()
        if len(value) < MIN_LENGTH or value.lower() in PLACEHOLDERS:
            return
        with self._lock:
            if value not in self._known.values:
                self._known = _Known(self._known.values | {value})

    def redact(self, text: str) -> str:
        """Return a text with ``HIDDEN`` in place of every secret and of every part of one, in linear time.

        Replaced are ``MIN_LENGTH`` or more consecutive characters of a secret in upper or lower
        case, as they are or escaped for a URL, HTML, JSON or Python, or in base64, and what a
        masked secret shows, as in ``sk-ab***wxyz``.
        """
        known = self._known  # a snapshot, which no other thread changes
        return (
            known.without_ends(known.runs.sub(known.without_parts, text)) if known.values else text
        )


class _Known:
    """What a text is searched for, made once for each set of values."""

    def __init__(self, values: frozenset[str]) -> None:
        self.values = values
        forms = {form for value in values for form in _forms(value)}
        self.parts = frozenset(part for form in forms for part in _parts(form.lower()))
        self.heads = frozenset(value[:shown] for value in values for shown in _MASKED)
        self.tails = frozenset(value[-shown:] for value in values for shown in _MASKED)
        characters = {character for part in self.parts for character in (part + part.upper())}
        alphabet = "".join(map(re.escape, sorted(characters)))
        # Only runs of these characters are looked at closely, each once: most of a text has too
        # short ones.
        self.runs = re.compile(
            f"(?<![{alphabet}])[{alphabet}]{{{MIN_LENGTH},}}" if values else "(?!)"
        )

    def without_parts(self, run: re.Match[str]) -> str:
        """Return a run of characters without parts of secrets; parts that overlap or touch are one."""
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
            head = next(
                (n for n in _MASKED if start - n >= end and text[start - n : start] in self.heads),
                0,
            )
            tail = next(
                (
                    n
                    for n in _MASKED
                    if stop + n <= len(text) and text[stop : stop + n] in self.tails
                ),
                0,
            )
            if head or tail:
                shown += [text[end : start - head], HIDDEN]
                end = stop + tail
        return "".join([*shown, text[end:]])


def _parts(text: str) -> Iterator[str]:
    """Yield every ``MIN_LENGTH`` consecutive characters of a text."""
    return (text[start : start + MIN_LENGTH] for start in range(len(text) - MIN_LENGTH + 1))


def _forms(value: str) -> set[str]:
    """Return the texts that a value can be written as."""
    once = {value, *(escape(value) for escape in _ESCAPES)}
    twice = {
        escape(form) for form in once for escape in _ESCAPES
    }  # such as JSON in the repr of an answer
    return once | twice | set(_base64(value.encode(**_BYTES)))


def _base64(data: bytes) -> Iterator[str]:
    """Yield what base64 makes of data within other data, such as of the password in ``user:password``."""
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
    """Return a JSON value with every text redacted; the names of an object stay, since readers look for them."""
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
    found: list[str] = []
    _sift(options, found)
    return found


def without_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    """Register the secrets among options, and return the options with ``HIDDEN`` in their place."""
    found: list[str] = []
    shown: dict[str, Any] = _sift(options, found)
    for secret in found:
        register(secret)
    return redacted(shown)


def register_environment() -> None:
    """Register the keys of model providers, and the passwords of addresses, that the environment holds."""
    for name, value in os.environ.items():
        if _KEYS_OF_PROVIDERS.search(name):
            register(value)
        elif _ADDRESSES.search(name):
            without_secrets({name: value})


def is_secret_name(name: str) -> bool:
    """Return whether a field of this name holds a secret: ``api_key``, ``X-Auth-Token``, but not ``max_tokens``."""
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and words[-1] not in _ABOUT and any(map(_SECRET_WORD.fullmatch, words))


def _sift(value: Any, found: list[str], *, secret: bool = False) -> Any:
    """Return a JSON value with ``HIDDEN`` in place of its secrets, which are added to ``found``."""
    if isinstance(value, Mapping):
        return {
            name: _sift(item, found, secret=secret or is_secret_name(str(name)))
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_sift(item, found, secret=secret) for item in value]
    if not secret:
        return _sift_text(value, found) if isinstance(value, str) else value
    if value is None or isinstance(value, bool) or str(value).lower() in PLACEHOLDERS:
        return value
    found.append(_SCHEME.sub("", str(value), count=1))
    return HIDDEN


def _sift_text(text: str, found: list[str]) -> str:
    """Return a text without the secrets of an address, or of an object that is no valid JSON."""

    def user(match: re.Match[str]) -> str:
        name, _, password = match["userinfo"].partition(":")
        found.extend((password or name, unquote(password or name)))
        return f"{match['before']}{HIDDEN}@"

    def field(match: re.Match[str]) -> str:
        if not (is_secret_name(match["name"]) or match["name"].lower() in _QUERY_NAMES):
            return match[0]
        secret = _SCHEME.sub("", match["value"], count=1)
        found.extend((secret, unquote(secret)))
        return match["before"] + HIDDEN

    if text.startswith(("{", "[")):
        return _BROKEN_JSON.sub(field, text)
    return _QUERY.sub(field, _USERINFO.sub(user, text)) if "://" in text or "@" in text else text
