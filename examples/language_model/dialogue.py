"""Training examples: a situation, and several dialogues about it that do not see one another."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar, NamedTuple

from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.prompts import Prompts, Template

PLANNERS = {"plan": "adapt", "full plan": "plan_and_execute", "reflection": "reflexion"}
"""The agent that asks for each kind of completion; other dialogues are a ReAct executor's."""


LONGEST = 3400
"""Maximum number of characters of an example of several dialogues: about 1,200 tokens."""
LONGEST_REFLECTION = 650
"""Maximum number of characters of a reflection: Reflexion cuts one off at 256 tokens."""


class Span(NamedTuple):
    """A piece of a dialogue, and whether the model learns to write it."""

    text: str
    learnt: bool


class Branch(NamedTuple):
    """One dialogue, from the end of the situation on.

    Attributes:
        kind: What it teaches, such as ``goal``, ``sub-task`` or ``plan``.
        spans: Its text in pieces.
        end: Whether the model learns to end its text after it, as after a plan; a turn ends with
            its line.
    """

    kind: str
    spans: tuple[Span, ...]
    end: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(span.text for span in self.spans)


class Example(NamedTuple):
    """A situation, which all branches begin with, so that it is computed once for all of them."""

    situation: str
    branches: tuple[Branch, ...]


class Writer:
    """Writes a dialogue in the form in which an executor's prompt grows, turn by turn.

    Args:
        prompt: The executor's prompt from the end of the situation on.
    """

    def __init__(self, prompt: str) -> None:
        self.spans = [Span(prompt, False)]

    @property
    def answer(self) -> str:
        """The last answer."""
        return self.spans[-1].text.removesuffix("\n>")

    def turn(self, line: str, answer: str | None, *, learnt: bool = True) -> None:
        """Add a line of the player and its answer; None after the last line."""
        self.spans.append(Span(f" {line}\n", learnt))
        if answer is not None:
            self.spans.append(Span(f"{answer}\n>", False))

    @property
    def transcript(self) -> str:
        """The turns as an agent keeps them."""
        lines, answers = self.spans[1::2], self.spans[2::2]
        turns = [f"> {line.text.strip()}" for line in lines]
        for at, answer in enumerate(answers):
            turns[at] += "\n" + answer.text.removesuffix("\n>")
        return "\n".join(turns)


class Situation(ABC):
    """The beginning of the dialogues of an example; each world says what can be asked about it.

    Args:
        observation: The first observation of an episode.

    Attributes:
        profile: How agents read the world.
        text: The situation.
        sentence: The task.
    """

    profile: ClassVar[GameProfile]

    def __init__(self, observation: str) -> None:
        self.text, self.sentence = self.profile.read(observation)

    @classmethod
    def examples(cls, seed: int) -> Iterator[Example]:
        """Yield examples without end; the same seed gives the same ones."""
        rng = random.Random(f"{cls.profile.name}/{seed}")
        for situation in cls.drawn(rng):
            example = situation.example(rng)
            if example.branches:
                yield example

    @classmethod
    @abstractmethod
    def drawn(cls, rng: random.Random) -> Iterator[Situation]:
        """Yield situations for training without end."""

    @abstractmethod
    def example(self, rng: random.Random) -> Example:
        """Return dialogues about the situation."""

    def filled(
        self,
        kinds: Mapping[Callable[[random.Random], Iterable[Branch | None]], float],
        rng: random.Random,
        *,
        shortest: int,
        longest: int = LONGEST,
    ) -> Example:
        """Return dialogues of kinds that are drawn until there is no more room.

        Args:
            kinds: What makes the dialogues of each kind, and its weight.
            rng: Draws the kinds and their dialogues.
            shortest: The number of characters that a dialogue needs at least.
            longest: The maximum number of characters of the first dialogue with its situation;
                others share its example where there is room.
        """
        weights = dict(kinds)
        used = len(self.text)
        branches: dict[Branch, None] = {}
        while weights and used + shortest < LONGEST:
            (drawn,) = rng.choices([*weights], [*weights.values()])
            del weights[drawn]
            for branch in drawn(rng):
                room = LONGEST if branches else longest
                if branch is None or branch in branches:
                    continue
                if used + len(branch.text) <= room:
                    used += len(branch.text)
                    branches[branch] = None
        return Example(self.text, tuple(branches))

    def prompt(
        self, task: str, information: str = "", *, agent: str = "react", transcript: str = ""
    ) -> str:
        """Return an agent's prompt from the end of the situation on."""
        values = {"task": task, "information": information, "transcript": transcript}
        return after_situation(self.template(agent), self.text, **values)

    def completion(
        self, kind: str, task: str, text: str, *, information: str = "", transcript: str = ""
    ) -> Branch:
        """Return what a planner is asked, and its completion."""
        prompt = self.prompt(task, information, agent=PLANNERS[kind], transcript=transcript)
        return completion(kind, prompt, text)

    def reflection_of(
        self, transcript: str, text: str, earlier: Sequence[str] = ()
    ) -> Branch | None:
        """Return the reflection on a failed trial; None if it is too long.

        Args:
            transcript: The trial.
            text: What is learnt.
            earlier: What was learnt from the trials before.
        """
        if len(text) > LONGEST_REFLECTION:
            return None
        return self.completion(
            "reflection",
            self.sentence,
            f" {text}",
            information=remembered(earlier),
            transcript=transcript,
        )

    @classmethod
    def template(cls, agent: str) -> Template:
        """Return an agent's short prompt."""
        return _template(agent, cls.profile.name)


def completion(kind: str, prompt: str, text: str) -> Branch:
    """Return a prompt and its completion, such as a plan, after which the model ends its text."""
    begun = text if text.startswith(" ") else f"\n{text}"
    return Branch(kind, (Span(prompt, False), Span(begun, True)), end=True)


def remembered(reflections: Sequence[str]) -> str:
    """Return what a trial reads of what was learnt before, as Reflexion writes it."""
    return "\n\n".join(f"From an earlier trial: {reflection}" for reflection in reflections)


def after_situation(template: Template, situation: str, **values: str) -> str:
    """Return the rest of a prompt that begins with a situation."""
    return template.fill(situation=situation, **values).removeprefix(situation)


def numbered(steps: Iterable[str]) -> str:
    """Return a plan as text; its steps are taken in their order, which need not be said."""
    return "\n".join(f"Step {number}: {step}" for number, step in enumerate(steps, 1))


@cache
def _template(agent: str, game: str) -> Template:
    return Prompts("short").of(agent, game)
