"""TextCraft's profile, with the numbers of the ADaPT paper."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.game_profile import GameProfile, looking
from textcraft_gym.agents.games.textcraft.controller import Crafting

TEXTCRAFT = GameProfile(
    game="textcraft",
    opening=re.compile(r"(?P<situation>.*)\n\nGoal: (?P<task>[^\n]*)\.", re.DOTALL),
    dead=("Could not", "OK."),
    patience=8,
    executor_turns=20,
    react_turns=60,
    executor_tokens=150,
    planner_tokens=800,
    d_max=4,
    inform=looking("inventory"),
    max_steps=1000,
    controller=Crafting,
)
