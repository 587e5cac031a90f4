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
from crafter import MAX_FAILURES, MISTAKES, Crafter, Need, holding
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
STYLES = {"": 0.45, "alike": 0.25, "nested": 0.15, "strange": 0.15}
"""How the items of made books are named, and how often: as the generator does; much alike, so that
each word must be read; many after another item, whose name theirs begins with, as ``glass pane``
does with ``glass``; or with words that begin like others, of which tokens a small model is unsure.
"""
OPENINGS = ("and", "or", "the", "of", "in", "is", "at", "it", "on", "to", "for", "as", "us", "no")
ENDINGS = (
    *("esine", "ola", "urmin", "imal", "elken", "oxan"),
    *("eria", "ulith", "ardin", "ipel", "oskar", "umbrin"),
)
"""What strange words are made of."""
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
                book = _drawn_book(rng)
                goals, forbidden = _made_goals(book, rng), frozenset()
            goal = rng.choice(goals)
            distractors = 10 if rng.random() < 0.4 else rng.randrange(10)
            indices = choose(book, goal, rng.randrange(1 << 30), distractors)
            if len(indices) <= MAX_COMMANDS:
                yield cls(book, goal, [all_recipes(book)[index] for index in indices], forbidden)

    def example(self, rng: random.Random) -> Example:
        """Return dialogues about the situation."""
        tasks = [item for item in self.tree if self.book.depths[item] <= EXECUTOR_DEPTH]
        made: list[Branch | None] = []
        if self.goal in tasks:
            made += self.goal_branches(rng)
        made += self.step_branches(tasks, rng)
        made += self.other_branches(tasks, rng)
        branches = list(dict.fromkeys(filter(None, made)))
        rng.shuffle(branches)
        return Example(self.text, tuple(branches))

    def goal_branches(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield dialogues about the goal itself."""
        yield self.whole_goal(rng)
        if rng.random() < 0.3:
            yield self.full_plan()
        if rng.random() < 0.15:
            yield self.reflection(rng)
        if rng.random() < 0.1:
            yield self.next_trial(rng)

    def step_branches(self, tasks: list[str], rng: random.Random) -> Iterator[Branch | None]:
        """Yield dialogues about steps towards the goal."""
        others = self.distractors()
        count = rng.choice((1, 2, 2, 3))
        if tasks:
            for _ in range(count):
                yield self.sub_task(rng, rng.choice(tasks))
        if others and rng.random() < 0.4:
            yield self.sub_task(rng, rng.choice(others))
        if rng.random() < 0.8:
            yield self.kind(rng)

    def other_branches(self, tasks: list[str], rng: random.Random) -> Iterator[Branch | None]:
        """Yield plans, and dialogues about items to get, and about those that cannot be had."""
        for item in rng.sample(self.tree, min(2, len(self.tree))):
            yield self.plan(rng, item, _amount(rng))
        if rng.random() < 0.4:
            yield self.get(rng)
        if rng.random() < 0.25:
            yield self.impossible(rng)
        if tasks and rng.random() < 0.25:
            yield self.stuck(rng, rng.choice(tasks))

    def distractors(self) -> list[str]:
        """Return listed items outside the goal's tree whose parts are all listed or given."""
        items: dict[str, None] = {}
        for recipe in self.shown:
            item = recipe.output
            is_task = item not in self.tree and item not in self.forbidden
            if is_task and self.book.depths[item] <= EXECUTOR_DEPTH and self.is_shallow(recipe):
                items[item] = None
        return list(items)

    def is_shallow(self, recipe: Recipe) -> bool:
        """Return whether the listed commands for a recipe's parts take nothing from others."""
        for slot in recipe.slots:
            part = self.reader.command(slot.ingredient)
            if part and any(self.reader.command(below.ingredient) for below in part.slots):
                return False
        return True

    # -- The executor

    def whole_goal(
        self, rng: random.Random, information: str = "", kind: str = "goal"
    ) -> Branch | None:
        """Return an episode from empty hands, which ends when the goal is crafted."""
        crafter = self.crafter(rng, self.sentence, information=information)
        command = crafter.command_for(self.goal)
        try:
            crafter.craft(command, Need(1, self.book.names[self.goal]), part=False)
        except CannotBeHad:
            return None
        return crafter.attempt(kind, self.goal, 1, "react" if kind == "goal" else "reflexion")

    def sub_task(self, rng: random.Random, item: str) -> Branch | None:
        """Return an attempt at a step; one in five names its parts, as a plan's last step does."""
        amount = self.amount(rng, item)
        held = self.inventory(rng, item, amount)
        crafter = self.crafter(rng, "", held)
        command = crafter.command((item,))
        if command is None:
            return None
        name = self.book.names[item]
        verb = "get" if rng.random() < 0.05 else "craft"
        task = f"{verb} {amount} {name}"
        if amount == 1 and rng.random() >= 0.8:
            task = f"{verb} {name}"
        if item == self.goal or rng.random() < 0.2:
            times = ceil_div(amount, command.makes)
            using = self.parts(crafter, command, times)
            if rng.random() < 0.8:
                enough = {part: max(held.get(part, 0), needed) for part, needed in using}
                enough.pop(item, None)
                held |= enough
            if times > 1:  # a plan's last step names whole crafts
                amount = max(amount, times * command.makes)
            task = f"craft {amount} {name} using {self.listed(using)}"
        return self.step(self.crafter(rng, task, held), command, amount)

    def amount(self, rng: random.Random, item: str) -> int:
        """Return how many of an item a step asks for."""
        if item == self.goal:
            return 1
        makes = min(recipe.makes for recipe in self.book.recipes[item])
        return min(_amount(rng), MAX_TIMES * makes)

    def step(self, crafter: Crafter, command: Recipe, amount: int) -> Branch | None:
        """Return an attempt to have an amount of what a command makes."""
        item = command.output
        name, held = self.book.names[item], crafter.held.get(item, 0)
        try:
            if held >= amount:
                crafter.think(f"{amount} {name}: {holding((held, amount, name))}")
            else:
                crafter.craft(command, Need(amount - held, name, held), part=False)
        except CannotBeHad as missing:
            return crafter.give_up("impossible", _nothing_gives(missing))
        return crafter.attempt("sub-task", item, amount, end=item != self.goal)

    def kind(self, rng: random.Random) -> Branch | None:
        """Return an attempt at a step that names a kind, such as planks, that a command makes."""
        kinds = self.kinds()
        if not kinds:
            return None
        kind, command = rng.choice([*kinds.items()])
        amount, name = min(_amount(rng), MAX_TIMES * command.makes), name_of_ingredient(kind)
        held = self.inventory(rng, command.output, amount)
        for member in self.book.members[kind]:
            held.pop(member, None)
        crafter = self.crafter(rng, f"craft {amount} {name}", held)
        try:
            crafter.have(kind, amount)
        except CannotBeHad as missing:
            return crafter.give_up("impossible", _nothing_gives(missing))
        return crafter.attempt("kind", crafter.best(kind)[0], amount, end=True)

    def kinds(self) -> dict[Ingredient, Recipe]:
        """Return the kinds that can be tasks, with the command to apply for each."""
        kinds: dict[Ingredient, Recipe] = {}
        for recipe in self.shown:
            for slot in recipe.slots:
                command = self.reader.command(slot.ingredient)
                if self.reader.named(slot.ingredient) or command is None:
                    continue
                is_easy = self.book.depths[command.output] <= EXECUTOR_DEPTH
                if is_easy and command.output not in self.forbidden:
                    kinds[slot.ingredient] = command
        return kinds

    def get(self, rng: random.Random) -> Branch | None:
        """Return a sub-task of getting an item."""
        base = [part for part in self.members() if part not in self.book.recipes]
        if not base:
            return None
        item, amount = rng.choice(base), _amount(rng)
        held = self.inventory(rng, self.goal, 1)
        # A planner may take an item for a crafted one.
        verb = "craft" if rng.random() < 0.1 else "get"
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
        name = self.unavailable(rng)
        if not name:
            return None
        verb = rng.choice(("get", "craft"))
        crafter = self.crafter(rng, f"{verb} {amount} {name}", held)
        if verb == "craft":
            crafter.think(f"{amount} {name}: no command makes it, so I get it.")
        if not crafter.play(f"get {amount} {name}").startswith("Could not find"):
            return None
        return crafter.give_up("impossible", _nothing_gives(name))

    def unavailable(self, rng: random.Random) -> str:
        """Return a name that nothing here gives, of an item or of none; empty if it is one."""
        excluded = self.forbidden | {recipe.output for recipe in self.shown}
        others = []
        for item, depth in self.book.depths.items():
            if depth <= EXECUTOR_DEPTH and item not in excluded:
                others.append(item)
        if not others:
            return ""
        name = self.book.names[rng.choice(others)]
        if rng.random() < 0.5:
            base = self.book.names[rng.choice(self.book.base_items)]
            name = f"{name.split()[0]} {base.split()[-1]}"
        item = self.book.ids.get(name, "")
        if item and (item in excluded or item not in self.book.recipes):
            return ""
        return name

    def stuck(self, rng: random.Random, item: str) -> Branch | None:
        """Return an attempt given up after the same craft failed three times."""
        name = self.book.names[item]
        crafter = self.crafter(rng, f"craft {name}")
        command = crafter.command_for(item)
        parts = [*filter(None, (crafter.command(slot.ingredient) for slot in command.slots))]
        if parts and rng.random() < 0.5:
            crafter.think(crafter.intention(command, Need(1, name)))
            command = rng.choice(parts)
            name = self.book.names[command.output]
        if rng.random() >= 0.3:
            command = crafter.mistaken(command)
        crafter.insist(command, name)
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
        for part, needed in self.parts(crafter, command, times):
            verb = "craft" if part in self.book.recipes else "get"
            steps.append(f"{verb} {needed} {self.book.names[part]}")
        steps.append(self.last_step(crafter, command, times))
        if item == self.goal:
            task = self.sentence
        else:
            # A planner may take an item for one that can be got.
            verb = "get" if rng.random() < 0.05 else "craft"
            task = f"{verb} {amount} {name}"
            if rng.random() < 0.15:  # the last step of a plan, which is of whole crafts
                task, amount = steps[-1], times * command.makes
        comment = f"# {crafter.intention(command, Need(amount, name))}"
        return self.completion("plan", task, f"{comment}\n{numbered(steps)}")

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
            comments.append(f"# {crafter.intention(command, Need(needed, name))}")
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
        using = self.listed(self.parts(crafter, command, times))
        return f"craft {times * command.makes} {self.book.names[command.output]} using {using}"

    def parts(self, crafter: Crafter, command: Recipe, times: int) -> list[tuple[str, int]]:
        """Return the items that some applications of a command take, and how many of each."""
        return [(crafter.member(slot.ingredient), times * slot.amount) for slot in command.slots]

    def listed(self, parts: list[tuple[str, int]]) -> str:
        """Return a list of items in words."""
        return ", ".join(f"{needed} {self.book.names[part]}" for part, needed in parts)

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
        crafter.think(crafter.intention(command, Need(1, name)))
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
        """Return the teacher at the start of a task; in half of the dialogues it may err."""
        mistakes: list[str] = []
        if rng.random() < 0.5:
            mistakes = rng.sample(MISTAKES, rng.choice((1, 2, 3)))
        if held:
            information = text.inventory(self.book, held)
        prompt = self.prompt(task, information)
        return Crafter(self.book, self.shown, held or {}, prompt, mistakes=mistakes, rng=rng)

    def inventory(self, rng: random.Random, item: str, amount: int) -> dict[str, int]:
        """Return a possible inventory: empty, or some of the item's parts and other things."""
        if rng.random() < 0.35:
            return {}
        held = self.some_parts(rng, item, amount)
        things = [*self.members(), *(recipe.output for recipe in self.shown)]
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            held.setdefault(rng.choice(things), rng.randrange(1, 9))
        if rng.random() < 0.93:
            held.pop(item, None)
        held.pop(self.goal, None)
        order = list(held.items())
        rng.shuffle(order)
        return dict(order)

    def some_parts(self, rng: random.Random, item: str, amount: int) -> dict[str, int]:
        """Return some of the parts that an amount of an item takes: too few, as many, or more."""
        command = self.reader.command((item,))
        if command is None:
            return {}
        held: dict[str, int] = {}
        for part, needed in self.parts(self.reader, command, ceil_div(amount, command.makes)):
            if rng.random() < 0.6:
                exact = rng.random() < 0.5
                held[part] = needed if exact else rng.randrange(1, 2 * needed + 1)
        return held

    def members(self) -> list[str]:
        """Return the items that can be parts of the listed recipes, each as often as it can."""
        members: list[str] = []
        for recipe in self.shown:
            for slot in recipe.slots:
                members += self.book.members[slot.ingredient]
        return members


def _drawn_book(rng: random.Random) -> RecipeBook:
    names = "borrowed" if rng.random() < 0.7 else "invented"
    items, depth = rng.choice((80, 120, 200)), rng.choice((2, 3, 4, 5))
    branching = rng.choice((3, 4)) if rng.random() < BROAD else None
    (style,) = rng.choices([*STYLES], [*STYLES.values()])
    return made_book(rng.randrange(TRAINING_SEEDS), depth, items, names, branching, style=style)


def _made_goals(book: RecipeBook, rng: random.Random) -> tuple[str, ...]:
    depth = min(rng.choice((1, 2, 2, 2, 3, 3, 4)), max(book.depths.values()))
    goals = tuple(item for item in book.depths if book.depths[item] == depth)
    if rng.random() < KINDS:
        takers = tuple(item for item in goals if _takes_a_crafted_kind(book, item))
        return takers or goals
    return goals


@lru_cache(maxsize=256)
def made_book(
    seed: int,
    depth: int,
    items: int,
    names: str,
    branching: int | None = None,
    *,
    style: str = "",
) -> RecipeBook:
    """Return a book of made recipes for training, with names of one of ``STYLES``."""
    broad = f",branching={branching}" if branching else ""
    book = RecipeBook.load(f"made:depth={depth},items={items},seed={seed},names={names}{broad}")
    if not style:
        return book
    renamers = {"alike": _alike, "nested": _nested, "strange": _strange}
    return _renamed(book, renamers[style](book, random.Random(seed)))


def _alike(book: RecipeBook, rng: random.Random) -> dict[str, str]:
    """Return look-alike names by item: ``dull fig tar bulb`` beside ``dull elm tar bulb``."""
    few = zip(("look", "nature", "material"), rng.sample((2, 3, 4), 3), strict=True)
    roots = list(product(*(rng.sample(words(kind), number) for kind, number in few)))
    free: dict[str, list[tuple[str, ...]]] = {}
    ids: dict[str, str] = {}
    for item in book.names:
        form = item.rpartition("_")[2]
        root = free.setdefault(form, rng.sample(roots, len(roots))).pop()
        ids[item] = f"{DEFAULT_NAMESPACE}{'_'.join((*root, form))}"
    return ids


def _nested(book: RecipeBook, rng: random.Random) -> dict[str, str]:
    """Return names by item of which half begin with another's: ``tar bulb plate``."""
    items = list(book.names)
    rng.shuffle(items)
    half = len(items) // 2
    ids = {item: item for item in items[:half]}
    for item in items[half:]:
        form = item.rpartition("_")[2]
        new = f"{rng.choice(items[:half])}_{form}"
        ids[item] = item if new in ids.values() else new
    return {item: ids[item] for item in book.names}


def _strange(book: RecipeBook, rng: random.Random) -> dict[str, str]:
    """Return names by item whose first word begins like another word: ``andulith bulb``."""
    ids: dict[str, str] = {}
    for item in book.names:
        form = item.rpartition("_")[2]
        while item not in ids:
            root = f"{rng.choice(OPENINGS)}{rng.choice(ENDINGS)}"
            name = root if rng.random() < 0.25 else f"{root}_{form}"
            if f"{DEFAULT_NAMESPACE}{name}" not in ids.values():
                ids[item] = f"{DEFAULT_NAMESPACE}{name}"
    return ids


def _renamed(book: RecipeBook, ids: Mapping[str, str]) -> RecipeBook:
    """Return a book with new names of its items."""

    def renamed(ingredient: Ingredient) -> Ingredient:
        return tuple(ids.get(reference, reference) for reference in ingredient)

    def rewritten(recipe: Recipe) -> Recipe:
        slots = tuple(slot._replace(ingredient=renamed(slot.ingredient)) for slot in recipe.slots)
        return recipe._replace(output=ids[recipe.output], slots=slots)

    recipes = {ids[item]: tuple(map(rewritten, ways)) for item, ways in book.recipes.items()}
    members: dict[Ingredient, tuple[str, ...]] = {}
    for ingredient, items in book.members.items():
        members[renamed(ingredient)] = tuple(sorted(ids[item] for item in items))
    return RecipeBook(dict(sorted(recipes.items())), members, ids.values(), book.tags)


@lru_cache
def _minecraft_goals() -> tuple[tuple[str, ...], frozenset[str]]:
    book = RecipeBook.load()
    splits = paper_splits(book)
    easy = tuple(item for item, depth in book.depths.items() if depth == 1)
    return (*splits["dev"], *splits["dev"], *easy), frozenset(splits["test"])


def _takes_a_crafted_kind(book: RecipeBook, item: str) -> bool:
    for recipe in book.recipes[item]:
        for slot in recipe.slots:
            members = book.members[slot.ingredient]
            if len(members) > 1 and any(member in book.recipes for member in members):
                return True
    return False


def _amount(rng: random.Random) -> int:
    return rng.choice((1, 1, 1, 2, 2, 3, 4, 5, 6, 8, rng.randrange(1, 17)))


def _nothing_gives(name: object) -> str:
    return f"{name} cannot be got, and no command makes it."


examples = Situation.examples
