"""What planners of goals share: a dialogue with the planner, and the pursuit of its plan by the game's controller."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from textcraft_gym.agents.contract.agent import Message, Play, Request
from textcraft_gym.agents.contract.controller import Scene
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.goals import Goal, is_reached
from textcraft_gym.agents.deps.selectors import candidates, choose, make_selector
from textcraft_gym.agents.prompts import Prompts

MAX_DIALOGUE = 40_000
"""Characters of a dialogue that is gone on with; of a longer one the oldest rounds are left out."""
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

    @property
    def done(self) -> bool:
        """Whether there was a plan and all of it was reached."""
        return bool(self.goals) and self.failed is None


class GoalPlanner:
    """A planner of goals in one game.

    Args:
        profile: The game; it must have a controller.
        prompts: Where the prompts are from.
        prompt: The name of the planner's.
        selector: Which of the goals that can be pursued is: a name of ``SELECTORS``.
        planner_tokens: The most tokens of a plan.

    Raises:
        ValueError: If a number is less than it may be, there is no such selector, or the game has no controller.
    """

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        prompt: str,
        selector: str = "fixed",
        planner_tokens: int | None = None,
    ) -> None:
        if profile.controller is None:
            raise ValueError(f"there is no controller for the game {profile.game}")
        prompts = prompts or Prompts()
        self.profile = profile.with_options(planner_tokens=planner_tokens)
        self.max_steps = profile.max_steps
        self.prompt = prompts.of(prompt, profile.game)
        self.controller = profile.controller(prompts)
        self.selector = make_selector(selector, self.controller, profile.game)
        self.env_args = {**self.controller.env_args, **self.selector.env_args}

    def begin(self, play: Play) -> Generator[Request, Any, tuple[str, list[Message]]]:
        """Return the task, and the dialogue with the planner that begins with it."""
        situation, task = self.profile.read(play.first.observation)
        scene = yield from self.controller.look(play)
        return task, [Message("user", self.prompt.fill(situation=situation, task=task, information=scene.told))]

    def say(
        self, play: Play, dialogue: list[Message], task: str, role: str = "planner", max_tokens: int | None = None
    ) -> Generator[Request, Any, str]:
        """Have the model go on with the dialogue, and add what it says."""
        with play.sub(task, role, 1):
            limit = max_tokens or self.profile.planner_tokens
            completion = yield from play.ask(_bounded(dialogue), role=role, max_tokens=limit)
            play.note(completion.text)
        dialogue.append(Message("assistant", completion.text))
        return completion.text

    def execute(self, play: Play, plan: str, chance: random.Random) -> Generator[Request, Any, Progress]:
        """Pursue the goals of a plan up to the first that fails; ``chance`` is for the selector."""
        progress = Progress(dict(enumerate(self.controller.goals(plan), 1)))
        pending = dict(progress.goals)
        while pending:
            scene = yield from self.controller.look(play)
            step, goal = self.select(play, pending, scene, chance.random())
            del pending[step]
            reason = yield from self.pursue(play, goal, scene)
            if reason is not None:
                progress.failed = step, reason
                break
            progress.reached.append(step)
        return progress

    def select(self, play: Play, pending: Mapping[int, Goal], scene: Scene, number: float) -> tuple[int, Goal]:
        """Return the number of the goal to pursue next and the way in which to; ``number`` is drawn by chance."""
        ways = {step: self.controller.alternatives(goal, scene) for step, goal in pending.items()}
        info = play.history[-1][1].info
        can = candidates(ways, scene.held)
        return choose(can, lambda goals: self.selector.horizons(goals, scene, info), number)

    def pursue(self, play: Play, goal: Goal, scene: Scene) -> Generator[Request, Any, str | None]:
        """Pursue a goal, unless it is reached already, and return why it failed; None if it did not."""
        with play.sub(goal.line, "executor", 1) as node:
            is_held = is_reached(goal, scene.held)
            reason = None if is_held else (yield from self.controller.pursue(play, goal, scene))
            node.outcome = reason is None
        return reason

    def describe(self, play: Play, progress: Progress) -> Generator[Request, Any, str]:
        """Say how far a plan got and what is held."""
        said = [f"I succeeded on step {', '.join(map(str, progress.reached))}."] if progress.reached else []
        if not progress.goals:
            said.append("I found no step in that.")
        if progress.failed:
            step, reason = progress.failed
            said.append(f'I failed on step {step} "{progress.goals[step].line}": {reason}')
        scene = yield from self.controller.look(play)
        return f"{' '.join(said)}\n{scene.told}"


def plans(rounds: int | None) -> Iterator[bool]:
    """Yield for each plan whether another may follow: ``rounds`` may, or as many as the episode bears where it is None.

    Raises:
        ValueError: If it is less than 0.
    """
    if rounds is not None and (type(rounds) is not int or rounds < 0):
        raise ValueError(f"expected rounds of 0 or more, got {rounds!r}")
    return repeat(True) if rounds is None else iter([True] * rounds + [False])


def _bounded(dialogue: list[Message]) -> list[Message]:
    """Return a dialogue without its oldest turns, where it is too long; the task stays."""
    first, *rest = dialogue
    while len(rest) > 2 and sum(len(message.content) for message in rest) > MAX_DIALOGUE:
        rest = rest[2:]  # what the model said, and what it was answered
    return [first, *rest]
