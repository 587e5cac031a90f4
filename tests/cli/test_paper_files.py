"""The files for a paper that ``report`` writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_main import fail, run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two players in two worlds, one of them with two seeds in the first."""
    folder = tmp_path_factory.mktemp("runs")
    for name, env, agent, seed in (
        ("expert", "TextCraft-v0", "expert", 0),
        ("random-0", "TextCraft-v0", "random", 0),
        ("random-1", "TextCraft-v0", "random", 1),
        ("home", "ALFWorld-v0", "expert", 0),
    ):
        spec = RunSpec(env, "dev", agent, limit=6, seed=seed, max_steps=30)
        evaluate(spec, folder / name)
    return [str(path) for path in sorted(folder.iterdir())]


def test_report__writes_all_files_of_one_table(runs: list[str], tmp_path: Path):
    names = {"--latex": "t.tex", "--csv": "t.csv", "--md": "t.md", "--plot": "t.svg"}
    files = {option: tmp_path / name for option, name in names.items()}
    options = [word for option, file in files.items() for word in (option, str(file))]
    output = run("report", *runs, *options, "--out", str(tmp_path / "page.html"))
    assert output.count("Wrote ") == 5
    assert "Tasks: TextCraft 6, ALFWorld 6." in output
    for file in files.values():
        text = file.read_text(encoding="utf-8")
        assert "Random" in text
        assert "ALFWorld" in text
    assert "± " in files["--md"].read_text(encoding="utf-8")


def test_report__writes_no_plot_of_another_kind_and_no_file_of_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], runs: list[str]
):
    said = fail(monkeypatch, capsys, "report", *runs, "--plot", "plot.png")
    assert "expected a file .svg or .pdf, got plot.png" in said
    inside = str(Path(runs[0]) / "report.md")
    assert "choose another file" in fail(monkeypatch, capsys, "report", *runs, "--md", inside)


def test_report__counts_no_attempt_as_an_episode(tmp_path: Path):
    evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=2), tmp_path / "run")
    file = tmp_path / "run" / "episodes.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    attempt = {**json.loads(lines[0]), "error": "RunStopped: interrupted", "stop_reason": "error"}
    file.write_text("\n".join([json.dumps(attempt), *lines, ""]), encoding="utf-8")
    output = run("report", str(tmp_path / "run"))
    assert "run: 2 episodes (1 earlier attempt ended by an interruption)" in output


def test_report__help_shows_the_command_of_adapts_table():
    words = " ".join(run("report", "--help").replace("│", " ").split())
    assert "--latex adapt.tex --plot adapt.svg" in words


def test_report__says_why_episodes_were_lost(runs: list[str], tmp_path: Path):
    output = run("report", *runs, "--why")
    assert "Lost episodes by cause" in output
    causes = json.loads(run("report", *runs, "--why", "--json"))["why"]
    assert causes["expert"] == {}
    counted = sum(map(len, causes["random-0"]["all"].values()))
    assert counted

    files = {"--out": tmp_path / "page.html", "--md": tmp_path / "t.md"}
    run("report", *runs, "--why", *(word for option in files.items() for word in map(str, option)))
    page, table = (file.read_text(encoding="utf-8") for file in files.values())
    task = next(iter(causes["random-0"]["all"].values()))[0]
    assert '<section id="why">' in page
    assert f'<a href="#episodes?task={task.replace(":", "%3A")}">{task}</a>' in page
    assert f"| random-0 | all | {counted} |" in table
    assert '<section id="why">' not in _page(runs, tmp_path)
    assert "Lost episodes" not in run("report", *runs)


def _page(runs: list[str], folder: Path) -> str:
    run("report", *runs, "--out", str(folder / "plain.html"))
    return (folder / "plain.html").read_text(encoding="utf-8")
