"""A canary key, given in every way that a key can be given, is searched in every byte that the
commands write."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from tests.doubles import CRAFTER
from tests.doubles.server import Reply, Request, sends, serving
from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.cli.main import main
from textcraft_gym.reports.records import read_config, read_records

KEY = "sk-proj-Cn4r7q+Zx/0pW2vT9bLmK5dJh8wXyz"
MASKED = f"{KEY[:6]}*****{KEY[-4:]}"

LEAKY = """
import gymnasium
from textcraft_gym.agents.contract.model import Completion, ModelError

class Raises:
    def __init__(self, token=None, password=None, headers=None, keys=()):
        self.given = [token, password, headers, *keys]
    def complete(self, prompt, **how):
        raise ValueError(f"not with {self.given}") from RuntimeError(str(self.given))

class Writes(Raises):
    def complete(self, prompt, **how):
        return Completion(f"say {self.given}")

class Named(Raises):
    def __init__(self, token):
        self.name = f"Named({token})"
    def complete(self, prompt, **how):
        raise ModelError(self.name)

class Refuses:
    def __init__(self, client_secret):
        raise RuntimeError(f"cannot connect as {client_secret}")

class Agent:
    def __init__(self, api_key, settings=None):
        self.api_key, self.settings = api_key, settings
    def episode(self, play):
        yield from play.act(f"look {self.api_key}")
        play.node.note(self.api_key) if hasattr(play.node, "note") else None
        raise LookupError(f"{self.settings}")

class Wrapper(gymnasium.Wrapper):
    def __init__(self, env, token):
        super().__init__(env)
        self.token = token
    def step(self, action):
        raise ConnectionError(f"no server for {self.token}")
"""


class Way(NamedTuple):
    """A way to give a key: options of ``evaluate``, and the environment."""

    options: tuple[str, ...]
    env: dict[str, str] = {}


OPENAI = "openai:m,max_retries=0,base_url={url}"
NONE = {"OPENAI_API_KEY": "none"}
PLAYED = {
    "option": Way(("--model", f"{OPENAI},api_key={KEY}")),
    "quoted": Way(("--model", f'{OPENAI},api_key="{KEY}"')),
    "list": Way(("--model", f'{OPENAI},api_key=["a,{KEY}"]')),
    "environment": Way(("--model", OPENAI), {"OPENAI_API_KEY": KEY}),
    "line break": Way(("--model", OPENAI), {"OPENAI_API_KEY": f"{KEY}\r\n"}),
    "query": Way(("--model", f"{OPENAI}?key={KEY}"), NONE),
    "quoted query": Way(("--model", f"{OPENAI}?a=b&api-key={quote(KEY, safe='')}"), NONE),
    "query of the environment": Way(
        ("--model", "openai:m,max_retries=0"), {**NONE, "OPENAI_BASE_URL": f"{{url}}?key={KEY}"}
    ),
    "password": Way(
        ("--model", f"openai:m,max_retries=0,base_url={{user}}me:{quote(KEY, safe='')}@{{host}}"),
        NONE,
    ),
    "password with /": Way(
        ("--model", f"openai:m,max_retries=0,base_url={{user}}me:{KEY}@{{host}}"), NONE
    ),
    "password with @": Way(
        ("--model", f"openai:m,max_retries=0,base_url={{user}}me:a@{KEY}@{{host}}"), NONE
    ),
    "password of the environment": Way(
        ("--model", "openai:m,max_retries=0"),
        {**NONE, "OPENAI_BASE_URL": f"{{user}}me:{quote(KEY, safe='')}@{{host}}"},
    ),
    "extra": Way(
        (
            "--model",
            f'{OPENAI},extra={{{{"api_key":"{KEY}","headers":[{{{{"Cookie":"{KEY}"}}}}]}}}}',
        ),
        NONE,
    ),
    "headers of a request": Way(
        ("--model", f'{OPENAI},headers={{{{"api-key":"{KEY}","X-Team":"Bearer {KEY}"}}}}'), NONE
    ),
    "planner": Way(
        ("--agent", "plan_and_execute", "--model", CRAFTER, "--planner", f"{OPENAI},api_key={KEY}")
    ),
    "token": Way(("--model", f"leaky:Raises,token={KEY}")),
    "token that is written": Way(("--model", f"leaky:Writes,token={KEY}")),
    "headers": Way(("--model", f'leaky:Raises,headers={{{{"Authorization":"Bearer {KEY}"}}}}')),
    "broken headers": Way(("--model", f'leaky:Raises,headers={{{{"Authorization":"Bearer {KEY}"')),
    "keys": Way(("--model", f'leaky:Writes,keys=["{KEY}"]')),
    "name": Way(("--model", f"leaky:Named,token={KEY}")),
    "provider": Way(("--model", "leaky:Writes,password={provider}"), {"MISTRAL_API_KEY": KEY}),
    "agent": Way(("--agent", "leaky:Agent", "--agent-arg", f"api_key={KEY}")),
    "agent's object": Way(
        (
            "--agent",
            "leaky:Agent",
            "--agent-arg",
            "api_key=0",
            "--agent-arg",
            f'settings={{{{"password":"{KEY}"}}}}',
        )
    ),
    "wrapper": Way(("--wrapper", f"leaky:Wrapper,token={KEY}")),
}
REFUSED = {
    "apikey": Way(("--model", f"{OPENAI},apikey={KEY}")),
    "API_KEY": Way(("--model", f"{OPENAI},API_KEY={KEY}")),
    "with a comma": Way(("--model", f"{OPENAI},api_key=a,{KEY}")),
    "comma for colon": Way(("--model", f"openai,api_key={KEY}")),
    "no name": Way(("--model", f"openai:api_key={KEY}")),
    "address without a scheme": Way(("--model", f"openai:m,base_url=me:{KEY}@host/v1")),
    "unknown option": Way(("--model", f"{OPENAI},api_key={KEY},tiemout=3")),
    "price": Way(("--model", f"{OPENAI},api_key={KEY},price={KEY}")),
    "constructor": Way(("--model", f"leaky:Refuses,client_secret={KEY}")),
    "unknown argument": Way(("--agent", "react", "--agent-arg", f"api_key={KEY}")),
    "wrapper": Way(("--wrapper", f"leaky:Wrapper,secret={KEY}")),
}


def echoes(request: Request) -> Reply:
    """Refuse a request with all of it in the message, as some proxies do, and with the key as
    OpenAI shows it."""
    coded = base64.b64encode(f"me:{KEY}".encode()).decode()
    echoed = f"{quote(request.path)} {request.path} {dict(request.headers)} {request.body}"
    return sends(
        {"error": {"message": f"Incorrect API key provided: {MASKED}. {coded} {echoed}"}},
        status=400,
    )


@contextmanager
def given(way: Way, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[list[str]]:
    """Set the environment of a way, and yield its options, with the address of a server that
    repeats what it gets."""
    (folder / "leaky.py").write_text(LEAKY)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with serving(echoes) as server:
        names = {
            "url": server.url,
            "host": server.url.removeprefix("http://"),
            "user": "http://",
            "provider": KEY,
        }
        for name, value in way.env.items():
            monkeypatch.setenv(name, value.format(**names))
        yield [option.format(**names) for option in way.options]
    sys.modules.pop("leaky", None)


def leaks(*texts: bytes) -> list[bytes]:
    """Return the parts of the key, as it is, quoted and in base64, that stand in texts, in upper or
    lower case."""
    coded = (base64.b64encode(before + KEY.encode())[4:-4] for before in (b"me:", b"", b"aa"))
    forms = [KEY.encode(), quote(KEY, safe="").encode(), *coded, MASKED.encode()]
    parts = {form[start : start + 8].lower() for form in forms for start in range(len(form) - 7)}
    parts |= {KEY[:6].encode().lower() + b"*", b"*" + KEY[-4:].encode().lower()}
    return [part for part in parts if any(part in text.lower() for text in texts)]


def files(folder: Path) -> list[bytes]:
    """Return the names and contents of all files that were written."""
    written = [
        file for file in folder.rglob("*") if file.name != "leaky.py" and file.suffix != ".pyc"
    ]
    return [
        *(str(file.relative_to(folder)).encode() for file in written),
        *(file.read_bytes() for file in written if file.is_file()),
    ]


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run a command in this process, with its last line or traceback, and return its status."""
    monkeypatch.setattr(sys, "argv", ["textcraft-gym", *arguments])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    try:
        main()
    except SystemExit as stopped:
        return int(stopped.code or 0)
    except Exception:  # what Python itself would print
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


EVALUATE = (
    "evaluate",
    "--env",
    "TextCraft-v0",
    "--split",
    "dev",
    "--limit",
    "2",
    "--model",
    CRAFTER,
)


@pytest.mark.parametrize("way", PLAYED.values(), ids=PLAYED.keys())
def test_commands__write_no_part_of_a_key(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    with given(way, monkeypatch, tmp_path) as options:
        for run in ("one", "two"):
            added = ("--cassette", "tape.sqlite") if run == "one" else ("--max-calls", "3")
            command(monkeypatch, *EVALUATE, *options, *added, "--out", run)
        assert len(read_records("one")) == len(read_records("two")) == 2
        for arguments in (
            ("report", "one", "two"),
            ("report", "one", "two", "--json"),
            ("report", "one", "two", "--out", "page.html"),
            ("compare", "one", "two"),
            ("verify", "one"),
            ("export", "one", "--out", "one.jsonl"),
        ):
            command(monkeypatch, *arguments)
        if options[0] == "--model":
            sweep = (
                "sweep",
                *EVALUATE[1:],
                "--agents",
                "react",
                "--max-calls",
                "3",
                *options,
                "--out",
            )
            command(monkeypatch, *sweep, "sweep")
            command(monkeypatch, *sweep, "sweep", "--json")
            command(
                monkeypatch,
                "play",
                "TextCraft-v0",
                "--task",
                "minecraft:oak_planks",
                "--watch",
                options[1],
            )
            command(monkeypatch, "models", "check", options[1])
            command(monkeypatch, "models", "check", options[1], "--json")
            plan = (
                "optimise-plan",
                "--env",
                "ALFWorld-v0",
                "--limit",
                "1",
                "--batch",
                "1",
                "--iterations",
                "1",
            )
            command(monkeypatch, *plan, "--max-calls", "3", *options, "--out", "plan")
    printed = capfd.readouterr()
    assert leaks(printed.out.encode(), printed.err.encode(), *files(tmp_path)) == []


@pytest.mark.parametrize("way", REFUSED.values(), ids=REFUSED.keys())
def test_commands__refuse_a_mistake_without_the_key(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    with given(way, monkeypatch, tmp_path) as options:
        assert command(monkeypatch, *EVALUATE, *options, "--out", "run") == 2
        printed = capfd.readouterr()
        assert printed.err.startswith("textcraft-gym: ")
        assert leaks(printed.out.encode(), printed.err.encode(), *files(tmp_path)) == []


@pytest.mark.parametrize(
    "name", [name for name, way in REFUSED.items() if way.options[0] == "--model"]
)
def test_make_model__raises_nothing_that_shows_the_key(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with given(REFUSED[name], monkeypatch, tmp_path) as (_, spec):
        with pytest.raises(ModelError) as raised:
            make_model(spec)
        shown = "".join(traceback.format_exception(raised.value))
        assert leaks(shown.encode(), repr(raised.value).encode()) == []


@pytest.mark.parametrize(
    "name", ["environment", "token", "token that is written", "agent", "wrapper"]
)
def test_worker_processes__know_the_key(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with given(PLAYED[name], monkeypatch, tmp_path) as options:
        added = ("--backend", "process", "--workers", "2", "--max-calls", "3", "--out", "run")
        run = [sys.executable, "-m", "textcraft_gym", *EVALUATE, *options, *added]
        done = subprocess.run(
            run,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )
        assert len(read_records("run")) == 2, done.stderr
    assert leaks(done.stdout, done.stderr, *files(tmp_path)) == []


def test_cassette__is_replayed_by_whoever_has_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    spec = "leaky:Writes{}"
    how = {"stop": (), "max_tokens": 5, "temperature": 0.0, "sample": 0}
    with given(Way(()), monkeypatch, tmp_path):
        recorded = make_model(spec.format(f",token={KEY}"), cassette="tape").complete(
            f"a prompt with {KEY}", **how
        )
        assert KEY not in recorded.text
        replayed = make_model(spec.format(""), cassette="tape", replay_only=True)
        assert replayed.complete(f"a prompt with {KEY}", **how).text == recorded.text
        assert replayed.complete("a prompt with ...", **how).text == recorded.text
        for model in (
            f"openai:m,base_url=http://h/v1?key={KEY}",
            "openai:m,base_url=http://me:pw@h/v1",
            "openai:m,base_url=http://h/v1",
        ):
            assert (
                make_model(model, cassette="tape", replay_only=True).name
                == "openai:m,base_url=http://h/v1"
            )


def test_record__differs_only_where_the_key_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with given(PLAYED["token that is written"], monkeypatch, tmp_path) as options:
        command(monkeypatch, *EVALUATE, *options, "--max-calls", "2", "--out", "run")
        for record in read_records("run"):
            assert [action for action, _ in record["transcript"][1:]] == [
                "say ['...', None, None]"
            ] * 2
            assert record["calls"] == {"executor": 2}
        assert read_config("run")["model"] == "leaky:Writes,token=..."
