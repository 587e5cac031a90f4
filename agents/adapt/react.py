"""ReAct: a model that thinks aloud and acts, turn by turn.

Source: Yao et al., ReAct: Synergizing Reasoning and Acting in Language Models, 2023; as the executor of ADaPT
(Prasad et al. 2023), which also plans and retries around it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from textcraft_gym.agents.contract.agent import Dialogue, Message, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.prompts import Prompts, Template

COMPLETED = "task completed"
FAILED = "task failed"
THOUGHTS = ("think:", "think[")
MAX_LINE = 2000


@dataclass(frozen=True)
class Executor:
    """Attempts one task: asks for a line a turn, and plays it or takes it as a thought.

    Attributes:
        prompt: What every turn begins with.
        profile: Says what a dead turn is, how many of them one bears, and how long a line may be.
        turns: The most turns.
    """

    prompt: Template
    profile: GameProfile
    turns: int

    def attempt(
        self,
        play: Play,
        task: str,
        situation: str,
        information: str = "",
        *,
        depth: int = 1,
        temperature: float = 0.0,
        sample: int = 0,
        lines: list[str] | None = None,
    ) -> Generator[Request, Any, bool]:
        """Attempt a task and return whether the model says that it is done; at the end of its turns it is not.

        Each turn is added to ``lines`` as it is taken, for whoever must read them also when the episode ends here.
        """
        prompt = self.prompt.fill(situation=situation, task=task, information=information)
        dialogue = Dialogue(prompt, [Message("user", prompt)])
        with play.sub(task, "executor", depth) as node:
            node.outcome = yield from self._turns(play, dialogue, temperature, sample, [] if lines is None else lines)
            return node.outcome

    def _turns(
        self, play: Play, dialogue: Dialogue, temperature: float, sample: int, lines: list[str]
    ) -> Generator[Request, Any, bool]:
        dead_turns = 0
        for _ in range(self.turns):
            completion = yield from play.ask(
                dialogue,
                stop=("\n",),
                max_tokens=self.profile.executor_tokens,
                temperature=temperature,
                sample=sample,
            )
            line = _first_line(completion.text)
            lines.append(f"> {line}")
            lower = line.lower()
            if COMPLETED in lower or FAILED in lower:
                play.note(line)
                return COMPLETED in lower
            if lower.startswith(THOUGHTS):
                play.note(line)
                observation = "OK."
            else:
                observation = (yield from play.act(line)).observation
            lines.append(observation)
            dead_turns = dead_turns + 1 if observation.startswith(self.profile.dead) else 0
            if dead_turns >= self.profile.patience:
                return False
            dialogue = dialogue.extended(
                f" {line}\n{observation}\n>", Message("assistant", line), Message("user", observation)
            )
        return False


class ReActAgent:
    """One attempt at the whole task.

    Args:
        profile: The game.
        prompts: Where the prompt ``react`` is from.
        turns: The most turns, thoughts among them.
        patience: So many dead turns one after the other end the attempt.
        max_tokens: The most tokens a turn.

    Raises:
        ValueError: If a number is less than 1.
        PromptError: If a prompt cannot be read.
    """

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        turns: int | None = None,
        patience: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.profile = profile.with_options(react_turns=turns, patience=patience, executor_tokens=max_tokens)
        self.max_steps = profile.max_steps
        prompt = (prompts or Prompts()).of("react", profile.game)
        self.executor = Executor(prompt, self.profile, self.profile.react_turns)

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        return (yield from self.executor.attempt(play, task, situation))


def _first_line(text: str) -> str:
    """Not every model stops where it is asked to."""
    return (text.strip().splitlines() or [""])[0][:MAX_LINE].strip().removeprefix(">").strip()
