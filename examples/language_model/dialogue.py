"""Training examples: a situation, and several dialogues about it that do not see one another."""

from __future__ import annotations

from typing import NamedTuple

from textcraft_gym.agents.prompts import Template


class Span(NamedTuple):
    """A piece of a dialogue, and whether the model learns to write it."""

    text: str
    learnt: bool


class Branch(NamedTuple):
    """One dialogue, from the end of the situation on.

    Attributes:
        kind: What it teaches, such as ``goal``, ``sub-task`` or ``plan``.
        spans: Its text in pieces.
        end: Whether the model learns to end its text after it, as after a plan; a turn ends with its line.
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

    def fits(self, turns: int, patience: int, no_op: tuple[str, ...]) -> bool:
        """Return whether an agent with so many turns, and patience with answers that are no-ops, comes to its end."""
        dead = longest = 0
        for span in self.spans[2::2]:
            dead = dead + 1 if span.text.startswith(no_op) else 0
            longest = max(longest, dead)
        return len(self.spans) // 2 <= turns and longest < patience

    def branch(self, kind: str) -> Branch:
        """Return the dialogue."""
        return Branch(kind, tuple(self.spans))


def completion(kind: str, prompt: str, text: str) -> Branch:
    """Return a prompt and its completion, such as a plan, after which the model ends its text."""
    begun = text if text.startswith(" ") else f"\n{text}"
    return Branch(kind, (Span(prompt, False), Span(begun, True)), end=True)


def after_situation(template: Template, situation: str, **values: str) -> str:
    """Return the rest of a prompt that begins with a situation."""
    return template.fill(situation=situation, **values).removeprefix(situation)
