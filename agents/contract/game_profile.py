"""What an agent must know of a game that it cannot read in it: a value, chosen by whoever runs the agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Controller
from textcraft_gym.agents.contract.skill import Known, Skill
from textcraft_gym.agents.prompts import Prompts

MAX_DEPTH = 20
"""Far more than any task is deep, and shallow enough for the stack."""

Inform: TypeAlias = Callable[[Play], Generator[Request, Any, str]]
"""Returns what a part that succeeded tells the parts after it."""


def looking(action: str) -> Inform:
    """Tell the answer to an action that looks at the state of the game."""

    def inform(play: Play) -> Generator[Request, Any, str]:
        step = yield from play.act(action)
        return step.observation

    return inform


def last_turn(play: Play) -> Generator[Request, Any, str]:
    """Tell the last action and its answer."""
    yield from ()
    if not play.history:
        return ""
    action, step = play.history[-1]
    return f"The last action was: {action}\n{step.observation}"


def information(play: Play, known: Known) -> str:
    """Tell the planner what executors are told."""
    return known.information


def no_skills(prompts: Prompts) -> tuple[Skill, ...]:
    """Have the executor attempt every step."""
    return ()


@dataclass(frozen=True)
class GameProfile:
    """How agents play one game; the numbers are the paper's, where there is one.

    Attributes:
        game: Names the game's prompts.
        opening: Divides the first observation into the groups ``situation`` and ``task``.
        dead: What the answer to an action that changed nothing begins with.
        patience: So many dead turns one after the other end an executor's attempt.
        executor_turns: The most turns of an attempt at one part of a plan.
        react_turns: The most turns of an attempt at the whole task.
        executor_tokens, planner_tokens: The most tokens of one turn, and of a plan.
        d_max: How deep ADaPT decomposes, and how many trials Try-Again and Reflexion have.
        inform: What a part that succeeded tells the parts after it.
        max_steps: The most actions of an episode; None for the limit that the environment is registered with.
        brief: Returns what ADaPT's planner is told.
        plans_first: Whether ADaPT begins with a plan, where it may make one.
        atomic: What a step begins with that ADaPT never decomposes.
        controller: Makes what pursues the goals of DEPS's plans; None where nothing does.
        task: What to do where the opening does not say.
        skills: Makes what ADaPT attempts some steps with, in place of the executor.
    """

    game: str
    opening: re.Pattern[str]
    dead: tuple[str, ...]
    patience: int
    executor_turns: int
    react_turns: int
    executor_tokens: int
    planner_tokens: int
    d_max: int
    inform: Inform
    max_steps: int | None = None
    brief: Callable[[Play, Known], str] = information
    plans_first: bool = False
    atomic: tuple[str, ...] = ()
    skills: Callable[[Prompts], tuple[Skill, ...]] = no_skills
    controller: Callable[[Prompts], Controller] | None = None
    task: str = "do what the text above asks for"

    def __post_init__(self) -> None:
        for name in ("patience", "executor_turns", "react_turns", "executor_tokens", "planner_tokens", "d_max"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"expected {name} to be a number of 1 or more, got {value!r}")
        if self.d_max > MAX_DEPTH:
            raise ValueError(f"expected d_max in 1..{MAX_DEPTH}, got {self.d_max}")

    def with_options(self, **options: int | None) -> GameProfile:
        """Return this profile with other numbers in the place of those that are given; None keeps one.

        Raises:
            ValueError: If a number is less than 1, or d_max is too large.
        """
        changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        return replace(self, **changes)

    def read(self, observation: str) -> tuple[str, str]:
        """Return situation and task of a first observation; one of another shape is all situation."""
        found = self.opening.fullmatch(observation)
        said = found.groupdict() if found else {"situation": observation}
        return said["situation"], said.get("task", self.task)


DEFAULT = GameProfile(
    game="default",
    opening=re.compile(r"(?P<situation>.*)\n\n(?:Goal|Task|Your task is to): (?P<task>[^\n]*?)\.?", re.DOTALL),
    dead=("OK.", "Nothing happens", "Invalid"),
    patience=8,
    executor_turns=20,
    react_turns=60,
    executor_tokens=150,
    planner_tokens=800,
    d_max=3,
    inform=last_turn,
)
"""The profile of an environment that the suite does not know."""
