"""The Minecraft tech tree as its players know it."""
