"""The contract of environments, for Doors."""

from textcraft_gym.testing import EnvContract


class TestDoors(EnvContract):
    """Run it with pytest."""

    env_id = "doors:Doors-v0"
