"""The environments, one folder a game."""
