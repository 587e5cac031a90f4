"""What a chat model reads of a game that it plays alone, and how its replies are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.registration import find
from textcraft_gym.replies import CommandReader

REPLY = (
    "You may reason first. The last line of your reply is the command and nothing else, "
    "after the word Action and a colon."
)
"""How to reply, where the command is read from the text of a reply."""


def manual(
    env_id: str,
    prompts: str | Path | None = None,
    **env_args: Any,
) -> str:
    """Return the manual of an environment's game, which lists its commands.

    Args:
        env_id: An id, or ``my_module:My-v0``; a game that the suite does not know has a manual
            without commands.
        prompts: A folder of prompts with a file ``chat/<game>.txt`` of your own.
        env_args: Arguments of ``gym.make``: a game with dialects is described in that of its
            environment.

    Raises:
        UnknownName: For an environment that is not registered.
        PromptError: If there is no such folder.
    """
    world = find(env_id)
    texts = Prompts(prompts, world.dialect(env_args))
    name = load_profile(world.profile).name
    try:
        return texts.manual(name)
    except PromptError:
        return texts.manual("default")


def command_reader(env_id: str, **env_args: Any) -> CommandReader:
    """Return the reader of a game's commands; it goes by marks alone in an unknown game."""
    world = find(env_id)
    return Prompts(dialect=world.dialect(env_args)).commands(load_profile(world.profile).name)
