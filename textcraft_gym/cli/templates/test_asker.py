"""The contract of agents, for Asker."""

from pathlib import Path

from asker import Asker

from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.testing import AgentContract


class TestAsker(AgentContract):
    """Run it with pytest."""

    def make_agent(self) -> Asker:
        """Return the agent under test."""
        return Asker(prompts=Prompts(Path(__file__).with_name("prompts")))
