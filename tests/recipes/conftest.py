"""The two books that the package carries."""

from __future__ import annotations

import pytest

from textcraft_gym.recipes import RecipeBook


@pytest.fixture(scope="session")
def group_book() -> RecipeBook:
    return RecipeBook.load(tags="group")


@pytest.fixture(scope="session")
def item_book() -> RecipeBook:
    return RecipeBook.load(tags="item")


@pytest.fixture(scope="session", params=["group", "item"])
def book(request: pytest.FixtureRequest) -> RecipeBook:
    """Each book in turn."""
    return RecipeBook.load(tags=request.param)
