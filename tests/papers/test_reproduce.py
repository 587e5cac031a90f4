from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.test_main import run
from textcraft_gym import RunSpec
from textcraft_gym.cli.commands.reproduce import _run_names
from textcraft_gym.errors import RunStopped, UnknownName
from textcraft_gym.papers import ADAPT, PAPERS
from textcraft_gym.papers.reproduce import (
    Job,
    Reproduction,
    collected,
    installed_data,
    play,
    played_with,
    prompts_of_models,
)
from textcraft_gym.papers.table import Column, Row, Setting, Table, Training
from textcraft_gym.runs.runner import evaluate_or_raise

REACT = Setting("TextCraft-v0", "dev", "react")
SCRIPTED = Setting("TextCraft-v0", "dev", "expert", asks=False)
PAIR = Setting("TextCraft-v0", "dev", "adapt", roles=(1, 0))
PLANNED = Setting(
    "HotpotQA-v0",
    "dev",
    "autoplan",
    max_calls=40,
    training=Training(2, batch=1, iterations=1, reflect="summary"),
)
TABLE = Table(
    "t",
    "T",
    "",
    (Column("All"),),
    (
        Row("react", "R", REACT),
        Row("expert", "E", SCRIPTED),
        Row("pair", "P", PAIR),
        Row("plan", "A", PLANNED),
    ),
)
MODEL = "tests.papers.models:Inventory"


def reproduction(
    *models: str, rows: tuple[str, ...] = ("react", "expert"), seeds: int = 1, **options
) -> Reproduction:
    return Reproduction({TABLE: rows}, models, seeds, {}, RunSpec("", limit=2, **options))


def test_jobs__are_each_model_and_seed_and_scripted_players_once():
    jobs = reproduction("a", "b", rows=("react", "expert", "pair"), seeds=2).jobs(TABLE)
    assert jobs == [
        *(Job(REACT, model, seed) for model in (0, 1) for seed in (0, 1)),
        Job(SCRIPTED, 0, 0),
        *(Job(PAIR, 0, seed) for seed in (0, 1)),
    ]
    assert Job(PAIR, 0, 0) not in reproduction("a", rows=("pair",)).jobs(TABLE)


def test_spec__has_the_models_of_its_roles():
    plan = reproduction("a", "b")
    assert (plan.spec(Job(PAIR, 0, 0)).model, plan.spec(Job(PAIR, 0, 0)).planner) == ("b", "a")
    assert (plan.spec(Job(REACT, 1, 3)).model, plan.spec(Job(REACT, 1, 3)).planner) == ("b", None)
    assert plan.spec(Job(REACT, 1, 3)).seed == 3
    assert plan.spec(Job(SCRIPTED, 0, 0)).model is None


def test_folder__is_of_one_run(tmp_path: Path):
    plan = reproduction("openai:m,base_url=http://u:secret@h/v1", "b")
    jobs = [
        Job(REACT, 0, 0),
        Job(REACT, 0, 1),
        Job(REACT, 1, 0),
        Job(SCRIPTED, 0, 0),
        Job(PAIR, 0, 0),
    ]
    folders = [str(plan.folder(job, tmp_path)) for job in jobs]
    assert len(set(folders)) == len(jobs)
    assert not any("secret" in folder for folder in folders)


def played_by(plan: Reproduction, out: Path, **options):
    return collected(plan, dict(play(plan, out, **options)))


def test_play__goes_on_where_it_stopped(tmp_path: Path):
    (played,) = played_by(reproduction(MODEL), tmp_path)
    assert set(played) == {REACT, SCRIPTED}
    assert [len(records) for records in played[REACT].records] == [2]
    (again,) = played_by(reproduction(MODEL), tmp_path, run=_nothing_new)
    assert [list(of_run) for of_run in again[REACT].records] == [
        list(of_run) for of_run in played[REACT].records
    ]


def _nothing_new(spec: RunSpec, out: Path):
    before = (out / "episodes.jsonl").read_bytes()
    records = evaluate_or_raise(spec, out)
    assert (out / "episodes.jsonl").read_bytes() == before
    return records


def test_play__of_a_scripted_player_stands_with_each_model(tmp_path: Path):
    first, second = played_by(reproduction(MODEL, f"{MODEL},again=1", rows=("expert",)), tmp_path)
    assert first.keys() == second.keys() == {SCRIPTED}


def test_play__trains_before_it_tests(tmp_path: Path):
    table_plan = reproduction(MODEL, rows=("plan",))
    (played,) = played_by(table_plan, tmp_path)
    (records,) = played[PLANNED].records
    folder = table_plan.folder(Job(PLANNED, 0, 0), tmp_path)
    config = json.loads((folder / "config.json").read_text())
    plan = Path(config["agent_args"]["plan"])
    assert plan.name == "plan-1.txt"
    assert plan.is_relative_to(tmp_path)
    assert len(records) == 2


def test_play__trains_once_for_each_number_of_updates(tmp_path: Path):
    longer = replace(PLANNED, training=replace(PLANNED.training, iterations=2))
    rows = (Row("one", "1", PLANNED), Row("two", "2", longer))
    table = replace(TABLE, rows=rows)
    plan = replace(reproduction(MODEL), tables={table: ("one", "two")})
    played = dict(play(plan, tmp_path))
    assert [len(records) for records in played.values()] == [2, 2]
    assert len(list(tmp_path.rglob("batch-1"))) == len(list(tmp_path.rglob("batch-2"))) == 1
    plans = [
        json.loads(file.read_text())["agent_args"]
        for file in sorted(tmp_path.rglob("seed0/config.json"))
    ]
    assert {Path(arguments["plan"]).name for arguments in plans} == {"plan-1.txt", "plan-2.txt"}


def test_play__has_one_limit_for_all_runs(tmp_path: Path):
    priced = f"{MODEL},cost=0.1"
    with pytest.raises(RunStopped, match="stopped at the limit of the reproduction: spent"):
        played_by(reproduction(priced, seeds=3, rows=("react",), max_cost=1.5), tmp_path)
    played = list(tmp_path.rglob("episodes.jsonl"))
    assert 0 < len(played) < 3


def test_installed_data__is_where_its_own_program_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    assert installed_data() == {}
    (tmp_path / "json_2.1.1" / "valid_unseen").mkdir(parents=True)
    assert installed_data() == {"ALFWorld-v0": "official"}


def test_papers__lists_each_table():
    listed = {row["name"]: row for row in json.loads(run("papers", "--json"))}
    assert listed.keys() >= {f"adapt/{table.key}" for table in ADAPT.tables}
    table = listed["adapt/table7"]
    assert (table["episodes"], table["worlds"], table["made data"]) == (
        700,
        ["WebShopLite-v0"],
        ["WebShopLite-v0"],
    )
    assert (
        table["tokens"] > table["calls"] > table["episodes"] - 100
    )  # the naive buyer asks nothing
    assert listed["adapt/table1"]["without figures"] == 0
    assert table["without figures"] == 1  # LATS was not measured there
    printed = run("papers").replace("\n", " ")
    assert (
        "reproduce NAME says why: adapt/table5; deps/table1, table5, table7, table9 to" in printed
    )
    assert re.search(r"deps/table20 .* 12 +<0\.1k +<0\.1M ", printed)  # 12 calls are not none


def test_reproduce__writes_pages_and_runs(tmp_path: Path):
    shown = run(
        *("reproduce", "adapt/table7", "--rows", "naive,react", "--model", MODEL, "--limit", "3"),
        *("--max-cost", "1", "--out", str(tmp_path)),
    )
    assert "Table 7: WebShop, score and success (%)" in shown
    assert f"adapt/table7 react, {MODEL}: 3 of 3 episodes" in shown
    page = (tmp_path / "adapt-table7.md").read_text()
    assert "WebShopLite-v0 is played on made data." in page
    assert "Only the first 3 tasks of each split were played." in page
    assert "| Naive | 58.3 |" in page
    assert {file.suffix for file in tmp_path.glob("adapt-table7.*")} == {".md", ".html", ".csv"}
    assert len(list(tmp_path.rglob("config.json"))) == 2
    assert re.search(
        rf"^- `{re.escape(MODEL)}`, prompts standard, textcraft_gym \S+, seed 0, "
        r"20\d\d-\d\d-\d\d, code [0-9a-f]{8}(\+[0-9a-f]{8})?$",
        page,
        re.MULTILINE,
    )
    assert (
        f"<li><code>{MODEL}</code>, prompts standard"
        in (tmp_path / "adapt-table7.html").read_text()
    )


def test_reproduce__writes_the_page_of_what_was_played_before_a_limit(tmp_path: Path):
    react = ("reproduce", "adapt/table7", "--rows", "naive,react", "--model", f"{MODEL},cost=0.1")
    with pytest.raises(RunStopped):
        run(*react, "--limit", "3", "--max-cost", "0.5", "--out", str(tmp_path))
    page = (tmp_path / "adapt-table7.md").read_text()
    said = re.search(r"unfinished are 1 of 2 runs, which have (\d) episodes so far", page)
    assert said
    assert 0 < int(said[1]) < 3
    rows = {line.split(" |")[0]: line for line in page.splitlines() if line.startswith("| ")}
    assert "[" in rows["| Naive"]
    assert "[" in rows["| Iterative Executor-Only"], "what was played of the run that was stopped"


def test_reproduce__calls_no_run_unfinished_that_an_earlier_start_finished(tmp_path: Path):
    table = ("reproduce", "adapt/table7", "--model", f"{MODEL},cost=0.1", "--limit", "3")
    run(*table, "--rows", "naive", "--out", str(tmp_path))
    with pytest.raises(RunStopped):
        run(*table, "--rows", "react,naive", "--max-cost", "0.5", "--out", str(tmp_path))
    page = (tmp_path / "adapt-table7.md").read_text()
    assert "unfinished are 1 of 2 runs" in page


def test_reproduce__says_what_it_would_take_and_plays_nothing(tmp_path: Path):
    shown = run(
        "reproduce",
        "adapt/table3",
        "--model",
        "openai:m,price=1/2",
        "--dry-run",
        "--out",
        str(tmp_path / "out"),
    )
    assert re.search(r"^ adapt/table3 adapt, openai:m,price=1/2 +\d", shown, re.MULTILINE)
    assert not (tmp_path / "out").exists()


def test_reproduce__says_once_what_tables_share_and_which_rows_need_a_second_model(tmp_path: Path):
    shown = run(
        "reproduce", "adapt", "--model", "openai:m", "--dry-run", "--out", str(tmp_path / "out")
    )
    assert "adapt/table2 adapt, TextCraft, openai:m" in shown
    assert "adapt/figure7 adapt, TextCraft" not in shown
    said = shown.replace("\n", " ")
    assert "table4: Rows of two models were not played: they take a second --model." in said
    assert said.count("ALFWorld-v0 is played on made data.") == 1


@pytest.mark.parametrize("key", PAPERS)
def test_reproduce__names_each_run_by_what_was_asked_for(key: str):
    paper = PAPERS[key]
    tables = {table: [row.key for row in table.rows] for table in paper.tables}
    names = _run_names(paper, Reproduction(tables, ("a",), 2, {}, RunSpec("")))
    assert len(set(names.values())) == len(names)
    assert all(name.startswith(f"{key}/") for name in names.values())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            ["adapt/table5"],
            ValueError,
            "adapt/table5 is not reproduced: it lists the single skills",
        ),
        (["nothing"], UnknownName, "unknown paper 'nothing'"),
        (["adapt/table99"], UnknownName, "unknown table 'table99'"),
        (["adapt/table7", "--rows", "bert"], UnknownName, "unknown row 'bert'"),
        (["adapt", "--rows", "react"], ValueError, "expected PAPER/TABLE with --rows"),
        (
            ["adapt/table7", "--data", "Tabletop-v0=x"],
            UnknownName,
            "unknown world with original data",
        ),
        (["adapt/table7", "--data", "ALFWorld-v0"], ValueError, "expected ENV=PATH"),
    ],
)
def test_reproduce__names_a_mistake(
    arguments: list[str], error: type[Exception], message: str, tmp_path: Path
):
    with pytest.raises(error, match=message):
        run("reproduce", *arguments, "--out", str(tmp_path))


def test_jobs__have_no_row_whose_examples_the_prompts_lack():
    rows = (replace(TABLE.rows[0], needs_examples=True), *TABLE.rows[1:])
    table = replace(TABLE, rows=rows)
    plan = replace(reproduction("openai:m", "openai:m,prompts=short"), tables={table: ("react",)})
    assert (plan.prompts(0), plan.prompts(1)) == ("standard", "short")
    assert plan.jobs(table) == [Job(REACT, 0, 0)]
    as_option = replace(plan, options=RunSpec("", prompts="short"))
    assert as_option.jobs(table) == []


def test_played_with__names_each_version_of_the_code_and_the_days_of_the_episodes(tmp_path: Path):
    plan = reproduction(MODEL, seeds=2)
    records = dict(play(plan, tmp_path))
    of_model = [job for job in records if job.setting.asks]
    for job, codes, day in zip(of_model, (["a" * 16], ["a" * 16, "b" * 16]), (28, 30), strict=True):
        config = plan.folder(job, tmp_path) / "config.json"
        values = json.loads(config.read_text()) | {"codes": codes}
        config.write_text(json.dumps(values))
        records[job] = [{**record, "start": f"2026-11-{day}T00:00"} for record in records[job]]
    by_model, scripted = played_with(plan, records, tmp_path)
    assert by_model.endswith(
        f"seeds 0 to 1, 2026-11-28 to 2026-11-30, 2 versions of the code: {'a' * 8}, {'b' * 8}"
    )
    assert scripted.startswith("scripted players, textcraft_gym ")
    assert ", seed 0, " in scripted
    assert prompts_of_models(plan, records, tmp_path) == ("standard",)
