"""ALFWorld's tasks: generated ones, which are fully described by their id, and game files on disk."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from textcraft_gym.envs.alfworld.expert import can_win, expert_plan
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.index import file_stamp, read_index, write_index
from textcraft_gym.envs.alfworld.problem import (
    TASK_TYPES,
    GameError,
    Problem,
    read_dialect,
    read_game,
)
from textcraft_gym.envs.alfworld.rules import is_won
from textcraft_gym.envs.alfworld.splits import SPLITS as GENERATED
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import Difficulty, check_difficulty, parse_id
from textcraft_gym.envs.alfworld.text import Dialect
from textcraft_gym.errors import UnknownName
from textcraft_gym.storage.progress import progress_bar

PARTS = (*GENERATED, "valid_train")
"""The splits that are stored in folders; ``valid_train`` is in the official data only."""
DEV_TASKS_PER_TYPE = 10
GAME_FILE = "game.tw-pddl"
SHOWN = 3
"""Number of skipped games that a message names."""
_SUBGOALS = dict(zip(TASK_TYPES, (2, 2, 3, 3, 3, 4), strict=True))


@dataclass(frozen=True)
class Task:
    """One game.

    Attributes:
        id: ``<task>/<trial>``.
        task_type: One of ``problem.TASK_TYPES``.
        file: The game file; None for a game that is generated from its id.
    """

    id: str
    task_type: str
    file: Path | None = field(default=None, repr=False, compare=False)

    @property
    def group(self) -> str:
        """Its type."""
        return self.task_type

    @property
    def depth(self) -> int:
        """Number of subgoals: take, clean, heat or cool, put; those of both objects where the task asks for two."""
        return _SUBGOALS[self.task_type]

    @cached_property
    def optimal_length(self) -> int:
        """Length of a shortest plan."""
        game = self.game("0.4")
        return len(expert_plan(game, game.first) or [])

    def walkthrough(self, dialect: Dialect) -> tuple[str, ...]:
        """Return the walkthrough in the game file, which need not be short; a shortest plan if it has none."""
        return _walkthrough(self.file or self.id, dialect)

    @property
    def content(self) -> str:
        """The goal and the initial facts; tasks of equal content may differ in the sentence that states the goal."""
        problem = _problem(self.file or self.id)
        return "\n".join(map(" ".join, [problem.goal, *sorted(set(problem.facts))]))

    def game(self, dialect: Dialect) -> Game:
        """Return the game ready to play; all environments that play it share one object.

        Raises:
            GameError: If it cannot be read, is won at the start, or cannot be won.
        """
        return _load(self.file or self.id, dialect)


class _Split(NamedTuple):
    """Tasks of a split, loaded once and shared by all environments; ``skipped`` has messages on unplayable games."""

    tasks: tuple[Task, ...]
    by_id: dict[str, Task]
    skipped: tuple[str, ...]


class Games:
    """The games of one split from one source.

    Args:
        source: ``generated``, ``official`` (in ``$ALFWORLD_DATA``, by default
            ``~/.cache/alfworld``), a folder of splits, or one game: its file or the folder that
            holds it.
        split: ``train``, ``valid_seen``, ``valid_unseen`` or, in a folder, ``valid_train``; ``dev``
            is ADaPT's, the first ten of each type of ``valid_seen``; ``all`` is the union of those
            that exist. One game is in every split.
        difficulty: Difficulty of generated games.

    Attributes:
        tasks: In the order of their ids, which for generated ones is the order in which they were
            drawn.
        skipped: Error messages of the games in a folder that cannot be played.

    Raises:
        UnknownName: If there is no such split.
        GameError: If there is no such folder or no playable game in it, or the difficulty is out of
            bounds.
    """

    def __init__(self, source: str | Path, split: str, difficulty: Difficulty) -> None:
        self.generated = source == "generated"
        self.difficulty = difficulty
        if self.generated:
            check_difficulty(difficulty)
            loaded = _generated(split, difficulty)
        elif difficulty != Difficulty():
            raise GameError(
                f"receptacles, distractors and hidden need games='generated', got games={str(source)!r}"
            )
        elif source != "official" and (file := game_file(source)):
            loaded = _one_game(file)
        else:
            loaded = _in_folder(data_folder(source), split)
        self.tasks, self._by_id, self.skipped = loaded

    def find(self, task_id: str) -> Task:
        """Return a task by its id; a generated one may be of any split.

        Raises:
            UnknownName: If there is none.
        """
        if task_id in self._by_id:
            return self._by_id[task_id]
        if self.generated:
            try:
                return Task(task_id, parse_id(task_id).goal.task_type)
            except (GameError, TypeError):
                pass
        raise UnknownName("task", task_id, list(self._by_id))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all games: of the contents of files, and of the ids of generated games, which determine them."""
        digest = hashlib.sha256()
        for task in self.tasks:
            digest.update(task.file.read_bytes() if task.file else task.id.encode())
        return digest.hexdigest()


def game_file(source: str | Path) -> Path | None:
    """Return the file of one game, given that or the folder that holds it; None if the source is no single game."""
    path = Path(source).absolute()
    return next((file for file in (path, path / GAME_FILE) if file.is_file()), None)


def data_folder(source: str | Path) -> Path:
    """Return the folder that holds the splits.

    Raises:
        GameError: If there is none.
    """
    root = Path(source)
    if source == "official":
        root = Path(os.environ.get("ALFWORLD_DATA") or Path.home() / ".cache" / "alfworld")
    for folder in (root / "json_2.1.1", root):
        if folder.is_dir():
            return folder
    raise GameError(
        f"there is no file or folder {root}; alfworld-download fetches the official games"
    )


def select(tasks: Sequence[Task], task_types: str | Sequence[str] | None) -> tuple[Task, ...]:
    """Return the tasks of one type or of several; all if None.

    Raises:
        UnknownName: For a type that does not exist.
    """
    task_types = (task_types,) if isinstance(task_types, str) else tuple(task_types or ())
    for task_type in task_types:
        if task_type not in TASK_TYPES:
            raise UnknownName("task type", task_type, TASK_TYPES)
    return (
        tuple(task for task in tasks if task.task_type in task_types)
        if task_types
        else tuple(tasks)
    )


def _parts(split: str, stored: Sequence[str]) -> Sequence[str]:
    """Return those of the stored splits that a split is made of."""
    made_of = {**{part: [part] for part in stored}, "dev": ["valid_seen"], "all": stored}
    if split not in made_of:
        raise UnknownName("split", split, list(made_of))
    return made_of[split]


@lru_cache(maxsize=32)
def _generated(split: str, difficulty: Difficulty) -> _Split:
    specs = [
        parse_id(task_id) for part in _parts(split, tuple(GENERATED)) for task_id in split_ids(part)
    ]
    return _split(
        split,
        [Task(spec._replace(difficulty=difficulty).id, spec.goal.task_type) for spec in specs],
    )


@lru_cache(maxsize=16)
def _one_game(file: Path) -> _Split:
    return _split("all", [Task(_id(file), _playable(file, "0.4").goal.task_type, file)])


@lru_cache(maxsize=16)
def _in_folder(folder: Path, split: str) -> _Split:
    """Return the playable games of a split; warn about the others, once in each process."""
    found: dict[str, Task] = {}
    skipped: dict[str, str] = {}
    for part in _folder_parts(folder, split):
        tasks, unplayable = _indexed(folder / part)
        for task in tasks:
            found.setdefault(task.id, task)  # a game of valid_train may be in train, too
        skipped.update(unplayable)
    if not found:
        problem = "; ".join(list(skipped.values())[:SHOWN]) or f"there is no */*/{GAME_FILE}"
        raise GameError(
            f"{folder}: split {split!r} has no playable game ({len(skipped)} are skipped): {problem}"
        )
    if skipped:
        names = ", ".join([*list(skipped)[:SHOWN], *["..."][: len(skipped) - SHOWN]])
        count = f"{len(skipped)} of {len(skipped) + len(found)} games of split {split!r}"
        message = f"{folder}: skipped {count}, which cannot be played: {names}"
        warnings.warn(
            f"{message}; why is in the attribute games.skipped of the environment", stacklevel=2
        )
    return _split(split, list(found.values()), list(skipped.values()))


def _indexed(folder: Path) -> tuple[list[Task], dict[str, str]]:
    """Return the playable games of a stored split, and the error messages of the others by id."""
    cached = read_index(folder)
    files = sorted(
        filter(Path.is_file, folder.glob(f"*/*/{GAME_FILE}"))
    )  # to read a pipe would wait without end
    stamps = {file: file_stamp(file) for file in files}
    task_types = {file: cached[stamp] for file, stamp in stamps.items() if stamp in cached}
    found, skipped = _checked([file for file in stamps if file not in task_types], folder.name)
    task_types.update(found)
    index = {
        stamp: task_types[file] for file, stamp in stamps.items() if stamp and file in task_types
    }
    if index != cached:
        write_index(folder, index)
    return [
        Task(_id(file), task_types[file], file) for file in stamps if file in task_types
    ], skipped


def _checked(files: Sequence[Path], split: str) -> tuple[dict[Path, str], dict[str, str]]:
    """Return the task types of those games that can be played, and the error messages of the others by id."""
    task_types: dict[Path, str] = {}
    skipped: dict[str, str] = {}
    if files:
        with progress_bar(f"Checking the games in {split}") as progress:
            for done, file in enumerate(files):
                progress(done, len(files))
                try:
                    task_types[file] = _playable(file, "0.4").goal.task_type
                except GameError as error:
                    skipped[_id(file)] = str(error)
    return task_types, skipped


def _id(file: Path) -> str:
    return f"{file.parent.parent.name}/{file.parent.name}"


def _folder_parts(folder: Path, split: str) -> Sequence[str]:
    """Return the stored splits that a split is made of, as far as the folder has them."""
    parts = [part for part in _parts(split, PARTS) if (folder / part).is_dir()]
    if not parts:
        available = [part for part in PARTS if (folder / part).is_dir()]
        if not available:
            raise GameError(f"{folder} has none of the folders {', '.join(PARTS)}")
        raise UnknownName("split", split, available)
    return parts


# Beside the cache, so that a game that fell out of it while still in play is not built a second
# time.
_in_play: WeakValueDictionary[tuple[Path | str, Dialect], Game] = WeakValueDictionary()


@lru_cache(maxsize=64)
def _load(source: Path | str, dialect: Dialect) -> Game:
    """Return a game from the cache, or the object of an environment that still plays it, if there is one."""
    game = _in_play.get((source, dialect))
    if game is None:
        game = _in_play[source, dialect] = _playable(source, dialect)
    return game


@lru_cache(maxsize=64)
def _walkthrough(source: Path | str, dialect: Dialect) -> tuple[str, ...]:
    # A file speaks the dialect of its release.
    if isinstance(source, Path) and read_dialect(source) == dialect:
        written = json.loads(source.read_text(encoding="utf-8")).get("walkthrough")
        if (
            written
            and isinstance(written, list)
            and all(isinstance(command, str) for command in written)
        ):
            return tuple(written)
    game = _load(source, dialect)
    return tuple(expert_plan(game, game.first) or ())


def _problem(source: Path | str) -> Problem:
    return read_game(source) if isinstance(source, Path) else generate(source)


def _playable(source: Path | str, dialect: Dialect) -> Game:
    problem = _problem(source)
    try:
        game = Game(problem, dialect)
    except GameError as error:
        raise GameError(f"{source}: {error}") from error
    if is_won(game, game.first):
        raise GameError(f"{source}: the goal holds at the start")
    if not can_win(game, game.first):
        raise GameError(f"{source}: the goal cannot be reached")
    return game


def _split(split: str, tasks: Sequence[Task], skipped: Sequence[str] = ()) -> _Split:
    if split == "dev":
        of_type = {
            task_type: [task for task in tasks if task.task_type == task_type]
            for task_type in TASK_TYPES
        }
        first = [task for some in of_type.values() for task in some[:DEV_TASKS_PER_TYPE]]
        tasks = sorted(first, key=lambda task: task.id)
    return _Split(tuple(tasks), {task.id: task for task in tasks}, tuple(skipped))
