"""ReAct: a model that thinks aloud and acts, turn by turn.

Source: Yao et al., ReAct: Synergizing Reasoning and Acting in Language Models, 2023; as the
executor of ADaPT (Prasad et al. 2023), which also plans and retries around it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from textcraft_gym.agents.adapt.conversation import (
    NO_CALL,
    Instructions,
    Talk,
    instructions,
    read_call,
)
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.model import Completion, Dialogue, Form, Message, ToolCall
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.replies import CommandReader, Turn, first_line

COMPLETED = "task completed"
FAILED = "task failed"
THOUGHT = "think:"
Demonstrations: TypeAlias = Literal["hybrid", "atomic", "task"]
"""The examples in a prompt: single skills and a few whole tasks, single skills, or whole tasks."""
ExecutorForm: TypeAlias = Literal["line", "chat", "tools", "numbered"]
"""How an executor talks with a model.

``line`` continues the paper's prompt by an action or a thought a turn, ``chat`` has instructions in
a system message, ``tools`` has the game's commands as functions, and ``numbered`` continues the
prompt by a thought and an action with the turn's number.
"""

EXECUTOR = ("turns", "patience", "max_tokens")
"""Fields of ``Settings`` that every agent with an executor uses."""
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
    """Attempts one task, turn by turn: asks the model, and plays its action unless it is a thought.

    Attributes:
        instructions: The head of every prompt; the turns so far follow it.
        profile: Says which answers are no-ops.
        settings: Bounds the turns, the no-op turns in a row and the tokens of a turn.
        form: How to talk with the model; None for the form that suits it.
    """

    instructions: Instructions
    profile: GameProfile
    settings: Settings
    form: Form | None = None

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
        """Attempt a task; return whether the model claims success, False when turns are spent.

        Each turn is appended to ``lines`` at once, so that the caller has them even if the episode
        ends here.
        """
        form = self.form or play.form
        dialogue = self.instructions.begin(
            form,
            situation=situation,
            task=task,
            information=information,
        )
        talk = Talk(form, dialogue, temperature, sample, [] if lines is None else lines)
        with play.sub(task, "executor", depth) as node:
            node.outcome = yield from self._turns(play, talk)
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
        """Attempt a whole task, up to the model's claim or the end of the episode.

        The arguments are ``attempt``'s.
        """
        try:
            claimed = yield from self.attempt(
                play,
                task,
                situation,
                information,
                temperature=temperature,
                sample=sample,
                lines=lines,
            )
        except EpisodeOver as over:
            return Trial(over.claim, over.won)
        return Trial(claimed, play.last.won)

    def _turns(
        self,
        play: Play,
        talk: Talk,
    ) -> Generator[Request, Any, bool]:
        """Ask for turns and play them; return the model's claim, False when it ran out."""
        turns = dead_turns = 0
        while turns < self.settings.turns:
            completion = yield from self._ask(play, talk)
            if completion.tool_calls:  # the dialogue has them before their results
                talk.add_calls(completion)
            for call, turn in self._read(play, completion):
                turns += 1
                claim = self._claim(turn, completion)
                # A claim is no command of the game, and asked for all the same.
                play.count(turn if claim is None else turn._replace(known=True))
                if claim is not None:
                    play.note(turn.line)
                    talk.lines.append(f"> {turn.line}")
                    return claim
                observation = yield from self._play(play, talk, turn)
                if call is None:
                    talk.add(turn, observation)
                else:
                    talk.add_result(call, turn, observation)
                # Turns that change nothing count as dead; one that does starts the count again.
                dead_turns += 1
                if not observation.startswith((*self.profile.no_op, NO_CALL)):
                    dead_turns = 0
                if dead_turns >= self.settings.patience:
                    return False
        return False

    def _ask(
        self,
        play: Play,
        talk: Talk,
    ) -> Generator[Request, Any, Completion]:
        # In lines a turn ends with its line, as in the paper; a chat model's reply may have
        # several.
        stop: tuple[str, ...] = ("\n",) if talk.form == "line" else ()
        tools = self.instructions.offered if talk.form == "tools" else ()
        return (
            yield from play.ask(
                talk.dialogue,
                stop=stop,
                max_tokens=self._max_tokens(talk),
                temperature=talk.temperature,
                sample=talk.sample,
                tools=tools,
            )
        )

    def _max_tokens(self, talk: Talk) -> int:
        """Return the bound of a turn; a chat model may think before it acts."""
        return self.settings.max_tokens if talk.form == "line" else self.settings.chat_tokens

    def _read(
        self,
        play: Play,
        completion: Completion,
    ) -> list[tuple[ToolCall | None, Turn]]:
        """Return the turns of a completion: its calls in order, or the one that its text is."""
        reader = self.instructions.reader
        if completion.tool_calls:
            return [(call, read_call(reader, call)) for call in completion.tool_calls]
        return [(None, play.read(reader, completion.text))]

    def _claim(self, turn: Turn, completion: Completion) -> bool | None:
        """Return the claim, success or failure, that a turn makes; None if it makes none."""
        action, thought = turn.action.lower(), turn.thought.lower()
        is_command = bool(turn.action and turn.known and self.instructions.reader.forms)
        for claim in (COMPLETED, FAILED):
            if is_command:  # whose thought only claims what it ends with
                is_claimed = claim in action or thought.rstrip(" .!*").endswith(claim)
            else:  # models also announce the end inside a thought, "think: task completed"
                reply = completion.text.lower() if turn.mended else ""
                is_claimed = claim in f"{thought} {action} {reply}"
            if is_claimed:
                return claim == COMPLETED
        return None

    def _play(
        self,
        play: Play,
        talk: Talk,
        turn: Turn,
    ) -> Generator[Request, Any, str]:
        """Play a turn and return the answer; a thought is not played.

        Raises:
            EpisodeOver: At the end of the episode, once the turn and its answer stand in the lines.
        """
        if turn.thought:
            play.note(turn._replace(action="").line)
        talk.lines.append(f"> {turn.line}")
        over: EpisodeOver | None = None
        # An unknown command in words may be one of the game's all the same; a call cannot.
        if turn.action and (turn.known or talk.form != "tools"):
            observation, over = yield from self._act(play, turn)
        else:
            # The papers' answer to a thought, which never reaches the game.
            observation = "OK." if turn.thought and turn.known else NO_CALL
        talk.lines.append(observation)
        if over:
            raise over
        return observation

    def _act(
        self,
        play: Play,
        turn: Turn,
    ) -> Generator[Request, Any, tuple[str, EpisodeOver | None]]:
        """Play an action; return the answer, and the end of the episode if this was it."""
        try:
            step = yield from play.act(turn.action, claim=self.profile.claim(turn.action))
        except EpisodeOver as over:
            if over.step.terminated or over.step.truncated:
                return over.step.observation, over
            raise  # a budget was spent before the action was played
        return step.observation, None


class NumberedExecutor(Executor):
    """Attempts one task in numbered turns of a thought and an action, as ReAct does questions.

    Such a turn counts as two of ``settings.turns``, and patience is without end. An action that the
    model leaves out is asked for in a second call. When the turns are spent, the profile's action
    of giving up is played.
    """

    def _turns(
        self,
        play: Play,
        talk: Talk,
    ) -> Generator[Request, Any, bool]:
        for number in range(1, max(1, self.settings.turns // 2) + 1):
            cue = talk.dialogue.extended(f"\nThought {number}:")
            completion = yield from self._complete(play, talk, cue, f"\nObservation {number}:")
            turn = read_numbered(play, self.instructions.reader, completion.text, number)
            thought = f"Thought {number}: {turn.thought}"
            if not turn.action:
                acting = yield from self._ask_action(play, talk, thought, number)
                turn = acting._replace(thought=turn.thought)
            play.count(turn)
            play.note(thought)
            written = f"{thought}\nAction {number}: {turn.action}"
            talk.lines.append(written)
            # The paper's prompt begins actions with a capital, the game's commands do not.
            command = turn.action[:1].lower() + turn.action[1:]
            answer, over = yield from self._act(play, turn._replace(action=command))
            # Pages of the original's wiki have the two characters where a line was broken.
            observation = f"Observation {number}: " + answer.replace("\\n", "")
            talk.lines.append(observation)
            if over:
                raise over
            talk.dialogue = talk.dialogue.extended(
                f"\n{written}\n{observation}",
                Message("assistant", written),
                Message("user", observation),
            )
        if self.profile.giving_up:
            yield from play.act(self.profile.giving_up, claim=False)
        return False

    def _ask_action(
        self,
        play: Play,
        talk: Talk,
        thought: str,
        number: int,
    ) -> Generator[Request, Any, Turn]:
        """Return the turn of an action that the model left out after its thought."""
        label = f"Action {number}:"
        cue = talk.dialogue.extended(
            f"\n{thought}\n{label}",
            Message("assistant", thought),
            Message("user", label),
        )
        completion = yield from self._complete(play, talk, cue, "\n")
        written = completion.text.strip().removeprefix(label).strip()
        turn = play.read(self.instructions.reader, written)
        # The capital with which the paper's actions begin is asked for.
        return turn._replace(mended=written.lower() != turn.action.lower())

    def _complete(
        self,
        play: Play,
        talk: Talk,
        dialogue: Dialogue,
        stop: str,
    ) -> Generator[Request, Any, Completion]:
        return (
            yield from play.ask(
                dialogue,
                stop=(stop,),
                max_tokens=self._max_tokens(talk),
                temperature=talk.temperature,
                sample=talk.sample,
            )
        )


def read_numbered(
    play: Play,
    reader: CommandReader,
    written: str,
    number: int,
) -> Turn:
    """Return the numbered turn in a completion.

    It may go on from ``Thought 1:``, and may lack the action.
    """
    # A chat model begins with the label, which completes the text of the prompt for others.
    reply = written.strip().removeprefix(f"Thought {number}:")
    thought, label, rest = reply.partition(f"Action {number}:")
    if label:
        action = first_line(rest)
        command = play.read(reader, rest).action
        if command.lower() != action.lower():  # the case is the paper's, until it is played
            action = command
        mended = rest.strip().lower() != action.lower()
        return Turn(action, thought.strip()[:MAX_LINE], mended, reader.is_known(action))
    if play.reading == "lenient":
        turn = play.read(reader, reply)
        if turn.action and reader.canonical(turn.action):
            return turn
    return Turn("", first_line(reply))


def make_executor(
    prompts: Prompts,
    profile: GameProfile,
    settings: Settings,
    demonstrations: Demonstrations = "hybrid",
    form: ExecutorForm | None = None,
) -> Executor:
    """Return the executor with a game's prompt ``react/<game>``.

    Variants of the prompt end in ``_atomic``, ``_task`` or ``_numbered``.

    Raises:
        ValueError: For other demonstrations or another form than these.
        PromptError: If the game has no such prompt; of the suite's games, ALFWorld has
            demonstrations of each kind, and HotpotQA the numbered form.
    """
    if form not in (None, *get_args(ExecutorForm)):
        raise ValueError(f"expected form to be line, chat, tools or numbered, got {form!r}")
    if form == "numbered":
        return NumberedExecutor(
            instructions(prompts, profile.name, "_numbered", "line"),
            profile,
            settings,
            "line",
        )
    if demonstrations not in get_args(Demonstrations):
        raise ValueError(
            f"expected demonstrations to be hybrid, atomic or task, got {demonstrations!r}"
        )
    variant = "" if demonstrations == "hybrid" else f"_{demonstrations}"
    executor = Executor(instructions(prompts, profile.name, variant, form), profile, settings, form)
    if form == "tools" and not executor.instructions.reader.forms:
        raise ValueError(
            f"the manual of {profile.name} lists no commands, which form=tools would offer as tools"
        )
    return executor


class ReActAgent:
    """One attempt at the whole task.

    Args:
        profile: The game to play.
        prompts: Source of the prompt ``react``.
        demonstrations: The examples in the prompt: ``hybrid`` for single skills and a few whole
            tasks, as every game has, ``atomic`` for the skills alone, or ``task`` for whole tasks;
            ALFWorld has prompts for all three, the executors of ADaPT's figure 5.
        form: How to talk with the model (``ExecutorForm``); None for the form that suits it:
            ``chat`` for a model that takes messages, else ``line``. HotpotQA has a prompt for
            ``numbered``, with whole tasks.
        settings: ``turns``, ``patience`` and ``max_tokens`` bound the attempt.

    Raises:
        ValueError: If a number is less than 1.
        PromptError: If a prompt cannot be read.
    """

    uses: ClassVar[tuple[str, ...]] = EXECUTOR

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        demonstrations: Demonstrations = "hybrid",
        form: ExecutorForm | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.profile = profile
        self.settings = settings_for("react", profile.name, settings)
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
        return (yield from self.executor.attempt(play, task, situation))
