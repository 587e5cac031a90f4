"""A model that is simulated: no network, no weights, the same answers everywhere, numbers that are no real model's."""

from textcraft_gym.agents.simulated.model import SimulatedModel

__all__ = ["SimulatedModel"]
