"""Minecraft's crafting recipes as data: loading, depth, shortest solutions and task splits."""

from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.recipe import Ingredient, Recipe, RecipeError, Slot

__all__ = ["Ingredient", "Recipe", "RecipeBook", "RecipeError", "Slot"]
