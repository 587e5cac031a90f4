"""AutoPlan's inner loop: an episode with a plan, and the reflections after a training episode."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from textcraft_gym.agents.autoplan.wording import Wording
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.model import Completion, Dialogue, Message
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import at_least, true_or_false

Reflect: TypeAlias = Literal["none", "summary", "full"]
"""The reflections after an episode: none, the summary, or summary, flaws and revision."""

MAX_PLAN = 20_000
"""Maximum number of characters of a plan."""
MAX_TEXT = 4000
"""Maximum number of characters of an objective, a thought or a reflection; the rest is cut off."""
MAX_ERROR = 300
"""Maximum number of characters of a message about a plan, which may name it."""
FIRST_THOUGHT_TOKENS = 1024
"""Maximum number of tokens of the first thought of an episode, which may have many lines."""


class AutoPlanAgent:
    """Thinks, acts and reads, turn by turn, with a plan for the kind of task before its eyes.

    Each turn has a thought and an action, and by default a formalizer, which is asked apart from
    the dialogue and writes the action as the game takes it. What cannot be read as an action is
    played all the same: the game's answer says so, and the turn is spent. It makes no claim but by
    an action that declares the task done.

    Args:
        profile: The game to play.
        prompts: Source of the prompt ``autoplan``.
        plan: A file with the plan, or a plan, which has several lines or ends with a line break;
            None for no plan.
        formalizer: Whether the formalizer writes the actions.
        reflect: What to ask in the same dialogue after the end: ``none``, ``summary``, or ``full``,
            which adds the flaws and, where there is a plan, their revision.
        temperature: Temperature of thoughts and actions; the formalizer and the reflections are
            greedy.
        thought_tokens: Maximum number of tokens of a thought after the first.
        reflection_tokens: Maximum number of tokens of a reflection.
        settings: ``turns`` is the maximum number of actions; ``max_tokens`` bounds an action, and
            ``planner_tokens`` a plan, which ``optimise_plan`` asks for.

    Raises:
        ValueError: If a number is out of bounds, or the plan cannot be read or is too long.
        PromptError: If a prompt cannot be read.
    """

    uses: ClassVar[tuple[str, ...]] = ("turns", "max_tokens", "planner_tokens")

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        plan: str | Path | None = None,
        formalizer: bool = True,
        reflect: Reflect = "none",
        temperature: float = 0.0,
        # As in the released program.
        thought_tokens: int = 100,
        reflection_tokens: int = 512,
        settings: Settings | None = None,
    ) -> None:
        true_or_false("formalizer", formalizer)
        if reflect not in get_args(Reflect):
            raise ValueError(f"expected reflect to be none, summary or full, got {reflect!r}")
        if type(temperature) not in (int, float) or not 0 <= temperature <= 2:
            raise ValueError(f"expected a temperature from 0 to 2, got {temperature!r}")
        at_least("thought_tokens", thought_tokens, 1)
        at_least("reflection_tokens", reflection_tokens, 1)
        prompts = prompts or Prompts()
        self.profile = profile
        self.settings = settings_for("autoplan", profile.name, settings)
        self.wording = Wording(prompts, profile.name)
        self.reader = prompts.commands(profile.name)
        self.plan = read_plan(plan)
        if self.plan:  # a run with another text in the same file is another run
            prompts.read["autoplan/plan"] = self.plan
        self.formalizer = formalizer
        self.reflect = reflect
        self.temperature = temperature
        self.thought_tokens = thought_tokens
        self.reflection_tokens = reflection_tokens
        self.max_steps = profile.max_steps

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        objective = task
        if task == self.profile.default_task:
            # A game that states no task apart from the situation, such as a question, has that for
            # its objective.
            objective = situation
        objective = objective[:MAX_TEXT]
        plan = self.wording.fill("plan", plan=self.plan) + "\n" if self.plan else ""
        talk = Talk(self.wording.fill("opening", situation=situation, task=task, information=plan))
        over: EpisodeOver | None = None
        with play.sub(objective, "executor", 1) as node:
            for turn in range(self.settings.turns):
                action = yield from self._turn(play, talk, is_first=turn == 0)
                over = yield from self._play(play, talk, action, self.profile.claim(action))
                if over:
                    break
            # Giving up ends the game, whose last info then has the solution for the reflections.
            is_spent = over is None
            if is_spent and self.profile.giving_up:
                over = yield from self._play(play, talk, self.profile.giving_up, False)
            claim = node.outcome = over.claim if over else None
        if self.reflect != "none":
            yield from self._reflect(play, talk, objective, is_spent=is_spent)
        return claim

    def _play(
        self,
        play: Play,
        talk: Talk,
        action: str,
        claim: bool | None,
    ) -> Generator[Request, Any, EpisodeOver | None]:
        """Play an action and hear the answer; return the end of the episode if this is it."""
        over: EpisodeOver | None = None
        try:
            step = yield from play.act(action, claim=claim)
        except EpisodeOver as end:
            step, over = end.step, end
        talk.hear(step.observation)
        return over

    def _turn(
        self,
        play: Play,
        talk: Talk,
        *,
        is_first: bool,
    ) -> Generator[Request, Any, str]:
        """Return the action after a thought."""
        yield from self._think(play, talk, is_first=is_first)
        question = self.wording.fill("action")
        line = {"stop": ("\n",), "max_tokens": self.settings.max_tokens}  # actions have one line
        reply = yield from self._ask(
            play,
            "action",
            talk.asked(question),
            temperature=self.temperature,
            **line,
        )
        turn = play.read(self.reader, reply)
        if self.formalizer:  # apart from the dialogue, which keeps the action that it wrote
            request = self.wording.fill("formalizer", action=turn.action)
            reply = yield from self._ask(play, "formalizer", request, **line)
            turn = play.read(self.reader, reply)
        play.count(turn)
        talk.answer(question, turn.action)
        return turn.action

    def _think(
        self,
        play: Play,
        talk: Talk,
        *,
        is_first: bool,
    ) -> Generator[Request, Any, None]:
        """Ask for a thought; only the first may have many lines."""
        question = self.wording.fill("planned_thought" if self.plan else "thought")
        bounds: dict[str, Any] = {"stop": ("\n",), "max_tokens": self.thought_tokens}
        if is_first:
            bounds = {"max_tokens": FIRST_THOUGHT_TOKENS}
        thought = yield from self._ask(
            play,
            "thought",
            talk.asked(question),
            temperature=self.temperature,
            **bounds,
        )
        talk.answer(question, thought)

    def _reflect(
        self,
        play: Play,
        talk: Talk,
        objective: str,
        *,
        is_spent: bool,
    ) -> Generator[Request, Any, None]:
        """Ask the reflections in the dialogue of the episode.

        Giving up when the turns are spent is no answer.
        """
        last = play.last
        outcome = "failed"
        if last.won:
            outcome = "succeeded"
        elif last.terminated and not is_spent:
            outcome = "rejected"
        # As in the released program, reflections are told the right answer: they are for training.
        talk.hear(self.wording.fill(outcome, solution=self.profile.solution(last.info)[:MAX_TEXT]))
        sections = ["summary"]
        if self.reflect == "full":
            sections.append("flaws")
            # As in the paper, a revision is asked for once there is a plan to revise.
            if self.plan:
                sections.append("revision")
        with play.sub(objective, "reflection", 1):
            for section in sections:
                # Greedy, as in the released program, however the episode was sampled.
                question = self.wording.fill(section)
                text = yield from self._ask(
                    play,
                    section,
                    talk.asked(question),
                    max_tokens=self.reflection_tokens,
                )
                talk.answer(question, text)

    def _ask(
        self,
        play: Play,
        role: str,
        prompt: str,
        **how: Any,
    ) -> Generator[Request, Any, str]:
        """Ask in a node of its own, so that the trace tells what each role said and took."""
        with play.sub(play.node.task, role, 1):
            completion: Completion = yield from play.ask(prompt, role=role, **how)
            text = completion.text.strip()[:MAX_TEXT]
            play.note(text)
            return text


class Talk:
    """The dialogue of one episode.

    A message of the player's side is what was heard, with a question below it.

    Args:
        opening: What is heard first.
    """

    def __init__(self, opening: str) -> None:
        self._said = Dialogue("", ())
        self._heard = [opening, ""]

    def hear(self, text: str) -> None:
        """Append a text that precedes the next question."""
        self._heard.append(text)

    def asked(self, question: str) -> Dialogue:
        """Return the dialogue with a question at its end."""
        message = "\n".join([*self._heard, question])
        text = f"\n{message}" if self._said else message
        return self._said.extended(text, Message("user", message))

    def answer(self, question: str, text: str) -> None:
        """Add a question and the answer to it."""
        self._said = self.asked(question).extended(f" {text}", Message("assistant", text))
        self._heard = []


def read_plan(plan: str | Path | None) -> str:
    """Return the text of a plan; empty for none.

    Args:
        plan: A file, or a text with a line break.

    Raises:
        ValueError: If the file cannot be read, or the plan is too long.
    """
    if plan is None:
        return ""
    text = str(plan)
    if "\n" not in text:
        try:
            if not Path(text).is_file():  # a pipe or a device could be read for ever
                raise ValueError(f"there is no file {text[:80]!r} with a plan")
            # Some editors begin with a mark. More than allowed is read, to notice a longer plan.
            with Path(text).open(encoding="utf-8-sig") as file:
                text = file.read(2 * MAX_PLAN)
        except (OSError, UnicodeError) as error:
            raise ValueError(
                f"the plan {text[:80]!r} cannot be read: {error}"[:MAX_ERROR]
            ) from error
    text = text.strip()
    if len(text) > MAX_PLAN:
        raise ValueError(
            f"expected a plan of at most {MAX_PLAN} characters, got more in {str(plan)[:80]!r}"
        )
    return text
