"""The teacher in TextCraft: it thinks before each craft, and recovers from mistakes.

It plays by the rules of the environment itself, so that every answer in its dialogues is the
game's. For each item to craft it writes one thought, in a form that a small model can copy from the
list of commands:

    think: 6 planks: oak planks using 1 oak logs (get) makes 4. 1: 4, 2: 8. 2 times: 2 x 1 =
        2 oak logs.

the amount needed; the command, from its item on, since a small model finds what follows a name more
easily than what stands before it, and behind each part whether a command makes it; what it makes
when it is applied once, twice and so on until that is enough; how often it is applied, and what
that takes in all; then, of each part, how many are held beside how many are needed
(``Held: oak logs 1 of 2, so 1 more.``), since a small model compares numbers that stand side by
side only. The name stands before the number: a small model that begins with the number takes one
from the inventory, whatever it is of, and then says that it holds what it does not. Where an action
fails, it looks at what it holds if that is why, or reads the list again if no command is so, and
writes the thought again, with the number of failures before it. After the third in a row it gives
up. Once it has made a part it says what the part was for and what is still missing, since a small
model forgets the commands above the one that it applies. A thought that is too long for one turn
goes on in the next.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dialogue import Branch
from teacher import COMPLETED, FAILED, CannotBeHad, Teacher

from textcraft_gym.agents.games.crafting import ceil_div
from textcraft_gym.agents.games.textcraft.game_profile import PROFILE
from textcraft_gym.envs.textcraft import rules, text
from textcraft_gym.recipes.book import Offer, RecipeBook, name_of_ingredient
from textcraft_gym.recipes.recipe import Ingredient, Recipe, Slot

MISTAKES = (
    *("too early", "too many", "kind", "mistype", "get", "get", "get too few", "get another"),
    *("too few", "too few", "too few", "miscount", "miscount"),
    *("misread", "misread", "misread", "misread", "makes", "makes", "makes"),
    *["taken for held"] * 5,
)
"""The kinds of mistakes: a craft too early or once too often, one that names a kind in place of an
item, or is mistyped; a ``get`` of a crafted item, of too few, or of another name; then those that
small models make most, and so more often: too few crafts, too few of many, a craft that follows a
command that was misread, one that is taken to make more than it does, and a craft once some of the
parts are made, as if all were."""
COUNTED = 3
"""Up to this many crafts the teacher counts; after more, it looks at what they made."""
LISTED = 6
"""The most applications of which the teacher lists what they make."""
FAILURES = ("", "Failed once. ", "Failed twice. ", "Failed three times. ")
"""The beginning of a thought after a failure: how many since the last successful craft."""
MAX_FAILURES = len(FAILURES) - 1
MAX_QUOTE = 240
"""Characters of the list that a thought quotes at most, so that it stays one turn."""
LONG_THOUGHT = 260
"""Characters from which a thought's next sentence starts a turn: agents cut off at 150 tokens."""


class Need(NamedTuple):
    """What is needed of an item or kind.

    Attributes:
        missing: How many are needed beside those that are held.
        name: The item or kind.
        held: How many are held.
    """

    missing: int
    name: str
    held: int = 0

    @property
    def total(self) -> int:
        """How many are needed, those that are held among them."""
        return self.missing + self.held


class Crafter(Teacher):
    """One dialogue of the teacher.

    Args:
        book: The recipes of the game.
        shown: The recipes that the situation lists, in order.
        held: The inventory at the beginning.
        prompt: The prompt from the end of the situation on.
        mistakes: The kinds of mistakes to make, each at the first occasion.
        rng: Chooses wrong amounts.
    """

    profile, apply = PROFILE, staticmethod(rules.apply)
    state: Mapping[str, int]

    def __init__(
        self,
        book: RecipeBook,
        shown: Sequence[Recipe],
        held: Mapping[str, int],
        prompt: str,
        *,
        mistakes: Sequence[str] = (),
        rng: random.Random,
    ) -> None:
        super().__init__(rules.world_of(book), dict(held), prompt, mistakes=mistakes, rng=rng)
        self.book, self.shown = book, shown
        self.went_on_too_early = False
        self.failures = self.crafts = 0
        self.corrections: dict[str, str] = {}
        self.just_failed = False

    def turn(self, line: str, answer: str | None, *, learnt: bool = True) -> None:
        """Write a line and its answer; a line that goes on too early is not learnt."""
        super().turn(line, answer, learnt=learnt and not self.went_on_too_early)
        self.went_on_too_early = False

    def play(self, action: str, *, learnt: bool = True) -> str:
        """Play an action and return its answer, which may be a failure."""
        answer = super().play(action, learnt=learnt)
        if answer.startswith("Could not"):
            self.failures += 1
            self.just_failed = True
        elif answer.startswith("Crafted"):
            self.failures = 0
            self.crafts += 1
        return answer

    def think(self, thought: str, *, learnt: bool = True) -> None:
        """Write a thought and new failures; one failure too many spoils the dialogue."""
        self.failed = self.failed or self.failures >= MAX_FAILURES
        for turn in turns(self.after_failure() + thought):
            super().think(turn, learnt=learnt)

    def after_failure(self) -> str:
        """Return what a line begins with."""
        if not self.just_failed:
            return ""
        self.just_failed = False
        return FAILURES[min(self.failures, MAX_FAILURES)]

    # -- What is known

    @property
    def held(self) -> Mapping[str, int]:
        """The inventory."""
        return self.state

    def commands(self, item_or_kind: Ingredient) -> list[Recipe]:
        """Return the listed commands that make an ingredient."""
        members = self.book.members.get(item_or_kind, item_or_kind)
        return [recipe for recipe in self.shown if recipe.output in members]

    def command(self, item_or_kind: Ingredient) -> Recipe | None:
        """Return the command to apply: of those of the fewest levels, the first in the list."""
        return min(self.commands(item_or_kind), key=self.levels, default=None)

    def command_for(self, item: str) -> Recipe:
        """Return the command to apply for an item that a listed command makes."""
        return min(self.commands((item,)), key=self.levels)

    def levels(self, recipe: Recipe) -> int:
        """Return the number of levels of commands below a recipe."""
        levels = 0
        for slot in recipe.slots:
            members = self.book.members[slot.ingredient]
            easiest = min(self.book.depths.get(item, 0) for item in members)
            levels = max(levels, easiest)
        return levels

    def can_be_got(self, ingredient: Ingredient) -> bool:
        """Return whether no recipe makes any member of an ingredient."""
        return not any(item in self.book.recipes for item in self.book.members[ingredient])

    def best(self, ingredient: Ingredient) -> tuple[str, int]:
        """Return the member of an ingredient of which most is held, and how many."""
        members = self.book.members.get(ingredient, ingredient)
        item = max(members, key=lambda member: self.held.get(member, 0))
        return item, self.held.get(item, 0)

    # -- What is done

    def have(self, ingredient: Ingredient, count: int) -> str:
        """Get or craft what is missing of an ingredient; return the item of it that is then held.

        Raises:
            CannotBeHad: After the attempt.
        """
        item, held = self.best(ingredient)
        if held >= count:
            return item
        recipe = self.command(ingredient)
        if recipe is not None:
            if self.errs("get"):
                self.play(f"get {count} {name_of_ingredient(ingredient)}", learnt=False)
            output = self.held.get(recipe.output, 0)
            self.craft(recipe, Need(count - output, name_of_ingredient(ingredient), output))
            return recipe.output
        self.get(item, count - held)
        return item

    def get(self, item: str, missing: int) -> None:
        """Get a number of an item.

        Raises:
            CannotBeHad: After the attempt.
        """
        name = self.book.names[item]
        if (other := self.garbled(name)) != name and self.errs("get another"):
            self.play(f"get {missing} {other}", learnt=False)
            self.think(f"{missing} {name}: no command makes it, so I get it.")
        too_few = missing > 1 and self.errs("get too few")
        amount = self.rng.randrange(1, missing) if too_few else missing
        answer = self.play(text.get(self.book, item, amount), learnt=not too_few)
        if not answer.startswith("Got "):
            raise CannotBeHad(name)

    def craft(self, recipe: Recipe, need: Need, *, part: bool = True) -> None:
        """Apply a command until a need is met, having gathered its parts.

        Args:
            recipe: The command.
            need: What is needed.
            part: Whether the item is a part of another, so that too few of it are noticed.
        """
        overrated = self.overrated(recipe, need)
        if overrated and self.errs("makes"):
            need = self.overrate(overrated, recipe, need)
            if part and self.rng.random() < 0.5:  # noticed where the item lacks
                self.went_on_too_early = True
                return
        times = ceil_div(need.missing, recipe.makes)
        self.prepare(recipe, need, times)
        too_few = self.too_few(times, part=part)
        self.repeat(recipe, need, times, times - too_few)
        # Whoever has miscounted goes on as if all were made: that line is not to be learnt.
        self.went_on_too_early = too_few > 0
        if times > COUNTED:
            self.count(recipe, need)
            self.make_up(recipe, need, too_few)
        elif part and not too_few and self.lacks(recipe) and self.errs("too many"):
            # Where the parts are used up, one craft too many fails and does no harm.
            self.play(self.action(recipe), learnt=False)
            self.count(recipe, need)

    def prepare(self, recipe: Recipe, need: Need, times: int) -> None:
        """Think of a command, and gather what some applications take."""
        if self.errs("misread"):
            self.misread(recipe, need)
        self.think(self.noticed(recipe) + self.intention(recipe, need))
        if self.lacks(recipe) and self.errs("too early"):
            self.fail(self.action(recipe), recipe, need)
        names_a_kind = any(not self.named(slot.ingredient) for slot in recipe.slots)
        if names_a_kind and self.errs("kind"):
            self.gather(recipe, times, need)
            self.fail(text.command(self.book, recipe), recipe, need)
        self.gather(recipe, times, need)

    def too_few(self, times: int, *, part: bool) -> int:
        """Return how many of some applications to leave out by mistake."""
        kind = "miscount" if times > COUNTED else "too few"
        is_noticed = times > COUNTED or (part and times > 1)
        if is_noticed and self.errs(kind):
            return self.rng.randrange(1, min(times, 4))
        return 0

    def repeat(self, recipe: Recipe, need: Need, times: int, applied: int) -> None:
        """Apply a command, ``applied`` of the ``times`` that it takes."""
        for done in range(applied):
            made = done * recipe.makes
            left = need._replace(missing=need.missing - made, held=need.held + made)
            if self.lacks(recipe):
                self.fail(self.action(recipe), recipe, left)
                self.gather(recipe, times - done, left)
            if self.errs("mistype"):
                offer = self.mistyped(self.offer(recipe))
                self.fail(text.craft(self.book, recipe, offer), recipe, left)
            self.play(self.action(recipe))
            if (done + 1) % COUNTED == 0:
                self.think(f"{done + 1} of {times}.")

    def count(self, recipe: Recipe, need: Need) -> None:
        """Look at the inventory, and compare what a command made with what is needed."""
        self.play("inventory")
        held, output = self.held.get(recipe.output, 0), self.book.names[recipe.output]
        self.think(f"{need.total} {need.name}: {holding((held, need.total, output))}")

    def make_up(self, recipe: Recipe, need: Need, too_few: int) -> None:
        """Apply a command as often as it was miscounted."""
        for left in range(too_few, 0, -1):
            if self.lacks(recipe):
                held = self.held.get(recipe.output, 0)
                short = Need(need.total - held, need.name, held)
                self.fail(self.action(recipe), recipe, short)
                self.gather(recipe, left, short)
            self.play(self.action(recipe))

    def gather(self, recipe: Recipe, times: int, need: Need) -> None:
        """Have the parts of some applications, in order; then again what a later part used up."""
        mistakes = len(self.mistakes)
        for slot in recipe.slots:
            self.have_part(slot, recipe, times, need)
        # After a mistake a part may be short on purpose, to be noticed later.
        if len(self.mistakes) == mistakes:
            for slot in recipe.slots:
                self.have_part(slot, recipe, times, need)

    def have_part(self, slot: Slot, recipe: Recipe, times: int, need: Need) -> None:
        """Have a part of some applications; if it was crafted, say what for and what is missing."""
        crafts = self.crafts
        self.have(slot.ingredient, times * slot.amount)
        if self.crafts > crafts and not self.went_on_too_early:
            wrong = self.lacks(recipe) and self.errs("taken for held")
            parts = [self.part(other, times, misread=wrong) for other in recipe.slots]
            self.think(f"Now {need.total} {need.name}: {holding(*parts)}", learnt=not wrong)
            if wrong:
                self.fail(self.action(recipe), recipe, need)

    def lacks(self, recipe: Recipe) -> bool:
        """Return whether something is missing for one application of a command."""
        return any(self.best(slot.ingredient)[1] < slot.amount for slot in recipe.slots)

    # -- What goes wrong

    def fail(self, action: str, recipe: Recipe, need: Need) -> None:
        """Play an action in vain; then look at what is held if that is why, and think again."""
        self.craft_in_vain(action)
        self.think(self.noticed(recipe) + self.intention(recipe, need))

    def noticed(self, recipe: Recipe) -> str:
        """Return what a thought corrects: how many a command makes, or what the list has of it."""
        if self.answer.startswith("Could not find a valid recipe"):
            lines = [
                text.command(self.book, command) for command in self.commands((recipe.output,))
            ]
            thought = f"The list has: {'; '.join(line.split(' ', 2)[2] for line in lines)}. "
            return thought if len(thought) < MAX_QUOTE else ""
        return self.corrections.pop(recipe.output, "")

    def craft_in_vain(self, action: str) -> None:
        """Play an action that must fail, and look at the inventory if that explains the failure."""
        self.failed = self.failed or self.play(action, learnt=False).startswith("Crafted")
        if self.answer.startswith("Could not find enough"):
            self.play("inventory")

    def misread(self, recipe: Recipe, need: Need) -> None:
        """Take a command for another one, gather what that takes, and craft in vain, even twice."""
        output = name = self.book.names[recipe.output]
        wrong = recipe
        if self.rng.random() < 0.2:
            name = self.garbled(output)
        else:
            wrong = self.mistaken(recipe)
        if (wrong, name) == (recipe, output):
            return
        self.think(self.intention(wrong, need).replace(output, name), learnt=False)
        read_as = need._replace(name=need.name.replace(output, name))
        self.gather(wrong, ceil_div(need.missing, wrong.makes), read_as)
        if self.lacks(wrong):
            return
        action = self.action(wrong).replace(f" {output} using ", f" {name} using ")
        self.craft_in_vain(action)
        if self.rng.random() < 0.3:
            self.think(self.intention(wrong, need).replace(output, name), learnt=False)
            self.craft_in_vain(action)

    def overrated(self, recipe: Recipe, need: Need) -> Recipe | None:
        """Return a command as one that makes more, so that it is applied too rarely; else None."""
        others = [other.makes for other in self.shown]
        others += [slot.amount for slot in recipe.slots]
        times = ceil_div(need.missing, recipe.makes)
        more = sorted({makes for makes in others if ceil_div(need.missing, makes) < times})
        return recipe._replace(makes=self.rng.choice(more)) if more else None

    def overrate(self, wrong: Recipe, recipe: Recipe, need: Need) -> Need:
        """Apply a command that is taken to make more; return what is needed then."""
        self.think(self.intention(wrong, need), learnt=False)
        self.gather(wrong, ceil_div(need.missing, wrong.makes), need)
        self.play(self.action(wrong), learnt=False)
        self.corrections[recipe.output] = f"It makes {recipe.makes}, not {wrong.makes}. "
        held = self.held.get(recipe.output, 0)
        return Need(need.total - held, need.name, held)

    def mistaken(self, recipe: Recipe) -> Recipe:
        """Return a command with look-alike parts, a part less, or another one or amount of it."""
        if self.rng.random() < 0.5 and (alike := self.look_alikes(recipe)):
            return self.rng.choice(alike)
        slots = list(recipe.slots)
        at = self.rng.randrange(len(slots))
        others: list[Slot] = []
        for other in self.shown:
            others += [slot for slot in other.slots if self.can_be_got(slot.ingredient)]
        if len(slots) > 1 and self.rng.random() < 0.4:
            del slots[at]
        elif others and self.rng.random() < 0.5:
            slots[at] = self.rng.choice(others)
        else:
            amount = slots[at].amount + self.rng.choice((-1, 1, 2))
            slots[at] = slots[at]._replace(amount=max(1, amount))
        return recipe._replace(slots=tuple(slots))

    def look_alikes(self, recipe: Recipe) -> list[Recipe]:
        """Return a command with all parts of one with a like name, or one part for a like one."""
        wrong: list[Recipe] = []
        for other in self.shown:
            is_alike = alike(self.book.names[other.output], self.book.names[recipe.output])
            if is_alike:
                wrong.append(recipe._replace(slots=other.slots))
            for slot in other.slots:
                name = name_of_ingredient(slot.ingredient)
                for at, part in enumerate(recipe.slots):
                    if alike(name, name_of_ingredient(part.ingredient)):
                        slots = list(recipe.slots)
                        slots[at] = part._replace(ingredient=slot.ingredient)
                        wrong.append(recipe._replace(slots=tuple(slots)))
        return [made for made in wrong if made.slots != recipe.slots and self.is_easy(made)]

    def is_easy(self, recipe: Recipe) -> bool:
        """Return whether a command takes what can be got, or is made of it, and not its output."""
        for slot in recipe.slots:
            command = self.command(slot.ingredient)
            below = command.slots if command else (slot,)
            if recipe.output in self.book.members[slot.ingredient]:
                return False
            if not all(self.can_be_got(part.ingredient) for part in below):
                return False
        return True

    def insist(self, recipe: Recipe, name: str) -> None:
        """Craft one of a command in vain until giving up, misreading the inventory in between."""
        while self.failures < MAX_FAILURES and not self.failed:
            misreads = self.rng.random() < 0.7
            self.think(self.intention(recipe, Need(1, name), misread=misreads), learnt=False)
            for slot in recipe.slots:
                is_base = self.named(slot.ingredient) and self.can_be_got(slot.ingredient)
                if is_base and self.rng.random() < 0.4:
                    part = name_of_ingredient(slot.ingredient)
                    self.play(f"get {slot.amount} {part}", learnt=False)
            self.craft_in_vain(self.action(recipe))

    def mistyped(self, offer: Offer) -> Offer:
        """Return items with one amount changed, or without one of them."""
        at = self.rng.randrange(len(offer))
        if len(offer) > 1 and self.rng.random() < 0.3:
            return (*offer[:at], *offer[at + 1 :])
        item, amount = offer[at]
        if amount == 1:
            amount += 1
        else:
            amount += self.rng.choice((-1, 1))
        return (*offer[:at], (item, amount), *offer[at + 1 :])

    def garbled(self, name: str) -> str:
        """Return a name that was mixed up with another one in the list, or without its head."""
        words = name.split()
        if self.rng.random() < 0.3 and len(words[0]) > 4:
            return name[self.rng.choice((2, 3)) :]
        other = self.rng.choice(self.shown)
        others = self.book.names[other.output].split()
        if self.rng.random() < 0.5:
            return " ".join([others[0], *words[1:]])
        return " ".join([*words[:-1], others[-1]])

    # -- The words

    def intention(self, recipe: Recipe, need: Need, *, misread: bool = False) -> str:
        """Return the thought before a craft; it compares parts if any is held or a craft failed.

        Args:
            recipe: The command.
            need: What is needed.
            misread: Whether to say that everything is held.
        """
        times = ceil_div(need.missing, recipe.makes)
        output = self.book.names[recipe.output]
        thought = f"{need.total} {need.name}:"
        if need.held:
            thought += f" {holding((need.held, need.total, output))}"
        thought += f" {output} using {self.using(recipe)} makes {recipe.makes}."
        if recipe.makes > 1 and 1 < times <= LISTED:
            counts = [f"{time}: {time * recipe.makes}" for time in range(1, times + 1)]
            thought += f" {', '.join(counts)}."
        if times > 1:
            thought += f" {times} times: {products(recipe, times)}."
        if self.held or self.just_failed:
            misreads = misread and self.just_failed
            parts = [self.part(slot, times, misread=misreads) for slot in recipe.slots]
            thought += f" {holding(*parts)}"
        return thought

    def using(self, recipe: Recipe) -> str:
        """Return the parts of a command in words, with the way to have each."""
        parts = []
        for slot in recipe.slots:
            way = "craft" if self.command(slot.ingredient) else "get"
            parts.append(f"{slot.amount} {name_of_ingredient(slot.ingredient)} ({way})")
        return ", ".join(parts)

    def part(self, slot: Slot, times: int, *, misread: bool = False) -> tuple[int, int, str]:
        """Return the held and needed numbers of a part, and its name: the item if any is held."""
        item, held = self.best(slot.ingredient)
        needed = times * slot.amount
        if misread:
            held = max(held, needed)
        return held, needed, self.book.names[item] if held else name_of_ingredient(slot.ingredient)

    def offer(self, recipe: Recipe) -> Offer:
        """Return the items to name for one application."""
        items = []
        for slot in recipe.slots:
            item, held = self.best(slot.ingredient)
            if not held and (command := self.command(slot.ingredient)):
                item = command.output
            items.append((item, slot.amount))
        return tuple(items)

    def action(self, recipe: Recipe) -> str:
        """Return the action that applies a command once."""
        return text.craft(self.book, recipe, self.offer(recipe))

    def member(self, ingredient: Ingredient) -> str:
        """Return the item that fills an ingredient: its command's output, or the item itself."""
        command = self.command(ingredient)
        return command.output if command else self.best(ingredient)[0]

    def attempt(
        self, kind: str, item: str, count: int, agent: str = "adapt", *, end: bool = False
    ) -> Branch | None:
        """Return the dialogue if enough of an item is held; claim it if ``end``; else None."""
        if self.held.get(item, 0) < count:
            return None
        if end:
            self.end(COMPLETED)
        return self.branch(kind, agent)

    def give_up(self, kind: str, why: str) -> Branch | None:
        """Return the dialogue, ended with the reason why it failed, if any beside the failures."""
        reasons = [self.after_failure().strip(), why, FAILED]
        self.end(f"think: {' '.join(filter(None, reasons))}")
        return self.branch(kind)

    def named(self, ingredient: Ingredient) -> bool:
        """Return whether an ingredient's name is that of an item."""
        return name_of_ingredient(ingredient) in self.book.ids


def alike(name: str, other: str) -> bool:
    """Return whether two different names begin or end with the same word."""
    words, others = name.split(), other.split()
    return name != other and (words[0] == others[0] or words[-1] == others[-1])


def turns(thought: str) -> list[str]:
    """Return a thought in turns, each of as many sentences as are not too long together."""
    first, *sentences = re.split(r"(?<=\.) ", thought)
    turns = [first]
    for sentence in sentences:
        if len(turns[-1]) + len(sentence) < LONG_THOUGHT:
            turns[-1] += f" {sentence}"
        else:
            turns.append(sentence)
    return turns


def products(recipe: Recipe, times: int) -> str:
    """Return what some applications of a command take, as products."""
    parts = []
    for slot in recipe.slots:
        part = name_of_ingredient(slot.ingredient)
        parts.append(f"{times} x {slot.amount} = {times * slot.amount} {part}")
    return ", ".join(parts)


def holding(*parts: tuple[int, int, str]) -> str:
    """Return the sentence that compares, by name, the held number with the needed one."""
    compared = []
    for held, needed, name in parts:
        more = f", so {needed - held} more" if held < needed else ""
        compared.append(f"{name} {held} of {needed}{more}")
    return f"Held: {'; '.join(compared)}."
