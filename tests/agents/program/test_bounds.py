"""Programs that would take up time or memory, each run in a process with limits of the operating
system."""

from __future__ import annotations

import pytest

from textcraft_gym.agents.program.parse import MAX_CHARACTERS

pytest.importorskip("resource", reason="Windows has no limits on a process's memory and time")

from tests.agents.program.fuzzer import Writer
from tests.agents.program.limited import run_limited

MOST = 24 * 2**20
"""Bytes that the largest program may take."""
GROW = "x = 'abcdefghij'\nfor i in range(9): x = x + x\n"
"""Makes x a text of 5,120 characters."""
WIDE = f"{GROW}y = [x]\nfor i in range(4): y = y + y\n"
"""Makes y a list of 16 times that text."""
ENDLESS = {
    "loop": "while 1: pass",
    "quiet loop": "while 1:\n    x = 1",
    "nested loops": "for i in range(1000):\n    for j in range(1000):\n        pass",
    "recursion": "def g(): g()\ng()",
    "recursion in a default": "def g(x=1): g(g(x))\ng()",
    "recursion in a message": "def g(): assert 0, g()\ng()",
    "itself": "f(agent)",
    "two functions": "def g(): h()\ndef h(): g()\ng()",
    "text": "x = 'a'\nwhile 1: x = x + x",
    "text in place": "x = 'a'\nwhile 1: x += x",
    "text in braces": "x = 'a'\nwhile 1: x = f'{x}{x}'",
    "text in quotes": "x = 'a'\nwhile 1: x = f'{x!r}{x!r}'",
    "text of characters that are quoted": f"{GROW.replace('abcdefghij', chr(0xE000))}while 1: y = f'{{x!r}}'",
    "many texts": GROW + "for i in range(999): y = x + 'a'",
    "many names": GROW
    + "\n".join(f"x{i} = x + 'a'; y{i} = x + 'b'; z{i} = x + 'c'" for i in range(150)),
    "number": "x = 2\nwhile 1: x = x * x",
    "power": "x = 10 ** 9 ** 9",
    "shift": "x = 1 << 999999",
    "long number": "x = " + "9" * 4000,
    "text times number": "x = 'a' * 999999",
    "number times list": "x = 999999 * [1]",
    "text times number in place": "x = 'a'\nx *= 999999",
    "width": "x = f'{1:999999999}'",
    "width that is computed": "x = f'{1:{999999}}'",
    "width in percent": "x = '%999999d' % 1",
    "format": "x = '{0:999999999}'.format(1)",
    "list": "x = [1]\nwhile 1: x = x + x",
    "list in place": "x = [1]\nwhile 1: x += x",
    "list by one": "x = []\nwhile 1: x += [1]",
    "list that is appended to": "x = []\nwhile 1: x.append(x)",
    "list that is extended": "x = [1]\nx.extend(x)",
    "list that is printed": WIDE + "z = f'{y}'",
    "list that is the message": WIDE + "assert 0, y",
    "list that is compared": WIDE + "z = [x + 'a']\nwhile 1: z == y",
    "list that is searched": WIDE + "while 1: 'b' in y",
    "list whose largest is sought": WIDE + "while 1: max(y)",
    "list in a list": "x = [1]\nfor i in range(40): x = [x, x]",
    "range": "x = range(-999999, 999999)",
    "ranges": "for i in range(1000): x = range(1000)",
    "ranges in names": "\n".join(
        f"a{i}=range(999);b{i}=range(999);c{i}=range(999)" for i in range(180)
    ),
    "text that is searched": GROW + "while 1: 'jj' in x",
    "text that is compared": GROW + "y = x + 'a'\nz = x + 'a'\nwhile 1: y == z",
    "comprehension": "x = [[a for a in range(999)] for b in range(999)]",
    "generator": "max(a for a in range(999999))",
    "join": "x = ','.join(range(999))",
    "replace": "x = 'aaaa'.replace('a', 'a' * 999)",
    "dictionary": "x = {}\nfor i in range(999): x[i] = i",
    "stars": "x = [1]\nwhile 1: x = [*x, *x]",
    "literals": "x = '1,2,3,4,5,'\nfor i in range(7): x = x + x\nwhile 1: literal_eval(x)",
    "literal of parentheses": GROW.replace("abcdefghij", "((((((((((") + "literal_eval(x)",
    "literal of signs": GROW.replace("abcdefghij", "----------") + "literal_eval(x + '1')",
    "literal of braces": GROW.replace("abcdefghij", "{1:{1:{1:{") + "literal_eval(x)",
    "answers": "x = ''\nwhile 1: x = x + ask(x)",
    "places": "x = []\nwhile 1: x = x + agent.places",
    "arguments": WIDE + "while 1: agent.goto(f'{y}')",
    "messages": WIDE + "z = x + x\nassert 0, f'{z}{z}'",
    "signs": "x = " + "-" * 200 + "1",
    "sum": "x = " + "+".join(["1"] * 4000),
    "calls": "x = " + "max(" * 60 + "1, 2" + ", 2)" * 60,
    "conditions": "x = " + "0 if 0 else " * 300 + "1",
    "not evaluated, but said": "assert 0 and " + "not " * 400 + "1",
    "parentheses": "x = " + "(" * 3000 + "1" + ")" * 3000,
    "brackets": "x = " + "[" * 3000,
    "braces": "x = " + "{1:" * 180,
    "lambdas": "x = " + "lambda: " * 1000 + "1",
    "strings": "x = " + "f'{" * 3000,
    "blocks": "".join(" " * level + "if 1:\n" for level in range(90)) + " " * 90 + "pass",
    "lines": "pass\n" * 1000,
    "empty lines": "\n" * (MAX_CHARACTERS - 100),
    "fences": "```\n" * 2400,
    "assertions": "assert" + " a" * 4900,
    "size": "x = '" + "a" * 99_999 + "'",
}
"""Bodies of the function ``f`` that must be held back, by what they would use up."""
ALLOWED = {
    "search": "for place in range(30):\n    for other in range(30): place == other",
    "observations": "for place in range(40):\n    seen = agent.goto(place)\n    if 'pen 9' in seen: break\n"
    "    assert 'pen' in seen, f'{seen} {agent.places}'",
    "list": "x = []\nfor i in range(200): x = x + [i]\nassert len(x) == 200, x",
}
"""Bodies as long as those of real plans."""


def program(body: str) -> str:
    indented = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"def f(agent, start_from=1):\n{indented}\n"


def test_programs__are_held_back_before_they_take_time_and_memory():
    for name, outcome in zip(ENDLESS, run_limited([*map(program, ENDLESS.values())]), strict=True):
        assert outcome.error, name
        assert outcome.peak < MOST, name


def test_programs__of_the_size_of_plans_run_to_their_end():
    for name, outcome in zip(ALLOWED, run_limited([*map(program, ALLOWED.values())]), strict=True):
        assert outcome.error is None, name


def test_programs__of_any_kind_end_within_their_bounds():
    """Nothing but the error of programs is raised, and their actions see plain values alone:
    ``limited`` checks it."""
    programs = [Writer(seed).program() for seed in range(200)]
    outcomes = run_limited(programs)
    assert max(outcome.peak for outcome in outcomes) < MOST
    ended = sum(outcome.error is None for outcome in outcomes)
    assert len(programs) / 5 < ended < len(programs)
    assert len({outcome.error for outcome in outcomes}) > 20  # else the programs are too much alike
