"""Training examples of TextCraft, in the short prompts that the agents send.

The executor's tasks are of depth 1 and 2 only: whole goals, and sub-tasks such as
``craft 6 planks``, with and without an inventory, in the prompts of goals of any depth. The
planner's are plans, one level down, of any item, and plans in full at depths 1 and 2. No goal of
the split ``test`` is in either, and books of made recipes teach to read the prompt.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

import dialogue
from crafter import MAX_FAILURES, MISTAKES, Crafter, holding
from dialogue import Branch, Example, numbered, remembered
from teacher import FAILED, CannotBeHad

from textcraft_gym.agents.games.crafting import ceil_div
from textcraft_gym.agents.games.textcraft.game_profile import PROFILE
from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.generator import all_recipes, choose
from textcraft_gym.recipes.book import RecipeBook, name_of_ingredient
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE, Ingredient, Recipe
from textcraft_gym.recipes.splits import paper_splits
from textcraft_gym.recipes.words import words

EXECUTOR_DEPTH = 2
"""The deepest task of the executor."""
MAX_COMMANDS = 32
"""Longer lists of commands are left out, since they take the time of several others."""
TRAINING_SEEDS = 5000
"""Books of made recipes with a smaller seed are for training, and those from here on for tests."""
KINDS = 0.5
"""Share of made goals that take a crafted kind, where there are any. In Minecraft a model
remembers which command makes planks, and in a made book it must learn to look for one."""
BROAD = 0.2
"""Share of made books whose commands have three or four parts each; few others do."""
ALIKE = 0.35
"""Share of the made books whose names are much alike, so that each of their words must be read."""
MAX_TIMES = 9
"""The most applications of one command that a sub-task asks for."""


class Situation(dialogue.Situation):
    """The commands of one prompt, and what can be asked about them.

    Args:
        book: The recipes.
        goal: The item whose tree is listed.
        shown: The listed recipes, in order.
        forbidden: Items that must not be a task.

    Attributes:
        tree: The goal's tree, without what is forbidden.
        reader: Says which commands there are; it plays no dialogue.
    """

    profile = PROFILE

    def __init__(
        self, book: RecipeBook, goal: str, shown: list[Recipe], forbidden: frozenset[str]
    ) -> None:
        self.book, self.goal, self.shown, self.forbidden = book, goal, shown, forbidden
        self.tree = [item for item in book.tree(goal) if item not in forbidden]
        self.reader = Crafter(book, shown, {}, "", rng=random.Random(0))
        super().__init__(
            text.prompt([text.command(book, recipe) for recipe in shown], (), book.names[goal])
        )

    @classmethod
    def drawn(cls, rng: random.Random) -> Iterator[Situation]:
        """Yield situations without end: of Minecraft's recipes and, slightly more, of made ones."""
        while True:
            if rng.random() < 0.45:
                book = RecipeBook.load()
                goals, forbidden = _minecraft_goals()
            else:
                names = "borrowed" if rng.random() < 0.7 else "invented"
                items, depth = rng.choice((80, 120, 200)), rng.choice((2, 3, 4, 5))
                branching = rng.choice((3, 4)) if rng.random() < BROAD else None
                alike = rng.random() < ALIKE
                book = made_book(
                    rng.randrange(TRAINING_SEEDS), depth, items, names, branching, alike=alike
                )
                depth = rng.choice((1, 2, 2, 2, 3, 3, 4))
                goals = tuple(
                    item
                    for item, at in book.depths.items()
                    if at == min(depth, max(book.depths.values()))
                )
                if rng.random() < KINDS:
                    goals = (
                        tuple(item for item in goals if _takes_a_crafted_kind(book, item)) or goals
                    )
                forbidden = frozenset()
            goal = rng.choice(goals)
            distractors = 10 if rng.random() < 0.4 else rng.randrange(10)
            indices = choose(book, goal, rng.randrange(1 << 30), distractors)
            if len(indices) <= MAX_COMMANDS:
                yield cls(book, goal, [all_recipes(book)[index] for index in indices], forbidden)

    def example(self, rng: random.Random) -> Example:
        """Return dialogues about the situation."""
        tasks = [item for item in self.tree if self.book.depths[item] <= EXECUTOR_DEPTH]
        others = self.distractors()
        made: list[Branch | None] = []
        if self.goal in tasks:
            made.append(self.whole_goal(rng))
            made += [self.full_plan()] if rng.random() < 0.3 else []
            made += [self.reflection(rng)] if rng.random() < 0.15 else []
            made += [self.next_trial(rng)] if rng.random() < 0.1 else []
        made += [
            self.sub_task(rng, rng.choice(tasks)) for _ in range(rng.choice((1, 2, 2, 3))) if tasks
        ]
        made += [self.sub_task(rng, rng.choice(others))] if others and rng.random() < 0.4 else []
        made += [self.kind(rng)] if rng.random() < 0.8 else []
        made += [
            self.plan(rng, item, _amount(rng))
            for item in rng.sample(self.tree, min(2, len(self.tree)))
        ]
        made += [self.get(rng)] if rng.random() < 0.4 else []
        made += [self.impossible(rng)] if rng.random() < 0.25 else []
        made += [self.stuck(rng, rng.choice(tasks))] if tasks and rng.random() < 0.25 else []
        branches = list(dict.fromkeys(branch for branch in made if branch))
        rng.shuffle(branches)
        return Example(self.text, tuple(branches))

    def distractors(self) -> list[str]:
        """Return listed items outside the goal's tree whose parts are all listed or given."""

        def simple(recipe: Recipe) -> bool:
            return all(self.reader.command(slot.ingredient) is None for slot in recipe.slots)

        parts = {
            recipe: [self.reader.command(slot.ingredient) for slot in recipe.slots]
            for recipe in self.shown
        }
        items = dict.fromkeys(
            recipe.output
            for recipe in self.shown
            if all(part is None or simple(part) for part in parts[recipe])
        )
        return [
            item
            for item in items
            if item not in self.tree
            and item not in self.forbidden
            and self.book.depths[item] <= EXECUTOR_DEPTH
        ]

    # -- The executor

    def whole_goal(
        self, rng: random.Random, information: str = "", kind: str = "goal"
    ) -> Branch | None:
        """Return an episode from empty hands, which ends when the goal is crafted."""
        crafter = self.crafter(rng, self.sentence, information=information)
        command = crafter.command_for(self.goal)
        try:
            crafter.craft(command, 1, self.book.names[self.goal], part=False)
        except CannotBeHad:
            return None
        return crafter.attempt(kind, self.goal, 1, "react" if kind == "goal" else "reflexion")

    def sub_task(self, rng: random.Random, item: str) -> Branch | None:
        """Return an attempt at a step; one in five names its parts, as a plan's last step does."""
        name = self.book.names[item]
        makes = min(recipe.makes for recipe in self.book.recipes[item])
        amount = 1 if item == self.goal else min(_amount(rng), MAX_TIMES * makes)
        held = self.inventory(rng, item, amount)
        crafter = self.crafter(rng, "", held)
        command = crafter.command((item,))
        if command is None:
            return None
        verb = "get" if rng.random() < 0.05 else "craft"
        task = f"{verb} {amount} {name}" if amount > 1 or rng.random() < 0.8 else f"{verb} {name}"
        if item == self.goal or rng.random() < 0.2:
            times = ceil_div(amount, command.makes)
            using = [
                (crafter.member(slot.ingredient), times * slot.amount) for slot in command.slots
            ]
            if rng.random() < 0.8:
                held |= {
                    part: max(held.get(part, 0), needed) for part, needed in using if part != item
                }
            listed = ", ".join(f"{needed} {self.book.names[part]}" for part, needed in using)
            task = f"craft {times * command.makes if times > 1 else amount} {name} using {listed}"
            amount = max(amount, times * command.makes) if times > 1 else amount
        crafter = self.crafter(rng, task, held)
        try:
            have = held.get(item, 0)
            if have >= amount:
                crafter.think(f"{amount} {name}: {holding((have, amount, name))}")
            else:
                crafter.craft(command, amount - have, name, have, part=False)
        except CannotBeHad as missing:
            return crafter.give_up("impossible", _nothing_gives(missing))
        return crafter.attempt("sub-task", item, amount, end=item != self.goal)

    def kind(self, rng: random.Random) -> Branch | None:
        """Return an attempt at a step that names a kind, such as planks, that a command makes."""
        parts = dict.fromkeys(slot.ingredient for recipe in self.shown for slot in recipe.slots)
        kinds = [
            part
            for part in parts
            if not self.reader.named(part)
            and (command := self.reader.command(part))
            and command.output not in self.forbidden
            and self.book.depths[command.output] <= EXECUTOR_DEPTH
        ]
        if not kinds:
            return None
        kind = rng.choice(kinds)
        command = self.reader.command(kind)
        amount, name = min(_amount(rng), MAX_TIMES * command.makes), name_of_ingredient(kind)
        others = self.inventory(rng, command.output, amount)
        held = {
            item: count for item, count in others.items() if item not in self.book.members[kind]
        }
        crafter = self.crafter(rng, f"craft {amount} {name}", held)
        try:
            crafter.have(kind, amount)
        except CannotBeHad as missing:
            return crafter.give_up("impossible", _nothing_gives(missing))
        return crafter.attempt("kind", crafter.best(kind)[0], amount, end=True)

    def get(self, rng: random.Random) -> Branch | None:
        """Return a sub-task of getting an item."""
        parts = [
            part
            for recipe in self.shown
            for slot in recipe.slots
            for part in self.book.members[slot.ingredient]
        ]
        base = [part for part in parts if part not in self.book.recipes]
        if not base:
            return None
        item, amount = rng.choice(base), _amount(rng)
        held = self.inventory(rng, self.goal, 1)
        verb = (
            "craft" if rng.random() < 0.1 else "get"
        )  # a planner may take an item for a crafted one
        name, have = self.book.names[item], held.get(item, 0)
        crafter = self.crafter(rng, f"{verb} {amount} {name}", held)
        if have >= amount:
            crafter.think(f"{amount} {name}: {holding((have, amount, name))}")
        else:
            if verb == "craft":
                crafter.think(f"{amount} {name}: no command makes it, so I get it.")
            crafter.have((item,), amount)
        return crafter.attempt("get", item, amount, end=True)

    def impossible(self, rng: random.Random) -> Branch | None:
        """Return an attempt that must fail: nothing gives the item, or one of its parts."""
        amount = _amount(rng)
        held = self.inventory(rng, self.goal, 1)
        listed = {recipe.output for recipe in self.shown}
        easy = [item for item, depth in self.book.depths.items() if depth <= EXECUTOR_DEPTH]
        others = [item for item in easy if item not in listed and item not in self.forbidden]
        if not others:
            return None
        name = self.book.names[rng.choice(others)]
        if rng.random() < 0.5:
            words = name.split()
            name = f"{words[0]} {self.book.names[rng.choice(self.book.base_items)].split()[-1]}"
        item = self.book.ids.get(name, "")
        if item and (item in listed or item in self.forbidden or item not in self.book.recipes):
            return None
        verb = rng.choice(("get", "craft"))
        crafter = self.crafter(rng, f"{verb} {amount} {name}", held)
        if verb == "craft":
            crafter.think(f"{amount} {name}: no command makes it, so I get it.")
        if not crafter.play(f"get {amount} {name}").startswith("Could not find"):
            return None
        return crafter.give_up("impossible", _nothing_gives(name))

    def stuck(self, rng: random.Random, item: str) -> Branch | None:
        """Return an attempt given up after the same craft failed three times."""
        name = self.book.names[item]
        crafter = self.crafter(rng, f"craft {name}")
        command = crafter.command_for(item)
        parts = [part for slot in command.slots if (part := crafter.command(slot.ingredient))]
        if parts and rng.random() < 0.5:
            crafter.think(crafter.intention(command, 1, name))
            command = rng.choice(parts)
            name = self.book.names[command.output]
        crafter.insist(command if rng.random() < 0.3 else crafter.mistaken(command), name)
        return crafter.give_up("stuck", "")

    # -- The planners

    def plan(self, rng: random.Random, item: str, amount: int) -> Branch | None:
        """Return a plan, one level down: of the goal, or of a failed step, which may name parts."""
        crafter = self.crafter(random.Random(0))
        command = crafter.command((item,))
        if command is None:
            return None
        name, amount = self.book.names[item], 1 if item == self.goal else amount
        times = ceil_div(amount, command.makes)
        steps = []
        for slot in command.slots:
            part = crafter.member(slot.ingredient)
            verb = "craft" if part in self.book.recipes else "get"
            steps.append(f"{verb} {times * slot.amount} {self.book.names[part]}")
        steps.append(self.last_step(crafter, command, times))
        if item == self.goal:
            task = self.sentence
        else:
            verb = (
                "get" if rng.random() < 0.05 else "craft"
            )  # a planner may take an item for one that can be got
            task = f"{verb} {amount} {name}"
            if rng.random() < 0.15:  # the last step of a plan, which is of whole crafts
                task, amount = steps[-1], times * command.makes
        return self.completion(
            "plan", task, f"# {crafter.intention(command, amount, name)}\n{numbered(steps)}"
        )

    def full_plan(self) -> Branch:
        """Return a plan in full: a comment for each item to craft, and then the steps."""
        comments, steps = self.full_steps()
        return self.completion("full plan", self.sentence, "\n".join([*comments, numbered(steps)]))

    def full_steps(self) -> tuple[list[str], list[str]]:
        """Return the comments and the steps of a plan in full."""
        crafter = self.crafter(random.Random(0))
        comments: list[str] = []
        steps: list[str] = []

        def make(command: Recipe, needed: int, name: str) -> None:
            times = ceil_div(needed, command.makes)
            comments.append(f"# {crafter.intention(command, needed, name)}")
            for slot in command.slots:
                part = crafter.member(slot.ingredient)
                lower = crafter.command(slot.ingredient)
                if lower is None:
                    steps.append(f"get {times * slot.amount} {self.book.names[part]}")
                else:
                    make(lower, times * slot.amount, name_of_ingredient(slot.ingredient))
            steps.append(self.last_step(crafter, command, times))

        make(crafter.command_for(self.goal), 1, self.book.names[self.goal])
        return comments, steps

    def last_step(self, crafter: Crafter, command: Recipe, times: int) -> str:
        """Return the step that applies a command a number of times."""
        using = ", ".join(
            f"{times * slot.amount} {self.book.names[crafter.member(slot.ingredient)]}"
            for slot in command.slots
        )
        return f"craft {times * command.makes} {self.book.names[command.output]} using {using}"

    # -- Several trials

    def reflection(self, rng: random.Random) -> Branch | None:
        """Return a failed trial and its lesson; others may have come before."""
        earlier = self.lessons(rng, rng.choice((0, 0, 1, 2)))
        transcript, learnt = self.failed_trial(rng, remembered(earlier))
        return self.reflection_of(transcript, learnt, earlier)

    def next_trial(self, rng: random.Random) -> Branch | None:
        """Return an episode after one or more that failed."""
        return self.whole_goal(
            rng, remembered(self.lessons(rng, rng.choice((1, 1, 2, 3)))), "next trial"
        )

    def lessons(self, rng: random.Random, number: int) -> list[str]:
        """Return what was learnt from some trials."""
        return [self.failed_trial(rng)[1] for _ in range(number)]

    def failed_trial(self, rng: random.Random, information: str = "") -> tuple[str, str]:
        """Return a trial, given up after the same line failed three times, and its lesson."""
        crafter = self.crafter(rng, self.sentence, information=information)
        command = crafter.command_for(self.goal)
        crafted = [slot for slot in command.slots if crafter.command(slot.ingredient)]
        name = self.book.names[self.goal]
        crafter.think(crafter.intention(command, 1, name))
        if crafted and rng.random() < 0.5:
            slot = rng.choice(crafted)
            part = name_of_ingredient(slot.ingredient)
            line = f"get {slot.amount} {part}"
            lesson = f"I tried to get {part}, but a command makes it."
        else:
            for slot in command.slots[: rng.randrange(len(command.slots))]:
                if crafter.can_be_got(slot.ingredient):
                    crafter.have(slot.ingredient, slot.amount)
            line = crafter.action(command)
            lesson = f"I tried to craft {name} before I held what it takes."
        for _ in range(crafter.failures, MAX_FAILURES):
            crafter.play(line)
        crafter.end(f"think: {crafter.after_failure()}{FAILED}")
        _, steps = self.full_steps()
        return crafter.transcript, f"{lesson} New plan:\n{numbered(steps)}"

    # -- What they have in common

    def crafter(
        self,
        rng: random.Random,
        task: str = "",
        held: Mapping[str, int] | None = None,
        *,
        information: str = "",
    ) -> Crafter:
        """Return the teacher at the start of a task; in two fifths of dialogues it may err."""
        mistakes = rng.sample(MISTAKES, rng.choice((1, 2, 3))) if rng.random() < 0.4 else []
        prompt = self.prompt(task, text.inventory(self.book, held) if held else information)
        return Crafter(self.book, self.shown, held or {}, prompt, mistakes=mistakes, rng=rng)

    def inventory(self, rng: random.Random, item: str, amount: int) -> dict[str, int]:
        """Return a possible inventory: empty, or some of the item's parts and other things."""
        if rng.random() < 0.35:
            return {}
        held: dict[str, int] = {}
        command = self.reader.command((item,))
        parts = (
            [(slot, self.reader.member(slot.ingredient)) for slot in command.slots]
            if command
            else []
        )
        for slot, part in parts:
            times = ceil_div(amount, command.makes) if command else 1
            if rng.random() < 0.6:
                held[part] = (
                    times * slot.amount
                    if rng.random() < 0.5
                    else rng.randrange(1, 2 * times * slot.amount + 1)
                )
        things = [
            part
            for recipe in self.shown
            for s in recipe.slots
            for part in self.book.members[s.ingredient]
        ]
        things += [recipe.output for recipe in self.shown]
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            held.setdefault(rng.choice(things), rng.randrange(1, 9))
        if rng.random() < 0.93:
            held.pop(item, None)
        held.pop(self.goal, None)
        order = list(held.items())
        rng.shuffle(order)
        return dict(order)


@lru_cache(maxsize=256)
def made_book(
    seed: int,
    depth: int,
    items: int,
    names: str,
    branching: int | None = None,
    *,
    alike: bool = False,
) -> RecipeBook:
    """Return a book of made recipes for training, with look-alike names if ``alike``."""
    broad = f",branching={branching}" if branching else ""
    book = RecipeBook.load(f"made:depth={depth},items={items},seed={seed},names={names}{broad}")
    return _alike(book, random.Random(seed)) if alike else book


def _alike(book: RecipeBook, rng: random.Random) -> RecipeBook:
    """Return a book with look-alike names: ``dull fig tar bulb`` beside ``dull elm tar bulb``."""
    few = zip(("look", "nature", "material"), rng.sample((2, 3, 4), 3), strict=True)
    roots = list(product(*(rng.sample(words(kind), number) for kind, number in few)))
    free: dict[str, list[tuple[str, ...]]] = {}
    ids: dict[str, str] = {}
    for item in book.names:
        form = item.rpartition("_")[2]
        root = free.setdefault(form, rng.sample(roots, len(roots))).pop()
        ids[item] = f"{DEFAULT_NAMESPACE}{'_'.join((*root, form))}"

    def renamed(ingredient: Ingredient) -> Ingredient:
        return tuple(ids.get(reference, reference) for reference in ingredient)

    def rewritten(recipe: Recipe) -> Recipe:
        slots = tuple(slot._replace(ingredient=renamed(slot.ingredient)) for slot in recipe.slots)
        return recipe._replace(output=ids[recipe.output], slots=slots)

    recipes = {ids[item]: tuple(map(rewritten, of)) for item, of in book.recipes.items()}
    members = {
        renamed(ingredient): tuple(sorted(ids[item] for item in of))
        for ingredient, of in book.members.items()
    }
    return RecipeBook(dict(sorted(recipes.items())), members, ids.values(), book.tags)


@lru_cache
def _minecraft_goals() -> tuple[tuple[str, ...], frozenset[str]]:
    book = RecipeBook.load()
    splits = paper_splits(book)
    easy = tuple(item for item, depth in book.depths.items() if depth == 1)
    return (*splits["dev"], *splits["dev"], *easy), frozenset(splits["test"])


def _takes_a_crafted_kind(book: RecipeBook, item: str) -> bool:
    slots = (slot for recipe in book.recipes[item] for slot in recipe.slots)
    kinds = (members for slot in slots if len(members := book.members[slot.ingredient]) > 1)
    return any(member in book.recipes for members in kinds for member in members)


def _amount(rng: random.Random) -> int:
    return rng.choice((1, 1, 1, 2, 2, 3, 4, 5, 6, 8, rng.randrange(1, 17)))


def _nothing_gives(name: object) -> str:
    return f"{name} cannot be got, and no command makes it."


examples = Situation.examples
