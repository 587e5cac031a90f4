"""Plan-and-Execute: one detailed plan, whose steps are attempted and never decomposed further.

Source: the baseline of Prasad et al. 2023, after Wang et al., Plan-and-Solve Prompting, 2023.
"""

from __future__ import annotations

from typing import ClassVar

from textcraft_gym.agents.adapt.planner import Planner, follow
from textcraft_gym.agents.adapt.react import EXECUTOR, Demonstrations, ExecutorForm, make_executor
from textcraft_gym.agents.adapt.steps import StepExecutor
from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.skill import Known
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.prompts import Prompts


class PlanAndExecuteAgent:
    """Plans once, and gives up at the first failure for which the plan has no alternative.

    Args:
        profile: The game to play.
        prompts: Source of the prompts ``react`` and ``plan_and_execute``.
        demonstrations, form: As in ``ReActAgent``.
        settings: ``turns``, ``patience`` and ``max_tokens`` bound one step of the plan,
            ``planner_tokens`` the plan.
    """

    uses: ClassVar[tuple[str, ...]] = (*EXECUTOR, "planner_tokens")

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        demonstrations: Demonstrations = "hybrid",
        form: ExecutorForm | None = None,
        settings: Settings | None = None,
    ) -> None:
        prompts = prompts or Prompts()
        self.profile = profile
        self.settings = settings_for("plan_and_execute", profile.name, settings)
        self.max_steps = profile.max_steps
        executor = make_executor(prompts, profile, self.settings, demonstrations, form)
        self.steps = StepExecutor(executor, profile, profile.adapt.skills(prompts))
        self.planner = Planner(
            prompts.of("plan_and_execute", profile.name),
            self.settings.planner_tokens,
        )

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        known = Known(situation)
        plan = yield from self.planner.plan(
            play,
            task,
            situation,
            "",
            depth=1,
        )
        return (
            yield from follow(
                play,
                plan,
                known,
                2,
                lambda step: self.steps.attempt(play, step, known, depth=2),
            )
        )
