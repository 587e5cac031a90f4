"""How agents read WebShop."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.game_profile import ADaPTHooks, GameProfile
from textcraft_gym.agents.games.webshop.draws import draw
from textcraft_gym.agents.games.webshop.faults import fault
from textcraft_gym.agents.games.webshop.pages import INVALID
from textcraft_gym.agents.games.webshop.skills import brief, make_skills, report_page

PROFILE = GameProfile(
    name="webshop",
    opening=re.compile(r"\s*(?P<situation>WebShop\b.*?)\s*", re.DOTALL),
    no_op=(INVALID,),
    final=re.compile(r"click\[buy now\]", re.IGNORECASE),
    report=report_page,
    default_task="buy what the instruction asks for",
    max_steps=300,
    partial_credit=True,
    # A purchase and a look at one product are a few clicks: there is no smaller step to plan.
    adapt=ADaPTHooks(skills=make_skills, brief=brief, plans_first=True, atomic=("buy", "detail")),
    fault=fault,
    draw=draw,
)
