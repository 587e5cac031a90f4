"""Reading the programs that models write."""

from __future__ import annotations

import ast
import re

from textcraft_gym.replies import code_block

MAX_LINES, MAX_CHARACTERS = 200, 10_000

_FENCE = re.compile(r"^[ \t]*```.*$", re.MULTILINE)
_ELSE = re.compile(r"^([ \t]*)assert[ \t]+(\S(?:.*?\S)?)\s+else:?[ \t]+(\S.*)$", re.MULTILINE)


class ProgramError(ValueError):
    """A program that cannot be parsed or run: not allowed, a failed assertion, or a bound.

    Attributes:
        line: Number of the line at which it stopped, from 1; None if it was not run.
    """

    line: int | None = None


def parse_program(text: str, *, checks: bool = False) -> ast.Module:
    """Return the program in a completion, without the fences of a code block.

    Args:
        text: The completion.
        checks: Whether ``assert CONDITION else ACTION`` on a line, as ProgPrompt writes it, plays
            the action if the condition fails.

    Raises:
        ProgramError: If it is too long or cannot be parsed.
    """
    if len(text) > MAX_CHARACTERS:
        raise ProgramError(f"the program is longer than {MAX_CHARACTERS} characters")
    text = _FENCE.sub("", code_block(text))
    if checks:
        text = _ELSE.sub(r"\1if not (\2): \3", text)
    text = text.strip("\n")
    if text.count("\n") >= MAX_LINES:
        raise ProgramError(f"the program is longer than {MAX_LINES} lines")
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ProgramError(f"this is no program: {error}") from error
