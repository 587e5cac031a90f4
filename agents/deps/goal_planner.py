"""The base of planners of goals: a dialogue, and goals that the game's controller pursues."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.model import Message
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.deps.selector import (
    TAU,
    candidates,
    choose,
    default_selector,
    make_selector,
)
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import UnknownName, number
from textcraft_gym.goals import Goal, is_reached

TEMPERATURE = 0.7
"""Sampling temperature of the planners in DEPS's program; its paper has the model's default."""
FEEDBACKS = ("terse", "reason")
MAX_DIALOGUE = 40_000
"""Maximum number of characters of a dialogue after the task; its oldest turns are dropped."""


class GoalPlanner:
    """Has a model write goals in a dialogue, and a controller pursue them.

    A subclass says when, in ``episode``.

    Args:
        profile: The game to play; it must have a controller.
        prompts: Source of the prompt ``prompt_name``.
        selector: Strategy that picks the next goal among the possible ones, one of ``SELECTORS``;
            None for the default of the game.
        tau: Temperature of the selector's softmax, in ticks, above 0.
        feedback: What the planner is told of a failed goal: ``terse``, which one it is, or
            ``reason``, why as well; None for the default of the game's controller.
        temperature: Sampling temperature of the plans, 0 to 2.
        settings: ``planner_tokens`` bounds a plan.

    Attributes:
        name: The agent's name in ``agents.defaults``.
        prompt_name: The prompt that begins the dialogue.
        uses: The fields of ``Settings`` that it uses.

    Raises:
        ValueError: If a number is out of bounds, there is no such selector, or the game has no
            controller.
    """

    name: ClassVar[str]
    prompt_name: str
    uses: ClassVar[tuple[str, ...]] = ("planner_tokens",)

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        selector: str | None = "fixed",
        tau: float = TAU,
        feedback: str | None = None,
        temperature: float = TEMPERATURE,
        settings: Settings | None = None,
    ) -> None:
        if profile.controller is None:
            raise ValueError(f"there is no controller for the game {profile.name}")
        prompts = prompts or Prompts()
        self.profile = profile
        self.settings = settings_for(self.name, profile.name, settings)
        self.max_steps = profile.max_steps
        self.prompt = prompts.of(self.prompt_name, profile.name)
        self.controller = profile.controller(prompts)
        self.selector = make_selector(
            selector or default_selector(self.controller, profile.name),
            self.controller,
            profile.name,
        )
        number("tau", tau)
        if not 0 < tau < math.inf:
            raise ValueError(f"expected a tau above 0, got {tau!r}")
        self.tau = tau
        self.feedback = self.controller.feedback if feedback is None else feedback
        if self.feedback not in FEEDBACKS:
            raise UnknownName.of("feedback", feedback, FEEDBACKS)
        if type(temperature) not in (int, float) or not 0 <= temperature <= 2:
            raise ValueError(f"expected a temperature from 0 to 2, got {temperature!r}")
        self.temperature = temperature
        self.env_args = {**self.controller.env_args, **self.selector.env_args}

    def begin(self, play: Play) -> Generator[Request, Any, tuple[str, list[Message]]]:
        """Return the task, and the dialogue with the planner that begins with it."""
        situation, task = self.profile.read(play.first.observation)
        scene = yield from self.controller.look(play)
        prompt = self.prompt.fill(situation=situation, task=task, information=scene.inventory_text)
        return task, [Message("user", prompt)]

    def say(
        self,
        play: Play,
        dialogue: list[Message],
        task: str,
        role: str = "planner",
        max_tokens: int | None = None,
    ) -> Generator[Request, Any, str]:
        """Return the model's next answer in the dialogue, and append it."""
        with play.sub(task, role, 1):
            completion = yield from play.ask(
                _bounded(dialogue),
                role=role,
                max_tokens=max_tokens or self.settings.planner_tokens,
                temperature=self.temperature,
                sample=len(dialogue) // 2,  # a different one for each answer
            )
            play.note(completion.text)
        dialogue.append(Message("assistant", completion.text))
        return completion.text

    def select(
        self,
        play: Play,
        pending: Mapping[int, Goal],
        scene: Scene,
        uniform: float,
    ) -> tuple[int, Goal]:
        """Return the number of the goal to pursue next, and its chosen alternative.

        Args:
            play: The episode.
            pending: The goals that are left, by number.
            scene: The current observation.
            uniform: A draw from [0, 1), by which the selector samples.
        """
        alternatives = {
            step: self.controller.alternatives(goal, scene) for step, goal in pending.items()
        }
        possible = candidates(alternatives, scene.held)
        info = play.last.info

        def horizons(goals: Sequence[Goal]) -> Sequence[float]:
            return self.selector.horizons(goals, scene, info)

        return choose(possible, horizons, uniform, self.tau)

    def pursue(
        self,
        play: Play,
        goal: Goal,
        scene: Scene,
    ) -> Generator[Request, Any, str | None]:
        """Pursue a goal unless it is reached; return why it failed, None if it was reached."""
        reason = None
        with play.sub(goal.line, "executor", 1) as node:
            if not is_reached(goal, scene.held):
                reason = yield from self.controller.pursue(play, goal, scene)
            node.outcome = reason is None
        return reason


def _bounded(dialogue: list[Message]) -> list[Message]:
    """Return a dialogue, without its oldest turns if it is too long; the task stays."""
    first, *rest = dialogue
    # The last answer and the reply to it stay: they are what the next answer is about.
    while len(rest) > 2 and sum(len(message.content) for message in rest) > MAX_DIALOGUE:
        rest = rest[2:]  # an answer of the model and the reply to it
    return [first, *rest]
