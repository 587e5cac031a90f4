"""Agents: they see text, ask for actions, and never hold an environment."""

from importlib import import_module
from typing import TYPE_CHECKING

from textcraft_gym.agents.contract.agent import (
    Act,
    Agent,
    Ask,
    EpisodeOver,
    Node,
    Play,
    Policy,
    Request,
    Reset,
    Restore,
    Routine,
    Snapshot,
    Step,
)
from textcraft_gym.agents.contract.model import Completion, Message, Model, ModelError, Prompt

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
    "ADaPTAgent": "adapt.adapt",
    "AdaPlannerAgent": "adaplanner.adaplanner",
    "AutoPlanAgent": "autoplan.autoplan",
    "BestOfNAgent": "lats.best_of_n",
    "ChainOfThoughtAgent": "deps.zero_shot",
    "CodeAsPoliciesAgent": "deps.code_as_policies",
    "DEPAgent": "deps.deps",
    "DEPSAgent": "deps.deps",
    "ExpertAgent": "baselines.expert",
    "ExplorerAgent": "baselines.explorer",
    "GameProfile": "contract.game_profile",
    "InnerMonologueAgent": "deps.inner_monologue",
    "LATSAgent": "lats.lats",
    "NaiveBuyerAgent": "baselines.naive_buyer",
    "PlanAndExecuteAgent": "adapt.plan_and_execute",
    "ProgPromptAgent": "deps.code_as_policies",
    "RandomAgent": "baselines.random_agent",
    "ReActAgent": "adapt.react",
    "ReflexionAgent": "adapt.reflexion",
    "RepeaterAgent": "baselines.repeater",
    "TreeOfThoughtsAgent": "lats.tree_of_thoughts",
    "TryAgainAgent": "adapt.try_again",
    "ZeroShotAgent": "deps.zero_shot",
    "load_profile": "games",
    "make_agent": "registry",
    "make_model": "models.spec",
}
"""Names that are imported on first use, with their modules."""

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
    "Restore",
    "Routine",
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
    """Import a name of ``_LAZY`` on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    """List all names, including those not imported yet."""
    return sorted({*globals(), *__all__})
