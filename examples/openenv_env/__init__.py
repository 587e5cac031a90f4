"""Worlds of text for OpenEnv."""

from .client import TextWorlds
from .models import TextAction, TextObservation, TextState

__all__ = ["TextAction", "TextObservation", "TextState", "TextWorlds"]
