"""Everything that takes an id takes any environment of text that Gymnasium knows."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

from textcraft_gym import (
    RunSpec,
    TextEpisode,
    TextVectorEnv,
    UnknownName,
    evaluate,
    rollouts,
    starts,
    tasks,
)
from textcraft_gym.agents.registry import as_agent
from textcraft_gym.cli.app import app
from textcraft_gym.cli.demonstrations import demonstrations
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.reports.page import html_page
from textcraft_gym.reports.records import read_config
from textcraft_gym.runs.sweep import grid, sweep

SAY, GUESS = "tests.foreign_worlds:Say-v0", "tests.foreign_worlds:GuessDigit-v0"
POLITE = "tests.foreign_worlds:Polite"


def test_evaluate__plays_the_splits_and_groups_of_a_foreign_world(tmp_path: Path):
    records = evaluate(RunSpec(SAY, "all", POLITE), tmp_path / "all")
    assert [(record["task"], record["group"], record["won"]) for record in records] == [
        ("hi", "2 letters", True),
        ("ho", "2 letters", True),
        ("hello", "5 letters", True),
    ]
    config = read_config(tmp_path / "all")
    assert (config["env"], config["env_sha256"]) == (SAY, "words of 2026")
    assert len(evaluate(RunSpec(SAY, agent=POLITE), tmp_path / "default")) == 2
    assert read_config(tmp_path / "default")["split"] == "short"
    page = html_page({"run": records}, {"run": config})
    assert "5 letters" in page


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with a world, and a broken one."""
    (tmp_path / "hermits.py").write_text(
        "import gymnasium\n"
        "gymnasium.register('Hermit-v0', entry_point='tests.foreign_worlds:SayEnv')\n"
        "gymnasium.register('Ghost-v0', entry_point='tests.foreign_worlds:Nobody')\n"
    )
    info = tmp_path / "hermits-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hermits\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[textcraft_gym.worlds]\nHermit-v0 = hermits\nGhost-v0 = hermits\nLost-v0 = no_such_worlds\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("hermits", None)
    for env_id in ("Hermit-v0", "Ghost-v0"):
        gym.registry.pop(env_id, None)


@pytest.mark.usefixtures("package")
def test_find__imports_the_module_of_an_installed_package(tmp_path: Path):
    assert [task.id for task in tasks("Hermit-v0", "all")] == ["hi", "ho", "hello"]
    records = evaluate(RunSpec("Hermit-v0", "all", POLITE, limit=1), tmp_path / "run")
    assert (records[0]["task"], records[0]["won"]) == ("hi", True)
    with pytest.raises(UnknownName, match="Did you mean Hermit-v0"):
        find("Hermitt-v0")
    with pytest.raises(ValueError, match="environment Lost-v0: No module named 'no_such_worlds'"):
        find("Lost-v0")


@pytest.mark.usefixtures("package")
def test_make__of_gymnasium_takes_the_module_of_an_installed_package():
    assert gym.make("hermits:Hermit-v0").reset()[1]["task"] in ("hi", "ho")


@pytest.mark.usefixtures("package")
def test_envs__lists_the_worlds_of_installed_packages():
    with pytest.warns(UserWarning, match=r"(Lost|Ghost)-v0 is left out") as warned:
        printed = CliRunner().invoke(app, ["envs", "--json"])
    rows = {row["id"]: row for row in json.loads(printed.stdout)}
    assert rows["Hermit-v0"]["split"] == "short"
    assert {*BUNDLED} < rows.keys()
    assert not {"Lost-v0", "Ghost-v0"} & rows.keys()
    assert len(warned) == 2


def test_evaluate__plays_seeds_where_there_are_no_tasks(tmp_path: Path):
    from tests.foreign_worlds import guess_three

    spec = RunSpec(GUESS, agent=guess_three, seed=5, limit=40, won_at=1.0)
    records = evaluate(spec, tmp_path / "run")
    assert [record["task"] for record in records] == [f"seed {seed}" for seed in range(5, 45)]
    assert [record["seed"] for record in records] == list(range(5, 45))
    won = [record["won"] for record in records]
    assert won == [record["reward"] == 1 for record in records]
    assert 0 < sum(won) < 20
    new: list[dict] = []
    assert evaluate(spec, tmp_path / "run", on_episode=new.append) == records
    assert not new
    assert len(evaluate(RunSpec(GUESS, agent=guess_three), tmp_path / "many")) == 100


def test_processes__import_the_module_of_a_foreign_world(tmp_path: Path):
    records = evaluate(RunSpec(SAY, "all", POLITE, backend="process", workers=2), tmp_path)
    assert all(record["won"] for record in records)


class Misspelt:
    """An agent of a user, played as an ``OwnAgent``."""

    env_args = {"admisible": True}

    def act(self, observation: str) -> str:
        return observation


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "Maze-v0",
            r"MineDojo-v0\. `textcraft-gym envs` lists them\. One of your own is MODULE:ID, such as my_",
        ),
        ("maze", r"One of your own is MODULE:ID, such as my_module:My-v0"),
        ("no_such_module:Maze-v0", r"Expected MODULE:ID, the module in the working folder"),
        ("worlds/maze.py:Maze-v0", r"'worlds/maze\.py'\. Write worlds\.maze:Maze-v0\."),
    ],
)
def test_find__says_how_a_world_of_ones_own_is_named(name: str, said: str):
    with pytest.raises(UnknownName, match=said):
        find(name)


def test_others__take_a_foreign_world(tmp_path: Path):
    assert [task.id for task in tasks(SAY)] == ["hi", "ho"]
    assert [task.id for task in tasks(SAY, "long", loudly=True)] == ["hello"]
    with pytest.raises(ValueError, match="no list of tasks"):
        tasks(GUESS)
    (episode,) = rollouts(RunSpec(SAY, agent=POLITE), [("ho", 1)])
    assert (episode.task, episode.won) == ("ho", True)
    (cell,) = grid([POLITE], [], ["tests.doubles:Crafter"])
    results = sweep(RunSpec(SAY, "all"), [cell], tmp_path)
    assert [r["won"] for r in results[cell] if r["group"] == "5 letters"] == [True]


def test_vector__steps_a_foreign_world():
    vector = TextVectorEnv(SAY, 3, loudly=True)
    observations, infos = vector.reset(seed=1)
    assert vector.max_episode_steps == 10
    _, rewards, terminations, _, _ = vector.step(
        [observation.rpartition("say ")[2] for observation in observations]
    )
    assert rewards.tolist() == [1.0] * 3
    assert terminations.all()
    assert list(infos["task"]) == [
        observation.rpartition("say ")[2].lower() for observation in observations
    ]


@pytest.mark.parametrize("env_id", BUNDLED)
def test_make_vec__has_a_vector_entry_point(env_id: str):
    vector = gym.make_vec(env_id, 2, vectorization_mode="vector_entry_point", expert=True)
    assert isinstance(vector, TextVectorEnv)
    assert isinstance(gym.make_vec(env_id, 2), TextVectorEnv)
    sync = gym.make_vec(env_id, 2, vectorization_mode="sync", expert=True)
    assert vector.max_episode_steps == gym.spec(env_id).max_episode_steps
    for value, other in zip(vector.reset(seed=3), sync.reset(seed=3), strict=True):
        assert str(value) == str(other)
    actions = [
        plan[0]
        for plan in sync.envs[0].unwrapped.reset(seed=3)[1]["expert_plan"][:1]
        for _ in range(2)
    ]
    sync.reset(seed=3)
    for value, other in zip(vector.step(actions), sync.step(actions), strict=True):
        assert (
            np.array_equal(value, other)
            if isinstance(value, np.ndarray)
            else str(value) == str(other)
        )


def test_specs__are_pickled_and_written_with_their_vector_entry_point():
    for env_id in BUNDLED:
        assert pickle.loads(pickle.dumps(gym.spec(env_id))).id == env_id
        json.loads(gym.make(env_id).spec.to_json())


def test_functions__that_take_an_id_or_a_spec_say_so():
    env = find("TextCraft-v0").make()
    for function in (find, tasks, starts, TextEpisode, lambda env: evaluate(RunSpec(env), "")):
        with pytest.raises(ValueError, match="expected the id of an environment, got <"):
            function(env)
    for spec in (env, "TextCraft-v0"):
        with pytest.raises(ValueError, match="expected a RunSpec, got"):
            evaluate(spec, "")
    for function in (starts, TextEpisode):
        with pytest.raises(ValueError, match="expected wrappers to be a sequence of names, got"):
            function("TextCraft-v0", wrappers="HelpfulFeedback")


def test_find__says_what_is_missing():
    with pytest.raises(UnknownName, match=r"unknown module of an environment 'no_such_module'"):
        find("no_such_module:My-v0")
    with pytest.raises(UnknownName, match="Did you mean Say-v0"):
        find("tests.foreign_worlds:Sey-v0")
    with pytest.raises(UnknownName, match="Did you mean TextCraft-v0"):
        find("TextCraft-v1")
    with pytest.raises(
        ValueError, match="expected an environment of text, but CartPole-v1 has a space of"
    ):
        find("CartPole-v1").make()


def test_make__says_what_a_foreign_world_raises_and_what_an_agent_needs(tmp_path: Path):
    with pytest.raises(UnknownName, match=r"^unknown split 'zz'\.$"):
        find(SAY).make(split="zz")
    with pytest.raises(ValueError, match=r"Say-v0 cannot be made: TypeError: unhashable"):
        find(SAY).make(split=["zz"])
    with pytest.raises(
        ValueError,
        match=r"RandomAgent needs an environment made with admissible=True, which .*Say-v0",
    ):
        evaluate(RunSpec(SAY, agent="random"), tmp_path)
    with pytest.raises(
        ValueError, match=r"^my:Player needs .* admisible=True, .*: it takes split, l"
    ):
        find(SAY).make(as_agent(Misspelt, name="my:Player"))
    with pytest.raises(ValueError, match="ExpertAgent needs an environment made with expert=True"):
        next(demonstrations(SAY))


def test_vector_entry_point__is_there_for_a_foreign_world():
    gym.register(
        "SayInVectors-v0",
        entry_point="tests.foreign_worlds:SayEnv",
        vector_entry_point="textcraft_gym.vector:SayInVectors-v0",
    )
    assert isinstance(
        gym.make_vec("SayInVectors-v0", 2, vectorization_mode="vector_entry_point"), TextVectorEnv
    )


def test_make__names_the_arguments_of_a_foreign_world():
    with pytest.raises(UnknownName, match="Did you mean loudly"):
        find(SAY).make(loud=True)
    assert (find(SAY).default_split(), find(SAY).profile) == ("short", "default")
    assert find(GUESS).default_split() is None


def test_evaluate__a_module_of_an_environment_in_the_working_folder(tmp_path: Path):
    source = Path(__file__).with_name("foreign_worlds.py").read_text(encoding="utf-8")
    (tmp_path / "my_world.py").write_text(
        source.replace("tests.foreign_worlds", "my_world"), encoding="utf-8"
    )
    command = [
        "evaluate",
        "--env",
        "my_world:Say-v0",
        "--agent",
        "my_world:Polite",
        "--split",
        "all",
        "--out",
        "run",
    ]
    arguments = [sys.executable, "-m", "textcraft_gym", *command]
    result = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "5 letters" in result.stdout
