"""The span of the simulated model: the number of things that it can keep in mind at once.

It counts the distinct things named in the model's own open lines. A line of a transcript is open from the turn in which
the model wrote it until the item that it announces is made; the lines of a plan are all open, since none is done while
the plan is being written. So a long task is no harder than a short one, but a deep one is: each level opens a line
before the line above can be closed.

Alternatives of a step count as one thing, since only one of them is tried at a time, and of a next goal count the lines
that it serves. Exceeding the span gives ``task failed!``. With the option ``exempt_plan`` a whole plan is an exception:
it is as detailed as the span allows, and fails only if even one level exceeds it.
"""

from __future__ import annotations

from collections.abc import Iterable


def in_mind(open_lines: Iterable[Iterable[str]]) -> list[str]:
    """Return the distinct things that open lines name, in order of first mention."""
    return list(dict.fromkeys(thing for line in open_lines for thing in line))


def too_much(open_lines: Iterable[Iterable[str]], span: int) -> str | None:
    """Return the complaint of a model whose open lines exceed its span; None if they do not."""
    things = in_mind(open_lines)
    if len(things) <= span:
        return None
    return f"task failed! {len(things)} things to keep in mind, and I keep {span}: {', '.join(things)}"
