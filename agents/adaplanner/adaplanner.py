"""AdaPlanner: a model writes a plan as a function with assertions, and mends it where one fails.

Source: Sun et al., AdaPlanner: Adaptive Planning from Feedback with Language Models, 2023; as a
baseline of AutoPlan (Ouyang and Li, 2023).
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from textcraft_gym.agents.adaplanner.solution import (
    NAME,
    START,
    Solution,
    carried,
    explained,
    read_solution,
    source_of,
    step_of,
    title_of,
)
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.program.avatar import Avatar
from textcraft_gym.agents.program.interpreter import Interpreter, Names
from textcraft_gym.agents.program.parse import MAX_CHARACTERS, ProgramError
from textcraft_gym.agents.program.values import AGENT, MAX_TEXT, Value
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import at_least

EXAMPLE = "Here is an example of a task of this kind.\n\n{example}\n"
CHECK = (
    "Are there errors of syntax in this program? Begin with yes or no. "
    "After yes, write the whole program without them."
)
MEND = """This program was played. What it did stays done.
{source}

It failed, and this is why:
{feedback}

Think step by step, in comments, what went wrong and how it can be done otherwise.
Then write the whole program anew; leave the steps that were right as they are."""
UNFINISHED = (
    "The program was played to its end without an error, but the task is not done. "
    "What does it lack?"
)
FIRST_CHANGE = (
    "From which step on do these two programs differ? Answer with the number of that step only."
)
NUMBER_TOKENS = 10
"""Maximum number of tokens of the number of a step."""
MAX_SKILL = 2 * MAX_CHARACTERS
"""Maximum number of characters of a skill that is read."""


class _Request(NamedTuple):
    """What all prompts of one episode share."""

    situation: str
    task: str
    kind: str
    example: str


class AdaPlannerAgent:
    """Writes a function in steps, plays it step by step, and mends it from a failed assertion.

    The function is interpreted, never executed. The roles are ``planner``, who writes it,
    ``checker``, who looks for errors of syntax before it is played, ``ask``, who answers its
    questions, and ``refiner``, who writes it anew and says at which step to go on. In the trace
    each step is a node of the role ``executor``, and each refinement one of the role ``refiner``.
    The episode is never reset.

    Args:
        profile: The game to play; it must have an avatar.
        prompts: Source of the prompt ``adaplanner`` and its examples.
        tries: Maximum number of functions that are played.
        resets: Number of tries that may go on at a later step with the variables of the one before;
            the others begin with the first step.
        examples: Number of examples in the prompt, 0 or 1: a solved task of the same kind.
        skills: Folder of solutions, ``<kind>.txt``, that replace the examples; the first success of
            each kind that has none is written there. They are read as text. None for no such
            folder.
        settings: ``planner_tokens`` bounds a function, ``max_tokens`` the answer to a question of
            it.

    Raises:
        ValueError: If a number is out of bounds, or the game has no avatar.
        PromptError: If a prompt or an example cannot be read.
    """

    uses: ClassVar[tuple[str, ...]] = ("max_tokens", "planner_tokens")

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        # The released program's numbers.
        tries: int = 6,
        resets: int = 3,
        examples: int = 1,
        skills: str | Path | None = None,
        settings: Settings | None = None,
    ) -> None:
        if profile.avatar is None:
            raise ValueError(f"there is no avatar for the game {profile.name}")
        at_least("tries", tries, 1)
        at_least("resets", resets, 0)
        if type(examples) is not int or examples not in (0, 1):
            raise ValueError(f"expected examples to be 0 or 1, got {examples!r}")
        prompts = prompts or Prompts()
        self.profile = profile
        self.settings = settings_for("adaplanner", profile.name, settings)
        self.max_steps = profile.max_steps
        self.prompt = prompts.of("adaplanner", profile.name, needs=("example",))
        kinds = profile.avatar.kinds if examples else ()
        self.examples = {
            kind: prompts.example("adaplanner", f"{profile.name}_{kind}") for kind in kinds
        }
        self.avatar: type[Avatar] = profile.avatar
        self.tries = tries
        self.resets = resets
        self.skills = None if skills is None else Path(skills)

    def episode(self, play: Play) -> Routine:
        """Play one episode; its success is the environment's, not the function's."""
        situation, task = self.profile.read(play.first.observation)
        avatar = self.avatar(play, situation)
        kind = avatar.kind(task)
        request = _Request(situation, task, kind, self._example(kind))
        # Plan
        source = yield from self._write(play, request)
        played: Solution | None = None
        start, names = 1, Names()
        for tried in range(1, self.tries + 1):
            # Execute, up to the first assertion that fails
            feedback = UNFINISHED
            try:
                played = read_solution(source)
                # The variables of the run before, where this one goes on at a later step.
                names = carried(names) if start > 1 else {}
                names |= {"agent": AGENT, START: start}
                yield from self._run(play, avatar, played, names)
            except ProgramError as error:
                feedback = explained(error, source)
            except EpisodeOver as over:  # a won game ends in the middle of a program
                if over.won:
                    self._learn(play, request, source)
                raise
            if play.last.won:
                self._learn(play, request, source)
                return True

            # Refine
            play.note(feedback)
            if tried < self.tries:
                source, start = yield from self._refine(play, request, source, played, feedback)
                # As in the released program, the later tries begin at the first step.
                if tried >= self.resets:
                    start = 1
        return False

    def _write(
        self,
        play: Play,
        request: _Request,
    ) -> Generator[Request, Any, str]:
        """Return the first function, checked for errors of syntax."""
        with play.sub(request.task, "planner", 1):
            source = yield from self._say(play, self._prompt(request, ""), "planner")
        with play.sub(request.task, "checker", 1):
            completion = yield from play.ask(
                f"{_shown(source)}\n\n{CHECK}",
                role="checker",
                max_tokens=self.settings.planner_tokens,
            )
            play.note(completion.text)
        decision, _, corrected = completion.text.strip().partition("\n")
        # As in the released program, the corrected function counts only after a yes.
        has_errors = re.search(r"\byes\b", decision.lower()) is not None
        if has_errors and corrected:
            return source_of(corrected)
        return source

    def _refine(
        self,
        play: Play,
        request: _Request,
        source: str,
        played: Solution | None,
        feedback: str,
    ) -> Generator[Request, Any, tuple[str, int]]:
        """Return a mended function, and the first step that differs, where it goes on."""
        with play.sub(request.task, "refiner", 1):
            mending = MEND.format(source=_shown(source), feedback=feedback)
            mended = yield from self._say(play, self._prompt(request, mending), "refiner")
            # Programs that cannot be read have no steps to compare.
            try:
                read_solution(mended)
            except ProgramError:
                return mended, 1
            if played is None:
                return mended, 1
            question = (
                f"The first program:\n{played.source}\n\n"
                f"The second program:\n{mended}\n\n{FIRST_CHANGE}"
            )
            completion = yield from play.ask(question, role="refiner", max_tokens=NUMBER_TOKENS)
            play.note(completion.text)
        number = re.search(r"\d{1,4}", completion.text)
        return mended, max(1, int(number[0])) if number else 1

    def _say(
        self,
        play: Play,
        prompt: str,
        role: str,
    ) -> Generator[Request, Any, str]:
        """Return the source of the function that a model writes."""
        completion = yield from play.ask(prompt, role=role, max_tokens=self.settings.planner_tokens)
        play.note(completion.text)
        return source_of(completion.text)

    def _prompt(self, request: _Request, information: str) -> str:
        return self.prompt.fill(
            situation=request.situation,
            task=request.task,
            example=request.example,
            information=information,
        )

    def _run(
        self,
        play: Play,
        avatar: Avatar,
        solution: Solution,
        names: Names,
    ) -> Generator[Request, Any, None]:
        """Play a function from the step that its variables name."""
        interpreter = Interpreter(partial(self._call, play), avatar, partial(_step, play))
        yield from interpreter.run_function(solution.program, NAME, names)

    def _call(
        self,
        play: Play,
        name: str,
        arguments: list[Value],
    ) -> Generator[Request, Any, Value]:
        """Answer a question of the function."""
        if name != "ask":
            raise ProgramError(f"there is no function {name}")
        if len(arguments) != 1 or type(arguments[0]) is not str:
            raise ProgramError("ask takes one text")
        completion = yield from play.ask(
            f"{arguments[0]}\nAnswer:",
            role="ask",
            max_tokens=self.settings.max_tokens,
        )
        play.note(completion.text)
        return completion.text.strip()[:MAX_TEXT]

    def _example(self, kind: str) -> str:
        """Return the example of a kind of task, learned or bundled; empty for none."""
        file = self._skill(kind)
        if file and file.is_file():
            with file.open(encoding="utf-8", errors="replace") as skill:
                example = skill.read(MAX_SKILL).strip("\n")
        else:
            example = self.examples.get(kind, "")
        return EXAMPLE.format(example=example) if example else ""

    def _learn(
        self,
        play: Play,
        request: _Request,
        source: str,
    ) -> None:
        """Write a success into the folder of skills, unless there is one of its kind."""
        file = self._skill(request.kind)
        if file is None or file.is_file():
            return
        # The example begins with the situation, without the game's welcome.
        opening = play.first.observation
        text = f"{opening[opening.find(request.situation) :].strip()}\n{source}\n"
        unfinished = file.with_suffix(f".{os.getpid()}.tmp")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(text, encoding="utf-8", errors="replace", newline="\n")
            unfinished.replace(file)  # at once, since several workers may read it
        except OSError as error:  # the episode is won all the same
            play.note(f"The skill cannot be written: {error.strerror}")
            with suppress(OSError):
                unfinished.unlink()

    def _skill(self, kind: str) -> Path | None:
        return self.skills / f"{kind}.txt" if self.skills else None


def _shown(source: str) -> str:
    """Return a function to show to the model, cut off where it is too long for a program."""
    if len(source) <= MAX_CHARACTERS:
        return source
    return f"{source[:MAX_CHARACTERS]} ..."


@contextmanager
def _step(play: Play, node: ast.If) -> Iterator[None]:
    """Record a step of a function as a node of the trace; its outcome is that of its assertions."""
    if step_of(node) is None:
        yield
        return
    with play.sub(title_of(node), "executor", 1) as part:
        try:
            yield
        except ProgramError:
            part.outcome = False
            raise
        part.outcome = True
