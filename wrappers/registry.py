"""Wrappers by name: those of the suite, and a user's own as ``module:Class``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gymnasium as gym

from textcraft_gym import wrappers
from textcraft_gym.agents.models.spec import key_values
from textcraft_gym.errors import UnknownName


def make_wrapper(description: str, env: gym.Env[Any, Any]) -> gym.Wrapper[Any, Any, Any, Any]:
    """Put a wrapper around an environment.

    Args:
        description: ``TextHistory``, ``TextHistory,turns=3`` or ``my_module:MyWrapper,option=value``.
        env: The environment.

    Raises:
        UnknownName: If there is no such wrapper.
        ValueError: If its module cannot be imported, or it does not take the arguments or the environment.
    """
    name, *options = description.split(",")
    module, colon, attribute = name.rpartition(":")
    try:
        found = getattr(import_module(module) if colon else wrappers, attribute, None)
    except ImportError as error:
        raise ValueError(f"{name}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, gym.Wrapper)):
        raise UnknownName("wrapper", name, [one for one in wrappers.__all__ if one[0].isupper()])
    construct: Any = found
    try:
        wrapped: gym.Wrapper[Any, Any, Any, Any] = construct(env, **key_values(options))
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
    return wrapped
