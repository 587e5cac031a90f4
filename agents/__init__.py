"""Agents: they see text, ask for actions, and never hold an environment."""

from importlib import import_module
from typing import TYPE_CHECKING

from textcraft_gym.agents.contract.agent import (
    Act,
    Agent,
    AgentLike,
    Ask,
    Compute,
    EpisodeOver,
    Node,
    Play,
    Report,
    Request,
    Reset,
    Restore,
    Routine,
    Snapshot,
    Step,
)
from textcraft_gym.agents.contract.model import Completion, Message, Model, ModelError, Prompt
from textcraft_gym.agents.defaults import Settings

if TYPE_CHECKING:
    from textcraft_gym.agents.adaplanner.adaplanner import AdaPlannerAgent
    from textcraft_gym.agents.adapt.adapt import ADaPTAgent
    from textcraft_gym.agents.adapt.plan_and_execute import PlanAndExecuteAgent
    from textcraft_gym.agents.adapt.react import ReActAgent
    from textcraft_gym.agents.adapt.reflexion import ReflexionAgent
    from textcraft_gym.agents.adapt.try_again import TryAgainAgent
    from textcraft_gym.agents.autoplan.autoplan import AutoPlanAgent
    from textcraft_gym.agents.baselines.expert import ExpertAgent
    from textcraft_gym.agents.baselines.explorer import ExplorerAgent
    from textcraft_gym.agents.baselines.naive_buyer import NaiveBuyerAgent
    from textcraft_gym.agents.baselines.random_agent import RandomAgent
    from textcraft_gym.agents.baselines.random_text import RandomTextAgent
    from textcraft_gym.agents.baselines.repeater import RepeaterAgent
    from textcraft_gym.agents.contract.game_profile import GameProfile
    from textcraft_gym.agents.deps.code_as_policies import CodeAsPoliciesAgent, ProgPromptAgent
    from textcraft_gym.agents.deps.deps import DEPAgent, DEPSAgent
    from textcraft_gym.agents.deps.inner_monologue import InnerMonologueAgent
    from textcraft_gym.agents.deps.zero_shot import ChainOfThoughtAgent, ZeroShotAgent
    from textcraft_gym.agents.games import load_profile
    from textcraft_gym.agents.lats.best_of_n import BestOfNAgent
    from textcraft_gym.agents.lats.lats import LATSAgent
    from textcraft_gym.agents.lats.tree_of_thoughts import TreeOfThoughtsAgent
    from textcraft_gym.agents.models.spec import make_model
    from textcraft_gym.agents.registry import make_agent

_LAZY = {
    "GameProfile": "contract.game_profile",
    "load_profile": "games",
    "make_agent": "registry",
    "make_model": "models.spec",
}
"""Modules of the names imported on first use; ``registry.AGENTS`` has those of the agents."""

__all__ = [
    "Act",
    "Agent",
    "AgentLike",
    "Ask",
    "Completion",
    "Compute",
    "EpisodeOver",
    "Message",
    "Model",
    "ModelError",
    "Node",
    "Play",
    "Prompt",
    "Report",
    "Request",
    "Reset",
    "Restore",
    "Routine",
    "Settings",
    "Snapshot",
    "Step",
    "ADaPTAgent",
    "AdaPlannerAgent",
    "AutoPlanAgent",
    "BestOfNAgent",
    "ChainOfThoughtAgent",
    "CodeAsPoliciesAgent",
    "DEPAgent",
    "DEPSAgent",
    "ExpertAgent",
    "ExplorerAgent",
    "GameProfile",
    "InnerMonologueAgent",
    "LATSAgent",
    "NaiveBuyerAgent",
    "PlanAndExecuteAgent",
    "ProgPromptAgent",
    "RandomAgent",
    "RandomTextAgent",
    "ReActAgent",
    "ReflexionAgent",
    "RepeaterAgent",
    "TreeOfThoughtsAgent",
    "TryAgainAgent",
    "ZeroShotAgent",
    "load_profile",
    "make_agent",
    "make_model",
]


def __getattr__(name: str) -> object:
    """Import a name of ``_LAZY``, or the class of an agent, on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    paths = import_module(f"{__name__}.registry").AGENTS.values()
    modules = {path.partition(":")[2]: path.partition(":")[0] for path in paths}
    return getattr(import_module(modules[name]), name)


def __dir__() -> list[str]:
    """List all names, including those not imported yet."""
    return sorted({*globals(), *__all__})
