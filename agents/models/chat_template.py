"""A model's own chat template, which is bounded: it is a part of the model's file, and so of whoever made that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from itertools import count
from typing import Any, TypeVar

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

STEPS, STEPS_OF_A_MESSAGE = 10_000, 1000
"""Maximum number of rounds of loops and of calls, and how many more each message allows."""
MAX_LENGTH = 1 << 16
"""Maximum length of a range, and of a product."""

_steps: ContextVar[Iterator[int]] = ContextVar("steps")
_most: ContextVar[int] = ContextVar("most")
_T = TypeVar("_T")


def render(source: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Return the text of a dialogue, up to where the model answers.

    Raises:
        Exception: If the template is broken, does more than it may, or refuses the messages: it can raise anything.
    """
    steps, most = _steps.set(count(1)), _most.set(STEPS + STEPS_OF_A_MESSAGE * len(messages))
    try:
        # The server itself adds what begins a text.
        given = {"messages": messages, "add_generation_prompt": True, "bos_token": "", "eos_token": ""}
        return compiled(source).render(given)
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
    """Counts each round of a loop and each call, since a sandbox bounds neither nested loops nor recursion."""

    intercepted_binops = frozenset(("*", "**"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        del self.globals["lipsum"]
        self.globals |= {"raise_exception": _refuse, "range": _range}
        self.filters["counted"] = _counted

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, "counted", [], [], None, None, lineno=loop.lineno)
        return tree

    def call(self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        _count()
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            raise jinja2.TemplateError("it computes powers")
        sizes = [len(side) if hasattr(side, "__len__") else abs(side) for side in (left, right)]
        if sizes[0] * sizes[1] > MAX_LENGTH:
            raise jinja2.TemplateError(f"it multiplies to more than {MAX_LENGTH}")
        return super().call_binop(context, operator, left, right)


def _counted(items: Iterable[_T]) -> Iterator[_T]:
    for item in items:
        _count()
        yield item


def _count() -> None:
    if next(_steps.get()) > _most.get():
        raise jinja2.TemplateError(f"it takes more than {_most.get()} steps")


def _range(*bounds: int) -> range:
    found = range(*bounds)
    if len(found) > MAX_LENGTH:
        raise jinja2.TemplateError(f"it counts to more than {MAX_LENGTH}")
    return found


def _refuse(message: str) -> None:
    """Stop a template that does not take its messages."""
    raise jinja2.TemplateError(message)
