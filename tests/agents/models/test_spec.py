from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.agents.models.server import says, serving
from textcraft_gym.agents.contract.agent import Message, Model, ModelError
from textcraft_gym.agents.models.cassette import Cassette
from textcraft_gym.agents.models.openai_compatible import OpenAIModel, Price
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.agents.simulated import SimulatedModel

HOW = {"stop": ("\n",), "max_tokens": 5, "temperature": 0.0, "sample": 0}


def test_make_model__simulated():
    model = make_model("simulated:span=3")
    assert isinstance(model, SimulatedModel)
    assert (model.span, model.name) == (3, "simulated:span=3")
    assert isinstance(make_model("simulated"), SimulatedModel)


def test_make_model__openai_with_options():
    with serving(says("get 1 log", {"prompt_tokens": 1_000_000, "completion_tokens": 500_000})) as server:
        options = "api_key=k,max_retries=0,price=0.5/2,endpoint=completion"
        model = make_model(f"openai:llama,base_url={server.url},{options}")
        assert isinstance(model, OpenAIModel)
        assert (model.name, model.price) == ("llama", Price(0.5, 2.0))
        completion = model.complete("p", **HOW)
        model.close()
    assert (completion.text, completion.cost) == ("get 1 log", 1.5)
    assert server.requests[0]["path"] == "/v1/completions"


def test_make_model__openai_sends_a_dialogue_as_it_is():
    with serving(says("yes")) as server:
        model = make_model(f"openai:llama,base_url={server.url},api_key=k")
        model.complete([Message("system", "be brief"), Message("user", "well?")], **HOW)
        model.close()
        model = make_model(f"openai:llama,base_url={server.url},api_key=k,endpoint=completion")
        model.complete([Message("system", "be brief"), Message("user", "well?")], **HOW)
        model.close()
    chat, completion = server.requests
    assert chat["messages"] == [{"role": "system", "content": "be brief"}, {"role": "user", "content": "well?"}]
    assert completion["prompt"] == "be brief\n\nwell?"


def test_make_model__a_class_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_models.py").write_text(
        "from textcraft_gym.agents.contract.agent import Completion\n"
        "class Parrot:\n"
        "    def __init__(self, word='hi', times=1): self.text = word * times\n"
        "    def complete(self, prompt, **how): return Completion(self.text)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert make_model("my_models:Parrot,word=ha,times=2").complete("p", **HOW).text == "haha"
    for spec, message in (
        ("my_models:Cat", "Cat"),
        ("my_models:Parrot,size=2", "size"),
        ("no_such:Cat", "no_such"),
    ):
        with pytest.raises(ModelError, match=message):
            make_model(spec)
    sys.modules.pop("my_models")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "expected simulated"),
        ("simulated:3", "span=3"),
        ("simulated:span=0", "1 or more"),
        ("simulated:spam=3", "spam"),
        ("openai", "expected simulated"),
        ("openai:m,api_key=k,price=cheap", "cheap"),
        ("openai:m,api_key=k,endpoint=talk", "endpoint"),
        ("openai:m,api_key", "KEY=VALUE"),
        ("openai:m,api_key=secret,x=1", "openai:m,api_key=...,x=1"),
    ],
)
def test_make_model__says_what_is_wrong(spec: str, message: str):
    with pytest.raises(ModelError, match=message):
        make_model(spec)


def test_make_model__says_that_the_key_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        make_model("openai:m")


def test_make_model__records_and_replays_without_server_or_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tape = tmp_path / "tape.sqlite"

    def ask(model: Model, prompt: str) -> str:
        assert isinstance(model, Cassette)
        try:
            return model.complete(prompt, **HOW).text
        finally:
            model.close()

    with serving(says("get 1 log")) as server:
        spec = f"openai:llama,base_url={server.url},api_key=k,max_retries=0"
        assert ask(make_model(spec, cassette=tape), "p") == "get 1 log"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    same = f"openai:llama,base_url={server.url},price=1/2"
    assert ask(make_model(same, cassette=tape, replay_only=True), "p") == "get 1 log"
    for spec, prompt in ((same, "another"), (f"{same},endpoint=completion", "p"), ("openai:llama", "p")):
        with pytest.raises(ModelError, match="holds no answer"):
            ask(make_model(spec, cassette=tape, replay_only=True), prompt)
    with pytest.raises(ModelError, match="name the cassette"):
        make_model("openai:llama", replay_only=True)
