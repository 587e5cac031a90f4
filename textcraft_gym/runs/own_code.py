"""Code that is not of the suite: agents, worlds, wrappers and models of a user's own."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

SUITE = "textcraft_gym"
INSTALLED = ("site-packages", "dist-packages")
"""Folders of packages, whose imports are not followed: they change with their releases."""
_PLAIN = (str, bytes, int, float, complex, type(None), type(...))
_LAYOUT = ("__firstlineno__", "__static_attributes__")
"""Attributes of a class that tell how its source is laid out."""


def own_code(objects: Iterable[object]) -> str:
    """Return a digest of the code of objects and of what it uses; empty if none is a user's own.

    The code of a module is its file, with those of the modules beside it that it imports. What has
    no file, as in a notebook, is read as it was compiled.
    """
    files: set[Path] = set()
    texts: list[str] = []
    seen: dict[int, object] = {}  # keeps the objects, whose ids would else be given to others
    waiting = list(objects)
    while waiting:
        given = waiting.pop()
        if id(given) in seen or isinstance(given, _PLAIN):
            continue
        seen[id(given)] = given
        parts = _parts(given)
        if parts is None:
            module, file = _origin(given)
            root = module.partition(".")[0]
            if root == SUITE or root in sys.stdlib_module_names:
                continue
            if file is not None:
                files |= _with_imports(module, file)
                continue
            parts = _definition(given)
        texts.append(repr([part if isinstance(part, _PLAIN) else type(part) for part in parts]))
        waiting += parts
    if not files and not texts:
        return ""
    contents = [*map(Path.read_bytes, sorted(files)), *map(str.encode, texts)]
    return hashlib.sha256(b"".join(contents)).hexdigest()[:16]


def _parts(given: Any) -> list[Any] | None:
    """Return what an object is made of, wherever it is defined; None if its definition says it."""
    if isinstance(given, CodeType):
        return [given.co_code, given.co_names, given.co_varnames, *given.co_consts]
    if isinstance(given, partial):
        return [given.func, given.args, given.keywords]
    if isinstance(given, MethodType):
        return [given.__func__, given.__self__]
    if isinstance(given, (staticmethod, classmethod)):
        return [given.__func__]
    if isinstance(given, property):
        return [given.fget, given.fset]
    if isinstance(given, (set, frozenset)):
        return sorted(given, key=repr)  # their order is of one process
    if isinstance(given, Mapping):
        return [*given.keys(), *given.values()]
    return list(given) if isinstance(given, (tuple, list)) else None


def _definition(given: Any) -> list[Any]:
    """Return the code of a function or a class, and the values that it uses; else the class."""
    if isinstance(given, FunctionType):
        names = dict.fromkeys(_names(given.__code__))
        used = {name: given.__globals__[name] for name in names if name in given.__globals__}
        cells = []
        for cell in given.__closure__ or ():
            with suppress(ValueError):  # it is empty before its first assignment
                cells.append(cell.cell_contents)
        return [given.__code__, given.__defaults__, given.__kwdefaults__, used, cells]
    if isinstance(given, type):
        body = {name: value for name, value in vars(given).items() if name not in _LAYOUT}
        return [body, given.__bases__]
    return [] if isinstance(given, ModuleType) else [type(given)]


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and the functions within it look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _origin(given: Any) -> tuple[str, Path | None]:
    """Return the name and the file of the module that an object, or else its class, is from."""
    module: ModuleType | None
    if isinstance(given, ModuleType):
        name, module = given.__name__, given
    else:
        owner = given if isinstance(given, (type, FunctionType)) else type(given)
        name = str(owner.__module__)
        module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)  # of a script that ``python -m`` runs, its real name
    path = getattr(module, "__file__", None)
    file = Path(path) if path and Path(path).is_file() else None
    return getattr(spec, "name", name), file


def _with_imports(name: str, file: Path) -> set[Path]:
    """Return the file of a module, and of each beside it that one of these imports."""
    files = {file}
    if not set(INSTALLED).isdisjoint(file.parts):
        return files
    levels = name.count(".") + (file.stem == "__init__")
    folder = file.parents[min(levels, len(file.parents) - 1)]
    waiting = [(name, file)]
    while waiting:
        name, file = waiting.pop()
        for imported in _imports(name, file):
            if imported.partition(".")[0] == SUITE:
                continue
            path = folder.joinpath(*imported.split("."))
            for found in (path.with_suffix(".py"), path / "__init__.py"):
                if found not in files and found.is_file():
                    files.add(found)
                    waiting.append((imported, found))
    return files


def _imports(name: str, file: Path) -> tuple[str, ...]:
    """Return the names of the modules that a module may import, with those of their packages."""
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    return _imported(package, file.read_bytes())


@lru_cache(maxsize=256)
def _imported(package: str, source: bytes) -> tuple[str, ...]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # compiled, or for another Python
        return ()
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            with suppress(ImportError):  # beyond the top of the package
                base = resolve_name("." * node.level + (node.module or ""), package)
                modules = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for module in modules:
            parts = module.split(".")
            names |= {".".join(parts[:length]): None for length in range(1, len(parts) + 1)}
    return tuple(names)
