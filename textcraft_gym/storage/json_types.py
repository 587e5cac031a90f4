"""Whether a value read from JSON is of a Python type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

MAX_INTEGER = 1 << 63

Check: TypeAlias = Callable[[Any], bool]


def is_of_type(value: Any, expected: Any) -> bool:
    """Return whether a JSON value is what a value of a type is written as.

    A tuple is written as an array, and a dataclass as an object with all its fields and no others.
    No bool is an int, no integer has more than 63 bits, and no number is infinite or NaN.

    Args:
        value: The value.
        expected: A class of JSON's values, a dataclass, literal texts, or a union, list, dict or
            tuple of these.
    """
    return check_of(expected)(value)


@cache
def check_of(expected: Any) -> Check:
    """Return the check of a type, as a function of the value; see ``is_of_type``."""
    if expected is Any:
        return lambda value: True
    # In Python a bool is an int, and an int no float; in JSON it is the other way round.
    if expected is int:
        return _is_int
    if expected is float:
        return _is_number
    if is_dataclass(expected):
        return _object(expected)

    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is Literal:
        return _literal(arguments)
    if origin is list:
        return _list(check_of(arguments[0]))
    if origin is dict:
        return _dict(check_of(arguments[1]))
    if origin is tuple:
        return _array(tuple(map(check_of, arguments)))
    return lambda value: type(value) is expected


@cache
def field_types(record: Any) -> dict[str, Any]:
    """Return the type of each field of a dataclass."""
    hints = get_type_hints(record)
    return {field.name: hints[field.name] for field in fields(record)}


def type_name(expected: Any) -> str:
    """Return a type as it is written in code: ``str | None``."""
    if get_origin(expected) in (Union, UnionType):
        return " | ".join(map(type_name, get_args(expected)))
    if get_origin(expected) is Literal:
        return " | ".join(map(repr, get_args(expected)))
    if expected is NoneType:
        return "None"
    if isinstance(expected, type) and not get_args(expected):
        return expected.__name__
    return str(expected)


def _is_int(value: Any) -> bool:
    return type(value) is int and abs(value) < MAX_INTEGER


def _is_number(value: Any) -> bool:
    return _is_int(value) or (type(value) is float and isfinite(value))


def _object(record: Any) -> Check:
    checks: dict[str, Check] = {}

    def check(value: Any) -> bool:
        if not checks:  # not before, since a dataclass may have itself in a field
            checks.update((name, check_of(hint)) for name, hint in field_types(record).items())
        if type(value) is not dict or value.keys() != checks.keys():
            return False
        return all(checks[name](content) for name, content in value.items())

    return check


def _literal(texts: tuple[Any, ...]) -> Check:
    return lambda value: type(value) is str and value in texts


def _list(item: Check) -> Check:
    return lambda value: type(value) is list and all(map(item, value))


def _dict(content: Check) -> Check:
    return lambda value: type(value) is dict and all(map(content, value.values()))


def _union(members: tuple[Any, ...]) -> Check:
    if all(member in (str, bool, NoneType) for member in members):
        return lambda value: type(value) in members
    checks = tuple(map(check_of, members))
    return lambda value: any(check(value) for check in checks)


def _array(checks: tuple[Check, ...]) -> Check:
    def check(value: Any) -> bool:
        if type(value) is not list or len(value) != len(checks):
            return False
        return all(check(item) for check, item in zip(checks, value, strict=True))

    return check
