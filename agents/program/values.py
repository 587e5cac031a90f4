"""The values of programs, and the operations and built-in functions that they allow.

A value is None, a truth value, an integer, a text, a flat list of these, or ``AGENT``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from textcraft_gym.agents.program.parse import ProgramError

MAX_NUMBER, MAX_TEXT, MAX_ITEMS = 10**6, 10_000, 1_000
"""Bounds of a number, of the characters of a text and of the items of a list."""

Value: TypeAlias = Any


class _Agent:
    def __repr__(self) -> str:
        return "agent"


AGENT = _Agent()
"""The one object of programs: a mark, whose attributes the interpreter looks up elsewhere."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
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


def bounded(value: Value) -> Value:
    """Return a value that is no larger than allowed, and of no other type.

    Raises:
        ProgramError: If it is.
    """
    if type(value) is list:
        _check_list(value)
    elif type(value) is str:
        if len(value) > MAX_TEXT:
            raise ProgramError("a text is too long")
    elif type(value) is int:
        if abs(value) > MAX_NUMBER:
            raise ProgramError("a number is too large")
    elif value is not None and value is not AGENT and type(value) is not bool:
        raise ProgramError(f"{type(value).__name__} is not allowed")
    return value


def _check_list(items: list[Value]) -> None:
    if len(items) > MAX_ITEMS:
        raise ProgramError("a list is too long")
    # A list that holds another twice, which holds another twice, and so on, takes exponential
    # time to compare.
    if any(type(item) is list for item in items):
        raise ProgramError("a list cannot contain a list")
    for item in items:
        bounded(item)


def size(value: Value) -> int:
    """Return the size of a value: a text's characters, or a list's items and their characters.

    Other values have size 0.
    """
    if type(value) is str:
        return len(value)
    if type(value) is list:
        return len(value) + sum(len(item) for item in value if type(item) is str)
    return 0


def apply(function: Callable[..., Any], *arguments: Value) -> Value:
    """Apply a function; values that it does not accept are an error of the program."""
    try:
        return function(*arguments)
    except ProgramError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ProgramError(f"{type(error).__name__}: {error}") from error


def unary(operation: ast.unaryop, value: Value) -> Value:
    """Return the result of an operation on one value."""
    return apply(_allowed(_UNARY, operation), value)


def binary(operation: ast.operator, left: Value, right: Value) -> Value:
    """Return the result of an operation on two values."""
    function = _allowed(_BINARY, operation)
    # A text or a list times a number would be a cheap way to use up memory.
    if isinstance(operation, ast.Mult) and not (type(left) is type(right) is int):
        raise ProgramError("only numbers can be multiplied")
    # "%1000000d" % 1 would be another.
    if isinstance(operation, ast.Mod) and isinstance(left, str):
        raise ProgramError("only numbers can be divided")
    return apply(function, left, right)


def compare(operation: ast.cmpop, left: Value, right: Value) -> Value:
    """Return whether a comparison holds."""
    return apply(_allowed(_COMPARE, operation), left, right)


def formatted(value: Value, *, quoted: bool = False) -> str:
    """Return the text of a value, as ``str`` or ``repr`` gives it.

    Raises:
        ProgramError: If it would be too long.
    """
    # Before the text is made, since the items of a list may be one long text many times.
    if size(value) > MAX_TEXT:
        raise ProgramError("a text is too long")
    text: str = bounded(repr(value) if quoted else str(value))
    return text


def literal_eval(text: Value) -> Value:
    """Return the value that a text writes.

    It is a text, a number, a truth value, None or a flat list of these.
    """
    if type(text) is not str:
        raise ProgramError("literal_eval takes a text")
    try:
        return bounded(_literal(ast.parse(bounded(text).strip(), mode="eval").body))
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ProgramError(f"literal_eval finds no value in {text[:100]!r}") from error


def _literal(node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)) if (
            type(number) is int
        ):
            return -number
        case ast.List(elts=nodes) | ast.Tuple(elts=nodes):
            if any(isinstance(item, (ast.List, ast.Tuple)) for item in nodes):  # before it recurses
                raise ProgramError("a list cannot contain a list")
            return [_literal(item) for item in nodes]
        case _:
            raise ProgramError(f"literal_eval: {type(node).__name__} is not allowed")


def _range(*bounds: Any) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > MAX_ITEMS:
        raise ProgramError("a range is too long")
    return list(numbers)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "len": len,
    "literal_eval": literal_eval,
    "max": max,
    "min": min,
    "print": lambda *_: None,
    "range": _range,
}
"""The built-in functions of programs."""


def _allowed(table: Mapping[Any, Callable[..., Any]], operation: ast.AST) -> Callable[..., Any]:
    if type(operation) not in table:
        raise ProgramError(f"{type(operation).__name__} is not allowed")
    return table[type(operation)]
