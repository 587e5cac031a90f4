"""A player of TextCraft as a model, for tests that need one which wins some episodes and loses
others."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from textcraft_gym.agents.contract.model import Completion, Prompt, prompt_text
from textcraft_gym.agents.games.crafting import MARK, Crafts, Recipe, Want, read_crafts, read_held

DONE, FAILED = "Task completed!", "task failed!"
MISTAKE = "get 1 nothing"
_GOAL = re.compile(r"^Goal: (?:craft|get) (?:([0-9]+) )?(.+?)(?: using .*)?\.$", re.MULTILINE)
_INVENTORY = re.compile(r"^Inventory: (.*)$", re.MULTILINE)
_RECEIVED = re.compile(r"(?:Observation [0-9]+: )?(?:Got|Crafted) ([0-9]+) (?:minecraft:)?(.+)")
_NUMBERED = re.compile(r"Thought ([0-9]+):")
_TURN = re.compile(r"\n(?:> |Action [0-9]+: )")
_SPENT = re.compile(r"([0-9]+) ([^,]+)")


class Crafter:
    """Plays from the list of commands in a prompt, one command a turn, and plans one level down where it is asked to.

    It judges every attempt to be worth 5, and says nothing of use to any other question. In another
    game it gives up.

    Args:
        reach: Number of crafts one above the other, of the goal and what it is made of, from which
            on it gives up.
        slip: Probability of a command that changes nothing, for each turn.
        seed: Seed of the slips.
    """

    def __init__(self, reach: int = 9, *, slip: float = 0.0, seed: int = 0) -> None:
        if reach < 1:
            raise ValueError(f"expected a reach of 1 or more, got {reach!r}")
        self.reach, self.slip, self.seed = reach, slip, seed
        self.name = f"tests.doubles:Crafter,reach={reach}" + (
            f",slip={slip},seed={seed}" if slip else ""
        )

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
    ) -> Completion:
        """Answer by the prompt's last line; a token is four characters."""
        text = prompt_text(prompt)
        answer = self._answer(text, f"{self.seed}/{sample if temperature else 0}/{text}")
        for end in stop:
            answer = answer.split(end, 1)[0]
        return Completion(
            answer, {"prompt_tokens": -(-len(text) // 4), "completion_tokens": -(-len(answer) // 4)}
        )

    def _answer(self, text: str, draw: str) -> str:
        last_line = text.rstrip().rpartition("\n")[2]
        head, *turns = _TURN.split(text[max(0, text.rfind(MARK)) :])
        goals = _GOAL.findall(head)
        if not head.startswith(MARK) or not goals:
            return FAILED
        amount, item = goals[-1]
        bench = Bench(head, turns)
        want = Want(item, int(amount or 1))
        if last_line.startswith("Plan"):
            return bench.plan(want)
        if last_line == "Judgement:":
            return "Thus the correctness score is 5"
        number = _NUMBERED.fullmatch(last_line)
        if last_line != ">" and not number:
            return "I did what I could."
        if not turns and not number:
            return f"think: I need {want.amount} {want.item}."
        slips = (
            int(hashlib.sha256(draw.encode(errors="replace")).hexdigest()[:8], 16)
            < self.slip * 16**8
        )
        command = MISTAKE if slips else bench.next(want, self.reach) or f"think: {DONE}"
        return (
            f" Next.\nAction {number[1]}: {command.removeprefix('think: ')}" if number else command
        )


class ShortCrafter(Crafter):
    """Plays where a prompt is the bare text of the set ``short``, and writes nonsense after any instruction.

    Attributes:
        asked: Its prompts.
    """

    prompts = "short"
    context = 2000

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def complete(self, prompt: Prompt, **options: Any) -> Completion:
        """Answer as a ``Crafter`` does, or nonsense."""
        text = prompt_text(prompt)
        self.asked.append(text)
        if text.startswith(MARK):
            return super().complete(prompt, **options)
        return Completion("craft 4 mine using 1 acacia logs")


class Bench:
    """What a prompt says: the commands, and what is held after its turns."""

    def __init__(self, head: str, turns: list[str]) -> None:
        self.crafts: Crafts = read_crafts(head)
        self.held: dict[str, int] = {}
        for text in (head, *turns):
            action, _, answer = text.partition("\n")
            if inventories := _INVENTORY.findall(text):
                self.held = read_held(inventories[-1])
            elif received := _RECEIVED.match(answer):
                for amount, item in _SPENT.findall(action.partition(" using ")[2]):
                    self._receive(item.strip(), -int(amount))
                self._receive(received[2].replace("_", " "), int(received[1]))

    def next(self, want: Want, reach: int) -> str:
        """Return the next command towards an amount of an item; empty if it is held."""
        missing = want.amount - self.held.get(want.item, 0)
        if missing <= 0:
            return ""
        recipe = self._recipe(want.item)
        if recipe is None:
            return f"get {missing} {want.item}"
        if not reach:
            return f"think: {want.item} is too much for me. {FAILED}"
        times = recipe.times(missing)
        commands = (
            self.next(Want(part.item, times * part.amount), reach - 1) for part in recipe.parts
        )
        return next(filter(None, commands), str(recipe))

    def plan(self, want: Want) -> str:
        """Return a plan: a step for each part of the item, and one for itself."""
        recipe = self._recipe(want.item)
        if recipe is None:
            return f"Step 1: get {want.amount} {want.item}\nExecution Order: (Step 1)"
        whole = recipe.repeated(recipe.times(want.amount))
        verbs = ["craft" if part.item in self.crafts.recipes else "get" for part in whole.parts]
        steps = [
            f"{verb} {part.amount} {part.item}"
            for verb, part in zip(verbs, whole.parts, strict=True)
        ]
        lines = [f"Step {number}: {step}" for number, step in enumerate([*steps, str(whole)], 1)]
        order = " AND ".join(f"Step {number}" for number in range(1, len(lines) + 1))
        return "\n".join([*lines, f"Execution Order: ({order})"])

    def _receive(self, item: str, amount: int) -> None:
        self.held[item] = self.held.get(item, 0) + amount

    def _recipe(self, item: str) -> Recipe | None:
        """Return the first recipe that does not take the item itself, with a member for each kind
        in it."""
        for recipe in self.crafts.recipes.get(item, ()):
            parts = tuple(Want(self._member(part.item), part.amount) for part in recipe.parts)
            if not any(self._leads_to(part.item, item) for part in parts):
                return recipe._replace(parts=parts)
        return None

    def _leads_to(self, part: str, item: str, depth: int = 4) -> bool:
        """Return whether each recipe of a part takes the item."""
        if part == item:
            return True
        ways = self.crafts.recipes.get(part, ())
        taken = ([self._member(each.item) for each in way.parts] for way in ways)
        return bool(depth and ways) and all(
            any(self._leads_to(each, item, depth - 1) for each in way) for way in taken
        )

    def _member(self, name: str) -> str:
        """Return the item to use for a kind: one that is held, else one that takes none of the
        kind, else any."""
        members = self.crafts.members(name)
        if not members:
            return name
        held = [item for item in members if self.held.get(item)]
        free = [
            item
            for item in members
            if not any(
                set(members) & set(way.things[1:]) for way in self.crafts.recipes.get(item, ())
            )
        ]
        return (held or free or members)[0]
