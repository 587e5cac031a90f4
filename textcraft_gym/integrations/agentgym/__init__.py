"""Servers for AgentGym's clients and trainers, with AgentGym's routes. Extra ``[serve]``."""
