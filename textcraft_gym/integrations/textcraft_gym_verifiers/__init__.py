"""The name by which verifiers finds the taskset: ``textcraft-gym-verifiers``. Installed as a module of its own."""

from textcraft_gym.integrations.verifiers import GameEnv, GameHarness, GameTaskset

__all__ = ["GameEnv", "GameHarness", "GameTaskset"]
