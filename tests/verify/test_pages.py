"""Pages name their runs, and each of their cells is recomputed from these."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import fail, run
from textcraft_gym.cli.main import main
from textcraft_gym.errors import RunError
from textcraft_gym.papers.pages import reproduce_again
from textcraft_gym.reports.provenance import (
    STAMPED,
    Provenance,
    Source,
    digest_of_folder,
    read_provenance,
    stamped,
)
from textcraft_gym.verify.pages import PageCheck, report_again, verify_page

MODEL = "tests.doubles:Crafter,reach=2"
MAKERS = {"report": report_again, "reproduce": reproduce_again}
ADAPT = "runs/TextCraft-v0_test_adapt_f79e4d41/tests.doubles_Crafter_reach=2_d19f4ddb/seed0"
PAGES = {
    "adapt-table2.md": ("| 100.0 [34", "ReAct, TextCraft, "),
    "adapt-table2.csv": (",100,,34.238", "adapt, table2, react, TextCraft, "),
    "adapt-table2.html": ("<td>100.0 <span", "ReAct, TextCraft, "),
    "r.md": ("100.0 [34", "ADaPT, TextCraft depth 2"),
    "r.csv": (",100,34.238", "ADaPT, no, TextCraft depth 2"),
    "r.tex": ("100.0 &", "ADaPT, TextCraft, depth 2"),
    "r.html": ("34.2-100.0", "depth 2, 95% interval"),
    "r.svg": (">100.0%<", "ADaPT, depth 2: 100.0% of 2 tasks"),
}
"""For each page a text in which a digit is changed, and the cell that it is in."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pages beside their runs, not to be changed."""
    folder = tmp_path_factory.mktemp("tables")
    rows = ("--rows", "react,adapt", "--limit", "2", "--max-steps", "20")
    run("reproduce", "adapt/table2", *rows, "--model", MODEL, "--out", str(folder))
    kinds = ("--latex", "r.tex", "--csv", "r.csv", "--md", "r.md", "--plot", "r.svg")
    files = [word if word.startswith("--") else str(folder / word) for word in kinds]
    run("report", str(folder / "runs"), *files, "--out", str(folder / "r.html"))
    return folder


@pytest.fixture
def tables(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "tables"))


def checked(file: Path, *folders: Path) -> PageCheck:
    outcome = verify_page(file, MAKERS, folders)
    assert outcome is not None
    return outcome


def edit(file: Path, change: Callable[[str], str]) -> None:
    text = file.read_text(encoding="utf-8")
    assert change(text) != text
    file.write_text(change(text), encoding="utf-8", newline="")


def forged(
    file: Path,
    change: Callable[[dict[str, Any]], object],
) -> None:
    """Change what a page of Markdown says that it was made from."""
    text = file.read_text(encoding="utf-8")
    before, fence, held = text.partition("```json\n")
    fields = json.loads(held.removesuffix("```\n"))
    change(fields)
    file.write_text(f"{before}{fence}{json.dumps(fields)}\n```\n", encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_verify__recomputes_a_page_in_every_format(made: Path, name: str):
    outcome = checked(made / name)
    assert outcome.differences == []
    assert outcome.identical
    assert (outcome.runs, outcome.parts > 10) == (4, True)


@pytest.mark.parametrize(("name", "changed"), PAGES.items())
def test_verify__names_the_cell_of_a_changed_digit(
    tables: Path, name: str, changed: tuple[str, str]
):
    found, cell = changed
    new = found.replace("4", "5", 1) if "4" in found else found.replace("0", "1", 1)
    edit(tables / name, lambda text: text.replace(found, new, 1))
    outcome = checked(tables / name)
    (difference,) = outcome.differences
    assert difference.where == name
    assert difference.what.removeprefix(f"{ADAPT.removeprefix('runs/')}, ").startswith(cell)
    assert ": recorded " in difference.what
    assert not outcome.identical


@pytest.mark.parametrize("name", [name for name in PAGES if name != "r.svg"])
def test_verify__finds_any_changed_number(tables: Path, name: str):
    """In the text around the tables as well, but for what a page says that it was made from."""
    text = (tables / name).read_text(encoding="utf-8")
    provenance = read_provenance(text, Path(name).suffix)
    digits = [place for place, letter in enumerate(text) if letter.isdecimal()]
    for place in digits[:: max(1, len(digits) // 25)]:
        other = "7" if text[place] != "7" else "3"
        changed = f"{text[:place]}{other}{text[place + 1 :]}"
        try:
            is_same = read_provenance(changed, Path(name).suffix) == provenance
        except RunError:
            continue
        is_packed = '<script type="text/plain"' in text[:place]
        if is_same and not is_packed:
            (tables / name).write_text(changed, encoding="utf-8", newline="")
            assert not checked(tables / name).identical, changed[place - 40 : place + 40]


@pytest.mark.parametrize("name", ["adapt-table2.csv", "r.tex"])
def test_verify__names_a_run_that_was_changed(tables: Path, name: str):
    file = tables / ADAPT / "episodes.jsonl"
    edit(file, lambda text: text.replace('"steps": ', '"steps": 1', 1))
    outcome = checked(tables / name)
    (difference,) = outcome.differences
    assert difference.where == ADAPT if name != "r.tex" else ADAPT.removeprefix("runs/")
    assert difference.what.startswith("not the run that the page was made from: digest ")


@pytest.mark.parametrize("name", ["adapt-table2.html", "r.md"])
def test_verify__names_a_run_that_is_missing(tables: Path, name: str):
    shutil.rmtree(tables / ADAPT)
    outcome = checked(tables / name)
    (difference,) = outcome.differences
    assert str(difference).startswith("1 of 4 runs: missing; ")
    assert difference.what.endswith(f": {ADAPT}")
    assert "not recomputed" in outcome.lines(name, 20)[0]


@pytest.mark.parametrize("name", PAGES)
def test_verify__finds_the_runs_of_a_page_that_was_moved(tables: Path, tmp_path: Path, name: str):
    file = tmp_path / name
    shutil.move(tables / name, file)
    assert checked(file).count == 1
    assert checked(file, tables / "runs").identical


def test_report__names_runs_elsewhere_without_their_path(tables: Path, tmp_path: Path):
    file = tmp_path / "paper" / "t.tex"
    run("report", str(tables / "runs"), "--latex", str(file))
    assert str(tmp_path) not in file.read_text(encoding="utf-8")
    assert not checked(file).identical
    assert checked(file, tables / "runs").identical


@pytest.mark.parametrize("suffix", STAMPED)
def test_stamped__is_read_again(suffix: str):
    runs = [Source("", "runs/a", "0" * 64), Source('b"<&\n```', "runs/ü", "1" * 64)]
    provenance = Provenance("report", {"errors": "count", "x": "--></meta>|"}, runs)
    page = {".csv": "a,b\n1,2\n3,4\n", ".svg": "<svg></svg>\n"}.get(suffix, "<head>\n</head>\n")
    text = stamped(page, suffix, provenance)
    assert read_provenance(text, suffix) == provenance
    assert read_provenance(page, suffix) is None


def test_stamped__leaves_a_csv_a_table(made: Path):
    with (made / "adapt-table2.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["row"] for row in rows} == {"react", "adapt"}
    assert all(row["value"] for row in rows)
    assert [bool(row["made_from"]) for row in rows] == [True, False, False, False]


def test_verify__reads_what_a_spreadsheet_or_an_editor_saved(tables: Path):
    edit(tables / "r.csv", lambda text: "\ufeff" + text.replace("\n", "\r\n"))
    edit(tables / "r.md", lambda text: text.replace("\n", "\r\n"))
    assert checked(tables / "r.csv").identical
    assert checked(tables / "r.md").identical


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda fields: fields["runs"][0].update(folder="../elsewhere"), "below the page's"),
        (lambda fields: fields["runs"][0].update(folder="/etc"), "below the page's"),
        (lambda fields: fields["runs"].append(fields["runs"][0]), "two runs alike"),
        (lambda fields: fields.update(runs=fields["runs"] * 5000), "at most 10000 runs"),
        (lambda fields: fields.update(command="evaluate\x1b[2J"), "no command 'evaluate\\x1b[2J'"),
        (lambda fields: fields.update(options=[]), "command, options and runs"),
        (lambda fields: fields["options"].update(seeds=10**9), "at most 10000 runs, and one"),
        (lambda fields: fields["options"].update(table="adapt/table99"), "unknown table"),
        (lambda fields: fields["options"].update(table="x/\x1b"), "no paper is called 'x'"),
        (lambda fields: fields["options"].update(rows=["nobody"]), "unknown row"),
        (lambda fields: fields["options"].update(limit="2"), "expected the options of a table"),
    ],
)
def test_verify__refuses_a_page_that_makes_no_sense(tables: Path, change, message: str):
    file = tables / "adapt-table2.md"
    forged(file, change)
    with pytest.raises(RunError, match=r"adapt-table2\.md: ") as raised:
        checked(file)
    assert message in str(raised.value)
    assert "\x1b" not in str(raised.value)


def test_verify__reads_no_page_that_is_too_long_or_cannot_be_read(tables: Path):
    file = tables / "r.md"
    edit(file, lambda text: "| 1 | 2 |\n" * 20_000 + text)
    assert [difference.what[:6] for difference in checked(file).differences] == ["length"]
    file.write_bytes(b"\xff")
    with pytest.raises(RunError, match="cannot be read"):
        checked(file)


@pytest.mark.parametrize("start", ["<table>", "<tr", "<td>", '<td colspan="9999">', "<script>"])
def test_verify__of_any_html_ends(tables: Path, start: str):
    edit(tables / "r.html", lambda text: text.replace("<main>", "<main>" + start * 5000, 1))
    assert not checked(tables / "r.html").identical


def test_verify__says_that_transcripts_in_a_page_are_not_compared(tables: Path):
    (tables / ADAPT / "calls.jsonl.gz").unlink()
    blocks = '<script type="text/plain" id="blocks">'
    edit(tables / "r.html", lambda text: text.replace(blocks, blocks + 500_000 * "A"))
    outcome = checked(tables / "r.html")
    assert outcome.identical
    assert outcome.notes[0].startswith("its transcripts and calls, which are not compared, ")


def test_verify__prints_nothing_that_a_terminal_obeys(tables: Path):
    edit(tables / "r.md", lambda text: text.replace("100.0 [34", "\x1b[2J\u202e [34", 1))
    lines = "\n".join(checked(tables / "r.md").lines("r.md", 20))
    assert r"recorded \x1b[2J\u202e [34" in lines


def test_command__rechecks_pages_beside_their_runs(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for shop in tables.glob("runs/WebShop*"):  # of which nothing was played: that is no pass
        shutil.rmtree(shop)
    for page in PAGES:
        (tables / page).unlink()
    run("report", str(tables / "runs"), "--md", str(tables / "r.md"))
    (tables / "notes.md").write_text("# Notes\n")
    assert "r.md: identical; " in run("verify", str(tables))
    edit(tables / "r.md", lambda text: text.replace("100.0", "90.0", 1))
    monkeypatch.setattr("sys.argv", ["textcraft-gym", "verify", str(tables), "--json"])
    with pytest.raises(SystemExit) as exited:
        main()
    assert exited.value.code == 1
    said = capsys.readouterr()
    assert "notes.md: left out, since it does not say from which runs it was made" in said.err
    assert json.loads(said.out)[str(tables / "r.md")]["identical"] is False


def test_command__fails_for_a_file_that_names_no_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "table.tex"
    file.write_text("\\begin{table}\n")
    assert "left out" in fail(monkeypatch, capsys, "verify", str(file))


def test_digest__is_that_of_what_was_played(tables: Path):
    folder = tables / ADAPT
    before = digest_of_folder(folder)
    edit(folder / "episodes.jsonl", lambda text: text.replace('"seconds": ', '"seconds": 1', 1))
    assert digest_of_folder(folder) == before
    edit(folder / "config.json", lambda text: text.replace("reach=2", "reach=3"))
    assert digest_of_folder(folder) != before
