from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import pytest

from tests.doubles import CRAFTER, Crafter
from tests.foreign_worlds import SayEnv, Word
from textcraft_gym import UnknownName
from textcraft_gym.agents.baselines.explorer import ExplorerAgent
from textcraft_gym.agents.contract.agent import AgentLike, Play, Routine
from textcraft_gym.agents.contract.model import Completion, ModelError
from textcraft_gym.agents.prompts import PromptError
from textcraft_gym.errors import RunError
from textcraft_gym.reports.records import read_config, read_records, without_timing
from textcraft_gym.runs.backends.loop import LoopBackend
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

TEN = RunSpec("TextCraft-v0", "test", "random", limit=10, max_steps=15)


class Idle:
    """Looks at its empty hands for ever."""

    def episode(self, play: Play) -> Routine:
        while True:
            yield from play.act("inventory")


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]


def untimed(records: list[dict]) -> list[dict]:
    """Return what is the same when the episodes are played again, as a file holds it."""
    return json.loads(json.dumps([without_timing(record) for record in records]))


def test_evaluate__writes_config_episodes_summary_and_report(tmp_path: Path):
    records = evaluate(RunSpec("TextCraft-v0", "test", "expert", limit=6), tmp_path / "run")
    folder = tmp_path / "run"
    assert lines(folder) == json.loads(json.dumps(records)) == list(read_records(folder))
    assert [r["task"] for r in records] == sorted(r["task"] for r in records)
    assert [r["group"] for r in records] == [f"depth {r['depth']}" for r in records]
    assert all(r["won"] and r["reward"] == 1 and r["steps"] == r["optimal_length"] for r in records)
    assert json.loads((folder / "summary.json").read_text())["all"]["rate"] == 1.0
    assert "| all | 6 | 6 | 100.0 |" in (folder / "report.md").read_text()
    config = read_config(folder)
    assert (config["env"], config["split"], config["agent"], config["seed"]) == (
        "TextCraft-v0",
        "test",
        "expert",
        0,
    )


def test_evaluate__records_every_action_as_it_was_played(tmp_path: Path):
    (record,) = evaluate(RunSpec("TextCraft-v0", "test", "expert", limit=1), tmp_path)
    assert record["transcript"][0][0] is None
    assert record["transcript"][0][1].startswith("Crafting commands:")
    assert len(record["transcript"]) == record["steps"] + 1
    assert record["transcript"][-1][1].startswith("Crafted")
    assert (record["trace"]["task"], record["trace"]["steps"]) == (record["task"], record["steps"])


def test_evaluate__lifts_the_registered_limit_only_as_far_as_asked(tmp_path: Path):
    (long,) = evaluate(
        RunSpec("TextCraft-v0", "test", limit=1, max_steps=150, agent=Idle()), tmp_path / "long"
    )
    (usual,) = evaluate(RunSpec("TextCraft-v0", "test", limit=1, agent=Idle()), tmp_path / "usual")
    assert (long["steps"], long["stop_reason"]) == (150, "max_steps")
    assert (usual["steps"], usual["stop_reason"]) == (100, "max_steps")
    assert read_config(tmp_path / "long")["max_steps"] == 150
    assert read_config(tmp_path / "usual")["max_steps"] == 100
    evaluate(RunSpec("TextCraft-v0", "test", "react", model=None, limit=1), tmp_path / "react")
    assert read_config(tmp_path / "react")["max_steps"] == 1000


def test_evaluate__goes_on_where_an_earlier_run_stopped(tmp_path: Path):
    whole = evaluate(TEN, tmp_path / "whole")
    evaluate(TEN, tmp_path / "cut")
    kept = (tmp_path / "cut" / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut" / "episodes.jsonl").write_bytes(b"".join(kept[:4]) + kept[4][:20])
    new = []
    assert untimed(evaluate(TEN, tmp_path / "cut", on_episode=new.append)) == untimed(whole)
    assert [r["task"] for r in new] == [r["task"] for r in whole[4:]]
    assert untimed(lines(tmp_path / "cut")) == untimed(lines(tmp_path / "whole"))


def kill_after_three(folder: Path, code: str, *arguments: Path) -> int:
    """Run code in a process, kill it when the folder has three episodes, and return how many it has
    then."""
    run = subprocess.Popen([sys.executable, "-c", code, *map(str, (folder, *arguments))])
    episodes = folder / "episodes.jsonl"
    deadline = time.monotonic() + 30
    while (
        not episodes.exists() or episodes.read_bytes().count(b"\n") < 3
    ) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    return episodes.read_bytes().count(b"\n")


def test_evaluate__loses_and_doubles_nothing_when_killed(tmp_path: Path):
    code = (
        "import sys, time; from textcraft_gym.runs.runner import *;"
        f"evaluate({TEN!r}, sys.argv[1], on_episode=lambda record: time.sleep(0.1))"
    )
    before = kill_after_three(tmp_path / "killed", code)
    assert 3 <= before < 10
    new = []
    evaluate(TEN, tmp_path / "killed", on_episode=new.append)
    assert len(new) == 10 - before
    assert untimed(lines(tmp_path / "killed")) == untimed(evaluate(TEN, tmp_path / "whole"))


def test_evaluate__with_workers_loses_and_doubles_nothing_when_killed(tmp_path: Path):
    """The cassette keeps what was paid for: the second run asks only what the first had not been
    answered."""
    config = RunSpec(
        "TextCraft-v0", "test", "adapt", model="tests.doubles:Crafter,reach=2", limit=8
    )
    tape = str(tmp_path / "tape.sqlite")
    spec = replace(config, workers=4, cassette=tape)
    code = (
        "import sys, time; from textcraft_gym.runs.runner import *;"
        f"evaluate({spec!r}, sys.argv[1], on_episode=lambda record: time.sleep(0.1))"
    )
    before = kill_after_three(tmp_path / "killed", code)
    assert 3 <= before < 8
    new = []
    went_on = evaluate(
        replace(config, workers=4, cassette=tape), tmp_path / "killed", on_episode=new.append
    )
    assert len(new) == 8 - before
    assert untimed(went_on) == untimed(evaluate(config, tmp_path / "whole"))


def test_evaluate__replays_a_run_from_its_cassette(tmp_path: Path):
    config = RunSpec(
        "TextCraft-v0", "test", "reflexion", model="tests.doubles:Crafter,reach=2", limit=4
    )
    tape = tmp_path / "tape.sqlite"
    recorded = evaluate(replace(config, cassette=tape), tmp_path / "one")
    replayed = evaluate(
        replace(config, cassette=tape, replay_only=True, workers=2), tmp_path / "two"
    )
    assert untimed(replayed) == untimed(recorded)
    other = RunSpec(
        "TextCraft-v0", "test", "react", model="tests.doubles:Crafter,reach=2", seed=1, limit=4
    )
    broken = evaluate(replace(other, cassette=tape, replay_only=True), tmp_path / "three")
    assert all("holds no answer" in record["error"] for record in broken)


def test_evaluate__comes_to_the_same_with_any_number_of_workers(tmp_path: Path):
    config = RunSpec(
        "TextCraft-v0", "test", "try_again", model="tests.doubles:Crafter,reach=2", limit=12
    )
    alone, by_five = (
        evaluate(config, tmp_path / "one"),
        evaluate(replace(config, workers=5), tmp_path / "five"),
    )
    assert untimed(alone) == untimed(by_five)
    assert (
        json.loads((tmp_path / "one" / "summary.json").read_text())["all"]["calls"]["executor"] > 0
    )
    with pytest.raises(ValueError, match="workers of 1 or more"):
        evaluate(replace(config, workers=0), tmp_path / "none")


def test_evaluate__asks_planner_and_executor_of_different_models(tmp_path: Path):
    config = RunSpec(
        "TextCraft-v0",
        "test",
        "adapt",
        model=f"{CRAFTER},reach=1",
        planner=f"{__name__}:Falsy",
        limit=20,
    )
    poor, good = (
        evaluate(config, tmp_path / "poor"),
        evaluate(replace(config, planner=None), tmp_path / "good"),
    )
    assert sum(record["won"] for record in poor) < sum(record["won"] for record in good)


def test_evaluate__keeps_no_key_in_the_run_folder(tmp_path: Path):
    config = RunSpec(
        "TextCraft-v0", "test", model="openai:m,api_key=secret,timeout=5", limit=1, max_calls=0
    )
    evaluate(config, tmp_path)
    evaluate(config, tmp_path)
    assert "secret" not in "".join(file.read_text() for file in tmp_path.iterdir())
    assert read_config(tmp_path)["model"] == "openai:m,api_key=...,timeout=5"


def test_evaluate__records_whole_episodes_also_of_what_broke(tmp_path: Path):
    class Failing:
        calls = 0

        def complete(self, prompt, **how):
            self.calls += 1
            if self.calls > 3:
                raise ModelError("the server is on fire")
            return Completion("think: hm", {"prompt_tokens": 7}, 0.5)

    config = RunSpec("TextCraft-v0", "test", "adapt", limit=2)
    first, second = evaluate(replace(config, model=Failing()), tmp_path)
    assert (read_config(tmp_path)["model"], read_config(tmp_path)["planner"]) == ("Failing", None)
    assert first["error"] == second["error"] == "ModelError: the server is on fire"
    assert (first["stop_reason"], first["calls"], first["tokens"], first["cost"]) == (
        "error",
        {"executor": 4},
        {"prompt_tokens": 21},
        1.5,
    )
    (task,) = [part for part in first["trace"]["parts"] if isinstance(part, dict)]
    assert task["parts"][0]["parts"] == ["think: hm"] * 3
    summary = json.loads((tmp_path / "summary.json").read_text())["all"]
    assert (summary["episodes"], summary["errors"], summary["rate"], summary["cost"]) == (
        0,
        2,
        None,
        1.5,
    )


def test_evaluate__plays_with_prompts_of_a_folder_and_records_which(tmp_path: Path):
    prompts = tmp_path / "prompts" / "react"
    prompts.mkdir(parents=True)
    (prompts / "textcraft.txt").write_text("{situation} {task} {information}")
    config = RunSpec(
        "TextCraft-v0", "test", "react", model=CRAFTER, prompts=str(tmp_path / "prompts"), limit=1
    )
    (record,) = evaluate(config, tmp_path / "run")
    assert record["calls"] == {"executor": 1}
    (prompts / "textcraft.txt").write_text("{situation} {task}. {information}")
    with pytest.raises(RunError, match="prompts_sha256"):
        evaluate(config, tmp_path / "run")
    with pytest.raises(PromptError, match="has no prompt that expert reads"):
        evaluate(replace(config, agent="expert"), tmp_path / "expert")


def test_evaluate__refuses_a_folder_of_another_run(tmp_path: Path):
    evaluate(TEN, tmp_path)
    with pytest.raises(RunError, match=r"max_steps: 15, now 20"):
        evaluate(RunSpec("TextCraft-v0", "test", "random", limit=10, max_steps=20), tmp_path)


def test_evaluate__refuses_to_go_on_with_other_recipes(tmp_path: Path):
    recipes = tmp_path / "pack" / "recipes"
    recipes.mkdir(parents=True)

    def write(makes: int) -> None:
        for name, part in (("a", "x"), ("b", "a"), ("c", "b")):
            result = {"item": name, "count": makes}
            data = {"type": "crafting_shapeless", "ingredients": [{"item": part}], "result": result}
            (recipes / f"{name}.json").write_text(json.dumps(data))

    config = RunSpec("TextCraft-v0", "all", "expert", env_args={"recipes": str(tmp_path / "pack")})
    write(1)
    assert len(evaluate(config, tmp_path / "run")) == 2
    write(2)
    with pytest.raises(RunError, match="env_sha256"):
        evaluate(config, tmp_path / "run")


class Fragile:
    """Breaks on its second, third and later tasks until it is mended."""

    broken = True
    met = 0

    def episode(self, play: Play) -> Routine:
        self.met += 1
        if self.broken and self.met > 1:
            raise RuntimeError("a bug in the agent")
        yield from play.act("inventory")
        return False


def test_evaluate__counts_what_broke_apart_and_plays_it_again(tmp_path: Path):
    agent = Fragile()
    config = RunSpec("TextCraft-v0", "dev", "fragile", limit=4)
    records = evaluate(replace(config, agent=agent), tmp_path)
    assert [record.get("error") for record in records] == [None] + [
        "RuntimeError: a bug in the agent"
    ] * 3
    assert "in episode" in records[1]["traceback"]
    summary = json.loads((tmp_path / "summary.json").read_text())["all"]
    assert (summary["episodes"], summary["errors"], summary["rate"]) == (1, 3, 0.0)
    agent.broken = False
    records = evaluate(replace(config, agent=agent), tmp_path)
    assert [record.get("error") for record in records] == [None] * 4
    assert json.loads((tmp_path / "summary.json").read_text())["all"]["episodes"] == 4
    assert len(lines(tmp_path)) == 7
    assert len(read_records(tmp_path)) == 4


def test_evaluate__names_the_agents_there_are(tmp_path: Path):
    with pytest.raises(UnknownName, match=r"unknown agent 'exprt'. Did you mean expert"):
        evaluate(RunSpec("TextCraft-v0", "dev", "exprt"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("agent", ["explorer", ExplorerAgent, ExplorerAgent()])
def test_evaluate__refuses_an_agent_of_other_games(tmp_path: Path, agent: AgentLike):
    said = "^(explorer|ExplorerAgent) does not play TextCraft-v0: it plays alfworld only$"
    with pytest.raises(ValueError, match=said):
        evaluate(RunSpec("TextCraft-v0", "dev", agent), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_evaluate__passes_env_args_on(tmp_path: Path):
    config = RunSpec("TextCraft-v0", "test", "expert", env_args={"distractors": 0}, limit=1)
    (record,) = evaluate(config, tmp_path)
    (other,) = evaluate(RunSpec("TextCraft-v0", "test", "expert", limit=1), tmp_path / "other")
    assert len(record["transcript"][0][1]) < len(other["transcript"][0][1])


def test_evaluate__makes_an_error_of_a_record_that_cannot_be_written(tmp_path: Path):
    class Odd:
        def episode(self, play: Play) -> Routine:
            play.node.tokens = object()
            yield from play.act("inventory")
            return False

    records = evaluate(RunSpec("TextCraft-v0", "dev", limit=2, agent=Odd()), tmp_path)
    assert all("cannot be written" in record["error"] for record in records)
    assert lines(tmp_path) == records


def test_evaluate__counts_what_a_record_that_cannot_be_written_cost(tmp_path: Path):
    class Odd:
        def episode(self, play: Play) -> Routine:
            yield from play.ask("?")
            play.node.tokens = object()
            return False

    class Costly:
        def complete(self, prompt, **how):
            return Completion("x", {}, 1.5)

    (record,) = evaluate(
        RunSpec("TextCraft-v0", "dev", limit=1, agent=Odd(), model=Costly()), tmp_path
    )
    assert "cannot be written" in record["error"]
    assert record["cost"] == 1.5


def test_evaluate__refuses_a_folder_that_another_run_made_meanwhile(tmp_path: Path):
    class Slow(LoopBackend):
        """While it starts, another process plays in the folder."""

        def __init__(self, other: RunSpec) -> None:
            self.other = other

        def open(self, run: Run):
            evaluate(self.other, tmp_path / "run")
            return super().open(run)

    with pytest.raises(RunError, match="holds another run"):
        evaluate(replace(TEN, agent="expert", backend=Slow(TEN)), tmp_path / "run")
    assert len(lines(tmp_path / "run")) == 10
    shutil.rmtree(tmp_path / "run")
    evaluate(replace(TEN, backend=Slow(TEN)), tmp_path / "run")
    assert len(lines(tmp_path / "run")) == 10  # the same run: nothing is played again


def test_evaluate__refuses_episodes_of_an_unknown_run(tmp_path: Path):
    evaluate(TEN, tmp_path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(RunError, match=r"holds episodes but no config\.json"):
        evaluate(TEN, tmp_path)


class Deaf(SayEnv):
    """Plays its first task, whichever it is asked for."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options={"task": "hi"})


def test_evaluate__records_as_an_error_that_another_task_was_played(tmp_path: Path):
    gym.register("Deaf-v0", entry_point=Deaf)
    try:
        records = evaluate(RunSpec("Deaf-v0", agent=Idle(), max_steps=2), tmp_path)
    finally:
        gym.registry.pop("Deaf-v0")
    assert [(record["task"], record["error"]) for record in records] == [
        ("hi", None),
        ("ho", "ValueError: expected the task 'ho', but the environment plays 'hi'"),
    ]


class Falsy:
    """A model that is empty, as a list would be, and yet one."""

    def __len__(self) -> int:
        return 0

    def complete(self, prompt, **how):
        return Completion("Task completed!")


def test_evaluate__takes_a_model_for_one_even_if_it_is_empty(tmp_path: Path):
    config = RunSpec("TextCraft-v0", "test", "react", limit=3)
    for name, model in (("one", Falsy()), ("roles", {"executor": Falsy()})):
        records = evaluate(replace(config, model=model), tmp_path / name)
        assert [(record["claimed_success"], record["won"]) for record in records] == [
            (True, False)
        ] * 3
        assert read_config(tmp_path / name)["model"] == "Falsy"


def test_evaluate__names_every_model_that_it_was_given(tmp_path: Path):
    config = RunSpec("TextCraft-v0", "test", "reflexion", limit=1)
    evaluate(replace(config, model={"executor": Falsy(), "reflection": Crafter(2)}), tmp_path)
    config_of_run = read_config(tmp_path)
    assert (config_of_run["model"], config_of_run["planner"]) == (
        "Falsy",
        "reflection tests.doubles:Crafter,reach=2",
    )


def test_evaluate__counts_what_errors_cost_also_when_they_are_played_again(tmp_path: Path):
    class Costly:
        broken = True
        calls = 0

        def complete(self, prompt, **how):
            self.calls += 1
            if self.broken and self.calls % 2 == 0:
                raise ModelError("down")
            return Completion("think: hm" if self.broken else "task failed!", {}, 1.0)

    model = Costly()
    config = RunSpec("TextCraft-v0", "test", "react", limit=2)
    assert all(record["error"] for record in evaluate(replace(config, model=model), tmp_path))
    model.broken = False
    evaluate(replace(config, model=model), tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())["all"]
    assert (summary["episodes"], summary["cost"]) == (2, 4.0)


@pytest.mark.parametrize("change", [{"limit": -3}, {"limit": 0}, {"seed": -1}])
def test_evaluate__refuses_numbers_that_make_no_sense(tmp_path: Path, change: dict):
    with pytest.raises(ValueError, match="or more"):
        evaluate(replace(TEN, **change), tmp_path / "run")
    assert not (tmp_path / "run").exists()


class Twice(SayEnv):
    """Lists a word twice."""

    def __init__(self, split: str = "twice") -> None:
        super().__init__()
        self.tasks = [Word("hi"), Word("ho"), Word("hi")] if split == "twice" else []


def test_evaluate__refuses_tasks_of_one_id_and_a_world_without_tasks(tmp_path: Path):
    gym.register("Twice-v0", entry_point=Twice)
    try:
        with pytest.raises(
            ValueError, match=r"^Twice-v0 lists 2 tasks with the id 'hi': expected one$"
        ):
            evaluate(RunSpec("Twice-v0", "twice"), tmp_path / "run")
        with pytest.raises(ValueError, match=r"^Twice-v0 has no tasks to play in its split none$"):
            evaluate(RunSpec("Twice-v0", "none"), tmp_path / "run")
    finally:
        gym.registry.pop("Twice-v0")
    assert not (tmp_path / "run").exists()
