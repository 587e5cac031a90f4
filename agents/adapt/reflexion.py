"""Reflexion: after a trial that failed, the model says what went wrong, and reads that in the next.

Source: Shinn et al., Reflexion: Language Agents with Verbal Reinforcement Learning, 2023; in the form of Prasad et al.
2023.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from textcraft_gym.agents.adapt.react import Executor
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.prompts import Prompts

MAX_TRANSCRIPT = 20_000
"""Characters of a trial that its reflection reads, the last ones."""
MAX_REFLECTION = 4000
"""Characters of a reflection that later trials read, the first ones."""


class ReflexionAgent:
    """ReAct in trials, between which the agent learns in words.

    Args:
        profile: The game.
        prompts: Where the prompts ``react`` and ``reflexion`` are from.
        d_max: The most trials; named as in ADaPT's paper, where it equals ADaPT's depth.
        memory: How many of the last reflections a trial reads.
        reflection_tokens: The most tokens of a reflection.
        turns, patience, max_tokens: The profile's ``react_turns``, ``patience`` and ``executor_tokens``.
    """

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        d_max: int | None = None,
        memory: int = 3,
        reflection_tokens: int = 256,
        turns: int | None = None,
        patience: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        if type(memory) is not int or memory < 0:
            raise ValueError(f"expected memory of 0 or more, got {memory!r}")
        if type(reflection_tokens) is not int or reflection_tokens < 1:
            raise ValueError(f"expected reflection_tokens of 1 or more, got {reflection_tokens!r}")
        prompts = prompts or Prompts()
        self.profile = profile.with_options(
            d_max=d_max, react_turns=turns, patience=patience, executor_tokens=max_tokens
        )
        self.memory = memory
        self.reflection_tokens = reflection_tokens
        self.max_steps = profile.max_steps
        self.executor = Executor(prompts.of("react", profile.game), self.profile, self.profile.react_turns)
        self.reflection = prompts.of("reflexion", profile.game, needs=("transcript",))

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        reflections: list[str] = []
        for trial in range(self.profile.d_max):
            if trial:
                yield from play.reset()
            lines: list[str] = []
            learned = self._learned(reflections)
            try:
                succeeded = yield from self.executor.attempt(play, task, situation, learned, lines=lines)
            except EpisodeOver as over:
                succeeded = over.won
            if succeeded:
                return True
            if trial + 1 < self.profile.d_max:
                prompt = self.reflection.fill(
                    situation=situation, task=task, information=learned, transcript="\n".join(lines)[-MAX_TRANSCRIPT:]
                )
                reflections.append((yield from self._reflect(play, task, prompt)))
        return False

    def _reflect(self, play: Play, task: str, prompt: str) -> Generator[Request, Any, str]:
        with play.sub(task, "reflection", 1):
            completion = yield from play.ask(prompt, role="reflection", max_tokens=self.reflection_tokens)
            play.note(completion.text)
        return completion.text.strip()[:MAX_REFLECTION]

    def _learned(self, reflections: list[str]) -> str:
        latest = reflections[-self.memory :] if self.memory else []
        return "\n\n".join(f"From an earlier trial: {reflection}" for reflection in latest)
