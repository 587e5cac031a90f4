from __future__ import annotations

import base64
import html
import json
import threading
import time
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.agents.contract.model import ToolCall
from textcraft_gym.agents.redaction import (
    Secrets,
    is_secret_name,
    redacted,
    register,
    secrets_of,
    without_secrets,
)

KEY = "sk-Tq3+v/9Zk mR\\7\"é'wXyz"


def knowing(*values: str) -> Secrets:
    secrets = Secrets()
    for value in values:
        secrets.register(value)
    return secrets


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        KEY.upper(),
        KEY[3:11],
        KEY[-9:],
        quote(KEY, safe=""),
        quote(KEY, safe="").lower(),
        quote_plus(KEY),
        html.escape(KEY),
        json.dumps(KEY)[1:-1],
        json.dumps(json.dumps(KEY))[3:-3],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        repr(KEY)[1:-1],
        repr(KEY.encode())[2:-1],
        repr(json.dumps({"k": KEY}))[8:-3],
    ],
)
def test_redact__replaces_a_secret_in_every_form(text: str):
    assert knowing(KEY).redact(f"It is <{text}>, they say") == "It is <...>, they say"


@pytest.mark.parametrize("user", ["", "a", "ab", "abc"])
def test_redact__replaces_a_password_within_base64(user: str):
    coded = base64.b64encode(f"{user}:{KEY}".encode()).decode()
    shown = knowing(KEY).redact(f"Basic {coded}")
    assert shown.startswith("Basic ")
    assert not any(coded[start : start + 8] in shown for start in range(8, len(coded) - 16))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "Incorrect API key provided: sk-Tq****************wXyz. See",
            "Incorrect API key provided: .... See",
        ),
        ("key=sk-***", "key=..."),
        ("****Xyz!", "...!"),
        ("sk-Tq3+v/9***wXyz", "..."),
        ("sk-T…wXyz", "..."),
        ("sk-T...", "..."),
        ("sk***yz", "sk***yz"),
        ("wait... and see", "wait... and see"),
        ("2 *** 3", "2 *** 3"),
    ],
)
def test_redact__replaces_what_a_masked_secret_shows(text: str, shown: str):
    assert knowing(KEY).redact(text) == shown


@given(st.text(min_size=8, max_size=40), st.text(max_size=60), st.text(max_size=60))
def test_redact__leaves_no_part_of_any_secret(secret: str, before: str, behind: str):
    secret = secret.strip()
    shown = knowing(secret).redact(before + secret + behind)
    parts = {secret[start : start + 8] for start in range(len(secret) - 7)}
    assert not [part for part in parts if part in shown]


@given(st.text(alphabet="ab.*é\n", max_size=200))
def test_redact__changes_nothing_else(text: str):
    assert knowing(KEY).redact(text) == text
    assert Secrets().redact(text) is text


def test_register__leaves_out_what_is_no_secret():
    for value in ("none", "EMPTY", " short7 \n", "not-needed", "sk-no-key-required"):
        assert knowing(value).redact(f"x {value} x") == f"x {value} x"
    assert knowing("  long-enough\r\n").redact("a long-enough b") == "a ... b"


def test_redact__is_linear_in_the_text():
    secrets = knowing("a" * 40, "*" * 9, "0123456789abcdef")

    def seconds(text: str) -> float:
        started = time.thread_time()  # which no other process prolongs
        secrets.redact(text)
        return time.thread_time() - started

    for piece in ("a", "ab", "01234567", "*x", "0123***", "hello world "):
        assert seconds(piece * 20_000) < 20 * seconds(piece * 2_000) + 0.05


def test_register__is_safe_among_threads():
    secrets = Secrets()
    values = [f"{index:02}-secret-of-a-thread" for index in range(24)]
    threads = [threading.Thread(target=secrets.register, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert secrets.redact(" ".join(values)) == " ".join(["..."] * len(values))


@pytest.mark.parametrize(
    ("names", "secret"),
    [
        (
            "key api_key apikey API_KEY apiKey X-Api-Key api_keys openai:api_key OPENAI_API_KEY",
            True,
        ),
        ("token authToken hf_token secret client_secret password DB_PASSWORD passwd", True),
        ("auth Authorization proxy-authorization credentials Set-Cookie cookie", True),
        (
            "max_tokens reasoning_tokens token_ids return_token_ids TokenIds token_limit tokenizer",
            False,
        ),
        ("key_file monkey keyword author secretary base_url timeout", False),
    ],
)
def test_is_secret_name__reads_words(names: str, secret: bool):
    assert [is_secret_name(name) for name in names.split()] == [secret] * len(names.split())


@pytest.mark.parametrize(
    ("options", "secrets", "shown"),
    [
        ({"api_key": "k", "n": 1}, {"k"}, {"api_key": "...", "n": 1}),
        ({"token": 12345678, "auth": True}, {"12345678"}, {"token": "...", "auth": True}),
        (
            {"extra": {"headers": [{"Authorization": "Bearer abcdefgh"}], "max_tokens": 5}},
            {"abcdefgh"},
            {"extra": {"headers": [{"Authorization": "..."}], "max_tokens": 5}},
        ),
        ({"keys": ["a,b", {"c": "d"}]}, {"a,b", "d"}, {"keys": ["...", {"c": "..."}]}),
        ({"headers": '{"X-Api-Key":"abc"'}, {"abc"}, {"headers": '{"X-Api-Key":"..."'}),
        (
            {"url": "http://h/v1?a=1&key=x%2B#f"},
            {"x%2B", "x+"},
            {"url": "http://h/v1?a=1&key=...#f"},
        ),
        (
            {"url": "https://h?code=x&api-version=2"},
            {"x"},
            {"url": "https://h?code=...&api-version=2"},
        ),
        ({"url": "http://me:p@s/s?w@h:80/v1"}, {"p@s/s?w"}, {"url": "http://...@h:80/v1"}),
        ({"url": "http://token@h/v1"}, {"token"}, {"url": "http://...@h/v1"}),
        ({"url": "http:/me:pw@h"}, {"pw"}, {"url": "http:/...@h"}),
        ({"url": "me:pw@h/v1"}, {"pw"}, {"url": "...@h/v1"}),
        ({"url": "http://h:80/@a/b?c=d@e"}, set(), {"url": "http://h:80/@a/b?c=d@e"}),
        (
            {"name": "model@2024", "plan": "the key: keychain 1"},
            set(),
            {"name": "model@2024", "plan": "the key: keychain 1"},
        ),
    ],
)
def test_secrets_of__finds_them_by_names_and_in_addresses(
    options: dict[str, Any], secrets: set[str], shown: dict[str, Any]
):
    assert set(secrets_of(options)) == secrets
    assert without_secrets(options) == shown


def test_redacted__keeps_names_and_types():
    register("a-registered-value")
    value = {"a-registered-value": [("x a-registered-value", 1), None, True], "n": 12345678}
    assert redacted(value) == {"a-registered-value": [("x ...", 1), None, True], "n": 12345678}
    assert redacted(ToolCall("1", "act", "a-registered-value")) == ToolCall("1", "act", "...")


def test_without_secrets__shows_what_says_that_there_is_no_key():
    for key in ("none", "EMPTY", "not-needed", None):
        assert without_secrets({"api_key": key}) == {"api_key": key}
    assert without_secrets({"api_key": "k"}) == {"api_key": "..."}
