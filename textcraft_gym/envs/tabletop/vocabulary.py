"""Every word that the game writes, for learners with a vocabulary."""

from __future__ import annotations

from functools import cache

from textcraft_gym.envs.tabletop import text
from textcraft_gym.envs.tabletop.expert import plan
from textcraft_gym.envs.tabletop.state import COLOURS, FIELDS, KINDS, LOCATIONS, SHAPES, SIDES
from textcraft_gym.envs.tabletop.tasks import split_tasks
from textcraft_gym.envs.tabletop.thoughts import thoughts

_ANSWERS = (
    text.unknown(""),
    text.no_such("hole block ring bowl object"),
    text.under("", ""),
    text.too_large("", ""),
    text.out_of_reach(""),
    text.does_not_fit("", ""),
    text.which_hole("", ("", "")),
    text.not_side_by_side("", ""),
    text.has_block(""),
    text.TAKEN,
    text.AGAIN,
    "Missed:",
    "Done: The the is already still on in the brown box table floor stand stuck askew "
    "hole bowl blocks and",
    "It took the with it.",
    text.there_are("block", ()),
    text.there_are("object", ()),
    text.there_are("block", ("",)),
    text.there_are("object", ("",)),
    text.there_are("block", ("", "")),
    "In On the from the top: nothing. Goals left:",
    "0 1 2 3 4 5 6 7 8 9",
)


@cache
def vocabulary() -> str:
    """Return every word that the game writes, apart from words echoed from an action."""
    tasks = split_tasks("paper")
    resets = [task.content for task in tasks]
    forms = [text.forms(kind) for kind in KINDS]
    said: list[str] = []
    for task in tasks:
        said += thoughts(task, plan(task.world))
    return "\n".join(
        [*resets, *forms, *said, *_ANSWERS, *COLOURS, *SHAPES, *LOCATIONS, *SIDES, *FIELDS]
    )
