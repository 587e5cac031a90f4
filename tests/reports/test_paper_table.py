from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym.agents.registry import AGENTS, TITLES
from textcraft_gym.errors import MissingExtra
from textcraft_gym.papers import ADAPT
from textcraft_gym.reports import plots
from textcraft_gym.reports.paper_formats import as_csv, latex, markdown
from textcraft_gym.reports.paper_table import PaperTable, paper_table
from textcraft_gym.reports.pools import pools

TYPES = [column.group for column in ADAPT["table1"].columns]
HOSTILE = r"a\input{b}~^<>&%$#_{}±†" + "\n"


def record(task: str, won: bool, group: str = "depth 2", **more) -> dict:
    plain = {"reward": float(won), "claimed_success": won, "steps": 1, "repeat": 0, "depth": 2}
    effort = {"calls": {}, "tokens": {}, "replies": {}, "cost": 0.0, "k_max": 1, "restores": []}
    return {"task": task, "family": task, "won": won, "group": group, **plain, **effort, **more}


def config(agent: str, **more) -> dict:
    played = {"env": "TextCraft-v0", "split": "test", "model": None, "seed": 0, "agent_args": {}}
    return {"agent": agent, **played, "max_steps": 50, "finished": "now", **more}


def played(won: int, tasks: int = 8, **more) -> list[dict]:
    return [record(f"task {number}", number < won, **more) for number in range(tasks)]


def table(runs: dict[str, tuple[dict, list[dict]]]) -> PaperTable:
    records = {name: of_run for name, (_, of_run) in runs.items()}
    return paper_table(pools(records, {name: about for name, (about, _) in runs.items()}))


def two_worlds() -> PaperTable:
    """Three agents, one with two seeds, in two worlds, of which one has played only the first."""
    households = {"env": "ALFWorld-v0", "split": "dev"}
    homes = [record(f"home {n}", n % 3 == 0, TYPES[n % 6]) for n in range(12)]
    return table(
        {
            "react0": (config("react"), played(2)),
            "react1": (config("react", seed=1), played(4)),
            "adapt": (config("adapt"), played(6)),
            "expert": (config("expert"), played(8)),
            "adapt-home": (config("adapt", **households), homes),
            "react-home": (config("react", max_steps=300, **households), homes[:11]),
        }
    )


def cells_of(line: str) -> list[str]:
    return re.split(r"(?<!\\)&", line.removesuffix(r"\\"))


def check_latex(text: str) -> None:
    """Make sure of what LaTeX asks for: braces and environments in pairs, special characters
    escaped, and as many cells in each row as columns."""
    code = re.sub(r"(?m)^% .*\n|%$", "", text)
    plain = re.sub(r"\\[\\{}&%$#_]", "", code)
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert plain.count("$") % 2 == 0
    assert not set("%#~") & set(plain)
    assert "_" not in plain
    assert "^" not in re.sub(r"\$\^\\d*dagger\$", "", plain)
    opened = re.findall(r"\\begin\{(.*?)\}", code)
    assert opened == re.findall(r"\\end\{(.*?)\}", code)[::-1]
    (columns,) = re.findall(r"\\begin\{tabular\}\{(\w+)\}", code)
    rows = [line for line in code.splitlines() if line.endswith(r"\\")]
    assert len(rows) >= 3
    for row in rows:
        spans = [re.match(r"\s*\\multicolumn\{(\d+)\}", cell) for cell in cells_of(row)]
        assert sum(int(span[1]) if span else 1 for span in spans) == len(columns)


def test_titles__are_of_all_agents():
    assert list(TITLES) == list(AGENTS)


def test_latex__is_well_formed_with_worlds_side_by_side():
    text = latex(two_worlds())
    check_latex(text)
    assert r"\multicolumn{2}{c}{TextCraft} & \multicolumn{7}{c}{ALFWorld}" in text
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-10}" in text
    (react,) = [line for line in text.splitlines() if line.startswith("ReAct")]
    assert cells_of(react)[2].strip() == r"37.5{\scriptsize\,$\pm$\,17.7}"
    (adapt,) = [line for line in text.splitlines() if line.startswith("ADaPT")]
    assert cells_of(adapt)[2].strip() == r"\textbf{75.0}"
    assert "ALFWorld: Budgets differ: 50 and 300 steps." in text


def test_table__has_the_columns_of_the_papers():
    headings = [column.heading for column in two_worlds().columns if column.world == "ALFWorld"]
    assert headings == [column.heading for column in ADAPT["table1"].columns]


@settings(max_examples=30)
@given(st.text(max_size=20))
def test_latex__is_well_formed_whatever_a_run_is_called(name: str):
    name += HOSTILE
    runs = {
        name: (config(name), played(2, group=name)),
        "other": (config("adapt", split=name), played(3)),
        "third": (config(f"{name}x", env=f"{name}-v0"), played(3)),
    }
    check_latex(latex(table(runs)))


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no LaTeX here")
def test_latex__compiles(tmp_path: Path):
    (tmp_path / "table.tex").write_text(latex(two_worlds()), encoding="utf-8")
    (tmp_path / "doc.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,graphicx}"
        r"\begin{document}\input{table.tex}\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "doc.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout[-2000:]


def test_formats__have_the_same_numbers():
    paper = two_worlds()
    head, *rows = csv.reader(io.StringIO(as_csv(paper)))
    lines = markdown(paper).splitlines()
    names = [cell.strip() for cell in lines[0].strip("|").split("|")]
    assert head[:3] == ["agent", "told", "so far"]
    assert head[3::5] == names[1:]
    for row, line, of_table in zip(rows, lines[2:], paper.rows, strict=False):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[0] == of_table.label
        assert row[0] == of_table.agent
        for number, cell in enumerate(cells[1:]):
            rate, low, high, between_runs, tasks = row[3 + 5 * number : 8 + 5 * number]
            if not rate:
                assert cell == "-"
                continue
            assert cell.replace("*", "").startswith(f"{float(rate):.1f}")
            assert cell.endswith(f"[{float(low):.0f}, {float(high):.0f}]")
            assert ("±" in cell) == bool(between_runs)
            assert int(tasks) > 0


def test_csv__has_the_mark_and_the_state_beside_the_name():
    going = {**config("random"), "episodes": 12}
    text = as_csv(table({"a": (config("react"), played(3)), "b": (going, played(2))}))
    rows = [row[:3] for row in csv.reader(io.StringIO(text))][1:]
    assert rows == [["ReAct", "no", ""], ["Random", "yes", "8 of 12 episodes so far"]]


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=5),
    st.lists(st.integers(0, 8), min_size=3, max_size=3),
)
def test_table__bold_is_the_best_without_the_mark(won: list[int], marked_won: list[int]):
    sees = config("m:Peek", env_args={"admissible": True})
    marked = zip((config("expert"), config("random"), sees), marked_won, strict=True)
    runs = {about["agent"]: (about, played(count)) for about, count in marked}
    runs |= {f"run {n}": (config(f"m:A{n}"), played(count)) for n, count in enumerate(won)}
    paper = table(runs)
    assert [row.label.endswith("†") for row in paper.rows] == [True] * 3 + [False] * len(won)
    best = [row.cells[paper.columns[-1]].is_best for row in paper.rows]
    assert best == [False] * 3 + [count == max(won) > min(won) for count in won]
    assert any(note.startswith("† Peek sees the list of admissible") for note in paper.notes)


def test_table__rows_are_told_apart_by_model_options_or_name():
    def labels(*configs: dict) -> list[str]:
        runs = {f"run {number}": (about, played(2)) for number, about in enumerate(configs)}
        return [row.label for row in table(runs).rows]

    home = {"env": "ALFWorld-v0", "model": "openai:m"}
    assert labels(config("react", model="openai:m"), config("react", **home)) == ["ReAct"]
    assert labels(config("react", model="openai:a"), config("react", model="openai:b,price=1")) == [
        "ReAct, openai:a",
        "ReAct, openai:b",
    ]
    assert labels(*(config("adapt", agent_args={"d_max": depth}) for depth in (1, 2))) == [
        "ADaPT, d_max 1",
        "ADaPT, d_max 2",
    ]
    own = ("mine:Crafter", "theirs:Crafter", "mine:ReAct", "mine:Digger", "react")
    assert labels(*map(config, own)) == [
        "mine:Crafter",
        "theirs:Crafter",
        "mine:ReAct",
        "Digger",
        "ReAct",
    ]
    assert labels(config("react", max_steps=9), config("react"), config("adapt")) == [
        "ReAct: run 0",
        "ReAct: run 1",
        "ADaPT",
    ]


def test_table__says_what_is_unfinished_or_on_other_tasks():
    paper = table(
        {
            "react": (config("react", episodes=12, finished=None), played(2)),
            "random": (config("random"), played(2, tasks=20)),
            "other": (config("adapt"), played(2)),
        }
    )
    assert [row.label for row in paper.rows] == [
        "ReAct (8 of 12 episodes so far)",
        "Random†",
        "ADaPT",
    ]
    marks = [row.cells[paper.columns[-1]].mark for row in paper.rows]
    assert marks == ["", "‡", ""]
    assert "‡ On other tasks, and not compared." in paper.notes
    assert "Tasks: TextCraft 8 to 20." in paper.notes
    assert any(note.startswith("† The random agent draws") for note in paper.notes)


def test_figure__is_an_image_by_itself():
    paper = two_worlds()
    image = ElementTree.fromstring(plots.figure(paper))
    words = ["".join(text.itertext()) for text in image.iter("{http://www.w3.org/2000/svg}text")]
    assert "† The expert is told a shortest solution: it is no rival." in words
    assert {"ReAct", "ADaPT", "Expert†", "TextCraft", "ALFWorld", "Pick2"} <= set(words)
    left, top, width, height = map(float, image.attrib["viewBox"].split())
    bars = 0
    for rect in image.iter("{http://www.w3.org/2000/svg}rect"):
        x, y, wide, high = (float(rect.get(name, 0)) for name in ("x", "y", "width", "height"))
        assert left <= x <= x + wide <= left + width
        assert top <= y <= y + high <= top + height
        bars += len(rect)
    for text in image.iter("{http://www.w3.org/2000/svg}text"):
        assert top + 10 <= float(text.attrib["y"]) <= top + height - 4
    assert bars == sum(len(row.cells) for row in paper.rows)


def test_pdf__is_drawn_or_says_which_package_it_needs():
    image = plots.figure(two_worlds())
    if find_spec("cairosvg"):
        assert plots.as_pdf(image).startswith(b"%PDF")
        return
    with pytest.raises(MissingExtra, match=r"cairosvg.*\[pdf\]"):
        plots.as_pdf(image)
