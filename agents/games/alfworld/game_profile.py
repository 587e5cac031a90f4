"""How agents read ALFWorld."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.game_profile import GameProfile, last_turn
from textcraft_gym.agents.games.alfworld.avatar import HouseholdAvatar
from textcraft_gym.agents.games.alfworld.controller import CommandChooser
from textcraft_gym.agents.games.alfworld.draws import draw
from textcraft_gym.agents.games.alfworld.faults import fault

PROFILE = GameProfile(
    name="alfworld",
    opening=re.compile(
        r"(?:-= [^\n]* =-\n\n)?(?P<situation>.*)\n\nYour task is to: (?P<task>[^\n]*?)\.?",
        re.DOTALL,
    ),
    no_op=("Nothing happens.", "OK."),
    report=last_turn("Nothing happens."),
    max_steps=300,
    groups={
        "pick_and_place_simple": "Pick",
        "pick_clean_then_place_in_recep": "Clean",
        "pick_heat_then_place_in_recep": "Heat",
        "pick_cool_then_place_in_recep": "Cool",
        "look_at_obj_in_light": "Look",
        "pick_two_obj_and_place": "Pick2",
    },
    controller=CommandChooser,
    avatar=HouseholdAvatar,
    dialects={
        "0.3": re.compile(r"\bin/on\b|\bYou arrive at loc\b"),
        "0.4": re.compile(r"\bmove \S+(?: \d+)? to\b|\bYou arrive at (?!loc\b)"),
    },
    fault=fault,
    draw=draw,
)
