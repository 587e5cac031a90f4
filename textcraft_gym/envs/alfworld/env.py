"""ALFWorld as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.feedback import explain
from textcraft_gym.envs.alfworld.game import Content, Game, State
from textcraft_gym.envs.alfworld.real import RealEngine
from textcraft_gym.envs.alfworld.reasons import reason
from textcraft_gym.envs.alfworld.rules import apply, moves, opening
from textcraft_gym.envs.alfworld.steps import holds
from textcraft_gym.envs.alfworld.task_id import Difficulty
from textcraft_gym.envs.alfworld.tasks import Games, Task, select, split_names
from textcraft_gym.envs.alfworld.text import NOTHING_HAPPENS, WORDINGS, Dialect
from textcraft_gym.envs.alfworld.thoughts import thoughts
from textcraft_gym.envs.alfworld.vocabulary import vocabulary
from textcraft_gym.envs.text_env import Settings, Step, TextEnv
from textcraft_gym.errors import UnknownName, true_or_false

ENGINES = ("native", "textworld")

Position: TypeAlias = tuple[str, tuple[int, int, tuple[Content, ...], tuple[int, ...], bool], int]
"""The household's fingerprint, its state with the content of each location, and ``moves``."""


class ALFWorldEnv(TextEnv):
    """Do a household task in text: find objects, clean, heat, cool or light them, and place them.

    **Actions** (any string; other or impossible commands answer ``Nothing happens.``): ``look``,
    ``inventory``, ``help``, ``go to R``, ``open R``, ``close R``, ``take O from R``,
    ``move O to R``, ``clean|heat|cool O with R``, ``use O``, ``slice O with O``, ``examine R``,
    ``examine O``. Names include the number: ``fridge 1``.

    **Observation**: text, byte for byte as from TextWorld's engine with the official grammar.

    **Reward**: 1 for reaching the goal, else 0.

    **Episode end**: terminates when the goal holds, and a step after that raises
    ``gymnasium.error.ResetNeeded``. Registered with the official limit of 50 steps.

    **Info**: ``task`` (``<task>/<trial>``), ``task_type``, ``gamefile``, ``won`` (bool); after a
    command that did nothing ``invalid_reason``, one of ``reasons.REASONS``; ``admissible_commands``
    and ``expert_plan`` (lists of str) if asked for. The plan is empty when the goal can no longer
    be reached: in some official games one can pick up an object that fits nowhere. With
    ``textworld_info`` the keys that alfworld and tale-suite have: ``feedback``, ``score`` (1 if
    won), ``max_score`` (1), ``lost`` (False), ``moves`` (number of commands that were admissible),
    ``extra.gamefile``, ``extra.walkthrough`` (that of the game file).

    **Reset options**: ``{"task": id}`` plays that task. Otherwise the seed draws one from the
    split.

    Args:
        split: ``valid_seen`` (the default), ``valid_unseen``, ``train`` or ``all``; ``dev`` is
            ADaPT's, ten of each type of ``valid_seen``. The official games have ``valid_train``,
            too.
        games: ``generated`` (the default), ``official`` (in ``$ALFWORLD_DATA``, by default
            ``~/.cache/alfworld``), a folder of splits, or one game: a ``game.tw-pddl`` or the
            folder that holds it, whatever the split. Which games of a folder are playable is
            checked once and cached (see ``index``); a warning counts the others.
        task_types: Play only tasks of these types, or of this one.
        receptacles: Number of receptacles of a generated household, 8 to 60; by default that of
            ALFRED's rooms.
        distractors: Number of objects that the task does not need, 0 to 100; by default about
            ALFRED's number.
        hidden: Chance in per cent that each goal object starts in a closed receptacle.
        engine: ``native``, or ``textworld`` for the official one (extra ``[alfworld]``): the same
            spaces, info and text, in whole episodes over a thousand times slower.
        dialect: The grammar, by the release of ALFWorld, whatever that of the game files: ``0.4``
            (the default), or ``0.3`` as in releases 0.2 and 0.3 and the prompts of papers:
            ``put O in/on R``, arrivals name the location (``You arrive at loc 5.``), and there is
            no ``help``. The official engine plays a game in its own dialect only.
        admissible: Whether info lists the admissible commands.
        expert: Whether info has a shortest plan to the goal.
        textworld_info: Whether info has the keys of TextWorld, too.
        render_mode: ``ansi`` renders the last action and its answer, ``human`` prints them.

    Raises:
        UnknownName: For an unknown split, task, type, dialect or engine.
        GameError: If there is no such folder of games, or none of them is playable; the message
            says why.
        ValueError: If there is no game of these types.

    **Ids**: ``ALFWorld-v0``.

    **Source**: Shridhar et al., ALFWorld: Aligning Text and Embodied Environments for Interactive
    Learning, 2021.

    **Versions**: v0.
    """

    game_profile = "alfworld"
    splits = staticmethod(split_names)
    tasks: tuple[Task, ...]
    thoughts = staticmethod(thoughts)

    def __init__(
        self,
        split: str = "valid_seen",
        *,
        games: str | Path = "generated",
        task_types: str | Sequence[str] | None = None,
        receptacles: int | None = None,
        distractors: int | None = None,
        hidden: int = Difficulty().hidden,
        engine: Literal["native", "textworld"] = "native",
        dialect: Dialect = "0.4",
        admissible: bool = False,
        expert: bool = False,
        textworld_info: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(admissible=admissible, expert=expert, render_mode=render_mode)
        self.dialect = cast("Dialect", str(dialect))  # the command line reads 0.3 as a number
        if self.dialect not in WORDINGS:
            raise UnknownName.of("dialect", dialect, list(WORDINGS))
        if engine not in ENGINES:
            raise UnknownName.of("engine", engine, ENGINES)
        true_or_false("textworld_info", textworld_info)
        self._source = games
        self._difficulty = Difficulty(receptacles, distractors, hidden)
        self._task_types = task_types
        self.set_split(split)
        self.textworld_info = textworld_info
        self._moves = 0
        self._feedback = ""
        self._real = RealEngine(self.dialect) if engine == "textworld" else None

    def _set_split(self, split: str) -> None:
        games = Games(self._source, split, self._difficulty)
        tasks = select(games.tasks, self._task_types)
        if not tasks:
            raise ValueError(
                f"split {split!r} of {self._source} has no playable game of these types"
            )
        self.games, self.tasks = games, tasks

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the split's games: runs with equal fingerprints play the same games."""
        return self.games.fingerprint

    def explain(self, action: str, reason: str) -> str:
        """Explain why the last command did nothing, given its ``invalid_reason``."""
        return explain(self.game, self._state, action, reason)

    def holds(self, step: str) -> bool | None:
        """Return whether a step of a plan is done in the current state; None if it cannot tell."""
        return holds(self.game, self._state, step)

    @property
    def vocabulary(self) -> str:
        """A text with every word that an observation may contain."""
        return vocabulary()

    def close(self) -> None:
        """Remove the files of the official engine."""
        if self._real:
            self._real.close()

    def possible_commands(self, tasks: Iterable[str] | None = None) -> list[str]:
        """Refuse.

        Raises:
            Unsupported: Always.
        """
        raise self.unsupported(
            "possible_commands",
            "each household has its own objects, tens of thousands in all",
        )

    def _find_task(self, name: Any) -> Task:
        return self.games.find(name)

    def _begin(self, task: Task, draw: int) -> str:
        self._set_up(task, task.game(self.dialect))
        self._state: State = self.game.first
        self._moves = 0
        self._feedback = self._real.begin(task) if self._real else opening(self.game)
        return self._feedback

    def _play(self, action: str) -> Step:
        before = self._state
        self._state, answer, invalid, _ = apply(self.game, before, action)
        if self._real:  # keep the native state in step, for expert and reasons
            answer, won = self._real.play(action)
            self._state = self._state._replace(won=won)
            invalid = reason(self.game, before, action) if answer == NOTHING_HAPPENS else ""
        won = self._state.won
        if self.textworld_info:
            self._moves += not invalid
            self._feedback = answer
        info = self._info()
        if invalid:
            info["invalid_reason"] = invalid
        return answer, float(won), won, False, info

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {**self._about, "won": self._state.won}
        if self.admissible:
            commands = self._real.commands if self._real else moves(self.game, self._state).commands
            info["admissible_commands"] = list(commands)
        if self.expert:
            info["expert_plan"] = expert_plan(self.game, self._state) or []
        if self.textworld_info:
            info |= self._textworld_infos()
        return info

    def _textworld_infos(self) -> dict[str, Any]:
        return {
            "feedback": self._feedback,
            "score": int(self._state.won),
            "max_score": 1,
            "lost": False,
            "moves": self._moves,
            "extra.gamefile": self._about["gamefile"],
            "extra.walkthrough": list(self.task.walkthrough(self.dialect)),
        }

    def _set_up(self, task: Task, game: Game) -> None:
        self.game = game
        self._about = {
            "task": task.id,
            "task_type": task.task_type,
            "gamefile": str(task.file or task.id),
        }

    def _settings(self) -> Settings:
        if self._real:
            raise self.unsupported(
                "snapshot",
                "the official engine cannot go back; use engine='native'",
            )
        return "ALFWorld", (("dialect", self.dialect),)

    def _position(self) -> Position:
        location, held, places, flags, won = self._state
        contents = tuple([place.content for place in places])
        return self.game.fingerprint, (location, held, contents, flags, won), self._moves

    def _go_back(
        self,
        task: Task,
        draw: int,
        position: Position,
    ) -> None:
        fingerprint, (location, held, contents, flags, won), moves_so_far = position
        game = task.game(self.dialect)
        # The id alone does not identify a game: folders may have different games of the same id.
        if game.fingerprint != fingerprint:
            raise ValueError(f"the snapshot is of another game with the id {task.id}")
        self._set_up(task, game)
        self._moves = moves_so_far
        places = tuple(map(game.place, range(len(contents)), contents))
        self._state = State(location, held, places, flags, won)
