"""TextCraft as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from textcraft_gym.envs.text_env import Settings, Step, TextEnv, of_depths
from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.admissible import (
    admissible_crafts,
    admissible_gets,
    possible_commands,
    useful_gets,
)
from textcraft_gym.envs.textcraft.expert import expert_plan
from textcraft_gym.envs.textcraft.feedback import Feedback
from textcraft_gym.envs.textcraft.generator import DISTRACTORS, all_recipes, choose, recipe_pool
from textcraft_gym.envs.textcraft.rules import Inventory, apply, world_of
from textcraft_gym.envs.textcraft.steps import holds
from textcraft_gym.envs.textcraft.tasks import (
    Task,
    default_split,
    default_split_of,
    find_task,
    split_names,
    split_tasks,
)
from textcraft_gym.envs.textcraft.thoughts import thoughts
from textcraft_gym.errors import at_least
from textcraft_gym.recipes.book import RecipeBook, Tags
from textcraft_gym.recipes.made import is_made
from textcraft_gym.recipes.recipe import Ingredient, Recipe

Position: TypeAlias = tuple[tuple[tuple[str, int], ...], tuple[str, ...]]
"""The inventory, and the rest of the expert's plan."""


class TextCraftEnv(TextEnv):
    """Craft one item of Minecraft by the recipes that the prompt lists among distractors.

    **Actions** (any string; any other one changes nothing):

    - ``get {n} {item}``: get any number, 1 to 999999, of an item that is not crafted.
    - ``craft {n} {item} using {n} {item}, {n} {item}``: apply one recipe once. The recipe's own
      count is made, whatever ``{n}`` says, and ``craft {item} using ...`` does the same. Where a
      recipe takes a tag (``planks``), name a member (``oak planks``); with real tags, one or more.
    - ``inventory``: list the held items.

    **Observation**: text. The reset lists commands and the goal; each step answers the action
    (``Got 2 oak logs``, ``Crafted 4 minecraft:oak_planks``,
    ``Could not find enough items to craft minecraft:chest``, ...).

    **Reward**: 1 for crafting the goal, else 0.

    **Episode end**: terminates when the goal is crafted, and a step after that raises
    ``gymnasium.error.ResetNeeded``. Registered with a limit of 100 steps, after which Gymnasium's
    ``TimeLimit`` says ``truncated`` at every further step.

    **Info**: ``task`` (item id), ``won`` (bool); after an action that did nothing
    ``invalid_reason``, one of ``rules.REASONS``; ``admissible_commands`` and ``expert_plan`` (lists
    of str) if asked for.

    **Reset options**: ``{"task": "minecraft:beehive"}`` plays that task, whatever the split.
    Otherwise one is drawn from the split. The same task and seed give the same bytes on every
    machine.

    Args:
        split: ``test`` (the 200 goals of the paper, of depths 2 to 4), ``dev`` (the other 197, of
            depth 2), ``all`` (both), ``train`` (the 147 other crafted items, of depth 1), or
            ``FILE.jsonl:NAME`` of a file that ``textcraft_gym.make_splits`` wrote. The default is
            dev, so that test is only used on purpose. With other recipes or tags, test has all of
            depth 3 and more and 77 of depth 2, the paper's first; where that leaves no dev, the
            default is all. Generated ones have ``train``, ``dev`` and ``test``, a half and two
            quarters of every depth.
        depths: Only the tasks of a depth or of several, ``(2, 3)``.
        distractors: Maximum number of listed commands that the goal does not need, and of those
            drawn per ingredient.
        admissible: List the admissible commands in info, as far as the prompt names them: crafts
            that would work now, and gets of what crafts take, in the counts that a recipe takes
            itself or, by way of others, in all.
        expert: Add a shortest plan from the current state to info (``recipes.solver`` says when it
            is proven shortest).
        recipes: A data-pack folder, zip or game jar of any version since 1.14, to play with instead
            of Minecraft 1.16.5; what cannot be read is skipped with a warning. Or
            ``made:depth=8,items=400,seed=3``, recipes that are generated: see
            ``recipes.made.MadeRecipes`` for the options.
        tags: ``group`` for the published game, ``item`` for the game's real tags and alternatives.
        render_mode: ``ansi`` renders the last action and its answer, ``human`` prints them.

    Raises:
        UnknownName: For a split, a task or an option of generated recipes that does not exist; the
            message lists those that do.
        ValueError: For a split without tasks, a depth that it has no task of, or a number of
            distractors below 0.
        RecipeError: For a pack of which no recipe can be read, and for options of generated recipes
            out of bounds.

    **Ids**: ``TextCraft-v0`` (``tags="group"``), ``TextCraftTags-v0`` (``tags="item"``).

    **Source**: Prasad et al., ADaPT: As-Needed Decomposition and Planning with Language Models,
    2023, section 4.1.

    **Versions**: v0, the published game made deterministic.
    """

    game_profile = "textcraft"
    splits = staticmethod(split_names)
    default_split = staticmethod(default_split)
    tasks: tuple[Task, ...]
    thoughts = staticmethod(thoughts)

    def __init__(
        self,
        split: str | None = None,
        *,
        depths: int | Iterable[int] | None = None,
        distractors: int = DISTRACTORS,
        admissible: bool = False,
        expert: bool = False,
        recipes: str | Path | None = None,
        tags: Tags = "group",
        render_mode: str | None = None,
    ) -> None:
        at_least("distractors", distractors, 0)
        super().__init__(admissible=admissible, expert=expert, render_mode=render_mode)
        self.book = RecipeBook.load(recipes, tags=tags)
        self._made = is_made(recipes)
        if split is None:
            split = default_split_of(self.book, made=self._made)
        self.set_split(split, depths)
        self.distractors = distractors
        self._world = world_of(self.book)
        self._inventory: Inventory = {}
        self._plan: list[str] = []

    def _set_split(
        self,
        split: str,
        depths: int | Iterable[int] | None = None,
    ) -> None:
        tasks = split_tasks(self.book, split, made=self._made)
        if not tasks:
            raise ValueError(
                f"split {split!r} has no task: these recipes have too few items to divide"
            )
        self.tasks = of_depths(tasks, depths)

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of the recipes, the same on every machine; the same one is the same game."""
        return self.book.fingerprint

    def explain(self, action: str, reason: str) -> str:
        """Explain why the last action did nothing, given its ``invalid_reason``."""
        shown = [all_recipes(self.book)[index] for index in self._indices]
        return Feedback(self.book, shown, self._inventory).explain(action, reason)

    def holds(self, step: str) -> bool | None:
        """Return whether a step of a plan is done in the current state; None if it cannot tell."""
        return holds(self.book, self._inventory, step)

    @property
    def vocabulary(self) -> str:
        """A text with every word that the game writes, apart from words echoed from an action."""
        return _vocabulary(self.book)

    def possible_commands(self, tasks: Iterable[str] | None = None) -> list[str]:
        """Return every command that can ever be admissible in these tasks, for ``ActionMasking``.

        Args:
            tasks: Their ids; by default those of the split. The fewer tasks and ``distractors``,
                the fewer commands.

        Raises:
            UnknownName: For a task that does not exist.
            Unsupported: With ``tags="item"``, where they are too many to list.
        """
        if self.book.mixes:
            raise self.unsupported(
                "possible_commands",
                "with tags='item' ingredients mix, in too many ways to list",
            )
        if tasks is None:
            goals = [task.id for task in self.tasks]
        else:
            goals = [find_task(self.book, name).id for name in tasks]
        shown: set[int] = set()
        for goal in goals:
            goal_recipes, uses_of = recipe_pool(self.book, goal)
            shown.update(goal_recipes, *(uses_of if self.distractors else ()))
        recipes = [all_recipes(self.book)[index] for index in sorted(shown)]
        return ["inventory", *possible_commands(self.book, recipes)]

    def _find_task(self, name: Any) -> Task:
        return find_task(self.book, name)

    def _begin(self, task: Task, draw: int) -> str:
        self._set_up(task, draw)
        self._inventory = {}
        self._plan = []
        return _prompt(self.book, self._indices, self.goal)

    def _play(self, action: str) -> Step:
        goal = self.goal
        self._inventory, observation, reason, _ = apply(self._world, self._inventory, action)
        won = goal in self._inventory  # a goal cannot be got: to hold it is to have crafted it
        info: dict[str, Any] = {"task": goal, "won": won}
        if reason:
            info["invalid_reason"] = reason
        if self.admissible or self.expert:
            self._inform(info, action)
        return observation, 1.0 if won else 0.0, won, False, info

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"task": self.goal, "won": False}
        self._inform(info)
        return info

    def _inform(
        self,
        info: dict[str, Any],
        action: str | None = None,
    ) -> None:
        """Add the admissible commands and the expert's plan, if they were asked for."""
        if self.admissible:
            crafts = admissible_crafts(self.book, self._shown, self._inventory)
            info["admissible_commands"] = ["inventory", *self._gets, *crafts]
        if self.expert:
            self._plan = [] if info["won"] else self._plan_after(action)
            info["expert_plan"] = list(self._plan)

    def _plan_after(self, action: str | None) -> list[str]:
        """Return a shortest plan from the current state."""
        # The rest of a shortest plan is a shortest plan: search again only when the agent has left
        # it.
        if self._plan and action == self._plan[0]:
            return self._plan[1:]
        return expert_plan(self.book, self.goal, self._inventory, self._useful)

    def _set_up(self, task: Task, draw: int) -> None:
        """Set the goal, and choose the commands of the prompt."""
        self.goal = task.id
        self._indices = choose(self.book, task.id, draw, self.distractors)
        if self.admissible or self.expert:
            self._shown = [all_recipes(self.book)[index] for index in self._indices]
            self._useful = useful_gets(self.book, self._shown)
            self._gets = admissible_gets(self.book, self._useful)

    def _settings(self) -> Settings:
        return "TextCraft", (("recipes", self.book.fingerprint), ("distractors", self.distractors))

    def _position(self) -> Position:
        return tuple(self._inventory.items()), tuple(self._plan)

    def _go_back(
        self,
        task: Task,
        draw: int,
        position: Position,
    ) -> None:
        if (self.task, self._draw) != (task, draw):
            self._set_up(task, draw)
        held, plan = position
        self._inventory, self._plan = dict(held), list(plan)


@lru_cache(maxsize=64)
def _lines(book: RecipeBook) -> tuple[str, ...]:
    return tuple(text.command(book, recipe) for recipe in all_recipes(book))


@lru_cache(maxsize=64)
def _vocabulary(book: RecipeBook) -> str:
    ingredients: dict[Ingredient, None] = {}
    for recipe in all_recipes(book):
        ingredients.update(dict.fromkeys(slot.ingredient for slot in recipe.slots))
    legends = [text.legend(book, ingredient) for ingredient in ingredients]
    answers = (
        text.got(1, ""),
        text.not_found(""),
        text.crafted(1, ""),
        text.not_enough(""),
        text.no_recipe(""),
    )
    others = (
        text.wrong_item(""),
        text.unknown(""),
        text.EMPTY_HANDED,
        text.inventory(book, {book.base_items[0]: 1}),
    )
    reset_text = text.prompt(_lines(book), legends, "")
    return "\n".join(
        [reset_text, *answers, *others, *book.names, *book.names.values(), "0 1 2 3 4 5 6 7 8 9"]
    )


def _prompt(
    book: RecipeBook,
    indices: list[int],
    goal: str,
) -> str:
    lines = _lines(book)
    legends: list[str] = []
    if book.mixes:
        tagged = _tagged([all_recipes(book)[index] for index in indices])
        legends = [text.legend(book, ingredient) for ingredient in sorted(tagged)]
    return text.prompt([lines[index] for index in indices], legends, book.names[goal])


def _tagged(recipes: Iterable[Recipe]) -> set[Ingredient]:
    """Return the ingredients that have a tag among their alternatives."""
    tagged: set[Ingredient] = set()
    for recipe in recipes:
        for ingredient, _ in recipe.slots:
            if any(reference.startswith("#") for reference in ingredient):
                tagged.add(ingredient)
    return tagged
