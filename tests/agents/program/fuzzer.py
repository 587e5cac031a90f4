"""Random programs of a bounded size, the same for a seed on every machine."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

NAMES = ("a", "b", "c", "n", "agent", "start_from")


class Kind(NamedTuple):
    """Parts of programs of one kind, with expressions in the places of @ and names in those of #.

    Attributes:
        usual: What the interpreter allows, if the values are of the right types.
        wild: What it does not allow, or only in another place.
    """

    usual: tuple[str, ...]
    wild: tuple[str, ...]


ATOM = Kind(
    (
        "#",
        "#",
        "0",
        "7",
        "999999",
        "None",
        "True",
        "'x'",
        "'abcdefghij' 'klmnopqrst'",
        "[]",
        "['p', 1]",
        "agent.places",
    ),
    ("nothing", "f", "agent.fly", "{}", "...", "1.5", "b'a'", "__builtins__", "print"),
)
EXPRESSION = Kind(
    (
        "(n + @)", "(n * 7)", "(n % 9)", "(@ == @)", "(@ in c)", "(a in b)", "(@ and @)", "(@ or @)", "(not @)", "(-n)",
        "(a + a)", "(b + b)", "(b + [a, n])", "[@, @]", "[a, a, a, a]", "f'{@}{@!r}'", "f'{a}{a}'", "(@ if @ else 1)",
        "agent.goto(@)", "agent.look()", "f(agent, start_from=@)", "ask(@)", "len(b)", "range(n)", "range(999)",
        "min(n, 7)", "max(b)", "literal_eval(f'{@}')", "literal_eval(f'{b}')", "print(@)",
    ),
    (
        "(@ + @)", "(@ * @)", "(@ % @)", "(@ // @)", "(@ ** @)", "(@ << @)", "(@ < @)", "[*@, @]", "{@: @}",
        "[x for x in @]", "(lambda x=@: @)", "(x := @)", "f'{@:{@}}'", "f'{@:999999}'", "@.places", "@.__class__",
        "@.format(@)", "@[0]", "@[:]", "agent.goto(*@)", "f(**@)", "range(@, @)", "sorted(@)", "str(@)", "list(@)",
        "getattr(@, @)", "type(@)", "''.join(@)", "@.append(@)", "@.replace(@, @)", "literal_eval(@)", "@()",
    ),
)  # fmt: skip
LINE = Kind(
    (
        "@", "# = @", "# = @", "# += @", "a = a + a", "a += a", "b = b + b", "b += [a]", "b = f'{a}{a}'", "n = n + n",
        "c = c + [a, b]", "c += [a]", "n += 1", "a = ask(a)", "a = f(agent)", "assert True, @", "pass", "continue",
    ),
    (
        "assert @, @", "return @", "break", "# *= @", "#.x = @", "#[0] = @", "del #", "global #", "import os",
        "raise @", "yield @",
    ),
)  # fmt: skip
HEAD = Kind(
    ("if @:", "while n < 999:", "for # in b:", "for # in range(99):", "while 1:", "for c in range(999):", "if 1:",
     "for b in agent.places:"),
    ("while @:", "for # in @:", "def f(a, start_from=@):", "def g(a, b=@):", "with @:", "class A:", "async def f():"),
)  # fmt: skip


class Writer:
    """Writes random programs whose function ``f`` can grow texts, lists and numbers.

    Args:
        seed: What tells one program from another.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def program(self) -> str:
        """Return a program."""
        body = "\n".join(f"    {line}" for line in self._block(3))
        return f"def f(agent, start_from=1):\n    a = 'abcdefgh'\n    b = ['q']\n    c = []\n    n = 1\n{body}\n"

    def _block(self, depth: int) -> list[str]:
        return [line for _ in range(self._below(4) + 1) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        if not depth or self._below(3):
            return [self._filled(self._choice(LINE), 3)]
        return [
            self._filled(self._choice(HEAD), 3),
            *(f"    {line}" for line in self._block(depth - 1)),
        ]

    def _expression(self, depth: int) -> str:
        if not depth or not self._below(2):
            return self._filled(self._choice(ATOM), 0)
        form = self._choice(EXPRESSION)
        filled = self._filled(form, depth - 1)
        if "f'" not in form:
            return filled
        start, _, inner = filled.partition("f'")
        inner, _, end = inner.rpartition("'")
        # A quote cannot stand in an f-string with the same quotes before Python 3.12.
        return start + "f'" + inner.replace("'", '"') + "'" + end

    def _filled(self, form: str, depth: int) -> str:
        return re.sub(
            "[@#]",
            lambda part: self._expression(depth) if part[0] == "@" else self._pick(NAMES),
            form,
        )

    def _choice(self, kind: Kind) -> str:
        return self._pick(kind.usual if self._below(40) else kind.wild)

    def _pick(self, options: tuple[str, ...]) -> str:
        return options[self._below(len(options))]

    def _below(self, bound: int) -> int:
        return int(self.rng.random() * bound)
