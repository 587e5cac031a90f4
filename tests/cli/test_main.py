from __future__ import annotations

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

import textcraft_gym
from tests.doubles import CRAFTER, environment
from tests.pages import terminal
from tests.runs.test_runner import untimed
from textcraft_gym import tasks
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.registry import AGENTS
from textcraft_gym.cli import progress
from textcraft_gym.cli.app import COMMANDS, app
from textcraft_gym.cli.main import main
from textcraft_gym.cli.play import UNTOLD, Session, completions
from textcraft_gym.commands import CommandForm
from textcraft_gym.envs.alfworld.problem import TASK_TYPES
from textcraft_gym.envs.webshop.queries import searches
from textcraft_gym.recipes.pack import BUNDLED
from textcraft_gym.registration import SUITE, find
from textcraft_gym.reports import tally
from textcraft_gym.reports.records import read_records
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate
from textcraft_gym.spaces import AnyText


def run(*arguments: str, stdin: str = "") -> str:
    with terminal(160):
        result = CliRunner().invoke(app, list(arguments), input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def fail(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *arguments: str,
    status: int = 2,
) -> str:
    monkeypatch.setattr(sys, "argv", ["textcraft-gym", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == status
    return capsys.readouterr().err


def test_evaluate__prints_success_by_group_and_report_shows_runs_beside_each_other(tmp_path: Path):
    shared = [
        "evaluate",
        "--env",
        "TextCraft-v0",
        "--split",
        "test",
        "--limit",
        "4",
        "--env-arg",
        "distractors=3",
    ]
    output = run(*shared, "--agent", "expert", "--out", str(tmp_path / "one"))
    assert "100.0" in output
    run(
        *shared,
        "--agent",
        "random",
        "--out",
        str(tmp_path / "two"),
        "--max-steps",
        "5",
        "--no-table",
    )
    assert json.loads((tmp_path / "two" / "config.json").read_text())["env_args"] == {
        "distractors": 3,
        "admissible": True,
    }
    output = run("report", str(tmp_path / "one"), str(tmp_path / "two"))
    assert "one " in output
    assert "two " in output
    assert "tests.doubles:Crafter" not in output
    page = tmp_path / "report.html"
    assert "8 episodes to" in run(
        "report", str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(page)
    )
    assert "<h1>Evaluation: TextCraft-v0, split test</h1>" in page.read_text(encoding="utf-8")


def test_demos__writes_what_the_expert_plays(tmp_path: Path):
    out = tmp_path / "demos.jsonl"
    arguments = [
        "demos",
        "--env",
        "ALFWorld-v0",
        "--split",
        "train",
        "--out",
        str(out),
        "--limit",
        "3",
    ]
    assert "3 demonstrations to " in run(*arguments, "--seed", "2", "--env-arg", "hidden=100")
    trajectories = [json.loads(line) for line in out.read_text().splitlines()]
    assert [trajectory["split"] for trajectory in trajectories] == ["train"] * 3
    assert all(
        trajectory["task"].endswith("_hidden100") and trajectory["won"] and trajectory["seed"] == 2
        for trajectory in trajectories
    )
    assert "think: " not in out.read_text()
    roles = ["system", *["user", "assistant"] * (trajectories[0]["optimal_length"])]
    assert [message["role"] for message in trajectories[0]["messages"]] == roles
    assert "left out" not in run(*arguments, "--thoughts")
    assert out.read_text().count("think: ") > 3


def test_demos__plays_a_split_of_ones_own(tmp_path: Path):
    run("splits", "make", "--out", str(tmp_path / "my.jsonl"))
    arguments = ["demos", "--env", "TextCraft-v0", "--split", f"{tmp_path / 'my.jsonl'}:train"]
    run(*arguments, "--out", str(tmp_path / "demos.jsonl"), "--thoughts")
    assert (tmp_path / "demos.jsonl").read_text().count("\n") == len(
        tasks("TextCraft-v0", f"{tmp_path / 'my.jsonl'}:train")
    )


def test_export__writes_what_a_run_played(tmp_path: Path):
    folder, out = str(tmp_path / "run"), tmp_path / "run.jsonl"
    run(
        *("evaluate", "--env", "TextCraft-v0", "--agent", "random", "--limit", "6", "--out", folder)
    )
    records = read_records(folder)
    won = [record["task"] for record in records if record["won"]]
    assert 0 < len(won) < 6
    assert run("export", folder, "--out", str(out), "--format", "sharegpt").startswith(
        "Wrote 6 episodes to "
    )
    for line, record in zip(out.read_text().splitlines(), records, strict=True):
        exported = json.loads(line)
        assert len(exported["conversations"]) == 2 * record["steps"]
        assert (exported["task"], exported["won"]) == (record["task"], record["won"])
    said = run("export", folder, "--out", str(out), "--won-only")
    assert said.startswith(f"Wrote {len(won)} episodes to ")
    assert said.endswith(f"; left out {6 - len(won)} not won\n")
    assert [json.loads(line)["task"] for line in out.read_text().splitlines()] == won


def test_evaluate__plays_on_the_backend_that_is_named(tmp_path: Path):
    run(
        *(
            "evaluate",
            "--env",
            "TextCraft-v0",
            "--agent",
            "expert",
            "--limit",
            "3",
            "--out",
            str(tmp_path / "run"),
        ),
        *("--backend", "process", "--workers", "2"),
    )
    assert sorted(record["won"] for record in read_records(tmp_path / "run")) == [True] * 3


REACT = ["evaluate", "--env", "TextCraft-v0", "--agent", "react"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["evaluate", "--env", "TextCraft-v0", "--agent", "exprt", "--out", "x"],
            "Did you mean expert",
        ),
        (
            [
                "evaluate",
                "--env",
                "TextCraft-v0",
                "--agent",
                "expert",
                "--split",
                "tset",
                "--out",
                "x",
            ],
            "test, dev, all",
        ),
        (
            [
                "evaluate",
                "--env",
                "TextCraft-v0",
                "--agent",
                "expert",
                "--env-arg",
                "x",
                "--out",
                "x",
            ],
            "KEY=VALUE",
        ),
        (
            [
                "evaluate",
                "--env",
                "TextCraft-v0",
                "--agent",
                "expert",
                "--env-arg",
                "foo=1",
                "--out",
                "x",
            ],
            "distractors",
        ),
        (
            [
                "evaluate",
                "--env",
                "TextCraft-v0",
                "--agent",
                "expert",
                "--env-arg",
                "distractors=1.5",
                "--out",
                "x",
            ],
            "1.5",
        ),
        (
            [
                "evaluate",
                "--env",
                "TextCraft-v0",
                "--agent",
                "expert",
                "--env-arg",
                "split=dev",
                "--out",
                "x",
            ],
            "option",
        ),
        (["tasks", "CartPole-v1"], "expected an environment of text"),
        (["play", "TextCraft-v0", "--task", "behive"], "minecraft:beehive"),
        (["evaluate", "--env", "TextCraft-v9", "--agent", "expert", "--out", "x"], "TextCraft"),
        (["play", "TextCraft-v0", "--task", "minecraft:behive"], "minecraft:beehive"),
        (["recipes", "show", "minecraft:behive"], "minecraft:beehive"),
        (["recipes", "stats", "--recipes", "nowhere"], "nowhere: no such file or folder"),
        (["recipes", "stats", "--tags", "both"], "group, item"),
        (["report", "nowhere"], "not a run folder"),
        (["splits", "make", "--out", "x.jsonl", "--train", "0.9"], "add up to 1"),
        ([*REACT, "--backend", "thread", "--out", "x"], "loop, process, ray"),
        (
            ["demos", "--env", "TextCraft-v0", "--split", "tarin", "--out", "x.jsonl"],
            "FILE.jsonl:NAME",
        ),
        (
            ["demos", "--env", "TextCraft-v0", "--format", "chatml", "--out", "x.jsonl"],
            "openai, sharegpt, trl, verl",
        ),
        (["export", "nowhere", "--out", "x.jsonl"], "nowhere is not a run folder"),
        ([*REACT, "--model", f"{CRAFTER},reach=0", "--out", "x"], "reach of 1 or more"),
        ([*REACT, "--model", "openay:gpt", "--out", "x"], "openay:gpt"),
        ([*REACT, "--replay-only", "--out", "x"], "name the cassette"),
        ([*REACT, "--prompts", "nowhere", "--out", "x"], "nowhere is no folder of prompts"),
        ([*REACT, "--agent-arg", "turn=3", "--out", "x"], "Did you mean turns"),
        ([*REACT, "--agent-arg", "turns=0", "--out", "x"], "1 or more"),
        (
            ["evaluate", "--env", "TextCraft-v0", "--agent", "no_such:Agent", "--out", "x"],
            "no_such:Agent",
        ),
        (
            ["sweep", "--env", "TextCraft-v0", "--agents", "react,adpt", "--out", "x"],
            "Did you mean adapt",
        ),
        (
            ["sweep", "--env", "TextCraft-v0", "--agents", "react", "--seeds", "two", "--out", "x"],
            "1-4 or 1,3",
        ),
        (
            ["sweep", "--env", "TextCraft-v0", "--agents", "react", "--seeds", "5-2", "--out", "x"],
            "1-4 or 1,3",
        ),
        (
            ["sweep", "--env", "TextCraft-v0", "--agents", "adapt", "--d-max", "1-", "--out", "x"],
            "1-4 or 1,3",
        ),
        (
            [*REACT, "--model", CRAFTER, "--agent-arg", "memory=2", "--out", "x"],
            "argument of react",
        ),
        (
            [
                "evaluate",
                "--env",
                "TextCraft-v0",
                "--agent",
                "reflexion",
                "--agent-arg",
                "memory=-1",
                "--out",
                "x",
            ],
            "memory",
        ),
    ],
)
def test_main__answers_a_mistake_with_one_line(
    arguments, message, monkeypatch, capsys, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    error = fail(monkeypatch, capsys, *arguments)
    assert message in error
    assert error.startswith("textcraft-gym: ")
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_recipes_import__writes_the_bundle(tmp_path: Path):
    assert "859 recipes and 54 item tags" in run(
        "recipes", "import", str(BUNDLED), "--out", str(tmp_path)
    )
    for name in ("recipes.jsonl", "tags.jsonl"):
        assert (tmp_path / name).read_bytes() == (BUNDLED / name).read_bytes()


def test_recipes_import__writes_nothing_of_a_broken_pack(monkeypatch, capsys, tmp_path: Path):
    recipes = tmp_path / "pack" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "door.json").write_text('{"type": "minecraft:crafting_shaped"}')
    (recipes / "torch.json").write_text('{"type": "crafting_shapless"}')
    error = fail(
        monkeypatch,
        capsys,
        "recipes",
        "import",
        str(tmp_path / "pack"),
        "--out",
        str(tmp_path / "out"),
    )
    assert "door.json: a shaped recipe needs a pattern" in error
    assert not (tmp_path / "out").exists()


def test_recipes_stats__says_in_a_line_each_what_it_skipped(tmp_path: Path):
    recipes = tmp_path / "pack" / "data" / "minecraft" / "recipes"
    recipes.mkdir(parents=True)
    stick = {
        "type": "minecraft:crafting_shapeless",
        "ingredients": [{"item": "bamboo"}],
        "result": {"item": "stick"},
    }
    (recipes / "stick.json").write_text(json.dumps(stick))
    (recipes / "door.json").write_text('{"type": "minecraft:crafting_shaped"}')
    (recipes / "torch.json").write_text('{"type": "crafting_shapless"}')
    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "recipes",
        "stats",
        "--recipes",
        str(tmp_path / "pack"),
    ]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    door, torch = shown.stderr.splitlines()
    place = f"textcraft-gym: warning: skipped {recipes}"
    assert door == f"{place}/door.json: a shaped recipe needs a pattern, a list of rows"
    assert torch.startswith(f"{place}/torch.json: unknown type 'crafting_shapless'")


def test_recipes_show__draws_the_tree():
    output = run("recipes", "show", "minecraft:beehive")
    assert "3 honeycomb" in output
    assert "6 planks any of" in output
    assert "1 warped stems" in output


def test_recipes_show__ends_where_real_tags_go_round():
    assert "as above" in run("recipes", "show", "minecraft:chiseled_sandstone", "--tags", "item")


def test_recipes_stats__counts():
    output = run("recipes", "stats")
    for fact in ("859", "544", "612", "132", "147", "274", "112"):
        assert fact in output


def test_recipes_stats__name_what_is_left_out(tmp_path: Path):
    copied = {"type": "crafting_shapeless", "ingredients": ["leaf", "water"], "result": "leaf"}
    for name, data in {"leaf": copied, "tea": copied | {"result": "tea"}, "odd": {}}.items():
        file = tmp_path / "recipes" / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(data))
    with pytest.warns(UserWarning, match=r"skipped .*odd\.json"):
        output = run("recipes", "stats", "--recipes", str(tmp_path))
    assert re.search(r"no type +1\b", output)
    assert "takes what it makes: minecraft:leaf" in output
    assert "cannot be read: minecraft:odd" in output


def test_evaluate__plays_the_split_that_an_environment_plays(tmp_path: Path):
    for env, split in (("TextCraft-v0", "dev"), ("ALFWorld-v0", "valid_seen")):
        run(
            "evaluate",
            "--env",
            env,
            "--agent",
            "repeater",
            "--limit",
            "2",
            "--out",
            str(tmp_path / env),
        )
        assert (
            json.loads((tmp_path / env / "config.json").read_text(encoding="utf-8"))["split"]
            == split
        )


def test_splits_paper__has_the_papers_sizes():
    output = run("splits", "paper")
    rows = [line.split() for line in output.splitlines()]
    assert ["test", "200", "77", "112", "11"] in rows
    assert ["dev", "197", "197", "0", "0"] in rows


def test_splits_make__writes_splits_and_leakage(tmp_path: Path):
    output = run(
        "splits", "make", "--out", str(tmp_path / "my.jsonl"), "--compositional", "--seed", "3"
    )
    assert "goals in train" in output
    rows = [json.loads(line) for line in (tmp_path / "my.jsonl").read_text().splitlines()]
    assert len(rows) == 397
    leak = json.loads((tmp_path / "my.leakage.json").read_text())
    assert "goal" not in leak["intermediates"].values()
    listed = run("tasks", "TextCraft-v0", "--split", f"{tmp_path / 'my.jsonl'}:test")
    assert all(row["task"] in listed for row in rows if row["split"] == "test")


def test_environment__is_an_argument_or_an_option():
    listed = run("tasks", "TextCraft-v0", "--limit", "1")
    assert run("tasks", "--env", "TextCraft-v0", "--limit", "1") == listed
    assert run("tasks", "--limit", "1", "--env=TextCraft-v0") == listed
    assert "Goal: " in run("play", "--env", "TextCraft-v0", "--seed", "1", stdin="quit\n")
    for twice in (["TextCraft-v0", "--env", "ALFWorld-v0"], ["--env"]):
        assert CliRunner().invoke(app, ["tasks", *twice]).exit_code == 2


def test_tasks__lists_depth_and_length():
    rows = [
        line.split() for line in run("tasks", "TextCraft-v0").splitlines() if "minecraft:" in line
    ]
    assert ["minecraft:beehive", "2", "5"] in rows
    assert len(rows) == 397


def test_tasks__shows_what_else_a_game_says_of_them():
    headings, _, diamond = run("tasks", "MineTechTree-v0", "--split", "MT8").splitlines()[2:5]
    assert headings.split()[:6] == ["task", "group", "depth", "shortest", "solution", "ticks"]
    assert diamond.split()[:5] == ["diamond", "MT8", "12", "12", "12000"]


def test_tasks__shows_the_guidance_of_minedojo():
    if find_spec("minedojo") is None:
        pytest.skip("MineDojo's files are not installed")
    plain = run("tasks", "MineTechTree-v0", "--split", "MT8")
    guided = run("tasks", "MineTechTree-v0", "--split", "MT8", "--guidance")
    assert guided.startswith(plain)
    assert guided.removeprefix(plain).startswith("diamond: ")
    assert "\n1. " in guided
    assert "1. " not in run("tasks", "TextCraft-v0", "--split", "test", "--guidance")


def test_tasks__shows_the_group_where_it_says_more_than_the_depth():
    headings = [
        run("tasks", env, "--split", "dev").splitlines()[2].split()
        for env in ("TextCraft-v0", "ALFWorld-v0")
    ]
    assert headings == [
        ["task", "depth", "shortest", "solution"],
        ["task", "group", "depth", "shortest", "solution"],
    ]
    rows = [
        line.split()
        for line in run("tasks", "ALFWorld-v0", "--split", "dev").splitlines()
        if "trial_" in line
    ]
    assert len(rows) == 60
    assert all(id.startswith(f"{group}-") for id, group, *_ in rows)
    assert [
        "pick_and_place_simple-Watch-None-Drawer-301/trial_00604",
        "pick_and_place_simple",
        "2",
        "5",
    ] in rows


def test_tasks__have_depths_only_where_the_world_gives_them(monkeypatch):
    say = "tests.foreign_worlds:Say-v0"
    headings = "task group shortest solution"
    assert run("tasks", say).splitlines()[2].split() == headings.split()
    monkeypatch.setattr(
        "tests.foreign_worlds.Word.depth", property(lambda word: len(word.id)), raising=False
    )
    assert "depth" in run("tasks", say).splitlines()[2].split()


def test_evaluate__groups_households_by_task_type(tmp_path: Path):
    shared = ["evaluate", "--env", "ALFWorld-v0", "--split", "dev"]
    output = run(*shared, "--agent", "expert", "--out", str(tmp_path / "one"))
    rows = [line.removeprefix(" one").split() for line in output.splitlines() if "100.0 " in line]
    assert [row[:4] for row in rows[:-1]] == [
        [task_type, "10", "10", "100.0"] for task_type in sorted(TASK_TYPES)
    ]
    assert rows[-1][:4] == ["all", "60", "60", "100.0"]
    run(
        *shared,
        "--agent",
        "random",
        "--out",
        str(tmp_path / "two"),
        "--max-steps",
        "1",
        "--no-table",
    )
    task = "look_at_obj_in_light-Bowl-None-DeskLamp-326/trial_00605"
    assert task in run("compare", str(tmp_path / "two"), str(tmp_path / "one"))


def test_play__can_be_won_through_a_pipe_in_a_household():
    task = next(
        task for task in tasks("ALFWorld-v0", "dev") if task.group == "pick_two_obj_and_place"
    )
    env = gym.make("ALFWorld-v0", expert=True)
    plan = env.reset(options={"task": task.id})[1]["expert_plan"]
    output = run(
        "play",
        "ALFWorld-v0",
        "--task",
        task.id,
        stdin="\n".join(["hint", "fly", "help", *plan, "never read"]),
    )
    assert "Your task is to: " in output
    assert f"\n{plan[0]}\nNothing happens.\n" in output
    assert "Possible now: go, help, inventory, look.\n" in output
    assert "\n  take {thing} from {place}\n" in output
    assert "\nFor you:\n  help  lists what can be typed\n" in output
    assert output.endswith(f"Won after {len(plan) + 1} actions.\n")  # help is none


def test_play__can_be_won_through_a_pipe():
    actions = (
        "\n\nhint\nget 2 oak\nget 2 oak_logs\nhint\n" + "craft 4 oak planks using 1 oak logs\n" * 2
    )
    output = run(
        "play",
        "TextCraft-v0",
        "--task",
        "minecraft:beehive",
        stdin=actions + "get 3 honeycomb\ninventory\nhint\nhint\n",
    )
    assert "Goal: craft beehive." in output
    assert "Could not find oak\n" in output
    assert "Inventory: [oak planks] (8) [honeycomb] (3)" in output
    assert "craft 1 beehive using 6 oak planks, 3 honeycomb" in output
    assert output.endswith("Left the game.\n")
    output = run(
        "play",
        "TextCraft-v0",
        "--task",
        "minecraft:beehive",
        stdin=actions
        + "get 3 honeycomb\ncraft 1 beehive using 3 honeycomb, 6 oak planks\nnever read\n",
    )
    assert output.endswith("Crafted 1 minecraft:beehive\nWon after 6 actions.\n")


def test_play__draws_the_task_from_the_split_that_is_named(monkeypatch, capsys):
    goals = {task.id.removeprefix("minecraft:") for task in tasks("TextCraft-v0", "train")}
    for seed in "123":
        output = run("play", "TextCraft-v0", "--split", "train", "--seed", seed, stdin="quit\n")
        goal = output.partition("Goal: craft ")[2].partition(".")[0]
        assert goal.replace(" ", "_") in goals
    watched = ("play", "TextCraft-v0", "--watch", "tests.doubles:Crafter", "--split", "nope")
    assert "unknown split 'nope'" in fail(monkeypatch, capsys, *watched)


def test_play__draws_the_table_before_and_after_each_action():
    typed = "pack the circle in the brown box\n"
    lines = [
        line.strip()
        for line in run("play", "Tabletop-v0", "--task", "packing-shapes/0", stdin=typed).split(
            "\n"
        )
    ]
    boxes = [
        index for index, line in enumerate(lines) if line.startswith("|_") and "brown box" in line
    ]
    assert len(boxes) == 2
    assert [lines[index - 1] for index in boxes] == ["", "<circle>"]
    assert "Won after 1 action." in lines


def test_play__shows_the_goal_and_the_steps_below_what_is_typed():
    session = Session(gym.make("TextCraft-v0"), load_profile("textcraft"))
    session.reset("minecraft:beehive", 0)
    assert session.status() == " 0 steps | craft beehive"
    session.take("get 2 oak logs")
    assert session.status() == " 1 step | craft beehive"


def test_play__draws_its_task_from_the_split():
    (task,) = {task.id for task in tasks("MineTechTree-v0", "MT8")}
    assert f" {task}" in run("play", "MineTechTree-v0", "--split", "MT8", stdin="").splitlines()[5]


def test_play__takes_actions_back():
    typed = "get 2 oak logs\nundo\ninventory\nundo\nundo\nfly\nquit\n"
    output = run("play", "TextCraft-v0", "--task", "minecraft:beehive", stdin=typed)
    taken = "Took back: get 2 oak logs\nInventory: You are not carrying anything.\n"
    assert f"{taken}Took back: inventory\n" in output
    assert "Nothing to undo." in output
    assert "Possible now: get, inventory.\n" in output


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("textcraft-gym ev", ["evaluate"]),
        ("textcraft-gym recipes s", ["show", "stats"]),
        ("textcraft-gym evaluate --agent", ["--agent", "--agent-arg"]),
    ],
)
def test_shell__completes_commands_and_options(typed: str, offered: list[str]):
    shell = {"_TEXTCRAFT_GYM_COMPLETE": "complete_bash", "COMP_WORDS": typed}
    position = {"COMP_CWORD": str(len(typed.split()) - 1)}
    code = (
        "import sys; from textcraft_gym.cli.main import main; sys.argv = ['textcraft-gym']; main()"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **shell, **position},
        capture_output=True,
        text=True,
    )
    assert completed.stdout.split() == offered


def test_help__shows_no_type_beside_flags():
    for command in (["--help"], ["evaluate", "--help"], ["recipes", "stats", "--help"]):
        shown = run(*command)
        assert "--help" in shown
        assert "<bool>" not in shown


def test_help__lists_every_command_with_its_first_line():
    shown = " ".join(run("--help").replace("│", " ").split())
    group: Any = get_command(app)
    for name in COMMANDS:
        first, *_ = group.get_command(None, name).help.split("\n")
        assert f"{name} {first}" in shown
        assert len(first.split()) <= 10


def test_unknown_command__suggests_a_near_one(monkeypatch, capsys):
    assert "Did you mean 'evaluate'?" in fail(monkeypatch, capsys, "evalute")


def test_version__is_printed():
    assert run("--version") == f"textcraft-gym {textcraft_gym.__version__}\n"


def test_envs_and_agents__are_listed():
    output = run("envs")
    assert all(env_id in output for env_id in SUITE)
    assert len({find(env_id).summary for env_id in SUITE}) == len(SUITE)
    agent_rows = {row["agent"]: row for row in json.loads(run("agents", "--json"))}
    about = {"agent": "react", "family": "adapt", "summary": "One attempt at the whole task."}
    assert agent_rows["react"] == about | dict.fromkeys(
        ("textcraft", "alfworld", "webshop", "minetechtree", "hotpotqa", "tabletop"), "plays"
    )
    assert "controller" in agent_rows["deps"]["webshop"]
    listed = run("agents")
    rows = re.findall(r"(?m)^ (\w*) +(\w+)  +\S.*?  +\S.*\.$", re.sub(r"(?m) +$", "", listed))
    assert sorted(agent for _, agent in rows) == sorted(AGENTS)
    families = [family for family, _ in rows if family]
    assert len(set(families)) == len(families) < len(rows) / 3


def test_agents__shows_the_arguments_of_one(monkeypatch, capsys):
    shown = json.loads(run("agents", "best_of_n", "--json"))
    arguments = {argument["name"]: argument for argument in shown["arguments"]}
    assert list(arguments) == ["n", "temperature", "rollback", "turns", "max_tokens"]
    assert (arguments["n"]["type"], arguments["n"]["default"]) == ("int", 10)
    assert arguments["rollback"]["type"] == "snapshot or replay"
    assert arguments["temperature"]["meaning"].startswith("Temperature of all samples")  # LATS's
    assert arguments["turns"]["default"] == {
        "textcraft": 15,
        "alfworld": 20,
        "webshop": 15,
        "hotpotqa": 7,
    }
    assert "turns  (int, default 15; alfworld 20, hotpotqa 7)" in run("agents", "best_of_n")
    assert run("agents", "expert").endswith("It takes no arguments.\n")
    assert "\n  word  (str, default nothing)\n" in run("agents", "tests.cli.test_main:Echo")
    assert "Did you mean react" in fail(monkeypatch, capsys, "agents", "raect")


class Echo:
    """Says one word."""

    def __init__(self, profile: object, word: str = "nothing") -> None:
        self.word = word


@pytest.mark.parametrize("name", AGENTS)
def test_agents__explains_every_argument(name: str):
    shown = json.loads(run("agents", name, "--json"))
    for argument in shown["arguments"]:
        assert argument["type"], argument
        assert len(argument["meaning"].split()) > 3, argument
        assert "As in" not in argument["meaning"], argument


def test_json__is_what_tables_show(tmp_path: Path):
    shared = ["evaluate", "--env", "TextCraft-v0", "--split", "test", "--limit", "3", "--no-table"]
    for agent in ("expert", "random"):
        run(*shared, "--agent", agent, "--out", str(tmp_path / agent))
    folders = [str(tmp_path / "random"), str(tmp_path / "expert")]
    reported = json.loads(run("report", *folders, "--json"))["runs"]["expert"]
    assert (reported["played"], reported["episodes"]) == (3, 3)
    assert reported["groups"]["all"]["won"] == 3
    compared = json.loads(run("compare", *folders, "--json"))
    (of_set,) = compared["sets"]
    assert {row["run"] for row in of_set["standings"]} == {"random", "expert"}
    assert of_set["tasks"] == 3
    listed = json.loads(run("tasks", "MineTechTree-v0", "--split", "MT8", "--json"))
    assert listed[0]["task"] == "diamond"
    sweep = [
        "sweep",
        "--env",
        "TextCraft-v0",
        "--agents",
        "expert",
        "--limit",
        "1",
        "--out",
        str(tmp_path / "sweep"),
    ]
    *_, row = json.loads(CliRunner().invoke(app, [*sweep, "--json"]).stdout)
    assert (row["agent"], row["group"], row["won"]) == ("expert", "all", 1)
    assert json.loads(run("recipes", "stats", "--json"))["recipe files"] == 859
    tree = json.loads(run("recipes", "show", "beehive", "--json"))
    assert tree[0]["item"] == "minecraft:beehive"


def test_evaluate__says_which_errors_there_were_and_fails_if_nothing_else(tmp_path: Path):
    (tmp_path / "broken.py").write_text(
        "class Broken:\n"
        "    def __init__(self, every=1): self.every = every\n"
        "    def episode(self, play):\n"
        "        yield from play.act('inventory')\n"
        "        if play.seed % self.every == 0: raise RuntimeError('out of order')\n"
        "        return False\n"
    )
    shared = [
        sys.executable,
        "-m",
        "textcraft_gym",
        *REACT[:3],
        "--agent",
        "broken:Broken",
        "--limit",
        "8",
        "--split",
        "dev",
    ]
    whole = subprocess.run(
        [*shared, "--out", "whole"], cwd=tmp_path, capture_output=True, text=True
    )
    assert whole.returncode == 1
    assert (
        "every episode ended with an error; records and tracebacks are in whole:\n  8 x RuntimeError: out of order\n"
        in whole.stderr
    )
    half = subprocess.run(
        [*shared, "--agent-arg", "every=2", "--out", "half"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert half.returncode == 0
    assert re.search(r"[1-7] of 8 episodes ended with an error", half.stderr)


def test_play__prints_what_looks_like_markup_as_it_is():
    assert "Could not execute [bold]x[/]" in run(
        "play", "TextCraft-v0", "--seed", "1", stdin="[bold]x[/]\nquit\n"
    )


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("get 1 hon", ["get 1 honeycomb"]),
        ("get 1 oak ", ["get 1 oak logs"]),
        ("get 3 ", ["get 3 oak logs", "get 3 honeycomb"]),
        ("ge", ["get 2 oak logs", "get 3 honeycomb"]),
        ("craft 4 o", ["craft 4 oak planks using 1 oak logs"]),
        ("craft 5 o", []),
        ("craft 4 oak planks using 2 o", []),
        ("inv", ["inventory"]),
        ("quit", []),
        ("get 3 honeycomb", []),
        ("zzz", []),
    ],
)
def test_completions__go_on_from_commands_with_any_count(line: str, completed: list[str]):
    commands = [
        "get 3 honeycomb",
        "get 2 oak logs",
        "craft 4 oak planks using 1 oak logs",
        "inventory",
    ]
    assert completions(line, commands) == completed


def test_play__completes_only_what_works_now():
    session = Session(gym.make("TextCraft-v0", admissible=True), load_profile("textcraft"))
    session.reset("minecraft:beehive", 1)
    assert completions("craft 1 ", session.words()) == []
    assert completions("craft 1 beehive using 6 oak p", session.words()) == []
    assert completions("get 9 oak l", session.words()) == ["get 9 oak logs"]
    session.take("get 2 oak logs")
    assert completions("craft 4 ", session.words()) == ["craft 4 oak planks using 1 oak logs"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_play__completes_with_tab_in_a_terminal():
    import pty

    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "play",
        "TextCraft-v0",
        "--task",
        "minecraft:beehive",
        "--seed",
        "1",
    ]
    terminal, inner = pty.openpty()
    shown = ""

    def wait_for(text: str) -> None:
        nonlocal shown
        while text not in shown:
            assert select.select([terminal], [], [], 30)[0], f"no {text!r} in {shown!r}"
            shown += os.read(terminal, 65536).decode(errors="replace")
        shown = shown[shown.index(text) + len(text) :]

    with subprocess.Popen(
        command, stdin=inner, stdout=inner, stderr=inner, env={**os.environ, "TERM": "xterm"}
    ) as game:
        try:
            wait_for("exit.")
            os.write(terminal, b"get 1 honeyc")
            wait_for("honeycomb")  # in the menu
            os.write(terminal, b"\t")
            wait_for("omb")  # in the line
            os.write(terminal, b"\r")
            wait_for("Got 1 honeycomb")
            os.write(terminal, b"quit\r")
            wait_for("Left the game.")
            assert game.wait(timeout=30) == 0
        finally:
            game.kill()
            os.close(inner)
            os.close(terminal)


def test_command__is_installed_and_helps():
    result = subprocess.run(
        [sys.executable, "-m", "textcraft_gym", "--help"], capture_output=True, text=True
    )
    assert result.returncode == 0
    for command in ("evaluate", "report", "play", "tasks", "recipes", "splits"):
        assert command in result.stdout


def test_evaluate__plays_an_agent_of_a_module_in_the_working_folder(tmp_path: Path):
    (tmp_path / "my_module.py").write_text(
        "class MyAgent:\n"
        "    def __init__(self, profile, word='nothing'):\n"
        "        self.game, self.word = profile.name, word\n"
        "    def episode(self, play):\n"
        "        completion = yield from play.ask(f'say {self.word}', max_tokens=3)\n"
        "        yield from play.act(f'{self.game} {self.word} {completion.text}')\n"
        "        return False\n"
    )
    command = [
        *REACT[:3],
        "--agent",
        "my_module:MyAgent",
        "--agent-arg",
        "word=hello",
        "--split",
        "dev",
        "--model",
        CRAFTER,
    ]
    arguments = [
        sys.executable,
        "-m",
        "textcraft_gym",
        *command,
        "--limit",
        "1",
        "--out",
        "run",
        "--workers",
        "2",
    ]
    subprocess.run(arguments, cwd=tmp_path, env=environment(), check=True, capture_output=True)
    (record,) = read_records(tmp_path / "run")
    assert record["transcript"][1][0].startswith("textcraft hello task failed!")
    assert (record["claimed_success"], record["calls"]) == (False, {"executor": 1})


def test_evaluate__shows_calls_by_role_and_belief(tmp_path: Path):
    model = f"{CRAFTER},reach=2"
    shared = [*REACT[:3], "--split", "test", "--limit", "30", "--workers", "8", "--model", model]
    output = run(
        *shared, "--agent", "adapt", "--agent-arg", "d_max=2", "--out", str(tmp_path / "adapt")
    )
    assert "| adapt |" in (tmp_path / "adapt" / "report.md").read_text()
    assert "executor" in output
    assert "planner" in output
    assert "says it won: wrong" in output


@pytest.mark.parametrize(
    ("sent", "status", "backend"), [(signal.SIGINT, 130, "loop"), (signal.SIGTERM, 143, "process")]
)
def test_evaluate__interrupted_leaves_a_run_that_goes_on(
    monkeypatch, tmp_path: Path, sent: int, status: int, backend: str
):
    (tmp_path / "slow.py").write_text(
        "import time\n"
        "from textcraft_gym.agents.contract.agent import Completion\n"
        "class Slow:\n"
        "    def complete(self, prompt, **how):\n"
        "        time.sleep(0.05)\n"
        "        return Completion('task failed!')\n"
    )
    command = [
        *REACT,
        "--model",
        "slow:Slow",
        "--limit",
        "40",
        "--workers",
        "2",
        "--backend",
        backend,
    ]
    arguments = [sys.executable, "-m", "textcraft_gym", *command, "--out", "run"]
    started = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    episodes = tmp_path / "run" / "episodes.jsonl"
    deadline = time.monotonic() + 30
    while (
        not episodes.exists() or episodes.read_bytes().count(b"\n") < 3
    ) and time.monotonic() < deadline:
        time.sleep(0.01)
    started.send_signal(sent)
    output, _ = started.communicate(timeout=30)
    before = len(read_records(tmp_path / "run"))
    assert started.returncode == status
    assert f"Stopped with {before} episodes in run; run it again to resume." in output
    assert 3 <= before < 40
    subprocess.run(arguments, cwd=tmp_path, check=True, capture_output=True)
    assert len(read_records(tmp_path / "run")) == 40
    assert episodes.read_bytes().count(b"\n") == 40
    monkeypatch.syspath_prepend(str(tmp_path))
    whole = evaluate(
        RunSpec("TextCraft-v0", "dev", "react", model="slow:Slow", limit=40, workers=20),
        tmp_path / "whole",
    )
    in_order = sorted(read_records(tmp_path / "run"), key=lambda record: record["task"])
    assert untimed(in_order) == untimed(sorted(whole, key=lambda record: record["task"]))


@pytest.mark.parametrize(
    "command", [["verify"], ["sweep", "--env", "TextCraft-v0", "--agents", "react", "--out", "out"]]
)
def test_command__ends_at_sigterm_as_at_ctrl_c(tmp_path: Path, command: list[str]):
    """A command that has nothing to say about it, and one that has."""
    begin = "import os, signal\nfrom textcraft_gym.cli.commands import sweep, verify\n"
    begin += "from textcraft_gym.cli.main import main\n"
    begin += "def stop(*args, **how): os.kill(os.getpid(), signal.SIGTERM)\n"
    begin += "verify._verify_installation = sweep.run_sweep = stop\nmain()"
    ended = subprocess.run(
        [sys.executable, "-c", begin, *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 143
    assert not ended.stderr
    assert ended.stdout == ("Stopped; run it again to resume.\n" if command[0] == "sweep" else "")


def test_sweep__prints_one_table(tmp_path: Path):
    grid = ["--agents", "react,adapt", "--d-max", "1-2", "--limit", "4"]
    models = ["--model", f"{CRAFTER},reach=1", "--model", f"{CRAFTER},reach=2"]
    output = run("sweep", "--env", "TextCraft-v0", *grid, *models, "--out", str(tmp_path / "sweep"))
    assert output.partition("Sweep")[2].count("tests.doubles:Crafter,reach=2") == 3
    assert len((tmp_path / "sweep" / "sweep.md").read_text().splitlines()) == 2 + 6 + 2


def test_evaluate__plays_the_tasks_that_are_named(monkeypatch, capsys, tmp_path: Path):
    some = [
        "evaluate",
        "--env",
        "TextCraft-v0",
        "--split",
        "test",
        "--agent",
        "expert",
        "--out",
        str(tmp_path / "run"),
    ]
    run(*some, "--task", "minecraft:hopper", "--task", "minecraft:beehive")
    records = [
        json.loads(line) for line in (tmp_path / "run" / "episodes.jsonl").read_text().splitlines()
    ]
    assert sorted(record["task"] for record in records) == ["minecraft:beehive", "minecraft:hopper"]
    assert json.loads((tmp_path / "run" / "config.json").read_text())["tasks"] == [
        "minecraft:hopper",
        "minecraft:beehive",
    ]
    assert "identical" in run("verify", str(tmp_path / "run"))
    assert "beehvie" in fail(
        monkeypatch, capsys, *some[:-1], str(tmp_path / "no"), "--task", "minecraft:beehvie"
    )


def test_optimise_plan__writes_plans_and_shows_what_they_took(tmp_path: Path):
    out = tmp_path / "plans"
    options = [
        "--split",
        "test",
        "--agent-arg",
        "turns=1",
        "--batch",
        "1",
        "--iterations",
        "2",
        "--out",
        str(out),
    ]
    command = ["optimise-plan", "--env", "TextCraft-v0", "--model", CRAFTER, *options]
    assert f"plan={out / 'plan-2.txt'}" in run(*command)
    shown = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert [iteration["plan"] for iteration in shown["iterations"]] == ["plan-1.txt", "plan-2.txt"]
    assert shown["calls"] == {
        "thought": 2,
        "action": 2,
        "formalizer": 2,
        "summary": 2,
        "flaws": 2,
        "revision": 1,
        "update": 2,
    }
    assert "identical" in run("verify", str(out / "batch-2"))


STOPPING = (
    "from textcraft_gym.agents.contract.model import Completion, ModelUnavailable\n"
    "class Priced:\n"
    "    def complete(self, prompt, **how): return Completion('task failed!', {'prompt_tokens': 100}, 0.5)\n"
    "class Refusing:\n"
    "    def complete(self, prompt, **how): raise ModelUnavailable('the key is refused')\n"
)


def test_evaluate__says_by_its_status_why_it_stopped(monkeypatch, capsys, tmp_path: Path):
    (tmp_path / "stopping.py").write_text(STOPPING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    shared = [*REACT[:3], "--agent", "react", "--split", "dev", "--limit", "8"]
    assert "expected max_cost of 0 or more" in fail(
        monkeypatch, capsys, *shared, "--max-cost", "-1", "--out", "no"
    )
    priced = [*shared, "--model", "stopping:Priced", "--out", "priced"]
    said = fail(monkeypatch, capsys, *priced, "--max-cost", "2.5", status=3)
    assert said == (
        "textcraft-gym: stopped at its limit: spent 2.5 of 2.5 in money and 500 tokens. 5 of 8 episodes are in priced; "
        "run it again with a higher limit to go on.\n"
    )
    run(*priced, "--max-cost", "4")
    said = fail(
        monkeypatch, capsys, *shared, "--model", "stopping:Refusing", "--out", "refused", status=1
    )
    assert said == (
        "textcraft-gym: stopped: the model cannot be asked (ModelUnavailable: the key is refused). 0 of 8 "
        "episodes are in refused; fix this, and run it again to go on.\n"
    )


def test_dry_run__says_what_is_expected_and_makes_nothing(tmp_path: Path):
    model = "tests.runs.test_estimate:Untouchable,price=1/2"
    shared = [
        "--env",
        "TextCraft-v0",
        "--split",
        "test",
        "--model",
        model,
        "--limit",
        "50",
        "--dry-run",
    ]
    said = run("evaluate", *shared, "--agent", "adapt", "--out", str(tmp_path / "run"))
    amount = r" +[\d.]+[kM]? \([\d.]+[kM]? to [\d.]+[kM]?\)"
    assert re.search(rf"\n run +50{4 * amount} \n", said)
    assert "Prompt caching is ignored." in said
    said = run(
        "sweep",
        *shared,
        "--agents",
        "react,adapt,expert",
        "--d-max",
        "1-2",
        "--out",
        str(tmp_path / "sweep"),
    )
    assert re.search(r"\n all +200 ", said)
    cells = json.loads(
        run("sweep", *shared, "--agents", "react", "--out", str(tmp_path / "sweep"), "--json")
    )
    assert [(cell["episodes"], cell["unpriced"]) for cell in cells] == [(50, [])]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("terminal", [False, True])
def test_evaluate_with_progress__prints_foreign_text_as_it_is(tmp_path: Path, terminal: bool):
    class Loud:
        name = "[red]m\x1b]0;x\x07"

        def complete(self, prompt, **how):
            return Completion("task failed!", {"prompt_tokens": 10}, 0.5)

    printed = io.StringIO()
    spec = RunSpec("TextCraft-v0", "dev", "react", model=Loud(), limit=4, max_cost=10.0)
    on = Console(file=printed, force_terminal=terminal, width=200, color_system=None)
    progress.evaluate_with_progress(spec, tmp_path, bar_on=on)
    said = printed.getvalue()
    assert "react on TextCraft-v0 dev, [red]m\\x1b]0;x\\x07" in said
    assert "\x1b]0" not in said
    assert re.search(
        r"won 0 \(0.0%, interval 0.0-49.0%\), errors 0, .* calls/s, .* tokens/s, cost 2.00 of 10\b",
        said,
    )
    if not terminal:
        assert said.count("\n") == 1


def test_evaluate_with_progress__prints_a_line_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Also while no episode ends, as with a slow model."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.01)
    monkeypatch.setattr(tally, "LONG_CALL", 0.0)
    printed = io.StringIO()

    class Slow:
        def complete(self, prompt, **how):
            deadline = time.monotonic() + 20
            while "0 of 1 episodes, won 0, errors 0, asking 1, 0:0" not in printed.getvalue():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            return Completion("task failed!")

    spec = RunSpec("TextCraft-v0", "dev", limit=1, model=Slow())
    progress.evaluate_with_progress(spec, tmp_path, Console(file=printed, width=60))
    *_, last = printed.getvalue().splitlines()
    assert re.search(r"dev, Slow: 1 of 1 episodes, won 0 .*, cost -, in \d+:\d\d$", last)


def test_evaluate_with_progress__draws_a_bar_first_and_the_model_last(tmp_path: Path):
    printed = io.StringIO()
    screens: list[list[str]] = []
    on = Console(file=printed, force_terminal=True, width=60, color_system=None)

    class Long:
        name = "m" * 80 + " END"

        def complete(self, prompt, **how):
            time.sleep(2.5 / progress.REFRESHES_A_SECOND)  # the clock goes on meanwhile
            drawn = re.split(r"\x1b\[[^A-Za-z]*[A-Za-z]|[\r\n]", printed.getvalue())
            screens.append([line for line in drawn if line])
            return Completion("task failed!")

    spec = RunSpec("TextCraft-v0", "dev", limit=1, model=Long())
    progress.evaluate_with_progress(spec, tmp_path, on)
    assert all(len(line) <= 60 for line in screens[0])
    bar, success, playing, *run = screens[0][-6:]
    assert re.fullmatch(r"\S* +0/1 +0:\d\d elapsed *", bar)
    assert success.strip() == "won 0, errors 0"
    assert playing.startswith("playing minecraft:")
    assert run[0].strip() == "react on TextCraft-v0 dev,"
    assert run[-1].endswith("m END")
    assert "1/1" in printed.getvalue()
    assert re.search(r"1/1 +in 0:\d\d", printed.getvalue())


EVERY_COMMAND = [
    "evaluate --env TextCraft-v0 --split dev --agent expert --limit 1 --out made",
    "evaluate --env TextCraft-v0 --split dev --agent expert --limit 1 --out new --dry-run",
    "sweep --env TextCraft-v0 --split dev --agents expert --limit 1 --out swept",
    "report run",
    "report run --json",
    "report run --out page.html",
    "compare run run",
    "verify run",
    "play TextCraft-v0 --seed 1",
    "play TextCraft-v0 --seed 1 --watch tests.doubles:Crafter",
    "envs",
    "agents",
    "agents adapt",
    "tasks TextCraft-v0 --split dev",
    "demos --env TextCraft-v0 --split dev --limit 1 --out demos.jsonl",
    "export run --out talk.jsonl",
    "models check tests.doubles:Crafter",
    "recipes show beehive",
    "recipes stats",
    "splits paper",
    "--version",
    "report --help",
]
MISTAKE = "report nothing"
CLOSED = """
import os, sys
assert None in (sys.stdout, sys.stderr)
from textcraft_gym.cli.main import main
ends = []
for command in sys.argv[1].splitlines():
    sys.argv = ["textcraft-gym", *command.split()]
    try:
        main()
    except BaseException as end:
        ends.append(repr(end))
with open("ends", "w") as file:
    file.write("\\n".join(ends))
    assert file.fileno() > 2
"""


@pytest.mark.parametrize(
    "closed",
    ["<&- >&- 2>&-", *(pytest.param(one, marks=pytest.mark.slow) for one in (">&-", "2>&-"))],
)
def test_commands__work_with_closed_standard_streams(tmp_path: Path, closed: str):
    textcraft_gym.evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=1), tmp_path / "run")
    commands = "\n".join([*EVERY_COMMAND, MISTAKE])
    started = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", CLOSED, commands, closed],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert (started.returncode, b"Traceback" in started.stderr) == (0, False)
    ends = (tmp_path / "ends").read_text().splitlines()
    assert ends == ["SystemExit(0)"] * len(EVERY_COMMAND) + ["SystemExit(2)"]


class Sitter(gym.Env[str, str]):
    """A game whose player may exit, which is an action."""

    observation_space = action_space = AnyText()

    def reset(self, *, seed=None, options=None):
        return "You sit.", {"admissible_commands": ["exit", "wait"]}

    def step(self, action):
        info = {"admissible_commands": ["exit", "wait"], "won": action == "exit"}
        return f"You {action}.", 0.0, action == "exit", False, info


@pytest.mark.parametrize("typed", ["exit", "quit", "QUIT", ""])
def test_play__leaves_without_a_step(typed: str):
    for env in ("TextCraft-v0", "WebShopLite-v0", "Tabletop-v0"):
        output = run("play", env, stdin=f"{typed}\nhelp\n" if typed else "")
        assert output.endswith("\nLeft the game.\n")
        assert "Could not" not in output
        assert "Invalid" not in output
        assert "Actions of this game" not in output


def test_play__says_once_where_the_step_limit_stops_an_agent():
    output = run("play", "ALFWorld-v0", "--seed", "0", stdin="look\n" * 51)
    note = "An agent would have stopped here: the limit is 50 steps."
    before, _, after = output.partition(f"\n{note}\n")
    assert before.count("\nYou are") == 1 + 50
    assert after.count("You are") == 1
    assert after.endswith("\nLeft the game.\n")
    assert note not in after


def test_play__plays_exit_where_it_is_an_action():
    session = Session(Sitter(), load_profile("default"))
    session.reset(None, 0)
    assert not session.leaves("exit")
    assert session.leaves("quit")
    session.take("exit")
    assert session.over


def test_play__help_shows_what_can_be_typed():
    output = run("play", "WebShopLite-v0", stdin="help\n")
    assert "\n  click[buy now]  buy the product" in output
    assert "{" not in output.partition("Possible now")[0]


@pytest.mark.parametrize("width", [60, 100])
def test_play__help_indents_below_its_text(width: int):
    session = Session(gym.make("TextCraft-v0"), load_profile("textcraft"))
    session.console = Console(
        file=io.StringIO(), width=width, force_terminal=True, color_system=None, highlight=False
    )
    form = CommandForm("get {count} {item}", "fetch one or several of an item " * 4)
    session._list("Actions of this game", [(form.form, form.description)])
    _, first, *others = session.console.file.getvalue().splitlines()
    place = first.index("fetch")
    assert others
    assert all(len(row) - len(row.lstrip()) == place for row in others)
    assert all(len(row) <= width for row in (first, *others))


def test_play__hint_says_where_the_instruction_does_not_suggest_it():
    shop = gym.make("WebShopLite-v0", admissible=True, expert=True)
    session = Session(shop, load_profile("webshop"))
    told = untold = 0
    for task in tasks("WebShopLite-v0", "dev")[::4]:
        session.console = Console(file=io.StringIO(), width=1000, highlight=False)
        _, session.info = shop.reset(options={"task": task.id})
        session.take("hint")
        hint, *note = session.console.file.getvalue().splitlines()
        if hint in searches(shop.unwrapped.goal.instruction):
            assert not note
            told += 1
        else:
            assert hint == f"search[{shop.unwrapped.goal.product.title}]"
            assert note == [UNTOLD]
            untold += 1
    assert 0 < untold < 0.03 * told


class Walker:
    """An agent of one's own."""

    def act(self, observation: str) -> str:
        return "go north"


@pytest.mark.parametrize("name", ["expert", "tests.cli.test_main:Walker"])
def test_play__names_the_command_that_watches_an_agent(name: str, monkeypatch, capsys):
    error = fail(monkeypatch, capsys, "play", "TextCraft-v0", "--watch", name, "--seed", "1")
    command = f"textcraft-gym play TextCraft-v0 --watch local --agent {name} --seed 1"
    assert error.endswith(f"--agent names it, as in {command}\n")


def test_play__names_the_command_where_neither_a_model_nor_an_agent_is_there(monkeypatch, capsys):
    error = fail(monkeypatch, capsys, "play", "TextCraft-v0", "--watch", "no_module:Thing")
    assert "there is no module no_module; expected local[" in error
    command = "textcraft-gym play TextCraft-v0 --watch local --agent no_module:Thing"
    assert error.endswith(f". An agent follows --agent, as in {command}\n")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("no_module:Thing", "expected MODULE:NAME, the module in the working folder"),
        ("Thing", "One of your own is MODULE:NAME, such as my_agent:MyAgent."),
    ],
)
@pytest.mark.parametrize(
    "line",
    [
        "play TextCraft-v0 --watch tests.doubles:Crafter --agent {}",
        "evaluate --env TextCraft-v0 --agent {} --dry-run",
        "sweep --env TextCraft-v0 --agents random,{} --dry-run",
        "agents {}",
    ],
)
def test_unknown_agent__is_told_how_one_is_named(
    line: str, name: str, expected: str, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert expected in fail(monkeypatch, capsys, *line.format(name).split())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--split test --task minecraft:ladder", "is in the split dev, not in test: play it with"),
        ("--split test --task no_such_item", "unknown task 'no_such_item'"),
        ("--task chest,ladder", "Several are --task chest --task ladder."),
    ],
)
def test_evaluate__says_where_a_task_is(
    line: str, expected: str, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    command = f"evaluate --env TextCraft-v0 --agent expert {line} --dry-run"
    assert expected in fail(monkeypatch, capsys, *command.split())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("report nothing", "nothing is not a run folder: nothing/config.json: no such file"),
        (
            "evaluate --env TextCraft-v0 --agent gatherer.py:Crafter --dry-run",
            "write gatherer:Crafter",
        ),
    ],
)
def test_errors__say_in_words_what_to_do(
    line: str, expected: str, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    error = fail(monkeypatch, capsys, *line.split())
    assert expected in error
    assert "[Errno" not in error
