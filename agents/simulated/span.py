"""How much the simulated model keeps in mind at once, and what counts towards it.

What counts are the distinct things that are named in lines of its own that are still open. A line of a transcript is
open from the turn in which the model wrote it until what it announces is made; the lines of a plan are all open, since
nothing of it is done while it is written. So a long task is no harder than a short one, but a deep one is: each level
opens a line before the one above can be closed.

Whatever goes over the span is a ``task failed!``, with one exception: a plan that is asked for in full is made only as
full as can be kept in mind, and fails if not even one level can.
"""

from __future__ import annotations

from collections.abc import Iterable


def in_mind(open_lines: Iterable[Iterable[str]]) -> list[str]:
    """Return the distinct things that open lines name, in the order in which they come up."""
    return list(dict.fromkeys(thing for line in open_lines for thing in line))


def too_much(open_lines: Iterable[Iterable[str]], span: int) -> str | None:
    """Return what the model says when it would have to keep more in mind than it can; None if it can."""
    things = in_mind(open_lines)
    if len(things) <= span:
        return None
    return f"task failed! {len(things)} things to keep in mind, and I keep {span}: {', '.join(things)}"
