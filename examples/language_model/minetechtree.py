"""Training examples of the tech tree, in the short prompts that the agents send.

The worlds are drawn for training alone. The tech tree has one book of recipes, which a player must
know by heart; so plans, one level down, are of any item, and a third of the goals that nothing else
is made from is held out: no whole goal, sub-task, full plan or reflection is about them.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache

import dialogue
from dialogue import Branch, Example, numbered, remembered
from teacher import COMPLETED, FAILED, CannotBeHad
from toolmaker import MISTAKES, Toolmaker, plain

from textcraft_gym.agents.games.crafting import Recipe, read_recipe
from textcraft_gym.agents.games.minetechtree.game_profile import PROFILE
from textcraft_gym.agents.games.minetechtree.knowledge import WOODS, read_around, source, ways
from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.expert import expert_plan
from textcraft_gym.envs.minetechtree.generator import generate
from textcraft_gym.envs.minetechtree.state import FIRST, Game, State
from textcraft_gym.envs.minetechtree.tasks import Task, all_tasks

LONGEST = 4500
"""Maximum number of characters of a dialogue with its situation."""
SHORTEST = 150
"""The number of characters that a dialogue needs at least."""
MAX_AMOUNT = 8
"""The most of an item that a sub-task asks for."""


@lru_cache(maxsize=1)
def held_out() -> frozenset[str]:
    """Return the held-out goals: a third, by hash, of those that nothing else is made from."""
    parts: set[str] = set()
    for recipe in ways().values():
        parts.update(recipe.things[1:])
    last = [task for task in all_tasks("vanilla") if task.replace("_", " ") not in parts]
    return frozenset(task for task in last if _hash(task) % 3 == 0)


def _hash(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


class Situation(dialogue.Situation):
    """A world and its goal.

    Args:
        task: The goal.
        game: The world.
    """

    profile = PROFILE

    def __init__(self, task: Task, game: Game) -> None:
        super().__init__(text.reset(game, FIRST))
        self.task, self.game = task, game
        self.item = task.id.replace("_", " ")
        trees = [name for name in read_around(self.text) if name.endswith(" trees")]
        self.trees = [name.removesuffix(" trees") for name in trees]
        self.forbidden = {name.replace("_", " ") for name in held_out()}

    @classmethod
    def drawn(cls, rng: random.Random) -> Iterator[Situation]:
        """Yield worlds and their goals without end."""
        tasks = [task for name, task in all_tasks("vanilla").items() if name not in held_out()]
        while True:
            task = rng.choice(tasks)
            world = generate(f"training/{task.id}", rng.randrange(1 << 30))
            yield cls(task, Game(world, task.aims, task.ticks))

    def example(self, rng: random.Random) -> Example:
        """Return dialogues about the situation."""
        kinds = {
            self.goal: 9,
            self.steps: 3,
            self.sub_tasks: 2,
            self.plans: 3,
            self.full_plan: 1,
            self.impossible: 0.5,
            self.another_trial: 1,
        }
        return self.filled(kinds, rng, shortest=SHORTEST, longest=LONGEST)

    # -- The executor

    def goal(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield an episode, which ends when the goal is reached."""
        yield self.whole(rng, "goal", "react")

    def whole(
        self, rng: random.Random, kind: str, agent: str, information: str = ""
    ) -> Branch | None:
        """Return an episode, which ends when the goal is reached."""
        maker = self.maker(self.sentence, FIRST, rng, information, asks=self.item)
        try:
            self.reach(maker)
        except CannotBeHad:
            return None
        if not maker.won:
            return None
        return maker.branch(kind, agent)

    def reach(self, maker: Toolmaker) -> None:
        """Have what the goal asks for, and wear it if that counts."""
        maker.have(self.item, 1)
        if self.game.aims[0].worn and not maker.failed:
            maker.think(f"{self.item} counts once I wear it.")
            maker.play(f"equip {self.item}")

    def steps(self, rng: random.Random) -> list[Branch | None]:
        """Return the attempts at some steps of plans of the goal."""
        is_full = rng.random() < 0.4
        one_level = self.step_texts(self.item, 1, worn=self.game.aims[0].worn)
        made = self.attempts(self.full_steps() if is_full else one_level, rng)
        return rng.sample(made, min(len(made), 3))

    def attempts(self, lines: Sequence[str], rng: random.Random) -> list[Branch | None]:
        """Return the attempts at a plan's steps, each with the state of the one before."""
        made: list[Branch | None] = []
        state = FIRST
        for line in lines:
            maker = self.maker(line, state, rng, text.inventory(state) if made else "")
            branch = self.attempt(maker, line)
            made.append(branch)
            if maker.failed:
                break
            state = maker.state
        return made

    def sub_tasks(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield attempts at other items, with some things held."""
        for _ in range(rng.choice((1, 2, 3))):
            state, inventory = self.some_inventory(rng)
            item = rng.choice(self.needed())
            amount = rng.choice((1, 1, 2, 3, 4, rng.randrange(1, MAX_AMOUNT + 1)))
            if item.endswith(("axe", "furnace", "table")):
                amount = 1
            line = f"{_verb(item)} {amount} {item}"
            yield self.attempt(self.maker(line, state, rng, inventory), line)

    def attempt(self, maker: Toolmaker, line: str) -> Branch | None:
        """Do a step of a plan and say that it is done."""
        verb, _, rest = line.partition(" ")
        recipe = read_recipe(line)
        try:
            if verb == "equip":
                maker.have(rest, 1)
                maker.play(line)
                outcome = f"I wear {rest}."
            elif recipe is None:
                raise CannotBeHad
            else:
                item, amount = recipe.makes
                self.follow(maker, recipe, line)
                outcome = f"I hold {amount} {item}."
        except CannotBeHad:
            maker.failed = True
            return None
        maker.end(f"think: {outcome} {COMPLETED}")
        return maker.branch("sub-task")

    def follow(self, maker: Toolmaker, recipe: Recipe, line: str) -> None:
        """Do a step of a plan, unless what it mines is held."""
        item, amount = recipe.makes
        if recipe.parts:
            maker.make(recipe._replace(tool=ways()[item].tool), amount)
        elif maker.held.get(item, 0) >= amount:
            return
        elif recipe.tool:
            maker.have(recipe.tool, 1)
            maker.play(line)
        else:
            maker.have(item, amount)

    def impossible(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield an attempt at a thing that comes from trees that do not grow here."""
        absent = [wood for wood in WOODS if wood not in self.trees]
        if absent:
            wood, amount = rng.choice(absent), rng.randrange(1, MAX_AMOUNT + 1)
            state, inventory = self.some_inventory(rng)
            if rng.random() < 0.5:
                line = f"mine {amount} {wood} log"
            else:
                thing = rng.choice(("planks", "slab", "door", "boat", "fence"))
                line = f"craft {amount} {wood} {thing}"
            maker = self.maker(line, state, rng, inventory, mistakes=False)
            maker.end(f"think: There are no {wood} trees here. {FAILED}")
            yield maker.branch("impossible")

    # -- The planners

    def plans(self, rng: random.Random) -> list[Branch]:
        """Return plans, one level down, of the goal and of one of its parts, or of any item."""
        made = [self.plan(self.sentence, self.item, 1, worn=self.game.aims[0].worn)]
        needed = self.needed()
        items = [*rng.sample(needed, min(2, len(needed))), rng.choice([*ways()])]
        for item in items:
            if (source(item) and not ways()[item].tool) or item in ("log", "planks"):
                continue
            amount = rng.choice((1, 1, 2, 3, rng.randrange(1, MAX_AMOUNT + 1)))
            task = f"{_verb(item)} {amount} {item}"
            if rng.random() < 0.15:  # the last step of a plan, which is of whole crafts
                task = self.step_texts(item, amount)[-1]
                amount = read_recipe(task).makes.amount
            made.append(self.plan(task, item, amount))
        return rng.sample(made, min(len(made), 3))

    def plan(self, sentence: str, item: str, amount: int, *, worn: bool = False) -> Branch:
        """Return a plan of an item, one level down."""
        maker = self.maker("", FIRST, random.Random(0))
        steps = self.step_texts(item, amount, worn=worn)
        comment = f"{amount} {item}: mine with {ways()[item].tool}."
        if not source(item):
            comment = maker.intention(maker.recipe(item, amount), amount)
        return self.completion("plan", sentence, f"# {comment}\n{numbered(steps)}")

    def step_texts(self, item: str, amount: int, *, worn: bool = False) -> list[str]:
        """Return the steps towards an item, one level down: the station, the parts, the item."""
        way = ways()[item]
        steps = [f"craft 1 {way.tool}"] if way.tool else []
        if source(item):
            step = f"{way.verb} {amount} {item}"
            steps.append(f"{step} with {way.tool}" if way.tool else step)
        else:
            maker = Toolmaker(self.game, FIRST, self.wood_for(item), "", rng=random.Random(0))
            recipe = maker.recipe(item, amount)
            # What another part is made from comes last.
            parts = maker.lacking(recipe)
            steps += [f"{_verb(part.item)} {part.amount} {part.item}" for part in parts]
            steps.append(plain(recipe))
        if worn:
            steps.append(f"equip {item}")
        return steps

    def full_steps(self) -> list[str]:
        """Return the steps of a plan in full, with the nearest wood where any will do."""
        wood = self.wood_for(self.item)
        places = []
        for place in self.game.world.places:
            name = place.source.name
            if name == f"{wood} trees" or not name.endswith(" trees"):
                places.append(place)
        world = self.game.world._replace(places=tuple(places))
        return expert_plan(self.game._replace(world=world), FIRST)

    def full_plan(self, rng: random.Random) -> Iterator[Branch]:
        """Yield a plan in full: what is used several times is added up first."""
        steps = self.full_steps()
        if steps:
            plan = "\n".join([*_sums(steps), numbered(steps)])
            yield self.completion("full plan", self.sentence, plan)

    # -- Several trials

    def another_trial(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield the lesson of a failed trial, and a trial after one or several failures."""
        trials = [self.failed_trial(rng) for _ in range(rng.choice((0, 0, 1, 2)))]
        earlier = [lesson for _, lesson in filter(None, trials)]
        trial = self.failed_trial(rng, remembered(earlier))
        if not trial:
            return
        transcript, learnt = trial
        yield self.reflection_of(transcript, learnt, earlier)
        yield self.whole(rng, "next trial", "reflexion", remembered([*earlier, learnt]))

    def failed_trial(self, rng: random.Random, information: str = "") -> tuple[str, str] | None:
        """Return a failed trial and its lesson; None if the drawn kind of failure is impossible."""
        maker = self.maker(self.sentence, FIRST, rng, information, mistakes=False)
        steps = self.full_steps()
        if not steps:
            return None
        try:
            if self.game.aims[0].worn and rng.random() < 0.7:
                maker.have(self.item, 1)
                maker.end(COMPLETED)
                lesson = f"I held {self.item}, but I did not equip it."
            else:
                last = [step for step in steps if not step.startswith(("equip", "hunt"))][-1]
                if not all(maker.mistake(last) for _ in range(rng.randrange(1, 4))):
                    return None
                maker.end(f"think: I see no way. {FAILED}")
                attempt = last.split(" using ")[0].split(" with ")[0]
                lesson = f"I tried to {' '.join(attempt.split())} too early."
        except CannotBeHad:
            return None
        return maker.transcript, f"{lesson} New plan:\n{numbered(steps)}"

    # -- What they have in common

    def maker(
        self,
        task: str,
        state: State,
        rng: random.Random,
        information: str = "",
        *,
        mistakes: bool = True,
        asks: str = "",
    ) -> Toolmaker:
        """Return the teacher at the start of a task; in four tenths of dialogues it errs.

        Of whole goals it misremembers three in ten more, since a held-out one is never known.
        """
        chosen: Sequence[str] = ()
        if mistakes and rng.random() < 0.4:
            chosen = rng.sample(MISTAKES, rng.choice((1, 1, 2)))
        elif mistakes and asks and rng.random() < 0.5:
            chosen = ("recipe",)
        wood = self.wood_for(task, state)
        prompt = self.prompt(task, information)
        return Toolmaker(self.game, state, wood, prompt, mistakes=chosen, asks=asks, rng=rng)

    def wood_for(self, task: str, state: State = FIRST) -> str:
        """Return the wood that a task names, else the one held most, else the nearest."""
        for wood in sorted(WOODS, key=len, reverse=True):  # dark oak before oak
            if f"{wood} " in f"{task} ":
                return wood

        def planks(wood: str) -> int:
            id = f"minecraft:{wood.replace(' ', '_')}"
            held = state.inventory
            return 4 * held.get(f"{id}_log", 0) + held.get(f"{id}_planks", 0)

        return max(self.trees, key=planks)

    def needed(self) -> list[str]:
        """Return the items that the goal takes, at any level, that may be sub-tasks."""
        needed: dict[str, None] = {}
        waiting = [self.item]
        while waiting:
            item = waiting.pop()
            wood = self.wood_for(self.item)
            for part in ways()[item].things[1:]:
                name = f"{wood} {part}" if part in ("log", "planks") else part
                if name not in needed and name not in self.forbidden:
                    needed[name] = None
                    waiting.append(name)
        return [*needed] or [self.item]

    def some_inventory(self, rng: random.Random) -> tuple[State, str]:
        """Return a state in which some things are held, and what is told of it."""
        if rng.random() >= 0.7:
            return FIRST, ""
        needed = self.needed()
        inventory: dict[str, int] = {}
        for item in rng.sample(needed, min(len(needed), rng.randrange(1, 5))):
            if item == self.item:
                continue
            takes_a_station = ways()[item].tool and not source(item)
            count = 1 if takes_a_station else rng.randrange(1, 9)
            inventory[f"minecraft:{item.replace(' ', '_')}"] = count
        state = FIRST._replace(inventory=inventory)
        return state, text.inventory(state) if inventory else ""


def _verb(item: str) -> str:
    return ways()[item].verb


def _sums(steps: Sequence[str]) -> Iterator[str]:
    """Yield comments on a plan: the amounts of each part that several steps use."""
    uses: dict[str, list[int]] = {}
    for step in reversed(steps):
        recipe = read_recipe(step)
        if recipe is None:
            continue
        for part in recipe.parts:
            uses.setdefault(part.item, []).append(part.amount)
    for item, amounts in uses.items():
        if len(amounts) > 1:
            yield f"# {item}: {' + '.join(map(str, amounts))} = {sum(amounts)}."


examples = Situation.examples
