"""ALFWorld's tasks: generated ones, which their id describes in full, and game files."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple
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
    def family(self) -> str:
        """Its task and room, which several trials may share."""
        return self.id.partition("/")[0]

    @property
    def depth(self) -> int:
        """Number of subgoals: take, clean, heat or cool, and put, for one object or for two."""
        return _SUBGOALS[self.task_type]

    @cached_property
    def optimal_length(self) -> int:
        """Length of a shortest plan."""
        game = self.game("0.4")
        return len(expert_plan(game, game.first) or [])

    def walkthrough(self, dialect: Dialect) -> tuple[str, ...]:
        """Return the walkthrough of the game file, which may be long, or else a shortest plan."""
        return _walkthrough(self.file or self.id, dialect)

    @property
    def content(self) -> str:
        """The goal and the initial facts; equal ones may differ in the sentence of the task."""
        problem = _problem(self.file or self.id)
        return "\n".join(map(" ".join, [problem.goal, *sorted(set(problem.facts))]))

    def game(self, dialect: Dialect) -> Game:
        """Return the game ready to play; all environments that play it share one object.

        Raises:
            GameError: If it cannot be read, is won at the start, or cannot be won.
        """
        return _load(self.file or self.id, dialect)


class _Split(NamedTuple):
    """Tasks of a split, loaded once and shared by all environments.

    Attributes:
        tasks: The tasks.
        by_id: The same by id.
        skipped: The error messages of unplayable games.
    """

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

    def __init__(
        self,
        source: str | Path,
        split: str,
        difficulty: Difficulty,
    ) -> None:
        self.generated = source == "generated"
        self.difficulty = difficulty
        if self.generated:
            check_difficulty(difficulty)
            loaded = _generated(split, difficulty)
        elif difficulty != Difficulty():
            raise GameError(
                "receptacles, distractors and hidden need games='generated', "
                f"got games={str(source)!r}"
            )
        elif source != "official" and (file := game_file(source)):
            loaded = _one_game(file)  # whatever the split
        else:
            loaded = _in_folder(data_folder(source), split)
        self.tasks, self._by_id, self.skipped = loaded

    def find(self, task_id: str) -> Task:
        """Return a task by its id; a generated one may be of any split.

        Raises:
            UnknownName: If there is none.
        """
        task = self._known(task_id)
        if task is None:
            raise UnknownName.of("task", task_id, list(self._by_id))
        return task

    def __contains__(self, task_id: object) -> bool:
        """Return whether ``find`` returns a task of this id."""
        return self._known(task_id) is not None

    def _known(self, task_id: Any) -> Task | None:
        if task_id in self._by_id:
            return self._by_id[task_id]
        if self.generated:
            with suppress(GameError, TypeError):
                return Task(task_id, parse_id(task_id).goal.task_type)
        return None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all games: of the files, or of the ids that determine generated games."""
        digest = hashlib.sha256()
        for task in self.tasks:
            content = task.file.read_bytes() if task.file else task.id.encode()
            digest.update(content)
        return digest.hexdigest()


def game_file(source: str | Path) -> Path | None:
    """Return the file of one game, given that or its folder; None for another source."""
    path = Path(source).absolute()
    for file in (path, path / GAME_FILE):
        if file.is_file():
            return file
    return None


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
    raise GameError(f"no such file or folder: {root}; alfworld-download fetches the official games")


def select(tasks: Sequence[Task], task_types: str | Sequence[str] | None) -> tuple[Task, ...]:
    """Return the tasks of one type or of several; all if None.

    Raises:
        UnknownName: For a type that does not exist.
    """
    if isinstance(task_types, str):
        task_types = (task_types,)
    chosen = tuple(task_types or ())
    for task_type in chosen:
        if task_type not in TASK_TYPES:
            raise UnknownName.of("task type", task_type, TASK_TYPES)
    if not chosen:
        return tuple(tasks)
    return tuple(task for task in tasks if task.task_type in chosen)


def split_names(games: str | Path = "generated") -> tuple[str, ...]:
    """Return the names of the splits that a source has; a single game has none of its own.

    Raises:
        GameError: If there is no such folder.
    """
    if games == "generated":
        return (*GENERATED, "dev", "all")
    if games != "official" and game_file(games):
        return ()
    folder = data_folder(games)
    stored = [part for part in PARTS if (folder / part).is_dir()]
    dev = ["dev"] if "valid_seen" in stored else []
    return (*stored, *dev, "all") if stored else ()


def _parts(split: str, stored: Sequence[str]) -> Sequence[str]:
    """Return those of the stored splits that a split is made of."""
    if split == "dev":
        return ["valid_seen"]
    if split == "all":
        return stored
    if split not in stored:
        raise UnknownName.of("split", split, [*stored, "dev", "all"])
    return [split]


@lru_cache(maxsize=32)
def _generated(split: str, difficulty: Difficulty) -> _Split:
    tasks: list[Task] = []
    for part in _parts(split, tuple(GENERATED)):
        for task_id in split_ids(part):
            spec = parse_id(task_id)._replace(difficulty=difficulty)
            tasks.append(Task(spec.id, spec.goal.task_type))
    return _split(split, tasks)


@lru_cache(maxsize=16)
def _one_game(file: Path) -> _Split:
    return _split("all", [Task(_id(file), _playable(file, "0.4").goal.task_type, file)])


@lru_cache(maxsize=16)
def _in_folder(folder: Path, split: str) -> _Split:
    """Return the playable games of a split; warn about the others, once in each process."""
    playable: dict[str, Task] = {}
    skipped: dict[str, str] = {}
    for part in _folder_parts(folder, split):
        tasks, unplayable = _indexed(folder / part)
        for task in tasks:
            playable.setdefault(task.id, task)  # a game of valid_train may be in train, too
        skipped.update(unplayable)
    if not playable:
        problem = "; ".join(list(skipped.values())[:SHOWN]) or f"there is no */*/{GAME_FILE}"
        raise GameError(
            f"{folder}: split {split!r} has no playable game ({len(skipped)} skipped): {problem}"
        )
    if skipped:
        names = list(skipped)[:SHOWN]
        if len(skipped) > SHOWN:
            names.append("...")
        count = f"{len(skipped)} of {len(skipped) + len(playable)}"
        warnings.warn(
            f"{folder}: skipped {count} games of split {split!r} as unplayable: "
            f"{', '.join(names)}; env.games.skipped has the reasons",
            stacklevel=2,
        )
    return _split(split, list(playable.values()), list(skipped.values()))


def _indexed(folder: Path) -> tuple[list[Task], dict[str, str]]:
    """Return the playable games of a stored split, and the error messages of the others by id."""
    cached = read_index(folder)
    # A pipe is no file: to read it would wait without end.
    files = sorted(filter(Path.is_file, folder.glob(f"*/*/{GAME_FILE}")))
    stamps = {file: file_stamp(file) for file in files}
    unchecked = [file for file, stamp in stamps.items() if stamp not in cached]
    task_types, skipped = _checked(unchecked, folder.name)
    index: dict[str, str] = {}
    tasks: list[Task] = []
    for file, stamp in stamps.items():
        task_type = cached.get(stamp) or task_types.get(file)
        if task_type is None:
            continue
        tasks.append(Task(_id(file), task_type, file))
        if stamp:
            index[stamp] = task_type
    if index != cached:
        write_index(folder, index)
    return tasks, skipped


def _checked(files: Sequence[Path], split: str) -> tuple[dict[Path, str], dict[str, str]]:
    """Return the task types of the playable games, and the error messages of the others by id."""
    task_types: dict[Path, str] = {}
    skipped: dict[str, str] = {}
    if not files:
        return task_types, skipped
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
    available = [part for part in PARTS if (folder / part).is_dir()]
    parts = [part for part in _parts(split, PARTS) if part in available]
    if not available:
        raise GameError(f"{folder} has none of the folders {', '.join(PARTS)}")
    if not parts:
        raise UnknownName.of("split", split, available)
    return parts


# Beside the cache, so that a game that fell out of it while still in play is not built a second
# time.
_in_play: WeakValueDictionary[tuple[Path | str, Dialect], Game] = WeakValueDictionary()


@lru_cache(maxsize=64)
def _load(source: Path | str, dialect: Dialect) -> Game:
    """Return a game from the cache, or the object of an environment that still plays it."""
    game = _in_play.get((source, dialect))
    if game is None:
        game = _in_play[source, dialect] = _playable(source, dialect)
    return game


@lru_cache(maxsize=64)
def _walkthrough(source: Path | str, dialect: Dialect) -> tuple[str, ...]:
    commands: Any = None
    # A file speaks the dialect of its release.
    if isinstance(source, Path) and read_dialect(source) == dialect:
        commands = json.loads(source.read_text(encoding="utf-8")).get("walkthrough")
    if not isinstance(commands, list) or not all(isinstance(line, str) for line in commands):
        commands = []
    if not commands:
        game = _load(source, dialect)
        commands = expert_plan(game, game.first) or []
    return tuple(commands)


def _problem(source: Path | str) -> Problem:
    if isinstance(source, Path):
        return read_game(source)
    return generate(source)


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


def _split(
    split: str,
    tasks: Sequence[Task],
    skipped: Sequence[str] = (),
) -> _Split:
    if split == "dev":
        tasks = sorted(_first_of_each_type(tasks), key=lambda task: task.id)
    return _Split(tuple(tasks), {task.id: task for task in tasks}, tuple(skipped))


def _first_of_each_type(tasks: Sequence[Task]) -> Iterator[Task]:
    counts: Counter[str] = Counter()
    for task in tasks:
        counts[task.task_type] += 1
        if counts[task.task_type] <= DEV_TASKS_PER_TYPE:
            yield task
