"""Tables fit the terminal: what they show they show whole, and what they leave out they name."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from typer import rich_utils
from typer.main import get_command
from typer.testing import CliRunner

from tests.doubles import CRAFTER
from tests.pages import terminal
from textcraft_gym.agents.registry import AGENTS
from textcraft_gym.cli import progress, tables
from textcraft_gym.cli import terminal as terminal_module
from textcraft_gym.cli.agent_arguments import summary_of
from textcraft_gym.cli.app import COMMANDS, app
from textcraft_gym.cli.commands import envs, papers
from textcraft_gym.cli.commands.sweep import _show_results
from textcraft_gym.cli.estimates import show_estimates
from textcraft_gym.cli.report_tables import show_comparison, show_runs
from textcraft_gym.cli.tables import NAMES, PROSE, Table, cut, new_table, print_table
from textcraft_gym.reports.compare import compare
from textcraft_gym.reports.metrics import summarise_by_group
from textcraft_gym.reports.records import read_records
from textcraft_gym.runs.estimate import Amount, Estimate, estimate
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate
from textcraft_gym.runs.sweep import Cell

WIDTHS = (60, 80, 100, 120)
LONG = "adapt_d3_openai-a-model-with-a-long-name-and-address_seed"
GROUP = "pick_clean_then_place_in_recep"


def shown(table: Table, width: int) -> list[str]:
    """Print a table in a terminal of a width, and return its lines."""
    with terminal(width), tables.console.capture() as printed:
        print_table(table)
    return printed.get().splitlines()


WORDS = st.text("abcdefghij 漢字é-_/:", min_size=1, max_size=70)
NUMBERS = st.floats(0, 1e9).map("{:,.2f}".format) | st.sampled_from(["0", "-", "12.3-45.6"])


@st.composite
def filled(draw: st.DrawFn) -> Table:
    """A table of names, prose and numbers with ranks of its own; its numbers are all different."""
    texts = draw(st.lists(st.sampled_from([*NAMES, *PROSE]), max_size=4, unique=True))
    counts = draw(st.lists(st.sampled_from(["n", "won %", "a much longer heading", "x y z"])))
    headings = draw(st.permutations(["first", *texts, *counts]))
    ranked = draw(st.permutations(list(dict.fromkeys(headings))))
    table = new_table("T", headings, ranked, draw(st.integers(1, 5)))
    for _ in range(draw(st.integers(1, 4))):
        kinds = [heading in (*NAMES, *PROSE) for heading in headings]
        kinds[0] = True
        table.add_row(*(draw(WORDS if is_text else NUMBERS) for is_text in kinds))
    return table


@settings(max_examples=60, deadline=None)
@given(filled(), st.sampled_from(WIDTHS))
def test_table__is_no_wider_than_the_terminal_and_has_whole_numbers(table: Table, width: int):
    lines = shown(table, width)
    assert max(map(cell_len, lines)) <= width
    (rule,) = (index for index, line in enumerate(lines) if line.strip(" ─") == "" and "─" in line)
    notes = " ".join(lines[rule + 1 + len(table.rows) :])
    left_out = re.search(r"Left out: (.*?)\. (Some|--wide)", " ".join(notes.split()))
    missing = left_out[1].split(", ") if left_out else []
    for row, line in zip(table.rows, lines[rule + 1 :], strict=False):
        for index, (heading, text) in enumerate(zip(table.headings, row.cells, strict=True)):
            is_number = index > 0 and heading not in (*NAMES, *PROSE)
            if is_number and heading not in missing:
                assert text in line.split()
    if "…" in "".join(lines[rule:]):
        assert "Some texts are cut. --wide shows all." in " ".join(notes.split())


@given(WORDS, st.integers(1, 80))
def test_cut__keeps_the_beginning_and_the_end(text: str, width: int):
    short = cut(text, width)
    assert cell_len(short) <= width
    start, dots, end = short.partition("…")
    assert short == text if not dots else text.startswith(start) and text.endswith(end)


def test_table__tells_names_apart_that_it_cuts():
    table = new_table("T", ("run", "n", "won %"), needed=3)
    names = [f"{LONG}-of-a-model-{middle}-on-a-server-somewhere" for middle in ("one", "two")]
    for name in names:
        table.add_row(name, "200", "12.5")
    lines = [line.split() for line in shown(table, 100) if "200" in line]
    assert [cells[1:] for cells in lines] == [["200", "12.5"]] * 2
    assert lines[0][0] != lines[1][0]


def test_wide__shows_all_and_so_does_a_pipe(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(tables._options, "wide", False)  # put back at the end
    monkeypatch.setattr(tables.console, "_width", tables.UNLIMITED)  # as at the start of a process
    listed = ("tasks", "ALFWorld-v0", "--split", "dev", "--limit", "2")
    task = "look_at_obj_in_light-Bowl-None-DeskLamp-326/trial_00605"
    whole = CliRunner().invoke(app, list(listed)).output
    assert f"\n {task} " in whole
    monkeypatch.setattr(tables.console, "width", 60)
    narrow = CliRunner().invoke(app, list(listed)).output
    assert "Left out: group, depth, shortest solution. --wide shows all." in " ".join(
        narrow.split()
    )
    wide = CliRunner().invoke(app, [*listed, "--wide"]).output
    assert [line.split() for line in wide.splitlines()] == [
        line.split() for line in whole.splitlines()
    ]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played") / LONG
    spec = RunSpec(
        "TextCraft-v0", "test", "adapt", {"d_max": 2}, f"{CRAFTER},reach=2", limit=12, repeats=2
    )
    with pytest.warns(UserWarning, match="temperature"):
        evaluate(replace(spec, planner=CRAFTER), folder)
    return folder


@pytest.mark.parametrize("width", WIDTHS)
def test_results__fit_with_long_names(
    width: int,
    played: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(tables.console, "width", width)
    records = [{**record, "group": f"{GROUP}-{record['group']}"} for record in read_records(played)]
    summaries = summarise_by_group(records)
    show_runs({f"{LONG}{seed}": summaries for seed in range(2)})
    cells = [Cell("plan_and_execute", 3, f"openai:{LONG}", seed) for seed in range(2)]
    _show_results(dict.fromkeys(cells, records), as_json=False)
    show_comparison(f"{LONG}0", f"{LONG}1", compare(records, records))
    spec = RunSpec("TextCraft-v0", "test", "adapt", model="openai:m,price=1/2")
    show_estimates({f"{LONG}{seed}": estimate(spec) for seed in range(2)}, as_json=False)
    printed = capsys.readouterr().out
    assert max(map(cell_len, printed.splitlines())) <= width
    all_rows = re.findall(r"(?m)^.* all +24 +.*$", printed)
    assert len(all_rows) == 2  # of each run, with its rate and its interval
    assert all(re.search(r" all +24 +(\d+ +)?\d+\.\d +\d+\.\d-\d+\.\d\b", row) for row in all_rows)


def test_estimates__have_no_column_without_a_number(capsys: pytest.CaptureFixture[str]):
    local = estimate(RunSpec("TextCraft-v0", "test", "adapt", model="local"))
    priced = estimate(RunSpec("TextCraft-v0", "test", "adapt", model="openai:m,price=1/2"))
    timed = replace(local, seconds=Amount(60, 60, 60))
    for estimates, expected in (
        ([local], []),
        ([priced, local], ["price"]),
        ([timed], ["time"]),
    ):
        show_estimates(dict(zip("ab", estimates, strict=False)), as_json=False)
        _, _, headings, *_ = capsys.readouterr().out.splitlines()
        assert [name for name in headings.split() if name in ("price", "time")] == expected


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "command",
    [
        "envs",
        "agents",
        "agents best_of_n",
        "papers",
        "tasks MineTechTree-v0 --split MT8",
        "recipes stats",
        "splits paper",
        "reproduce adapt/table2 --dry-run --rows react,adapt",
    ],
)
def test_lists__fit(command: str, width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables.console, "width", width)
    # What takes seconds: every world, and what every table of the papers takes.
    monkeypatch.setattr(envs, "_number_of_tasks", lambda world: 1000)
    monkeypatch.setattr(papers, "_expected", lambda setting: Estimate(20_000, 20_000))
    result = CliRunner().invoke(app, command.split(), catch_exceptions=False)
    assert result.exit_code == 0
    assert max(map(cell_len, result.stdout.splitlines())) <= width


@pytest.mark.parametrize("columns", ["0", "00", "-5", "many", ""])
def test_console__has_a_width_whatever_columns_says(columns: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert tables.Console(width=tables._width(sys.stdout)).width > 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("known", [True, False])
def test_papers__explains_the_marks_that_are_shown(
    width: int, known: bool, monkeypatch: pytest.MonkeyPatch
):
    amounts = [Amount(10, 5, 20)] * 3 if known else []
    monkeypatch.setattr(tables.console, "width", width)
    monkeypatch.setattr(papers, "_expected", lambda setting: Estimate(9, 9, *amounts))
    printed = CliRunner().invoke(app, ["papers"], catch_exceptions=False).stdout
    for mark in "+*":
        explained = re.search(rf"(?m)^{re.escape(mark)} ", printed) is not None
        assert explained == (re.search(rf"\w{re.escape(mark)}", printed) is not None), mark
    assert ("+ at least" in printed) != known


@pytest.mark.parametrize("width", WIDTHS)
def test_commands__print_rows_that_fit_and_whole_words(
    width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(tables.console, "width", width)
    monkeypatch.setattr(envs, "_number_of_tasks", lambda world: 1000)
    monkeypatch.setenv("COLUMNS", str(width))
    for module in (terminal_module, progress):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)
    monkeypatch.chdir(tmp_path)
    printed = {}
    for command in (
        "envs",
        f"evaluate --env TextCraft-v0 --split test --model {CRAFTER} --limit 2 --out run",
        "verify run",
        "verify --env TextCraft-v0",
        "report run",
        "export run --out two.jsonl",
        "new world maze",
        "agents",
        "agents adapt",
    ):
        shown = CliRunner().invoke(app, command.split(), catch_exceptions=False).stdout
        assert [row for row in shown.splitlines() if cell_len(row) > width] == [], command
        printed[command] = " ".join(shown.replace("\\\n", "").split())

    # Whole, however many rows they take.
    assert "buy one that fits a wish" in printed["envs"]
    assert tables.ELLIPSIS not in printed["agents"]
    for agent in AGENTS:
        assert summary_of(agent) in printed["agents"], agent
    assert printed["agents"].count("all but webshop, hotpotqa") == 4
    assert (
        "and whether an agent stopped by itself or for want of calls, times"
        in printed["verify run"]
    )
    assert (
        "python -m pytest test_maze.py textcraft-gym play maze:Maze-v0" in printed["new world maze"]
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_help__fills_its_rows_and_cuts_no_word(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", width)
    shown = {}
    for name in COMMANDS:
        get_command(app).main([name, "--help"], "textcraft-gym", standalone_mode=False)
        shown[name] = capsys.readouterr().out
        rows = shown[name].splitlines()
        assert [row for row in rows if cell_len(row) > width] == [], name
        assert tables.ELLIPSIS not in shown[name], name
    before, _, _ = shown["evaluate"].partition("Options")
    *_, exits = before.strip().split("\n\n")
    rows = [row.strip() for row in exits.splitlines()]
    for row, following in itertools.pairwise(rows):  # no word of the next row would fit
        first, *_ = following.split()
        assert len(row) + 1 + len(first) > min(width, 80) - 6
