"""How the world of a run is read, which need not be installed, or trusted."""

from __future__ import annotations

from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.games import load_profile
from textcraft_gym.errors import MissingExtra
from textcraft_gym.registration import SUITE, find


def profile_of(env: str) -> GameProfile:
    """Return the profile of a world of the suite; the default one of any other."""
    if env not in SUITE:
        return DEFAULT
    try:
        return load_profile(find(env).profile)
    except MissingExtra:  # it cannot be played here
        return DEFAULT
