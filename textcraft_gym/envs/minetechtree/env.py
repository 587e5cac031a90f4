"""The tech tree of Minecraft as a Gymnasium environment."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, Literal, TypeAlias

from gymnasium.error import ResetNeeded

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.admissible import admissible_commands
from textcraft_gym.envs.minetechtree.expert import expert_plan
from textcraft_gym.envs.minetechtree.facts import (
    DEPTHS,
    HOME_BIOMES,
    OTHER_BIOMES,
    SOURCES,
    TICKS_A_CRAFT,
    TICKS_A_HARDNESS,
    TICKS_A_HIT,
    TICKS_A_SMELT,
    TICKS_A_STEP,
    TIERS,
    WORN,
)
from textcraft_gym.envs.minetechtree.generator import BIOME_DISTANCE, BIOME_RADIUS, ORE_RADIUS, OTHERS, generate
from textcraft_gym.envs.minetechtree.rules import OUT_OF_TIME, UNKNOWN_ACTION, WRONG_ITEM, apply, costs
from textcraft_gym.envs.minetechtree.state import FIRST, Game, State, is_won
from textcraft_gym.envs.minetechtree.tasks import RULES, Task, find_task, split_tasks
from textcraft_gym.envs.minetechtree.techtree import tech_tree
from textcraft_gym.envs.snapshot import RestorableEnv, Snapshot, World
from textcraft_gym.errors import UnknownName
from textcraft_gym.spaces import AnyText

FEEDBACKS = ("reason", "terse")

Position: TypeAlias = tuple[int, tuple[Any, ...], tuple[str, ...], str]
"""The random word of the world, how far one has come, what is left of the plan, and what ``render`` shows."""


_UNSAID = {UNKNOWN_ACTION: text.ACTIONS, WRONG_ITEM: text.AN_INGREDIENT, OUT_OF_TIME: text.TOO_LATE}
"""What is missing where the answer to an action says no more than that it did nothing."""


class MineTechTreeEnv(RestorableEnv):
    """Obtain an item of Minecraft, empty-handed at first: mine, hunt, craft, smelt and equip, before time runs out.

    **Actions** (any string; what is none of these, or cannot be done now, changes nothing and takes no time). Things
    are named as players read them (``oak log``) or by their id (``minecraft:oak_log``); counts are 1 to 999999.

    - ``mine {n} {item}``, ``mine {n} {item} with {item}``: go to where the nearest is and mine it, ``mine 3 cobblestone
      with wooden pickaxe``. Where no tool is named, the best that is held is used.
    - ``hunt {n} {item}``: hunt as many animals, with bare hands. Each gives one of all that it drops: who hunts leather
      has beef, too.
    - ``craft {n} {item} using {n} {item}, {n} {item}``: craft as often as that many take, ``craft 8 stick using 2 oak
      planks, 2 birch planks``. What is used must be said, and must be just what they take. What a recipe makes more
      than was asked for is made, too. Where the pattern does not fit a square of two by two, a crafting table must be
      held; it is not used up.
    - ``smelt {n} {item} using {n} {item}, {n} {item}``: the item named first is smelted, those after it are the fuel,
      ``smelt 3 iron ingot using 3 iron ore, 2 oak planks``. Fuel burns in the order in which it is named, and no more
      than is needed; what is left of one that burns is lost. A furnace must be held; it is not used up.
    - ``equip {item}``: wear it, or take it in hand.
    - ``look``: what is around, and how far. ``inventory``: what is held.

    **Observation**: text. The reset says what is around and ends ``Goal: obtain 1 iron pickaxe.``; each step answers
    the action (``Mined 3 oak log``, ``Could not mine cobblestone: requires wooden pickaxe``, ...).

    **World**: a forest, plains and two of four other biomes, with trees and animals; stone and ores under the ground.
    What is where follows from task and seed. Nothing runs out.

    **Time**: walking takes 5 ticks a step; mining and hunting so many for each as the block, the tool and the animal
    make it (``facts.py``); a craft or an equip 1, however many are crafted; smelting 10 an item. An action that would
    end after the limit is not finished, and the rest of the time is gone with it.

    **Reward**: 1 for obtaining the goal, else 0; with several goals, for obtaining the last of them.

    **Episode end**: terminates when each goal was obtained, whether or not it is still held; armour and shield count
    once they are equipped (``rules="vanilla"``). Truncates when the ticks of the task are spent: 3000 to 12000, those
    of the paper. A step after either raises ``gymnasium.error.ResetNeeded``. Registered with a limit of 200 steps as
    well: a shortest solution of one goal has at most 14, and who is stuck in what takes no time must end, too.

    **Info**: ``task``, ``won`` (bool), ``ticks`` and ``ticks_left`` (int); after an action that did nothing
    ``invalid_reason``, one of ``rules.REASONS``; ``admissible_commands`` and ``expert_plan`` (lists of str) if asked
    for. The plan is empty where the time that is left does not do. ``costs``, if asked for, says for each item that
    can be got with what is held how many ticks it takes to walk there and then for each one, ``{"oak log": (65, 60)}``.

    **Reset options**: ``{"task": "diamond"}`` plays that task, of whichever split; the paper's name
    (``wooden_slab``) will do. ``{"task": ["oak_boat", "chest"]}`` or ``"oak_boat+chest"`` plays several at once, in the
    time of the one that has most. Otherwise the seed draws a task from the split.

    Args:
        split: ``core71`` (the default: the tasks of the paper's results), a group, ``MT1`` to ``MT8``, or ``all`` (76).
        rules: ``vanilla``, or ``deps``, where armour and shield count when they are held.
        feedback: ``reason`` says why an action did nothing, ``terse`` only that it did not.
        ticks: How many ticks there are, in place of the task's.
        admissible: Whether info lists commands that would work now.
        expert: Whether info holds a plan from here, shortest from an empty inventory.
        costs: Whether info says how long it takes to get things.
        render_mode: ``ansi`` renders the last action and its answer.

    Raises:
        UnknownName: For a split, task, kind of rules or feedback that does not exist; it lists what does.
        ValueError: For ticks below 1.

    **Ids**: ``MineTechTree-v0``.

    **Source**: the tasks, groups and ticks of Wang et al., Describe, Explain, Plan and Select: Interactive Planning
    with Large Language Models Enables Open-World Multi-Task Agents, 2023; the recipes of Minecraft 1.16.5.

    **Versions**: v0.
    """

    game_profile = "minetechtree"
    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        split: str = "core71",
        *,
        rules: Literal["vanilla", "deps"] = "vanilla",
        feedback: Literal["reason", "terse"] = "reason",
        ticks: int | None = None,
        admissible: bool = False,
        expert: bool = False,
        costs: bool = False,
        render_mode: str | None = None,
    ) -> None:
        if rules not in RULES:
            raise UnknownName("rules", rules, RULES)
        if feedback not in FEEDBACKS:
            raise UnknownName("feedback", feedback, FEEDBACKS)
        if ticks is not None and (type(ticks) is not int or ticks < 1):
            raise ValueError(f"expected ticks of 1 or more, got {ticks!r}")
        self.tasks = split_tasks(split, rules)
        self.rules = rules
        self.feedback = feedback
        self.ticks = ticks
        self.admissible = admissible
        self.expert = expert
        self.costs = costs
        self.render_mode = render_mode
        self.observation_space = AnyText()
        self.action_space = AnyText()
        self._over = True

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of recipes and facts, the same on every machine: runs with the same one play the same game."""
        return _fingerprint()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a task: the one in ``options``, or one that the seed draws from the split."""
        super().reset(seed=seed)
        word = int(self.np_random.bit_generator.random_raw())
        self._begin(self._chosen(options or {}) or self.tasks[word % len(self.tasks)], word)
        self._state: State = FIRST
        self._plan: list[str] = []
        self._over = False
        self._said = text.reset(self.game, FIRST)
        return self._said, self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one action."""
        if self._over:
            raise ResetNeeded("the episode is over, or none was begun: call reset() before step()")
        game = self.game
        self._state, observation, why, reason = apply(game, self._state, action)
        won = is_won(game, self._state)
        truncated = not won and self._state.ticks >= game.limit
        self._over = won or truncated
        if why and self.feedback == "reason":
            observation = f"{observation}: {why}"
        info = self._info(action)
        if reason:
            info["invalid_reason"] = reason
        if self.render_mode:
            self._said = f"> {action}\n{observation}"
        return observation, 1.0 if won else 0.0, won, truncated, info

    def render(self) -> str | None:
        """Return the last action and its answer, or the text of the reset."""
        return self._said if self.render_mode == "ansi" else None

    def explain(self, action: str, reason: str) -> str:
        """Return what was missing for the last action, which did nothing for this ``invalid_reason``.

        With ``feedback="reason"`` most answers say it, too.
        """
        why = apply(self.game, self._state, action).why or _UNSAID[reason]
        return f"{why[:1].upper()}{why[1:]}."

    def _begin(self, task: Task, word: int) -> None:
        """Make the world of a task, by a random word."""
        self.task, self._word = task, word
        self.game = Game(generate(task.id, word), task.aims, self.ticks or task.ticks)

    def _world(self) -> World:
        arguments = (("rules", self.rules), ("feedback", self.feedback), ("ticks", self.ticks))
        return "MineTechTree", (("facts", self.fingerprint), *arguments)

    def _position(self) -> Position:
        inventory, equipped, at, ticks, obtained = self._state
        state = tuple(inventory.items()), tuple(equipped.items()), at, ticks, obtained
        return self._word, state, tuple(self._plan), self._said

    def _go_back(self, snapshot: Snapshot) -> None:
        word, (inventory, equipped, at, ticks, obtained), plan, said = snapshot.position
        if not hasattr(self, "task") or (self.task.id, self._word) != (snapshot.task, word):
            self._begin(find_task(snapshot.task, self.rules), word)
        self._state = State(dict(inventory), dict(equipped), at, ticks, obtained)
        self._plan, self._said = list(plan), said

    def _chosen(self, options: dict[str, Any]) -> Task | None:
        for key in options:
            if key != "task":
                raise UnknownName("reset option", key, ["task"])
        return find_task(options["task"], self.rules) if "task" in options else None

    def _info(self, action: str | None = None) -> dict[str, Any]:
        """Return the info, with what the caller of ``gym.make`` asked for."""
        game, state = self.game, self._state
        info: dict[str, Any] = {
            "task": self.task.id,
            "won": is_won(game, state),
            "ticks": state.ticks,
            "ticks_left": game.limit - state.ticks,
        }
        if self.admissible:
            info["admissible_commands"] = [] if self._over else admissible_commands(game, state)
        if self.costs:
            info["costs"] = costs(game, state)
        if self.expert:
            followed = bool(self._plan) and action == self._plan[0]
            self._plan = self._plan[1:] if followed else expert_plan(game, state)
            info["expert_plan"] = list(self._plan)
        return info


@cache
def _fingerprint() -> str:
    ticks = TICKS_A_STEP, TICKS_A_CRAFT, TICKS_A_SMELT, TICKS_A_HIT, TICKS_A_HARDNESS
    land = DEPTHS, HOME_BIOMES, OTHER_BIOMES, OTHERS, BIOME_DISTANCE, BIOME_RADIUS, ORE_RADIUS
    return hashlib.sha256(repr((tech_tree(), SOURCES, TIERS, WORN, ticks, land)).encode()).hexdigest()
