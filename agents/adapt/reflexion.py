"""Reflexion: after a failed trial the model writes a reflection, which later trials read.

Source: Shinn et al., Reflexion: Language Agents with Verbal Reinforcement Learning, 2023; in the
form of Prasad et al. 2023.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import Any, ClassVar

from textcraft_gym.agents.adapt.react import EXECUTOR, Demonstrations, ExecutorForm, make_executor
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import at_least, true_or_false

MAX_TRANSCRIPT = 20_000
"""Maximum number of characters of a trial that its reflection reads: the last ones."""
MAX_REFLECTION = 4000
"""Maximum number of characters of a reflection that later trials read: the first ones."""


class ReflexionAgent:
    """ReAct in trials; after a failed one the model writes a reflection for later trials.

    It claims what it claimed in the last trial.

    Args:
        profile: The game to play.
        prompts: Source of the prompts ``react`` and ``reflexion``.
        memory: Number of the latest reflections that a trial reads.
        reflection_tokens: Maximum number of tokens of a reflection.
        trust_claims: Whether the model's own claim of success ends the trials, too, and not only
            the environment's.
        demonstrations, form: As in ``ReActAgent``.
        settings: ``d_max`` is the maximum number of trials, named as in ADaPT's paper, where it
            equals ADaPT's depth; ``turns``, ``patience`` and ``max_tokens`` bound one trial.
    """

    uses: ClassVar[tuple[str, ...]] = (*EXECUTOR, "d_max")

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        demonstrations: Demonstrations = "hybrid",
        form: ExecutorForm | None = None,
        # The paper's memory, and the tokens of its program.
        memory: int = 3,
        reflection_tokens: int = 256,
        trust_claims: bool = False,
        settings: Settings | None = None,
    ) -> None:
        at_least("memory", memory, 0)
        at_least("reflection_tokens", reflection_tokens, 1)
        true_or_false("trust_claims", trust_claims)
        prompts = prompts or Prompts()
        self.profile = profile
        self.settings = settings_for("reflexion", profile.name, settings)
        self.memory = memory
        self.reflection_tokens = reflection_tokens
        self.trust_claims = trust_claims
        self.max_steps = profile.max_steps
        self.executor = make_executor(prompts, profile, self.settings, demonstrations, form)
        self.reflection = prompts.of("reflexion", profile.name, needs=("transcript",))

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        reflections: list[str] = []
        claimed: bool | None = None
        with suppress(EpisodeOver):  # the budget was spent before another trial
            for trial in range(self.settings.d_max):
                if trial:
                    yield from play.reset()
                # Act
                lines: list[str] = []
                learned = self._learned(reflections)
                claimed, won = yield from self.executor.trial(
                    play,
                    task,
                    situation,
                    learned,
                    lines=lines,
                )

                # Evaluate
                # By the environment's word, as in the released program: a false claim must not end
                # the trials.
                if won or (self.trust_claims and claimed):
                    break

                # Reflect, but not on the last trial: nobody would read it
                is_last = trial + 1 == self.settings.d_max
                if not is_last:
                    prompt = self.reflection.fill(
                        situation=situation,
                        task=task,
                        information=learned,
                        transcript="\n".join(lines)[-MAX_TRANSCRIPT:],
                    )
                    reflections.append((yield from self._reflect(play, task, prompt)))
        return claimed

    def _reflect(
        self,
        play: Play,
        task: str,
        prompt: str,
    ) -> Generator[Request, Any, str]:
        with play.sub(task, "reflection", 1):
            completion = yield from play.ask(
                prompt,
                role="reflection",
                max_tokens=self.reflection_tokens,
            )
            play.note(completion.text)
        return completion.text.strip()[:MAX_REFLECTION]

    def _learned(self, reflections: list[str]) -> str:
        latest = reflections[max(0, len(reflections) - self.memory) :]
        return "\n\n".join(f"From an earlier trial: {reflection}" for reflection in latest)
