"""Sources of recipes: a data-pack folder, a zip, a game jar, or the compact bundle that the package carries.

A data pack keeps ``data/<namespace>/recipes/<name>.json`` and ``data/<namespace>/tags/items/<name>.json`` (``recipe``
and ``tags/item`` since Minecraft 1.21). A folder or an archive with plain ``recipes/`` and ``tags/`` is read too. The
bundle is one folder with ``recipes.jsonl`` and ``tags.jsonl``: a line for each file of the pack, the same JSON with
its ``id`` in front.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from textcraft_gym.recipes.recipe import RecipeError, parse_reference

BUNDLED = Path(__file__).parent / "data"
MAX_FILE_BYTES = 1 << 20

_DATA_PACK = re.compile(
    r"(?P<above>(?:[^/]+/)*?)data/(?P<namespace>[^/]+)/(?:(?P<recipe>recipes?)|(?P<tag>tags/items?))/(?P<name>.+)\.json"
)
_PLAIN = re.compile(r"(?P<above>(?:[^/]+/)*?)(?:(?P<recipe>recipes)|(?P<tag>tags(?:/items?)?))/(?P<name>[^/]+)\.json")

Kind = Literal["recipe", "tag"]


class PackFile(NamedTuple):
    """One JSON object of a pack and its file, which error messages name."""

    file: str
    data: dict[str, Any]


class Pack(NamedTuple):
    """The recipes and item tags of one version of the game, by id, in the order of their ids."""

    origin: str
    recipes: dict[str, PackFile]
    tags: dict[str, PackFile]


def read_pack(path: str | Path | None = None) -> Pack:
    """Read every recipe and item tag at ``path``, by default the bundled ones of Minecraft 1.16.5.

    Raises:
        RecipeError: If there is nothing to read, or a file is malformed.
    """
    source = BUNDLED if path is None else Path(path)
    if (source / "recipes.jsonl").is_file():
        return _assemble(source, _bundle_entries(source))
    if source.is_dir():
        names = [file.relative_to(source).as_posix() for file in source.rglob("*.json") if file.is_file()]
        return _assemble(source, _file_entries(names, lambda name: (source / name).read_bytes(), source))
    if not source.is_file():
        raise RecipeError(str(source), "no such file or folder")
    if not zipfile.is_zipfile(source):
        raise RecipeError(str(source), "expected a folder, a zip or a game jar")
    try:
        with zipfile.ZipFile(source) as archive:
            return _assemble(
                source, _file_entries(archive.namelist(), lambda name: _unzip(archive, name, source), source)
            )
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise RecipeError(str(source), f"a damaged or locked archive: {error}") from error


def write_bundle(pack: Pack, folder: str | Path) -> None:
    """Write ``pack`` as ``recipes.jsonl`` and ``tags.jsonl``; the same facts always give the same bytes."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, entries in (("recipes.jsonl", pack.recipes), ("tags.jsonl", pack.tags)):
        rows = ({"id": id} | entry.data | {"id": id} for id, entry in entries.items())
        lines = [json.dumps(row, separators=(",", ":")) + "\n" for row in rows]
        (target / name).write_text("".join(lines), encoding="utf-8", newline="\n")


Entry = tuple[Kind, str, PackFile]


def _assemble(source: Path, entries: Iterable[Entry]) -> Pack:
    found: dict[Kind, dict[str, PackFile]] = {"recipe": {}, "tag": {}}
    for kind, id, entry in entries:
        if id in found[kind]:
            raise RecipeError(entry.file, f"the {kind} {id} stands already in {found[kind][id].file}")
        if kind == "tag" and not isinstance(entry.data.get("values"), list):
            raise RecipeError(entry.file, "a tag needs a list of values")
        found[kind][id] = entry
    if not found["recipe"]:
        raise RecipeError(str(source), "no recipes here: expected data/<namespace>/recipes/*.json or recipes/*.json")
    return Pack(str(source), dict(sorted(found["recipe"].items())), dict(sorted(found["tag"].items())))


def _bundle_entries(source: Path) -> Iterator[Entry]:
    kinds: tuple[tuple[Kind, str], ...] = (("recipe", "recipes.jsonl"), ("tag", "tags.jsonl"))
    for kind, name in kinds:
        file = source / name
        if not file.is_file():
            raise RecipeError(str(file), "no such file: a bundle has recipes.jsonl and tags.jsonl")
        for line_number, line in enumerate(file.read_bytes().splitlines(), 1):
            label = f"{file}:{line_number}"
            data = _parse_json(label, line)
            yield kind, parse_reference(label, data.pop("id", None)), PackFile(label, data)


def _file_entries(names: list[str], read: Callable[[str], bytes], source: Path) -> Iterator[Entry]:
    """Yield the recipes and tags of the outermost pack."""
    # A game jar contains further packs, which are off by default.
    layout = _DATA_PACK if any(map(_DATA_PACK.fullmatch, names)) else _PLAIN
    matches = [match for match in map(layout.fullmatch, sorted(names)) if match]
    outermost = min((match["above"].count("/") for match in matches), default=0)
    for match in matches:
        if match["above"].count("/") == outermost:
            parts = match.groupdict()
            label = f"{source}/{match.string}"
            id = parse_reference(label, f"{parts.get('namespace', 'minecraft')}:{parts['name']}")
            yield "recipe" if parts["recipe"] else "tag", id, PackFile(label, _parse_json(label, read(match.string)))


def _unzip(archive: zipfile.ZipFile, name: str, source: Path) -> bytes:
    # Checked before reading: a small archive can unpack to gigabytes.
    if archive.getinfo(name).file_size > MAX_FILE_BYTES:
        raise RecipeError(f"{source}/{name}", f"larger than {MAX_FILE_BYTES} bytes")
    return archive.read(name)


def _parse_json(file: str, raw: bytes) -> dict[str, Any]:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise RecipeError(file, f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise RecipeError(file, f"expected a JSON object, got {type(data).__name__}")
    return data
