"""Models by a one-line description (spec), as on a command line.

openai:gpt-4o-mini,endpoint=chat,timeout=30,price=0.15/0.6
openai:my-model,base_url=http://127.0.0.1:8000/v1,api_key=none
openai:o4-mini,extra={"reasoning_effort":"low"}
inspect:anthropic/claude-sonnet-4-5,reasoning_tokens=2000,max_connections=40
local
local:PATH.gguf,adapter=FILE,threads=2,context=4096,slots=4
my_module:MyModel,option=value
"""

from __future__ import annotations

import inspect
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from textcraft_gym.agents.contract.model import Form, Model, ModelError, form_of
from textcraft_gym.agents.models.cassette import Cassette
from textcraft_gym.agents.models.completions import Price
from textcraft_gym.agents.models.weights import find_files, prompts_for
from textcraft_gym.agents.prompts import SETS
from textcraft_gym.agents.redaction import HIDDEN, redact, register_environment, without_secrets
from textcraft_gym.agents.registry import AGENTS
from textcraft_gym.errors import MissingExtra, UnknownName, require
from textcraft_gym.plugins import (
    hidden_by,
    import_named,
    installed,
    key_values,
    offered,
    split_fields,
)

ENTRY_POINTS = "textcraft_gym.models"
"""Entry point group by which an installed package offers models; a spec begins with the name."""

_FORMS = (
    "expected local[:FILE,KEY=VALUE], openai:NAME[,KEY=VALUE], inspect:PROVIDER/NAME[,KEY=VALUE] "
    "or MODULE:CLASS[,KEY=VALUE]"
)
_AN_AGENT = "this is an agent, not a model: name it by --agent, or as agent="
_REMOTE = ("openai", "inspect")
"""Kinds of models that are named after the colon, on a server."""
_SILENT = (
    "api_key",
    "timeout",
    "max_retries",
    "price",
    "headers",
    "max_connections",
    "prompts",
    "context",
)
"""Options that cannot change an answer to a prompt."""
_CONNECTION = ("base_url", "api_key", "headers")
"""Options that lead to a server."""
_HIDDEN_PART = re.compile(r"(?<=//)\.{3}@|(?<=[?&])[^?&=#]*=\.{3}(?:&|(?=#|$))")
"""Parts of an address that ``without_secrets`` hid."""
_log = logging.getLogger("textcraft_gym.models")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def make_model(
    spec: str,
    *,
    cassette: str | Path | None = None,
    replay_only: bool = False,
    seed: int | None = None,
) -> Model:
    """Return the model that a spec describes.

    Args:
        spec: ``openai``, ``inspect``, ``local``, the name of an entry point or a module, then a
            colon, the model's name for ``openai`` and ``inspect``, a file for ``local`` or the name
            of a class for a module, and options of the constructor as ``key=value``. A price is
            that of a million tokens, ``prompt/completion`` or one number for both; ``omit`` takes
            names with ``+`` between them. A value in JSON may contain commas.
        cassette: A file that holds recorded answers, and records those that it lacks.
        replay_only: Answer from the cassette alone; no server is asked. The local model's files
            tell which of its answers are meant; without them, its option ``digest``.
        seed: Seed for a class whose constructor has a parameter ``seed``, unless the spec gives
            one.

    Raises:
        ModelError: If the spec describes no model, or the model cannot be made.
    """
    if replay_only and cassette is None:
        raise ModelError("to replay only, name the cassette to replay")
    register_environment()
    shown = without_key(spec)
    try:
        if not replay_only:
            spec = as_served(spec)
        # Only what is recorded must be told from other models of its name.
        kind, name, fields = _parts(_identified(spec) if cassette else spec)
        options = key_values(fields)
        # A replay needs neither the package nor a key.
        if replay_only and kind in (*_REMOTE, "local"):
            identity = _identity(kind, name, options)
            return Cassette(cassette or "", name=identity, form=form_of_spec(spec))
        model, identity = _made(kind, name, options, seed)
    except (MissingExtra, TypeError, ValueError) as error:
        # A traceback shows the cause, too.
        cause = error if redact(str(error)) == str(error) else None
        raise ModelError(f"{shown}: {error}") from cause
    if not cassette:
        return model
    return Cassette(cassette, None if replay_only else model, name=identity)


def _made(
    kind: str,
    name: str,
    options: dict[str, Any],
    seed: int | None,
) -> tuple[Model, str]:
    """Return a model, and its name in a cassette."""
    label, make, names = _find(kind, name)
    if seed is not None and "seed" in inspect.signature(make).parameters:
        options = {"seed": seed, **options}  # the spec's own seed goes first
    identity = _identity(kind, name, options)
    if kind in _REMOTE:
        options = _remote_options(options)
    return _construct(label, make, names, options), identity


def as_served(spec: str) -> str:
    """Return the spec of a model on a server, with what the server's list of models says of it.

    The list may name its ``endpoint``, its set of ``prompts`` and, as ``max_model_len``, its
    ``context``. What the spec says goes first. OpenAI's own list, which says none of this, is not
    asked for; a server that gives no list is asked again the next time.
    """
    kind, name, fields = _parts(spec)
    with suppress(MissingExtra, ModelError, TypeError, ValueError):
        options = key_values(fields)
        server = options.get("base_url") or os.environ.get("OPENAI_BASE_URL")
        if kind != "openai" or not name or not server:
            return spec
        connection = {option: options[option] for option in _CONNECTION if option in options}
        listed = _listed(name, json.dumps({**connection, "base_url": server}, sort_keys=True))
        added = {option: value for option, value in listed.items() if option not in options}
        _say_added(without_key(with_options(f"openai:{name}", added)), tuple(added))
        return with_options(spec, added)
    return spec


@lru_cache
def _listed(name: str, connection: str) -> dict[str, Any]:
    """Return the options that a server's list of models gives to one of them.

    Args:
        name: The model.
        connection: Options that lead to the server, as JSON.

    Raises:
        ModelError, ValueError: If there is no list.
    """
    model = _remote_class("openai")(name, **_remote_options(json.loads(connection)))
    entry: dict[str, Any] = model.listed()  # type: ignore[attr-defined]
    model.close()  # type: ignore[attr-defined]
    endpoint, prompts, context = map(entry.get, ("endpoint", "prompts", "max_model_len"))
    options: dict[str, Any] = {}
    if endpoint in ("chat", "completion"):
        options["endpoint"] = endpoint
    if prompts in SETS:
        options["prompts"] = prompts
    if type(context) is int and context > 0:
        options["context"] = context
    return options


@lru_cache
def _say_added(spec: str, options: tuple[str, ...]) -> None:
    """Say once what a server says of a model, if it changes how the model is asked."""
    if {"endpoint", "prompts"} & set(options):
        _log.warning("options from the server's list of models: %s", spec)


def prompts_of(model: str | Model) -> str | None:
    """Return the bundled set of prompts that a model, or a spec's class, names as ``prompts``.

    None if it names none, or if the class cannot be had, for reasons that ``make_model`` gives.
    """
    if isinstance(model, str):
        kind, name, fields = _parts(model)
        if kind == "local":  # known without its packages, which a replay does not need
            options = _texts(fields)
            return prompts_for(name or options.get("file"), options.get("adapter"))
        if kind == "openai":
            return _texts(fields).get("prompts")
    prompts = getattr(class_of(model), "prompts", None)
    return prompts if isinstance(prompts, str) else None


def class_of(model: str | Model) -> object:
    """Return what makes the model of a spec, or a model itself; None if it cannot be had."""
    if not isinstance(model, str):
        return model
    kind, name, _ = _parts(model)
    try:
        return _find(kind, name)[1]
    except (MissingExtra, ValueError):
        return None


def is_remote(model: str | Model) -> bool:
    """Return whether a spec names a model on a server, which answers many requests at once."""
    return isinstance(model, str) and _parts(model)[0] in _REMOTE


def is_local(model: str | Model | None) -> bool:
    """Return whether a spec names a model that runs on this machine, in the process."""
    return isinstance(model, str) and _parts(model)[0] == "local"


def form_of_spec(model: str | Model) -> Form:
    """Return the executor's form that suits a model or a spec; ``line`` if unknown."""
    if not isinstance(model, str):
        return form_of(model)
    kind, _, fields = _parts(model)
    options = _texts(fields)
    if kind == "openai":
        return "line" if options.get("endpoint") == "completion" else "chat"
    if kind == "inspect":  # known without its package, too
        return "chat"
    if kind == "local":
        return "chat" if options.get("chat") == "true" else "line"
    try:
        _, make, _ = _find(kind, model.partition(":")[2].partition(",")[0])
    except ValueError:
        return "line"
    form: Form = getattr(make, "form", "line")
    return form


def price_of(model: str | Model | None) -> tuple[float, float] | None:
    """Return the prices of a million tokens read and written; None without any.

    Raises:
        ValueError: If the spec gives no numbers of 0 or more.
    """
    if not isinstance(model, str):
        price: Any = getattr(model, "price", None)
        if hasattr(price, "prompt") and hasattr(price, "completion"):
            return price.prompt, price.completion
        return None
    _, _, fields = _parts(model)
    options = _texts(fields)
    if "price" not in options:
        return None
    price = _price(options["price"])
    return price.prompt, price.completion


def _price(text: str) -> Price:
    prompt, slash, completion = text.partition("/")
    with suppress(ValueError):
        return Price(float(prompt), float(completion if slash else prompt))
    raise ValueError(f"expected price=PROMPT/COMPLETION in numbers of 0 or more, got {text!r}")


def without_key(spec: str) -> str:
    """Return a spec to show and store, without its secrets, which are registered."""
    fields: list[str] = []
    for field in split_fields(spec):
        if fields and "=" in fields[-1] and "=" not in field:
            fields[-1] += f",{field}"  # what a mistake makes of a key with a comma
        else:
            fields.append(field)
    return redact(",".join(map(_without_key, fields)))


def with_options(spec: str, options: Mapping[str, Any]) -> str:
    """Return a spec with constructor options, which replace its own of the same names."""
    if not options:
        return spec
    kind, name, fields = _parts(spec)
    written = {option: _option(option, value) for option, value in options.items()}
    kept = [written.pop(field.partition("=")[0], field) for field in fields]
    return _joined(kind, name, [*kept, *written.values()])


def _option(name: str, value: Any) -> str:
    """Return an option as it stands in a spec."""
    if isinstance(value, list):
        return f"{name}={'+'.join(value)}"
    if not isinstance(value, str):
        value = json.dumps(value, separators=(",", ":"))
    return f"{name}={value}"


def _without_key(field: str) -> str:
    """Return a field of a spec without secrets, in its own words if it holds none."""
    name, equals, _ = field.partition("=")
    options: dict[str, Any] = {"": field}
    if name and equals:
        options = key_values([field])
    shown = without_secrets(options)
    if shown == options:
        return field
    ((name, value),) = shown.items()
    text = value if isinstance(value, str) else json.dumps(value)
    return f"{name}={text}" if name else text


def name_and_options(spec: str) -> tuple[str, dict[str, str]]:
    """Return the name of a spec's model, such as ``openai:NAME``, and its options as text."""
    kind, name, fields = _parts(spec)
    return f"{kind}:{name}" if name else kind, _texts(fields)


def recorded_spec(spec: str) -> str:
    """Return a spec as a run records it.

    Where a local model's files are missing, nothing tells them from others.
    """
    with suppress(ModelError, TypeError, ValueError):
        spec = _identified(spec)
    return without_key(spec)


def _identified(spec: str) -> str:
    """Return a spec that names local files by their ``digest``, and a server by ``base_url``."""
    kind, name, fields = _parts(spec)
    if kind == "openai":
        server = os.environ.get("OPENAI_BASE_URL")
        has_server = any(field.startswith("base_url=") for field in fields)
        return f"{spec},base_url={server}" if server and not has_server else spec
    if kind == "local":
        options = key_values(fields)
        if "digest" not in options:
            files = find_files(name or options.get("file"), options.get("adapter"))
            return _joined(kind, name, [*fields, f"digest={files.digest}"])
    return spec


def _joined(
    kind: str,
    name: str,
    fields: Iterable[str],
) -> str:
    """Return the spec that has these parts; the name may be empty."""
    if name:
        fields = [name, *fields]
    return f"{kind}:{','.join(fields)}"


def _parts(spec: str) -> tuple[str, str, list[str]]:
    """Return a spec's kind, the name after it, if any, and its options, still as text."""
    kind, _, rest = spec.partition(":")
    fields = split_fields(rest)
    if fields and "=" not in fields[0]:
        name, *fields = fields
        return kind, name, fields
    return kind, "", fields


def _texts(fields: Iterable[str]) -> dict[str, str]:
    """Return the values of options, still as text."""
    return dict(field.partition("=")[::2] for field in fields)


def _find(kind: str, name: str) -> tuple[str, Callable[..., Model], tuple[str, ...]]:
    """Return what makes a model: its label in messages, the class, and the positional arguments."""
    names = (name,) if name else ()
    if kind in _REMOTE and name:
        return kind, _remote_class(kind), names
    if kind == "local":
        require("local", "jinja2")
        # Not before it is needed: it brings a template engine.
        from textcraft_gym.agents.models.local import LocalModel

        return kind, LocalModel, names
    if entry_point := installed(ENTRY_POINTS).get(kind):
        return kind, entry_point.load(), names
    if not name or kind in _REMOTE:
        raise ValueError(_why_no_model(kind))
    found = _find_class(kind, name)
    is_agent = inspect.isclass(found) and (hasattr(found, "episode") or hasattr(found, "act"))
    if is_agent and not hasattr(found, "complete"):
        raise ValueError(_AN_AGENT)
    return f"{kind}:{name}", found, ()


def _why_no_model(word: str) -> str:
    """Return what is wrong with a word that stands alone where a spec is expected."""
    begin, comma, options = word.partition(",")
    if comma and begin == "local":
        return f"options follow a colon: try {without_key(f'{begin}:{options}')}"
    return _AN_AGENT if word in AGENTS else _FORMS


def _remote_class(kind: str) -> Callable[..., Model]:
    """Return the class of ``openai`` or ``inspect``, which takes an optional package."""
    if kind == "openai":
        require("openai", "aiohttp")
        from textcraft_gym.agents.models.openai_compatible import OpenAIModel

        return OpenAIModel
    from textcraft_gym.agents.models.inspect_ai import InspectModel

    return InspectModel


def _remote_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a spec as arguments of ``OpenAIModel`` or ``InspectModel``."""
    arguments = dict(options)
    if "price" in arguments:
        arguments["price"] = _price(str(arguments["price"]))
    if "api_key" in arguments:
        arguments["api_key"] = str(arguments["api_key"])
    if isinstance(arguments.get("omit"), str):
        arguments["omit"] = arguments["omit"].split("+")
    return arguments


def _find_class(module: str, name: str) -> Callable[..., Model]:
    try:
        holder = import_named(module)
    except ModuleNotFoundError as error:
        # An existing module may itself import a missing one, which the message should then name.
        if error.name and f"{module}.".startswith(f"{error.name}."):
            raise ValueError(f"there is no module {error.name}; {_FORMS}") from error
        raise ValueError(f"{module} cannot be imported: {error}") from error
    except Exception as error:  # importing a user's module may raise anything
        raise ValueError(f"{module} cannot be imported: {type(error).__name__}: {error}") from error
    names = vars(holder)
    if name not in names:
        classes = [known for known in offered(holder) if inspect.isclass(names.get(known))]
        raise UnknownName.of(f"model of {module}", name, classes, hidden_by(module))
    model: Callable[..., Model] = names[name]
    return model


def _construct(
    kind: str,
    make: Callable[..., Model],
    names: tuple[str, ...],
    options: Mapping[str, Any],
) -> Model:
    """Make a model; an error names the wrong option and the possible ones."""
    signature = inspect.signature(make)
    _check_options(kind, signature, len(names), options)
    try:
        signature.bind(*names, **options)
        model = make(*names, **options)
    except (ModelError, ValueError):
        raise
    except TypeError as error:
        # One that hands its options on to another constructor is only refused there.
        refused = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        if refused and refused[1] in options:
            raise UnknownName.of(
                f"option of {kind}",
                refused[1],
                _handed_on(make, names),
            ) from error
        raise
    except Exception as error:  # a user's constructor may raise anything
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if not callable(getattr(model, "complete", None)):
        raise ValueError("not a model: it has no method complete")
    return model


def _handed_on(make: Callable[..., Model], names: tuple[str, ...]) -> list[str]:
    """Return the options of a class, and of the classes that it hands its options on to."""
    known: dict[str, None] = {}
    for holder in inspect.getmro(make) if inspect.isclass(make) else (make,):
        parameters = list(inspect.signature(holder).parameters.values())
        known |= {option.name: None for option in parameters if option.kind in _NAMED}
        if not any(option.kind is inspect.Parameter.VAR_KEYWORD for option in parameters):
            break
    return list(known)[len(names) :]


def _check_options(
    kind: str,
    signature: inspect.Signature,
    positional: int,
    options: Iterable[str],
) -> None:
    """Raise UnknownName for an option that is no parameter after the positional ones."""
    parameters = list(signature.parameters.values())
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters[positional:] if parameter.kind in _NAMED]
    for option in options:
        if option not in known:
            raise UnknownName.of(f"option of {kind}", option, known or ["none"])


def _identity(
    kind: str,
    name: str,
    options: dict[str, Any],
) -> str:
    """Return the model's name in a cassette, which has only the options that can change an answer.

    No secret can, so none leaves a trace in it: whoever has no key, or another one, replays the
    same answers.
    """
    public = _public(without_secrets(options))
    relevant = sorted(key for key in public if key not in _SILENT)
    fields = [f"{key}={_canonical(key, public[key])}" for key in relevant]
    return redact(_joined(kind, name, fields))


def _public(value: Any) -> Any:
    """Return a JSON value without hidden fields, and without objects that held nothing else."""
    if isinstance(value, dict):
        public: dict[str, Any] = {}
        for name, item in value.items():
            shown = _public(item)
            was_emptied = shown == {} and item
            if shown != HIDDEN and not was_emptied:
                public[name] = shown
        return public
    if isinstance(value, list):
        return [_public(item) for item in value]
    if isinstance(value, str) and _HIDDEN_PART.search(value):
        return re.sub(r"[?&](?=#|$)", "", _HIDDEN_PART.sub("", value))
    return value


def _canonical(key: str, value: Any) -> Any:
    """Return an option in a canonical form, so that the order of its items does not matter."""
    if key == "omit" and isinstance(value, str | list):
        names = value.split("+") if isinstance(value, str) else map(str, value)
        return "+".join(sorted(names))
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True)
    return value
