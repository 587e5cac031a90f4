"""TextWorld without its repeated work: the same engine at ten times the speed, for a large differential test.

At every step TextWorld parses the same few templates and queries anew and copies their contexts in
depth. It translates each problem at loading and again at every reset, both times twice, the second
time for a planner that is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import lru_cache
from typing import Any
from unittest.mock import patch


@contextmanager
def memoised() -> Iterator[None]:
    """Let TextWorld parse and translate everything once, and copy shallowly, for as long as the
    context lasts."""
    import fast_downward
    from textworld.envs.pddl import textgen
    from textworld.logic import Rule

    parse = lru_cache(maxsize=None)(textgen._parse_and_convert)
    translate = lru_cache(maxsize=1)(fast_downward.pddl2sas)
    with ExitStack() as patches:
        for owner, name, quick in (
            (textgen, "deepcopy", _copy),
            # The grammar writes into the symbols that it derives from, so each caller has its own.
            (
                textgen,
                "_parse_and_convert",
                lambda text, rule_name, **_: _copy(parse(text, rule_name=rule_name)),
            ),
            (
                Rule,
                "parse_conjunctive_query",
                lru_cache(maxsize=None)(Rule.parse_conjunctive_query),
            ),
            (fast_downward, "pddl2sas", lambda domain, problem, **_: translate(domain, problem)),
        ):
            patches.enter_context(patch.object(owner, name, quick))
        yield


def _copy(value: Any) -> Any:
    """Copy a list and each symbol in it, or else one symbol or dictionary."""
    return [copy(item) for item in value] if isinstance(value, list) else copy(value)
