from __future__ import annotations

import builtins
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.program.limited import Robot
from textcraft_gym.agents.program.interpreter import MAX_STEPS, Interpreter
from textcraft_gym.agents.program.parse import MAX_LINES, ProgramError, parse_program
from textcraft_gym.agents.program.values import AGENT, FUNCTIONS


def run(text: str) -> list[tuple[str, list[object]]]:
    """Run a program whose actions return how many there were, and return the actions."""
    played: list[tuple[str, list[object]]] = []

    def action(name, arguments):
        yield from ()
        played.append((name, arguments))
        return len(played)

    interpreter = Interpreter(action)
    try:
        assert list(interpreter.run(parse_program(text, checks=True))) == []
    finally:
        assert interpreter.steps <= MAX_STEPS + 1
    return played


def steer(text: str, **names) -> tuple[list[tuple[str, list[object]]], dict[str, object]]:
    """Run the function f of a program, which may steer a robot, and return the calls of it and the
    variables."""
    robot, names = Robot(), {"agent": AGENT, **names}
    assert (
        list(Interpreter(robot.action, robot).run_function(parse_program(text), "f", names)) == []
    )
    return robot.called, names


def test_objects__are_known_by_name_everywhere_and_nowhere_a_value():
    robot = Robot()
    objects = {"robot": robot}
    program = parse_program(
        "def f():\n    return robot.place\nassert f() == robot.place\nrobot.goto('bed 2')"
    )
    assert list(Interpreter(robot.action, objects=objects).run(program)) == []
    assert robot.called == [("goto", ["bed 2"])]
    for text, complaint in {
        "get(robot)": "there is no robot",
        "robot.name": "agent has no name",
        "agent.goto('bed 2')": "only robot has attributes",
        "'a'.goto('bed 2')": "only robot has attributes",
        "robot.goto.goto('bed 2')": "only robot has attributes",
    }.items():
        with pytest.raises(ProgramError, match=complaint):
            list(Interpreter(robot.action, objects=objects).run(parse_program(text)))


def test_imports__of_actions_do_nothing_and_only_where_they_are_allowed():
    robot = Robot()
    program = parse_program("from actions import goto, look\ngoto('a')")
    assert list(Interpreter(robot.action, imports=True).run(program)) == []
    assert robot.called == [("goto", ["a"])]
    for text in (
        "import actions",
        "from actions.more import go",
        "from os import go",
        "from . import go",
    ):
        with pytest.raises(ProgramError, match=r"Import(From)? is not allowed"):
            list(Interpreter(robot.action, imports=True).run(parse_program(text)))
    with pytest.raises(ProgramError, match="ImportFrom is not allowed"):
        list(Interpreter(robot.action).run(program))


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
        ("def f(x, y=1 + 1, z='c'):\n    get(x, y, z)\nf(1)\nf(1, z=3)\nf(y=2, x=1, z=4)",
            [("get", [1, 2, "c"]), ("get", [1, 2, 3]), ("get", [1, 2, 4])]),
        ("n = 2\nget(f'a {n} {\"b\"!r} {[1, None]} {n=}{{}}')", [("get", ["a 2 'b' [1, None] n=2{}"])]),
        ("get('b' in 'abc', 'd' not in 'abc', literal_eval(' [1, -2] '), literal_eval('(\"a\", True)'))",
            [("get", [True, True, [1, -2], ["a", True]])]),
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
        "x = f'{1:9}'",
        "x = f'{1!a}'",
        "x = f'{1:{9}}'",
        "x = f'{nothing}'",
        "x = f'{get.__globals__}'",
        "x = f'{().__class__}'",
        "x = f'{[1][0]}'",
        "x = f'{(lambda: 1)()}'",
        "x = f'{__import__(\"os\").name}'",
        "x: int = 1",
        "x = y = 1",
        "a, b = [1, 2]",
        "get(*['a'])",
        "x = (y := 1)",
        "1 < 2 is 3",
        "@get\ndef f(): pass",
        "def f(a, b=1): pass\nf()",
        "def f(a, b=1): pass\nf(1, 2, 3)",
        "def f(a, b=1): pass\nf(1, a=2)",
        "def f(a, b=1): pass\nf(1, c=2)",
        "def f(a=b): pass",
        "def f(a=[].append): pass",
        "get(**{'a': 1})",
        "get(**x)",
        "agent.goto('a')",
        "agent = 1\nagent.goto('a')",
        "get.goto('a')",
        "'a'.format(1)",
        "'{0.__class__}'.format(1)",
        "print.__self__",
        "get('a').__class__",
        "'{0.__class__}'.format_map(get)",
        "''.join([1])",
        "[1].append([1])",
        "x = 'a'[:]",
        "x = {1}",
        "x = [*range(9)]",
        "x = (y for y in [1]).gi_frame",
        "x = [y for y in [1]].__iter__",
        "f = lambda x=get: x",
        "def f(x=().__class__): pass",
        "def f(x=lambda: 1): pass",
        "def f(): pass\nf.__code__",
        "def f(): pass\nx = f",
        "def f(): pass\nx = f'{f}'",
        "@print\ndef f(): pass",
        "try: x\nfinally: pass",
        "try: x\nexcept Exception as error: error.__traceback__.tb_frame",
        "raise ValueError",
        "assert 0, ValueError('a').args",
        "nonlocal x",
        "x = get.x = 1",
        "get.x: int = 1",
        "get.x += 1",
        "get['x'] = 1",
        "for get.x in [1]: pass",
        "for x[0] in [1]: pass",
        "[x, y] = [1, 2]",
        "with get as x: pass",
        "for x in get: pass",
        "for x in 'ab': pass",
        "yield from get",
        "x = await get",
        "x = 1 @ 2",
        "x = 1 is 1",
        "x = ~1",
        "x = +1",
        "x = 1 ^ 1",
        "x = 1 & 1",
        "x = 10 ** 9",
        "x = 1 << 9",
        "x = 2 * 'a'",
        "x = [1] * 2",
        "x = 1\nx *= 'a'",
        "x = 'a'\nx %= 1",
        "x = 1\nx **= 2",
        "x = f'{1:>{9}}'",
        "x = f'{1:{get.x}}'",
        "x = f'{get!r.x}'",
        "x = max([1, 2], key=len)",
        "x = max(1, default=print)",
        "x = min(1, key=2)",
        "x = len(obj=[1])",
        "x = print",
        "x = __builtins__",
        "x = __debug__",
        "x = [literal_eval][0]",
        "literal_eval('().__class__')",
        "literal_eval('f\\'{1}\\'')",
        "literal_eval('b\\'a\\'')",
        "literal_eval('-True')",
        "literal_eval('1j')",
        "literal_eval('{1}')",
        "literal_eval('[*[1]]')",
        "literal_eval('lambda: 1')",
        "literal_eval('\\x00')",
        "literal_eval('x' ':=1')",
        "x = (print)\nx()",
        "get()()",
        "(get)('a')()",
        "literal_eval('f()')",
        "literal_eval('a')",
        "literal_eval('[[1]]')",
        "literal_eval('[(1, 2)]')",
        "literal_eval('{1: 2}')",
        "literal_eval('1 + 1')",
        "literal_eval('__import__')",
        "literal_eval('9' * 1)",
        "literal_eval('99999999')",
        "literal_eval('1.5')",
        "literal_eval('[' + '1,')",
        "literal_eval('')",
        "literal_eval(1)",
        "literal_eval('-' + '---------' + 'a')",
        "eval('1')()",
        "assert 1 == 2, nothing",
        "assert 1 == 2, get.x",
        "def f(*a): pass",
        "def f(**a): pass",
        "def f(*, a): pass",
        "def f(a, /): pass",
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
        "def f(n):\n"
        + "".join("    " * d + "if 1:\n" for d in range(1, 20))
        + "    " * 20
        + "f(n)\nf(1)",
        "get('a')\n" * (MAX_LINES + 1),
        "x = [[1]]",
        "assert 1 == 2 and " + "not " * 400 + "1",
        "assert" + " " * 9000,
        "get('" + "a" * 20_000 + "')",
        "this is no program",
        "\x00",
    ],
)
def test_program__does_nothing_else(program: str):
    with pytest.raises(ProgramError):
        run(program)


def test_program__steers_an_agent():
    called, names = steer(
        "import os\nos.remove('everything')\ng()\n"
        "def g(robot, place='bed 2'):\n    return robot.goto(place)\n"
        "def f(agent, start_from=1):\n"
        "    for place in agent.places:\n"
        "        seen = agent.goto(place)\n"
        "        if 'pen 3' in seen and place != agent.place: break\n"
        "    other = agent\n"
        "    nothing = other.look()\n"
        "    told = g(agent)\n"
        "    answers = literal_eval(ask(f'{told} {agent}'))\n"
    )
    assert called == [
        ("goto", ["desk 1"]),
        ("goto", ["bed 2"]),
        ("look", []),
        ("goto", ["bed 2"]),
        ("ask", ["On the bed 2, you see a pen 3. agent"]),
    ]
    assert names["start_from"] == 1
    assert names["answers"] == ["a", -2, True, None]
    assert (names["place"], names["nothing"]) == ("bed 2", None)


def test_program__runs_a_function_alone_with_the_variables_that_are_given():
    called, names = steer(
        "get('a')\ndef f(agent, start_from=1):\n    x = y + start_from\nf()", y=2, start_from=3
    )
    assert called == []
    assert names == {"agent": AGENT, "start_from": 3, "x": 5, "y": 2}
    for lacking in ("def g(): pass", "f = 1", "def f(agent, x): pass"):
        with pytest.raises(ProgramError):
            steer(lacking)


@pytest.mark.parametrize(
    "line",
    [
        "agent.fly()",
        "agent.secret",
        "agent.call('goto', [])",
        "agent.attribute('place')",
        "agent.called",
        "agent.__class__",
        "agent.__init__()",
        "agent.goto.__globals__",
        "agent.goto",
        "agent.places.append('a')",
        "agent.places[0]",
        "agent.place = 'a'",
        "agent.place += 'a'",
        "del agent.place",
        "agent.look().real",
        "agent.look()()",
        "(agent).goto(*[1])",
        "agent.goto(**x)",
        "[agent][0].goto('a')",
        "(agent or 1).look()",
        "x = f'{agent.__class__}'",
        "x = f'{agent:9}'",
        "x = [[agent]]",
        "x = agent + agent",
        "x = len(agent)",
        "x = 1 in agent",
        "x = literal_eval(agent)",
        "for x in agent: pass",
        "with agent: pass",
        "other = 'agent'\n    other.look()",
        "assert agent.place == 'a', f'{agent.fly()}'",
        "assert 1 == 2, agent.goto",
        "x = agent.goto.__self__",
        "x = agent.look().__class__",
        "x = agent.places.__class__",
        "x = agent.place.format(agent)",
        "x = agent.__dict__",
        "x = agent._Robot__x",
        "x = agent.called.clear()",
        "x = '{0.called}'.format(agent)",
        "x = f'{agent.goto}'",
        "x = f'{agent!a}'",
        "x = f'{agent:{agent}}'",
        "x = agent['place']",
        "x = agent < agent",
        "x = -agent",
        "x = min(agent, agent)",
        "x = range(agent)",
        "x = [y for y in agent.places]",
        "x = (y for y in agent.places).gi_frame.f_back",
        "x = lambda me=agent: me.called",
        "agent.place: str = 'a'",
        "for agent.place in ['a']: pass",
        "match agent:\n        case object(called=x): pass",
        "with agent as x: pass",
        "agent.goto('a')('b')",
        "agent.goto(*agent.places)",
        "agent.goto(agent.fly)",
        "try:\n        agent.fly()\n    except Exception as error:\n        x = error.__traceback__",
        "def g(x=agent.called): pass",
        "@agent.goto\n    def g(): pass",
        "del agent",
        "global agent",
        "agent.places += ['a']",
        "agent.goto = agent.look",
    ],
)
def test_program__steers_the_agent_by_its_names_alone(line: str):
    with pytest.raises(ProgramError):
        steer(f"def f(agent):\n    {line}\n")


def test_assertion__says_what_its_message_says_and_where():
    program = "def f(agent, n):\n    if n == 1:\n        assert n > 1, f'Error at {agent.place}: {n}'\n    assert n < 3"
    names = {"agent": AGENT, "n": 1}
    with pytest.raises(ProgramError, match=r"^Error at desk 1: 1$") as raised:
        list(
            Interpreter(lambda *_: iter(()), Robot()).run_function(
                parse_program(program), "f", names
            )
        )
    assert raised.value.line == 3
    with pytest.raises(ProgramError, match=r"^the assertion n < 3 failed$"):
        steer(program, n=5)


def test_section__is_the_context_of_the_body_of_an_if():
    entered: list[object] = []

    @contextmanager
    def section(node):
        entered.append(node.lineno)
        try:
            yield
        finally:
            entered.append(-node.lineno)

    program = parse_program(
        "def f():\n    if 1:\n        if 2:\n            pass\n    if 0:\n        pass\n    if 3: x"
    )
    with pytest.raises(ProgramError):
        list(Interpreter(lambda *_: iter(()), None, section).run_function(program, "f", {}))
    assert entered == [2, 3, -3, -2, 7, -7]


LINES = [
    "get('a')",
    "if count('a'):",
    "    get('b', 2)",
    "while 1:",
    "    break",
    "def f(x):",
    "    return x",
    "f(1)",
]


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=20)))
def test_program__is_read_from_anything(lines: list[str]):
    with suppress(ProgramError):
        run("\n".join(lines))


@pytest.mark.parametrize(
    "name", sorted({*dir(builtins), "self", "__builtins__", "__loader__"} - {*FUNCTIONS})
)
def test_program__has_no_other_name_of_python(name: str):
    """What it calls is an action and what it reads is not there, whatever Python has of that
    name."""
    if name not in ("None", "True", "False", "__debug__"):
        assert run(f"{name}('a')") == [(name, ["a"])]
        with pytest.raises(ProgramError, match=f"there is no {name}$"):
            run(f"x = {name}")
