"""An environment that the suite does not know."""

import re

from textcraft_gym.agents.games.playbook import Playbook, last_turn

DEFAULT = Playbook(
    game="default",
    opening=re.compile(r"(?P<situation>.*)\n\n(?:Goal|Task|Your task is to): (?P<task>[^\n]*?)\.?", re.DOTALL),
    dead=("OK.", "Nothing happens", "Invalid"),
    patience=8,
    executor_turns=20,
    react_turns=60,
    executor_tokens=150,
    planner_tokens=800,
    d_max=3,
    inform=last_turn,
)
