"""ALFWorld's tasks: made ones, which are nothing but their id, and games on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from textcraft_gym.envs.alfworld import generator
from textcraft_gym.envs.alfworld.expert import can_win, expert_plan
from textcraft_gym.envs.alfworld.game import Dialect, Game
from textcraft_gym.envs.alfworld.generator import Difficulty
from textcraft_gym.envs.alfworld.index import mark, read_index, write_index
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, GameError, Problem, read_game
from textcraft_gym.envs.alfworld.rules import is_won
from textcraft_gym.errors import UnknownName

PARTS = ("train", "valid_seen", "valid_unseen")
SPLITS = (*PARTS, "dev", "all")
DEV_TASKS_A_TYPE = 10
GAME_FILE = "game.tw-pddl"
_SUBGOALS = dict(zip(TASK_TYPES, (2, 2, 3, 3, 3, 4), strict=True))


@dataclass(frozen=True)
class Task:
    """One game.

    Attributes:
        id: ``<task>/<trial>``.
        task_type: One of ``problem.TASK_TYPES``.
        file: The game file; None for a game that is made from its id.
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
        """How many things are to be done: taking, treating, putting; twice where two objects are asked for."""
        return _SUBGOALS[self.task_type]

    @cached_property
    def optimal_length(self) -> int:
        """The length of the expert's plan."""
        game = self.game("move")
        return len(expert_plan(game, game.first) or [])

    @property
    def content(self) -> str:
        """The goal, and the household as it is at the beginning; the sentence that tells the goal may differ."""
        problem = _problem(self.file or self.id)
        return "\n".join(map(" ".join, [problem.goal, *sorted(set(problem.facts))]))

    def game(self, dialect: Dialect) -> Game:
        """Return the game ready to play, one and the same for everyone who plays it.

        Raises:
            GameError: If it cannot be read, is won at the beginning, or cannot be won.
        """
        return _load(self.file or self.id, dialect)


class _Split(NamedTuple):
    """What is found once and shared by all who play a split."""

    tasks: tuple[Task, ...]
    by_id: dict[str, Task]
    skipped: tuple[str, ...]


class Games:
    """The games of a split, of one source.

    Args:
        source: ``generated``, ``official`` (in ``$ALFWORLD_DATA``, by default ``~/.cache/alfworld``) or a folder.
        split: One of ``SPLITS``; ``dev`` is ADaPT's, the first ten of each type of ``valid_seen``; ``all`` is what
            there is.
        difficulty: Of generated games.

    Attributes:
        tasks: In the order of their ids, which for generated ones is the order in which they were drawn.
        skipped: What is wrong with games of a folder that cannot be played.

    Raises:
        UnknownName: If there is no such split.
        GameError: If there is no such folder, or the difficulty is out of bounds.
    """

    def __init__(self, source: str | Path, split: str, difficulty: Difficulty) -> None:
        self.generated = source == "generated"
        self.difficulty = difficulty
        if self.generated:
            generator.check_difficulty(difficulty)
            found = _generated(split, difficulty)
        elif difficulty != Difficulty():
            raise GameError(f"receptacles, distractors and hidden are of generated games, not of {source}")
        else:
            found = _in_folder(data_folder(source), split)
        self.tasks, self._by_id, self.skipped = found

    def find(self, task_id: str) -> Task:
        """Return a task by its id, a generated one whatever the split.

        Raises:
            UnknownName: If there is none.
        """
        if task_id in self._by_id:
            return self._by_id[task_id]
        if self.generated:
            try:
                return Task(task_id, generator.read_id(task_id).goal.task_type)
            except (GameError, TypeError):
                pass
        raise UnknownName("task", task_id, list(self._by_id))

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of all games: of the files as they are, of generated ones as their ids make them."""
        digest = hashlib.sha256()
        for task in self.tasks:
            digest.update(task.file.read_bytes() if task.file else task.id.encode())
        return digest.hexdigest()


def data_folder(source: str | Path) -> Path:
    """Return the folder in which splits are.

    Raises:
        GameError: If there is none.
    """
    root = Path(source)
    if source == "official":
        root = Path(os.environ.get("ALFWORLD_DATA") or Path.home() / ".cache" / "alfworld")
    for folder in (root / "json_2.1.1", root):
        if folder.is_dir():
            return folder
    raise GameError(f"{root} is no folder of games; to get the official ones run alfworld-download")


def select(tasks: Sequence[Task], task_types: str | Sequence[str] | None) -> tuple[Task, ...]:
    """Return the tasks of some types, or of one.

    Raises:
        UnknownName: For a type that does not exist.
    """
    task_types = (task_types,) if isinstance(task_types, str) else tuple(task_types or ())
    for task_type in task_types:
        if task_type not in TASK_TYPES:
            raise UnknownName("task type", task_type, TASK_TYPES)
    return tuple(task for task in tasks if task.task_type in task_types) if task_types else tuple(tasks)


def _parts(split: str) -> tuple[str, ...]:
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    return PARTS if split == "all" else ("valid_seen",) if split == "dev" else (split,)


@lru_cache(maxsize=32)
def _generated(split: str, difficulty: Difficulty) -> _Split:
    orders = [generator.read_id(one) for part in _parts(split) for one in generator.split_ids(part)]
    return _split(split, [Task(order._replace(difficulty=difficulty).id, order.goal.task_type) for order in orders])


@lru_cache(maxsize=16)
def _in_folder(folder: Path, split: str) -> _Split:
    found: list[Task] = []
    wrong: list[str] = []
    parts = [part for part in _parts(split) if (folder / part).is_dir()]
    if not parts:
        there = [part for part in PARTS if (folder / part).is_dir()]
        if not there:
            raise GameError(f"{folder} has none of the folders {', '.join(PARTS)}")
        raise UnknownName("split", split, there)
    for part in parts:
        known = read_index(folder / part)
        now: dict[str, str] = {}
        for file in sorted((folder / part).glob(f"*/*/{GAME_FILE}")):
            this = mark(file)
            try:
                task_type = known.get(this) or _playable(file, "move").goal.task_type
            except GameError as error:
                wrong.append(str(error))
                continue
            found.append(Task(f"{file.parts[-3]}/{file.parts[-2]}", task_type, file))
            if this:
                now[this] = task_type
        if now != known:
            write_index(folder / part, now)
    return _split(split, found, wrong)


_in_play: WeakValueDictionary[tuple[Path | str, Dialect], Game] = WeakValueDictionary()


@lru_cache(maxsize=64)
def _load(source: Path | str, dialect: Dialect) -> Game:
    """Keep the last games, and share every game that someone plays."""
    game = _in_play.get((source, dialect))
    if game is None:
        game = _in_play[source, dialect] = _playable(source, dialect)
    return game


def _problem(source: Path | str) -> Problem:
    return read_game(source) if isinstance(source, Path) else generator.generate(source)


def _playable(source: Path | str, dialect: Dialect) -> Game:
    problem = _problem(source)
    try:
        game = Game(problem, dialect)
    except GameError as error:
        raise GameError(f"{source}: {error}") from error
    if is_won(game, game.first):
        raise GameError(f"{source}: the goal holds at the beginning")
    if not can_win(game, game.first):
        raise GameError(f"{source}: the goal cannot be reached")
    return game


def _split(split: str, tasks: Sequence[Task], skipped: Sequence[str] = ()) -> _Split:
    if split == "dev":
        chosen = [[task for task in tasks if task.task_type == one][:DEV_TASKS_A_TYPE] for one in TASK_TYPES]
        tasks = sorted((task for of_type in chosen for task in of_type), key=lambda task: task.id)
    return _Split(tuple(tasks), {task.id: task for task in tasks}, tuple(skipped))
