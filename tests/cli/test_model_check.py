"""The check of a model says of every server of the zoo whether it can play, and how to use it."""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from tests.doubles.expert import next_words, token_limit
from tests.doubles.server import Answer, Reply, Request, completion, sends, serving
from tests.doubles.zoo import WAITS, ZOO, Behaviour, plain, quota_spent
from textcraft_gym import make_agent, make_model, run_episode
from textcraft_gym.agents.contract.model import Completion, ModelError
from textcraft_gym.agents.models import openai_compatible
from textcraft_gym.cli import tables
from textcraft_gym.cli.app import app
from textcraft_gym.cli.model_check import ENV, MAX_CALLS, MAX_STEPS, SPLIT, TASK, Check, check_model
from textcraft_gym.registration import find

KEY = "sk-proj-0123456789abcdefghij"
WON = [name for name, behaviour in ZOO.items() if behaviour.expected == "won"]


@contextmanager
def spec_of(behaviour: Behaviour) -> Iterator[str]:
    """Serve a server of the zoo, and give the spec of its model."""
    with serving(behaviour.answer) as server:
        options = ",".join(filter(None, (behaviour.options, behaviour.bounds)))
        yield f"openai:m,base_url={server.address}{behaviour.base},{options}"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def status_of(behaviour: Behaviour) -> int:
    """Return the status of the check that a server of the zoo is expected to have.

    One that asks once to wait for too long costs a run the episode, and the check one of its
    questions.
    """
    if behaviour.name in WAITS:
        return 0
    kind = behaviour.expected.partition(":")[0]
    return {"won": 0, "lost": 1, "stopped": 2, "error": 2}[kind]


@pytest.mark.parametrize("behaviour", ZOO.values(), ids=ZOO)
def test_check__says_of_every_server_whether_it_can_play(behaviour: Behaviour):
    with spec_of(behaviour) as spec:
        check = check_model(spec, behaviour.form or None)
    text = "\n".join(check.lines())
    assert check.status == status_of(behaviour), text
    assert (check.status == 0) == check.episode.startswith("won"), text
    assert bool(check.problem) == bool(check.status)
    assert behaviour.because in text
    assert check.calls <= MAX_CALLS
    for secret in (KEY, KEY[:8], KEY[-4:]):
        assert secret not in text + json.dumps(check.as_json())


@pytest.mark.parametrize("name", WON)
def test_spec__plays_and_wins_without_learning_anything(
    name: str, caplog: pytest.LogCaptureFixture
):
    behaviour = ZOO[name]
    with spec_of(behaviour) as spec:
        check = check_model(spec, behaviour.form or None)
        caplog.clear()
        model = make_model(check.spec)
        before = dict(model.learned_options())  # type: ignore[attr-defined]
        agent = make_agent("react", profile="textcraft", args={"form": check.form})
        episode = run_episode(
            find(ENV).make(agent, split=SPLIT), agent, task=TASK, seed=0, model=model
        )
    assert episode.won
    assert model.learned_options() == before  # type: ignore[attr-defined]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


class Scripted:
    """A model that answers from a list, the last answer again and again; an exception is raised."""

    answers: list[str | Exception] = ["get 1 jungle logs"]

    def __init__(self) -> None:
        self.left = list(self.answers)

    def complete(self, prompt: object, **request: object) -> Completion:
        answer = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer)


def check_of(
    monkeypatch: pytest.MonkeyPatch, *answers: str | Exception, form: str | None = None
) -> Check:
    """Return the check of a model with these answers."""
    monkeypatch.setattr(Scripted, "answers", list(answers))
    return check_model(f"{__name__}:Scripted", form)


def test_model_that_does_not_win__can_play_if_half_of_its_replies_are_commands(
    monkeypatch: pytest.MonkeyPatch,
):
    ready = ["ready"] * 3
    idle = check_of(monkeypatch, *ready, "get 1 jungle logs")
    assert (idle.status, idle.steps, idle.episode) == (
        0,
        MAX_STEPS,
        f"not over after {MAX_STEPS} steps",
    )
    thinks = check_of(monkeypatch, *ready, *["think: What now?", "get 1 jungle logs"] * 11)
    assert (thinks.status, thinks.calls) == (0, MAX_CALLS)
    assert thinks.episode == f"not over after {MAX_CALLS} calls of the check"
    dreams = check_of(
        monkeypatch, *ready, *["think: What now?", "think: Well?", "get 1 jungle logs"] * 8
    )
    assert (dreams.status, dreams.commands, dreams.replies) == (1, 7, 22)
    assert "22 replies held 7 commands of the game; one was 'think: What now?'" in dreams.problem
    assert dreams.advice.startswith("Try another form, --form chat or --form tools,")


def test_model__is_asked_again_where_an_answer_is_empty(monkeypatch: pytest.MonkeyPatch):
    plan = ["get 1 jungle logs"]
    asked = check_of(monkeypatch, "", "", *["ready"] * 3, *plan)
    assert (asked.status, asked.takes["stop"]) == (0, "taken")
    plays = check_of(monkeypatch, *["ready"] * 3, *plan, "", *plan, *plan, "", *plan)
    assert (plays.status, plays.problem, plays.steps) == (0, "", MAX_STEPS)
    silent = check_of(monkeypatch, *["ready"] * 3, "")
    assert (silent.status, silent.calls) == (1, 6)
    assert "--form line" not in silent.advice
    assert check_of(monkeypatch, "").calls == 6


def test_advice__is_none_that_is_followed_already():
    for form in ("line", "chat", "tools"):
        with spec_of(ZOO["empty"]) as spec:
            check = check_model(spec, form)
        assert check.status == 1
        assert f"form={form}" not in check.problem
        assert f"--form {form}" not in check.advice
        assert check.advice.count("--form") == 2
    with spec_of(ZOO["longer reasoning"]) as spec:
        check = check_model(f"{spec},reasoning_tokens=5000")
    assert "reasoning_tokens=20000" in check.spec


def test_model_of_ones_own__is_checked_without_what_does_not_apply(monkeypatch: pytest.MonkeyPatch):
    rows = dict(
        line.split(maxsplit=1)
        for line in check_of(monkeypatch, "get 1 jungle logs").lines()
        if "  " in line
    )
    assert {"temperature", "stop", "written", "episode", "calls"} <= set(rows)
    assert not {"address", "parameters", "system", "tools", "cost"} & set(rows)


def test_model_of_ones_own__has_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch):
    check = check_of(monkeypatch, KeyError("weights"))
    assert (check.status, check.calls, check.problem) == (2, 1, "KeyError: 'weights'")
    later = check_of(monkeypatch, "ready", ModelError("too warm"), "ready", "get 1 jungle logs")
    assert (later.status, later.takes["temperature"]) == (0, "refused: too warm")
    broken = check_of(
        monkeypatch, *["ready"] * 3, "get 1 jungle logs", RuntimeError("out of memory")
    )
    assert (broken.status, broken.problem) == (1, "RuntimeError: out of memory")
    assert broken.episode == "stopped by an error"


def test_model_without_tools__cannot_play_by_tools(monkeypatch: pytest.MonkeyPatch):
    check = check_of(monkeypatch, "get 1 jungle logs", form="tools")
    assert check.status == 1
    assert "takes no tools" in check.problem


def test_form__is_one_that_exists():
    with pytest.raises(ValueError, match="expected form to be line, chat, tools"):
        check_model("tests.doubles:Crafter", "prose")


def test_money__may_run_out_in_the_episode():
    with serving(*[plain] * 6, quota_spent) as server:
        check = check_model(f"openai:m,base_url={server.url}")
    assert (check.status, check.calls) == (2, 7)
    assert "no money left" in check.problem


def test_reasoning_over_budget__wins_with_the_spec_to_use():
    with spec_of(ZOO["longer reasoning"]) as spec:
        check = check_model(spec)
        assert "reasoning_tokens=16384" in check.spec
        assert check_model(check.spec).status == 0


def test_price__gives_the_cost():
    with spec_of(ZOO["plain"]) as spec:
        check = check_model(f"{spec},price=1000000/0")
    assert check.cost == check.tokens["prompt_tokens"] > 0
    assert any(line.startswith("cost ") for line in check.lines())


def test_key_in_a_spec__is_not_shown():
    with spec_of(ZOO["plain"]) as spec:
        lines = list(check_model(f"{spec},api_key={KEY}").lines())
    assert "api_key=..." in lines[-2]
    assert "replace ... with it" in lines[-1]


@pytest.mark.parametrize(
    ("spec", "status", "says"),
    [
        ("tests.doubles:Crafter", 0, "It can play.\n--model tests.doubles:Crafter\n"),
        ("openai:m,base_url=http://127.0.0.1:9/v1,max_retries=0", 2, "connection failed"),
        ("nothing", 2, "It cannot be used: nothing: expected local"),
    ],
)
def test_command__ends_with_the_status(spec: str, status: int, says: str):
    result = CliRunner().invoke(app, ["models", "check", spec])
    assert result.exit_code == status
    assert says in result.output


def test_command__prints_json():
    result = CliRunner().invoke(app, ["models", "check", "tests.doubles:Crafter", "--json"])
    check = json.loads(result.output)
    assert (check["status"], check["episode"], check["form"]) == (0, "won in 4 steps", "line")


PAGE = Path(__file__).parents[2] / "docs" / "first_model.md"
BLOCK = re.compile(
    r"(?s)(?P<head><!-- check: (?P<server>[\w. ]+) -->\n\n```text\n\$ textcraft-gym models check (?P<command>[^\n]*)\n)"
    r".*?```\n"
)


def printed(server: str, command: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a command of the page prints, of a server of the zoo in place of the one that it
    names."""
    monkeypatch.setenv("OPENAI_API_KEY", "" if server == "no key" else KEY)
    with serving(ZOO[server].answer if server in ZOO else plain) as answering:
        address = answering.address
        if server != "nobody":
            return run(command, address, monkeypatch)
    return run(command, address, monkeypatch)


def run(command: str, address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a command of the page prints where its address is another; durations are made
    up."""
    named = re.search(r"https?://[^/,\s]+", command)
    shown = named[0] if named else "https://api.openai.com"
    monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
    result = CliRunner().invoke(
        app, ["models", "check", *shlex.split(command.replace(shown, address))]
    )
    output = result.stdout.replace(address, shown).replace(
        urlsplit(address).netloc, urlsplit(shown).netloc
    )
    return re.sub(r"\b\d+\.\d s\b", "0.4 s", output)


def test_page__prints_what_the_check_prints(monkeypatch: pytest.MonkeyPatch):
    """``FIRST_MODEL=write pytest tests/cli/test_model_check.py -k page`` writes the outputs
    anew."""
    monkeypatch.setattr(openai_compatible, "MAX_BACKOFF", 0.0)
    monkeypatch.setattr(tables.console, "width", tables.UNLIMITED)
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(page)) == page.count("<!-- check:") == page.count("```text") > 10

    def anew(block: re.Match[str]) -> str:
        return block["head"] + printed(block["server"], block["command"], monkeypatch) + "```\n"

    written = BLOCK.sub(anew, page)
    if os.environ.get("FIRST_MODEL") == "write":
        PAGE.write_text(written, encoding="utf-8")
        return
    assert written == page


WRITTEN = {
    "plain": "a bare line",
    "label": "a label",
    "thought and action": "a label, words before",
    "inline code": "inline code",
    "bold": "bold",
    "quotes": "quotes",
    "full stop": "other signs",
    "code block in prose": "a code block, words before and after",
    "JSON in a code block": "a code block, JSON",
    "tags": "tags",
    "imagines the game": "a prompt mark, words after",
    "calls for a browser": "no command",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_answers__say_how_commands_are_written(name: str):
    with spec_of(ZOO[name]) as spec:
        check = check_model(spec)
    assert check.answers == {WRITTEN[name]: check.replies}


def thinks_unseen(tokens: int | None) -> Answer:
    """Answer after reasoning that nobody sees, with or without its number of tokens."""

    def answer(request: Request) -> Reply:
        enough = token_limit(request) > 900
        usage = (
            {}
            if tokens is None
            else {"usage": {"completion_tokens_details": {"reasoning_tokens": tokens}}}
        )
        text, finish_reason = (next_words(request).text, "stop") if enough else ("", "length")
        return sends(completion(request, text, finish_reason=finish_reason) | usage)

    return answer


REASONING = {
    "none seen": plain,
    "in the text, 20 words at most": ZOO["think tags"].answer,
    "apart, 20 words at most": ZOO["reasoning part"].answer,
    "hidden": thinks_unseen(None),
    "hidden, 700 tokens at most": thinks_unseen(700),
}


@pytest.mark.parametrize("where", REASONING)
def test_reasoning__is_found_where_it_stands(where: str):
    with serving(REASONING[where]) as server:
        check = check_model(f"openai:m,base_url={server.url}")
    assert (check.status, check.reasoning) == (0, where)
    assert ("reasoning_tokens=4096" in check.spec) == (where != "none seen")
