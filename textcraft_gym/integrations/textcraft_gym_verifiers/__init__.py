"""The top-level module by which verifiers finds the taskset ``textcraft-gym-verifiers``."""

from textcraft_gym.integrations.verifiers import GameEnv, GameHarness, GameTaskset

__all__ = ["GameEnv", "GameHarness", "GameTaskset"]
