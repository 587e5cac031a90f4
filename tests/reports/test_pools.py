from __future__ import annotations

from textcraft_gym.agents.registry import AGENTS, find_agent
from textcraft_gym.reports.notes import ADVANTAGES, so_far
from textcraft_gym.reports.pools import pools


def test_pools__are_of_runs_that_differ_only_in_their_seed():
    configs = {
        "react_seed0": {"agent": "react", "seed": 0, "started": "now"},
        "adapt": {"agent": "adapt", "seed": 0},
        "react_seed1": {"agent": "react", "seed": 1, "finished": "then"},
        "again": {"agent": "react", "seed": 1},
        "x": {"agent": "lats", "seed": 0},
        "y": {"agent": "lats", "seed": 1},
    }
    pooled = pools({run: [{"task": run}] for run in configs}, configs)
    assert {pool.name: list(pool.runs) for pool in pooled} == {
        "react (2 seeds)": ["react_seed0", "react_seed1"],
        "adapt": ["adapt"],
        "again": ["again"],
        "x (2 seeds)": ["x", "y"],
    }
    assert [record["task"] for record in pooled[0].records] == ["react_seed0", "react_seed1"]
    assert pooled[0].config is configs["react_seed0"]


def test_pools__of_one_name_have_two():
    configs = {f"a_{n}": {"seed": n % 2, "agent": n // 2} for n in range(4)}
    pooled = pools({run: [] for run in configs}, configs)
    assert [pool.name for pool in pooled] == ["a (2 seeds)", "a_2 and 1 other seeds"]


def test_so_far__is_said_of_unfinished_runs_alone():
    assert so_far([{}] * 5, {"episodes": 12}) == "5 of 12 episodes so far"
    assert so_far([{}] * 12, {"episodes": 12}) == ""
    assert so_far([{}] * 5, {}) == "5 episodes so far"
    assert so_far([{}] * 5, {"finished": "now"}) == ""


def test_advantages__are_those_that_agents_of_the_suite_ask_for():
    advantaged = {name for name in AGENTS if getattr(find_agent(name), "env_args", None)}
    assert advantaged == set(ADVANTAGES)
