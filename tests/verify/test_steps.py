"""Claims about steps of plans, against the state of the world at the end of each step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import run
from textcraft_gym import RunSpec, evaluate
from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.errors import RunError
from textcraft_gym.verify.steps import Step, step_claims, steps_of

BEEHIVE = "minecraft:beehive"


class Claiming:
    """Attempts two steps without a plan, and then the steps of one, some of which it misjudges."""

    asks = False

    def episode(self, play: Play) -> Routine:
        yield from self.attempt(play, "craft beehive", True, [])  # before there is a plan
        with play.sub("craft beehive", "planner", 1) as plan:
            plan.outcome = True
        for task, claim, actions in (
            ("craft 1 stick", False, []),  # at the first observation
            ("get 2 oak logs", True, ["get 1 oak logs", "get 1 oak logs"]),
            ("get 3 honeycomb", True, ["get 1 honeycomb"]),
            ("get 2 oak logs", False, []),
            ("look about", True, ["inventory"]),
            ("craft 4 oak planks", True, ["craft 4 oak planks using 1 oak logs"]),
            ("get 2 oak logs", True, []),  # one was used up
        ):
            yield from self.attempt(play, task, claim, actions)
        yield from play.reset()
        yield from self.attempt(play, "craft 4 oak planks", True, [])  # gone with the reset
        yield from self.attempt(play, "get 3 honeycomb", True, ["get 3 honeycomb"])
        logs = ["get 2 oak logs", *["craft 4 oak planks using 1 oak logs"] * 2]
        # The game ends the episode in this one.
        last = "craft 1 beehive using 6 oak planks, 3 honeycomb"
        yield from self.attempt(play, "craft 1 beehive", True, [*logs, last])
        return True

    def attempt(self, play: Play, task: str, claim: bool, actions: list[str]) -> Iterator[Any]:
        with play.sub(task, "executor", 2) as node:
            for action in actions:
                yield from play.act(action)
            node.outcome = claim


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "claiming"
    (record,) = evaluate(RunSpec("TextCraft-v0", "test", Claiming, tasks=(BEEHIVE,)), folder)
    assert (record["won"], record["claimed_success"], record["error"]) == (True, None, None)
    return folder


def test_step_claims__are_counted_against_the_state_at_the_end_of_each_step(folder: Path):
    counts = {
        "done and held": 3,  # the logs, the planks, and the honeycomb of the second trial
        "done and not held": 3,
        "failed and held": 1,
        "failed and not held": 1,
        "cannot be told": 1,
    }
    claims = step_claims(folder)
    assert [*claims] == ["depth 2", "all"]
    assert claims["all"] == claims["depth 2"] == counts


def test_report__shows_claims_about_steps_where_it_is_asked_to(folder: Path, tmp_path: Path):
    headings = ("done and held", "done and not held", "failed and held", "failed and not held")
    page, table = tmp_path / "report.html", tmp_path / "report.md"
    printed = run("report", str(folder), "--steps")
    assert all(heading in printed for heading in headings)
    assert "done and held" not in run("report", str(folder))
    run("report", str(folder), "--steps", "--out", str(page), "--md", str(table))
    assert "| claiming | all | 9 | 3 | 3 | 1 | 1 | 1 |\n" in table.read_text()
    assert '<section id="steps">' in page.read_text()
    run("report", str(folder), "--out", str(page))
    assert '<section id="steps">' not in page.read_text()
    numbers = json.loads(run("report", str(folder), "--steps", "--json"))["steps"]["claiming"]
    assert numbers["all"]["done and not held"] == 3


def test_step_claims__of_a_run_without_plans_are_none(tmp_path: Path):
    spec = RunSpec("TextCraft-v0", "test", "random", limit=1, max_steps=3)
    evaluate(spec, tmp_path / "run")
    assert step_claims(tmp_path / "run") == {}
    assert "No run has claims about steps of plans." in run(
        "report", str(tmp_path / "run"), "--steps"
    )


def part(task: str, role: str, outcome: bool | None, *parts: Any) -> dict[str, Any]:
    return {"task": task, "role": role, "outcome": outcome, "parts": list(parts)}


def test_steps_of__are_the_attempts_after_a_plan_about_which_something_was_said():
    whole = part("all", "executor", False, 0, 1)
    inner = part(
        "inner",
        "task",
        True,
        part("inner", "executor", False, 4),
        part("inner", "planner", True),
        part("leaf", "skill", True, 5, "a note"),
    )
    trace = part(
        "all",
        "agent",
        None,
        whole,
        part("all", "planner", True),
        part("first", "executor", True, 2, 3),
        inner,
        part("quiet", "executor", True),
        part("cut", "executor", None, 6),
    )
    assert list(steps_of(trace)) == [
        Step("first", True, 3),
        Step("inner", False, 4),
        Step("leaf", True, 5),
        Step("quiet", True, 5),
    ]


def test_step_claims__of_a_foreign_world_are_asked_for_by_name(folder: Path, tmp_path: Path):
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "env": "other:World-v0"}))
    (tmp_path / "episodes.jsonl").write_text((folder / "episodes.jsonl").read_text())
    with pytest.raises(RunError, match="--trust other"):
        step_claims(tmp_path)
