"""The playbooks by name; an environment's row in the table of ids names its own."""

from textcraft_gym.agents.games.alfworld import ALFWORLD
from textcraft_gym.agents.games.default import DEFAULT
from textcraft_gym.agents.games.minetechtree import MINETECHTREE
from textcraft_gym.agents.games.playbook import Playbook
from textcraft_gym.agents.games.textcraft import TEXTCRAFT
from textcraft_gym.agents.games.webshop import WEBSHOP

PLAYBOOKS = {playbook.game: playbook for playbook in (ALFWORLD, DEFAULT, MINETECHTREE, TEXTCRAFT, WEBSHOP)}

__all__ = ["ALFWORLD", "DEFAULT", "MINETECHTREE", "PLAYBOOKS", "TEXTCRAFT", "WEBSHOP", "Playbook"]
