"""Foreign texts as a terminal may get them: what it would obey is escaped."""

from __future__ import annotations

import sys
import unicodedata

_OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of characters that control a terminal, turn the direction of a line, or end it."""


def printable(text: str) -> str:
    """Return a text on one line, with control characters escaped as in Python."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def printable_lines(text: str) -> str:
    """Return a text whose lines are printable."""
    return "\n".join(map(printable, text.split("\n")))


def print_lines(text: str) -> None:
    """Print a text, with what standard output cannot show escaped as in Python."""
    encoding = sys.stdout.encoding or "utf-8"
    shown = printable_lines(text).encode(encoding, "backslashreplace")
    sys.stdout.write(shown.decode(encoding) + "\n")
    sys.stdout.flush()


def _escaped(character: str) -> str:
    is_obeyed = unicodedata.category(character) in _OBEYED
    return repr(character)[1:-1] if is_obeyed else character
