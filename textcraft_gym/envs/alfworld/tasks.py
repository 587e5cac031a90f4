"""ALFWorld's tasks: generated ones, which are fully described by their id, and game files on disk."""

from __future__ import annotations

import hashlib
import os
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
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, GameError, Problem, read_game
from textcraft_gym.envs.alfworld.rules import is_won
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import Difficulty, check_difficulty, parse_id
from textcraft_gym.envs.alfworld.text import Dialect
from textcraft_gym.errors import UnknownName

PARTS = ("train", "valid_seen", "valid_unseen")
"""The splits that are stored; the others are made of these."""
SPLITS = (*PARTS, "dev", "all")
DEV_TASKS_PER_TYPE = 10
GAME_FILE = "game.tw-pddl"
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
        source: ``generated``, ``official`` (in ``$ALFWORLD_DATA``, by default ``~/.cache/alfworld``) or a folder.
        split: One of ``SPLITS``; ``dev`` is ADaPT's, the first ten of each type of ``valid_seen``; ``all`` is the
            union of those that exist.
        difficulty: Difficulty of generated games.

    Attributes:
        tasks: In the order of their ids, which for generated ones is the order in which they were drawn.
        skipped: Error messages of the games in a folder that cannot be played.

    Raises:
        UnknownName: If there is no such split.
        GameError: If there is no such folder, or the difficulty is out of bounds.
    """

    def __init__(self, source: str | Path, split: str, difficulty: Difficulty) -> None:
        self.generated = source == "generated"
        self.difficulty = difficulty
        if self.generated:
            check_difficulty(difficulty)
            loaded = _generated(split, difficulty)
        elif difficulty != Difficulty():
            raise GameError(f"receptacles, distractors and hidden need games='generated', got games={str(source)!r}")
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
    raise GameError(f"there is no folder {root}; alfworld-download fetches the official games")


def select(tasks: Sequence[Task], task_types: str | Sequence[str] | None) -> tuple[Task, ...]:
    """Return the tasks of one type or of several; all if None.

    Raises:
        UnknownName: For a type that does not exist.
    """
    task_types = (task_types,) if isinstance(task_types, str) else tuple(task_types or ())
    for task_type in task_types:
        if task_type not in TASK_TYPES:
            raise UnknownName("task type", task_type, TASK_TYPES)
    return tuple(task for task in tasks if task.task_type in task_types) if task_types else tuple(tasks)


def _parts(split: str) -> tuple[str, ...]:
    """Return the stored splits that a split is made of."""
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if split == "all":
        return PARTS
    return ("valid_seen",) if split == "dev" else (split,)


@lru_cache(maxsize=32)
def _generated(split: str, difficulty: Difficulty) -> _Split:
    specs = [parse_id(task_id) for part in _parts(split) for task_id in split_ids(part)]
    return _split(split, [Task(spec._replace(difficulty=difficulty).id, spec.goal.task_type) for spec in specs])


@lru_cache(maxsize=16)
def _in_folder(folder: Path, split: str) -> _Split:
    tasks: list[Task] = []
    skipped: list[str] = []
    for part in _folder_parts(folder, split):
        cached = read_index(folder / part)
        index: dict[str, str] = {}
        for file in sorted((folder / part).glob(f"*/*/{GAME_FILE}")):
            stamp = file_stamp(file)
            try:
                task_type = cached.get(stamp) or _playable(file, "0.4").goal.task_type
            except GameError as error:
                skipped.append(str(error))
                continue
            tasks.append(Task(f"{file.parts[-3]}/{file.parts[-2]}", task_type, file))
            if stamp:
                index[stamp] = task_type
        if index != cached:
            write_index(folder / part, index)
    return _split(split, tasks, skipped)


def _folder_parts(folder: Path, split: str) -> list[str]:
    """Return the stored splits that a split is made of, as far as the folder has them."""
    parts = [part for part in _parts(split) if (folder / part).is_dir()]
    if not parts:
        available = [part for part in PARTS if (folder / part).is_dir()]
        if not available:
            raise GameError(f"{folder} has none of the folders {', '.join(PARTS)}")
        raise UnknownName("split", split, available)
    return parts


# Beside the cache, so that a game that fell out of it while still in play is not built a second time.
_in_play: WeakValueDictionary[tuple[Path | str, Dialect], Game] = WeakValueDictionary()


@lru_cache(maxsize=64)
def _load(source: Path | str, dialect: Dialect) -> Game:
    """Return a game from the cache, or the object of an environment that still plays it, if there is one."""
    game = _in_play.get((source, dialect))
    if game is None:
        game = _in_play[source, dialect] = _playable(source, dialect)
    return game


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
        of_type = {task_type: [task for task in tasks if task.task_type == task_type] for task_type in TASK_TYPES}
        first = [task for some in of_type.values() for task in some[:DEV_TASKS_PER_TYPE]]
        tasks = sorted(first, key=lambda task: task.id)
    return _Split(tuple(tasks), {task.id: task for task in tasks}, tuple(skipped))
