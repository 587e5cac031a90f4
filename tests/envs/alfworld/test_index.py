"""What is remembered of a folder of games is what one finds by looking, and is never needed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from textcraft_gym import UnknownName
from textcraft_gym.envs.alfworld import problem, tasks
from textcraft_gym.envs.alfworld.export import write_problem
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import GameError
from textcraft_gym.envs.alfworld.task_id import Difficulty, make_id
from textcraft_gym.envs.alfworld.tasks import Games

DOMAIN, GRAMMAR = "(define (domain alfred))", "Your task is to: "
SMALL = Difficulty(receptacles=8, distractors=0)


def write_game(
    folder: Path,
    name: str,
    task_type: str = "look_at_obj_in_light",
    spoil: str = "",
    split: str = "train",
) -> Path:
    """Write a game of a domain and a grammar that stand for the official ones; ``spoil`` is one
    fact more."""
    made = generate(make_id(task_type, 310, 1, SMALL))
    text = write_problem(made, "plan").replace("(:init", f"(:init {spoil}")
    file = folder / split / name / "trial" / "game.tw-pddl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"pddl_domain": DOMAIN, "grammar": GRAMMAR, "pddl_problem": text}))
    return file


def look(folder: Path, split: str = "train") -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the tasks and the complaints, as a new process finds them."""
    tasks._in_folder.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        games = Games(folder, split, Difficulty())
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
    monkeypatch.setattr(
        tasks, "read_game", lambda file: (names.append(file.parts[-3]), really(file))[1]
    )
    return names


FOUND = [("light/trial", "look_at_obj_in_light"), ("place/trial", "pick_and_place_simple")]
BAD = ["cut", "no_fact", "no_type"]


def cache(folder: Path) -> list[Path]:
    return sorted((folder.parent / "cache").iterdir())


def test_index__remembered_finds_the_same_and_reads_only_what_cannot_be_played(
    folder: Path, read: list[str]
):
    games, skipped = look(folder)
    assert games == FOUND
    complaints = ("JSONDecodeError", "unknown predicate edible", "Box has no type")
    for name, complaint, line in zip(BAD, complaints, skipped, strict=True):
        assert line.startswith(f"{folder / 'train' / name / 'trial' / 'game.tw-pddl'}: ")
        assert complaint in line
    assert read == sorted([*BAD, "light", "place"])
    read.clear()
    assert look(folder) == (games, skipped)
    assert read == BAD
    assert len(cache(folder)) == 1


def test_index__reads_a_changed_file_again_and_forgets_a_removed_one(folder: Path, read: list[str]):
    look(folder)
    read.clear()
    write_game(folder, "light", "pick_two_obj_and_place")
    write_game(folder, "cut")
    (folder / "train" / "place" / "trial" / "game.tw-pddl").unlink()
    assert look(folder)[0] == [
        ("cut/trial", "look_at_obj_in_light"),
        ("light/trial", "pick_two_obj_and_place"),
    ]
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
    games, skipped = look(folder)
    assert games == FOUND[:1]
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
def test_index__that_is_spoilt_is_made_anew(
    folder: Path, read: list[str], spoilt: Callable[[bytes], bytes]
):
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


def test_index__warns_once_of_what_is_skipped(folder: Path):
    write_game(folder, "untyped", spoil="(isClean Box)")
    with pytest.warns(
        UserWarning,
        match="4 of 6 games of split 'train' as unplayable: cut/trial, no_fact/trial, no_type/trial, ",
    ):
        Games(folder, "train", Difficulty())
    Games(folder, "train", Difficulty())  # a second warning would be an error
    for name in (*BAD, "untyped"):
        (folder / "train" / name / "trial" / "game.tw-pddl").unlink()
    tasks._in_folder.cache_clear()
    Games(folder, "train", Difficulty())


NESTED = "(" * 50_000 + ")" * 50_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"a":' * 50_000,
        b"[]",
        b"null",
        *(
            json.dumps({"pddl_domain": DOMAIN, "grammar": GRAMMAR, "pddl_problem": text}).encode()
            for text in (None, 3)
        ),
        *(
            json.dumps(
                {
                    "pddl_domain": DOMAIN,
                    "grammar": GRAMMAR,
                    "pddl_problem": f"(define ({section} {NESTED}))",
                }
            ).encode()
            for section in (":objects", ":init", ":goal")
        ),
    ],
    ids=lambda content: content[:12].decode(errors="replace") + str(len(content)),
)
def test_index__outlives_a_file_of_anything(folder: Path, content: bytes):
    write_game(folder, "cut").write_bytes(content)
    games, skipped = look(folder)
    assert games == FOUND
    assert len(skipped) == len(BAD)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_index__passes_by_what_is_no_file(folder: Path):
    for name, make in (("pipe", os.mkfifo), ("folder", os.mkdir)):
        (folder / "train" / name / "trial").mkdir(parents=True)
        make(folder / "train" / name / "trial" / "game.tw-pddl")
    games, skipped = look(folder)
    assert games == FOUND
    assert len(skipped) == len(BAD)


def test_index__of_nothing_that_can_be_played_is_an_error(folder: Path):
    for name, _ in FOUND:
        (folder / "train" / name.partition("/")[0] / "trial" / "game.tw-pddl").write_text("")
    with pytest.raises(
        GameError, match=r"no playable game \(5 skipped\): .*cut/trial.*; .*; [^;]*$"
    ):
        look(folder)
    (folder / "valid_seen").mkdir()
    with pytest.raises(GameError, match=r"there is no \*/\*/game.tw-pddl"):
        look(folder, "valid_seen")


def test_index__shows_its_progress_on_a_terminal_where_there_is_something_to_check(
    folder: Path, capsys, monkeypatch
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    look(folder)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Checking the games in train" in err
    for name in BAD:
        (folder / "train" / name / "trial" / "game.tw-pddl").unlink()
    look(folder)
    assert capsys.readouterr() == ("", "")


def test_split__valid_train_is_one_of_folders_and_adds_to_all_what_is_not_in_train(folder: Path):
    write_game(folder, "light", split="valid_train")
    write_game(folder, "tray", "pick_and_place_simple", split="valid_train")
    more = ("tray/trial", "pick_and_place_simple")
    assert look(folder, "valid_train") == ([FOUND[0], more], ())
    assert look(folder, "all")[0] == [*FOUND, more]
    with pytest.raises(UnknownName, match="valid_train"):
        Games("generated", "valid_train", Difficulty())


def test_games__of_a_path_is_that_game_in_every_split(folder: Path):
    file = write_game(folder, "light")
    for path in (file, str(file), file.parent):
        for split in ("train", "valid_seen"):
            (task,) = Games(path, split, Difficulty()).tasks
            assert (task.id, task.task_type, task.file) == (*FOUND[0], file)
    with pytest.raises(GameError, match="unknown predicate edible"):
        Games(folder / "train" / "no_fact" / "trial", "train", Difficulty())
