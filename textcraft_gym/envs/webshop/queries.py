"""The searches that an instruction suggests: for all of it, its clauses, words and pairs."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from textcraft_gym.envs.webshop.actions import search

MAX_SEARCHES = 50
"""Maximum number of searches for one instruction."""

_CLAUSE_ENDS = re.compile(r"[.,;!?](?=\s|$)")
_WORD = re.compile(r"[\w'-]+")
_PRICE = ", and price lower than "
_SHORTEST_WORD = 3
_FILLER = frozenset(
    _WORD.findall("""
    a about also am an and any are as at be but buy by can could do does don't find for from get
    give going has have hello help hi i i'd i'm i've in interested is it look looking make me must
    my need no of on one or please prefer searching set shopping should show so some something sure
    that the them they this to tried want was were which with would you
    """)
)
"""Words that say nothing about what is wanted."""


@lru_cache(maxsize=1 << 12)
def searches(instruction: str) -> tuple[str, ...]:
    """Return the searches that an instruction suggests: first for all of it, then for parts.

    The parts are without filler and price.
    """
    wanted = instruction.partition(_PRICE)[0]
    clauses = [clause.strip() for clause in _CLAUSE_ENDS.split(wanted) if clause.strip()]
    words = [word for word in dict.fromkeys(_WORD.findall(wanted.lower())) if _tells(word)]
    pairs = [" ".join(pair) for pair in pairwise(words)]
    return tuple(dict.fromkeys(map(search, [instruction, *clauses, *words, *pairs])))[:MAX_SEARCHES]


def _tells(word: str) -> bool:
    return len(word) >= _SHORTEST_WORD and word not in _FILLER and not word.isdigit()
