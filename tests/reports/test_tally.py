from __future__ import annotations

from itertools import count

from textcraft_gym.agents.contract.agent import Act, Ask
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.reports.tally import LONG_CALL, Tally

NUMBERS = count()


def record(won: bool = True, error: str | None = None, **others) -> dict:
    costs = {
        "calls": {"executor": 30, "planner": 2},
        "tokens": {"prompt_tokens": 900, "completion_tokens": 100},
    }
    task = f"task {next(NUMBERS)}"
    return {
        "task": task,
        "family": task,
        "group": "all",
        "won": won,
        "error": error,
        "cost": 0.25,
        **costs,
        **others,
    }


def test_tally__says_how_a_run_is_doing():
    now = 100.0
    tally = Tally(12, [record(won=False)], {"all": 11}, max_cost=4.0, clock=lambda: now)
    assert (tally.elapsed, tally.left) == (0.0, None)
    records = [record(), record(error="ModelError: down", won=False, spent_before=0.5), record()]
    for under_way in records:
        tally.begin(under_way)
    now = 110.0
    for ended in records[:2]:
        tally.add(ended)
    assert tally.line() == (
        "won 1 (50.0%, interval 9.5-90.5%), errors 1, 6.4 calls/s, 200 tokens/s, cost 1.25 of 4"
    )
    assert tally.elapsed == 10.0
    assert tally.under_way == [records[2]["task"]]


def test_tally__tells_the_calls_under_way_once_one_is_long():
    now = 0.0
    tally = Tally(3, to_play={"all": 3}, clock=lambda: now)
    first, second, third = records = [record(), record(), record()]
    for begun in records:
        tally.begin(begun)
        tally.ask((begun["task"], 0), Ask("Which?"), Episode())
    assert "asking" not in tally.line()
    now = LONG_CALL
    assert tally.line() == "won 0, errors 0, asking 3"
    tally.ask((first["task"], 0), Act("look"), Episode())
    tally.add(second)
    assert ", asking 1, " in tally.line()
    tally.ask((third["task"], 0), Ask("And now?"), Episode())
    assert "asking" not in tally.line()


def test_tally__counts_what_episodes_under_way_have_taken():
    now = 0.0
    tally = Tally(3, to_play={"all": 3}, clock=lambda: now)
    begun = record()
    tally.begin(begun)
    so_far = Episode(calls={"executor": 10}, tokens={"prompt_tokens": 400}, cost=0.5)
    tally.ask((begun["task"], 0), Act("look"), so_far)
    now = 10.0
    assert tally.line() == "won 0, errors 0, 1.0 calls/s, 40 tokens/s, cost 0.5"
    tally.add(begun)
    assert tally.line().endswith("3.2 calls/s, 100 tokens/s, cost 0.25")


def test_tally__knows_no_cost_without_a_price():
    tally = Tally(1)
    tally.add(record(cost=0.0))
    assert tally.line().endswith(", cost -")


def test_tally__of_repeats_has_the_interval_over_tasks():
    tally = Tally(
        8,
        [record(task=task, won=won) for task in "abcd" for won in [task < "c"] * 2],
        clock=lambda: 0.0,
    )
    assert tally.line().startswith(
        "won 4 (50.0%, interval 15.0-85.0%), errors 0"
    )  # as of four episodes


def test_tally__is_short_without_models_and_at_the_end():
    tally = Tally(1)
    assert tally.line() == "won 0, errors 0"
    tally.add(record(calls={}, tokens={}))
    assert tally.line() == "won 1 (100.0%, interval 20.7-100.0%), errors 0"
