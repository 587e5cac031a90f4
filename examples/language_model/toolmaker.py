"""The teacher in the tech tree: it knows the recipes, and states each before getting its parts.

It plays by the rules of the environment itself. For each item to make it writes one thought, which
is all that a small model needs to go on:

    think: 9 oak planks: craft 12 oak planks using 3 oak log. I hold 1 oak log.

the amount needed, the command for as many, and what of its parts is held already. What the whole
goal takes it asks the environment before it gets anything: an action that is not possible yet costs
no time, and its answer names what is missing, or the recipe of one that is remembered wrongly. It
repeats such a recipe in the answer's own words before it states its command: a small model else
states the wrong one again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache

from dialogue import Branch
from teacher import CannotBeHad, Teacher, a

from textcraft_gym.agents.games.crafting import Recipe, Want, listed
from textcraft_gym.agents.games.minetechtree.game_profile import PROFILE
from textcraft_gym.agents.games.minetechtree.knowledge import burnt, scaled, source, ways
from textcraft_gym.envs.minetechtree import rules
from textcraft_gym.envs.minetechtree.moves import NO_RECIPE
from textcraft_gym.envs.minetechtree.state import Game, State, is_won

MISTAKES = ("recipe", "recipe", "recipe", "too early", "lack", "count", "tool", "tool", "station")
TOOLS = ("wooden pickaxe", "stone pickaxe", "iron pickaxe")
"""Each mines what those before it mine."""
MAX_QUOTE = 120
"""Characters of an answer that a thought repeats at most."""
DONE = ("Mined", "Hunted", "Crafted", "Smelted", "Equipped")
"""Prefixes of the answers to actions that did something."""


class Toolmaker(Teacher):
    """One dialogue of the teacher.

    Args:
        game: The world.
        state: The state at the beginning.
        wood: The wood to use where any will do.
        prompt: The prompt from the end of the situation on.
        mistakes: The kinds of mistakes to make, each at the first occasion.
        asks: The item for which it asks what it takes; empty for none.
        rng: Chooses wrong amounts.
    """

    profile, apply = PROFILE, staticmethod(rules.apply)
    game: Game
    state: State

    def __init__(
        self,
        game: Game,
        state: State,
        wood: str,
        prompt: str,
        *,
        mistakes: Sequence[str] = (),
        asks: str = "",
        rng: random.Random,
    ) -> None:
        super().__init__(game, state, prompt, mistakes=mistakes, rng=rng)
        self.wood = wood
        self.asks = asks
        self.told = ""

    # -- What is said and done

    @property
    def won(self) -> bool:
        """Whether the environment has ended the episode, so that nothing more can be said."""
        return is_won(self.game, self.state)

    def play(self, action: str, *, learnt: bool = True) -> str:
        """Play an action and return its answer."""
        answer = super().play(action, learnt=learnt)
        self.failed = self.failed or not answer.startswith(DONE)
        return answer

    def mistake(self, action: str, *, learnt: bool = False) -> bool:
        """Play an unlearnt action, unless it would work; return whether it was played."""
        _, answer, reason, why = self.apply(self.game, self.state, action)
        if why:  # the environment's answer gives the reason
            self.turn(action, f"{answer}: {why}", learnt=learnt)
        self.told = f"So {why}. " if reason == NO_RECIPE and len(why) < MAX_QUOTE else ""
        return bool(why)

    def ask(self, item: str, action: str) -> None:
        """Play an impossible action, once, for what its answer says of the item in question."""
        if item == self.asks:
            self.asks = ""
            self.mistake(action, learnt=True)

    def branch(self, kind: str, agent: str = "adapt") -> Branch | None:
        """Return the dialogue; None also if the time ran out."""
        if not self.won and self.state.ticks >= self.game.limit:
            return None
        return super().branch(kind, agent)

    # -- What is known

    @property
    def held(self) -> Mapping[str, int]:
        """The inventory, by name."""
        return {_name(item): count for item, count in self.state.inventory.items()}

    def of_wood(self, item: str) -> str:
        """Return an item with its wood, where it is of any wood."""
        return f"{self.wood} {item}" if item in ("planks", "log") else item

    def recipe(self, item: str, count: int) -> Recipe:
        """Return the recipe that makes a number of an item at once, with its fuel."""
        fuel = "coal" if self.held.get("coal", 0) >= burnt("coal", count) else "planks"
        whole = scaled(ways()[item], count, fuel)
        return whole._replace(
            parts=tuple(Want(self.of_wood(part.item), part.amount) for part in whole.parts)
        )

    def has_tool(self, tool: str) -> bool:
        """Return whether a tool is held, or a better one of its kind."""
        if not tool:
            return True
        if tool not in TOOLS:
            return tool in self.held
        return any(better in self.held for better in TOOLS[TOOLS.index(tool) :])

    # -- What is done

    def have(self, item: str, count: int) -> None:
        """Get or make what is missing of an item.

        Raises:
            CannotBeHad: If the world does not hold what it comes from.
        """
        held = self.held.get(item, 0)
        if held >= count or self.failed:
            return
        if source(item):
            self.gather(item, count - held, held)
        else:
            self.make(self.recipe(item, count - held), count, held)

    def gather(self, item: str, missing: int, held: int = 0) -> None:
        """Mine or hunt a number of an item, with the tool that it takes."""
        way = ways()[item]
        if source(item) not in {place.source.name for place in self.game.world.places}:
            raise CannotBeHad(item)
        action = f"{way.verb} {missing} {item}"
        if not self.has_tool(way.tool):
            self.ask(item, action)
            if self.errs("tool"):
                self.mistake(action)
            thought = f"{missing + held} {item}:"
            if held:
                thought += f" I hold {held}, so {missing} more."
            self.think(f"{thought} mine with {way.tool}.")
            self.have(way.tool, 1)
        self.play(action)

    def make(self, recipe: Recipe, count: int, held: int = 0) -> None:
        """Apply a recipe, having what it takes."""
        if recipe.verb == "craft" and self.errs("recipe"):
            recipe = self.misremember(recipe, count, held)
        self.think(f"{self.noticed()}{self.intention(recipe, count, held)}")
        self.ask(recipe.makes.item, plain(recipe))
        if self.errs("too early"):
            self.mistake(plain(recipe))
        self.have_all(recipe)
        if self.errs("count"):
            self.miscount(recipe)
        self.play(plain(recipe))

    def have_all(self, recipe: Recipe) -> None:
        """Have the station and the parts of a recipe; the station last where it is forgotten."""
        station = recipe.tool
        forgets = bool(station) and station not in self.held and self.errs("station")
        if station and not forgets:
            self.have(station, 1)
        self.have_parts(recipe)
        if forgets:
            if self.mistake(plain(recipe)):
                self.think(f"It takes {a(station)}.")
            self.have(station, 1)
            self.have_parts(recipe)

    def have_parts(self, recipe: Recipe) -> None:
        """Have all parts of a recipe; making one may use up another, which is then made again."""
        while (lacking := self.lacking(recipe)) and not self.failed:
            self.have(lacking[0].item, lacking[0].amount)
            if self.lacking(recipe) and self.errs("lack") and self.mistake(plain(recipe)):
                self.think(f"I need {listed(self.lacking(recipe))}.")

    def misremember(self, recipe: Recipe, count: int, held: int) -> Recipe:
        """Try a wrong recipe; return the one that the answer names, else the same."""
        named, wrong = self.wrong(recipe)
        _, _, reason, _ = self.apply(self.game, self.state, plain(wrong))
        if reason != NO_RECIPE:
            return recipe
        self.think(self.intention(wrong, count, held), learnt=False)
        for _ in range(self.rng.choice((1, 1, 2))):
            self.mistake(plain(wrong))
        if self.rng.random() < 0.4 and self.is_short_of(recipe, wrong):
            # A small model states it again, gets what it takes, and is told at the end.
            self.think(self.intention(wrong, count, held), learnt=False)
            self.told = ""
            others, self.mistakes = self.mistakes, []
            self.have_all(wrong)
            self.mistakes = others
            self.mistake(plain(wrong))
        if recipe.makes.item == self.asks:
            self.asks = ""
        return named

    def noticed(self) -> str:
        """Return the recipe that the last answer named, once."""
        told, self.told = self.told, ""
        return told

    def is_short_of(self, recipe: Recipe, wrong: Recipe) -> bool:
        """Return whether a wrong recipe takes no other parts than the right one."""
        return {part.item for part in wrong.parts} <= {part.item for part in recipe.parts}

    def wrong(self, recipe: Recipe) -> tuple[Recipe, Recipe]:
        """Return a recipe and its misremembered form: other parts, fewer, or other amounts."""
        way = self.rng.randrange(4)
        parts = recipe.parts
        if way == 0:
            other = self.rng.choice([other for other in ways().values() if other.verb == "craft"])
            parts = tuple(Want(self.of_wood(part.item), part.amount) for part in other.parts)
        elif way == 1 and len(parts) > 1:
            parts = tuple(self.rng.sample(parts, len(parts) - 1))
        elif way == 2:
            several = self.recipe(recipe.makes.item, self.rng.choice((2, 3)) * recipe.makes.amount)
            return several, several._replace(parts=parts)
        else:
            parts = tuple(part._replace(amount=self.rng.randrange(1, 9)) for part in parts)
        return recipe, recipe._replace(parts=parts)

    def miscount(self, recipe: Recipe) -> None:
        """Apply a recipe with a wrong amount."""
        at = self.rng.randrange(len(recipe.parts))
        part = recipe.parts[at]
        wrong = part._replace(amount=max(1, part.amount + self.rng.choice((-1, 1))))
        parts = (*recipe.parts[:at], wrong, *recipe.parts[at + 1 :])
        if wrong != part and self.mistake(plain(recipe._replace(parts=parts))):
            self.think(f"{self.noticed()}It takes {listed(recipe.parts)}.")

    def lacking(self, recipe: Recipe) -> list[Want]:
        """Return the parts of which too few are held, deepest first: making them uses up others."""
        total: dict[str, int] = {}
        for part in recipe.parts:  # planks may be both material and fuel
            total[part.item] = total.get(part.item, 0) + part.amount
        held = self.held
        lacking = [
            Want(item, amount) for item, amount in total.items() if held.get(item, 0) < amount
        ]
        return sorted(lacking, key=lambda want: -depth(want.item))

    def intention(self, recipe: Recipe, count: int, held: int = 0) -> str:
        """Return the thought before a recipe is applied."""
        thought = f"{count} {recipe.makes.item}:"
        if held:
            thought += f" I hold {held}, so {count - held} more:"
        thought += f" {plain(recipe)}."
        inventory = self.held
        if recipe.tool and recipe.tool not in inventory:
            thought += f" It takes {a(recipe.tool)}."
        items = [part.item for part in recipe.parts if part.item in inventory]
        if items:
            parts = [f"{inventory[item]} {item}" for item in items]
            thought += f" I hold {', '.join(parts)}."
        return thought


def plain(recipe: Recipe) -> str:
    """Return the action that applies a recipe, which does not name the station."""
    return str(recipe._replace(tool=""))


@cache
def depth(item: str) -> int:
    """Return the number of levels of things that an item takes, tools and stations among them."""
    return 1 + max(map(depth, ways()[item].things[1:]), default=0)


def _name(item: str) -> str:
    return item.removeprefix("minecraft:").replace("_", " ")
