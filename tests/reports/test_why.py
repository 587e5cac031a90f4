"""Why episodes were lost, as a reader of their transcripts has it, and by hand-made ones.

``lost.jsonl.xz`` has 80 lost episodes of the papers' packed runs, each with its cause as a reader
wrote it down before the program was asked: 60, by which it was improved, and 20 drawn later.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from tests.reports.test_records import record
from textcraft_gym.agents.games import load_profile
from textcraft_gym.reports.profiles import profile_of
from textcraft_gym.reports.why import (
    CAUSES,
    cause_of,
    why,
    why_examples,
    why_markdown,
    why_table,
)

TEXTCRAFT = load_profile("textcraft")
OPENING = """Crafting commands:
craft 4 oak planks using 1 oak logs
craft 4 stick using 2 planks
craft 1 ladder using 7 stick

Goal: craft ladder."""
LABELLED = [
    json.loads(line)
    for line in lzma.decompress((Path(__file__).parent / "lost.jsonl.xz").read_bytes()).splitlines()
]
READ_OTHERWISE = {"pick_two_obj_and_place-Pan-None-CounterTop-27/trial_00013"}
"""Tasks of episodes in which the program finds another cause: a pan was taken where there was none,
which ALFWorld refuses without a reason, and then the turns were spent."""


def node(*parts: Any, role: str = "executor", outcome: bool | None = False, task: str = "craft"):
    return {"task": task, "role": role, "calls": 1, "outcome": outcome, "parts": [*parts]}


def lost(*turns: tuple[str, str], trace: Any = None, **changes: Any) -> dict[str, Any]:
    """Return a lost episode of TextCraft."""
    transcript = [[None, OPENING], *map(list, turns)]
    executor = node(*range(1, len(transcript)))
    trace = trace or node(executor, role="agent", task="minecraft:ladder")
    return record(won=False, transcript=transcript, trace=trace) | changes


def cause(*turns: tuple[str, str], **changes: Any) -> str:
    return cause_of(lost(*turns, **changes), TEXTCRAFT)


GOT = ("get 1 oak logs", "Got 1 oak logs")
PLANKS = ("craft 4 oak planks using 1 oak logs", "Crafted 4 minecraft:oak_planks")
STICKS = ("craft 4 stick using 2 oak planks", "Crafted 4 minecraft:stick")
LADDER = "craft 1 ladder using 7 stick"
LACKS = "Could not find enough items to craft minecraft:ladder"
UNKNOWN = "Could not find a valid recipe for minecraft:ladder"


@pytest.mark.parametrize("draw", [1, 2])
def test_cause__is_what_a_reader_of_the_transcript_wrote_down(draw: int):
    labelled = [lost for lost in LABELLED if lost["draw"] == draw]
    assert len(labelled) == {1: 60, 2: 20}[draw]
    others = set()
    for lost_one in labelled:
        found = cause_of(lost_one["record"], profile_of(lost_one["env"]))
        if found != lost_one["cause"]:
            others.add(lost_one["record"]["task"])
    assert others == (READ_OTHERWISE if draw == 2 else set())


def test_cause__is_what_a_refused_command_lacks_or_gets_wrong():
    assert cause(GOT, PLANKS, (LADDER, LACKS)) == "missing part"
    assert cause(GOT, PLANKS, STICKS, (LADDER, LACKS)) == "wrong count"
    assert cause(GOT, ("craft 1 ladder using 6 stick", UNKNOWN)) == "wrong count"
    twice = (
        "craft 4 oak planks using 1 oak logs",
        "Could not find enough items to craft oak_planks",
    )
    assert cause(GOT, PLANKS, twice) == "missing part", "it was used up"
    assert cause(GOT, ("craft 1 ladder using 7 oak planks", UNKNOWN)) == "wrong thing"
    assert cause(("get 7 stick", "Could not find stick")) == "wrong thing"


def test_cause__of_a_refusal_that_was_overcome_is_none_of_it():
    assert cause((LADDER, LACKS), GOT, PLANKS, stop_reason="max_steps") == "budget"


def test_cause__is_of_the_last_attempt():
    turns = ((LADDER, LACKS), (None, OPENING), GOT)
    assert cause(*turns, stop_reason="max_calls") == "budget"
    # After a return to the moment of the first action, what was tried in between is forgotten.
    turns = (GOT, PLANKS, STICKS, (None, "Got 1 oak logs"), (LADDER, LACKS))
    assert cause(*turns) == "missing part"
    assert cause(*turns, restores=[[4, 3]]) == "wrong count"


def test_cause__is_a_limit_of_the_model_before_anything_else():
    assert cause((LADDER, LACKS), limit="context") == "model's limit"
    assert cause(GOT, limit="tokens") == "budget"


def test_cause__is_no_plan_where_no_planner_gave_one():
    failed = node(node(role="planner"), role="agent", task="minecraft:ladder")
    assert cause(trace=failed) == "no plan"
    unread = node(node("hm", role="planner", outcome=None), role="agent")
    assert cause(("inventory", "Inventory: You are not carrying anything."), trace=unread) == (
        "no plan"
    )
    assert cause(GOT, trace=unread) != "no plan"
    said_done = node(node("hm", role="planner", outcome=None), node("Done."), role="agent")
    assert cause(trace=said_done) == "gave up"


def test_cause__is_a_step_for_which_a_controller_knows_no_action():
    unknown = node(node(1), {**node(), "calls": 0}, role="agent")
    asked = node(node(1), node(), role="agent")
    assert cause(GOT, trace=unknown) == "wrong thing"
    assert cause(GOT, trace=asked) == "gave up", "a model was asked, and gave up"


def step(task: str, *parts: Any, outcome: bool = True) -> dict[str, Any]:
    return node(*parts, "Task completed!", task=task, outcome=outcome)


def test_cause__is_a_step_that_was_claimed_and_did_not_hold_nor_later():
    plan = node("Step 1: craft 4 stick", role="planner", outcome=True, task="craft ladder")
    claimed = node(plan, step("craft 4 stick", 1), step(LADDER, 2, outcome=False), role="agent")
    assert cause(GOT, (LADDER, LACKS), trace=claimed) == "false step"
    mended = node(
        plan, step("craft 4 stick", 1), step(LADDER, 2, 3, 4, outcome=False), role="agent"
    )
    assert cause(GOT, PLANKS, STICKS, (LADDER, LACKS), trace=mended) == "wrong count"


def test_cause__is_a_part_that_no_step_of_the_plan_makes():
    plan = node(f"Step 1: get 1 oak logs\nStep 2: {LADDER}", role="planner", outcome=True)
    trace = node(plan, step("get 1 oak logs", 1), role="agent")
    assert cause(GOT, trace=trace) == "missing part"


def test_cause__is_the_agents_end():
    said = node(node(1, "think: I cannot. task failed!"), role="agent")
    thinking = node(node(1, "think: next"), role="agent")
    assert cause(GOT, trace=said) == "gave up"
    assert cause(GOT, trace=thinking) == "budget"
    assert cause(GOT, trace=said, claimed_success=True) == "false success"


def test_cause__of_a_world_that_is_not_known_is_by_its_refusals():
    profile = profile_of("elsewhere:World-v0")
    again = lost(("go", "Nothing happens."), ("go", "Nothing happens."))
    assert cause_of(again, profile) == "same refusal"
    assert cause_of(lost(("go", "Nothing happens."), ("stay", "Invalid")), profile) == "budget"


RUNS = {
    "a": why(
        [
            lost((LADDER, LACKS), task="x", group="depth 2"),
            lost((LADDER, LACKS), task="y", group="depth 3"),
            lost(GOT, task="z", group="depth 3", stop_reason="max_steps"),
            lost(GOT, task="won", group="depth 3", won=True),
            lost(GOT, task="broken", group="depth 3", error="x", stop_reason="error"),
        ],
        TEXTCRAFT,
    ),
    "b": why([lost(GOT, won=True)], TEXTCRAFT),
}


def test_table__counts_each_lost_episode_once_by_group():
    assert why_table(RUNS) == [
        ("run", "group", "lost", "missing part", "budget"),
        ("a", "depth 2", "1", "1", "0"),
        ("a", "depth 3", "2", "1", "1"),
        ("a", "all", "3", "2", "1"),
    ]
    assert why_table({"b": RUNS["b"]}) == []
    assert why_markdown({"b": RUNS["b"]}) == ""


def test_examples__name_tasks_of_each_cause():
    named = [(example.cause, example.meaning, example.tasks) for example in why_examples(RUNS)]
    assert named == [
        ("missing part", CAUSES["missing part"], ("x", "y")),
        ("budget", CAUSES["budget"], ("z",)),
    ]
    assert "| a | budget | the steps, the calls or the agent's turns were spent | z |" in (
        why_markdown(RUNS)
    )
