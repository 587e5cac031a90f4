"""Try-Again: whole trials until one is won; the best trial is scored.

Source: the baseline "Try Again" of Prasad et al. 2023.
"""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from textcraft_gym.agents.adapt.react import EXECUTOR, Demonstrations, ExecutorForm, make_executor
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import true_or_false


class TryAgainAgent:
    """ReAct in trials, the first one greedy, later ones sampled.

    It claims what it claimed in the last trial.

    Args:
        profile: The game to play.
        prompts: Source of the prompt ``react``.
        temperature: Temperature of the trials after the first.
        trust_claims: Whether the model's own claim of success ends the trials, too, and not only
            the environment's.
        demonstrations, form: As in ``ReActAgent``.
        settings: ``d_max`` is the maximum number of trials, named as in the paper, where it equals
            ADaPT's depth; ``turns``, ``patience`` and ``max_tokens`` bound one trial.
    """

    uses: ClassVar[tuple[str, ...]] = (*EXECUTOR, "d_max")

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        demonstrations: Demonstrations = "hybrid",
        form: ExecutorForm | None = None,
        temperature: float = 0.7,
        trust_claims: bool = False,
        settings: Settings | None = None,
    ) -> None:
        if type(temperature) not in (int, float) or not 0 <= temperature <= 2:
            raise ValueError(f"expected a temperature from 0 to 2, got {temperature!r}")
        true_or_false("trust_claims", trust_claims)
        self.profile = profile
        self.settings = settings_for("try_again", profile.name, settings)
        self.temperature = temperature
        self.trust_claims = trust_claims
        self.max_steps = profile.max_steps
        self.executor = make_executor(
            prompts or Prompts(),
            profile,
            self.settings,
            demonstrations,
            form,
        )

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        claimed: bool | None = None
        with suppress(EpisodeOver):  # the budget was spent before another trial
            for trial in range(self.settings.d_max):
                if trial:
                    yield from play.reset()
                # As in the paper, the first trial is greedy: it is ReAct's own.
                temperature = self.temperature if trial else 0.0
                claimed, won = yield from self.executor.trial(
                    play,
                    task,
                    situation,
                    temperature=temperature,
                    sample=trial,
                )
                # The paper scores the best trial: a false claim must not end them.
                if won or (self.trust_claims and claimed):
                    break
        return claimed
