"""Wrappers by name: those of the suite, and a user's own as ``module:Class``."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from textcraft_gym import wrappers
from textcraft_gym.errors import UnknownName
from textcraft_gym.plugins import key_values, load, one_line, split_fields


def make_wrapper(description: str, env: gym.Env[Any, Any]) -> gym.Wrapper[Any, Any, Any, Any]:
    """Put a wrapper around an environment.

    Args:
        description: ``TextHistory``, ``TextHistory,turns=3`` or
            ``my_module:MyWrapper,option=value``.
        env: The environment.

    Raises:
        UnknownName: If there is no such wrapper.
        ValueError: If its module cannot be imported, or it does not take the arguments or the
            environment.
    """
    name, *options = split_fields(description)
    make: Any = find_wrapper(description)
    try:
        wrapped: gym.Wrapper[Any, Any, Any, Any] = make(env, **key_values(options))
    except Exception as error:  # a constructor can raise anything
        raise ValueError(f"{name}: {one_line(error)}") from error
    return wrapped


def find_wrapper(description: str) -> type[gym.Wrapper[Any, Any, Any, Any]]:
    """Return the class of a wrapper.

    Raises:
        UnknownName: If there is no such wrapper.
        ValueError: If its module cannot be imported.
    """
    name = split_fields(description)[0]
    wrapper = load("wrapper", name) if ":" in name else getattr(wrappers, name, None)
    if not (isinstance(wrapper, type) and issubclass(wrapper, gym.Wrapper)):
        exports = wrappers.__all__
        known = [export for export in exports if isinstance(getattr(wrappers, export), type)]
        raise UnknownName.of("wrapper", name, [*known, "module:Class"])
    return wrapper
