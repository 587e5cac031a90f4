"""The tech tree's profile, with the numbers of TextCraft in the ADaPT paper."""

from __future__ import annotations

from dataclasses import replace

from textcraft_gym.agents.games.minetechtree.controller import Gathering
from textcraft_gym.agents.games.textcraft.game_profile import TEXTCRAFT

MINETECHTREE = replace(TEXTCRAFT, game="minetechtree", dead=("Could not", "Wrong item", "OK."), controller=Gathering)
