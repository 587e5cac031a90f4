"""What becomes of an episode, and what a run counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.test_main import run
from tests.episodes.test_episode import CountdownEnv
from tests.reports.test_metrics import record
from tests.reports.test_page import config
from tests.reports.test_page import record as whole_record
from textcraft_gym import RunSpec, evaluate, run_episode
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Routine, Step, won_in
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.errors import UnknownName
from textcraft_gym.reports.advice import advice
from textcraft_gym.reports.compare import compare, verdict
from textcraft_gym.reports.metrics import outcome_of, summarise, summarise_by_group
from textcraft_gym.reports.page import html_page
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.reports.success import wilson_interval
from textcraft_gym.reports.tables import markdown, reply_rows
from textcraft_gym.reports.tally import Tally
from textcraft_gym.runs.runner import is_won
from textcraft_gym.verify.recheck import verify

FOREIGN = "tests.foreign_worlds"
FLAWED = "tests.runs.flawed_agents"
GUESSING = RunSpec(f"{FOREIGN}:GuessDigit-v0", agent=f"{FOREIGN}:guess_three", seed=5, limit=20)


@pytest.mark.parametrize(
    ("info", "won"),
    [
        ({}, None),
        ({"won": True}, True),
        ({"won": False, "success": True}, False),
        ({"is_success": np.bool_(True)}, True),
        ({"is_success": None, "success": 1.0}, True),
        ({"success": np.float32(0)}, False),
        ({"success": np.array(True)}, True),
        ({"success": np.array([True, False])}, None),
        ({"success": "no"}, None),
        ({"success": 0.5}, None),
        ({"won": "yes", "success": 0}, False),
        ({"score": 1}, None),
    ],
)
def test_won_in__reads_what_the_world_says_and_nothing_else(info: dict[str, Any], won: bool | None):
    assert won_in(info) is won
    step = Step("", 1.0, terminated=True, truncated=False, info=info)
    assert step.won is (won is True)
    assert EpisodeOver(step).claim is None  # what the world says is no claim


class Saying:
    """Says in info, and pays, what is listed for each step."""

    def __init__(self, *steps: tuple[float, dict[str, Any]]) -> None:
        self.steps = steps

    def env(self) -> Any:
        env = CountdownEnv(len(self.steps))
        left = list(self.steps)

        def step(action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            reward, info = left.pop(0)
            return "", reward, not left, False, info

        env.step = step  # type: ignore[method-assign]
        return env


def pressing_on(observation: str, info: dict[str, Any]) -> str:
    return "on"


@pytest.mark.parametrize(
    ("steps", "won_at", "won"),
    [
        ([(0.2, {})], None, None),
        ([(1.0, {"is_success": np.bool_(True)})], None, True),
        ([(0.0, {"success": True}), (0.0, {})], None, True),  # never taken back
        ([(0.0, {"success": True}), (0.0, {"success": False})], None, True),
        ([(0.0, {"success": False}), (0.0, {})], None, False),
        ([(0.5, {}), (0.4, {})], 0.9, True),
        ([(0.5, {}), (0.3, {})], 0.9, False),
        ([(0.1, {})] * 10, 1.0, True),  # their sum is 0.9999999999999999
        ([(0.2, {"won": False})], 0.1, True),
        ([(0.2, {"won": True})], 0.9, True),
    ],
)
def test_run_episode__is_won_as_the_world_or_the_reward_says(
    steps, won_at: float | None, won: bool | None
):
    episode = run_episode(Saying(*steps).env(), pressing_on, seed=0, won_at=won_at)
    assert episode.won is is_won(episode) is won


def test_run_spec__takes_only_bounds_that_make_sense():
    for wrong in (
        {"won_at": 0},
        {"won_at": float("nan")},
        {"repeats": 0},
        {"temperature": -1},
        {"temperature": 3},
    ):
        with pytest.raises(ValueError, match=f"expected .*{next(iter(wrong))}"):
            RunSpec("TextCraft-v0", **wrong)


def test_evaluate__of_a_world_that_does_not_say_shows_the_score_alone(tmp_path: Path):
    records = evaluate(GUESSING, tmp_path / "run")
    assert {record["won"] for record in records} == {None}
    (summary,) = summarise_by_group(records).values()
    assert (summary.rate, summary.unknown, summary.won, summary.recall) == (None, 20, 0, None)
    assert 0 < summary.reward < 1
    row = run("report", str(tmp_path / "run")).splitlines()[4].split()
    assert row[:7] == ["run", "all", "20", "-", "-", "-", f"{100 * summary.reward:.1f}"]
    assert verify(tmp_path / "run", trusted=("tests",)).identical
    page = html_page({"run": records}, {"run": read_config(tmp_path / "run")})
    assert "the world did not say whether it was won" in page
    assert "? unknown" in page
    comparison = compare(records, records)
    assert (comparison.tasks, comparison.left_out, comparison.difference) == (0, 20, None)
    assert Tally(20, records).line().startswith("played 20, errors 0")


def test_evaluate__of_a_world_that_does_not_say_goes_by_the_bound(tmp_path: Path):
    records = evaluate(replace(GUESSING, won_at=1.0), tmp_path)
    assert [record["won"] for record in records] == [record["reward"] == 1 for record in records]
    assert read_config(tmp_path)["won_at"] == 1.0
    assert verify(tmp_path, trusted=("tests",)).identical
    text = (tmp_path / "config.json").read_text().replace('"won_at": 1.0', '"won_at": 2.0')
    (tmp_path / "config.json").write_text(text)
    assert not verify(tmp_path, trusted=("tests",)).identical
    with pytest.raises(ValueError, match=r"another run .*won_at"):
        evaluate(replace(GUESSING, won_at=1.0), tmp_path)


OUTCOMES = st.sampled_from(
    [
        {"won": True},
        {"won": False},
        {"won": None},
        {"won": False, "limit": "context"},
        {"won": False, "error": "x"},
    ]
)


@given(st.lists(OUTCOMES, max_size=12), st.sampled_from(["exclude", "count"]))
def test_summarise__counts_each_episode_once(outcomes: list[dict[str, Any]], errors):
    records = [record(**{"won": None, **outcome, "reward": 1.0}) for outcome in outcomes]
    summary = summarise(records, errors=errors)
    lost = sum(outcome_of(record) == "lost" for record in records)
    limits = sum(summary.limits.values())
    assert summary.won + lost + limits + summary.unknown + summary.errors == len(records)
    assert summary.episodes == len(records) - (summary.errors if errors == "exclude" else 0)
    assert (summary.rate is None) == (bool(summary.unknown) or not summary.episodes)
    if summary.rate is not None:
        assert summary.rate == pytest.approx(summary.won / summary.episodes)


def test_summarise__counts_errors_as_lost_where_it_is_told_to():
    records = [
        record(),
        record(won=False, error="x", reward=1.0, steps=99),
        record(won=False, limit="length"),
    ]
    excluded, counted = summarise(records), summarise(records, errors="count")
    assert (excluded.episodes, excluded.rate, excluded.errors, excluded.limits) == (
        2,
        0.5,
        1,
        {"length": 1},
    )
    assert (counted.episodes, counted.rate, counted.errors) == (3, pytest.approx(1 / 3), 1)
    assert (counted.low, counted.high) == wilson_interval(1, 3)
    assert (counted.reward, counted.steps) == (pytest.approx(1 / 3), excluded.steps)
    with pytest.raises(UnknownName, match="way with errors 'ignore'"):
        summarise(records, errors="ignore")


def test_compare__counts_errors_as_lost_where_it_is_told_to():
    a, b = ({"task": task, "family": task, "won": True} for task in "ab")
    first = [a, b]
    second = [{**a, "error": "x"}, {**b, "won": False, "limit": "context"}]
    assert compare(first, second).lost == ("b",)
    comparison = compare(first, second, errors="count")
    assert (comparison.tasks, comparison.left_out, comparison.lost) == (2, 0, ("a", "b"))
    assert verdict({"x": first, "y": second}, errors="count").standings[0].run == "x"


def _whole(*command: str) -> dict:
    return json.loads(run(*command))["runs"]["broken"]["groups"]["all"]


def test_report__counts_errors_as_lost_where_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    evaluate(RunSpec("TextCraft-v0", "dev", f"{FLAWED}:Stumbling", limit=2), "broken")
    evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=2), "expert")
    assert _whole("report", "broken", "--json")["rate"] is None
    counted = _whole("report", "broken", "--errors", "count", "--json")
    assert (counted["episodes"], counted["rate"], counted["errors"]) == (2, 0.0, 2)
    apart = json.loads(run("compare", "broken", "expert", "--json"))["sets"]
    assert [of_set["tasks"] for of_set in apart] == [0, 2]
    (lost,) = json.loads(run("compare", "broken", "expert", "--errors", "count", "--json"))["sets"]
    (pair,) = lost["pairs"]
    assert (pair["worse"], pair["comparison"]["difference"]) == ("broken", 1.0)
    run("report", "broken", "expert", "--errors", "count", "--out", "page.html")
    assert "those with an error count as lost" in Path("page.html").read_text()


def test_evaluate__counts_limits_and_does_not_play_them_again(tmp_path: Path):
    spec = RunSpec("TextCraft-v0", "dev", "react", model=f"{FLAWED}:SmallContext", limit=12)
    records = evaluate(spec, tmp_path / "run")
    limits = {record["limit"] for record in records}
    assert {"context", "length"} < limits
    assert {record["error"] for record in records} == {None}
    again: list[dict[str, Any]] = []
    assert evaluate(spec, tmp_path / "run", on_episode=again.append) == records
    assert again == []
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())["all"]
    assert summary["limits"] == {
        name: sum(record["limit"] == name for record in records if not record["won"])
        for name in summary["limits"]
    }
    assert summary["episodes"] == 12
    assert summary["replies"]["empty"] == sum(record["limit"] == "length" for record in records)
    report = (tmp_path / "run" / "report.md").read_text()
    assert "| limits | errors |" in report
    replies = "| run | group | read | bare | words around it | no command | empty | cut off |"
    assert replies in report
    page = html_page({"run": records}, {"run": read_config(tmp_path / "run")})
    assert "met a limit" in page
    assert "✗ limit" in page


def replying(calls: int, **replies: int) -> dict[str, Any]:
    return {"calls": {"executor": calls}, "replies": replies}


def test_advice__says_nothing_where_few_answers_are_of_no_use():
    assert advice([]) == []
    assert advice([replying(0)]) == []
    assert advice([replying(90, worded=90), replying(10, empty=4, cut=3, no_command=3)]) == []


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("empty", ("reasoning_tokens", "max_tokens")),
        ("cut", ("max_tokens",)),
        ("no_command", ("form=chat", "reading")),
    ],
)
def test_advice__names_the_options_that_mend_it(kind: str, options: tuple[str, ...]):
    (line,) = advice([replying(60, bare=20), replying(40, **{kind: 11})])
    # Those without a command are of the answers that were read for one.
    assert line.startswith(f"11 of {31 if kind == 'no_command' else 100} answers ")
    assert all(option in line for option in options)


def test_advice__is_of_two_lines_at_most_and_begins_with_the_worst():
    lines = advice([replying(100, empty=20, cut=40, no_command=30)])
    assert [line.split()[0] for line in lines] == ["40", "30"]


class Mute:
    """Says nothing."""

    def complete(self, prompt: Any, **how: Any) -> Completion:
        return Completion("", reasoning="hm", finish_reason="length")


def test_evaluate__ends_with_advice(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    model = f"{__name__}:Mute"
    run(
        "evaluate",
        "--env",
        "TextCraft-v0",
        "--limit",
        "2",
        "--model",
        model,
        "--out",
        str(tmp_path / "run"),
    )
    assert "raise the agent option max_tokens=N" in (tmp_path / "run" / "report.md").read_text()
    assert not verify(tmp_path / "run", trusted=("tests",)).count


def test_markdown__shows_replies_only_where_some_could_not_be_taken():
    quiet = record(calls={"executor": 1}, replies={"asked": 1, "bare": 1})
    loud = record(calls={"executor": 1}, replies={"asked": 3, "bare": 1, "cut": 2})
    assert "words around it" not in markdown({"run": summarise_by_group([quiet])})
    assert "| 1 | 1 | 0 | 0 | 0 | 2 |" in markdown({"run": summarise_by_group([loud])})


def test_reply_rows__have_a_dash_where_nothing_is_known():
    told = record(
        calls={"executor": 11}, replies={"asked": 11, "bare": 3, "worded": 6, "no_command": 2}
    )
    programmed = record(calls={"planner": 4}, replies={"asked": 4, "cut": 1})
    own = record(calls={"executor": 9}, replies={})
    runs = {"react": [told, told], "deps": [programmed], "own": [own]}
    rows = reply_rows({run: summarise_by_group(records) for run, records in runs.items()})
    assert [row[:1] + row[2:] for row in rows if row[1] == "all"] == [
        ("react", "22", "6", "12", "4", "0", "0"),
        ("deps", "-", "-", "-", "-", "0", "1"),
        ("own", "-", "-", "-", "-", "-", "-"),
    ]


def test_page__tells_the_replies_and_the_repeat_of_an_episode():
    page = html_page(
        {"run": [whole_record(replies={"cut": 1}), whole_record(repeat=1)]}, {"run": config()}
    )
    assert "goal (repeat 1)" in page


class Drawing:
    """Says at each turn what its seed and the model draw."""

    def episode(self, play: Play) -> Routine:
        yield from play.act(f"say {play.seed % 1000}")
        completion = yield from play.ask("?", stop=("\n",))
        yield from play.act(completion.text)
        return False


class Asked:
    """Answers with what was asked for."""

    def complete(self, prompt: Any, *, temperature: float, sample: int, **how: Any) -> Completion:
        return Completion(f"{temperature} {sample}")


REPEATED = RunSpec("TextCraft-v0", "dev", f"{__name__}:Drawing", model=f"{__name__}:Asked", limit=3)


def said(records: list[dict[str, Any]]) -> list[list[str]]:
    return [[action for action, _ in record["transcript"][1:]] for record in records]


def test_evaluate__repeats_each_task_with_other_samples(tmp_path: Path):
    once = evaluate(REPEATED, tmp_path / "once")
    spec = replace(REPEATED, repeats=3, temperature=0.5)
    records = evaluate(spec, tmp_path / "run")
    assert [(record["task"], record["repeat"]) for record in records] == [
        (first["task"], repeat) for repeat in range(3) for first in once
    ]
    assert [actions[0] for actions in said(records)[:3]] == [actions[0] for actions in said(once)]
    assert {record["seed"] for record in records} == {0}
    assert len({tuple(actions) for actions in said(records)}) == 9
    assert len({actions[1] for actions in said(records)}) == 9
    assert all(actions[1].startswith("0.5 ") for actions in said(records))
    assert {actions[1] for actions in said(once)} == {"0.0 0"}
    assert list(read_records(tmp_path / "run")) == json.loads(json.dumps(records))
    assert verify(tmp_path / "run", trusted=("tests",)).identical
    config = read_config(tmp_path / "run")
    assert (config["repeats"], config["temperature"]) == (3, 0.5)
    assert config["tasks_sha256"] == read_config(tmp_path / "once")["tasks_sha256"]


def test_evaluate__of_repeats_goes_on_where_it_stopped(tmp_path: Path):
    spec = replace(REPEATED, repeats=3, temperature=0.5)
    records = evaluate(spec, tmp_path / "run")
    file = tmp_path / "run" / "episodes.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:5]))
    new: list[dict[str, Any]] = []
    again = evaluate(spec, tmp_path / "run", on_episode=new.append)
    assert said(again) == said(records)
    assert [(record["task"], record["repeat"]) for record in new] == [
        (record["task"], record["repeat"]) for record in records[5:]
    ]
    file.write_text("".join(lines[:-1]))
    assert f"{records[-1]['task']}, repeat 2" in str(
        verify(tmp_path / "run", trusted=("tests",)).differences[0]
    )


@pytest.mark.parametrize("backend", ["process"])
def test_evaluate__repeats_alike_in_other_processes(tmp_path: Path, backend: str):
    spec = replace(REPEATED, repeats=2, temperature=0.5)
    here = evaluate(spec, tmp_path / "here")
    assert said(evaluate(replace(spec, backend=backend, workers=2), tmp_path / "there")) == said(
        here
    )


def test_evaluate__warns_of_repeats_that_are_alike(tmp_path: Path):
    with pytest.warns(UserWarning, match="set a temperature .--temperature 0.7."):
        evaluate(replace(REPEATED, repeats=2), tmp_path)


def repeated(*won: tuple[bool, ...]) -> list[dict[str, Any]]:
    """Records of tasks with the outcomes of their episodes."""
    return [
        record(task=f"task {number}", repeat=repeat, won=won)
        for number, of_task in enumerate(won)
        for repeat, won in enumerate(of_task)
    ]


MIXED = repeated((True, True), (True, False), (False, False), (True, False))


def test_summarise__of_repeats_is_over_tasks():
    summary = summarise(MIXED)
    assert (summary.tasks, summary.episodes, summary.won, summary.rate) == (4, 8, 4, 0.5)
    assert [
        (attempts.k, attempts.tasks, attempts.at_least_one.mean, attempts.every.mean)
        for attempts in summary.passes
    ] == [
        (1, 4, 0.5, 0.5),
        (2, 4, 0.75, 0.25),
    ]
    assert (summary.passes[0].at_least_one.low, summary.passes[0].at_least_one.high) == (
        summary.low,
        summary.high,
    )
    assert wilson_interval(2, 4)[0] <= summary.low <= wilson_interval(4, 8)[0]
    assert summarise(MIXED[::2]).passes == ()
    broken = [*MIXED[:-1], {**MIXED[-1], "error": "x"}]
    assert [attempts.tasks for attempts in summarise(broken).passes] == [4, 3]
    assert summarise(broken).rate == 0.625


def test_markdown__shows_success_with_more_attempts():
    text = markdown({"run": summarise_by_group(MIXED)})
    assert "| run | k | 2 |" not in text
    assert "| run | k | tasks | pass@k % | 95% interval | pass^k % | 95% interval |" in text
    assert "| run | 2 | 4 | 75.0 | " in text


def test_compare__of_repeats_is_by_the_shares_of_each_task():
    better = repeated((True, True), (True, True), (True, False), (False, True))
    comparison = compare(MIXED, better)
    assert (comparison.tasks, comparison.repeats, comparison.gained, comparison.lost) == (
        4,
        2,
        ("task 1", "task 2"),
        (),
    )
    assert (comparison.both, comparison.neither, comparison.difference, comparison.p_value) == (
        2,
        0,
        0.25,
        0.5,
    )
    best = verdict({"first": MIXED, "second": better}).standings[0]
    assert (best.run, best.won, best.behind) == ("second", 3.0, None)


def test_commands__show_success_with_more_attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    options = ["--env", "TextCraft-v0", "--split", "dev", "--limit", "4", "--repeats", "3"]
    model = ["--model", "tests.doubles:Crafter,reach=2,slip=0.4", "--temperature", "0.7"]
    shown = run("evaluate", *options, *model, "--out", "a")
    assert "Success with k attempts at a task" in shown
    run("evaluate", *options, *model, "--out", "b", "--agent", "adapt")
    assert "exact p of the sign-flip test over tasks" in run("compare", "a", "b")
    held = json.loads(Path("a/summary.json").read_text())["all"]["passes"]
    assert [attempts["k"] for attempts in held] == [1, 2, 3]
    run("report", "a", "b", "--out", "page.html")
    page = Path("page.html").read_text()
    assert "pass^k" in page
    assert "the sign-flip test over tasks" in page
    swept = run(
        "sweep",
        *options,
        "--temperature",
        "0.7",
        "--model",
        "tests.doubles:Crafter,reach=2",
        "--agents",
        "react",
        "--out",
        "grid",
    )
    assert "react" in swept
    assert "pass@3" in Path("grid/sweep.csv").read_text().splitlines()[0]
