"""A model's own chat template, run within bounds: it comes from whoever made the model's file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache, wraps
from itertools import count
from math import prod
from typing import Any, TypeVar

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

STEPS, STEPS_OF_A_MESSAGE = 10_000, 1000
"""Maximum number of rounds of loops and of calls, and how many more each message allows."""
MAX_LENGTH = 1 << 16
"""Maximum length of a range or product, and largest number for a filter or a text's method."""
MAX_TEXT = 1 << 20
"""Maximum length of joined parts, and of a text whose every character could become another."""

_steps: ContextVar[Iterator[int]] = ContextVar("steps")
_most: ContextVar[int] = ContextVar("most")
_T = TypeVar("_T")


def render(source: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Return the text of a dialogue, up to where the model answers.

    Raises:
        Exception: If the template is broken, does more than it may, or refuses the messages: it can
            raise anything.
    """
    steps, most = _steps.set(count(1)), _most.set(STEPS + STEPS_OF_A_MESSAGE * len(messages))
    try:
        return compiled(source).render(
            messages=messages,
            add_generation_prompt=True,
            # The server itself adds what begins a text.
            bos_token="",
            eos_token="",
        )
    finally:
        _steps.reset(steps)
        _most.reset(most)


@lru_cache
def compiled(source: str) -> jinja2.Template:
    """Return a template.

    Raises:
        jinja2.TemplateError: If it is none.
    """
    return _Bounded(trim_blocks=True, lstrip_blocks=True).from_string(source)


class _Bounded(ImmutableSandboxedEnvironment):
    """Counts each round of a loop and each call, and bounds what makes a text longer.

    A sandbox bounds neither nested loops nor recursion, and no text.
    """

    intercepted_binops = frozenset(("*", "**", "+", "%"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        del self.globals["lipsum"], self.filters["format"]
        self.globals |= {"raise_exception": _refuse, "range": _range}
        self.filters = {name: _checked(name, function) for name, function in self.filters.items()}
        self.filters |= {"counted": _counted, "short": _short}

    def _parse(
        self,
        source: str,
        name: str | None,
        filename: str | None,
    ) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = _filtered(loop.iter, "counted")
        for joined in list(tree.find_all(nodes.Concat)):
            joined.nodes[:] = [_filtered(part, "short") for part in joined.nodes]
        return tree

    def call(
        self,
        __context: Any,
        __obj: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        _count()
        name, text = getattr(__obj, "__name__", ""), getattr(__obj, "__self__", None)
        if name in ("format", "format_map"):
            raise jinja2.TemplateError("it formats by a text")
        if isinstance(text, str):
            _check(name, text, *args, *kwargs.values())
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(
        self,
        context: Any,
        operator: str,
        left: Any,
        right: Any,
    ) -> Any:
        if operator == "**":
            raise jinja2.TemplateError("it computes powers")
        if operator == "%" and isinstance(left, str):
            raise jinja2.TemplateError("it formats by a text")
        if operator in "+%":
            return super().call_binop(context, operator, _short(left), _short(right))
        if _length(left) * _length(right) > MAX_LENGTH:
            raise jinja2.TemplateError(f"it multiplies to more than {MAX_LENGTH}")
        return super().call_binop(context, operator, left, right)


def _filtered(value: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(
        value,
        name,
        [],
        [],
        None,
        None,
        lineno=value.lineno,
    )


def _checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that is given nothing with which it writes a long text."""

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _check(name, *args, *kwargs.values())
        return function(*args, **kwargs)

    return checked


def _check(name: str, *given: Any) -> None:
    """Raise TemplateError if a function might write a long text with what it is given."""
    for value in given:
        if isinstance(value, int) and value > MAX_LENGTH:
            raise jinja2.TemplateError(f"it gives {name} a number above {MAX_LENGTH}")
    if name not in ("replace", "join"):
        return
    # At worst every character of one text becomes the whole of each other one.
    length = prod(len(value) + 1 for value in given if hasattr(value, "__len__"))
    if length > MAX_TEXT:
        raise jinja2.TemplateError(f"it might {name} to more than {MAX_TEXT} characters")


def _length(value: Any) -> Any:
    """Return the length of a text or list, or the size of a number."""
    return len(value) if hasattr(value, "__len__") else abs(value)


def _short(value: Any) -> Any:
    if hasattr(value, "__len__") and len(value) > MAX_TEXT:
        raise jinja2.TemplateError(f"it joins more than {MAX_TEXT} characters")
    return value


def _counted(items: Iterable[_T]) -> Iterator[_T]:
    for item in items:
        _count()
        yield item


def _count() -> None:
    if next(_steps.get()) > _most.get():
        raise jinja2.TemplateError(f"it takes more than {_most.get()} steps")


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > MAX_LENGTH:
        raise jinja2.TemplateError(f"it counts to more than {MAX_LENGTH}")
    return numbers


def _refuse(message: str) -> None:
    """Stop a template that does not take its messages."""
    raise jinja2.TemplateError(message)
