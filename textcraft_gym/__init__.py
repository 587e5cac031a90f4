"""Text worlds for language-model agents, as Gymnasium environments. Importing this package registers them."""

from textcraft_gym.errors import TextCraftGymError, UnknownName
from textcraft_gym.evaluation.episode import Episode, run_episode
from textcraft_gym.evaluation.schedule import run_episodes
from textcraft_gym.recipes.recipe import RecipeError
from textcraft_gym.registration import register_all
from textcraft_gym.task import make_splits, tasks

__version__ = "0.1.0"
__all__ = [
    "Episode",
    "RecipeError",
    "TextCraftGymError",
    "UnknownName",
    "make_splits",
    "run_episode",
    "run_episodes",
    "tasks",
]

register_all()
