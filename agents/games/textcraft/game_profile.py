"""How agents read TextCraft."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.game_profile import GameProfile, observation_of
from textcraft_gym.agents.games.textcraft.avatar import CraftingAvatar
from textcraft_gym.agents.games.textcraft.controller import CraftingController
from textcraft_gym.agents.games.textcraft.draws import draw
from textcraft_gym.agents.games.textcraft.faults import fault, holds

PROFILE = GameProfile(
    name="textcraft",
    opening=re.compile(r"(?P<situation>.*)\n\nGoal: (?P<task>[^\n]*)\.", re.DOTALL),
    no_op=("Could not", "OK."),
    report=observation_of("inventory"),
    reports_state=True,
    max_steps=1000,
    controller=CraftingController,
    avatar=CraftingAvatar,
    fault=fault,
    draw=draw,
    holds=holds,
)
