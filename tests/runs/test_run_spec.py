"""One value holds every option of a run, wherever the run is asked for."""

from __future__ import annotations

import inspect
import json
import pickle
import re
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tests.doubles import CRAFTER, Crafter
from textcraft_gym import RunSpec, UnknownName, evaluate, rollouts
from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.model import Completion, ModelError
from textcraft_gym.agents.models import weights
from textcraft_gym.agents.models.cassette import Cassette
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.cli.app import app
from textcraft_gym.errors import RunError
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.runs.run import Run
from textcraft_gym.verify.recheck import verify

REACT = RunSpec("TextCraft-v0", "test", "react", model=f"{CRAFTER},reach=9", limit=2)


def options(command: str) -> set[str]:
    parameters = get_command(app).get_command(None, command).params  # type: ignore[attr-defined]
    return {option for parameter in parameters for option in parameter.opts}


def test_commands__have_an_option_for_each_field():
    flags = {
        f"--{field.metadata['flag'] or field.name.replace('_', '-')}" for field in fields(RunSpec)
    }
    assert flags <= options("evaluate")
    assert flags - {"--agent"} <= options("sweep")
    assert all(field.metadata["help"].endswith(".") for field in fields(RunSpec))


def test_spec__is_a_value_that_travels():
    spec = replace(REACT, agent_args={"turns": 3}, wrappers=("TextHistory,turns=1",))
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert list(inspect.signature(RunSpec).parameters)[:3] == ["env", "split", "agent"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"workers": 0}, "workers of 1 or more"),
        ({"seed": -1}, "seed of 0 or more"),
        ({"limit": 0}, "limit of 1 or more"),
        ({"max_steps": 0}, "max_steps of 1 or more"),
        ({"max_calls": -1}, "max_calls of 0 or more"),
        ({"limit": "3"}, "expected limit to be a whole number, got '3'"),
        ({"seed": "0"}, "expected seed to be a whole number, got '0'"),
        ({"max_cost": "2"}, "expected max_cost to be a number, got '2'"),
        ({"episode_seconds": "2"}, "expected episode_seconds to be a number, got '2'"),
        ({"won_at": "1"}, "expected won_at to be a number, got '1'"),
        ({"temperature": "0.7"}, "expected temperature to be a number, got '0.7'"),
        ({"tasks": "minecraft:beehive"}, "tasks to be a sequence of ids, got 'minecraft:beehive'"),
        ({"agent_args": "turns=3"}, "expected agent_args to be a dictionary, got 'turns=3'"),
        ({"env_args": 3}, "expected env_args to be a dictionary, got 3"),
        ({"wrappers": "TextHistory"}, "wrappers to be a sequence of names, got 'TextHistory'"),
        ({"env_args": {"split": "dev"}}, "split is an option of the run"),
    ],
)
def test_spec__refuses_what_makes_no_sense(change: dict, message: str):
    with pytest.raises(ValueError, match=message):
        replace(REACT, **change)


def test_spec__hands_its_seed_to_models_that_draw(tmp_path: Path):
    slips = replace(
        REACT,
        model={"executor": f"{CRAFTER},slip=0.5", "planner": f"{CRAFTER},slip=0.5,seed=1"},
        seed=4,
    )
    assert {role: model.seed for role, model in slips.make_models().items()} == {
        "executor": 4,
        "planner": 1,
    }

    def transcripts(model: str, **how) -> list:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        evaluate(replace(REACT, model=model, limit=6, **how), folder)
        return sorted((record["task"], record["transcript"]) for record in read_records(folder))

    slipped = transcripts(f"{CRAFTER},reach=9,slip=0.2")
    assert slipped == transcripts(f"{CRAFTER},reach=9,slip=0.2,seed=0", workers=3)
    assert slipped != transcripts(f"{CRAFTER},reach=9,slip=0.2,seed=1")
    assert transcripts(f"{CRAFTER},reach=9,seed=0") == transcripts(f"{CRAFTER},reach=9,seed=1")


class Nameless:
    """Gives up."""

    def episode(self, play: Play) -> Routine:
        yield from play.ask("Hello")
        return False


@pytest.fixture
def no_local(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the packages of the default model missing."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)


@pytest.mark.parametrize("agent", ["expert", "random", lambda observation, info: "inventory"])
@pytest.mark.parametrize("model", ["local", "openai:m"])
def test_models__are_none_for_an_agent_that_asks_none(no_local, agent, model: str, tmp_path: Path):
    spec = RunSpec("TextCraft-v0", "dev", agent, model=model, limit=2)
    assert spec.make_models() == {}
    assert (spec.described()["model"], spec.described()["prompts"]) == (None, None)
    assert [record["error"] for record in evaluate(spec, tmp_path)] == [None] * 2


def test_models__of_an_agent_that_asks_are_made_before_it_plays(no_local, tmp_path: Path):
    with pytest.raises(
        ModelError,
        match=r"local needs the package xllamacpp .*; or name another one, as openai:MODEL",
    ):
        evaluate(RunSpec("TextCraft-v0", "dev", limit=1), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_models__that_are_missing_are_no_trouble_to_a_users_agent_before_it_asks(
    no_local, tmp_path: Path
):
    class Idle:
        def episode(self, play: Play) -> Routine:
            yield from play.act("inventory")
            return False

    (record,) = evaluate(RunSpec("TextCraft-v0", "dev", Idle(), limit=1), tmp_path / "idle")
    assert record["error"] is None
    with pytest.warns(
        UserWarning, match=r"cannot be asked \(ModelUnavailable: the model local needs the package"
    ):
        evaluate(RunSpec("TextCraft-v0", "dev", Nameless(), limit=1), tmp_path / "asks")
    with pytest.raises(ModelError, match="reach of 1 or more"):
        evaluate(
            RunSpec("TextCraft-v0", "dev", Idle(), model=f"{CRAFTER},reach=0"), tmp_path / "other"
        )


def test_described__names_objects_and_shows_no_key():
    described = replace(
        REACT, agent=Nameless(), model="openai:m,api_key=secret", planner=Crafter(2)
    ).described()
    assert (described["agent"], described["model"], described["planner"]) == (
        "Nameless",
        "openai:m,api_key=...",
        f"{CRAFTER},reach=2",
    )
    assert not {"workers", "backend", "cassette", "replay_only"} & described.keys()
    json.dumps(described)


def test_wrappers__stand_around_the_world(tmp_path: Path):
    plain = evaluate(REACT, tmp_path / "plain")
    wrapped = evaluate(
        replace(REACT, wrappers=("HelpfulFeedback", "TextHistory,turns=2")), tmp_path / "wrapped"
    )
    assert read_config(tmp_path / "wrapped")["wrappers"] == [
        "HelpfulFeedback",
        "TextHistory,turns=2",
    ]
    assert [record["task"] for record in plain] == [record["task"] for record in wrapped]
    assert wrapped[0]["transcript"][1][1] != plain[0]["transcript"][1][1]
    with pytest.raises(UnknownName, match="Did you mean TextHistory"):
        evaluate(replace(REACT, wrappers=("TextHistry",)), tmp_path / "none")
    with pytest.raises(ValueError, match="no_such"):
        evaluate(replace(REACT, wrappers=("no_such:Wrapper",)), tmp_path / "none")
    with pytest.raises(ValueError, match=r"TextHistory: .*length"):
        evaluate(replace(REACT, wrappers=("TextHistory,length=2",)), tmp_path / "none")
    masked = replace(REACT, wrappers=("ActionMasking,n=3",), env_args={"admissible": True})
    with pytest.raises(
        ValueError,
        match="expected an environment of text, but ActionMasking has a space of Discrete",
    ):
        evaluate(masked, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_rollouts__take_prompts_wrappers_and_a_cassette(tmp_path: Path):
    (tmp_path / "prompts" / "react").mkdir(parents=True)
    (tmp_path / "prompts" / "react" / "textcraft.txt").write_text(
        "{situation} {task} {information}"
    )
    spec = replace(
        REACT,
        prompts=tmp_path / "prompts",
        cassette=tmp_path / "tape.sqlite",
        wrappers=("HelpfulFeedback",),
    )
    (episode,) = rollouts(spec, [("minecraft:beehive", 0)])
    assert episode.calls == {"executor": 1}
    (again,) = rollouts(replace(spec, replay_only=True), [("minecraft:beehive", 0)])
    assert again == episode


class Terse:
    """A model that names its prompts."""

    prompts = "short"

    def complete(self, prompt, **how) -> Completion:
        return Completion("task failed!", {"prompt_tokens": len(prompt)})


TERSE = f"{__name__}:Terse"


@pytest.mark.parametrize("kind", ["spec", "object", "cassette"])
def test_prompts__are_the_set_that_the_executor_names(kind: str, tmp_path: Path):
    terse = {
        "spec": TERSE,
        "object": Terse(),
        "cassette": Cassette(tmp_path / "tape.sqlite", Terse()),
    }[kind]
    spec = replace(REACT, agent="adapt", model=terse)
    assert Run(spec).prompts.of("react", "textcraft") == Prompts("short").of("react", "textcraft")
    assert spec.described()["prompts"] == "short"
    # All roles read one set: the executor's, whatever the planner names, and that of the run before
    # both.
    assert replace(spec, planner=CRAFTER).prompt_source == "short"
    assert replace(spec, model={"executor": CRAFTER, "planner": terse}).prompt_source is None
    assert replace(spec, model={"planner": terse}).prompt_source is None
    assert replace(spec, prompts="standard").described()["prompts"] == "standard"


def test_prompts__are_short_with_the_local_adapter_that_was_trained_on_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(weights, "ADAPTERS", tmp_path)
    ours = [replace(REACT, model=model) for model in ("local", "local:threads=2,slots=1")]
    others = (
        "local:mine.gguf",
        "local:adapter=mine.gguf",
        "local:slots=1,adapter=none",
        "local:file=mine.gguf",
    )
    assert [spec.prompt_source for spec in ours] == [None, None]
    (tmp_path / "ours.gguf").touch()
    assert [spec.prompt_source for spec in ours] == ["short", "short"]
    assert [replace(REACT, model=model).prompt_source for model in others] == [None] * 4


def test_described__tells_the_files_of_a_local_model_from_others(tmp_path: Path):
    model, adapter = tmp_path / "m.gguf", tmp_path / "a.gguf"
    spec = replace(REACT, model=f"local:{model},adapter={adapter}", planner=f"local:{model}")
    assert spec.described()["model"] == spec.model  # as long as they are missing
    model.write_text("weights")
    adapter.write_text("before")
    before = spec.described()
    assert re.fullmatch(
        rf"{re.escape(str(spec.model))},digest=sha256-[0-9a-f]{{12}}", before["model"]
    )
    assert spec.described() == replace(spec, model=before["model"]).described() == before
    adapter.write_text("retrained")
    after = spec.described()
    assert after["model"] != before["model"]
    assert after["planner"] == before["planner"]


@pytest.mark.parametrize(
    "model", [CRAFTER, "openai:m", "no_such:Model", f"{CRAFTER},reach", None, Crafter()]
)
def test_prompts__are_standard_with_a_model_that_names_none(model):
    assert replace(REACT, model=model).described()["prompts"] is None


@pytest.mark.parametrize("agent", ["expert", "inner_monologue"])
def test_prompts__that_an_agent_does_not_find_in_a_set_are_no_error(agent: str):
    chosen = replace(REACT, agent=agent, prompts="short")
    assert Run(chosen).agent
    with pytest.raises(PromptError, match="no bundled set: standard, short"):
        _ = Run(replace(chosen, prompts="shorter")).agent


@pytest.mark.parametrize("backend", ["loop", "process"])
def test_run__records_the_set_of_its_prompts_and_goes_on_with_no_other(
    backend: str, tmp_path: Path
):
    spec = replace(REACT, model=TERSE, backend=backend)
    by_model = evaluate(spec, tmp_path / "run")
    assert read_config(tmp_path / "run")["prompts"] == "short"
    assert evaluate(replace(spec, prompts="short"), tmp_path / "run") == by_model
    with pytest.raises(RunError, match="prompts: 'short', now 'standard'"):
        evaluate(replace(spec, prompts="standard"), tmp_path / "run")
    assert not verify(tmp_path / "run").count  # it has no action to replay
    assert verify(tmp_path / "run", prompts="standard").count
    at_length = evaluate(replace(spec, prompts="standard"), tmp_path / "standard")
    assert at_length[0]["tokens"]["prompt_tokens"] > 2 * by_model[0]["tokens"]["prompt_tokens"]


def test_sweep__takes_what_evaluate_takes(tmp_path: Path):
    command = [
        "sweep",
        "--env",
        "TextCraft-v0",
        "--split",
        "test",
        "--agents",
        "react,adapt",
        "--model",
        CRAFTER,
    ]
    more = [
        "--limit",
        "2",
        "--agent-arg",
        "turns=2",
        "--wrapper",
        "HelpfulFeedback",
        "--max-steps",
        "7",
    ]
    tape = ["--cassette", str(tmp_path / "tape.sqlite"), "--backend", "process", "--workers", "2"]
    out = tmp_path / "sweep"
    result = CliRunner().invoke(
        app, [*command, *more, *tape, "--out", str(out)], catch_exceptions=False
    )
    assert result.exit_code == 0
    for folder in (out / "react_tests.doubles-Crafter", out / "adapt_tests.doubles-Crafter"):
        config = read_config(folder)
        assert config["agent_args"] == {"form": "line", "turns": 2}
        assert (config["max_steps"], config["wrappers"]) == (7, ["HelpfulFeedback"])
        assert len(read_records(folder)) == 2
    assert (tmp_path / "tape.sqlite").exists()


@pytest.mark.parametrize(
    ("model", "form"),
    [
        ("openai:m", "chat"),
        ("openai:m,endpoint=completion", "line"),
        ("inspect:openai/m", "chat"),
        (CRAFTER, "line"),
        ("local:chat=true", "chat"),
        ("local", "line"),
    ],
)
def test_described__says_in_which_form_the_model_is_talked_with(model: str, form: str):
    assert replace(REACT, model=model).described()["agent_args"] == {"form": form}
    assert replace(REACT, model=model, agent_args={"form": "tools"}).described()["agent_args"] == {
        "form": "tools"
    }
    assert replace(REACT, model=model, agent="deps").described()["agent_args"] == {}
