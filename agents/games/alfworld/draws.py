"""Random actions of what ALFWorld's observations name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from textcraft_gym.agents.contract.attempt import Turn
from textcraft_gym.agents.contract.draws import pick

_NAME = re.compile(r"\ban? ([a-z]+ [0-9]+)\b")
_FORMS = (
    "go to {place}",
    "open {place}",
    "close {place}",
    "examine {place}",
    "take {thing} from {place}",
    "clean {thing} with {place}",
    "heat {thing} with {place}",
    "cool {thing} with {place}",
    "use {thing}",
    "inventory",
    "look",
)
_PUT = ("move {thing} to {place}", "put {thing} in/on {place}")


def draw(opening: str, turns: Sequence[Turn], rng: Random) -> str:
    """Return a command of a drawn verb, with a place and a thing that were named.

    Of the two verbs for putting things the game has the one of its dialect: the older one says
    ``loc`` for a place.
    """
    places = list(dict.fromkeys(_NAME.findall(opening)))
    seen = _NAME.findall("\n".join(answer for _, answer in turns))
    things = [name for name in dict.fromkeys(seen) if name not in places]
    is_old = any(" loc " in answer for _, answer in turns)
    forms = [form for form in (*_FORMS, _PUT[is_old]) if things or "{thing}" not in form]
    form = pick(forms if places else ["look"], rng)
    return form.format(place=pick(places or [""], rng), thing=pick(things or [""], rng))
