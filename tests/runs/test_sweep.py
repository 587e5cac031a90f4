from __future__ import annotations

import csv
import re
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean, stdev

import pytest

from textcraft_gym import UnknownName
from textcraft_gym.reports.metrics import summarise
from textcraft_gym.reports.records import read_config
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.sweep import (
    DEPTH,
    MAX_NAME,
    WON,
    Cell,
    folder_names,
    grid,
    sweep,
    tables,
    tidy,
)

BASE = RunSpec("TextCraft-v0", "test", "", limit=6)


def test_grid__crosses_what_an_agent_takes():
    cells = list(
        grid(
            ["react", "adapt"],
            [1, 2],
            ["tests.doubles:Crafter,reach=1", "tests.doubles:Crafter,reach=2"],
        )
    )
    assert [(cell.agent, cell.d_max, cell.model[-1]) for cell in cells] == [
        ("react", None, "1"),
        ("react", None, "2"),
        ("adapt", 1, "1"),
        ("adapt", 1, "2"),
        ("adapt", 2, "1"),
        ("adapt", 2, "2"),
    ]
    assert list(grid(["adapt"], [], ["tests.doubles:Crafter"])) == [
        Cell("adapt", None, "tests.doubles:Crafter")
    ]
    for_all = list(grid(["random", "react"], [], ["m:M,slip=1", "m:M,slip=2"], [0]))
    assert [cell.name for cell in for_all] == [
        "random_seed0",
        "react_m-M-slip=1_seed0",
        "react_m-M-slip=2_seed0",
    ]
    with pytest.raises(UnknownName, match="Did you mean react"):
        list(grid(["raect"], [1], ["tests.doubles:Crafter"]))


def test_sweep__plays_each_cell_once_into_its_folder_and_one_table(tmp_path: Path):
    cells = list(
        grid(
            ["react", "adapt"],
            [2],
            ["tests.doubles:Crafter,reach=2", "tests.doubles:Crafter,reach=3"],
        )
    )
    results = sweep(BASE, cells, tmp_path)
    assert list(results) == cells
    assert read_config(tmp_path / "adapt_d2_tests.doubles-Crafter-reach=2")["agent_args"] == {
        "form": "line",
        "d_max": 2,
    }
    rows = list(csv.DictReader((tmp_path / "sweep.csv").read_text(encoding="utf-8").splitlines()))
    assert rows == tidy(results)
    for cell, records in results.items():
        won = sum(record["won"] for record in records)
        (row,) = [
            r
            for r in rows
            if (r["agent"], r["model"], r["group"]) == (cell.agent, cell.model, "all")
        ]
        assert (int(row["episodes"]), int(row["won"])) == (6, won)
        assert float(row["rate"]) == pytest.approx(won / 6, abs=1e-6)
    page = (tmp_path / "sweep.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^## (.*)$", page) == ["Sweep", WON, DEPTH]
    assert page.count("\n| ") == 3 * (2 + len(cells))
    again = []
    assert sweep(BASE, cells, tmp_path, run=lambda *a: again.append(a) or _replay(*a)) == results
    assert len(again) == len(cells)


def test_sweep__gives_an_argument_to_the_agents_that_take_it(tmp_path: Path):
    base = replace(BASE, limit=1, agent_args={"planner_tokens": 99})
    sweep(base, list(grid(["react", "adapt"], [], ["tests.doubles:Crafter"])), tmp_path)
    assert read_config(tmp_path / "react_tests.doubles-Crafter")["agent_args"] == {"form": "line"}
    assert read_config(tmp_path / "adapt_tests.doubles-Crafter")["agent_args"] == {
        "form": "line",
        "planner_tokens": 99,
    }
    with pytest.raises(ValueError, match="no agent takes the argument 'planner_tokens'"):
        sweep(base, list(grid(["react"], [], ["tests.doubles:Crafter"])), tmp_path)


def _replay(spec, out):
    from textcraft_gym.runs.runner import evaluate

    return evaluate(spec, out, on_episode=lambda record: pytest.fail("played again"))


def test_tables__have_a_column_for_each_group(tmp_path: Path):
    results = sweep(BASE, [Cell("react", None, "tests.doubles:Crafter,reach=9")], tmp_path)
    by_title = {title: dict(zip(*rows, strict=True)) for title, rows in tables(results).items()}
    player = {"agent": "react", "d_max": "-", "model": "tests.doubles:Crafter,reach=9"}
    overall = by_title["Sweep"]
    assert (overall["n"], overall["won %"], overall["spread over runs"]) == ("6", "100.0", "-")
    assert by_title[WON] == {**player, "depth 2": "100.0", "depth 3": "100.0"}
    assert by_title[DEPTH] == {**player, "depth 2": "1.0", "depth 3": "1.0"}


def test_tables__have_no_groups_where_tasks_form_none(tmp_path: Path):
    (cell,) = grid(["expert"], [], ["tests.doubles:Crafter"])
    (records,) = sweep(BASE, [cell], tmp_path).values()
    assert tables({cell: records})["Sweep"][1][:3] == ("expert", "-", "-")
    assert {row["model"] for row in tidy({cell: records})} == {""}
    ungrouped = [{**record, "group": "all"} for record in records]
    assert list(tables({cell: ungrouped})) == ["Sweep"]
    assert list(tables({cell: records})) == ["Sweep", WON]  # it asks no model


def test_table__a_run_without_whole_episodes_is_in_no_mean(tmp_path: Path):
    cells = [Cell("react", None, "tests.doubles:Crafter,reach=9", seed) for seed in (0, 1)]
    (records,) = sweep(BASE, cells[:1], tmp_path).values()
    nothing = [{**record, "won": False, "error": "boom"} for record in records]
    (_, alone), (_, both) = (
        tables(dict(zip(cells, runs, strict=False)))["Sweep"]
        for runs in ([records], [records, nothing])
    )
    calls = tables({})["Sweep"][0].index("calls")
    assert alone[calls] == both[calls] != "0.0"
    assert [row["calls"] for row in tidy({cells[0]: nothing})] == [""] * 3  # two depths and all


def test_cell__names_a_folder_that_is_none_elsewhere():
    assert (
        Cell("m:A", 3, "openai:x,base_url=http://h/v1").name
        == "m-A_d3_openai-x-base_url=http---h-v1"
    )


def test_cell__of_a_long_model_has_a_folder_of_a_bounded_name(tmp_path: Path):
    cells = [Cell("random", None, f"local:threads={'0' * 300}{seed}") for seed in range(2)]
    cells += [Cell("random", None, "\N{SNOWMAN}é\ud800" * 200), Cell("random", None, "名" * 300)]
    names = folder_names(cells)
    assert len(set(names.values())) == 4
    for name in names.values():
        (tmp_path / name).mkdir()
        assert len(name.encode()) <= MAX_NAME
    assert names[cells[0]].startswith("random_local-threads=000")


def test_folder_names__are_different_where_models_look_alike(tmp_path: Path):
    models = ["local:slots=4", "local-slots=4", "Local:slots=4", "local:slots=4"]
    names = folder_names([Cell("random", None, model) for model in models])
    assert list(names.values()) == [
        "random_local-slots=4",
        "random_local-slots=4_2",
        "random_Local-slots=4_3",
    ]
    base = replace(BASE, agent_args={}, limit=2)
    alike = [
        Cell("random", None, model) for model in ("m:M,slip=0.1,seed=1", "m:M,slip=0.1/seed=1")
    ]
    played: list[str] = []

    def plays(spec: RunSpec, out: Path) -> list[dict]:
        played.append(out.name)
        return []

    sweep(base, alike, tmp_path, run=plays)
    assert played == ["random_m-M-slip=0.1-seed=1", "random_m-M-slip=0.1-seed=1_2"]


def test_sweep__keeps_no_key_and_counts_a_depth_of_0_as_one(tmp_path: Path):
    model = (
        "openai:m,base_url=http://user:secret@127.0.0.1:9/v1,api_key=secret,max_retries=0,timeout=1"
    )
    sweep(RunSpec("TextCraft-v0", "test", "", limit=1), [Cell("expert", None, model)], tmp_path)
    written = [str(file) for file in tmp_path.rglob("*")]
    written += [file.read_text(encoding="utf-8") for file in tmp_path.rglob("*") if file.is_file()]
    assert "secret" not in "".join(written)
    with pytest.raises(ValueError, match="d_max"):
        sweep(BASE, [Cell("adapt", 0, "tests.doubles:Crafter")], tmp_path)


def test_sweep__with_seeds_has_a_run_each_and_one_row_with_their_spread(tmp_path: Path):
    cells = list(grid(["random"], [], ["tests.doubles:Crafter"], [0, 1, 2]))
    assert [cell.name for cell in cells] == [f"random_seed{seed}" for seed in range(3)]
    results = sweep(replace(BASE, limit=20), cells, tmp_path)
    assert [read_config(tmp_path / cell.name)["seed"] for cell in cells] == [0, 1, 2]
    rates = [fmean(record["won"] for record in records) for records in results.values()]
    assert len(set(rates)) > 1  # so that the spread below is none by accident
    headings, row = tables(results)["Sweep"]
    named = dict(zip(headings, row, strict=True))
    assert (named["runs"], named["n"]) == ("3", "60")
    assert named["won %"] == f"{100 * fmean(rates):.1f}"
    assert named["spread over runs"] == f"± {100 * stdev(rates):.1f}"
    pooled = summarise(chain.from_iterable(results.values()))
    assert named["95% interval"] == f"{100 * pooled.low:.1f}-{100 * pooled.high:.1f}"
    assert [row["seed"] for row in tidy(results) if row["group"] == "all"] == ["0", "1", "2"]
