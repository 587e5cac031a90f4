"""Actions of a customer, ``search[words]`` and ``click[target]``, parsed without the page."""

from __future__ import annotations

from functools import lru_cache

SEARCH = "search"
CLICK = "click"

_MEMOISED_LENGTH = 400
_TO_SPACES = str.maketrans("[]\n", "   ")


def parse(action: str) -> tuple[str, str]:
    r"""Return the name of an action and its argument in lower case; empty ones for another form.

    The result is that of the original's regular expression ``(.+)\[(.+)\]``, in linear time: the
    argument starts at the last possible bracket, and text after the closing bracket is ignored. The
    name keeps its case, and nothing is stripped.
    """
    if len(action) > _MEMOISED_LENGTH:
        return _parse(action)
    return _memoised(action)


def search(words: str) -> str:
    """Return the action that searches for words."""
    # Brackets and new lines would end it early.
    return f"{SEARCH}[{words.translate(_TO_SPACES)}]"


def click(target: str) -> str:
    """Return the action that clicks a button, a product or an option value."""
    return f"{CLICK}[{target}]"


def can_be_clicked(target: str) -> bool:
    """Return whether a click on this name is parsed as such."""
    return bool(target) and "[" not in target and "\n" not in target


def _parse(action: str) -> tuple[str, str]:
    line, _, _ = action.partition("\n")  # the original's ``.`` matches no new line
    closing = line.rfind("]")
    opening = line.rfind("[", 1, max(closing - 1, 0))
    if opening < 1:
        return "", ""
    return line[:opening], line[opening + 1 : closing].lower()


_memoised = lru_cache(maxsize=1 << 13)(_parse)
