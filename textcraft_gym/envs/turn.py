"""The result of an action, a tuple of the same form in every game."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

State = TypeVar("State")

# A plain tuple: to make and unpack a named one takes a sixth of a step of TextCraft.
Turn: TypeAlias = tuple[State, str, str, str]
"""Result of ``rules.apply(world, state, action)``: ``state, text, reason, why``.

- ``state``: the state afterwards; the one before where nothing happened.
- ``text``: the answer that the player reads.
- ``reason``: why nothing happened, a code of the game's ``REASONS``; empty where something did.
- ``why``: the same in words, if the game has them at no cost; the environment's ``explain`` always
  has them.
"""
