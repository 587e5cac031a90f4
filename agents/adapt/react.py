"""ReAct: a model that thinks aloud and acts, turn by turn.

Source: Yao et al., ReAct: Synergizing Reasoning and Acting in Language Models, 2023; as the executor of ADaPT
(Prasad et al. 2023), which also plans and retries around it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.model import Dialogue, Message
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.prompts import Prompts, Template

COMPLETED = "task completed"
FAILED = "task failed"
THOUGHT = "think:"
THOUGHTS = (THOUGHT, "think[")
"""Prefixes of a line that is a thought, in lower case; it is answered by ``OK.`` and not played."""
Demonstrations: TypeAlias = Literal["atomic", "task", "both"]
"""The examples in an executor's prompt: of single skills, of whole tasks, or of both."""
Form: TypeAlias = Literal["line", "numbered"]
"""What a model writes in a turn: a line, an action or a thought; or a thought and an action with the turn's number."""

MAX_LINE = 2000
"""Maximum number of characters of a line; the rest is cut off."""


class Trial(NamedTuple):
    """The end of an attempt at a whole task.

    Attributes:
        claimed: Whether the model claimed success; None if it was cut off before it could say.
        won: Whether the environment says that the task is done.
    """

    claimed: bool | None
    won: bool


@dataclass(frozen=True)
class Executor:
    """Attempts one task: asks the model for one line a turn, and plays it unless it is a thought.

    Attributes:
        prompt: The head of every prompt; the turns so far follow it.
        profile: Says which answers are no-ops.
        settings: Bounds the turns, the no-op turns in a row and the tokens of a line.
    """

    prompt: Template
    profile: GameProfile
    settings: Settings

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
        """Attempt a task and return whether the model says that it is done; False when the turns are spent.

        Each turn is appended to ``lines`` at once, so that the caller has them even if the episode ends here.
        """
        prompt = self.prompt.fill(situation=situation, task=task, information=information)
        dialogue = Dialogue(prompt, [Message("user", prompt)])
        with play.sub(task, "executor", depth) as node:
            node.outcome = yield from self._turns(play, dialogue, temperature, sample, [] if lines is None else lines)
            return node.outcome

    def trial(
        self,
        play: Play,
        task: str,
        situation: str,
        information: str = "",
        *,
        temperature: float = 0.0,
        sample: int = 0,
        lines: list[str] | None = None,
    ) -> Generator[Request, Any, Trial]:
        """Attempt a whole task up to the model's claim or the end of the episode; the arguments are ``attempt``'s."""
        try:
            claimed = yield from self.attempt(
                play, task, situation, information, temperature=temperature, sample=sample, lines=lines
            )
        except EpisodeOver as over:
            return Trial(over.claim, over.won)
        return Trial(claimed, play.last.won)

    def _turns(
        self, play: Play, dialogue: Dialogue, temperature: float, sample: int, lines: list[str]
    ) -> Generator[Request, Any, bool]:
        dead_turns = 0
        for _ in range(self.settings.turns):
            completion = yield from play.ask(
                dialogue,
                stop=("\n",),
                max_tokens=self.settings.max_tokens,
                temperature=temperature,
                sample=sample,
            )
            line = _first_line(completion.text)
            lines.append(f"> {line}")
            lower = line.lower()
            # Before thoughts: models also announce the end inside one, "think: task completed".
            if COMPLETED in lower or FAILED in lower:
                play.note(line)
                return COMPLETED in lower
            over: EpisodeOver | None = None
            if lower.startswith(THOUGHTS):
                play.note(line)
                observation = "OK."
            else:
                observation, over = yield from self._act(play, line)
            lines.append(observation)
            if over:
                raise over
            dead_turns = dead_turns + 1 if observation.startswith(self.profile.no_op) else 0
            if dead_turns >= self.settings.patience:
                return False
            dialogue = dialogue.extended(
                f" {line}\n{observation}\n>", Message("assistant", line), Message("user", observation)
            )
        return False

    def _act(self, play: Play, action: str) -> Generator[Request, Any, tuple[str, EpisodeOver | None]]:
        """Play an action and return the answer, and the end of the episode if the action brought it."""
        try:
            step = yield from play.act(action, claim=self.profile.claim(action))
        except EpisodeOver as over:
            if over.step.terminated or over.step.truncated:
                return over.step.observation, over
            raise  # a budget was spent before the action was played
        return step.observation, None


class NumberedExecutor(Executor):
    """Attempts one task in numbered turns, each a thought and an action, as ReAct's program for questions does.

    Such a turn counts as two of ``settings.turns``, and patience is without end. An action that the model leaves out
    is asked for in a second call. When the turns are spent, the profile's action of giving up is played.
    """

    def _turns(
        self, play: Play, dialogue: Dialogue, temperature: float, sample: int, lines: list[str]
    ) -> Generator[Request, Any, bool]:
        for turn in range(1, max(1, self.settings.turns // 2) + 1):
            completion = yield from play.ask(
                dialogue.extended(f"\nThought {turn}:"),
                stop=(f"\nObservation {turn}:",),
                max_tokens=self.settings.max_tokens,
                temperature=temperature,
                sample=sample,
            )
            # A chat model begins with the label, which completes the text of the prompt for others.
            written = completion.text.strip().removeprefix(f"Thought {turn}:")
            thought, label, rest = written.partition(f"\nAction {turn}:")
            thought = f"Thought {turn}: {(thought.strip() if label else _first_line(thought))[:MAX_LINE]}"
            if not label:
                completion = yield from play.ask(
                    dialogue.extended(
                        f"\n{thought}\nAction {turn}:",
                        Message("assistant", thought),
                        Message("user", f"Action {turn}:"),
                    ),
                    stop=("\n",),
                    max_tokens=self.settings.max_tokens,
                    temperature=temperature,
                    sample=sample,
                )
                rest = completion.text.strip().removeprefix(f"Action {turn}:")
            action = _first_line(rest)
            play.note(thought)
            said = f"{thought}\nAction {turn}: {action}"
            lines.append(said)
            played = action[:1].lower() + action[1:]
            answer, over = yield from self._act(play, played)
            # Pages of the original's wiki have the two characters where a line was broken.
            observation = f"Observation {turn}: " + answer.replace("\\n", "")
            lines.append(observation)
            if over:
                raise over
            dialogue = dialogue.extended(
                f"\n{said}\n{observation}", Message("assistant", said), Message("user", observation)
            )
        if self.profile.giving_up:
            yield from play.act(self.profile.giving_up, claim=False)
        return False


def make_executor(
    prompts: Prompts,
    profile: GameProfile,
    settings: Settings,
    demonstrations: Demonstrations = "atomic",
    form: Form = "line",
) -> Executor:
    """Return the executor with the prompt ``react/<game>``, or ``react/<game>_task``, ``_both`` or ``_numbered``.

    Raises:
        ValueError: For other demonstrations or another form than these.
        PromptError: If the game has no such prompt; of the suite's games, ALFWorld has demonstrations of each kind, and
            HotpotQA the numbered form.
    """
    if form not in get_args(Form):
        raise ValueError(f"expected form to be line or numbered, got {form!r}")
    if form == "numbered":
        return NumberedExecutor(prompts.of("react", f"{profile.name}_numbered"), profile, settings)
    if demonstrations not in get_args(Demonstrations):
        raise ValueError(f"expected demonstrations to be atomic, task or both, got {demonstrations!r}")
    variant = "" if demonstrations == "atomic" else f"_{demonstrations}"
    return Executor(prompts.of("react", f"{profile.name}{variant}"), profile, settings)


class ReActAgent:
    """One attempt at the whole task.

    Args:
        profile: The game to play.
        prompts: Source of the prompt ``react``.
        demonstrations: The examples in the prompt: ``atomic`` for single skills, ``task`` for whole tasks, or ``both``;
            the executors of ADaPT's figure 5, which ALFWorld has prompts for.
        form: ``line`` for a thought or an action a turn, or ``numbered`` for both with the turn's number, as published
            prompts for questions have them; HotpotQA has a prompt for it, with whole tasks.
        turns: Maximum number of turns, thoughts included; None, here and below, for the default of ``agents.defaults``.
        patience: Consecutive no-op turns after which the attempt ends.
        max_tokens: Maximum number of tokens of one turn.

    Raises:
        ValueError: If a number is less than 1.
        PromptError: If a prompt cannot be read.
    """

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        demonstrations: Demonstrations = "atomic",
        form: Form = "line",
        turns: int | None = None,
        patience: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.profile = profile
        self.settings = settings_for("react", profile.name, turns=turns, patience=patience, max_tokens=max_tokens)
        self.max_steps = profile.max_steps
        self.executor = make_executor(prompts or Prompts(), profile, self.settings, demonstrations, form)

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        return (yield from self.executor.attempt(play, task, situation))


def _first_line(text: str) -> str:
    """Return the first line of a completion; not every model stops at its end."""
    return (text.strip().splitlines() or [""])[0][:MAX_LINE].strip().removeprefix(">").strip()
