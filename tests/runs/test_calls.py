from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.doubles import Crafter
from textcraft_gym import RunSpec, evaluate, read_calls
from textcraft_gym.agents.contract.model import Completion, Dialogue, ModelLimit
from textcraft_gym.agents.redaction import register
from textcraft_gym.cli.app import app
from textcraft_gym.episodes.calls import Call
from textcraft_gym.reports.calls import FILE, Calls
from textcraft_gym.reports.records import Key, key_of, read_records

ADAPT = RunSpec(
    "TextCraft-v0", "test", "adapt", model="tests.doubles:Crafter,reach=2", limit=6, workers=2
)


class Listening(Crafter):
    """A player that remembers what it read."""

    def __init__(self, form: Any) -> None:
        super().__init__(reach=2)
        self.form = form
        self.read: list[Any] = []

    def complete(self, prompt: Any, **how: Any) -> Completion:
        self.read.append(prompt)
        return super().complete(prompt, **how)


def untimed(calls: Calls) -> dict[Key, list[Call]]:
    return {key: [replace(call, seconds=0.0) for call in calls[key]] for key in calls}


def node_at(trace: dict[str, Any], path: list[int]) -> dict[str, Any]:
    for index in path:
        trace = trace["parts"][index]
    return trace


@pytest.mark.parametrize("form", ["line", "chat"])
def test_evaluate__keeps_every_call_as_the_model_read_it(tmp_path: Path, form: str):
    model = Listening(form)
    records = evaluate(replace(ADAPT, model=model, workers=1), tmp_path)
    calls = [call for record in records for call in read_calls(tmp_path, key_of(record))]
    assert len(calls) == len(model.read) > 40
    for call, prompt in zip(calls, model.read, strict=True):
        if form == "line" or not isinstance(prompt, Dialogue):
            assert call.prompt == prompt
        else:
            messages = [
                {"role": message.role, "content": message.content} for message in prompt.messages
            ]
            assert call.prompt == messages
    for record in records:
        of_episode = read_calls(tmp_path, key_of(record))
        assert Counter(call.role for call in of_episode) == record["calls"]
        assert (
            sum(call.tokens["prompt_tokens"] for call in of_episode)
            == (record["tokens"]["prompt_tokens"])
        )
        # Each is in its part of the trace, before the action that it led to.
        of_nodes = Counter(tuple(call.place[:-1]) for call in of_episode)
        for path, count in of_nodes.items():
            assert node_at(record["trace"], list(path))["calls"] == count
        for call in of_episode:
            following = node_at(record["trace"], call.place[:-1])["parts"][call.place[-1] :]
            entries = [part for part in following if type(part) is int]
            assert not entries or entries[0] == call.entry
    assert {call.finish_reason for call in calls} == {"stop"}


@pytest.mark.parametrize("backend", ["loop", "process"])
def test_calls__are_whole_after_a_run_was_cut_off(tmp_path: Path, backend: str):
    evaluate(ADAPT, tmp_path / "whole")
    whole = untimed(Calls(tmp_path / "whole"))
    cut = tmp_path / "cut"
    evaluate(ADAPT, cut)
    # Killed while the calls of the fourth episode were written, before its record was.
    lines = (cut / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (cut / "episodes.jsonl").write_bytes(b"".join(lines[:3]))
    content = (cut / FILE).read_bytes()
    third = sum(Calls(cut).size(key) for key in list(Calls(cut))[:3])
    (cut / FILE).write_bytes(content[: third + 100])
    assert len(Calls(cut)) == 3
    evaluate(replace(ADAPT, backend=backend, workers=1), cut)
    assert untimed(Calls(cut)) == whole
    gzip.decompress((cut / FILE).read_bytes())  # nothing of the fourth is left in between
    assert len(whole) == 6


def test_calls__are_kept_only_where_there_are_some_and_they_are_wanted(tmp_path: Path):
    command = "evaluate --env TextCraft-v0 --split test --agent react --limit 1 --no-calls"
    model = ["--model", "tests.doubles:Crafter", "--out", str(tmp_path / "without")]
    assert CliRunner().invoke(app, [*command.split(), *model]).exit_code == 0
    evaluate(RunSpec("TextCraft-v0", "test", "expert", limit=2), tmp_path / "expert")
    for name in ("without", "expert"):
        assert not (tmp_path / name / FILE).exists()
        assert dict(Calls(tmp_path / name)) == {}
        key = key_of(read_records(tmp_path / name)[0])
        assert read_calls(tmp_path / name, key) == []


class Refusing:
    """Answers once, and then meets its limit."""

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, prompt: Any, **how: Any) -> Completion:
        self.asked += 1
        if self.asked == 1:
            return Completion(
                "inventory", {"prompt_tokens": 3}, reasoning="my key: sk-0123456789ab"
            )
        raise ModelLimit("context length exceeded by sk-0123456789ab", "context")


def test_calls__have_reasoning_and_errors_and_no_secrets(tmp_path: Path):
    register("sk-0123456789ab")
    spec = replace(ADAPT, agent="react", model=Refusing(), limit=1)
    (record,) = evaluate(spec, tmp_path)
    first, second = read_calls(tmp_path, key_of(record))
    assert (first.text, first.reasoning, first.error) == ("inventory", "my key: ...", None)
    assert second.error == "ModelLimit: context length exceeded by ..."
    assert b"0123456789" not in gzip.decompress((tmp_path / FILE).read_bytes())


def act(observation: str) -> Any:
    messages = [{"role": "user", "content": observation}]
    return "inventory", {"prompt": messages, "text": "> inventory", "prompt_tokens": 12}


def test_calls__of_your_own_agent_are_kept_if_it_says_what_it_asked(tmp_path: Path):
    (record,) = evaluate(RunSpec("TextCraft-v0", "test", act, limit=1, max_steps=2), tmp_path)
    first, second = read_calls(tmp_path, key_of(record))
    assert (first.text, first.tokens, first.entry) == ("> inventory", {"prompt_tokens": 12}, 1)
    assert first.prompt == [{"role": "user", "content": record["transcript"][0][1]}]
    assert (second.entry, second.place) == (2, [2])
