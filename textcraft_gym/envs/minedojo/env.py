"""MineDojo behind the text actions of the tech tree."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from textcraft_gym.envs.minedojo.commands import Command, command, held, is_near, place_of, worn
from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.actions import CheckInventory, Equip, Gather, Look, Make, parse
from textcraft_gym.envs.minetechtree.minedojo_names import new_name, old_name, task_id
from textcraft_gym.envs.minetechtree.minedojo_specifications import (
    HOW_TO_INSTALL,
    MineDojoMissing,
    read_abilities,
    read_specifications,
)
from textcraft_gym.envs.minetechtree.moves import (
    NEEDS_FURNACE,
    NEEDS_TABLE,
    NOT_ENOUGH,
    UNKNOWN_ACTION,
    UNKNOWN_ITEM,
)
from textcraft_gym.envs.minetechtree.tasks import RULES, SPLITS, Task, find_task, split_tasks
from textcraft_gym.envs.minetechtree.thoughts import thoughts
from textcraft_gym.envs.minetechtree.vocabulary import vocabulary
from textcraft_gym.envs.text_env import Settings, Step, TextEnv
from textcraft_gym.errors import UnknownName
from textcraft_gym.recipes.recipe import name_of

NO_SKILL = "no_skill"
SKILL_FAILED = "skill_failed"
REASONS = (
    UNKNOWN_ACTION,
    UNKNOWN_ITEM,
    NOT_ENOUGH,
    NEEDS_TABLE,
    NEEDS_FURNACE,
    NO_SKILL,
    SKILL_FAILED,
)

PINS = "numpy==1.23.5 opencv-python-headless==4.8.1.78"
"""Requirements of MineDojo 0.1 beside the old Gym: it uses ``np.unicode_`` and ``np.bool``."""
HOW_TO_PLAY = (
    "It needs Java 8 and, in an environment of its own, an old pip and Gym: "
    "pip install 'pip<24.1' 'setuptools<66' 'wheel<0.39' && "
    f"pip install --no-build-isolation gym==0.21.0 && pip install minedojo {PINS}; "
    "see https://docs.minedojo.org. "
    f"The task specifications alone need no simulator: {HOW_TO_INSTALL}"
)

OPEN_ENDED = "open-ended"
IMAGE_SIZE = (160, 256)

_STATIONS = {"crafting_table": ("table", NEEDS_TABLE), "furnace": ("furnace", NEEDS_FURNACE)}


_OWN_WORDS = (
    "Placed Near: nothing to work at. MineDojo does not make it ingredients or fuel are missing "
    "no skill policy was given (gym.make(..., skills=...)) the skill got of"
)


class Skill(NamedTuple):
    """A request to a skill policy: ``mine`` or ``hunt`` an amount of an item, by its old name.

    The names are those of Minecraft 1.11.
    """

    verb: str
    item: str
    amount: int
    tool: str


SkillPolicy: TypeAlias = "Callable[[Skill, Mapping[str, Any]], Command | None]"
"""Maps a skill and MineDojo's observation to the next action of eight numbers; None gives up."""

Simulator: TypeAlias = Callable[..., Any]
"""``minedojo.make``: takes a task id and ``image_size``, gives an environment of the old Gym."""


class MineDojoEnv(TextEnv):
    """The real game through MineDojo, played with the text actions of ``MineTechTree-v0``.

    It needs MineDojo itself, Java 8 and a display or a virtual one; none of that comes with this
    package (the message of ``MineDojoMissing`` says how it is installed). With the real package the
    first ``reset`` makes the simulator; no game has been played on it: the tests use a stand-in
    that was written from the spaces that MineDojo 0.1 declares. The actions that it sends and the
    fields that it reads are in ``commands.py``.

    **Seeds**: the seed of ``reset`` draws the task, and seeds the simulator's own generator. It
    does not determine the world, which is another one at each reset. MineDojo's argument
    ``world_seed`` is for that, by its documentation:
    ``simulator=functools.partial(minedojo.make, world_seed="7")``.

    **Actions** (as in ``MineTechTree-v0``; names are those of Minecraft 1.16, and every wood is one
    wood):

    - ``craft {n} {item}``, ``smelt {n} {item}``: done by the simulator's own command, repeated
      until there are ``n`` more. A held table or furnace is placed first if none is near.
      Ingredients after ``using`` are ignored: the simulator chooses them.
    - ``mine {n} {item}``, ``hunt {n} {item}``: left to the skill policy until there are ``n`` more,
      it gives up, or it has used its ticks.
    - ``equip {item}``, ``place {item}``: done by the simulator's command.
    - ``inventory``, ``look``.

    **Observation**: text, with the answers of ``MineTechTree-v0``; the simulator's observation is
    the attribute ``observation``.

    **Reward**: 1 for obtaining the goal, else 0.

    **Episode end**: terminates when each goal was obtained (and is worn, for armour and shield,
    with ``rules="vanilla"``), truncates when the ticks of the task are spent or the simulator ends.
    A step after that raises ``gymnasium.error.ResetNeeded``. A tick is one step of the simulator.
    Registered with a limit of 200 actions.

    **Info**: ``task``, ``task_id`` (MineDojo's, ``open-ended`` for goals without a task there),
    ``won``, ``ticks``, ``ticks_left``; after an action that did nothing ``invalid_reason``, one of
    ``REASONS``.

    **Reset options**: ``{"task": "diamond"}``, or several, as in ``MineTechTree-v0``.

    Args:
        split: As in ``MineTechTree-v0``.
        rules: As in ``MineTechTree-v0``.
        skills: The skill policy that mines and hunts; without one these actions fail with an
            explanation.
        skill_ticks: Maximum number of ticks that it has for one action.
        simulator: Makes the simulator, by default ``minedojo.make``.
        image_size: Height and width of the simulator's images.
        render_mode: ``ansi`` renders the last action and its answer, ``human`` prints them.

    Raises:
        MineDojoMissing: If MineDojo is not installed, cannot be imported, or lacks Java or the
            NumPy that it works with; the message says how to install it.
        UnknownName: For a split, task or kind of rules that does not exist; the message lists those
            that do.

    **Ids**: ``MineDojo-v0``.

    **Source**: Fan et al., MineDojo: Building Open-Ended Embodied Agents with Internet-Scale
    Knowledge, 2022.

    **Versions**: v0.
    """

    game_profile = "minetechtree"
    splits = SPLITS
    tasks: tuple[Task, ...]
    thoughts = staticmethod(thoughts)

    def __init__(
        self,
        split: str = "core71",
        *,
        rules: Literal["vanilla", "deps"] = "vanilla",
        skills: SkillPolicy | None = None,
        skill_ticks: int = 3000,
        simulator: Simulator | None = None,
        image_size: tuple[int, int] = IMAGE_SIZE,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(render_mode=render_mode)
        if rules not in RULES:
            raise UnknownName.of("rules", rules, RULES)
        self.rules = rules
        self.set_split(split)
        self.skills = skills
        self.skill_ticks = skill_ticks
        self.image_size = image_size
        self.observation: Any = None
        self._make = simulator or _minedojo_make()
        self._abilities = read_abilities()
        self._simulator: Any = None

    def _set_split(self, split: str) -> None:
        self.tasks = split_tasks(split, self.rules)

    def close(self) -> None:
        """End the game."""
        if self._simulator is not None:
            self._simulator.close()
            self._simulator = None

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of MineDojo's task specifications and item lists."""
        known = sorted(read_specifications().items()), self._abilities
        return hashlib.sha256(repr(known).encode()).hexdigest()

    @property
    def vocabulary(self) -> str:
        """A text with every word that the game writes, apart from words echoed from an action."""
        return f"{vocabulary()}\n{_OWN_WORDS}"

    def explain(self, action: str, reason: str) -> str:
        """Refuse.

        Raises:
            Unsupported: Always.
        """
        raise self.unsupported("explain", "its answers say what is missing already")

    def possible_commands(self, tasks: Iterable[str] | None = None) -> list[str]:
        """Refuse.

        Raises:
            Unsupported: Always.
        """
        raise self.unsupported(
            "possible_commands",
            "commands name counts, and any count may be named",
        )

    def _find_task(self, name: Any) -> Task:
        return find_task(name, self.rules)

    def _begin(self, task: Task, draw: int) -> str:
        self.close()
        self._task_id = _id_of(task)
        with _specification_kept(self._task_id):
            self._simulator = self._make(
                self._task_id,
                image_size=self.image_size,
                seed=draw % (1 << 31),
            )
        self.observation = self._simulator.reset()
        self._ticks = 0
        self._ended = False
        self._obtained: set[str] = set()
        return f"{self._look()}\n\nGoal: obtain {text.goals(task.aims)}."

    def _play(self, action: str) -> Step:
        observation, reason = self._answer(action)
        won = self._is_won()
        truncated = not won and self._is_over()
        info = self._info()
        if reason:
            info["invalid_reason"] = reason
        return observation, 1.0 if won else 0.0, won, truncated, info

    def _settings(self) -> Settings:
        raise self.unsupported("snapshot", "its simulator cannot go back")

    def _answer(self, line: str) -> tuple[str, str]:
        """Return the answer to an action, and the code why nothing happened, empty if it did."""
        action = parse(line)
        if isinstance(action, Make):
            return self._made(action)
        if isinstance(action, Gather):
            return self._gathered(action)
        if isinstance(action, Equip):
            return self._put("equip", action.item)
        if isinstance(action, Look):
            return self._look(), ""
        if isinstance(action, CheckInventory):
            return _inventory(held(self.observation)), ""
        if line.strip().startswith("place "):
            return self._put("place", line.strip().removeprefix("place "))
        return text.unknown(line), UNKNOWN_ACTION

    def _made(self, action: Make) -> tuple[str, str]:
        item = old_name(action.item.replace(" ", "_"))
        refused = text.could_not(action.verb, action.item)
        recipe = self._abilities.number(item)
        if recipe is None:
            return f"{refused}: MineDojo does not make it", UNKNOWN_ITEM
        station = self._station_for(item)
        if station and not self._stands(station):
            return f"{refused}: requires {station.replace('_', ' ')}", _STATIONS[station][1]
        before = self._count(item)
        while (now := self._count(item)) < before + action.amount and not self._is_over():
            self._send(command("craft", makes=recipe))
            if self._count(item) <= now:  # the simulator reports no failure
                return f"{refused}: ingredients or fuel are missing", NOT_ENOUGH
        return text.done(action.verb, {action.item: self._count(item) - before}), ""

    def _station_for(self, item: str) -> str:
        """Return the furnace or crafting table that an item is made at, empty for none."""
        if item in self._abilities.in_furnace:
            return "furnace"
        if item in self._abilities.at_table:
            return "crafting_table"
        return ""

    def _gathered(self, action: Gather) -> tuple[str, str]:
        item = old_name(action.item.replace(" ", "_"))
        refused = text.could_not(action.verb, action.item)
        if self.skills is None:
            return f"{refused}: no skill policy was given (gym.make(..., skills=...))", NO_SKILL
        skill = Skill(action.verb, item, action.amount, old_name(action.tool.replace(" ", "_")))
        before, began = self._count(item), self._ticks
        while self._count(item) < before + action.amount and not self._is_over():
            next_command = self.skills(skill, self.observation)
            if next_command is None or self._ticks - began >= self.skill_ticks:
                gained = self._count(item) - before
                return f"{refused}: the skill got {gained} of {action.amount}", SKILL_FAILED
            self._send(next_command)
        return text.done(action.verb, {action.item: self._count(item) - before}), ""

    def _put(
        self,
        verb: str,
        name: str,
    ) -> tuple[str, str]:
        slot = place_of(self.observation, old_name(name.replace(" ", "_")))
        if slot is None:
            why = f"requires 1 {name[: text.ECHO_LENGTH]}"
            return f"{text.could_not(verb, name)}: {why}", NOT_ENOUGH
        self._send(command(verb, place=slot))
        if verb == "equip":
            return text.equipped(name), ""
        return f"Placed {name}", ""

    def _stands(self, station: str) -> bool:
        """Return whether a station is near, after placing one that is held."""
        near, _ = _STATIONS[station]
        if not is_near(self.observation, near):
            slot = place_of(self.observation, station)
            if slot is not None:
                self._send(command("place", place=slot))
        return is_near(self.observation, near)

    def _send(self, action: Command) -> None:
        self.observation, _, done, _ = self._simulator.step(action)
        self._ticks += 1
        self._ended = self._ended or bool(done)
        inventory, on = held(self.observation), worn(self.observation)
        for aim in self.task.aims:
            name = old_name(aim.item)
            if name in on or (name in inventory and not aim.worn):
                self._obtained.add(aim.item)

    def _is_over(self) -> bool:
        return self._ended or self._ticks >= self.task.ticks

    def _is_won(self) -> bool:
        return all(aim.item in self._obtained for aim in self.task.aims)

    def _count(self, item: str) -> int:
        return held(self.observation).get(item, 0)

    def _look(self) -> str:
        near = []
        for name, (key, _) in _STATIONS.items():
            if is_near(self.observation, key):
                near.append(name.replace("_", " "))
        listed = ", ".join(near) or "nothing to work at"
        return f"Near: {listed}.\nTicks left: {self.task.ticks - self._ticks}."

    def _info(self) -> dict[str, Any]:
        return {
            "task": self.task.id,
            "task_id": self._task_id,
            "won": self._is_won(),
            "ticks": self._ticks,
            "ticks_left": self.task.ticks - self._ticks,
        }


def _id_of(task: Task) -> str:
    """Return MineDojo's task id; the open-ended task for several goals, or if it has none."""
    if len(task.aims) > 1:
        return OPEN_ENDED
    id = task_id(task.aims[0].item)
    return id if id in read_specifications() else OPEN_ENDED


def _inventory(holding: Mapping[str, int]) -> str:
    named = ", ".join(f"{count} {name_of(new_name(item))}" for item, count in holding.items())
    return f"Inventory: {named}" if named else text.EMPTY_HANDED


def _minedojo_make() -> Simulator:
    try:
        make: Simulator = import_module("minedojo").make
    except ImportError as error:
        raise MineDojoMissing(
            f"MineDojo's simulator cannot be imported ({error}). {HOW_TO_PLAY}"
        ) from error
    # That release removed ``np.bool``, which MineDojo uses.
    if np.lib.NumpyVersion(np.__version__) >= "1.24.0":
        raise MineDojoMissing(f"MineDojo does not work with NumPy {np.__version__}. {HOW_TO_PLAY}")
    if shutil.which("java") is None:
        raise MineDojoMissing(f"MineDojo finds no command java. {HOW_TO_PLAY}")
    return make


@contextmanager
def _specification_kept(task_id: str) -> Iterator[None]:
    """Give MineDojo's specification of a task back to it.

    ``make`` takes it apart, and cannot make the task again.
    """
    shared = getattr(sys.modules.get("minedojo.tasks"), "ALL_TASKS_SPECS", {})
    specification = deepcopy(shared.get(task_id))
    try:
        yield
    finally:
        if specification is not None:
            shared[task_id] = specification
