"""How agents read the tabletop."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.game_profile import GameProfile, observation_of
from textcraft_gym.agents.games.tabletop.controller import Placing
from textcraft_gym.agents.games.tabletop.faults import fault

PROFILE = GameProfile(
    name="tabletop",
    opening=re.compile(r"(?P<situation>.*)\n\nYour task is to: (?P<task>[^\n]*)\.", re.DOTALL),
    no_op=("Missed", "OK.", "That is no goal", "The ", "There is no", "There are two"),
    report=observation_of("look"),
    reports_state=True,
    max_steps=100,
    controller=Placing,
    fault=fault,
)
