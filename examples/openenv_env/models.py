"""What client and server say to each other."""

from textcraft_gym.integrations.openenv import TextAction, TextObservation, TextState

__all__ = ["TextAction", "TextObservation", "TextState"]
