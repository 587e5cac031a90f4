"""What is remembered of a folder of games is what one finds by looking, and is never needed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from textcraft_gym.envs.alfworld import problem, tasks
from textcraft_gym.envs.alfworld.export import write_problem
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.task_id import Difficulty, make_id
from textcraft_gym.envs.alfworld.tasks import Games

DOMAIN, GRAMMAR = "(define (domain alfred))", "Your task is to: "
SMALL = Difficulty(receptacles=8, distractors=0)


def write_game(folder: Path, name: str, task_type: str = "look_at_obj_in_light", spoil: str = "") -> Path:
    """Write a game of a domain and a grammar that stand for the official ones; ``spoil`` is one fact more."""
    made = generate(make_id(task_type, 310, 1, SMALL))
    text = write_problem(made, "plan").replace("(:init", f"(:init {spoil}")
    file = folder / "train" / name / "trial" / "game.tw-pddl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"pddl_domain": DOMAIN, "grammar": GRAMMAR, "pddl_problem": text}))
    return file


def look(folder: Path) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the tasks and the complaints, as a new process finds them."""
    tasks._in_folder.cache_clear()
    games = Games(folder, "train", Difficulty())
    return [(task.id, task.task_type) for task in games.tasks], games.skipped


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two games that can be played and three that cannot."""
    for known, text in (("KNOWN_DOMAINS", DOMAIN), ("KNOWN_GRAMMARS", "")):
        monkeypatch.setattr(problem, known, {hashlib.sha256(text.encode()).hexdigest(): "0.4"})
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path / "cache"))
    games = tmp_path / "games"
    write_game(games, "light")
    write_game(games, "place", "pick_and_place_simple")
    write_game(games, "no_fact", spoil="(edible agent1)")
    write_game(games, "no_type", spoil="(isClean Box)")
    write_game(games, "cut").write_text("{")
    return games


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The games that were read, by name."""
    names: list[str] = []
    really: Callable[[Path], problem.Problem] = tasks.read_game
    monkeypatch.setattr(tasks, "read_game", lambda file: (names.append(file.parts[-3]), really(file))[1])
    return names


FOUND = [("light/trial", "look_at_obj_in_light"), ("place/trial", "pick_and_place_simple")]
BAD = ["cut", "no_fact", "no_type"]


def cache(folder: Path) -> list[Path]:
    return sorted((folder.parent / "cache").iterdir())


def test_index__remembered_finds_the_same_and_reads_only_what_cannot_be_played(folder: Path, read: list[str]):
    found, skipped = look(folder)
    assert found == FOUND
    complaints = ("JSONDecodeError", "unknown predicate edible", "Box has no type")
    for name, complaint, line in zip(BAD, complaints, skipped, strict=True):
        assert line.startswith(f"{folder / 'train' / name / 'trial' / 'game.tw-pddl'}: ")
        assert complaint in line
    assert read == sorted([*BAD, "light", "place"])
    read.clear()
    assert look(folder) == (found, skipped)
    assert read == BAD
    assert len(cache(folder)) == 1


def test_index__reads_a_changed_file_again_and_forgets_a_removed_one(folder: Path, read: list[str]):
    look(folder)
    read.clear()
    write_game(folder, "light", "pick_two_obj_and_place")
    write_game(folder, "cut")
    (folder / "train" / "place" / "trial" / "game.tw-pddl").unlink()
    assert look(folder)[0] == [("cut/trial", "look_at_obj_in_light"), ("light/trial", "pick_two_obj_and_place")]
    assert read == [*BAD[:1], "light", *BAD[1:]]
    read.clear()
    file = folder / "train" / "light" / "trial" / "game.tw-pddl"
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))
    look(folder)
    assert read == ["light", *BAD[1:]]
    read.clear()
    before = file.stat().st_mtime_ns
    write_game(folder, "light")
    os.utime(file, ns=(0, before))
    look(folder)
    assert read == ["light", *BAD[1:]]
    assert "place/trial" not in cache(folder)[0].read_text()


def test_index__of_a_game_that_is_good_no_more_lists_it(folder: Path):
    look(folder)
    write_game(folder, "place", "pick_and_place_simple", spoil="(edible agent1)")
    found, skipped = look(folder)
    assert found == FOUND[:1]
    assert sum("place/trial" in line for line in skipped) == 1


def test_index__tells_files_of_one_size_and_time_apart(folder: Path):
    good, bad = write_game(folder, "good"), write_game(folder, "spoilt")
    bad.write_text(bad.read_text().replace("(pickupable ", "(pickupaple "))
    assert good.stat().st_size == bad.stat().st_size
    for file in (good, bad):
        os.utime(file, ns=(0, 0))
    assert look(folder) == look(folder)
    assert len(look(folder)[1]) == len(BAD) + 1


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda kept: b"",
        lambda kept: kept[:-20],
        lambda kept: b"\xff" + kept,
        lambda kept: b"[]",
        lambda kept: json.dumps({**json.loads(kept), "games": ["light"]}).encode(),
        lambda kept: kept.replace(b"look_at_obj_in_light", b"look_at_obj"),
        lambda kept: json.dumps({**json.loads(kept), "version": "another"}).encode(),
    ],
    ids=["empty", "cut", "no_text", "list", "list_of_games", "unknown_type", "other_version"],
)
def test_index__that_is_spoilt_is_made_anew(folder: Path, read: list[str], spoilt: Callable[[bytes], bytes]):
    expected = look(folder)
    (file,) = cache(folder)
    kept = file.read_bytes()
    file.write_bytes(spoilt(kept))
    read.clear()
    assert look(folder) == expected
    assert "light" in read
    assert file.read_bytes() == kept


def test_index__is_not_needed_where_nothing_can_be_kept(folder: Path, read: list[str], monkeypatch):
    expected = look(folder)
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(cache(folder)[0] / "below_a_file"))
    read.clear()
    assert look(folder) == look(folder) == expected
    assert read.count("light") == 2


def test_index__that_cannot_take_its_place_leaves_nothing_behind(folder: Path, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    assert look(folder)[0] == FOUND
    assert cache(folder) == []


def test_index__is_another_in_another_folder(folder: Path, read: list[str], tmp_path: Path):
    look(folder)
    folder.rename(tmp_path / "moved")
    read.clear()
    assert look(tmp_path / "moved")[0] == FOUND
    assert "light" in read
