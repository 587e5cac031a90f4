"""How agents read the Minecraft tech tree."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.game_profile import GameProfile, observation_of
from textcraft_gym.agents.games.minetechtree.avatar import TechTreeAvatar
from textcraft_gym.agents.games.minetechtree.controller import TechTreeController
from textcraft_gym.agents.games.minetechtree.faults import fault

PROFILE = GameProfile(
    name="minetechtree",
    opening=re.compile(r"(?P<situation>.*)\n\nGoal: (?P<task>[^\n]*)\.", re.DOTALL),
    no_op=("Could not", "Wrong item", "OK."),
    report=observation_of("inventory"),
    reports_state=True,
    max_steps=1000,
    controller=TechTreeController,
    avatar=TechTreeAvatar,
    fault=fault,
)
