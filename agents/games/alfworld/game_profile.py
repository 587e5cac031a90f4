"""ALFWorld's profile, with the numbers of the ADaPT paper."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.game_profile import GameProfile, last_turn
from textcraft_gym.agents.games.alfworld.controller import Choosing

ALFWORLD = GameProfile(
    game="alfworld",
    opening=re.compile(r"(?:-= [^\n]* =-\n\n)?(?P<situation>.*)\n\nYour task is to: (?P<task>[^\n]*?)\.?", re.DOTALL),
    dead=("Nothing happens.", "OK."),
    patience=5,
    executor_turns=20,
    react_turns=60,
    executor_tokens=100,
    planner_tokens=400,
    d_max=3,
    inform=last_turn,
    max_steps=300,
    controller=Choosing,
)
