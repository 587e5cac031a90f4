"""Game files of any version: known ones are played in every dialect, and others are refused by
name."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from textcraft_gym.envs.alfworld import problem
from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.export import Logic, export_game, wheel_logic, write_problem
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import GameError, parse_problem, read_dialect, read_game
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import Difficulty
from textcraft_gym.envs.alfworld.tasks import Games
from textcraft_gym.envs.alfworld.text import WORDINGS, Dialect

DOMAIN, TASK = "(define (domain alfred))", '"Your task is to: UNKNOWN GOAL."'
MADE = generate(split_ids("train")[0])


def wheel(folder: Path, put: str) -> Path:
    """Write what of a wheel of alfworld is read, with a grammar of one template."""
    file = folder / "alfworld.whl"
    with ZipFile(file, "w") as files:
        files.writestr("alfworld/data/alfred.pddl", DOMAIN)
        files.writestr("alfworld/data/alfred.twl2", f'template :: "{put}";\n{TASK}')
    return file


def known_logic(folder: Path, monkeypatch: pytest.MonkeyPatch, dialect: Dialect = "0.4") -> Logic:
    """Return a domain and a grammar that stand for those of a release."""
    logic = wheel_logic(wheel(folder, WORDINGS[dialect].put))
    for known, text in (
        ("KNOWN_DOMAINS", DOMAIN),
        ("KNOWN_GRAMMARS", logic.grammar.replace(TASK, '""')),
    ):
        monkeypatch.setattr(problem, known, {hashlib.sha256(text.encode()).hexdigest(): dialect})
    return logic


@pytest.mark.parametrize("dialect", WORDINGS)
def test_read_game__reads_the_games_of_every_known_version(
    dialect: Dialect, tmp_path: Path, monkeypatch
):
    file = export_game(
        MADE, "task/trial", tmp_path, [], known_logic(tmp_path, monkeypatch, dialect)
    )
    assert read_game(file) == MADE
    assert read_dialect(file) == dialect


@pytest.mark.parametrize("part", ["task", "problem"])
def test_read_game__refuses_text_that_cannot_be_written(part: str, tmp_path: Path, monkeypatch):
    file = export_game(MADE, "task/trial", tmp_path, [], known_logic(tmp_path, monkeypatch))
    before = {"task": "Your task is to: ", "problem": "(:objects"}[part]
    file.write_text(file.read_text().replace(before, before + r" \ud800"))
    with pytest.raises(GameError, match=r"not a game file: .*surrogates not allowed"):
        read_game(file)


@pytest.mark.parametrize("written", [5, "look", {"look": 1}, ["look", None], [], None])
def test_task__has_a_shortest_plan_where_the_file_has_no_walkthrough(
    written: object, tmp_path: Path, monkeypatch
):
    file = export_game(MADE, "task/trial", tmp_path, [], known_logic(tmp_path, monkeypatch))
    file.write_text(json.dumps({**json.loads(file.read_text()), "walkthrough": written}))
    (task,) = Games(file, "all", Difficulty()).tasks
    game = task.game("0.4")
    assert task.walkthrough("0.4") == tuple(expert_plan(game, game.first))


@pytest.mark.parametrize(
    ("put", "dialect"),
    [(WORDINGS["0.3"].put, "0.3"), (WORDINGS["0.4"].put, "0.4"), ("drop {o} at {r}", "unknown")],
)
def test_read_game__says_in_which_dialect_an_unknown_version_is(
    put: str, dialect: str, tmp_path: Path
):
    file = export_game(MADE, "task/trial", tmp_path, [], wheel_logic(wheel(tmp_path, put)))
    for read in (read_game, read_dialect):
        with pytest.raises(
            GameError, match=rf"unknown version of its domain or grammar, in dialect {dialect}$"
        ):
            read(file)


@pytest.mark.parametrize("text", ["{", json.dumps({"pddl_domain": DOMAIN}), json.dumps([])])
def test_read_game__refuses_what_is_no_game(text: str, tmp_path: Path):
    file = tmp_path / "game.tw-pddl"
    file.write_text(text)
    with pytest.raises(GameError, match="not a game file"):
        read_game(file)


def test_wheel_logic__says_what_is_wrong_with_the_file(tmp_path: Path):
    (tmp_path / "no.whl").write_text("no")
    with ZipFile(tmp_path / "other.whl", "w") as files:
        files.writestr("other.py", "")
    for name in ("no.whl", "other.whl", "missing.whl"):
        with pytest.raises(GameError, match=rf"{name}: no wheel with ALFWorld's"):
            wheel_logic(tmp_path / name)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("()", r"expected a fact, got \(\)"),
        ("openable", "expected a fact, got openable"),
        ("(openable (opened a))", r"expected a fact, got \(openable \(opened a\)\)"),
        ("(edible agent1)", "unknown predicate edible"),
        ("(atLocation agent1)", r"expected 2 arguments in \(atLocation agent1\)"),
        (
            "(openable nothing)",
            r"nothing in \(openable nothing\) is not declared, expected receptacle",
        ),
        ("(openable agent1)", r"agent1 in \(openable agent1\) is agent, expected receptacle"),
    ],
)
@pytest.mark.parametrize(
    "before", ["(:init\n", ")\n(:goal"]
)  # at the beginning of the facts, and at their end
def test_parse_problem__names_what_is_no_fact(fault: str, message: str, before: str):
    text = write_problem(MADE, "p")
    faulty = text.replace(
        before, f"{before}{fault}\n" if before.startswith("(:init") else f"{fault}{before}"
    )
    with pytest.raises(GameError, match=f"^{message}$"):
        parse_problem(faulty, MADE.task)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("a (b) - object", r"expected an id and its sort, got \(b\)"),
        ("a - thing", "expected one of the sorts .*, got 'thing'"),
    ],
)
def test_parse_problem__names_what_is_no_declaration(declared: str, message: str):
    text = write_problem(MADE, "p").replace("(:objects\n", f"(:objects {declared}\n")
    with pytest.raises(GameError, match=message):
        parse_problem(text, MADE.task)


@pytest.mark.parametrize(
    "layout", [(" ", "\n\n"), ("\n", " ; (not a fact)\n\t"), (")", " )"), ("(", "( ")]
)
def test_parse_problem__takes_any_layout(layout: tuple[str, str]):
    assert parse_problem(write_problem(MADE, "p").replace(*layout), MADE.task) == MADE


def test_problem__lists_a_repeated_fact_once():
    again = replace(MADE, facts=MADE.facts * 2)
    assert again.arguments == MADE.arguments
    assert [
        (predicate, *ids) for predicate, group in again.arguments.items() for ids in group
    ] == list(MADE.facts)
