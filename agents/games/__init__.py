"""The profiles of games by name; an environment's row in the table of ids names its own."""

from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.games.alfworld.game_profile import ALFWORLD
from textcraft_gym.agents.games.minetechtree.game_profile import MINETECHTREE
from textcraft_gym.agents.games.textcraft.game_profile import TEXTCRAFT
from textcraft_gym.agents.games.webshop.game_profile import WEBSHOP

PROFILES = {profile.game: profile for profile in (ALFWORLD, DEFAULT, MINETECHTREE, TEXTCRAFT, WEBSHOP)}

__all__ = ["ALFWORLD", "DEFAULT", "MINETECHTREE", "PROFILES", "TEXTCRAFT", "WEBSHOP", "GameProfile"]


def load_profile(name: str) -> GameProfile:
    """Return the profile of a game by its name."""
    return PROFILES[name]
