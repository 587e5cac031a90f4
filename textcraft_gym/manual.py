"""What a chat model is told of a game that it plays without an agent, and how its replies are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.prompts import PromptError
from textcraft_gym.registration import game_profile
from textcraft_gym.replies import CommandReader
from textcraft_gym.runs.run_spec import RunSpec

REPLY = (
    "You may reason first. The last line of your reply is the command and nothing else, after the word Action and a "
    "colon."
)
"""How to reply, where the command is read from the text of a reply."""


def manual(env_id: str, prompts: str | Path | None = None, **env_args: Any) -> str:
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
    texts = RunSpec(env_id, prompts=prompts, env_args=env_args).make_prompts()
    name = load_profile(game_profile(env_id)).name
    try:
        return texts.manual(name)
    except PromptError:
        return texts.manual("default")


def command_reader(env_id: str, **env_args: Any) -> CommandReader:
    """Return the reader of a game's commands; of a game that the suite does not know it goes by marks alone."""
    texts = RunSpec(env_id, env_args=env_args).make_prompts()
    return texts.commands(load_profile(game_profile(env_id)).name)
