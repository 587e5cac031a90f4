"""Options of a run on the command line, made from the fields of ``RunSpec``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, fields
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from textcraft_gym.plugins import key_values
from textcraft_gym.runs.backends import Backend
from textcraft_gym.runs.run_spec import RunSpec

Result = TypeVar("Result")

_TYPES = get_type_hints(RunSpec, localns={"Backend": Backend})


def takes_run_spec(
    without: Collection[str] = (),
    **fixed: Any,
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Replace a command's parameter ``spec`` with the options of a run.

    Args:
        without: Fields of ``RunSpec`` that get no option and keep their defaults.
        fixed: Values of fields that get no option.
    """
    left_out = {*without, *fixed}
    options = [field for field in fields(RunSpec) if field.name not in left_out]

    def decorate(command: Callable[..., Result]) -> Callable[..., Result]:
        signature = inspect.signature(command, eval_str=True)
        own = [parameter for parameter in signature.parameters.values() if parameter.name != "spec"]
        parameters = [*map(_parameter, options), *own]

        @wraps(command)
        def run(**given: Any) -> Result:
            chosen = {field.name: _value(field, given.pop(field.name)) for field in options}
            return command(spec=RunSpec(**chosen, **fixed), **given)

        # Typer reads signature and annotations; it would follow __wrapped__ to the command's.
        del run.__wrapped__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        )
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _parameter(field: Field[Any]) -> inspect.Parameter:
    flag = field.metadata["flag"]
    name = flag or field.name.replace("_", "-")
    # What is on by default can be turned off.
    written = f"--{name}/--no-{name}" if field.default is True else f"--{name}"
    option = typer.Option(written, help=field.metadata["help"])
    kind = _kind(field)
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    if flag:  # a repeatable option that is not given is None
        default = None
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )


def _kind(field: Field[Any]) -> Any:
    """Return the type of a field on the command line, where every object is given by name."""
    if field.metadata["flag"]:
        return list[str] | None
    declared = _TYPES[field.name]
    allowed = get_args(declared) or (declared,)
    kind = next((kind for kind in (bool, int, float) if kind in allowed), str)
    return kind | None if field.default is None else kind


def _value(field: Field[Any], given: Any) -> Any:
    """Convert a command-line value to the value of a field."""
    if not field.metadata["flag"]:
        return given
    if field.default_factory is dict:
        return key_values(given or [])
    return tuple(given) if given else field.default
