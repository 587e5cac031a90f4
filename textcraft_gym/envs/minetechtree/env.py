"""The tech tree of Minecraft as a Gymnasium environment."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal, TypeAlias

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.actions import player_name
from textcraft_gym.envs.minetechtree.admissible import admissible_commands
from textcraft_gym.envs.minetechtree.costs import costs
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
from textcraft_gym.envs.minetechtree.generator import (
    BIOME_DISTANCE,
    BIOME_RADIUS,
    ORE_RADIUS,
    OTHERS,
    generate,
)
from textcraft_gym.envs.minetechtree.moves import MISSED, OUT_OF_TIME, UNKNOWN_ACTION, WRONG_ITEM
from textcraft_gym.envs.minetechtree.reliability import PUBLISHED, Reliability, read_reliability
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import FIRST, Game, State, is_won
from textcraft_gym.envs.minetechtree.steps import holds
from textcraft_gym.envs.minetechtree.tasks import RULES, SPLITS, Task, find_task, split_tasks
from textcraft_gym.envs.minetechtree.techtree import tech_tree
from textcraft_gym.envs.minetechtree.thoughts import thoughts
from textcraft_gym.envs.minetechtree.vocabulary import vocabulary
from textcraft_gym.envs.text_env import Settings, Step, TextEnv, of_depths
from textcraft_gym.errors import UnknownName, at_least, true_or_false

FEEDBACKS = ("reason", "terse")

Counts: TypeAlias = tuple[tuple[str, int], ...]
Position: TypeAlias = tuple[
    Counts, tuple[tuple[str, str], ...], tuple[Any, ...], Counts, Counts, tuple[str, ...]
]
"""The inventory; equipped items; the rest of the state, wear and tries; the rest of the plan."""


_UNSAID = {UNKNOWN_ACTION: text.ACTIONS, WRONG_ITEM: text.AN_INGREDIENT, OUT_OF_TIME: text.TOO_LATE}
"""The explanation of a reason that comes without words."""


class MineTechTreeEnv(TextEnv):
    """Obtain an item of Minecraft from nothing, before time runs out.

    **Actions** (any string; any other one, or one that is impossible now, changes nothing and takes
    no time). Items are named as players read them (``oak log``) or by their id
    (``minecraft:oak_log``); counts are 1 to 999999.

    - ``mine {n} {item}``, ``mine {n} {item} with {item}``: go to the nearest source and mine it,
      ``mine 3 cobblestone with wooden pickaxe``. If no tool is named, the best held one is used.
    - ``hunt {n} {item}``: hunt ``n`` animals with bare hands. Each gives one of each of its drops:
      hunting for leather also yields beef.
    - ``craft {n} {item} using {n} {item}, {n} {item}``: apply a recipe until it has made ``n``,
      ``craft 8 stick using 2 oak planks, 2 birch planks``. The ingredients must be named and exact.
      If it makes more, all is made. If its pattern does not fit a square of two by two, a crafting
      table must be held; it is not used up.
    - ``smelt {n} {item} using {n} {item}, {n} {item}``: the item named first is smelted, those
      after it are the fuel, ``smelt 3 iron ingot using 3 iron ore, 2 oak planks``. Fuel burns in
      the order in which it is named, and no more than is needed; the rest of a partly burnt unit is
      lost. A furnace must be held; it is not used up.
    - ``equip {item}``: wear it, or take it in hand.
    - ``look``: list the sources around, with distances. ``inventory``: list the held items.

    **Observation**: text. The reset lists the sources around and ends
    ``Goal: obtain 1 iron pickaxe.``; each step answers the action (``Mined 3 oak log``,
    ``Could not mine cobblestone: requires wooden pickaxe``, ...).

    **World**: a forest, plains and two of four other biomes, with trees and animals; stone and ores
    under the ground. Task and seed determine all positions. Sources never run out.

    **Misses**: with a ``reliability`` below 1, an action that is possible may miss: the way and the
    time are spent, and nothing is gained or used up (``Failed to mine oak log``). It can be tried
    again; how many tries an item takes does not depend on what else is done.

    **Durability**: with ``durability=True`` tools break after Minecraft's number of uses (wooden
    59, stone 131, iron 250, golden 32, diamond 1561), one for each block that they are made for. An
    action that outlasts its tool yields what was mined until then (``The wooden pickaxe broke.``);
    where no tool is named and bare hands do, an axe that would not last is not used.

    **Time**: walking takes 5 ticks a step; mining and hunting a number for each item that depends
    on the block, the tool and the animal (``facts.py``); a craft of any amount or an equip 1;
    smelting 10 an item. An action that would end after the limit is not finished, and the rest of
    the time is gone with it.

    **Reward**: 1 for obtaining the goal, else 0; with several goals, for obtaining the last of
    them.

    **Episode end**: terminates when each goal was obtained, whether or not it is still held; armour
    and shield count once they are equipped (``rules="vanilla"``). Truncates when the ticks of the
    task are spent: 3000 to 12000, those of the paper. A step after either raises
    ``gymnasium.error.ResetNeeded``. Registered with a limit of 200 steps as
    well: a shortest solution of one goal has at most 14 actions, and the limit also ends a loop of
    actions that take no time.

    **Info**: ``task``, ``won`` (bool), ``ticks`` and ``ticks_left`` (int); after an action that did
    nothing ``invalid_reason``, one of ``moves.REASONS``; after one that missed ``missed`` (True);
    ``admissible_commands`` and ``expert_plan`` (lists of str) if asked for. The plan assumes that
    nothing misses, and is made again after a miss; it is empty if too little time is left.
    ``costs``, if asked for, gives for each item that can be got with the held tools the ticks to
    walk there and the ticks for each unit, ``{"oak log": (65, 60)}``.

    **Reset options**: ``{"task": "diamond"}`` plays that task, from any split; the paper's name
    (``wooden_slab``) is accepted. ``{"task": ["oak_boat", "chest"]}`` or ``"oak_boat+chest"`` plays
    several at once, with their largest limit. Otherwise the seed draws a task from the split.

    Args:
        split: ``core71`` (the default: as many as the paper's text speaks of; which, is inferred),
            ``table2`` (the 69 of its results, without stone and its pressure plate), a group,
            ``MT1`` to ``MT8``, ``all`` (76), or ``goals2`` to ``goals4``: 100 tasks each, of two to
            four items at once whose sources lie apart.
        depths: Only the tasks of a number of required skills or of several, ``(2, 3)``.
        rules: ``vanilla``, or ``deps``, where armour and shield count when they are held.
        feedback: ``reason`` says in the answer why an action did nothing, as in the paper;
            ``terse`` says only that it did nothing. For the same words in any game put
            ``HelpfulFeedback`` around a terse one.
        ticks: Limit of ticks, in place of the task's.
        given: Items that are held at first, with their counts, ``{"wooden axe": 1}``; none by
            default. One that the task asks for is not given. (The paper's table 1 gives an axe,
            without saying of which material.) A task's ``optimal_length`` counts from empty hands,
            so that it is no bound then.
        reliability: How likely an action that is possible succeeds: ``perfect`` (always),
            ``published`` (the paper's table 18, and what it leaves out as ``reliability.py`` says),
            a number above 0 for all, or numbers by kind, ``{"log": 0.5, "birch log": 0.4}``. The
            narrowest kind counts, and one that is not named never misses.
        durability: Whether tools wear out and break.
        around: How the distances of sources are told: ``exact``, in steps; ``rough``, as the
            nearest of 10, 20, 40, 80 and 160; ``names``, not at all. The sources are listed by what
            is told, then by name.
        admissible: List the admissible commands in info: what can be got in each count up to the
            most that any one goal takes (16 cobblestone, 6 logs of a wood), crafts and smelts in
            each multiple that the held items allow, up to 10.
        expert: Add a plan from the current state to info; from an empty inventory it is a shortest
            one.
        costs: Add to info the ticks that it takes to get each item.
        render_mode: ``ansi`` renders the last action and its answer, ``human`` prints them.

    Raises:
        UnknownName: For a name that does not exist; the message lists those that do.
        ValueError: For a depth without tasks, ticks or a count below 1, a reliability that is not
            above 0 and up to 1, given items without counts, or a switch that is neither True nor
            False.

    **Ids**: ``MineTechTree-v0``.

    **Source**: the tasks, groups and ticks of Wang et al., Describe, Explain, Plan and Select:
    Interactive Planning with Large Language Models Enables Open-World Multi-Task Agents, 2023; the
    recipes of Minecraft 1.16.5.

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
        depths: int | Iterable[int] | None = None,
        rules: Literal["vanilla", "deps"] = "vanilla",
        feedback: Literal["reason", "terse"] = "reason",
        ticks: int | None = None,
        given: Mapping[str, int] | None = None,
        reliability: Literal["perfect", "published"] | float | Mapping[str, float] = "perfect",
        durability: bool = False,
        around: Literal["exact", "rough", "names"] = "exact",
        admissible: bool = False,
        expert: bool = False,
        costs: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(admissible=admissible, expert=expert, render_mode=render_mode)
        if rules not in RULES:
            raise UnknownName.of("rules", rules, RULES)
        if feedback not in FEEDBACKS:
            raise UnknownName.of("feedback", feedback, FEEDBACKS)
        if around not in text.AROUND:
            raise UnknownName.of("around", around, text.AROUND)
        if ticks is not None:
            at_least("ticks", ticks, 1)
        true_or_false("durability", durability)
        true_or_false("costs", costs)
        self.rules = rules
        self.set_split(split, depths)
        self.feedback = feedback
        self.ticks = ticks
        self.given = _read_given({} if given is None else given)
        self.reliability: Reliability = read_reliability(reliability)
        self.durability = durability
        self.around = around
        self.costs = costs
        self._state: State = FIRST
        self._plan: list[str] = []

    def _set_split(
        self,
        split: str,
        depths: int | Iterable[int] | None = None,
    ) -> None:
        self.tasks = of_depths(split_tasks(split, self.rules), depths)

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of recipes and facts, which runs of the same game share on every machine."""
        return _fingerprint()

    def explain(self, action: str, reason: str) -> str:
        """Explain why the last action did nothing, given its ``invalid_reason``.

        With ``feedback="reason"`` most answers contain the explanation already.
        """
        *_, why = apply(self.game, self._state, action)
        why = why or _UNSAID[reason]
        return f"{why[:1].upper()}{why[1:]}."

    def holds(self, step: str) -> bool | None:
        """Return whether a step of a plan is done in the current state; None if it cannot tell."""
        return holds(self._state, step)

    @property
    def vocabulary(self) -> str:
        """A text with every word that the game writes, apart from words echoed from an action."""
        return vocabulary()

    def possible_commands(self, tasks: Iterable[str] | None = None) -> list[str]:
        """Refuse.

        Raises:
            Unsupported: Always: an action may name any count, and admissible commands name the held
                counts.
        """
        raise self.unsupported(
            "possible_commands",
            "commands name counts, and any count may be named",
        )

    def _find_task(self, name: Any) -> Task:
        return find_task(name, self.rules)

    def _begin(self, task: Task, draw: int) -> str:
        self._set_up(task, draw)
        aims = {aim.item for aim in task.aims}
        held = {item: count for item, count in self.given.items() if item not in aims}
        self._state = FIRST._replace(inventory=held) if held else FIRST
        self._plan = []
        return text.reset(self.game, self._state)

    def _play(self, action: str) -> Step:
        game = self.game
        self._state, observation, reason, why = apply(game, self._state, action)
        won = is_won(game, self._state)
        truncated = not won and self._state.ticks >= game.limit
        if why and self.feedback == "reason":
            observation = f"{observation}: {why}"
        info = self._info(None if reason == MISSED else action)
        if reason == MISSED:
            info["missed"] = True
        elif reason:
            info["invalid_reason"] = reason
        return observation, 1.0 if won else 0.0, won, truncated, info

    def _info(self, action: str | None = None) -> dict[str, Any]:
        """Return the info after an action (None if it missed), with all that was asked for."""
        game, state = self.game, self._state
        won = is_won(game, state)
        info: dict[str, Any] = {
            "task": self.task.id,
            "won": won,
            "ticks": state.ticks,
            "ticks_left": game.limit - state.ticks,
        }
        if self.admissible:
            is_over = won or state.ticks >= game.limit
            info["admissible_commands"] = [] if is_over else admissible_commands(game, state)
        if self.costs:
            info["costs"] = costs(game, state)
        if self.expert:
            # The rest of a plan that is followed stays valid: plan again only when the agent has
            # left it.
            followed = bool(self._plan) and action == self._plan[0]
            self._plan = self._plan[1:] if followed else expert_plan(game, state)
            info["expert_plan"] = list(self._plan)
        return info

    def _set_up(self, task: Task, draw: int) -> None:
        """Generate the world of a task."""
        world, limit, luck = generate(task.id, draw), self.ticks or task.ticks, f"{task.id}/{draw}"
        self.game = Game(
            world,
            task.aims,
            limit,
            self.around,
            self.durability,
            self.reliability,
            luck,
        )

    def _settings(self) -> Settings:
        arguments = {
            "rules": self.rules,
            "feedback": self.feedback,
            "ticks": self.ticks,
            "given": tuple(self.given.items()),
            "reliability": tuple(self.reliability.items()),
            "durability": self.durability,
            "around": self.around,
        }
        return "MineTechTree", (("facts", self.fingerprint), *arguments.items())

    def _position(self) -> Position:
        inventory, equipped, *rest, wear, tries = self._state
        counts = [tuple(part.items()) for part in (inventory, wear, tries)]
        return (
            counts[0],
            tuple(equipped.items()),
            tuple(rest),
            counts[1],
            counts[2],
            tuple(self._plan),
        )

    def _go_back(
        self,
        task: Task,
        draw: int,
        position: Position,
    ) -> None:
        if (self.task, self._draw) != (task, draw):
            self._set_up(task, draw)
        inventory, equipped, (at, ticks, obtained), wear, tries, plan = position
        self._state = State(
            dict(inventory),
            dict(equipped),
            at,
            ticks,
            obtained,
            dict(wear),
            dict(tries),
        )
        self._plan = list(plan)


def _read_given(given: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of given items by their ids."""
    if not isinstance(given, Mapping):
        raise ValueError(f"expected given as counts by item, got {given!r}")
    ids, held = tech_tree().ids, {}
    for name, count in given.items():
        item = player_name(str(name))
        if item not in ids:
            raise UnknownName.of("item", name, list(ids))
        at_least(f"given[{name!r}]", count, 1)
        held[ids[item]] = count
    return held


@cache
def _fingerprint() -> str:
    ticks = TICKS_A_STEP, TICKS_A_CRAFT, TICKS_A_SMELT, TICKS_A_HIT, TICKS_A_HARDNESS
    land = DEPTHS, HOME_BIOMES, OTHER_BIOMES, OTHERS, BIOME_DISTANCE, BIOME_RADIUS, ORE_RADIUS
    facts = tech_tree(), SOURCES, TIERS, WORN, ticks, land, dict(PUBLISHED), text.ROUGHLY
    return hashlib.sha256(repr(facts).encode()).hexdigest()
