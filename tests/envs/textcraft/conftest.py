from __future__ import annotations

import pytest

from textcraft_gym.recipes import RecipeBook


@pytest.fixture(scope="session", params=["group", "item"])
def book(request) -> RecipeBook:
    return RecipeBook.load(tags=request.param)


@pytest.fixture(scope="session", params=["TextCraft-v0", "TextCraftTags-v0"])
def env_id(request) -> str:
    return request.param
