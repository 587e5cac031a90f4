"""Servers that speak as AgentGym's do, so that its clients and trainers play this suite. Extra ``[serve]``."""
