"""Agents: they see text, ask for actions, and never hold an environment."""

from textcraft_gym.agents.contract.agent import (
    Act,
    Agent,
    Ask,
    Completion,
    EpisodeOver,
    Message,
    Model,
    ModelError,
    Node,
    Play,
    Policy,
    Prompt,
    Request,
    Reset,
    Routine,
    Step,
)

__all__ = [
    "Act",
    "Agent",
    "Ask",
    "Completion",
    "EpisodeOver",
    "Message",
    "Model",
    "ModelError",
    "Node",
    "Play",
    "Policy",
    "Prompt",
    "Request",
    "Reset",
    "Routine",
    "Step",
]
