"""Reading the replies of chat models, which write more than a command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_BLOCK = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_FENCE = re.compile(r"```\w*")
_LABEL = re.compile(r"[*_#> ]*(?:thought\b.*\W)?(?:next |final )?action ?\d*[*_ ]*:[*_]*(.*)", re.IGNORECASE)
_MARKED = re.compile(r"(`{1,3}|\")(.+)\1")


def last_command(reply: str) -> str:
    r"""Return the command in a reply of a chat model; empty if there is none.

    It is what follows the last label ``Action:`` on its line or the next. Without a label it is the last line of the
    last code block, and without a block the last line of the reply. Blank lines and fences do not count, what stands up
    to ``</think>`` is left out, and so are a ``>`` before the command and the marks or quotes around it. A command
    alone is returned as it is, but for blanks around it.

    Args:
        reply: The whole reply.

    Examples:
        >>> last_command("I need planks first.\n\nAction: get 1 oak log")
        'get 1 oak log'
        >>> last_command("Thought 2: the desk may have it.\nAction 2: **go to desk 1**")
        'go to desk 1'
        >>> last_command("<think>Is it open? Action: look</think>\n```\nopen drawer 2\n```\nThen I will look inside.")
        'open drawer 2'
        >>> last_command("> inventory")
        'inventory'
    """
    # A model that is cut off while it thinks has given no command.
    spoken = reply.rpartition("</think>")[2].partition("<think>")[0]
    lines = spoken.splitlines()
    for number, line in reversed(list(enumerate(lines))):
        if label := _LABEL.fullmatch(line.strip()):
            return next(_commands([label[1], *lines[number + 1 :]]), "")
    blocks = [block for block in _BLOCK.findall(spoken) if block.strip()]
    return next(_commands(reversed((blocks[-1] if blocks else spoken).splitlines())), "")


def _commands(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that have a command, without what is around it."""
    for line in lines:
        command = line.strip()
        if _FENCE.fullmatch(command):
            continue
        command = command.removeprefix(">").strip("* ")
        if marked := _MARKED.fullmatch(command):
            command = marked[2].strip()
        if command:
            yield command
