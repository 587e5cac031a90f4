"""Wrappers, one a module, each a complete ``gymnasium.Wrapper``."""
