"""Programs that models write, interpreted node by node within an allow-list and never executed.

Allowed are integers, strings and flat lists of these, variables, arithmetic, comparisons, ``and``, ``or``, ``not``,
``if``, ``for``, ``while``, ``assert``, ``pass``, ``break``, ``continue``, ``return`` and function definitions. There
are no imports, no attributes, no subscripts and no built-in functions but ``range``, ``min``, ``max``, ``len`` and
``print``. A call of any other name is an action.
"""

from __future__ import annotations

import ast
import operator
import re
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any, TypeAlias

from textcraft_gym.agents.contract.agent import Request

MAX_LINES, MAX_CHARACTERS = 200, 10_000
MAX_STEPS = 5_000
"""Maximum number of nodes that a program may evaluate."""
MAX_SECONDS = 10.0
"""Maximum time for evaluating them, without the time of the program's actions, which the episode bounds."""
MAX_NUMBER, MAX_LENGTH, MAX_DEPTH = 10**6, 1_000, 50

Value: TypeAlias = Any
Action: TypeAlias = Callable[[str, list[Value]], Generator[Request, Any, Value]]
"""Plays ``name(*arguments)`` and returns its value."""

_FENCE = re.compile(r"^\s*```.*$", re.MULTILINE)
_ELSE = re.compile(r"^([ \t]*)assert[ \t]+(\S(?:.*?\S)?)\s+else:?[ \t]+(\S.*)$", re.MULTILINE)
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
}


class ProgramError(ValueError):
    """A program cannot be parsed, uses something that is not allowed, or exceeds a bound."""


class _Return(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def parse_program(text: str) -> ast.Module:
    """Return the program in a completion, without the fences of a code block.

    ``assert CONDITION else ACTION`` on a line, as ProgPrompt writes it, plays the action if the condition fails.

    Raises:
        ProgramError: If it is too long or cannot be parsed.
    """
    if len(text) > MAX_CHARACTERS:
        raise ProgramError(f"the program is longer than {MAX_CHARACTERS} characters")
    text = _ELSE.sub(r"\1if not (\2): \3", _FENCE.sub("", text)).strip("\n")
    if text.count("\n") >= MAX_LINES:
        raise ProgramError(f"the program is longer than {MAX_LINES} lines")
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ProgramError(f"this is no program: {error}") from error


class Interpreter:
    """Runs one program.

    Args:
        action: Plays the calls of names that are neither built-in nor the program's own functions.
    """

    def __init__(self, action: Action) -> None:
        self.action = action
        self.functions: dict[str, ast.FunctionDef] = {}
        self.steps = 0
        self.depth = 0
        self.deadline = 0.0

    def run(self, program: ast.Module) -> Generator[Request, Any, None]:
        """Run a program, then its functions without parameters that nothing calls.

        Raises:
            ProgramError: If it uses something that is not allowed, an assertion fails, or it exceeds a bound.
        """
        self.deadline = time.monotonic() + MAX_SECONDS
        try:
            yield from self._block(program.body, {})
            calls = (node.func for node in ast.walk(program) if isinstance(node, ast.Call))
            called = {function.id for function in calls if isinstance(function, ast.Name)}
            # A copy, since running a function may define others.
            for name, function in list(self.functions.items()):  # models define plan() and forget to call it
                if name not in called and not function.args.args:
                    yield from self._call_own(function, [])
        except (_Return, _Break, _Continue):
            return

    def _block(self, body: list[ast.stmt], variables: dict[str, Value]) -> Generator[Request, Any, None]:
        for statement in body:
            yield from self._statement(statement, variables)

    def _statement(self, node: ast.stmt, variables: dict[str, Value]) -> Generator[Request, Any, None]:
        self._count()
        if isinstance(node, ast.Expr):
            yield from self._value(node.value, variables)
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            yield from self._assign(node, variables)
        elif isinstance(node, ast.If):
            yield from self._block(
                node.body if (yield from self._value(node.test, variables)) else node.orelse, variables
            )
        elif isinstance(node, (ast.For, ast.While)) and not node.orelse:
            yield from self._loop(node, variables)
        elif isinstance(node, ast.Assert):
            if not (yield from self._value(node.test, variables)):
                raise ProgramError(f"the assertion {_source(node.test)} failed")
        elif isinstance(node, ast.FunctionDef):
            self.functions[node.name] = _plain(node)
        elif isinstance(node, ast.Return):
            raise _Return((yield from self._value(node.value, variables)) if node.value else None)
        elif isinstance(node, ast.Break):
            raise _Break
        elif isinstance(node, ast.Continue):
            raise _Continue
        elif not isinstance(node, ast.Pass):
            raise ProgramError(f"{type(node).__name__} is not allowed")

    def _assign(self, node: ast.Assign | ast.AugAssign, variables: dict[str, Value]) -> Generator[Request, Any, None]:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not isinstance(target, ast.Name) or (isinstance(node, ast.Assign) and len(node.targets) > 1):
            raise ProgramError("only a name can be assigned to")
        value = yield from self._value(node.value, variables)
        if isinstance(node, ast.AugAssign):
            value = self._binary(node.op, self._name(target.id, variables), value)
        variables[target.id] = value

    def _loop(self, node: ast.For | ast.While, variables: dict[str, Value]) -> Generator[Request, Any, None]:
        try:
            if isinstance(node, ast.While):
                while (yield from self._value(node.test, variables)):
                    yield from self._round(node.body, variables)
                return
            if not isinstance(node.target, ast.Name):
                raise ProgramError("only a name can be assigned to")
            values = yield from self._value(node.iter, variables)
            if not isinstance(values, list):
                raise ProgramError("only a list can be gone through")
            for value in values:
                variables[node.target.id] = value
                yield from self._round(node.body, variables)
        except _Break:
            return

    def _round(self, body: list[ast.stmt], variables: dict[str, Value]) -> Generator[Request, Any, None]:
        with suppress(_Continue):
            yield from self._block(body, variables)

    def _value(self, node: ast.expr, variables: dict[str, Value]) -> Generator[Request, Any, Value]:
        self._count()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ProgramError(f"it goes more than {MAX_DEPTH} deep")
        try:
            return (yield from self._evaluate(node, variables))
        finally:
            self.depth -= 1

    def _evaluate(self, node: ast.expr, variables: dict[str, Value]) -> Generator[Request, Any, Value]:
        if isinstance(node, ast.Constant) and (node.value is None or type(node.value) in (int, str, bool)):
            return _bounded(node.value)
        if isinstance(node, ast.Name):
            return self._name(node.id, variables)
        if isinstance(node, (ast.List, ast.Tuple)):
            return _flat((yield from self._values(node.elts, variables)))
        if isinstance(node, ast.IfExp):
            test = yield from self._value(node.test, variables)
            return (yield from self._value(node.body if test else node.orelse, variables))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            arguments = yield from self._values([*node.args, *(keyword.value for keyword in node.keywords)], variables)
            return (yield from self._call(node.func.id, arguments))
        return (yield from self._operation(node, variables))

    def _operation(self, node: ast.expr, variables: dict[str, Value]) -> Generator[Request, Any, Value]:
        if isinstance(node, ast.BinOp):
            left, right = yield from self._values([node.left, node.right], variables)
            return self._binary(node.op, left, right)
        if isinstance(node, ast.BoolOp):
            return (yield from self._and_or(node, variables))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            value = yield from self._value(node.operand, variables)
            return _apply(operator.not_ if isinstance(node.op, ast.Not) else operator.neg, value)
        if isinstance(node, ast.Compare):
            return (yield from self._compare(node, variables))
        raise ProgramError(f"{type(node).__name__} is not allowed")

    def _and_or(self, node: ast.BoolOp, variables: dict[str, Value]) -> Generator[Request, Any, Value]:
        """Return the first operand that decides ``and`` or ``or``, else the last."""
        value = None
        decisive = isinstance(node.op, ast.Or)  # a true operand decides ``or``, a false one ``and``
        for operand in node.values:
            value = yield from self._value(operand, variables)
            if bool(value) == decisive:
                break
        return value

    def _compare(self, node: ast.Compare, variables: dict[str, Value]) -> Generator[Request, Any, Value]:
        """Return the first comparison that fails, else the last; ``1 < n < 3`` has two."""
        left, holds = (yield from self._value(node.left, variables)), True
        for operation, comparator in zip(node.ops, node.comparators, strict=True):
            if type(operation) not in _COMPARE:
                raise ProgramError(f"{type(operation).__name__} is not allowed")
            right = yield from self._value(comparator, variables)
            holds = _apply(_COMPARE[type(operation)], left, right)
            if not holds:
                break
            left = right
        return holds

    def _values(self, nodes: list[ast.expr], variables: dict[str, Value]) -> Generator[Request, Any, list[Value]]:
        values = []
        for node in nodes:
            value = yield from self._value(node, variables)
            values.append(value)
        return values

    def _call(self, name: str, arguments: list[Value]) -> Generator[Request, Any, Value]:
        if name in self.functions:
            return (yield from self._call_own(self.functions[name], arguments))
        if name in _FUNCTIONS:
            return _bounded(_apply(_FUNCTIONS[name], *arguments))
        # The clock is stopped during an action, which may wait for a model.
        left = self.deadline - time.monotonic()
        value = yield from self.action(name, arguments)
        self.deadline = time.monotonic() + left
        return value

    def _call_own(self, function: ast.FunctionDef, arguments: list[Value]) -> Generator[Request, Any, Value]:
        """Call one of the program's own functions."""
        parameters = [argument.arg for argument in function.args.args]
        if len(parameters) != len(arguments):
            raise ProgramError(f"{function.name} takes {len(parameters)} arguments")
        try:
            yield from self._block(function.body, dict(zip(parameters, arguments, strict=True)))
        except _Return as returned:
            return returned.value
        except (_Break, _Continue) as error:
            raise ProgramError("there is no loop to break or to continue") from error
        return None

    def _name(self, name: str, variables: dict[str, Value]) -> Value:
        if name not in variables:
            raise ProgramError(f"there is no {name}")
        return variables[name]

    def _binary(self, operation: ast.operator, left: Value, right: Value) -> Value:
        if type(operation) not in _BINARY:
            raise ProgramError(f"{type(operation).__name__} is not allowed")
        # A text or a list times a number would be a cheap way to use up memory.
        if isinstance(operation, ast.Mult) and not (type(left) is type(right) is int):
            raise ProgramError("only numbers can be multiplied")
        # "%1000000d" % 1 would be another.
        if isinstance(operation, ast.Mod) and isinstance(left, str):
            raise ProgramError("only numbers can be divided")
        return _bounded(_apply(_BINARY[type(operation)], left, right))

    def _count(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise ProgramError(f"the program goes on for more than {MAX_STEPS} steps")
        if time.monotonic() > self.deadline:
            raise ProgramError(f"the program goes on for more than {MAX_SECONDS:g} seconds")


def _plain(function: ast.FunctionDef) -> ast.FunctionDef:
    """Return a function if it has plain parameters only, with neither defaults nor decorators."""
    args = function.args
    if function.decorator_list or args.defaults or args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs:
        raise ProgramError(f"{function.name} has more than plain parameters")
    return function


def _range(*bounds: Any) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > MAX_LENGTH:
        raise ProgramError("a range is too long")
    return list(numbers)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len,
    "max": max,
    "min": min,
    "print": lambda *_: None,
    "range": _range,
}


def _apply(function: Callable[..., Any], *arguments: Value) -> Value:
    """Apply a function; values that it does not accept are an error of the program."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ProgramError(f"{type(error).__name__}: {error}") from error


def _flat(values: list[Value]) -> list[Value]:
    """Return the values of a list, none of which may be a list."""
    # A list that holds another twice, which holds another twice, and so on, takes exponential time to compare.
    if any(isinstance(value, list) for value in values):
        raise ProgramError("a list cannot contain a list")
    return values


def _source(node: ast.expr) -> str:
    """Return the source of an expression, or its line number if it is nested too deeply to be unparsed."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return f"in line {node.lineno}"


def _bounded(value: Value) -> Value:
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise ProgramError("a number is too large")
    if isinstance(value, (str, list)) and len(value) > MAX_LENGTH:
        raise ProgramError("a text is too long")
    return value
