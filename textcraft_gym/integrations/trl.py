"""Games as environments of TRL's ``GRPOTrainer`` (extra ``[trl]``).

The model plays by calling tools. TRL itself is not imported: its trainer takes any object with a
``reset``, and makes a tool of each other public method. Nothing but the model's own silence ends
the trainer's loop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from textcraft_gym.envs.webshop.actions import click, search
from textcraft_gym.errors import UnknownName, needs
from textcraft_gym.registration import find
from textcraft_gym.session import EPISODE_ARGUMENTS, starts
from textcraft_gym.tool_game import BaseToolGame, ToolGame

if TYPE_CHECKING:
    from datasets import Dataset

_AROUND = ('""', "''", "``", "[]")
_COUNT = re.compile(r"\d+ ")

Tools: TypeAlias = Literal["step", "verbs"]

PROMPT = (
    "You play a game of text. Play it by calling a tool, one call at a time, "
    "until the task is done.\n\n"
)
"""The user's message before the first observation, which the trainer appends."""


class VerbGame(BaseToolGame):
    """A game with a tool for each of its verbs, which writes the command in the game's form."""

    def __init__(self, env_id: str, **arguments: Any) -> None:
        super().__init__(env_id, **{"read": str, **arguments})


class TextCraftGame(VerbGame):
    """TextCraft, with a tool for each of its verbs."""

    def get(self, amount: int, item: str) -> str:
        """Get an item that is not crafted.

        Args:
            amount: How many of it.
            item: The name of the item.

        Returns:
            What was got, or why nothing was.
        """
        name = _COUNT.sub("", _in_names("get ", item))
        return self._play(f"get {_whole(amount)} {name}")

    def craft(self, recipe: str) -> str:
        """Craft an item from ingredients in the inventory.

        Args:
            recipe: A crafting command as it was listed, without the word craft: 4 oak planks using
                1 oak log.

        Returns:
            What was crafted, or why nothing was.
        """
        return self._play(f"craft {_in_names('craft ', recipe)}")

    def inventory(self) -> str:
        """Look at the inventory.

        Returns:
            The items in it.
        """
        return self._play("inventory")


class WebShopGame(VerbGame):
    """WebShop, with a tool for each of its verbs."""

    def search(self, keywords: str) -> str:
        """Search the shop.

        Args:
            keywords: The words to search for.

        Returns:
            The page of results.
        """
        return self._play(search(_argument("search[", keywords)))

    def click(self, button: str) -> str:
        """Click a button, a link or an option of the page.

        Args:
            button: Its text as it is written on the page.

        Returns:
            The next page.
        """
        return self._play(click(_argument("click[", button)))


VERBS: dict[str, type[VerbGame]] = {"textcraft": TextCraftGame, "webshop": WebShopGame}
"""The games that have a tool for each verb, by the names of their profiles."""


def game(
    env_id: str,
    *,
    tools: Tools = "step",
    **arguments: Any,
) -> Callable[[], BaseToolGame]:
    """Return an ``environment_factory``, which makes a game whenever the trainer wants one more.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        tools: ``step`` for one tool that plays any command, ``verbs`` for one tool a verb, in
            TextCraft and WebShop.
        **arguments: Those of ``TextEpisode``: ``max_steps``, ``wrappers``, and arguments of
            ``gym.make``.

    Raises:
        UnknownName: For an environment, a kind of tools or an argument that does not exist, or a
            game without tools for verbs.
    """
    if tools not in get_args(Tools):
        raise UnknownName.of("tools", tools, get_args(Tools))
    world = find(env_id)
    world.check_arguments(arguments, EPISODE_ARGUMENTS)
    profile = world.profile
    if tools == "verbs" and profile not in VERBS:
        raise UnknownName.of("game with tools for verbs", profile, list(VERBS))
    kind: type[BaseToolGame] = ToolGame if tools == "step" else VERBS[profile]
    return partial(kind, env_id, **arguments)


def dataset(
    env_id: str,
    split: str,
    *,
    seeds: int | Sequence[int] = 1,
    limit: int | None = None,
    prompt: str = PROMPT,
    **arguments: Any,
) -> Dataset:
    """Return the data set of a split: a row for each task and seed.

    The columns are ``prompt``, a dialogue of one message; ``task`` and ``seed``, with which the
    trainer resets a game; and ``environment``, the id, by which it finds one if the
    ``environment_factory`` is a dictionary of several.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        split: The split to train on.
        seeds: The seeds of each task, or their number, counted from 0.
        limit: Maximum number of rows.
        prompt: The message. The trainer appends the first observation without a blank: end it with
            a blank line.
        **arguments: Further arguments of ``gym.make``.

    Raises:
        UnknownName: For an environment, a split or an argument that does not exist.
        ValueError: If seeds or limit are out of bounds.
    """
    with needs("trl"):
        from datasets import Dataset
    message = {"role": "user", "content": prompt}
    rows = [
        {"prompt": [message], "task": start.task, "seed": start.seed, "environment": env_id}
        for start in starts(
            env_id,
            split,
            seeds=seeds,
            limit=limit,
            **arguments,
        )
    ]
    return Dataset.from_list(rows)


def _argument(opening: str, argument: object) -> str:
    """Return an argument of a model's call on one line, without quotes or brackets around it.

    Args:
        opening: How the whole command begins, ``craft `` or ``search[``, which models repeat.
        argument: What the model gave.
    """
    line = _bare(" ".join(str(argument).split()))
    if not line.lower().startswith(opening):
        return line
    verb = opening.rstrip("[")
    return _bare(line[len(verb) :])


def _bare(text: str) -> str:
    text = text.strip()
    while len(text) > 2 and f"{text[0]}{text[-1]}" in _AROUND:
        text = text[1:-1].strip()
    return text


def _in_names(opening: str, argument: object) -> str:
    """Return an argument in the letters of TextCraft's names, all of which are in lower case."""
    return _argument(opening, argument).rstrip(".").lower()


def _whole(amount: object) -> str:
    """Return a whole number as the game reads it, 2 for ``2.0`` and ``"2"``; others unchanged."""
    written = _bare(str(amount))
    try:
        number = float(written)
    except ValueError:
        return written
    return str(int(number)) if number.is_integer() else written
