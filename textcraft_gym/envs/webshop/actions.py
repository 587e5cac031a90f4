"""What a customer can do, ``search[words]`` and ``click[what]``, parsed without knowing the page."""

from __future__ import annotations

from functools import lru_cache

SEARCH = "search"
CLICK = "click"

_MEMOISED_LENGTH = 400
_UNSAID = str.maketrans("[]\n", "   ")


def parse(action: str) -> tuple[str, str]:
    r"""Read one action as its name and its argument in lower case; both are empty where it has no such form.

    It is read as the regular expression ``(.+)\[(.+)\]`` reads it from the start, in time that grows with its length
    only: the argument begins at the last bracket that it can begin at, and what follows the closing one is ignored.
    The name keeps its case, and nothing is stripped.
    """
    return _memoised(action) if len(action) <= _MEMOISED_LENGTH else _parse(action)


def search(words: str) -> str:
    """Return the action that searches for words; brackets and new lines in them would end it early."""
    return f"{SEARCH}[{words.translate(_UNSAID)}]"


def click(what: str) -> str:
    """Return the action that clicks."""
    return f"{CLICK}[{what}]"


def can_be_clicked(what: str) -> bool:
    """Return whether the click on a name is read as one; with an opening bracket in the name it is not."""
    return bool(what) and "[" not in what and "\n" not in what


def _parse(action: str) -> tuple[str, str]:
    line, _, _ = action.partition("\n")
    closing = line.rfind("]")
    opening = line.rfind("[", 1, max(closing - 1, 0))
    if opening < 1:
        return "", ""
    return line[:opening], line[opening + 1 : closing].lower()


_memoised = lru_cache(maxsize=1 << 13)(_parse)
