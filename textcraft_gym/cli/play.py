"""Interactive play by a person, in a terminal or through a pipe."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import gymnasium as gym
from rich.markup import escape

from textcraft_gym.agents.contract.agent import won_in
from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.games import load_profile
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.terminal import wrapped
from textcraft_gym.commands import CommandForm
from textcraft_gym.envs.text_env import Draws, snapshot_of
from textcraft_gym.episodes.step_limit import registered_limit
from textcraft_gym.errors import TextCraftGymError
from textcraft_gym.manual import command_reader
from textcraft_gym.printable import printable
from textcraft_gym.registration import find

OWN_COMMANDS = {
    "help": "lists what can be typed",
    "hint": "shows a good next action",
    "undo": "takes back the last action",
    "quit": "leaves, and so does exit",
}
LEAVING = ("quit", "exit")
UNTOLD = "Only the expert knows that: nothing that you have read tells it."
MAX_POSSIBLE = 30
"""Maximum number of possible actions that the help lists."""
INDENT = 2
MIN_MEANING_WIDTH = 30
"""Columns beside a command that what it does needs; with fewer it goes on below."""
_ONE_COUNT = re.compile(r"(\w+) \d+( \D+)")


def play(
    env_id: str,
    *,
    task: str | None = None,
    seed: int | None = None,
    **env_args: Any,
) -> bool:
    """Play one episode, until it or the input ends, and return whether it was won.

    Args:
        env_id: The id of any text environment.
        task: A task id; otherwise the seed draws one.
        seed: The seed of the reset.
        env_args: Further arguments of ``gym.make``.
    """
    world = find(env_id)
    for name in ("admissible", "expert"):  # for completions and hints
        if name in world.parameters:
            env_args.setdefault(name, True)
    forms = command_reader(env_id, **env_args).forms
    session = Session(world.make(**env_args), load_profile(world.profile), forms)
    session.reset(task, seed)

    for line in _typed_lines(session.words, session.status):
        command = line.strip()
        if session.leaves(command):
            break
        session.take(command)
        if session.over:
            break
    return session.close()


class Moment(NamedTuple):
    """A state of the game to undo to: the environment's snapshot, its info, and what came next."""

    snapshot: Any
    info: dict[str, Any]
    action: str


class Session:
    """A person's episode.

    Args:
        env: The game.
        profile: Tells the task in the first observation.
        forms: The forms of the game's commands.

    Attributes:
        goal: The task, in the game's words.
        info: The last info.
        steps: The number of actions, without those taken back.
        over: Whether the episode has ended.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        profile: GameProfile,
        forms: Sequence[CommandForm] = (),
    ) -> None:
        self.env = env
        self.profile = profile
        self.forms = forms
        self.goal = ""
        self.console = Console(highlight=False)
        self.info: dict[str, Any] = {}
        self.steps = 0
        self.over = False
        self._moments: list[Moment] = []

    def reset(self, task: str | None, seed: int | None) -> None:
        """Begin the episode, and print the first observation and the commands of the session."""
        options = None if task is None else {"task": task}
        observation, self.info = self.env.reset(seed=seed, options=options)

        _, self.goal = self.profile.read(observation)
        commands = ", ".join(f"[bold]{name}[/] {effect}" for name, effect in OWN_COMMANDS.items())
        self._draw()
        self._print(_coloured(observation, self.goal))
        self._print(f"\nTab completes, {commands}.\n")

    def leaves(self, command: str) -> bool:
        """Return whether a line ends the session; not where it is an action of the game."""
        if command.lower() not in LEAVING:
            return False
        is_listed = command in self.info.get("admissible_commands", ())
        return not is_listed and all(form.canonical(command) is None for form in self.forms)

    def take(self, command: str) -> None:
        """Carry out a command of the session, or play it as an action."""
        if command == "help":
            self._help()
        elif command == "hint":
            self._hint()
        elif command == "undo":
            self._undo()
        elif command:
            self._play(command)

    def close(self) -> bool:
        """Print how the session ended, and return whether the episode was won."""
        won = won_in(self.info)
        if self.over:
            outcome = {True: "Won", False: "Lost", None: "Over"}[won]
            actions = "1 action" if self.steps == 1 else f"{self.steps} actions"
            self._print(f"[bold]{outcome}[/] after {actions}.")
        else:
            self._print("Left the game.")
        self.env.close()
        return won is True

    def words(self) -> list[str]:
        """Return the commands for tab completion: those that work now."""
        return [*self.info.get("admissible_commands", []), *OWN_COMMANDS]

    def status(self) -> str:
        """Return the line that stays below what is typed: the steps and the goal."""
        steps = "1 step" if self.steps == 1 else f"{self.steps} steps"
        return printable(f" {steps} | {' '.join(self.goal.split())}")

    def _help(self) -> None:
        """Print what can be typed."""
        described = [(_typed(form), form.description) for form in self.forms]
        described = [row for row in described if row[0] not in OWN_COMMANDS]
        self._list("Actions of this game", described)

        possible = self.info.get("admissible_commands", [])
        if possible:
            more = f" and {len(possible) - MAX_POSSIBLE} more" if possible[MAX_POSSIBLE:] else ""
            shown = "; ".join(possible[:MAX_POSSIBLE])
            self._print_entry(
                "Possible now:",
                f"{shown}{more}",
                "bold",
                gap=1,
                hanging=INDENT,
            )
        self._list("For you", list(OWN_COMMANDS.items()))

    def _list(
        self,
        title: str,
        rows: Sequence[tuple[str, str]],
    ) -> None:
        if rows:
            self._print(f"[bold]{title}:[/]")
        for form, description in rows:
            self._print_entry(" " * INDENT + form, description, "cyan")

    def _print_entry(
        self,
        head: str,
        text: str,
        style: str,
        *,
        gap: int = 2,
        hanging: int | None = None,
    ) -> None:
        """Print a text beside its head; what a terminal has no room for is indented below it."""
        beside = len(head) + gap
        if hanging is None:
            has_room = self.console.width - beside >= MIN_MEANING_WIDTH
            hanging = beside if has_room else 3 * INDENT
        margin = len(head) - len(head.lstrip())
        width = self.console.width if self.console.is_terminal else None
        line = f"{head}{' ' * gap}{text}".rstrip()
        for row in wrapped(line, width, hanging - margin):
            _, is_first, rest = row.partition(head)
            shown = f"[{style}]{escape(head)}[/]{escape(rest)}" if is_first else escape(row)
            self._print(shown)

    def _hint(self) -> None:
        plan = self.info.get("expert_plan")
        if not plan:
            self._print("[yellow]no hint here[/]")
            return
        self._print(f"[yellow]{escape(plan[0])}[/]")
        # The admissible actions are those that the game's texts suggest.
        if plan[0] not in self.info.get("admissible_commands", plan):
            self._print(f"[dim]{UNTOLD}[/]")

    def _undo(self) -> None:
        """Restore the state before the last action."""
        if not self._moments:
            takes_snapshots = self._snapshot() is not None
            reason = "Nothing to undo." if takes_snapshots else "This environment cannot undo."
            self._print(f"[yellow]{reason}[/]")
            return
        snapshot, self.info, action = self._moments.pop()
        self.env.get_wrapper_attr("restore")(snapshot)
        self.steps -= 1
        self._print(f"[yellow]Took back: {escape(action)}[/]")
        self._draw()

    def _play(self, action: str) -> None:
        """Play an action, and print the game's answer."""
        snapshot = self._snapshot()
        if snapshot is not None:
            self._moments.append(Moment(snapshot, self.info, action))

        answer, _, terminated, truncated, self.info = self.env.step(action)
        self.steps += 1
        self.over = terminated or truncated
        self._draw()
        if "invalid_reason" in self.info:
            self._print(f"[red]{escape(answer)}[/]")
            if explanation := self._explanation(action):
                self._print(f"[dim]{escape(explanation)}[/]")
        else:
            self._print(f"[green]{escape(answer)}[/]")
        limit = registered_limit(self.env)
        if self.steps == limit and not self.over:
            self._print(f"[yellow]An agent would have stopped here: the limit is {limit} steps.[/]")

    def _explanation(self, action: str) -> str:
        """Return why an action is invalid, and the possible verbs if its own is unknown."""
        reason: str = self.info["invalid_reason"]
        sentences = []
        if self.env.has_wrapper_attr("explain"):
            with suppress(TextCraftGymError):  # it has the method but refuses
                sentences.append(self.env.get_wrapper_attr("explain")(action, reason))
        if reason.startswith("unknown") and "admissible_commands" in self.info:
            commands = self.info["admissible_commands"]
            verbs = {re.split(r"\W", command)[0] for command in commands}
            sentences.append(f"Possible now: {', '.join(sorted(verbs))}.")
        return " ".join(sentences)

    def _snapshot(self) -> Any:
        """Return a snapshot of the environment; None if it takes none."""
        try:
            return snapshot_of(self.env)
        except TextCraftGymError:  # it takes none, or not as it is made
            return None

    def _draw(self) -> None:
        """Print the state drawn in characters, if the environment draws it."""
        if isinstance(self.env.unwrapped, Draws):
            drawing = self.env.unwrapped.drawing()
            self.console.print(f"{drawing}\n", markup=False, soft_wrap=True)

    def _print(self, *texts: str) -> None:
        # A terminal breaks lines between words; what a pipe reads keeps the game's lines.
        self.console.print(*texts, soft_wrap=not self.console.is_terminal)


def _typed_lines(words: Callable[[], list[str]], status: Callable[[], str]) -> Iterator[str]:
    """Yield typed lines: in a terminal with completion and a status line, else as a pipe has them.

    Args:
        words: Returns what completes a line; see ``Session.words``.
        status: Returns the status line.
    """
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion

    class Words(Completer):
        def get_completions(self, document: Any, complete_event: Any) -> Iterator[Completion]:
            line = document.text_before_cursor
            for command in completions(line, words()):
                yield Completion(command, start_position=-len(line))

    prompt: PromptSession[str] = PromptSession(completer=Words(), bottom_toolbar=status)
    while True:
        try:
            yield prompt.prompt("> ")
        except (EOFError, KeyboardInterrupt):
            return


def completions(line: str, commands: Iterable[str]) -> list[str]:
    """Return the commands that go on from a line, shortest first.

    The only count of a command may be any: ``get 5 oa`` goes on as ``get 1 oak logs`` does.
    """
    if counted := re.match(r"\w+ (\d+) ", line):
        commands = [_counted(command, counted[1]) for command in commands]
    going_on = [command for command in commands if command.startswith(line) and command != line]
    return sorted(dict.fromkeys(going_on), key=len)


def _counted(command: str, count: str) -> str:
    """Return a command that has one count with another."""
    parts = _ONE_COUNT.fullmatch(command)
    return f"{parts[1]} {count}{parts[2]}" if parts else command


def _typed(form: CommandForm) -> str:
    """Return a form as its manual has it: what stands in brackets has no braces."""
    return re.sub(r"\[\{([^{}]+)\}\]", r"[\1]", form.form)


def _coloured(observation: str, goal: str) -> str:
    """Return an observation as markup, with the goal in colour."""
    lines = []
    for line in observation.split("\n"):
        has_goal = bool(goal) and goal in line
        lines.append(f"[bold magenta]{escape(line)}[/]" if has_goal else escape(line))
    return "\n".join(lines)
