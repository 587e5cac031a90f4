"""WebShop's profile, with the numbers of the ADaPT paper."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.games.webshop.pages import INVALID
from textcraft_gym.agents.games.webshop.skills import brief, inform, skills

WEBSHOP = GameProfile(
    game="webshop",
    opening=re.compile(r"\s*(?P<situation>WebShop\b.*?)\s*", re.DOTALL),
    task="buy what the instruction asks for",
    dead=(INVALID,),
    patience=3,
    executor_turns=15,
    react_turns=45,
    executor_tokens=100,
    planner_tokens=800,
    d_max=3,
    inform=inform,
    max_steps=300,
    brief=brief,
    plans_first=True,
    atomic=("buy",),
    skills=skills,
)
