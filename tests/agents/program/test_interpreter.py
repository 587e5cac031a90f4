from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.agents.program.interpreter import MAX_LINES, MAX_STEPS, Interpreter, ProgramError, parse_program


def run(text: str) -> list[tuple[str, list[object]]]:
    """Run a program whose actions return how many there were, and return the actions."""
    played: list[tuple[str, list[object]]] = []

    def action(name, arguments):
        yield from ()
        played.append((name, arguments))
        return len(played)

    interpreter = Interpreter(action)
    try:
        assert list(interpreter.run(parse_program(text))) == []
    finally:
        assert interpreter.steps <= MAX_STEPS + 1
    return played


@pytest.mark.parametrize(
    ("program", "actions"),
    [
        ("get('a', 2)", [("get", ["a", 2])]),
        ("```python\nget('a')\n```", [("get", ["a"])]),
        ("get(item='a', count=1 + 2 * 3 - 8 // 3 % 5)", [("get", ["a", 5])]),
        ("n = 2\nn += 1\nget('a', -n)", [("get", ["a", -3])]),
        ("for i in range(2):\n    get('a', i)", [("get", ["a", 0]), ("get", ["a", 1])]),
        ("for x in ['a', 'b']:\n    get(x)\n    break", [("get", ["a"])]),
        ("n = 0\nwhile n < 2:\n    n = get('a')", [("get", ["a"]), ("get", ["a"])]),
        ("if not get(1) or get(2) and 1 in [1]:\n    get(3)\nelse:\n    get(4)", [("get", [n]) for n in (1, 2, 3)]),
        ("def f(n):\n    if n > 0:\n        return n + 1\n    return 0\nget('b', f(2))", [("get", ["b", 3])]),
        ("def plan():\n    get('a')\n    return\n    get('b')", [("get", ["a"])]),
        ("def plan():\n    get('a')\nplan()", [("get", ["a"])]),
        ("assert get('a') >= 2 else craft('b', 1)", [("get", ["a"]), ("craft", ["b", 1])]),
        ("def plan():\n    assert get('a') >= 1 else: craft('b')\n    pass", [("get", ["a"])]),
        ("print('hello', max(1, 2), min([3, 4]), len('ab'))\nget('a', max(1, 2))", [("get", ["a", 2])]),
        ("assert 1 == 1\nget('a')", [("get", ["a"])]),
        ("for i in [1, 2, 3]:\n    if i == 2: continue\n    get('a', i)", [("get", ["a", 1]), ("get", ["a", 3])]),
        ("n = 0\nwhile n < 2:\n    n += 1\n    if n == 1: continue\n    get('a', n)", [("get", ["a", 2])]),
        ("get('a', 1 if 1 < 2 < 3 else 2)\nget('b', 1 if 1 < 3 < 2 else 2)", [("get", ["a", 1]), ("get", ["b", 2])]),
        ("x = get(1) < 2 < get(2) < get(3)", [("get", [1]), ("get", [2])]),
        ("def f(x):\n    return x\nfor i in range(60):\n    x = f(i)\nget('a', x)", [("get", ["a", 59])]),
    ],
)  # fmt: skip
def test_program__does_what_python_would(program: str, actions: list):
    assert run(program) == actions


@pytest.mark.parametrize(
    "program",
    [
        "import os",
        "from os import system",
        "__import__('os')()",
        "().__class__.__bases__[0].__subclasses__()",
        "get.__globals__",
        "get('a').real",
        "x = [1][0]",
        "x = {}",
        "x = {'a': 1}",
        "x = (y for y in [1])",
        "x = [y for y in [1]]",
        "f = lambda: 1",
        "class A: pass",
        "with get('a'): pass",
        "try:\n    get('a')\nexcept: pass",
        "async def f(): pass",
        "global x",
        "del x",
        "raise get",
        "yield 1",
        "await get('a')",
        "x = f'{1}'",
        "x: int = 1",
        "x = y = 1",
        "a, b = [1, 2]",
        "get(*['a'])",
        "x = (y := 1)",
        "1 < 2 is 3",
        "@get\ndef f(): pass",
        "def f(a=1): pass",
        "def f(*a): pass",
        "def f(**a): pass",
        "def f(*, a): pass",
        "def f():\n    break\nfor i in [1]:\n    f()",
        "def f():\n    continue\nf()",
        "x = 1.5",
        "x = b'a'",
        "x = ...",
        "match 1:\n    case 1: pass",
        "for i in range(2):\n    pass\nelse:\n    get('a')",
        "for i in 5: pass",
        "for a, b in [1]: pass",
        "x = nothing",
        "x = 1 / 0",
        "x = 1 // 0",
        "x = 10 ** 9",
        "x = 1 << 9",
        "x = 'a' * 10",
        "x = '%s' % 1",
        "x = 'a' + 1",
        "x = -'a'",
        "x = 1 < 'a'",
        "x = 1 in 1",
        "x = max([])",
        "x = len(1)",
        "x = range('a')",
        "x = range(-10000, 10000)",
        "x = range(5000)",
        "x = 9999999",
        "x = 999999 * 999999",
        "assert 1 == 2",
        "def f(a): pass\nf()",
        "def f(): f()\nf()",
        "while True: pass",
        "while 1:\n    x = 1",
        "for i in range(1000):\n    for j in range(1000):\n        pass",
        "x = 'a'\nwhile 1:\n    x = x + x",
        "x = " + "-" * 200 + "1",
        "x = " + "+".join(["1"] * 4000),
        "x = " + "(" * 3000 + "1" + ")" * 3000,
        "get('a')\n" * (MAX_LINES + 1),
        "x = [[1]]",
        "a = [1]\nfor i in range(40):\n    a = [a, a]\na == a",
        "assert 1 == 2 and " + "not " * 400 + "1",
        "assert" + " " * 9000,
        "\n" * 100_000 + "get('a')",
        "get('" + "a" * 20_000 + "')",
        "this is no program",
        "\x00",
    ],
)
def test_program__does_nothing_else(program: str):
    with pytest.raises(ProgramError):
        run(program)


def test_program__has_so_much_time_besides_what_its_actions_take(monkeypatch: pytest.MonkeyPatch):
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.01
        return now

    def action(name, arguments):
        nonlocal now
        yield from ()
        now += 1000

    monkeypatch.setattr("textcraft_gym.agents.program.interpreter.time.monotonic", clock)
    list(Interpreter(action).run(parse_program("get('a')\n" * 9)))
    with pytest.raises(ProgramError, match="for more than 10 seconds"):
        list(Interpreter(action).run(parse_program("get('a')\nwhile 1: pass")))


LINES = ["get('a')", "if count('a'):", "    get('b', 2)", "while 1:", "    break", "def f(x):", "    return x", "f(1)"]


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=20)))
def test_program__is_read_from_anything(lines: list[str]):
    with suppress(ProgramError):
        run("\n".join(lines))
