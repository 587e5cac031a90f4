"""A run is rechecked: clean runs of every world and kind of agent pass, and no edit of one does."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.runs import flawed_agents
from textcraft_gym import RunSpec, evaluate, recipes
from textcraft_gym.agents import prompts, registry
from textcraft_gym.cli.main import main
from textcraft_gym.errors import RunError
from textcraft_gym.reports.metrics import summarise_by_group
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.reports.tables import markdown
from textcraft_gym.verify.recheck import Verification, verify

FOREIGN = "tests.foreign_worlds"
FLAWED = "tests.runs.flawed_agents"
CRAFTER = "tests.doubles:Crafter,reach=2"
TAPE = "tests.doubles:Recorded,tape=verify"
CLEAN = {
    "adapt": RunSpec("TextCraft-v0", "test", "adapt", model=CRAFTER, limit=6),
    "random": RunSpec("TextCraft-v0", "test", "random", limit=4),
    "expert": RunSpec("TextCraftTags-v0", "test", "expert", limit=4),
    "trials": RunSpec("TextCraft-v0", "test", "reflexion", model=CRAFTER, limit=6),
    "two trials": RunSpec(
        "TextCraft-v0", "test", "try_again", model=CRAFTER, limit=6, max_steps=20
    ),
    "few calls": RunSpec(
        "TextCraft-v0", "test", "plan_and_execute", model=CRAFTER, max_calls=3, limit=6
    ),
    "few steps": RunSpec("TextCraft-v0", "test", "adapt", model=CRAFTER, max_steps=3, limit=6),
    "distractors": RunSpec(
        "TextCraft-v0", "dev", "random", env_args={"distractors": 0}, seed=7, limit=3, max_steps=9
    ),
    "household": RunSpec("ALFWorld-v0", "valid_unseen", "adapt", model=TAPE, limit=5),
    "wandering": RunSpec("ALFWorld-v0", "valid_seen", "random", limit=5),
    "put": RunSpec("ALFWorld-v0", "valid_seen", "expert", env_args={"dialect": "0.3"}, limit=5),
    "shopping": RunSpec("WebShopLite-v0", "adapt_test", "adapt", model=TAPE, limit=5),
    "browsing": RunSpec("WebShopLite-v0", "dev", "random", env_args={"mode": "text_rich"}, limit=5),
    "naive": RunSpec("WebShopLite-v0", "test", "naive_buyer", limit=20),
    "goals": RunSpec("MineTechTree-v0", "MT2", "deps", model=TAPE, limit=6),
    "digging": RunSpec(
        "MineTechTree-v0", "MT2", "random", env_args={"ticks": 300, "feedback": "terse"}, limit=4
    ),
    "wrapped": RunSpec(
        "TextCraft-v0",
        "dev",
        "random",
        wrappers=("HelpfulFeedback", "TextHistory,turns=3"),
        limit=4,
    ),
    "shaped": RunSpec(
        "MineTechTree-v0", "MT1", "expert", wrappers=("SubgoalReward,gamma=0.9",), limit=2
    ),
    "processes": RunSpec("TextCraft-v0", "test", "expert", limit=4, backend="process", workers=2),
    "foreign": RunSpec(f"{FOREIGN}:Say-v0", agent=f"{FOREIGN}:Polite", env_args={"loudly": True}),
    "seeds": RunSpec(f"{FOREIGN}:GuessDigit-v0", agent=f"{FOREIGN}:guess_three", limit=30, seed=5),
    "limits": RunSpec("TextCraft-v0", "dev", "react", model=f"{FLAWED}:SmallContext", limit=6),
    "errors": RunSpec("TextCraft-v0", "dev", "tests.runs.flawed_agents:Stumbling", limit=6),
}
Edit = Callable[[Path], None]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the folder of a run, which is played once and not to be changed."""
    folders: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp("run") / "run"
            evaluate(CLEAN[name], folders[name])
        return folders[name]

    return folder


@pytest.fixture
def copied(played: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """Return a copy of the folder of a run."""
    return lambda name: Path(shutil.copytree(played(name), tmp_path / "copy"))


def checked(folder: Path, **options: Any) -> Verification:
    return verify(folder, trusted=("tests",), **options)


def said(outcome: Verification) -> str:
    return "\n".join(map(str, outcome.differences))


def read_lines(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def write_lines(folder: Path, records: list[dict[str, Any]]) -> None:
    (folder / "episodes.jsonl").write_text(
        "".join(json.dumps(record) + "\n" for record in records), encoding="utf-8"
    )


def forge_summary(folder: Path) -> None:
    """Write the summary and the report anew, as someone does who edits records with care."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = read_records(folder)
    summaries = summarise_by_group(records)
    as_json = {name: asdict(summary) for name, summary in summaries.items()}
    (folder / "summary.json").write_text(json.dumps(as_json, indent=2) + "\n")
    (folder / "report.md").write_text(markdown({"run": summaries}))


@pytest.mark.parametrize("name", CLEAN)
def test_verify__finds_nothing_in_a_clean_run(played, name):
    outcome = checked(played(name))
    assert (outcome.differences, outcome.unverifiable) == ([], [])
    assert outcome.identical
    records = read_records(played(name))
    assert outcome.episodes == len(records) >= 2
    assert outcome.steps == sum(record["steps"] for record in records) > 0


def test_clean_runs__are_of_every_end_and_kind(played):
    records = [record for name in CLEAN for record in read_records(played(name))]
    ends = {"terminated", "truncated", "max_steps", "max_calls", "agent", "limit", "error"}
    assert {record["stop_reason"] for record in records} == ends
    assert max(record["trials"] for record in records) > 1
    assert max(record["k_max"] for record in records) > 0
    assert {record["claimed_success"] for record in records} == {True, False, None}


def reward(records):
    records[0]["reward"] += 0.5


def left_out(records):
    del records[1]


def doubled(records):
    records.append(records[0])


def doubled_after_an_error(records):
    records.append(
        {**records[0], "error": "ModelError: busy", "stop_reason": "error", "won": False}
    )


def observation(records):
    entry = records[1]["transcript"][-1]
    entry[1] = entry[1] + "!"


def beginning(records):
    records[0]["transcript"][0][1] = records[0]["transcript"][0][1].replace("craft", "get", 1)


def inserted(records):
    transcript = records[0]["transcript"]
    transcript.insert(1, ["inventory", "Inventory: You are not carrying anything."])


def removed(records):
    del records[0]["transcript"][1]


def won(records):
    records[0]["won"] = not records[0]["won"]


def seed(records):
    records[0]["seed"] += 1


def another_task(records):
    records[0]["task"], records[1]["task"] = records[1]["task"], records[0]["task"]


def unknown_task(records):
    records[0]["task"] = "minecraft:bedrock"


def group(records):
    records[0]["group"] = "depth 9"


def optimum(records):
    records[0]["optimal_length"] += 1


def excused(records):
    records[0].update(error="ModelError: busy", stop_reason="error", won=False, transcript=[])


def without_transcript(records):
    records[0]["transcript"] = []


def cheaper(records):
    records[0]["tokens"]["prompt_tokens"] -= 1


def fewer_calls(records):
    records[0]["calls"]["executor"] -= 1


def deeper(records):
    records[0]["k_max"] += 1


def field_more(records):
    records[0]["spent_before"] = -5.0


def field_less(records):
    del records[0]["trials"]


def claim(records):
    records[0]["claimed_success"] = not records[0]["claimed_success"]


def error_without_its_end(records):
    records[0]["error"] = "ModelError: busy"


def traceback_without_an_error(records):
    records[0]["traceback"] = "Traceback"


def trace_of_another_task(records):
    records[0]["trace"]["task"] = records[1]["task"]


def depth_of_the_whole(records):
    records[0]["trace"]["depth"] = -1


def calls_beyond_the_budget(records):
    records[0]["calls"]["executor"] += 10_000
    records[0]["trace"]["calls"] += 10_000


def reward_of_another_type(records):
    records[0]["reward"] = int(records[0]["reward"])


def end(records):
    records[0]["stop_reason"] = "truncated"


EDITS = [
    claim,
    error_without_its_end,
    traceback_without_an_error,
    trace_of_another_task,
    depth_of_the_whole,
]
EDITS += [calls_beyond_the_budget, reward_of_another_type, end]
EDITS += [
    reward,
    left_out,
    doubled,
    doubled_after_an_error,
    observation,
    beginning,
    inserted,
    removed,
    won,
    seed,
]
EDITS += [
    another_task,
    unknown_task,
    group,
    optimum,
    excused,
    without_transcript,
    cheaper,
    fewer_calls,
    deeper,
]
EDITS += [field_more, field_less]


@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize("edit", EDITS)
def test_verify__finds_an_edited_record(copied, edit, careful):
    folder = copied("adapt")
    records = read_lines(folder)
    edit(records)
    write_lines(folder, records)
    if careful:
        forge_summary(folder)
    assert not checked(folder).identical


def test_verify__says_file_line_task_step_and_both_values(copied):
    folder = copied("adapt")
    records = read_lines(folder)
    task, action = records[2]["task"], records[2]["transcript"][1][0]
    records[2]["transcript"][1][1] += "\x1b[2J and more"
    records[3]["reward"] = 0.25
    write_lines(folder, records)
    first, second, *rest = checked(folder).differences
    assert first.where == f"episodes.jsonl:3, {task}"
    assert first.what.startswith(f"step 1, action {action!r}: recorded ")
    assert "\\x1b[2J and more" in first.what
    assert str(first).isprintable()
    assert (
        str(second)
        == f"episodes.jsonl:4, {records[3]['task']}: reward: recorded 0.25, replayed 1.0"
    )
    assert rest[0].where == "summary.json"


def test_verify__says_what_was_recorded_after_the_end(copied):
    folder = copied("expert")
    records = read_lines(folder)
    length = len(records[0]["transcript"])
    records[0]["transcript"].append(["inventory", "Inventory: You are not carrying anything."])
    write_lines(folder, records)
    assert f": step {length}, action 'inventory': recorded after the episode's end" in said(
        checked(folder)
    )


def test_verify__finds_an_episode_that_says_not_whether_it_was_won(copied):
    folder = copied("adapt")
    records = read_lines(folder)
    records[0]["won"] = None
    write_lines(folder, records)
    assert "won: recorded None, replayed " in said(checked(folder))


def test_verify__names_missing_and_doubled_episodes(copied):
    folder = copied("adapt")
    records = read_lines(folder)
    write_lines(folder, [*records[1:], records[-1]])
    message = said(checked(folder))
    assert f"1 of 6 episodes are missing: {records[0]['task']}" in message
    assert (
        f"episodes.jsonl:6, {records[-1]['task']}: duplicate episode: only a failed episode may be retried"
        in message
    )


def test_verify__finds_an_edited_summary_and_report(copied):
    folder = copied("adapt")
    summary = json.loads((folder / "summary.json").read_text())
    summary["all"]["calls"]["executor"] -= 1
    (folder / "summary.json").write_text(json.dumps(summary))
    report = (folder / "report.md").read_text()
    (folder / "report.md").write_text(report.replace(" | 6 | ", " | 7 | "))
    first, *others = checked(folder).differences
    assert first.what.startswith("all.calls.executor: recorded ")
    assert {difference.where for difference in others} == {"report.md"}
    assert others[-1].what == "run, all, n: recorded 7, recomputed 6"


def test_verify__finds_other_recipes(copied, tmp_path):
    """The same tasks in another version of the game: one recipe takes another number."""
    data = Path(recipes.__file__).parent / "data"
    pack = tmp_path / "pack"
    pack.mkdir()
    shutil.copy(data / "tags.jsonl", pack)
    lines = (data / "recipes.jsonl").read_text().splitlines()
    stick = next(
        index for index, line in enumerate(lines) if json.loads(line)["id"] == "minecraft:stick"
    )
    recipe = json.loads(lines[stick])
    recipe["result"]["count"] = 3
    lines[stick] = json.dumps(recipe)
    (pack / "recipes.jsonl").write_text("\n".join(lines) + "\n")
    message = said(checked(copied("adapt"), env_args={"recipes": str(pack)}))
    assert "config.json: env_sha256: recorded " in message
    assert ", step 0, a reset: recorded " in message or "step 0, a reset: recorded" in message


def test_verify__finds_other_prompts(copied, tmp_path):
    folder = copied("adapt")
    own = tmp_path / "prompts" / "adapt"
    own.mkdir(parents=True)
    text = (Path(prompts.__file__).parent / "adapt" / "textcraft.txt").read_text()
    (own / "textcraft.txt").write_text(text.replace("the", "thy", 1))
    (difference,) = checked(folder, prompts=tmp_path / "prompts").differences
    assert str(difference).startswith("config.json: prompts_sha256: recorded ")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("env", "TextCraftTags-v0"),
        ("split", "dev"),
        ("seed", 1),
        ("limit", 5),
        ("limit", None),
        ("max_steps", 2),
        ("max_calls", 1),
        ("env_args", {"distractors": 3}),
        ("wrappers", ["TextHistory,turns=2"]),
        ("agent", "react"),
        ("env_sha256", None),
        ("tasks_sha256", "0" * 64),
        ("prompts_sha256", "0" * 64),
    ],
)
def test_verify__finds_an_edited_config(copied, key, value):
    folder = copied("adapt")
    config = read_config(folder)
    assert config[key] != value
    (folder / "config.json").write_text(json.dumps({**config, key: value}))
    assert checked(folder).count


def test_verify__takes_an_error_that_was_tried_again(tmp_path):
    flawed = RunSpec("TextCraft-v0", "dev", "tests.runs.flawed_agents:Once", limit=3)
    flawed_agents.Once.failed.clear()
    evaluate(flawed, tmp_path)
    evaluate(flawed, tmp_path)
    assert len(read_lines(tmp_path)) == 6
    outcome = checked(tmp_path)
    assert outcome.identical
    assert (outcome.episodes, outcome.attempts, outcome.errors) == (3, {"error": 3}, 0)
    assert "3 episodes (3 earlier attempts ended by an error), " in outcome.lines("run", 20)[0]


def test_verify__does_not_count_an_interrupted_attempt_as_an_episode(copied):
    folder = copied("few steps")
    records = read_lines(folder)
    attempt = {**records[0], "error": "RunStopped: interrupted", "stop_reason": "error"}
    write_lines(
        folder, [{**attempt, "limit": None, "won": None, "claimed_success": None}, *records]
    )
    outcome = checked(folder)
    assert outcome.episodes == 6
    assert (
        " 6 episodes (1 earlier attempt ended by an interruption), " in outcome.lines("run", 20)[0]
    )


def test_verify__says_that_a_run_without_an_action_could_not_be_rechecked(tmp_path):
    evaluate(RunSpec("TextCraft-v0", "dev", "tests.runs.flawed_agents:Idle", limit=2), tmp_path)
    outcome = checked(tmp_path)
    assert (outcome.count, outcome.steps, outcome.identical) == (0, 0, False)
    assert outcome.as_json()["identical"] is False
    nothing = "run: nothing could be rechecked, since no action was recorded; 2 episodes"
    assert outcome.lines("run", 20)[0].startswith(nothing)


def test_verify__replays_errors_as_far_as_they_went_and_counts_them(played):
    outcome = checked(played("errors"))
    assert outcome.identical
    assert outcome.errors == 6
    assert "note: 6 failed episodes: no rate counts them" in "\n".join(outcome.lines("run", 20))


def test_verify__does_not_pass_what_it_cannot_replay(tmp_path):
    """An agent that was given as an object cannot be made by name, but read no prompts; a
    transcript is needed."""
    evaluate(replace(CLEAN["errors"], agent=flawed_agents.Stumbling()), tmp_path)
    outcome = checked(tmp_path)
    assert outcome.identical
    assert outcome.notes == ["replayed without the agent 'Stumbling': no agent here has this name"]
    records = read_lines(tmp_path)
    records[0] |= {"transcript": [], "steps": 0, "trials": 1}
    write_lines(tmp_path, records)
    outcome = checked(tmp_path)
    assert any(f"{records[0]['task']}: no transcript" in what for what in outcome.unverifiable)
    assert not outcome.identical


def test_verify__says_that_prompts_of_an_unknown_agent_are_not_rechecked(copied):
    folder = copied("adapt")
    (folder / "config.json").write_text(json.dumps({**read_config(folder), "agent": "adapt2"}))
    outcome = checked(folder)
    assert not outcome.differences
    assert not outcome.identical
    assert outcome.unverifiable == ["prompts of the agent 'adapt2': no agent here has this name"]


def test_verify__replays_a_run_whose_folder_of_prompts_is_not_here(copied, tmp_path):
    folder = copied("adapt")
    (folder / "config.json").write_text(
        json.dumps({**read_config(folder), "prompts": str(tmp_path / "theirs")})
    )
    outcome = checked(folder)
    assert (outcome.differences, outcome.episodes, outcome.identical) == ([], 6, False)
    assert "theirs is no folder of prompts" in outcome.unverifiable[0]


def test_verify__of_an_unfinished_run_names_what_is_missing(copied):
    folder = copied("adapt")
    config = read_config(folder)
    del config["finished"]
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "summary.json").unlink()
    text = (folder / "episodes.jsonl").read_bytes()
    (folder / "episodes.jsonl").write_bytes(text[:-50])
    outcome = checked(folder)
    assert [str(difference) for difference in outcome.differences] == [
        f"episodes.jsonl: 1 of 6 episodes are missing: {json.loads(text.splitlines()[-1])['task']}"
    ]
    assert outcome.notes == ["the run is unfinished: it has no summary"]


@pytest.mark.parametrize("folder", ["moved", "other/place/of it"])
def test_verify__of_a_folder_that_was_moved(played, tmp_path, folder):
    shutil.copytree(played("adapt"), tmp_path / folder)
    assert checked(tmp_path / folder).identical


def test_verify__does_not_write_transcripts_again(tmp_path):
    recorder = f"TranscriptRecorder,path={tmp_path / 'transcripts.jsonl'}"
    evaluate(replace(CLEAN["random"], wrappers=(recorder,)), tmp_path / "run")
    before = (tmp_path / "transcripts.jsonl").read_bytes()
    assert checked(tmp_path / "run").identical
    assert (tmp_path / "transcripts.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "named",
    [
        {"env": f"{FOREIGN}:Say-v0"},
        {"wrappers": ["subprocess:Popen,args=touch owned"]},
        {"wrappers": ["textcraft_gym.wrappers.transcript_recorder:TranscriptRecorder,path=owned"]},
    ],
)
def test_verify__imports_no_code_that_only_the_run_names(copied, named):
    folder = copied("random")
    (folder / "config.json").write_text(json.dumps({**read_config(folder), **named}))
    with pytest.raises(RunError, match=r"'[\w.]+:[\w-]+', which the run names, .*--trust [\w.]+$"):
        verify(folder, trusted=("testsuite", "test", ""))


@pytest.mark.parametrize("env_id", ["CartPole-v1", "LunarLander-v3", "MineDojo-v0", "NoSuch-v0"])
def test_verify__makes_no_world_outside_of_the_suite(copied, env_id):
    folder = copied("random")
    (folder / "config.json").write_text(json.dumps({**read_config(folder), "env": env_id}))
    with pytest.raises(
        RunError,
        match=f"'{env_id}', which the run names, is not part of the suite.*add --trust {env_id}$",
    ):
        verify(folder, trusted=("CartPole", "TextCraft-v0"))
    with pytest.raises(RunError, match="the world cannot be made here"):
        verify(folder, trusted=(env_id,))


def test_verify__makes_no_agent_that_only_the_run_names(copied, tmp_path):
    folder = copied("random")
    owned = tmp_path / "owned"
    config = {
        **read_config(folder),
        "agent": "subprocess:Popen",
        "agent_args": {"args": ["touch", str(owned)]},
    }
    (folder / "config.json").write_text(json.dumps(config))
    assert verify(folder).notes == [
        "replayed without the agent 'subprocess:Popen': if you trust it, add --trust subprocess"
    ]
    assert not owned.exists()


def test_verify__makes_an_agent_of_an_installed_package_only_where_it_is_trusted(
    copied, monkeypatch
):
    entry = EntryPoint("theirs", "tests.foreign_worlds:Polite", registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "installed", lambda group: {entry.name: entry})
    folder = copied("random")
    (folder / "config.json").write_text(
        json.dumps({**read_config(folder), "agent": "theirs", "agent_args": {}})
    )
    assert verify(folder).notes == [
        "replayed without the agent 'theirs': if you trust it, add --trust theirs"
    ]
    assert verify(folder, trusted=("theirs",)).notes == []


HOSTILE_CONFIGS = [
    b"",
    b"[]",
    b"7",
    b"{",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"schema": 2}',
    b'{"schema": [2]}',
    b'{"schema": 1e999}',
]
HOSTILE_VALUES = [
    ("env", "NoSuch-v0"),
    ("env", "CartPole-v1"),
    ("env", ":"),
    ("env", 7),
    ("split", "nothing"),
    ("split", "/dev/zero:train"),
    ("split", "no\0file:train"),
    ("env_args", {"recipes": "/dev/zero"}),
    ("env_args", {"recipes": 7}),
    ("env_args", {"nothing": 7}),
    ("env_args", {"split": "dev"}),
    ("env_args", {"distractors": -1}),
    ("env_args", [1]),
    ("wrappers", [""]),
    ("wrappers", ["TokenIds"]),
    ("wrappers", [["x"]]),
    ("wrappers", "x"),
    ("seed", -1),
    ("seed", True),
    ("limit", 0),
    ("limit", 10**12),
    ("limit", 10**30),
    ("max_steps", 0),
    ("max_calls", None),
    ("agent", None),
    ("schema", 1),
    ("schema", None),
    ("prompts_sha256", None),
]


def test_verify__says_what_it_expected_of_a_config(copied):
    folder = copied("random")
    config = read_config(folder)
    for changed, shown in (
        ({**config, "seed": 1e300}, "1e+300"),
        ({**config, "seed": None}, "None"),
    ):
        (folder / "config.json").write_text(json.dumps(changed))
        with pytest.raises(RunError, match=f"expected seed of type int, got {re.escape(shown)}$"):
            checked(folder)
    del config["seed"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match="expected seed of type int, got nothing"):
        checked(folder)


@pytest.mark.parametrize("config", HOSTILE_CONFIGS)
def test_verify__refuses_a_config_that_is_none(copied, config):
    folder = copied("random")
    (folder / "config.json").write_bytes(config)
    with pytest.raises(RunError):
        checked(folder)


@pytest.mark.parametrize(("key", "value"), HOSTILE_VALUES)
def test_verify__refuses_a_config_that_makes_no_sense(copied, key, value):
    folder = copied("random")
    (folder / "config.json").write_text(json.dumps({**read_config(folder), key: value}))
    with pytest.raises(RunError):
        checked(folder)


def test_verify__refuses_what_is_no_folder_of_a_run(tmp_path, copied):
    with pytest.raises(RunError):
        checked(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError):
        checked(tmp_path / "file")
    folder = copied("random")
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()
    with pytest.raises(RunError):
        checked(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["config.json", "episodes.jsonl", "summary.json", "report.md"])
def test_verify__does_not_wait_for_a_pipe(copied, name):
    folder = copied("random")
    (folder / name).unlink()
    os.mkfifo(folder / name)
    if name in ("config.json", "episodes.jsonl"):
        with pytest.raises(RunError, match=f"{name} is not a regular file"):
            checked(folder)
    else:
        assert f"{name} is not a regular file" in said(checked(folder))


@pytest.mark.parametrize(
    "line",
    [b"[]", b"7", b"{}", b"\xff", b"[" * 100_000, b'{"task": "a", "depth": 1', b'{"task": 7}'],
)
def test_verify__finds_a_line_that_is_no_record(copied, line):
    folder = copied("random")
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(line + b"\n")
    (difference,) = checked(folder).differences
    assert difference.where == "episodes.jsonl:5"
    expected = "expected an object, got |missing |not JSON: |nested too deeply$"
    assert re.match(expected, difference.what)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no devices that are files")
@pytest.mark.parametrize(
    "named", [{"env_args": {"recipes": "/dev/null"}}, {"split": "/dev/null:train"}]
)
def test_verify__opens_no_device_that_the_run_names(copied, named):
    folder = copied("random")
    (folder / "config.json").write_text(json.dumps({**read_config(folder), **named}))
    with pytest.raises(RunError, match=r"the run names '/dev/null.*', which is not a regular file"):
        checked(folder)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=6,
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a record that holds no others."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    inner = [place for key, item in items for place in leaves(item, (*path, key))]
    yield from inner or [path]


def at(record: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        record = record[key]
    return record


def put(record: Any, path: tuple[Any, ...], value: Any) -> None:
    at(record, path[:-1])[path[-1]] = value


def cannot_be_rechecked(path: tuple[Any, ...], old: Any, new: Any) -> bool:
    """Return whether an edit of a record and of the summary is of what the output calls not
    rechecked."""
    if path[0] in ("start", "seconds", "model_seconds", "cost", "replies"):
        return True
    if path[0] == "error":
        return old is not None and new is not None
    if path[0] == "traceback":  # an error may have none
        return old is not None
    if path[0] == "limit":
        return old is not None and new is not None
    if path[0] == "stop_reason":
        return {old, new} <= {"agent", "max_calls"}
    # The names, depths and outcomes of the parts of a trace, and the agent's thoughts.
    part_of_trace = path[0] == "trace" and len(path) > 2
    return part_of_trace and (
        path[-1] in ("task", "role", "depth", "outcome") or isinstance(old, str)
    )


@pytest.mark.parametrize(
    "name", ["adapt", "two trials", "few calls", "shopping", "goals", "seeds", "limits", "errors"]
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_verify__finds_any_edit_of_one_field(played, tmp_path_factory, name, data):
    folder = Path(shutil.copytree(played(name), tmp_path_factory.mktemp("edited") / "run"))
    records = read_lines(folder)
    record = records[data.draw(st.integers(0, len(records) - 1), "line")]
    field = data.draw(st.sampled_from(list(record)), "field")
    path = data.draw(st.sampled_from([(field, *path) for path in leaves(record[field])]), "path")
    old = at(record, path)
    same_type = {
        bool: st.just(old is False),
        int: st.integers(-3, 50),
        float: st.floats(0, 2),
        str: st.text(max_size=9),
    }
    new = data.draw(same_type.get(type(old), JSON_VALUES) | JSON_VALUES, "value")
    if json.dumps(new) == json.dumps(old):
        return
    put(record, path, new)
    write_lines(folder, records)
    with suppress(Exception):  # a summary of what is no record
        forge_summary(folder)
    try:
        outcome = checked(folder)
    except RunError:  # no record any more
        return
    assert not outcome.identical or cannot_be_rechecked(path, old, new)


def test_speed__is_thousands_of_steps_a_second(played):
    outcome = checked(played("random"))
    assert outcome.steps / outcome.seconds > 1000


class Exit(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Exit]:
    def command(*arguments: str) -> Exit:
        monkeypatch.setattr(sys, "argv", ["textcraft-gym", "verify", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        return Exit(stopped.value.code or 0, *capsys.readouterr())

    return command


def test_command__exits_0_1_or_2(run, played, copied, tmp_path):
    clean, edited = played("random"), copied("adapt")
    records = read_lines(edited)
    records[0]["reward"] = 7.0
    write_lines(edited, records)
    good = run(str(clean))
    assert (good.status, good.err) == (0, "")
    assert f"{clean}: identical; 4 episodes, " in good.out
    assert "not rechecked" not in good.out  # it asked no model
    bad = run(str(clean), str(edited), "--show", "1")
    assert bad.status == 1
    assert bad.out.count("not rechecked: the model's name and answers") == 1
    assert "outcomes of the parts of the trace" in bad.out
    assert "reward: recorded 7.0, replayed " in bad.out
    assert " and " in bad.out
    unreadable = run(str(tmp_path / "nothing"), str(edited))
    assert unreadable.status == 2
    assert unreadable.err.count("\n") == 1
    assert "reward: recorded 7.0" in unreadable.out
    as_json = run(str(edited.parent), "--json")  # all runs below a folder
    (outcome,) = json.loads(as_json.out).values()
    assert outcome["count"] == len(outcome["differences"]) > 0
    assert outcome["identical"] is False


def test_command__refuses_options_of_runs_without_a_run(run):
    for option in ("--trust", "--split", "--prompts"):
        refused = run("--env", "TextCraft-v0", option, "test")
        assert (refused.status, refused.out) == (2, "")
        assert "expected run folders, got none" in refused.err
