"""Interactive play by a person, in a terminal or through a pipe."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import gymnasium as gym
from rich.markup import escape

from textcraft_gym.agents.contract.agent import won_in
from textcraft_gym.cli.console import Console
from textcraft_gym.envs.text_env import Draws, snapshot_of
from textcraft_gym.errors import TextCraftGymError
from textcraft_gym.registration import find

OWN_COMMANDS = {
    "hint": "shows a good next action",
    "undo": "takes the last action back",
    "quit": "leaves",
}

GOALS = ("Goal: ", "Question: ", "Your task is to: ")
"""Beginnings of the line that states the goal."""


class Moment(NamedTuple):
    """A state of the game to undo to: the environment's snapshot, and the last info."""

    snapshot: Any
    info: dict[str, Any]


def play(env_id: str, *, task: str | None = None, seed: int | None = None, **env_args: Any) -> bool:
    """Play one episode, until it or the input ends, and return whether it was won.

    Args:
        env_id: The id of any text environment.
        task: A task id; otherwise the seed draws one.
        seed: The seed of the reset.
        env_args: Further arguments of ``gym.make``.
    """
    console = Console(highlight=False)
    world = find(env_id)
    helpful = {name: True for name in ("admissible", "expert") if name in world.parameters}
    env = world.make(**{**helpful, **env_args})
    observation, info = env.reset(seed=seed, options=None if task is None else {"task": task})
    help_line = ", ".join(
        f"[bold]{command}[/] {effect}" for command, effect in OWN_COMMANDS.items()
    )
    _draw(console, env)
    console.print(_coloured(observation), f"\nTab completes, {help_line}.\n", soft_wrap=True)
    typed = _typed_lines(lambda: _words(observation, info))
    earlier: list[Moment] = []
    steps, over = 0, False
    while not over:
        action = next(typed, "quit").strip()
        if action == "quit":
            console.print("Left the game.")
            break
        if action == "hint":
            plan = info.get("expert_plan") or ["no hint here"]
            console.print(f"[yellow]{escape(plan[0])}[/]")
        elif action == "undo":
            undone = _undo(env, earlier, console)
            steps, info = (steps - 1, undone) if undone else (steps, info)
        elif action:
            _remember(env, earlier, info)
            answer, _, terminated, truncated, info = env.step(action)
            steps, over = steps + 1, terminated or truncated
            _draw(console, env)
            _show_answer(console, env, action, answer, info)
    if over:
        outcome = {True: "Won", False: "Lost", None: "Over"}[won_in(info)]
        console.print(f"[bold]{outcome}[/] after {steps} actions.")
    env.close()
    return won_in(info) is True


def _draw(console: Console, env: gym.Env[str, str]) -> None:
    """Print the state drawn in characters, if the environment draws it."""
    if isinstance(env.unwrapped, Draws):
        console.print(f"{env.unwrapped.drawing()}\n", markup=False, soft_wrap=True)


def _show_answer(
    console: Console, env: gym.Env[str, str], action: str, answer: str, info: dict[str, Any]
) -> None:
    """Print the game's answer to an action, with an explanation if the action was invalid."""
    if "invalid_reason" not in info:
        console.print(f"[green]{escape(answer)}[/]", soft_wrap=True)
        return
    console.print(f"[red]{escape(answer)}[/]", soft_wrap=True)
    if explanation := _explanation(env, action, info):
        console.print(f"[dim]{escape(explanation)}[/]", soft_wrap=True)


def _remember(env: gym.Env[str, str], earlier: list[Moment], info: dict[str, Any]) -> None:
    """Save the state for ``undo``, if the environment takes snapshots."""
    snapshot = _snapshot(env)
    if snapshot is not None:
        earlier.append(Moment(snapshot, info))


def _snapshot(env: gym.Env[str, str]) -> Any:
    """Return a snapshot of the environment, None if it takes none."""
    try:
        return snapshot_of(env)
    except TextCraftGymError:  # it takes none, or not as it is made
        return None


def _undo(env: gym.Env[str, str], earlier: list[Moment], console: Console) -> dict[str, Any] | None:
    """Restore the state before the last action and return its info; None if none was saved."""
    if not earlier:
        why = (
            "This environment takes no snapshots"
            if _snapshot(env) is None
            else "There is nothing to take back"
        )
        console.print(f"[yellow]{why}.[/]")
        return None
    snapshot, info = earlier.pop()
    env.get_wrapper_attr("restore")(snapshot)
    console.print("[yellow]Took back the last action.[/]")
    _draw(console, env)
    return info


def _explanation(env: gym.Env[str, str], action: str, info: dict[str, Any]) -> str:
    """Return the reason why an action is invalid and, if its verb is unknown, the verbs that are possible now."""
    reason: str = info["invalid_reason"]
    sentences = []
    if env.has_wrapper_attr("explain"):
        with suppress(TextCraftGymError):  # it has the method but refuses
            sentences.append(env.get_wrapper_attr("explain")(action, reason))
    if reason.startswith("unknown") and "admissible_commands" in info:
        verbs = {re.match(r"\w*", command)[0] for command in info["admissible_commands"]}  # type: ignore[index]
        sentences.append(f"Possible now: {', '.join(sorted(verbs))}.")
    return " ".join(sentences)


def _typed_lines(words: Callable[[], tuple[list[str], list[str]]]) -> Iterator[str]:
    """Yield typed lines: with completion in a terminal, line by line from a pipe."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion

    class Words(Completer):
        def get_completions(self, document: Any, complete_event: Any) -> Iterator[Completion]:
            for text, typed in completions(document.text_before_cursor, *words()):
                yield Completion(text, start_position=-len(typed))

    session: PromptSession[str] = PromptSession(completer=Words())
    while True:
        try:
            yield session.prompt("> ")
        except (EOFError, KeyboardInterrupt):
            return


def completions(line: str, commands: list[str], names: list[str]) -> list[tuple[str, str]]:
    """Return the completions of a line, shortest first, each with the end of the line that it replaces.

    A command completes the whole line, an item name the part after the last number.
    """
    *counted, name = re.split(r"\d+ ", line)
    candidates = [(command, line) for command in commands] + [
        (item, name) for item in names if counted
    ]
    # Keyed by the completed line, so that a command and an item name that give the same line are
    # offered once.
    found = {
        line.removesuffix(typed) + text: (text, typed)
        for text, typed in candidates
        if text.startswith(typed)
    }
    return sorted(
        (pair for completed, pair in found.items() if completed != line),
        key=lambda pair: len(pair[0]),
    )


def _words(observation: str, info: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the commands for tab completion, and the item names of the listed recipes."""
    names = re.findall(r"\d+ ([a-z][a-z ]*?)(?= using|,|\n|$)", observation)
    commands = [*info.get("admissible_commands", []), "inventory", *OWN_COMMANDS]
    return list(dict.fromkeys(commands)), list(dict.fromkeys(names))


def _coloured(observation: str) -> str:
    lines = (escape(line) for line in observation.split("\n"))
    return "\n".join(
        f"[bold magenta]{line}[/]" if line.startswith(GOALS) else line for line in lines
    )
