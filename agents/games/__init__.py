"""The playbooks by name; an environment's row in the table of ids names its own."""

from textcraft_gym.agents.games.default import DEFAULT
from textcraft_gym.agents.games.playbook import Playbook
from textcraft_gym.agents.games.textcraft import TEXTCRAFT

PLAYBOOKS = {playbook.game: playbook for playbook in (DEFAULT, TEXTCRAFT)}

__all__ = ["DEFAULT", "PLAYBOOKS", "TEXTCRAFT", "Playbook"]
