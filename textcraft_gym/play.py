"""An environment played by a person, in a terminal or through a pipe."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape

from textcraft_gym.registration import make

HELP = "Tab completes, [bold]hint[/] shows a good next action, [bold]quit[/] leaves."

GOALS = ("Goal: ", "Your task is to: ")
"""How the line begins that says what is to be done."""


def play(env_id: str, *, task: str | None = None, seed: int | None = None, **env_args: Any) -> bool:
    """Play one episode and return whether it was won. At the end of the input the game is left.

    Args:
        env_id: A registered id.
        task: Which task; otherwise the seed draws one.
        seed: The seed of the reset.
        env_args: Further arguments of ``gym.make``.
    """
    console = Console(highlight=False)
    env = make(env_id, **{"admissible": True, "expert": True, **env_args})
    observation, info = env.reset(seed=seed, options=None if task is None else {"task": task})
    console.print(_coloured(observation), f"\n{HELP}\n", soft_wrap=True)
    typed = _typed_lines(lambda: _words(observation, info))
    steps, over = 0, False
    while not over:
        action = next(typed, "quit").strip()
        if action == "quit":
            console.print("Left the game.")
            break
        if action == "hint":
            console.print(f"[yellow]{escape((info.get('expert_plan') or ['no hint here'])[0])}[/]")
        elif action:
            said, _, terminated, truncated, info = env.step(action)
            steps, over = steps + 1, terminated or truncated
            console.print(f"[{'red' if 'invalid_reason' in info else 'green'}]{escape(said)}[/]", soft_wrap=True)
    if over:
        console.print(f"[bold]{'Won' if info.get('won') else 'Lost'}[/] after {steps} actions.")
    env.close()
    return bool(info.get("won"))


def _typed_lines(words: Callable[[], tuple[list[str], list[str]]]) -> Iterator[str]:
    """Yield what is typed: with completion in a terminal, line by line from a pipe."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion

    class Words(Completer):
        def get_completions(self, document: Any, complete_event: Any) -> Iterator[Completion]:
            for word, typed in completions(document.text_before_cursor, *words()):
                yield Completion(word, start_position=-len(typed))

    session: PromptSession[str] = PromptSession(completer=Words())
    while True:
        try:
            yield session.prompt("> ")
        except (EOFError, KeyboardInterrupt):
            return


def completions(line: str, commands: list[str], names: list[str]) -> list[tuple[str, str]]:
    """Return what goes on from a line, each with the end of the line that it replaces, short ones first.

    A command goes on from the whole line, a name from what stands behind the last number.
    """
    *counted, name = re.split(r"\d+ ", line)
    candidates = [(command, line) for command in commands] + [(one, name) for one in names if counted]
    found = {line.removesuffix(typed) + word: (word, typed) for word, typed in candidates if word.startswith(typed)}
    return sorted((one for whole, one in found.items() if whole != line), key=lambda one: len(one[0]))


def _words(observation: str, info: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the commands that Tab offers, and the names: those in the listed recipes."""
    names = re.findall(r"\d+ ([a-z][a-z ]*?)(?= using|,|\n|$)", observation)
    commands = [*info.get("admissible_commands", []), "inventory", "hint", "quit"]
    return list(dict.fromkeys(commands)), list(dict.fromkeys(names))


def _coloured(observation: str) -> str:
    lines = (escape(line) for line in observation.split("\n"))
    return "\n".join(f"[bold magenta]{line}[/]" if line.startswith(GOALS) else line for line in lines)
