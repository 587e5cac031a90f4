"""The simulated model under AutoPlan: a player who begins without any rule of a household, and learns them.

It knows a rule of ALFWorld from two sources only: from the plan in its prompt, and from the messages and answers of the
game that it saw in this episode. The rules are what heats, cools and cleans, that what is closed can be opened, and
in which kinds of places the things of such tasks are found. Without the first it tries one kind of place after the
other, without the second it passes by what is closed, and without the third it searches in alphabetical order.

A summary tells what was found and done, the flaws and the revision what the game taught. Its update keeps the rules of
the plan, and adds those in the summaries of successes and in all flaws and revisions; of new kinds of places the one
that most episodes name comes first. So a rule that is learned in a failed episode reaches the plan by a reflection
only. It keeps nothing in mind beyond the dialogue: the span has no effect in a household.

In HotpotQA it learns two habits of a reader (``hotpotqa.py``) from episodes in which they were missing, once it is told
from which pages the answer follows. In other games it plays as it does under ReAct, from the commands that the prompt
tells, and its plans say nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from textcraft_gym.agents.adapt.react import THOUGHT
from textcraft_gym.agents.games.alfworld.household import Household, HouseholdTask, Next, Order, kind, read_task
from textcraft_gym.agents.simulated import alfworld, hotpotqa
from textcraft_gym.agents.simulated.cues import Cue, read_question

CUES = (Cue.THOUGHT, Cue.ACTION, Cue.FORM, Cue.SUMMARY, Cue.FLAWS, Cue.REVISION, Cue.NEW_PLAN)
OPEN = "What is closed must be opened first."
SEARCH = "Look for the thing in one place after the other."
AT_A_LOSS = "I see nothing more to try."
MAX_INNER = 50
"""Maximum number of thoughts that it skips to come to an action."""

_NEXT = "The next thing to do is: "
_TOLD = f"{THOUGHT} {{anything}}\n\n"
_ASKED = re.compile(r"\n[^\n]*\bThought:(?: ([^\n]*))?(?=\n|$)")
_WRITTEN = "\nThe player wrote: "
_TASK = "\n\nYour task is to: "

_APPLIANCE = re.compile(r"\b(clean|heat|cool) (?:an? |the )?\w+ (?:takes|with|in|using) (?:an? |the )(\w+)")
_MESSAGE = re.compile(r"cannot (clean|heat|cool) anything: that takes an? (\w+)")
_TREATED = re.compile(r"You (clean|heat|cool) the \w+ \d+ using the (\w+) \d+\.")
_OPENED = re.compile(r"\bclosed\b[^\n]*\bopen|\bopen[^\n]*\bclosed\b", re.IGNORECASE)
_CLOSED = re.compile(r"^(\w+ \d+) is closed: open it first\.", re.MULTILINE)
_TAKEN = re.compile(r"You pick up the (\w+) \d+ from the (\w+) \d+\.")
_FIRST = re.compile(r"[Ss]earch these places first: ([\w, ]+)")
_FOUND = re.compile(r"I found an? \w+ in the (\w+)")
_EXPERIENCE = re.compile(r"^Objective: .*?(?=^Objective: |\Z)", re.MULTILINE | re.DOTALL)


@dataclass
class Rules:
    """What is known of households.

    Attributes:
        appliances: The kind of place that cleans, heats or cools, or the beginning of its name.
        opens: Whether what is closed can be opened.
        places: The kinds of places to search first, in order.
    """

    appliances: dict[str, str] = field(default_factory=dict)
    opens: bool = False
    places: list[str] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Learn from the words of a plan or a reflection."""
        self.appliances |= dict(_APPLIANCE.findall(text))
        self.opens = self.opens or _OPENED.search(text) is not None
        self.add_places(name for kinds in [*_FIRST.findall(text), *_FOUND.findall(text)] for name in kinds.split(", "))

    def see(self, answer: str) -> None:
        """Learn from an answer of the game, and from the message below it."""
        self.appliances |= dict([*_MESSAGE.findall(answer), *_TREATED.findall(answer)])
        self.opens = self.opens or _CLOSED.search(answer) is not None
        self.add_places(place for _, place in _TAKEN.findall(answer))

    def add_places(self, places: Iterable[str]) -> None:
        """Learn of kinds of places, which come after those that are known."""
        self.places = list(dict.fromkeys([*self.places, *places]))

    def lines(self) -> Iterator[str]:
        """Yield the rules as the lines of a plan."""
        if self.opens:
            yield OPEN
        for treatment, place in sorted(self.appliances.items()):
            yield f"To {treatment} a thing takes a {place}."
        if self.places:
            yield f"Search these places first: {', '.join(self.places)}."


class Learner(Household):
    """The belief of a player who knows only some rules.

    Args:
        situation: The first observation.
        rules: What the player knows.
    """

    def __init__(self, situation: str, rules: Rules) -> None:
        super().__init__(situation)
        self.rules = rules
        self.inventory_known = True  # all that it did is in the dialogue

    def hear(self, action: str, answer: str) -> None:
        """Learn from the answer to an action."""
        self.rules.see(answer)
        if closed := _CLOSED.search(answer):  # to be tried again once it is open
            self.closed.add(closed[1])
        else:
            self.read(action, answer.partition("\n")[0])

    def order(self, thing: str) -> list[str]:
        """Return the places in the order in which to search them."""
        rank = {name: index for index, name in enumerate(self.rules.places)}
        return sorted(self.places, key=lambda place: (rank.get(kind(place), len(rank)), place))

    def _open(self, place: str) -> Next | None:
        if place in self.closed and not self.rules.opens:
            return self._go(place) if self.held else None
        return super()._open(place)

    def _fetch(self, task: HouseholdTask, order: Order) -> Next | None:
        step = super()._fetch(task, order)
        if step is None and not self.rules.opens:  # at a loss, it reaches into what is closed
            for place in sorted(self.closed):
                command = f"take {task.thing} 1 from {place}"
                if command not in self.refused:
                    return self._go(place) or Next(command)
        return step

    def _treat(self, treatment: str) -> Next | None:
        known = self.rules.appliances.get(treatment, "")
        tried = {kind(command.rpartition(" with ")[2]) for command in self.refused if command.startswith(treatment)}
        for place in sorted(self.places):
            if kind(place).startswith(known) if known else kind(place) not in tried:
                command = f"{treatment} {self.held} with {place}"
                if command not in self.refused:
                    return self._go(place) or Next(command)
        return None


def answer(prompt: str, play: Callable[[str], str]) -> str:
    """Return the answer to a prompt of AutoPlan.

    Args:
        prompt: The prompt.
        play: Returns the line of a player under ReAct.
    """
    cue = read_question(prompt).cue
    if cue is Cue.FORM:
        return prompt.rpartition(_WRITTEN)[2].partition("\n")[0]
    if cue is Cue.NEW_PLAN:
        return new_plan(prompt)
    if alfworld.MARK not in prompt:
        if cue in (Cue.THOUGHT, Cue.ACTION):
            return _turn(as_turns(prompt), cue, play)
        return play(as_turns(prompt, asks=False)) if hotpotqa.MARK in prompt else "I did what I could."
    learner, task, answers = _look_back(prompt)
    if cue in (Cue.THOUGHT, Cue.ACTION):
        step = learner.next(task, learner.order) if task else None
        if cue is Cue.ACTION:
            return step.command if step else AT_A_LOSS
        return f"I look for the {step.sought}." if step and step.sought else f"{_NEXT}{step.command if step else '?'}"
    return _reflection(cue, learner, answers)


def as_turns(prompt: str, *, asks: bool = True) -> str:
    """Return a dialogue of AutoPlan as a transcript of ReAct, which ``asks`` for a line at its end."""

    def thought(found: re.Match[str]) -> str:
        said = found[1]
        return "" if not said or said.startswith(_NEXT) else f"\n> {THOUGHT} {said}\nOK."

    text = _ASKED.sub(thought, prompt).replace("\nAction: ", "\n> ").removesuffix("\nAction:")
    return f"{_TOLD}{text}\n>" if asks else f"{_TOLD}{text}"


def new_plan(prompt: str) -> str:
    """Return the plan that an update asks for."""
    told = [prompt.partition("\nObjective: ")[0]]
    for experience in _EXPERIENCE.findall(prompt):
        lines = experience.split("\n")
        won = "Result: succeeded" in lines
        told.append("\n".join(line for line in lines if won or not line.startswith("Summary: ")))
    plan = hotpotqa.new_plan(told) if hotpotqa.MARK in prompt else [SEARCH, *household_rules(told).lines()]
    return "\n".join(f"{number}. {line}" for number, line in enumerate(plan, 1))


def household_rules(told: Sequence[str]) -> Rules:
    """Return the rules in the texts of a plan and of experiences; of new places the one that most name comes first."""
    rules = Rules()
    rules.read(told[0])
    named: Counter[str] = Counter()
    for text in told[1:]:
        learned = Rules()
        learned.read(text)
        named.update(learned.places)
    rules.add_places(place for place, _ in named.most_common())
    for text in told[1:]:
        rules.read(text)
    return rules


def _turn(turns: str, cue: Cue, play: Callable[[str], str]) -> str:
    line = play(turns)
    if cue is Cue.THOUGHT:
        return line.removeprefix(THOUGHT).strip() if line.startswith(THOUGHT) else f"{_NEXT}{line}"
    for _ in range(MAX_INNER):
        if not line.startswith(THOUGHT):
            break
        turns += f" {line}\nOK.\n>"
        line = play(turns)
    return line


def _look_back(prompt: str) -> tuple[Learner, HouseholdTask | None, list[str]]:
    """Return the player's belief after a dialogue, the task, and the answers of the game."""
    before, _, after = _ASKED.sub("", prompt).rpartition(_TASK)
    head, *turns = after.replace("\nAction: ", "\n> ").removesuffix("\nAction:").split("\n> ")
    plan, _, situation = before.rpartition("\n\n")
    rules = Rules()
    rules.read(plan)
    learner = Learner(situation, rules)
    answers = []
    for turn in turns:
        action, _, answered = turn.partition("\n")
        learner.hear(action, answered)
        answers.append(answered)
    return learner, read_task(head.partition("\n")[0]), answers


def _reflection(cue: Cue, learner: Learner, answers: Sequence[str]) -> str:
    """Return a reflection on an episode, on one line, so that an update can tell it from others."""
    seen = Rules()
    said: list[str] = []
    for answered in answers:
        seen.see(answered)
        said += [f"I found a {thing} in the {place}." for thing, place in _TAKEN.findall(answered)]
        said += [f"I could {treatment} it with the {place}." for treatment, place in _TREATED.findall(answered)]
    if cue is Cue.SUMMARY:
        said += [OPEN] if learner.rules.opens and any("You open the" in answered for answered in answers) else []
        return " ".join(said) or "I looked around and found nothing."
    rules = " ".join(seen.lines())
    if cue is Cue.FLAWS:
        return f"I did not know this before: {rules}" if rules else "I do not know of any."
    return f"Add to the plan: {rules}" if rules else "Leave the plan as it is."
