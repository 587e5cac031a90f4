"""The code in README and the pages of the site runs and does as the text says."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import pytest
from typer.main import get_command

import textcraft_gym
from tests.pages import BLOCK, HAS_LOCAL, WIDTH, rewritten
from textcraft_gym.agents.baselines.naive_buyer import NaiveBuyerAgent
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.registry import AGENTS
from textcraft_gym.cli.app import app
from textcraft_gym.registration import BUNDLED, SUITE, find
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate
from textcraft_gym.verify.recheck import verify

ROOT = Path(__file__).parents[1]
PAGES = [page.relative_to(ROOT).as_posix() for page in sorted((ROOT / "docs").rglob("*.md"))]


class Tagged(NamedTuple):
    """A word as spaCy tags it."""

    text: str
    pos_: str


def blocks(file: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / file).read_text(encoding="utf-8"), re.DOTALL)


def run_block(heading: str, folder: Path) -> str:
    """Run the block of a section of the README alone, as a script in an empty folder, and return
    what it prints."""
    section = (
        (ROOT / "README.md")
        .read_text(encoding="utf-8")
        .split(f"# {heading}\n")[1]
        .split("\n## ")[0]
    )
    (block,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    script = folder / "block.py"
    script.write_text(block, encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    result = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return result.stdout


def test_readme__shows_first_what_it_is():
    """A recording, the table, the installation and code stand on the first screen."""
    first = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:40]
    for part in ("(docs/watch.svg)", "| ADaPT | ", "    pip install ", "```python", "as fast]("):
        assert any(part in line for line in first), part


def test_readme__expert_wins_every_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    exec(blocks("README.md")[0], {})
    assert capsys.readouterr().out == "200 of 200 won\n"


def test_readme__first_episode_wins(tmp_path: Path):
    output = run_block("First episode", tmp_path)
    assert "Goal: craft beehive." in output
    assert "Crafted 1 minecraft:beehive" in output


@pytest.mark.slow
@pytest.mark.skipif(not HAS_LOCAL, reason="the language model is not installed")
def test_readme__agents_play(tmp_path: Path):
    function, adapt = run_block("Agents", tmp_path).splitlines()
    assert function == "False 0.0 5"
    # At the second or the third level: threads round differently.
    assert re.match(r"True True [23] \{'executor': ", adapt)


def test_readme__has_a_test_for_every_block():
    assert len(blocks("README.md")) == 3


SERVED = {"docs/openenv.md", "docs/serving.md"}
"""Pages whose code speaks with a server, which tests of their own start."""


def pages_with_code() -> Iterator[Any]:
    """Yield the pages whose code is run here; one that the language model plays on is slow."""
    for page in PAGES:
        kinds = {
            block["kind"] for block in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8"))
        }
        if kinds and page not in SERVED:
            is_slow = HAS_LOCAL and "local" in kinds
            yield pytest.param(page, marks=[pytest.mark.slow] if is_slow else [])


@pytest.mark.parametrize("page", list(pages_with_code()))
def test_pages__print_what_stands_below_their_code(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    markdown = (ROOT / page).read_text(encoding="utf-8")
    try:
        assert rewritten(markdown) == markdown, f"python -m tests.pages {page} writes the page anew"
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package == "textcraft_gym":
            raise
        pytest.skip(f"{package} is not installed")


def test_pages__a_false_output_and_a_false_error_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    true = "```python\nprint(1)\n```\n\n```text\n1\n```\n"
    assert rewritten(true) == true
    assert rewritten(true.replace("text\n1", "text\n2")) == true
    assert "ZeroDivisionError: division by zero" in rewritten(
        "```python raises\n1 / 0\n```\n\n```text\n```\n"
    )
    with pytest.raises(AssertionError, match="raises nothing"):
        rewritten("```python raises\n1\n```\n")
    with pytest.raises(ZeroDivisionError):
        rewritten("```python\n1 / 0\n```\n")
    command = "```console\n$ textcraft-gym report none\nall is well\n```\n"
    assert "textcraft-gym: none is not a run folder" in rewritten(command)


def test_pages__are_in_the_navigation_and_nothing_else_is():
    listed = re.findall(
        r"(?m)^ +- (?:[^:\n]+: )?([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    )
    outside = {"board.md", "contributing.md", "changelog.md", "results/overview.md"}
    assert sorted(listed) == sorted({page.removeprefix("docs/") for page in PAGES} | outside)


def test_splits_page__counts_the_tasks():
    text = (ROOT / "docs/tasks.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| `(\w+-v0)` \| (\d+)[^|]*\|([^|]*)\|", text)
    assert len(rows) == 7
    for world, count, splits in rows:
        assert len(textcraft_gym.tasks(world, "all")) == int(count), world
        for split, size in re.findall(r"`(\w+)` (\d+)", splits):
            assert len(textcraft_gym.tasks(world, split)) == int(size), (world, split)
        assert re.findall(r"`(\w+)` \d+ \(default\)", splits) == [find(world).default_split()]


def test_curriculum_page__states_what_was_measured():
    text = (ROOT / "docs/curriculum.md").read_text(encoding="utf-8")
    measured = (ROOT / "benchmarks/results/curriculum.csv").read_text(encoding="utf-8")
    won: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in csv.DictReader(measured.splitlines()):
        won[row["run"], f"{int(row['steps']):,}"][row["goals"]] += int(row["won"])
    head, *rows = re.findall(r"(?m)^\| ([\w ]+) \| (.*? steps|\d+ / .*) \|$", text)
    columns = head[1].replace(" steps", "").split(" | ")
    assert len(rows) == 3
    for run, cells in rows:
        for steps, cell in zip(columns, cells.split(" | "), strict=True):
            rates = [str(round(100 * count / 33)) for count in won[run, steps].values()]
            assert cell == " / ".join(rates), (run, steps)


def test_evaluation_page__states_the_limits():
    text = (ROOT / "docs/evaluation.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (`\w+-v0`.*) \| (\d+) \| (\d+) \|$", text)
    stated = {
        world: (int(limit), int(budget))
        for ids, limit, budget in rows
        for world in re.findall(r"[\w-]+-v0", ids)
    }
    assert stated == {
        world: (SUITE[world].max_episode_steps, load_profile(find(world).profile).max_steps)
        for world in BUNDLED
    }


WORLD_PAGES = {
    "textcraft": "TextCraft-v0",
    "alfworld": "ALFWorld-v0",
    "webshop": "WebShopLite-v0",
    "tech_tree": "MineTechTree-v0",
    "hotpotqa": "HotpotQA-v0",
    "tabletop": "Tabletop-v0",
}


@pytest.mark.parametrize("page", WORLD_PAGES)
def test_world_pages__begin_with_a_recording_and_facts(page: str):
    text = (ROOT / "docs/worlds" / f"{page}.md").read_text(encoding="utf-8")
    first = text.partition("\n## ")[0]
    world = WORLD_PAGES[page]
    assert f"]({page}.svg)" in first
    assert f"| step limit | {SUITE[world].max_episode_steps}" in first
    assert "\n| best published | " in first
    (best,) = re.findall(r"(?m)^\| best here \| .*", first)
    assert "the same goals" in best or "; not comparable: " in best


def test_webshop_page__tagger_finds_nouns():
    names: dict[str, Any] = {}
    (block,) = [block for block in blocks("docs/worlds/webshop.md") if "class Tagger" in block]
    exec(block, names)
    nouns = names["Tagger"](
        lambda title: [Tagged(word, "NOUN" if word[0] == "C" else "ADP") for word in title.split()]
    )
    assert nouns("Case for Cats") == nouns("Case for Cats") == ["case", "cats"]
    shop = gym.make("WebShopLite-v0", nouns=nouns)
    task = shop.get_wrapper_attr("tasks")[0]
    assert textcraft_gym.run_episode(shop, NaiveBuyerAgent(), task=task.id, seed=0).steps == 3
    assert task.goal.product.title in nouns.cache


def test_webshop_page__states_how_the_naive_buyer_fares(tmp_path: Path):
    records = evaluate(RunSpec("WebShopLite-v0", "test", "naive_buyer"), tmp_path / "run")
    won, mean = (
        sum(record["won"] for record in records),
        sum(record["reward"] for record in records) / len(records),
    )
    text = " ".join((ROOT / "docs/worlds/webshop.md").read_text(encoding="utf-8").split())
    assert (
        f"wins {won} of the {len(records)} tasks of `test`, with a mean reward of {mean:.2f}."
        in text
    )


def test_pages__show_every_agent_every_world_and_every_public_name():
    shown = {
        name
        for page in PAGES
        for name in re.findall(r"(?m)^::: ([\w.]+)$", (ROOT / page).read_text("utf-8"))
    }
    worlds = {world.entry_point.replace(":", ".") for world in SUITE.values()}
    agents = {path.replace(":", ".") for path in AGENTS.values()}
    assert worlds | agents <= shown
    public = {*textcraft_gym.__all__, *textcraft_gym.wrappers.__all__} - {"agents", "wrappers"}
    assert public <= {name.rpartition(".")[2] for name in shown}


def test_citation__is_of_this_version():
    citation, page = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("CITATION.cff", "docs/citing.md")
    )
    assert f"\nversion: {textcraft_gym.__version__}\n" in citation
    assert f"version = {{{textcraft_gym.__version__}}}" in page
    assert "the textcraft_gym developers" in citation


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder with the files of the page on extending: the sentence before each block ends with
    its name."""
    page = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    files = re.findall(r"`(\w+\.py)`\)?:\s+```python file\n(.*?)```", page, re.DOTALL)
    assert len(files) == page.count("```python") == 6
    for name, block in files:
        (tmp_path / name).write_text(block, encoding="utf-8")
    for template in (ROOT / "textcraft_gym/cli/templates").glob("*doors.py"):
        assert dict(files)[template.name] == template.read_text(encoding="utf-8")
    return tmp_path


def run_in(folder: Path, *arguments: str | Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    command = [sys.executable, *map(str, arguments)]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_extending__its_world_and_its_agent_keep_their_contracts(written: Path):
    summary = run_in(written, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".").splitlines()[-1]
    assert "passed" in summary
    assert "skipped" not in summary


def test_extending__its_world_agent_model_and_wrapper_play_together(written: Path):
    options = ("--agent", "looker:Looker", "--wrapper", "upper_case:UpperCase", "--no-table")
    run_in(
        written,
        "-m",
        "textcraft_gym",
        "evaluate",
        "--env",
        "doors:Doors-v0",
        *options,
        "--out",
        "looked",
    )
    (first, _) = (
        json.loads(line)
        for line in (written / "looked" / "episodes.jsonl").read_text().splitlines()
    )
    assert first["transcript"][1] == ["inventory", "NOTHING HAPPENS."]
    options = (
        "--agent",
        "react",
        "--model",
        "constant_model:ConstantModel,text=open blue",
        "--no-table",
    )
    run_in(
        written,
        "-m",
        "textcraft_gym",
        "evaluate",
        "--env",
        "doors:Doors-v0",
        *options,
        "--out",
        "opened",
    )
    records = [
        json.loads(line)
        for line in (written / "opened" / "episodes.jsonl").read_text().splitlines()
    ]
    assert {record["task"]: record["won"] for record in records} == {"blue": True, "green": False}


def test_extending__its_code_passes_the_linter(written: Path):
    run_in(written, "-m", "ruff", "check", "--no-cache", "--config", ROOT / "ruff.toml", ".")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_commands__exist(page: str):
    markdown = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", "")
    for line in re.findall(
        r"^(?:    |\$ )(?:docker run .*)?textcraft-gym (.*?)(?:  #.*)?$", markdown, re.MULTILINE
    ):
        command: Any = get_command(app)
        words = line.split()
        while hasattr(command, "commands"):
            command = command.get_command(None, words.pop(0))
        if words == ["--help"]:
            continue
        options = {
            option
            for parameter in command.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word for word in words if word.startswith("--")} <= options, line
        needed = [
            set(parameter.opts)
            for parameter in command.params
            if parameter.required and parameter.param_type_name == "option"
        ]
        assert all(names & set(words) for names in needed), line


def test_commands_page__has_the_help_of_every_command():
    """With all options: a test of all pages compares what is printed there."""
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ textcraft-gym (.*) --help$", text, re.MULTILINE)
    assert shown == [*command_names(get_command(app))]


def command_names(command: Any, name: str = "") -> Iterator[str]:
    if not hasattr(command, "commands"):
        yield name
        return
    for part in command.list_commands(None):
        yield from command_names(command.get_command(None, part), f"{name} {part}".strip())


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_code__fits_beside_the_lists_of_the_site(page: str):
    """But for what a command prints: a message is one line, and ``--wide`` shows whole tables."""
    markdown = (ROOT / page).read_text(encoding="utf-8")
    markdown = re.sub(r"^```text$.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    markdown = re.sub(r" --wide$.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    fenced = re.findall(r"^```(.*?)^```$", markdown, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    (.*)$", re.sub(r"```.*?```", "", markdown, flags=re.DOTALL), re.M)
    lines = [*"\n".join(fenced).splitlines(), *indented]
    long = [line for line in lines if len(line) > WIDTH]
    assert not [line for line in long if not line.startswith("textcraft-gym: ")]


LINKED = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "recipes/data/SOURCE.md",
    "agents/models/adapters/README.md",
]
LINKED += PAGES


@pytest.mark.parametrize("file", LINKED)
def test_links__lead_to_files_that_are_there(file: str):
    links = re.findall(
        r"\]\(([^)#]+)\)", re.sub(r"\n", " ", (ROOT / file).read_text(encoding="utf-8"))
    )
    local = [link for link in links if "://" not in link]
    assert all((ROOT / file).parent.joinpath(link).exists() for link in local), local


def test_lats_page__has_a_beam_search_that_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (block,) = blocks("docs/lats.md")
    (tmp_path / "beam.py").write_text(block, encoding="utf-8")
    assert len(block.partition("class Beam")[2].splitlines()) <= 38
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = RunSpec(
        "TextCraft-v0", "test", "beam:Beam", model="tests.doubles:Crafter,reach=3", limit=3
    )
    records = evaluate(spec, tmp_path / "run")
    assert [record["error"] for record in records] == [None] * 3
    assert all(record["won"] and record["claimed_success"] for record in records)
    assert sum(len(record["restores"]) for record in records) > 3
    assert verify(tmp_path / "run", trusted=("beam",)).identical
