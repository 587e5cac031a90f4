"""DEPS: describe, explain, plan, select.

A whole plan is written at once. Its goals are pursued one by one, the nearest first among those that can be; where one
fails, what happened is described, the model explains it, and plans anew, with the whole dialogue in view.

Source: Wang et al., Describe, Explain, Plan and Select: Interactive Planning with Large Language Models Enables
Open-World Multi-Task Agents, 2023.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from textcraft_gym.agents.agent import Message, Play, Request, Routine
from textcraft_gym.agents.crafting import told
from textcraft_gym.agents.games import DEFAULT, Playbook
from textcraft_gym.agents.goals import Goal, is_reached
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.select import candidates

MAX_DIALOGUE = 40_000
"""Characters of a dialogue that is gone on with; of a longer one the middle is left out."""
EXPLANATION_TOKENS = 200
WHY = "Why did it fail? Explain in a sentence or two."
REPLAN = 'Mend this: from what is held now, write a whole new plan for the task "{task}".'


@dataclass
class Progress:
    """How far a plan got.

    Attributes:
        goals: The plan, by number.
        reached: The numbers of the goals that were reached, in that order.
        failed: The number of the goal that was not, and why; None if all were.
    """

    goals: dict[int, Goal]
    reached: list[int] = field(default_factory=list)
    failed: tuple[int, str] | None = None


class DEPSAgent:
    """Plans whole, and anew after each failure.

    Args:
        playbook: The game; it must have a controller.
        prompts: Where the prompt ``deps`` is from.
        rounds: How often it plans anew at most.
        selector: ``fixed`` for the order of the plan, ``random`` for any that can be pursued.
        planner_tokens: The most tokens of a plan.

    Raises:
        ValueError: If a number is less than it may be, there is no such selector, or the game has no goals.
    """

    def __init__(
        self,
        playbook: Playbook = DEFAULT,
        prompts: Prompts | None = None,
        *,
        rounds: int = 8,
        selector: Literal["fixed", "random"] = "fixed",
        planner_tokens: int | None = None,
    ) -> None:
        if type(rounds) is not int or rounds < 0:
            raise ValueError(f"expected rounds of 0 or more, got {rounds!r}")
        if selector not in ("fixed", "random"):
            raise ValueError(f"expected selector to be fixed or random, got {selector!r}")
        if playbook.controller is None:
            raise ValueError(f"DEPS has no controller for the game {playbook.game}")
        prompts = prompts or Prompts()
        self.playbook = playbook.with_options(planner_tokens=planner_tokens)
        self.rounds = rounds
        self.selector = selector
        self.max_steps = playbook.max_steps
        self.prompt = prompts.of("deps", playbook.game)
        self.controller = playbook.controller(prompts)
        self.env_args = self.controller.env_args

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.playbook.read(play.first.observation)
        held = yield from self.controller.stock(play)
        dialogue = [Message("user", self.prompt.fill(situation=situation, task=task, information=told(held)))]
        for round_ in range(self.rounds + 1):
            plan = yield from self._say(play, dialogue, task, "planner", self.playbook.planner_tokens)
            progress = yield from self._execute(play, self.controller.goals(plan))
            if progress.goals and progress.failed is None:
                return True
            if round_ < self.rounds:
                held = yield from self.controller.stock(play)
                dialogue.append(Message("user", f"{describe(progress, held)}\n{WHY}"))
                yield from self._say(play, dialogue, task, "explainer", EXPLANATION_TOKENS)
                dialogue.append(Message("user", REPLAN.format(task=task)))
        return False

    def _say(
        self, play: Play, dialogue: list[Message], task: str, role: str, max_tokens: int
    ) -> Generator[Request, Any, str]:
        """Have the model go on with the dialogue, and add what it says."""
        with play.sub(task, role, 1):
            completion = yield from play.ask(_bounded(dialogue), role=role, max_tokens=max_tokens)
            play.note(completion.text)
        dialogue.append(Message("assistant", completion.text))
        return completion.text

    def _execute(self, play: Play, goals: list[Goal]) -> Generator[Request, Any, Progress]:
        """Pursue the goals of a plan up to the first that fails."""
        number = random.Random(play.seed)
        progress = Progress(dict(enumerate(goals, 1)))
        pending = dict(progress.goals)
        while pending:
            held = yield from self.controller.stock(play)
            can = candidates(pending, held)
            step = number.choice(can) if self.selector == "random" else can[0]
            goal = pending.pop(step)
            with play.sub(goal.line, "executor", 1) as node:
                reason = None if is_reached(goal, held) else (yield from self.controller.pursue(play, goal, held))
                node.outcome = reason is None
            if reason is not None:
                progress.failed = step, reason
                break
            progress.reached.append(step)
        return progress


def describe(progress: Progress, held: Mapping[str, int]) -> str:
    """Say how far a plan got and what is held."""
    said = [f"I succeeded on step {', '.join(map(str, progress.reached))}."] if progress.reached else []
    if not progress.goals:
        said.append("I found no step in that.")
    if progress.failed:
        step, reason = progress.failed
        said.append(f'I failed on step {step} "{progress.goals[step].line}": {reason}')
    return f"{' '.join(said)}\n{told(held)}"


def _bounded(dialogue: list[Message]) -> list[Message]:
    """Return a dialogue without its oldest rounds, where it is too long; the task stays."""
    first, *rest = dialogue
    while len(rest) > 4 and sum(len(message.content) for message in rest) > MAX_DIALOGUE:
        rest = rest[4:]  # a plan, what came of it, why, and that it is to be mended
    return [first, *rest]
