"""CLIPort's simulator as a Gymnasium environment of text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from textcraft_gym.envs.tabletop import text
from textcraft_gym.envs.tabletop.actions import Look, Unknown, parse
from textcraft_gym.envs.tabletop.rules import GOALS, MISSED, UNKNOWN_GOAL
from textcraft_gym.envs.tabletop.state import BOWLS, COLOURS, HANOI, KINDS, KITS, PACKING, PYRAMID, SHAPES
from textcraft_gym.envs.tabletop.tasks import LIMIT, NUMBERS, SPLITS
from textcraft_gym.envs.text_env import Settings, Step, TextEnv
from textcraft_gym.errors import TextCraftGymError, UnknownName, at_least

NO_POLICY = "no_policy"
REASONS = (UNKNOWN_GOAL, MISSED, NO_POLICY)

TASKS: Mapping[str, str] = {
    KITS: "assembling-kits-seq-seen-colors",
    HANOI: "towers-of-hanoi-seq-seen-colors",
    BOWLS: "put-block-in-bowl-seen-colors",
    PACKING: "packing-shapes",
    PYRAMID: "stack-block-pyramid-seq-seen-colors",
}
"""CLIPort's name of each kind of task."""

HOW_TO_INSTALL = "git clone https://github.com/cliport/cliport && pip install -e cliport"

Policy: TypeAlias = Callable[[Any, Mapping[str, Any]], Any]
"""Maps CLIPort's observation and info, whose ``lang_goal`` is the goal to reach, to an action of its simulator."""

Simulator: TypeAlias = Callable[[str, int], Any]
"""Makes CLIPort's ``Environment`` with a task, given by CLIPort's name, and a seed."""


class CLIPortMissing(TextCraftGymError, ImportError):
    """CLIPort is not installed, or cannot be imported; the message says how to install it."""


@dataclass(frozen=True)
class Task:
    """A task of CLIPort with a seed.

    Attributes:
        id: Its kind and its seed, ``towers-of-hanoi/3``.
        group: Its kind.
        seed: The seed with which CLIPort makes the table.
    """

    id: str
    group: str
    seed: int


class CLIPortEnv(TextEnv):
    """CLIPort's tables, played with the goals of ``Tabletop-v0`` by a policy of yours, such as CLIPort's own.

    It needs CLIPort and PyBullet, neither of which comes with this package, and has not been played on the real
    simulator: its tests use a stand-in, written from what CLIPort's own evaluation calls.

    **Actions**: the goals of ``Tabletop-v0``, each of which is given to the policy for one pick and place, and
    ``look``. Any object and colour may be named; the simulator has no rules but those of physics.

    **Observation**: text: the colours and shapes that the table's own goals name, or what ``describe`` returns, with
    the forms of goals and the instruction. A goal is answered with ``Done: ...`` if the simulator rewards it, else
    ``Missed: ...``. The simulator's own observation is the attribute ``observation``.

    **Reward**: the simulator's. ``score`` in info is its sum in per cent.

    **Episode end**: terminates when the rewards add up to 1, truncates when ``goals`` are spent or the simulator ends.
    Registered with a limit of 100 steps as well.

    **Info**: ``task``, ``won``, ``score``, ``goals_left``; ``missed`` (True) after a goal without a reward;
    ``invalid_reason``, one of ``REASONS``, after what was not played.

    Args:
        split: ``paper`` (seeds 0 to 4 of each kind), ``dev``, ``test`` or ``all``, as in ``Tabletop-v0``.
        policy: Plays one pick and place; without one goals are answered with an explanation.
        describe: Says what is on the table, given CLIPort's ``Environment``.
        assets: Folder of CLIPort's assets.
        simulator: Makes the simulator, by default CLIPort's.
        goals: Maximum number of goals.
        render_mode: ``ansi`` renders the last action and its answer.

    Raises:
        CLIPortMissing: If CLIPort is not installed, or cannot be imported.
        UnknownName: For a split or a task that does not exist.
        ValueError: For goals below 1.

    **Ids**: ``CLIPort-v0``.

    **Source**: Shridhar et al., CLIPort: What and Where Pathways for Robotic Manipulation, 2021.

    **Versions**: v0.
    """

    game_profile = "tabletop"
    tasks: tuple[Task, ...]

    def __init__(
        self,
        split: str = "paper",
        *,
        policy: Policy | None = None,
        describe: Callable[[Any], str] | None = None,
        assets: str = "cliport/environments/assets",
        simulator: Simulator | None = None,
        goals: int = LIMIT,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(render_mode=render_mode)
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
        at_least("goals", goals, 1)
        if simulator is None and find_spec("cliport") is None:
            raise CLIPortMissing(f"CLIPort is not installed; see its instructions: {HOW_TO_INSTALL}")
        numbers = [number for name in NUMBERS if split in (name, "all") for number in NUMBERS[name]]
        self.tasks = tuple(Task(f"{kind}/{number}", kind, number) for kind in KINDS for number in numbers)
        self.policy = policy
        self.describe = describe
        self.assets = assets
        self.goals = goals
        self.observation: Any = None
        self._make = simulator or self._cliport
        self._simulator: Any = None

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of the tasks' names; it says nothing of the installed simulator."""
        return hashlib.sha256(repr(dict(TASKS)).encode()).hexdigest()

    def close(self) -> None:
        """Drop the simulator."""
        self._simulator = None

    def explain(self, action: str, reason: str) -> str:
        """Explain why the last action did nothing, given its ``invalid_reason``."""
        return _UNPLAYED if reason == NO_POLICY else text.forms(self.task.group)

    def _find_task(self, name: Any) -> Task:
        kind, _, number = str(name).partition("/")
        if kind not in KINDS or not re.fullmatch("[0-9]{1,9}", number):
            raise UnknownName("task", name, [task.id for task in self.tasks])
        return Task(f"{kind}/{int(number)}", kind, int(number))

    def _begin(self, task: Task, draw: int) -> str:
        self._simulator = self._make(TASKS[task.group], task.seed)
        self.observation = self._simulator.reset()
        self._told: Mapping[str, Any] = self._simulator.info
        self._named = _names(self._simulator.task.lang_goals)
        self._given, self._score, self._ended = 0, 0.0, False
        instruction = f"\nYour task is to: {text.INSTRUCTIONS[task.group]}."
        return "\n".join([self._look(task), text.forms(task.group), instruction])

    def _play(self, action: str) -> Step:
        line, asked = action.strip(), parse(action)
        before, reason = self._score, ""
        if isinstance(asked, Look):
            answer = self._look(self.task)
        elif isinstance(asked, Unknown) or not isinstance(asked, GOALS[self.task.group]):
            answer, reason = text.unknown(line), UNKNOWN_GOAL
        elif self.policy is None:
            answer, reason = _UNPLAYED, NO_POLICY
        else:
            answer, reason = self._give(self.policy, line)
        info = self._info()
        if reason == MISSED:
            info["missed"] = True
        elif reason:
            info["invalid_reason"] = reason
        truncated = not info["won"] and (self._ended or self._given >= self.goals)
        return answer, self._score - before, info["won"], truncated, info

    def _give(self, policy: Policy, goal: str) -> tuple[str, str]:
        """Have the policy play one pick and place, and return the answer and why nothing came of it."""
        act = policy(self.observation, {**self._told, "lang_goal": goal})
        self.observation, reward, ended, self._told = self._simulator.step(act)
        self._given += 1
        self._ended = bool(ended)
        self._score += float(reward)
        return (f"Done: {goal}", "") if reward > 0 else (f"Missed: {goal}", MISSED)

    def _look(self, task: Task) -> str:
        table = self.describe(self._simulator) if self.describe else f"On the table is named: {self._named}."
        return f"{table}\nGoals left: {self.goals - self._given}."

    def _info(self) -> dict[str, Any]:
        return {
            "task": self.task.id,
            "won": self._score > _ALL,
            "score": round(100 * self._score, 1),
            "goals_left": self.goals - self._given,
        }

    def _settings(self) -> Settings:
        raise self.unsupported("snapshot", "its simulator cannot go back")

    def _cliport(self, task: str, seed: int) -> Any:
        """Return CLIPort's environment with a task, as its own evaluation makes it."""
        try:
            environment = import_module("cliport.environments.environment").Environment(self.assets)
            chosen = import_module("cliport.tasks").names[task]()
        except ImportError as error:
            raise CLIPortMissing(f"CLIPort cannot be imported ({error}); see {HOW_TO_INSTALL}") from error
        # CLIPort draws its tables from the global state of NumPy, and from no other.
        import_module("numpy").random.seed(seed)
        chosen.mode = "test"
        environment.set_task(chosen)
        return environment


_ALL = 0.99
"""Sum of rewards above which everything is done: CLIPort adds up fractions."""
_UNPLAYED = 'No policy was given: gym.make("CLIPort-v0", policy=...).'


def _names(lang_goals: Sequence[str] | Iterable[str]) -> str:
    """Return the colours and shapes that a table's own goals name, in alphabetical order, which tells no plan."""
    words = " ".join(lang_goals)
    named = [name for name in (*COLOURS, "brown", *SHAPES) if re.search(rf"\b{name}\b", words)]
    return ", ".join(sorted(named)) or "nothing"
