"""Every word that an observation may contain, for agents that read tokens."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

from textcraft_gym.envs.alfworld import text
from textcraft_gym.envs.alfworld.facts import OTYPES, RTYPES
from textcraft_gym.envs.alfworld.generator import SENTENCES


@lru_cache(maxsize=1)
def vocabulary() -> str:
    """Return a text with every word of both dialects, and the digits in the names of things."""
    types = [type_name.lower() for type_name in (*OTYPES, *RTYPES)]
    tasks = " ".join(chain.from_iterable(SENTENCES.values())).format(object="", target="")
    normal = {"clean": False, "hot": False, "cool": False, "sliced": False, "toggled": False}
    changes = [
        {},
        {"hot": True, "clean": True},
        {"cool": True, "clean": True},
        {"cool": True},
        {"toggled": True},
    ]
    # Names are left empty: the words that they are made of stand at the end.
    lines = [
        text.opening(text.around(["", ""]), tasks),
        text.facing([""], [""]),
        text.receptacle("", openable=True, opened=True, contents=[]),
        text.receptacle("", openable=True, opened=False, contents=[]),
        text.receptacle("", openable=False, opened=True, contents=[]),
        text.receptacle("", openable=False, opened=False, contents=[]),
        *(text.thing("", inner=None, sliceable=True, **(normal | change)) for change in changes),
        text.thing("", inner=None, sliceable=True, **(normal | {"sliced": True, "clean": True})),
        text.thing("", inner=[], sliceable=False, **normal),
        text.carrying(""),
        text.EMPTY_HANDED,
        text.NOTHING_HAPPENS,
        *(
            f"{wording.put} {wording.put_answer} {wording.help}"
            for wording in text.WORDINGS.values()
        ),
        *_ANSWERS,
        "0 1 2 3 4 5 6 7 8 9",
    ]
    return "\n".join([*lines, *types])


# The answers that ``rules`` writes itself, without the names.
_ANSWERS = (
    "You arrive at . You arrive at loc .",
    "You open the . You close the .",
    "You pick up the from the .",
    "You turn on the .",
    "You sliced the with the .",
    "You clean the using the . You heat the using the . You cool the using the .",
)
