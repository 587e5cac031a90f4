"""The teacher in TextCraft: a player who thinks before each craft, and knows how to go on after a mistake.

It plays by the rules of the environment itself, so that every answer in its dialogues is the game's. For each item to
craft it writes one thought, in a form that a small model can copy from the list of commands:

    think: 6 planks: oak planks using 1 oak logs makes 4. 2 times: 2 x 1 = 2 oak logs.

the amount needed; the command, from its item on, since a small model finds what follows a name more easily than what
stands before it; how often it is applied, and what that takes in all; then what of it is held already.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from dialogue import Branch, Writer

from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.rules import apply, world_of
from textcraft_gym.recipes.book import Offer, RecipeBook, name_of_ingredient
from textcraft_gym.recipes.recipe import Ingredient, Recipe

COMPLETED, FAILED = "Task completed!", "task failed!"
MISTAKES = ("too early", "kind", "count", "get", "few")


class CannotBeHad(Exception):
    """No command makes an item, and it cannot be got."""


class Crafter:
    """One dialogue of the teacher.

    Args:
        book: The recipes of the game.
        shown: The recipes that the situation lists, in order.
        held: The inventory at the beginning.
        prompt: The prompt from the end of the situation on.
        mistakes: The kinds of mistakes to make, each at the first occasion.
        rng: Chooses wrong amounts.
    """

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
        self.book, self.shown, self.held = book, shown, dict(held)
        self.world = world_of(book)
        self.writer = Writer(prompt)
        self.mistakes = list(mistakes)
        self.rng = rng

    # -- What is known --------------------------------------------------------------------------------------------

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
        depths = self.book.depths
        return max(
            (min(depths.get(item, 0) for item in self.book.members[slot.ingredient]) for slot in recipe.slots),
            default=0,
        )

    def best(self, ingredient: Ingredient) -> tuple[str, int]:
        """Return the member of an ingredient of which most is held, and how many."""
        return max(
            ((item, self.held.get(item, 0)) for item in self.book.members.get(ingredient, ingredient)),
            key=lambda pair: pair[1],
        )

    # -- What is said ---------------------------------------------------------------------------------------------

    def play(self, action: str, *, learnt: bool = True) -> str:
        """Play an action and return its answer."""
        self.held, answer, _, _ = apply(self.world, self.held, action)
        self.writer.turn(action, answer, learnt=learnt)
        return answer

    def think(self, thought: str) -> None:
        """Write a thought."""
        self.writer.turn(f"think: {thought}", "OK.")

    def end(self, line: str) -> None:
        """Write the last line."""
        self.writer.turn(line, None)

    def errs(self, kind: str) -> bool:
        """Return whether to make a mistake now, which then is made once."""
        if kind in self.mistakes:
            self.mistakes.remove(kind)
            return True
        return False

    # -- What is done ---------------------------------------------------------------------------------------------

    def have(self, ingredient: Ingredient, count: int) -> str:
        """Get or craft what is missing of an ingredient, and return the item of it that is then held.

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
            have = self.held.get(recipe.output, 0)
            self.craft(recipe, count - have, name_of_ingredient(ingredient), have)
            return recipe.output
        missing = count - held
        if self.errs("few") and missing > 1:
            missing = self.rng.randrange(1, missing)
            self.play(text.get(self.book, item, missing), learnt=False)
            return item
        if not self.play(text.get(self.book, item, missing)).startswith("Got "):
            raise CannotBeHad(self.book.names[item])
        return item

    def craft(self, recipe: Recipe, count: int, name: str, have: int = 0) -> None:
        """Apply a command until ``count`` more are made, beside those that are held, having what it takes."""
        times = -(-count // recipe.makes)
        self.think(self.intention(recipe, count, times, name, have))
        if self.errs("too early"):
            self.err(recipe, self.offer(recipe))
        if self.errs("kind") and any(not self.named(slot.ingredient) for slot in recipe.slots):
            self.gather(recipe, times)
            self.play(text.command(self.book, recipe), learnt=False)
        wrong = self.errs("count")
        made = 0
        while made < times:
            if short := self.gather(recipe, times - made):
                self.think(f"I lack {short}.")
                self.gather(recipe, times - made)
            offer = self.offer(recipe)
            if wrong:
                wrong = False
                at = self.rng.randrange(len(offer))
                amount = offer[at][1]
                other = max(1, amount + self.rng.choice((-1, 1)))
                if other != amount:
                    changed = (*offer[:at], (offer[at][0], other), *offer[at + 1 :])
                    self.err(recipe, changed)
                    self.think(f"The command takes {self.counted(offer)}.")
            self.apply(recipe, offer)
            made += 1

    def gather(self, recipe: Recipe, times: int) -> str:
        """Have what a number of applications takes, crafted parts first; return what a mistake left missing."""
        slots = sorted(recipe.slots, key=lambda slot: self.command(slot.ingredient) is None)
        for slot in slots:
            self.have(slot.ingredient, times * slot.amount)
        lacking = [
            f"{times * slot.amount - self.best(slot.ingredient)[1]} {self.book.names[self.best(slot.ingredient)[0]]}"
            for slot in recipe.slots
            if self.best(slot.ingredient)[1] < slot.amount
        ]
        return " and ".join(lacking)

    def intention(self, recipe: Recipe, count: int, times: int, name: str, have: int = 0) -> str:
        """Return the thought before a craft."""
        slots = [(slot.amount, name_of_ingredient(slot.ingredient)) for slot in recipe.slots]
        using = ", ".join(f"{amount} {part}" for amount, part in slots)
        more = f" I hold {have}, so {count} more." if have else ""
        said = f"{count + have} {name}:{more} {self.book.names[recipe.output]} using {using} makes {recipe.makes}."
        if times > 1:
            whole = ", ".join(f"{times} x {amount} = {times * amount} {part}" for amount, part in slots)
            said += f" {times} times: {whole}."
        for slot in recipe.slots:
            item, held = self.best(slot.ingredient)
            needed = times * slot.amount
            if held:
                said += (
                    f" I hold {held} {self.book.names[item]}{f', so {needed - held} more' if held < needed else ''}."
                )
        return said

    def offer(self, recipe: Recipe) -> Offer:
        """Return the items to name for one application."""
        items = []
        for slot in recipe.slots:
            item, held = self.best(slot.ingredient)
            if not held and (command := self.command(slot.ingredient)):
                item = command.output
            items.append((item, slot.amount))
        return tuple(items)

    def apply(self, recipe: Recipe, offer: Offer, *, learnt: bool = True) -> None:
        """Apply a command once."""
        self.play(text.craft(self.book, recipe, offer), learnt=learnt)

    def member(self, ingredient: Ingredient) -> str:
        """Return the item that fills an ingredient: the one that its command makes, or the item itself."""
        command = self.command(ingredient)
        return command.output if command else self.best(ingredient)[0]

    def branch(self, kind: str, ingredient: Ingredient, count: int, *, end: bool = False) -> Branch | None:
        """Return the dialogue if it reached its end, which is claimed if ``end`` is true; None if it did not."""
        if self.best(ingredient)[1] < count:
            return None
        if end:
            self.end(COMPLETED)
        return self.writer.branch(kind)

    def err(self, recipe: Recipe, offer: Offer) -> None:
        """Apply a command in vain, once or twice."""
        for _ in range(self.rng.choice((1, 1, 2))):
            self.apply(recipe, offer, learnt=False)

    def named(self, ingredient: Ingredient) -> bool:
        """Return whether an ingredient's name is that of an item."""
        return name_of_ingredient(ingredient) in self.book.ids

    def counted(self, offer: Offer) -> str:
        """Return items in words."""
        return ", ".join(f"{count} {self.book.names[item]}" for item, count in offer)
