"""Game profiles: how an agent reads one game; the caller of the agent chooses one."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from textcraft_gym.agents.contract.attempt import Attempt, Fault, Turn, any_step, no_fault

if TYPE_CHECKING:  # a profile names controllers and skills, and most agents use neither
    from textcraft_gym.agents.contract.agent import Play, Request
    from textcraft_gym.agents.contract.controller import Controller
    from textcraft_gym.agents.contract.skill import Known, Skill
    from textcraft_gym.agents.program.avatar import Avatar
    from textcraft_gym.agents.prompts import Prompts

Report: TypeAlias = "Callable[[Play], Generator[Request, Any, str]]"
"""Returns the report of a successful part of a plan to the parts after it."""


def observation_of(action: str) -> Report:
    """Return a report that plays an action, such as ``inventory``, and reports the observation."""

    def report(play: Play) -> Generator[Request, Any, str]:
        step = yield from play.act(action)
        return step.observation

    return report


def last_turn(*no_op: str) -> Report:
    """Return a report of the last action whose answer does not begin with ``no_op``."""

    def report(play: Play) -> Generator[Request, Any, str]:
        yield from ()  # a report is a generator, though this one plays nothing
        for action, step in reversed(play.history):
            if not step.observation.startswith(no_op):
                return f"The last action was: {action}\n{step.observation}"
        return ""

    return report


def no_skills(prompts: Prompts) -> tuple[Skill, ...]:
    """Have the executor attempt every step."""
    return ()


def no_solution(info: Mapping[str, Any]) -> str:
    """Tell nothing of the solution."""
    return ""


@dataclass(frozen=True)
class ADaPTHooks:
    """The game-specific parts of ADaPT.

    Attributes:
        skills: Makes the skills that attempt some steps instead of the executor, of
            Plan-and-Execute as well.
        brief: Returns what the planner reads besides the situation and the task; None for nothing.
        plans_first: Whether to plan before the first attempt, at level 0, where ``d_max`` allows a
            plan.
        atomic: Prefixes of the steps that are never decomposed.
    """

    skills: Callable[[Prompts], tuple[Skill, ...]] = no_skills
    brief: Callable[[Play, Known], str] | None = None
    plans_first: bool = False
    atomic: tuple[str, ...] = ()


@dataclass(frozen=True)
class GameProfile:
    """How to read one game; the numbers that agents play it with are in ``agents.defaults``.

    Attributes:
        name: Name of the game, its prompts and its defaults.
        opening: Matches the first observation, with the groups ``situation`` and, where it is
            stated, ``task``.
        no_op: Prefixes of the answers to actions that changed nothing.
        final: Matches the actions by which a player declares the task done, such as a purchase;
            None if there are none.
        report: Returns the report of a successful part of a plan to the parts after it.
        reports_state: Whether the report is the state, such as the inventory, so that it is made
            anew after failures.
        default_task: The task if the opening states none.
        max_steps: Maximum number of actions of an episode; None for the limit that the environment
            is registered with.
        controller: Makes the controller that pursues the goals of DEPS's plans; None where there is
            none.
        avatar: What the programs of AdaPlanner steer; None where there is none.
        adapt: The game-specific parts of ADaPT.
        giving_up: Action that an executor of numbered turns plays when these are spent; empty for
            none.
        dialects: Matches what is said in each dialect of the game only; empty for a game without
            dialects.
        partial_credit: Whether an attempt that does a part of the task is rewarded in part.
        groups: Short names of the groups of its tasks, in the order of the papers' tables; empty
            where their own are short.
        solution: Returns what a learner is told of the solution after a training episode, from the
            last info, such as the answer to the question; empty for nothing.
        fault: Returns what was wrong with the end of a lost attempt, as far as its text tells.
        holds: Returns whether a step of a plan is done after some turns; None if they do not tell.
        draw: Returns a random action of what the first observation and some turns show; None where
            their text names no actions.
    """

    name: str
    opening: re.Pattern[str]
    no_op: tuple[str, ...]
    final: re.Pattern[str] | None = None
    report: Report = field(default_factory=last_turn)
    reports_state: bool = False
    default_task: str = "do what the text above asks for"
    max_steps: int | None = None
    controller: Callable[[Prompts], Controller] | None = None
    avatar: type[Avatar] | None = None
    adapt: ADaPTHooks = ADaPTHooks()
    giving_up: str = ""
    partial_credit: bool = False
    dialects: Mapping[str, re.Pattern[str]] = field(default_factory=dict, hash=False)
    groups: Mapping[str, str] = field(default_factory=dict, hash=False)
    solution: Callable[[Mapping[str, Any]], str] = no_solution
    fault: Callable[[Attempt], Fault | None] = no_fault
    holds: Callable[[str, Sequence[Turn]], bool | None] = any_step
    draw: Callable[[str, Sequence[Turn], Random], str] | None = None

    def claim(self, action: str) -> bool | None:
        """Return the claim of an action that ends the episode: True if it declares success."""
        if self.final and self.final.match(action):
            return True
        return None

    def refuses(self, answer: str) -> bool:
        """Return whether an answer refuses an action; one to a thought does not."""
        return answer.startswith(self.no_op) and not answer.startswith("OK.")

    def read(self, observation: str) -> tuple[str, str]:
        """Split a first observation into situation and task.

        One that does not match is all situation.
        """
        match = self.opening.fullmatch(observation)
        if match is None:
            return observation, self.default_task
        groups = match.groupdict()
        return groups["situation"], groups.get("task", self.default_task)

    def dialects_of(self, text: str) -> list[str]:
        """Return the dialects that a text, such as a prompt, speaks."""
        return [dialect for dialect, pattern in self.dialects.items() if pattern.search(text)]


DEFAULT = GameProfile(
    name="default",
    opening=re.compile(
        r"(?P<situation>.*)\n\n(?:Goal|Task|Your task is to): (?P<task>[^\n]*?)\.?",
        re.DOTALL,
    ),
    no_op=("OK.", "Nothing happens", "Invalid"),
    report=last_turn("OK.", "Nothing happens", "Invalid"),
)
"""The profile of a game that the suite does not know."""
