"""The tabletop as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from textcraft_gym.envs.tabletop import expert, text
from textcraft_gym.envs.tabletop.admissible import admissible_commands, possible_commands
from textcraft_gym.envs.tabletop.drawing import drawing
from textcraft_gym.envs.tabletop.picture import picture
from textcraft_gym.envs.tabletop.reliability import RELIABILITIES
from textcraft_gym.envs.tabletop.rules import MISSED, apply, is_won, parts
from textcraft_gym.envs.tabletop.state import Game, State, first_state
from textcraft_gym.envs.tabletop.steps import holds
from textcraft_gym.envs.tabletop.tasks import (
    LIMIT,
    SPLITS,
    Task,
    find_task,
    fingerprint,
    split_tasks,
)
from textcraft_gym.envs.tabletop.thoughts import thoughts
from textcraft_gym.envs.tabletop.vocabulary import vocabulary
from textcraft_gym.envs.text_env import Settings, Step, TextEnv
from textcraft_gym.errors import UnknownName, at_least


class TabletopEnv(TextEnv):
    """Give a controller goals in words: fill bowls, boxes and kits, stack blocks, move rings.

    **Actions** (any string; words that are no goal of the table change nothing and are not
    counted). A goal is written exactly so, in lower case but for the shapes that are letters; each
    moves one thing:

    - ``put-block-in-bowl``: ``put the yellow blocks in a yellow bowl``. A bowl holds any number of
      blocks. Blocks without a bowl of their colour stay.
    - ``stack-block-pyramid``: ``put the red block on the lightest brown block`` (or ``middle`` or
      ``darkest``), ``put the pink block on the red and blue blocks``, which lie side by side in one
      row. Any block may take any place. What has a block on it cannot be moved.
    - ``towers-of-hanoi``: ``move the green ring to the lighter brown side`` (or
      ``middle of the stand`` or ``darker brown side``). Only the top ring moves, and never onto a
      smaller one.
    - ``packing-shapes``: ``pack the star in the brown box``. One of five objects is to be packed.
    - ``assembling-kits``: ``put the blue star in the star hole``. Where two holes have one shape,
      the goal says which: ``put the blue star in the top star hole``.
    - ``look`` lists the table; it is not counted.

    **Observation**: text. The reset lists the table and ends in the forms of goals and the
    instruction; each goal is answered with ``Done: ...``, ``Missed: ...`` or why it is impossible
    (``There is no purple block.``, ``The red ring is under the blue ring.``,
    ``The hole is taken.``). An impossible goal counts.

    **Misses**: with ``reliability="cliport"`` a goal that is possible may be missed, with a
    probability for each kind of task. A miss leaves the thing where it is, or: an object sticks
    askew in its hole, or falls to the floor, for good; a block of the upper rows falls and takes
    one beneath it along. The rates are not measured but chosen, so that a player who repeats each
    goal until it is reached comes to about what CLIPort's policy with the oracle's termination
    comes to in the paper. How a try ends does not depend on what else is done.

    **Reward**: CLIPort's parts: each part that is done for the first time gives the same, up to
    rounding. The rewards of a won episode add up to exactly 1. Parts are blocks with a bowl of
    their colour, places of the pyramid, the moves of a shortest solution of the rings, objects.

    **Episode end**: terminates when all is in its place, truncates when ``goals`` are spent. A step
    after either raises ``gymnasium.error.ResetNeeded``. Registered with a limit of 100 steps as
    well, which ends a loop of what is not counted.

    **Info**: ``task``, ``won`` (bool), ``score`` (0 to 100, the sum of rewards in per cent),
    ``goals_left`` (int); after an impossible action ``invalid_reason``, one of ``rules.REASONS``;
    after a miss ``missed`` (True); ``admissible_commands`` (the goals that are possible now) and
    ``expert_plan`` (lists of str) if asked for. The plan assumes that nothing is missed, and leaves
    out what is spoilt.

    **Reset options**: ``{"task": "towers-of-hanoi/3"}`` plays that task, from any split. Otherwise
    the seed draws one.

    Args:
        split: ``paper`` (five tables of each kind, as many as the paper's seeds), ``dev`` (the
            default, 100 of each kind), ``test`` (100 of each kind) or ``all``.
        reliability: ``oracle`` for a controller that never misses, or ``cliport``.
        goals: Maximum number of goals, the paper's k.
        admissible: List the goals that are possible now in info.
        expert: Add the expert's plan to info.
        render_mode: ``ansi`` renders the last action, its answer and the table drawn in characters,
            ``human`` prints them, and ``svg`` renders the table as a picture.

    Raises:
        UnknownName: For a name that does not exist; the message lists those that do.
        ValueError: For goals below 1.

    **Ids**: ``Tabletop-v0``.

    **Sources**: Wang et al., Describe, Explain, Plan and Select: Interactive Planning with Large
    Language Models Enables Open-World Multi-Task Agents, 2023, appendix A.2; the tasks of Shridhar
    et al., CLIPort: What and Where Pathways for Robotic Manipulation, 2021. The tables here are of
    the same kinds, not the papers' own.

    **Versions**: v0.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi", "svg"], "render_fps": 1}
    game_profile = "tabletop"
    splits = SPLITS
    tasks: tuple[Task, ...]
    thoughts = staticmethod(thoughts)

    def __init__(
        self,
        split: str = "dev",
        *,
        reliability: Literal["oracle", "cliport"] = "oracle",
        goals: int = LIMIT,
        admissible: bool = False,
        expert: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(admissible=admissible, expert=expert, render_mode=render_mode)
        if reliability not in RELIABILITIES:
            raise UnknownName.of("reliability", reliability, list(RELIABILITIES))
        at_least("goals", goals, 1)
        self.set_split(split)
        self.reliability = reliability
        self.goals = goals

    def _set_split(self, split: str) -> None:
        self.tasks = split_tasks(split)

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of all tables, which runs of the same game share on every machine."""
        return fingerprint()

    @property
    def vocabulary(self) -> str:
        """A text with every word that the game writes, apart from words echoed from an action."""
        return vocabulary()

    def explain(self, action: str, reason: str) -> str:
        """Explain why the last action did nothing, given its ``invalid_reason``."""
        return apply(self.game, self._state, action)[3]

    def holds(self, step: str) -> bool | None:
        """Return whether a step of a plan is done in the current state; None if it cannot tell."""
        return holds(self.game.world, self._state, step)

    def possible_commands(self, tasks: Iterable[str] | None = None) -> list[str]:
        """Return every well-formed goal in these tasks, by default the split's, and ``look``."""
        chosen = self.tasks if tasks is None else [find_task(name) for name in tasks]
        # A dict, since it keeps the order.
        commands: dict[str, None] = {}
        for task in chosen:
            commands.update(dict.fromkeys(possible_commands(task.world)))
        return list(commands)

    def drawing(self) -> str:
        """Return the table drawn in characters."""
        return drawing(self.game.world, self._state)

    def picture(self) -> str:
        """Return the table as an SVG picture."""
        return picture(self.game.world, self._state)

    def render(self) -> str | None:
        """Return the table as a picture, or drawn below the last action and its answer."""
        return self.picture() if self.render_mode == "svg" else super().render()

    def _rendered(self) -> str:
        return f"{super()._rendered()}\n\n{self.drawing()}"

    def _find_task(self, name: Any) -> Task:
        return find_task(name)

    def _begin(self, task: Task, draw: int) -> str:
        self._set_up(task, draw)
        self._state = first_state(task.world)
        return text.reset(self.game, self._state)

    def _play(self, action: str) -> Step:
        before = self._state
        self._state, observation, reason, _ = apply(self.game, before, action)
        info = self._info()
        if reason == MISSED:
            info["missed"] = True
        elif reason:
            info["invalid_reason"] = reason
        # A difference of shares, not 1 / total: such rewards add up exactly.
        total = parts(self.game.world)
        reward = self._state.best / total - before.best / total
        return observation, reward, info["won"], self._is_spent() and not info["won"], info

    def _info(self) -> dict[str, Any]:
        world, state = self.game.world, self._state
        won = is_won(world, state)
        info: dict[str, Any] = {
            "task": self.task.id,
            "won": won,
            "score": round(100 * state.best / parts(world), 1),
            "goals_left": self.goals - state.goals,
        }
        over = won or self._is_spent()
        if self.admissible:
            info["admissible_commands"] = [] if over else admissible_commands(world, state)
        if self.expert:
            info["expert_plan"] = [] if over else expert.plan(world, state)
        return info

    def _is_spent(self) -> bool:
        return self._state.goals >= self.goals

    def _set_up(self, task: Task, draw: int) -> None:
        rates = RELIABILITIES[self.reliability][task.group]
        self.game = Game(task.world, self.goals, rates, f"{task.id}/{draw}")

    def _settings(self) -> Settings:
        arguments = {"reliability": self.reliability, "goals": self.goals}
        return "Tabletop", (("tables", self.fingerprint), *arguments.items())

    def _position(self) -> State:
        return self._state

    def _go_back(
        self,
        task: Task,
        draw: int,
        position: State,
    ) -> None:
        self._set_up(task, draw)
        self._state = position
