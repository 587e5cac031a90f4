"""The numbers of the papers, cell by cell, and what is played beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest

from textcraft_gym.papers import ADAPT, AUTOPLAN, DEPS, PAPERS
from textcraft_gym.papers.adapt import AGENTS
from textcraft_gym.papers.results import is_told_apart, published_orders
from textcraft_gym.papers.table import PERCENT, Cells, Row, Setting, Table, cells
from textcraft_gym.reports.metrics import ALL
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.task import tasks_of

WRITTEN = Path(__file__).with_name("published.txt")
DOCS = Path(__file__).parents[2] / "docs"
BUDGETS, LATS = ((DOCS / name).read_text(encoding="utf-8") for name in ("budgets.md", "lats.md"))
READ = Path(__file__).parents[3] / "shared" / "specs" / "published-tables.md"
"""The tables as they were read from the papers, which are not bundled."""
TABLES = {f"{paper.key}/{table.key}": table for paper in PAPERS.values() for table in paper.tables}
SETTINGS = list(dict.fromkeys(setting for table in TABLES.values() for setting in table.settings))

NUMBER = re.compile(r"\*\*(?:Tables? )?(\d+[ab]?)(?:-\d+)?\*\*")
"""The number of a table there, the first of several."""

needs_tables = pytest.mark.skipif(
    not READ.exists(),
    reason="the tables as read from the papers are not here; published.txt holds the cells",
)


def named(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", list(names))


# The numbers, against a second writing of them.


def written() -> dict[tuple[str, str], Cells]:
    lines = WRITTEN.read_text(encoding="utf-8").splitlines()
    split = (line.split(maxsplit=2) for line in lines if not line.startswith("#"))
    return {(table, row): cells(published) for table, row, published in split}


def test_published__is_written_twice_and_is_the_same():
    published = {
        (name, row.key): row.published
        for name, table in TABLES.items()
        for row in table.rows
        if row.published
    }
    assert published == written()


def test_published__has_every_cell_of_three_papers():
    counts = dict.fromkeys(PAPERS, 0)
    for name, table in TABLES.items():
        counts[name.partition("/")[0]] += sum(
            cell is not None for row in table.rows for cell in row.published
        )
    assert counts == {"adapt": 111, "deps": 654, "autoplan": 67}


def test_table_21__has_the_means_of_groups_of_table_2():
    """Of DEP and DEPS to a rounding; of others to a slip of the paper's, and theirs of MT4 are of
    another number of tasks."""
    whole: dict[str, list[str]] = {}
    for index, row in enumerate(DEPS["table2"].rows):
        for column, cell in zip(DEPS["table2"].columns[:8], row.published, strict=False):
            of_tasks = [
                group_row.published[index]
                for group_row in DEPS["table21"].rows
                if group_row.label.startswith(f"{column.heading},")
            ]
            known = [of_task.value for of_task in of_tasks if of_task]
            is_ours = row.key in ("dep", "deps")
            if len(known) == len(of_tasks) and (is_ours or column.heading != "MT4"):
                assert cell is not None
                assert fmean(known) == pytest.approx(cell.value, abs=0.035 if is_ours else 0.35)
                whole.setdefault(row.key, []).append(column.heading)
    assert whole["dep"] == ["MT1", "MT3", "MT4", "MT8"]
    assert whole["deps"] == [f"MT{number}" for number in range(1, 9)]


# The numbers, against the tables as they were read.


class Number(NamedTuple):
    """A cell without its mark."""

    value: float
    spread: float | None


@cache
def paragraphs() -> Mapping[str, str]:
    """The text below each ``**Table N**``, by the table's name."""
    texts: dict[str, list[str]] = {}
    paper = name = ""
    for line in READ.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper, name = line.split()[1].lower(), ""
        for number in NUMBER.findall(line):
            name = f"{paper}/table{number}"
        if name:
            texts.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in texts.items()}


def grid(name: str) -> list[list[str]]:
    """The rows of a table with bars, headings first, without the first cell of each."""
    lines = [line for line in paragraphs()[name].splitlines() if line.startswith("|")]
    headings, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines
    )
    return [headings, *rows]


def number(text: str) -> Number | None:
    match = re.search(r"(\d[\d.]*)(?:±([\d.]+))?", text)
    return match and Number(float(match[1]), float(match[2]) if match[2] else None)


def numbers(row: Row) -> list[Number | None]:
    return [cell and Number(cell.value, cell.spread) for cell in row.published]


LEFT_OUT = {
    "deps/table4 Δ": "the difference of two other columns",
    "deps/table1": "counts of tasks and limits, which the splits have",
    "deps/table18": "not a result here: what `reliability=published` plays with",
}
"""What has numbers and stands in no table here, with the reason."""
FROM_MEMORY = {("adapt/table1", "adapt"): (0, 2, 3, 4)}
"""Columns of which the text that was read has no number."""
WITH_BARS = {
    "adapt/table1": False,
    "adapt/table2": False,
    "adapt/table6": False,
    "adapt/table7": False,
    "autoplan/table3a": False,
    "deps/table2": False,
    "deps/table4": True,
    "deps/table6": True,
    "deps/table8": True,
}
"""Tables that stand there with bars, and whether their rows are columns here."""


@needs_tables
@named(WITH_BARS)
def test_published__is_what_was_read_from_a_table(name: str):
    headings, *rows = grid(name)
    kept = [index for index, heading in enumerate(headings) if f"{name} {heading}" not in LEFT_OUT]
    expected = [[number(row[index]) for index in kept] for row in rows]
    if WITH_BARS[name]:
        expected = [list(column) for column in zip(*expected, strict=True)]
    with_numbers = [row for row in TABLES[name].rows if row.published]
    published = [numbers(row) for row in with_numbers]
    for row, of_row in zip(with_numbers, published, strict=True):
        for index in FROM_MEMORY.get((name, row.key), ()):
            cell = row.published[index]
            assert cell is not None
            assert cell.mark == "*"
            of_row[index] = None
    assert published == expected


@needs_tables
def test_published__by_depth_is_what_was_read():
    table = TABLES["adapt/table3"]
    react, adapt = (
        dict(zip((c.heading for c in table.columns), numbers(row), strict=True))
        for row in table.rows
    )
    published = [
        [agent[f"{measure}, depth {depth}"] for measure in ("k_max", "success")]
        for depth in (2, 3)
        for agent in (react, adapt)
    ]
    assert published == [[number(cell) for cell in row[1:]] for row in grid("adapt/table3")[1:]]


def by_row(table: Table) -> Iterator[Number | None]:
    for row in table.rows:
        yield from numbers(row)


def by_column(table: Table) -> Iterator[Number | None]:
    for column in zip(*map(numbers, table.rows), strict=True):
        yield from column


def by_pair(table: Table) -> Iterator[Number | None]:
    """Of two rows at a time, column by column; the first two are those of another table."""
    for first, second in zip(table.rows[2::2], table.rows[3::2], strict=True):
        yield from by_column(replace(table, rows=(first, second)))


def but_the_first(table: Table) -> Iterator[Number | None]:
    """The first row is that of another table."""
    return by_row(replace(table, rows=table.rows[1:]))


IN_A_LINE: Mapping[str, Callable[[Table], Iterator[Number | None]]] = {
    "adapt/table4": by_row,
    "adapt/table8": by_column,
    "autoplan/table3b": by_row,
    "autoplan/table4a": by_row,
    "autoplan/table4b": by_row,
    "autoplan/table5": by_row,
    "deps/table3": but_the_first,
    "deps/table19": by_pair,
    "deps/table20": by_column,
}
"""Tables that stand there as sentences, with the order of their numbers."""


@needs_tables
@named(IN_A_LINE)
def test_published__is_what_was_read_from_a_sentence(name: str):
    read = NUMBER.sub(
        "", paragraphs()[name.rstrip("ab") if name.rstrip("ab") in paragraphs() else name]
    )
    following = iter([float(text) for text in re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?!\w)", read)])
    for published in filter(None, IN_A_LINE[name](TABLES[name])):
        assert published.value in following, f"{published.value} does not follow in {read}"


@needs_tables
def test_table_21__is_what_was_read():
    read = paragraphs()["deps/table21"]
    block, _, rest = read.split("```")[1].partition("CaP/DEP readable:")
    table = DEPS["table21"]
    expected = [float(text) for text in re.findall(r"\d[\d.]*", block)]
    columns = [
        cell
        for row in table.rows
        for index, cell in enumerate(row.published)
        if index not in (4, 5)
    ]
    assert [cell and cell.value for cell in columns] == expected

    pairs = {}
    for names, first, second in re.findall(r"([a-z_, ]+) ([\d.]+)/([\d.]+)", rest):
        for name in names.split(","):
            task = next(
                row.key for row in table.rows if row.key in (name.strip(), f"oak_{name.strip()}")
            )
            pairs[task] = (float(first), float(second.rstrip(".")))
    # Those that stand displaced in the text are marked, and the means of groups are their proof.
    read_pairs = {
        row.key: row.published[4:6]
        for row in table.rows
        if any(cell and cell.mark != "=" for cell in row.published[4:6])
    }
    assert {
        task: tuple(cell and cell.value for cell in pair) for task, pair in read_pairs.items()
    } == pairs


@needs_tables
def test_numbers_of_figures__are_what_was_read():
    read = READ.read_text(encoding="utf-8")
    react, adapt = (row.published[2] for row in ADAPT["figure5"].rows)
    learned, oracle = (row.published[0] for row in DEPS["figure9"].rows)
    gains = re.findall(r"[\d.]+\d", DEPS["figure4"].statements[0].text)[:3]
    for text in (
        f"atomic only {react} -> {adapt}",
        f"diamond {oracle}%; BC {learned}%",
        "2 goals +{}, 3 goals +{}, 4 goals +{}".format(*gains),
        "up to +37, LLaMA up to +15",
    ):
        assert text in read
    assert "up to 37 points with GPT-4, and by up to 15 with LLaMA" in ADAPT["figure6"].notes[0]


def test_rows_of_other_tables__have_the_numbers_of_these():
    assert numbers(DEPS["table3"].row("minedojo")) == [
        cell and cell._replace(spread=None) for cell in numbers(DEPS["table2"].row("deps"))[:8]
    ]
    for row, other in (("codex_baseline", "0"), ("codex_deps", "unlimited")):
        assert DEPS["table19"].row(row).published == DEPS["table4"].row(other).published[:7]


@needs_tables
def test_every_table__that_was_read_is_here_or_says_why_not():
    sections = READ.read_text(encoding="utf-8").split("\n## ")[1:]
    for paper in PAPERS.values():
        text = next(section for section in sections if section.lower().startswith(paper.key))
        for number in NUMBER.findall(text):
            key = f"table{number}"
            assert (
                any(table.key.startswith(key) for table in paper.tables) or key in paper.missing
            ), key


def test_left_out__is_in_no_table():
    for name in LEFT_OUT:
        table, _, column = name.partition(" ")
        paper, _, key = table.partition("/")
        if column:
            assert column not in [other.heading for other in TABLES[table].columns]
        else:
            assert key in PAPERS[paper].missing


# What is played.


def test_papers__are_found_by_name():
    assert PAPERS == {"adapt": ADAPT, "deps": DEPS, "autoplan": AUTOPLAN}
    for paper in PAPERS.values():
        keys = [table.key for table in paper.tables]
        assert len(set(keys)) == len(keys)
        assert not set(keys) & set(paper.missing)
        assert all(paper.missing.values())


@named(TABLES)
def test_table__has_a_cell_for_each_column_and_a_reason_for_each_row_without_a_setting(name: str):
    table = TABLES[name]
    for keys in ([row.key for row in table.rows], [column.heading for column in table.columns]):
        assert keys
        assert len(set(keys)) == len(keys)
    for row in table.rows:
        assert not re.search(r"[\s/,]", row.key), row.key
        assert len(row.published) in (0, len(table.columns)), row.key
        played = [row.setting(index) for index in range(len(table.columns))]
        assert any(played) != bool(row.missing), row.key
        assert (
            row.played is None
            or isinstance(row.played, Setting)
            or len(row.played) == len(table.columns)
        ), row.key
        compared = [column.measure == "p_value" for column in table.columns]
        assert len(row.against) == len(compared) * any(compared), row.key


@named(TABLES)
def test_statement__names_rows_and_columns_of_its_table(name: str):
    table = TABLES[name]
    for statement in table.statements:
        assert 0 < statement.needed <= len(statement.claims)
        for claim in statement.claims:
            assert (claim.above, claim.below) != (None, None)
            measures = {table.column(term.column)[1].measure for term in claim.terms}
            assert measures <= {*PERCENT} or len(measures) == 1, "a sum has one unit"
            assert {term.model for term in claim.terms} == set(range(statement.models))
            assert all(table.row(term.row) for term in claim.terms)


@named(TABLES)
def test_statement__is_what_the_published_numbers_say(name: str):
    """Its claims hold for the numbers that are printed in the table, or as many as it needs."""
    table = TABLES[name]
    for statement in table.statements:
        sums = []
        for claim in statement.claims:
            cells = []
            for term in claim.terms:
                index, _ = table.column(term.column)
                published = table.row(term.row).published
                cells.append(published[index] if published else None)
            if statement.models == 1 and all(cells):
                total = sum(
                    term.weight * cell.value
                    for term, cell in zip(claim.terms, cells, strict=True)
                    if cell
                )
                sums.append(
                    (claim.above is None or total > claim.above)
                    and (claim.below is None or total < claim.below)
                )
        assert sums.count(False) <= len(statement.claims) - statement.needed, statement.text


@pytest.mark.parametrize(
    ("name", "pairs", "told"),
    [
        ("adapt/table1", 59, 18),
        ("adapt/table6", 54, 9),
        ("adapt/table2", 25, 12),
        ("adapt/table8", 2, 0),
        ("deps/table8", 10, 0),
    ],
)
def test_published_orders__are_told_apart_by_the_papers_own_episodes(
    name: str, pairs: int, told: int
):
    orders = published_orders(TABLES[name])
    assert (len(orders), sum(is_told_apart(TABLES[name], order) for order in orders)) == (
        pairs,
        told,
    )


@named(TABLES)
def test_published_orders__have_the_papers_number_of_episodes(name: str):
    table = TABLES[name]
    for order in published_orders(table):
        _, column = table.column(order.column)
        assert column.episodes


def test_episodes__are_the_games_of_the_papers():
    for name in ("adapt/table1", "autoplan/table3a"):
        assert (
            sum(column.episodes or 0 for column in TABLES[name].columns if column.group != ALL)
            == 134
        )
    assert [column.episodes for column in TABLES["deps/table2"].columns][-1] == 30 * 69
    assert [column.episodes for column in TABLES["deps/table6"].columns] == [
        15,
        10,
        10,
        5,
        5,
        5,
        50,
    ]
    assert [column.episodes for column in TABLES["deps/table8"].columns] == [5, 5, 5, 5, 5, 25]


def test_rows_whose_point_is_their_examples__need_prompts_with_examples():
    needy = {
        (name, row.key)
        for name, table in TABLES.items()
        for row in table.rows
        if row.needs_examples
    }
    assert needy == {
        *(("adapt/table6", agent) for agent in AGENTS),
        *(("adapt/figure5", agent) for agent in ("react", "adapt")),
        *(("autoplan/table3a", agent) for agent in ("react", "reflexion")),
        *(("autoplan/table4a", agent) for agent in ("react", "reflexion")),
        *((f"autoplan/{table}", "react") for table in ("table3b", "table4b")),
    }


def test_about__has_no_word_about_examples_that_depend_on_prompts():
    for table in TABLES.values():
        assert "executor's prompt" not in table.about


def test_settings__of_other_papers_are_the_bounds_that_budgets_names():
    rows = re.findall(r"^\| (\w+) \| (\w+) \| AutoPlan \|.*\| (.*) \|$", BUDGETS, re.MULTILINE)
    assert {(agent, game) for agent, game, _ in rows} == {
        ("react", "hotpotqa"),
        ("react", "alfworld"),
        ("reflexion", "alfworld"),
    }
    for agent, game, arguments in rows:
        table = AUTOPLAN["table3b" if game == "hotpotqa" else "table3a"]
        setting = table.row(agent).setting(0)
        assert setting is not None
        expected = dict(argument.split("=") for argument in arguments.split())
        played = {key: str(value) for key, value in setting.args.items() if key in expected}
        assert (setting.agent, played) == (agent, expected)
        assert setting.wrappers == (("HelpfulFeedback",) if game == "alfworld" else ())
    reflexion = AUTOPLAN["table3a"].row("reflexion").setting(0)
    assert reflexion is not None
    assert reflexion.max_steps == 5 * 35


def test_lats__has_the_calls_of_its_search():
    for name in ("table2", "table7"):
        setting = ADAPT[name].row("lats").setting(0)
        assert setting is not None
        assert f"--max-calls {setting.max_calls}" in LATS


def spec(setting: Setting) -> RunSpec:
    """The run of a setting."""
    return RunSpec(
        setting.env,
        setting.split,
        setting.agent,
        setting.args,
        None,
        env_args=setting.env_args,
        wrappers=setting.wrappers,
        max_calls=setting.max_calls,
        max_steps=setting.max_steps,
    )


@cache
def groups_and_tasks(world: Setting) -> tuple[frozenset[str], frozenset[str]]:
    with closing(Run(replace(spec(world), agent=lambda observation, info: ""))) as run:
        tasks = tasks_of(run.env)
    assert tasks
    return frozenset(task.group for task in tasks), frozenset(task.id for task in tasks)


def world(setting: Setting) -> Setting:
    return Setting(
        setting.env, setting.split, "", env_args=setting.env_args, wrappers=setting.wrappers
    )


@named(TABLES)
def test_settings__are_of_worlds_that_have_the_groups_and_tasks(name: str):
    table = TABLES[name]
    for row in table.rows:
        for index, column in enumerate(table.columns):
            setting = row.setting(index)
            if setting:
                groups, tasks = groups_and_tasks(world(setting))
                assert column.group == ALL or column.group in groups, (row.key, column)
                assert not row.task or row.task in tasks


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_settings__are_of_agents_that_take_the_arguments(setting: Setting):
    assert Run(spec(setting)).agent
    assert setting.asks == (setting.agent not in ("naive_buyer", "random_text", "repeater"))
    assert setting.training is None or setting.agent == "autoplan"


def test_settings__differ_in_name_or_in_roles():
    assert len({(setting.name, setting.roles) for setting in SETTINGS}) == len(SETTINGS)
