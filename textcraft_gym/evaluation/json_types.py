"""Whether a value read from JSON is of a Python type."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

MAX_INTEGER = 1 << 63


def is_of_type(value: Any, expected: Any) -> bool:
    """Return whether a JSON value is what a value of a type is written as.

    A tuple is written as an array, and a dataclass as an object with all its fields and no others. No bool is an int,
    no integer has more than 63 bits, and no number is infinite or NaN.

    Args:
        value: The value.
        expected: A class of JSON's values, a dataclass, literal texts, or a union, list, dict or tuple of these.
    """
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Union, UnionType):
        return any(is_of_type(value, argument) for argument in arguments)
    if origin is Literal:
        return value in arguments and type(value) is str
    if origin is list:
        return isinstance(value, list) and all(is_of_type(item, arguments[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(is_of_type(item, arguments[1]) for item in value.values())
    if origin is tuple:
        fits = isinstance(value, list) and len(value) == len(arguments)
        return fits and all(map(is_of_type, value, arguments))
    if is_dataclass(expected):
        record: Any = expected
        hints = field_types(record)
        fits = isinstance(value, dict) and value.keys() == hints.keys()
        return fits and all(is_of_type(value[name], hint) for name, hint in hints.items())
    if expected is float:
        return is_of_type(value, int) or (type(value) is float and isfinite(value))
    if expected is int:
        return type(value) is int and abs(value) < MAX_INTEGER
    return expected is Any or type(value) is expected


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
    return expected.__name__ if isinstance(expected, type) and not get_args(expected) else str(expected)
