"""The games that agents know, each in a package that is imported when its profile is requested."""

from __future__ import annotations

from pkgutil import iter_modules
from typing import TYPE_CHECKING

from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.errors import UnknownName
from textcraft_gym.plugins import load

if TYPE_CHECKING:
    from textcraft_gym.agents.games.alfworld.game_profile import PROFILE as ALFWORLD
    from textcraft_gym.agents.games.hotpotqa.game_profile import PROFILE as HOTPOTQA
    from textcraft_gym.agents.games.minetechtree.game_profile import PROFILE as MINETECHTREE
    from textcraft_gym.agents.games.tabletop.game_profile import PROFILE as TABLETOP
    from textcraft_gym.agents.games.textcraft.game_profile import PROFILE as TEXTCRAFT
    from textcraft_gym.agents.games.webshop.game_profile import PROFILE as WEBSHOP

__all__ = [
    "ALFWORLD",
    "DEFAULT",
    "HOTPOTQA",
    "MINETECHTREE",
    "TABLETOP",
    "TEXTCRAFT",
    "WEBSHOP",
    "GameProfile",
    "game_names",
    "load_profile",
]


def game_names() -> list[str]:
    """Return the names of the games that have a profile, without ``default``."""
    return sorted(module.name for module in iter_modules(__path__) if module.ispkg)


def load_profile(name: str) -> GameProfile:
    """Return the profile of a game.

    Args:
        name: One of ``game_names()``, ``default`` for any other game, or ``module:name`` for a
            profile of your own.

    Raises:
        UnknownName: If there is no such game, or its module holds no such name.
        ValueError: If its module cannot be imported, or the name is not that of a profile.
    """
    if name == DEFAULT.name:
        return DEFAULT
    if ":" not in name:
        if name not in game_names():
            raise UnknownName.of("game", name, [*game_names(), DEFAULT.name, "module:PROFILE"])
        name = f"{__name__}.{name}.game_profile:PROFILE"
    profile = load("game profile", name)
    if not isinstance(profile, GameProfile):
        raise ValueError(
            f"game profile {name}: expected a GameProfile, got {type(profile).__name__}"
        )
    return profile


def __getattr__(name: str) -> GameProfile:
    """Load ``TEXTCRAFT`` and the other profiles when they are first asked for."""
    if name in __all__ and name.lower() in game_names():
        return load_profile(name.lower())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
