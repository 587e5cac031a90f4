"""Text environments for language-model agents, registered with Gymnasium on import."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from textcraft_gym.registration import register_suite

if TYPE_CHECKING:
    from textcraft_gym import agents, wrappers
    from textcraft_gym.agents import Agent, Completion
    from textcraft_gym.agents.models.spec import make_model
    from textcraft_gym.agents.registry import make_agent
    from textcraft_gym.episodes.calls import Call
    from textcraft_gym.episodes.episode import Episode, run_episode
    from textcraft_gym.episodes.schedule import run_episodes
    from textcraft_gym.errors import TextCraftGymError, UnknownName
    from textcraft_gym.recipes.recipe import RecipeError
    from textcraft_gym.replies import last_command
    from textcraft_gym.reports.calls import read_calls
    from textcraft_gym.runs.estimate import estimate
    from textcraft_gym.runs.optimise_plan import optimise_plan
    from textcraft_gym.runs.rollouts import rollouts
    from textcraft_gym.runs.run_spec import RunSpec
    from textcraft_gym.runs.runner import evaluate
    from textcraft_gym.session import Start, TextEpisode, starts
    from textcraft_gym.splits import make_splits
    from textcraft_gym.task import Task, tasks
    from textcraft_gym.tool_game import BaseToolGame, ToolGame
    from textcraft_gym.vector import TextVectorEnv

__version__ = "0.1.0"
__all__ = [
    "Agent",
    "BaseToolGame",
    "Call",
    "Completion",
    "Episode",
    "RecipeError",
    "RunSpec",
    "Start",
    "Task",
    "TextCraftGymError",
    "TextEpisode",
    "TextVectorEnv",
    "ToolGame",
    "UnknownName",
    "agents",
    "estimate",
    "evaluate",
    "last_command",
    "make_agent",
    "make_model",
    "make_splits",
    "optimise_plan",
    "read_calls",
    "rollouts",
    "run_episode",
    "run_episodes",
    "starts",
    "tasks",
    "wrappers",
]

_HOMES = {
    "Agent": "agents",
    "BaseToolGame": "tool_game",
    "Call": "episodes.calls",
    "Completion": "agents",
    "Episode": "episodes.episode",
    "RecipeError": "recipes.recipe",
    "RunSpec": "runs.run_spec",
    "Start": "session",
    "Task": "task",
    "TextCraftGymError": "errors",
    "TextEpisode": "session",
    "TextVectorEnv": "vector",
    "ToolGame": "tool_game",
    "UnknownName": "errors",
    "estimate": "runs.estimate",
    "evaluate": "runs.runner",
    "last_command": "replies",
    "make_agent": "agents.registry",
    "make_model": "agents.models.spec",
    "make_splits": "splits",
    "optimise_plan": "runs.optimise_plan",
    "read_calls": "reports.calls",
    "rollouts": "runs.rollouts",
    "run_episode": "episodes.episode",
    "run_episodes": "episodes.schedule",
    "starts": "session",
    "tasks": "task",
}
"""Modules of the public names, imported on first use: most programs need a few of them."""


def __getattr__(name: str) -> Any:
    if name in ("agents", "wrappers"):
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_suite()
