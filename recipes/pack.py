"""Sources of recipes: a data-pack folder, a zip, a game jar, or the bundle of the package.

A data pack keeps ``data/<namespace>/recipes/<name>.json`` and
``data/<namespace>/tags/items/<name>.json`` (``recipe`` and ``tags/item`` since Minecraft 1.21). A
folder or an archive with plain ``recipes/`` and ``tags/`` is read too. The bundle is one folder
with ``recipes.jsonl`` and ``tags.jsonl``: a line for each file of the pack, the same JSON with its
``id`` in front. A file that cannot be read is skipped and noted in the pack. Nothing is unpacked to
disk, and sizes are bounded, since a small archive can unpack to gigabytes.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from textcraft_gym.recipes.recipe import RecipeError, parse_reference
from textcraft_gym.storage.cache import atomic_write

BUNDLED = Path(__file__).parent / "data"
BUNDLE = ("recipes.jsonl", "tags.jsonl")
"""The files of a bundle."""
MAX_FILE_BYTES = 1 << 20
MAX_PACK_BYTES = 1 << 26
"""Size of all recipes and tags together."""
MAX_INNER_JAR_BYTES = 1 << 27
MAX_NESTING = 64
MAX_ENTRIES = 100_000
"""Number of files and folders in a folder that is searched for recipes."""

_DATA_PACK = re.compile(
    r"(?P<above>(?:[^/]+/)*?)data/(?P<namespace>[^/]+)/"
    r"(?:(?P<recipe>recipes?)|(?P<tag>tags/items?))/(?P<name>.+)\.json"
)
_PLAIN = re.compile(
    r"(?P<above>(?:[^/]+/)*?)"
    r"(?:(?P<recipe>recipes)|(?P<tag>tags(?:/items?)?))/(?P<name>[^/]+)\.json"
)
# Since Minecraft 1.18 the jar of the server holds the game's own jar.
_INNER_JAR = re.compile(r"META-INF/versions/[^/]+/server-[^/]+\.jar")
_NO_RECIPES = "no recipes here: expected data/<namespace>/recipes/*.json or recipes/*.json"
# Game packs use no other methods, and of these the output is bounded by what the archive states.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    OSError,
    ValueError,
)
MOST_LISTED = 10
"""Number of things that a message names; others it counts."""

Kind = Literal["recipe", "tag"]


class PackFile(NamedTuple):
    """One JSON object of a pack and its file, which error messages name."""

    file: str
    data: dict[str, Any]


class Pack(NamedTuple):
    """The recipes and item tags of one version of the game, by id, in the order of their ids.

    Attributes:
        origin: The place that it was read from.
        recipes: Every recipe, not only those for a crafting table.
        tags: The item tags.
        skipped: What could not be read, and why.
    """

    origin: str
    recipes: dict[str, PackFile]
    tags: dict[str, PackFile]
    skipped: tuple[RecipeError, ...] = ()


def read_pack(path: str | Path | None = None) -> Pack:
    """Read every recipe and item tag at ``path``, by default the bundled ones of Minecraft 1.16.5.

    Raises:
        RecipeError: If there is nothing that can be read, or all recipes and tags together are too
            large.
    """
    source = BUNDLED if path is None else Path(path)
    if (source / BUNDLE[0]).is_file():
        return _assemble(source, _lines(source))
    if source.is_dir():
        return _assemble(source, _pack_files(source, _folder_files(source)))
    if not source.is_file():
        raise RecipeError.at(str(source), "no such file or folder")
    if not zipfile.is_zipfile(source):
        raise RecipeError.at(str(source), "expected a folder, a zip or a game jar")
    with source.open("rb") as file:
        return _read_archive(source, file)


def write_bundle(pack: Pack, folder: str | Path) -> None:
    """Write ``pack`` as ``recipes.jsonl`` and ``tags.jsonl``; equal facts give equal bytes."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, entries in zip(BUNDLE, (pack.recipes, pack.tags), strict=True):
        rows = ({"id": id} | entry.data | {"id": id} for id, entry in entries.items())
        lines = [json.dumps(row, separators=(",", ":")) + "\n" for row in rows]
        atomic_write(target / name, "".join(lines))


def listed(things: Sequence[object], separator: str = "; ") -> str:
    """Return the first few things in words, and the number of the others."""
    parts = [str(thing) for thing in things[:MOST_LISTED]]
    more = len(things) - MOST_LISTED
    if more > 0:
        parts.append(f"and {more} more")
    return separator.join(parts)


class _File(NamedTuple):
    """A file of a folder or an archive, which is not read yet."""

    name: str
    size: int
    read: Callable[[], bytes]


class _Entry(NamedTuple):
    """A file or line of a pack that is not read yet; ``id`` is None if the JSON contains it."""

    kind: Kind
    file: str
    id: str | None
    size: int
    read: Callable[[], bytes]


def _read_archive(
    source: Path,
    file: IO[bytes],
    *,
    inner: bool = False,
) -> Pack:
    try:
        archive = zipfile.ZipFile(file)
    except _ZIP_ERRORS as error:
        raise RecipeError.at(str(source), f"damaged archive: {error}") from error

    with archive:
        files = [
            _File(info.filename, info.file_size, partial(_unzip, archive, info))
            for info in archive.infolist()
        ]
        entries = list(_pack_files(source, files))
        jars = [file for file in files if _INNER_JAR.fullmatch(file.name)]
        # Only a jar without recipes is a server's; and one inside it is not opened again.
        if entries or inner or len(jars) != 1:
            return _assemble(source, entries)
        (jar,) = jars
        if jar.size > MAX_INNER_JAR_BYTES:
            raise RecipeError.at(
                str(source),
                f"{jar.name} is larger than {MAX_INNER_JAR_BYTES} bytes",
            )
        content = BytesIO(_read(f"{source}/{jar.name}", jar.read))
        return _read_archive(source / jar.name, content, inner=True)


def _unzip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.compress_type not in _METHODS:
        raise zipfile.BadZipFile("unsupported compression method")
    with archive.open(info) as member:
        # Never more than the stated size, even if there is more: then the checksum is wrong.
        return member.read(info.file_size)


def _folder_files(folder: Path) -> list[_File]:
    # One more than allowed, so that a huge folder is not walked to its end.
    paths = list(islice(folder.rglob("*"), MAX_ENTRIES + 1))
    if len(paths) > MAX_ENTRIES:
        raise RecipeError.at(
            str(folder),
            f"more than {MAX_ENTRIES} files and folders: name the data pack's folder",
        )
    files = []
    for path in sorted(paths):
        if path.suffix == ".json" and path.is_file():
            name = path.relative_to(folder).as_posix()
            files.append(_File(name, path.stat().st_size, path.read_bytes))
    return files


def _pack_files(source: Path, files: Sequence[_File]) -> Iterator[_Entry]:
    """Yield the recipes and tags of the outermost pack, in the order of their names."""
    matches = _matches(_DATA_PACK, files) or _matches(_PLAIN, files)
    # A game jar contains further packs, which are off by default.
    outermost = min((match["above"].count("/") for _, match in matches), default=0)
    for file, match in matches:
        if match["above"].count("/") == outermost:
            parts = match.groupdict()
            id = f"{parts.get('namespace', 'minecraft')}:{parts['name']}"
            kind: Kind = "recipe" if parts["recipe"] else "tag"
            yield _Entry(kind, f"{source}/{file.name}", id, file.size, file.read)


def _matches(layout: re.Pattern[str], files: Sequence[_File]) -> list[tuple[_File, re.Match[str]]]:
    """Return the files whose names fit the layout, in the order of their names."""
    matches = []
    for file in sorted(files, key=lambda file: file.name):
        match = layout.fullmatch(file.name)
        if match:
            matches.append((file, match))
    return matches


def _lines(source: Path) -> Iterator[_Entry]:
    kinds: tuple[Kind, ...] = ("recipe", "tag")
    for kind, name in zip(kinds, BUNDLE, strict=True):
        file = source / name
        if not file.is_file():
            raise RecipeError.at(
                str(file),
                "no such file: a bundle has recipes.jsonl and tags.jsonl",
            )
        if file.stat().st_size > MAX_PACK_BYTES:
            raise RecipeError.at(str(file), f"larger than {MAX_PACK_BYTES} bytes")
        for line_number, line in enumerate(file.read_bytes().splitlines(), 1):
            yield _Entry(kind, f"{file}:{line_number}", None, len(line), partial(bytes, line))


def _assemble(source: Path, entries: Iterable[_Entry]) -> Pack:
    files: dict[Kind, dict[str, PackFile]] = {"recipe": {}, "tag": {}}
    skipped: list[RecipeError] = []
    total = 0
    for entry in entries:
        try:
            # The stated size is the most that is read, so that the sum is bounded before anything
            # large is in memory.
            if entry.size > MAX_FILE_BYTES:
                raise RecipeError.at(entry.file, f"larger than {MAX_FILE_BYTES} bytes")
            total += entry.size
            if total > MAX_PACK_BYTES:
                break
            id, file = _parse(entry)
            earlier = files[entry.kind].get(id)
            if earlier:
                reason = f"duplicate {entry.kind} {id}: also in {earlier.file}"
                raise RecipeError.at(entry.file, reason)
            files[entry.kind][id] = file
        except RecipeError as error:
            skipped.append(error)

    if total > MAX_PACK_BYTES:
        raise RecipeError.at(
            str(source),
            f"recipes and tags are larger than {MAX_PACK_BYTES} bytes in total",
        )
    if not files["recipe"]:
        reason = _NO_RECIPES
        if skipped:
            reason = f"no recipe can be read: {listed(skipped)}"
        raise RecipeError.at(str(source), reason)
    recipes = dict(sorted(files["recipe"].items()))
    tags = dict(sorted(files["tag"].items()))
    return Pack(str(source), recipes, tags, tuple(skipped))


def _parse(entry: _Entry) -> tuple[str, PackFile]:
    """Return the id and the content of an entry."""
    # A name that is no id is refused before anything is read.
    id = None if entry.id is None else parse_reference(entry.file, entry.id, tags=False)
    data = _parse_json(entry.file, _read(entry.file, entry.read))
    if id is None:
        id = parse_reference(entry.file, data.pop("id", None), tags=False)
    if entry.kind == "tag" and not isinstance(data.get("values"), list):
        raise RecipeError.at(entry.file, "a tag needs a list of values")
    return id, PackFile(entry.file, data)


def _read(file: str, read: Callable[[], bytes]) -> bytes:
    try:
        return read()
    except _ZIP_ERRORS as error:
        raise RecipeError.at(file, f"damaged or locked: {error}") from error


def _parse_json(file: str, raw: bytes) -> dict[str, Any]:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise RecipeError.at(file, f"not JSON: {error}") from error

    if not isinstance(data, dict):
        raise RecipeError.at(file, f"expected a JSON object, got {type(data).__name__}")
    level: list[Any] = [data]
    for _ in range(MAX_NESTING):
        level = [part for value in level for part in _parts(value)]
    if level:
        raise RecipeError.at(file, f"nested more than {MAX_NESTING} deep")
    return data


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list):
        return value
    return ()
