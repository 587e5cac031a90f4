"""Every line of the rules on a household made for it: as TextWorld answered, and as it answers where it is installed.

``REGENERATE_GOLDEN=1 pytest tests/envs/alfworld/test_household.py`` has TextWorld answer the walks'
commands anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.envs.alfworld.conditions import ASKS, Facts, read
from tests.envs.alfworld.household import Turn, Walk, export_household, read_walks, write_walks
from tests.envs.alfworld.judge import Native, Record, TextWorld
from tests.envs.alfworld.memoised import memoised
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, Problem, read_game
from textcraft_gym.envs.alfworld.text import NOTHING_HAPPENS

WALKS = read_walks()
# With THING for any thing and ... for any words.
ANSWERS = """
You are in the middle of a room. Looking quickly around you, you see nothing.
You are facing the THING. Next to it, you see nothing.
You are facing the THING, and THING. Next to it, you see a THING.
You are facing the THING, THING, and THING. Next to it, you see a fork 1, and a fork 1.
You are facing the THING, THING, and THING. Next to it, you see a bread 1, a fork 1, and a fork 1.
You are carrying: a THING.
You are not carrying anything.
You arrive at THING. The THING is closed.
You arrive at THING. The THING is open. In it, you see a THING.
You arrive at THING. On the THING, you see nothing.
You open the THING. The THING is open. In it, you see nothing.
You open the THING. The THING is open. In it, you see a THING, ..., and a THING.
The THING is closed.
The THING is open. In it, you see nothing.
The THING is open. In it, you see a THING.
On the THING, you see nothing.
On the THING, you see a THING.
On the THING, you see a THING, and a THING.
On the THING, you see a THING, ..., and a THING.
This is a normal THING. In it, you see nothing.
This is a normal THING. In it, you see a THING.
This is a normal THING. In it, you see a THING, and a THING.
This is a hot and clean sliced THING.
This is a cool and clean sliced THING.
This is a clean sliced THING.
This is a hot sliced THING.
This is a cool sliced THING.
This is a hot and clean THING.
This is a cool and clean THING.
This is a hot THING.
This is a clean THING.
This is a cold THING.
This THING is on.
This is a sliced THING.
There's nothing special about THING.
"""


class Played(NamedTuple):
    """What TextWorld made of a household: the problem in its file, the opening, and the facts
    before each answer."""

    problem: Problem
    opening: Record
    turns: list[tuple[Facts, Record]]


def play(problem: Problem, commands: Iterable[str], folder: Path, *, plain: bool = False) -> Played:
    file = export_household(problem, folder)
    with nullcontext() if plain else memoised():
        real = TextWorld(file)
        return Played(
            read_game(file),
            real.begin(),
            [(real.facts(), real.play(command)) for command in commands],
        )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[Played]:
    """All walks as TextWorld plays them."""
    folder = tmp_path_factory.mktemp("household")
    return [play(walk.problem, [turn.command for turn in walk.turns], folder) for walk in WALKS]


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_native__answers_as_textworld_in_the_household(played: list[Played]):
    if os.environ.get("REGENERATE_GOLDEN"):
        answers = [
            [Turn(answer.command, answer.feedback, answer.won) for _, answer in episode.turns]
            for episode in played
        ]
        write_walks(
            [walk._replace(turns=turns) for walk, turns in zip(WALKS, answers, strict=True)]
        )
    for walk, episode in zip(WALKS, played, strict=True):
        native = Native(Game(episode.problem))
        assert episode.problem == walk.problem
        assert native.begin() == episode.opening
        for _, record in episode.turns:
            assert native.play(record.command) == record, walk.name


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_memoised__answers_as_plain_textworld_in_the_household(
    played: list[Played], tmp_path: Path
):
    for walk, episode in list(zip(WALKS, played, strict=True))[::4]:
        assert (
            play(walk.problem, [turn.command for turn in walk.turns], tmp_path, plain=True)
            == episode
        )


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name)
def test_native__answers_as_textworld_did_in_the_household(walk: Walk):
    native = Native(Game(walk.problem))
    records = [native.play(turn.command) for turn in walk.turns]
    assert [Turn(record.command, record.feedback, record.won) for record in records] == walk.turns
    assert [record.reward for record in records] == [int(turn.won) for turn in walk.turns]


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_walks__have_each_condition_of_each_command_decide_alone(played: list[Played]):
    shown = set()
    for facts, record in (turn for episode in played for turn in episode.turns):
        command = record.command.strip()
        ask = read(facts, command)
        shown.add(ask)
        can_be_played = not ask.missing if ask else command in ("look", "inventory", "help")
        assert can_be_played == (record.feedback != NOTHING_HAPPENS), (command, ask)
    for form, conditions in ASKS.items():
        for missing in ((), *((condition,) for condition in conditions)):
            assert (form, missing) in shown, f"no walk has {form!r} with all but {missing}"


@pytest.mark.parametrize("answer", ANSWERS.strip().splitlines())
def test_walks__bring_about_each_kind_of_answer(answer: str):
    pattern = re.escape(answer).replace("THING", r"\w+ \d").replace(re.escape("..."), ".+")
    assert any(re.fullmatch(pattern, turn.answer) for walk in WALKS for turn in walk.turns)


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_walks__win_undo_it_and_win_again(task_type: str):
    courses = [
        "".join("-+"[turn.won] for turn in walk.turns)
        for walk in WALKS
        if walk.goal.task_type == task_type
    ]
    assert any(re.fullmatch(r"-+\++-+\++.*", course) for course in courses)


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_native__strips_commands_as_textworld(tmp_path: Path):
    commands = [
        "look ",
        "\tlook\n",
        "\xa0look\u2003",
        "look\0",
        "\ufefflook",
        "go to fridge 1\r\n",
        "open fridge\t1",
        " ",
    ]
    native = Native(Game(WALKS[0].problem))
    for _, record in play(WALKS[0].problem, commands, tmp_path).turns:
        assert native.play(record.command) == record


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_native__calls_what_has_no_number_as_textworld(tmp_path: Path):
    problem = WALKS[0].problem
    things = {
        "Stool" if thing == "Shelf_bar_1" else thing: sort for thing, sort in problem.things.items()
    }
    facts = tuple(
        tuple("Stool" if word == "Shelf_bar_1" else word for word in fact) for fact in problem.facts
    )
    problem = replace(problem, things=things, facts=facts)
    episode = play(
        problem, ["go to stool", "go to countertop 1", "examine stool", "look"], tmp_path
    )
    native = Native(Game(problem))
    assert "stool ." in episode.opening.feedback
    assert native.begin() == episode.opening
    for _, record in episode.turns:
        assert native.play(record.command) == record
