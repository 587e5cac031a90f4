"""Reading packs: every layout gives the same book, and what cannot be read is named."""

from __future__ import annotations

import hashlib
import json
import random
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from tests.recipes.packs import shapeless, write_json, write_pack
from textcraft_gym.recipes import RecipeBook, RecipeError
from textcraft_gym.recipes.pack import (
    BUNDLED,
    MAX_FILE_BYTES,
    MAX_PACK_BYTES,
    Pack,
    PackFile,
    read_pack,
    write_bundle,
)

BUNDLE_FILES = ("recipes.jsonl", "tags.jsonl")


def contents(pack: Pack) -> list[list[tuple[str, object]]]:
    """Return what a pack says, wherever it was read from, with its order."""
    return [[(id, entry.data) for id, entry in part.items()] for part in (pack.recipes, pack.tags)]


def facts(book: RecipeBook) -> tuple[object, ...]:
    return tuple(book.recipes.items()), book.members, book.names, book.base_items


# Layouts: the folder of the recipes, the folder of the tags.
LAYOUTS = {
    "data pack": ("data/minecraft/recipes", "data/minecraft/tags/items"),
    "data pack of 1.21": ("data/minecraft/recipe", "data/minecraft/tags/item"),
    "data pack in a folder": (
        "my pack/data/minecraft/recipes",
        "my pack/data/minecraft/tags/items",
    ),
    "plain": ("recipes", "tags"),
    "plain with items": ("recipes", "tags/items"),
    "wheel": ("plancraft/environment/recipes", "plancraft/environment/tags"),
}
IN_A_JAR = {
    "net/minecraft/server/MinecraftServer.class": b"\xca\xfe\xba\xbe\xff\xfe",
    "META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n",
    "pack.mcmeta": b"{}",
    "assets/minecraft/models/item/stick.json": b"[]",
    "data/minecraft/advancements/recipes/x.json": b"[]",
    "data/minecraft/advancements/recipes/misc/stick.json": b"not even JSON",
    "data/minecraft/loot_tables/blocks/recipes.json": b"not even JSON",
    "data/minecraft/tags/blocks/planks.json": b"not even JSON",
    "data/minecraft/recipes/stick.json.bak": b"not even JSON",
    "old-data/minecraft/recipes/stick.json": b"not even JSON",
    "recipes/x.json": b"not even JSON",
}


def files(layout: str) -> dict[str, bytes]:
    """Return the bundled pack as the files of a layout."""
    pack = read_pack()
    return {
        f"{folder}/{id.removeprefix('minecraft:')}.json": json.dumps(entry.data).encode()
        for folder, part in zip(LAYOUTS[layout], (pack.recipes, pack.tags), strict=True)
        for id, entry in part.items()
    }


def write_zip(file: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
    return file


def write_folder(folder: Path, members: Mapping[str, bytes]) -> Path:
    for name, raw in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    return folder


@pytest.mark.parametrize("layout", LAYOUTS)
def test_read_pack__reads_a_folder_like_the_bundle(layout: str, tmp_path: Path) -> None:
    assert contents(read_pack(write_folder(tmp_path, files(layout)))) == contents(read_pack())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_read_pack__reads_a_zip_like_the_bundle(layout: str, tmp_path: Path) -> None:
    assert contents(read_pack(write_zip(tmp_path / "pack.zip", files(layout)))) == contents(
        read_pack()
    )


def test_read_pack__reads_only_recipes_and_item_tags_of_a_game_jar(tmp_path: Path) -> None:
    jar = write_zip(tmp_path / "1.16.5.jar", IN_A_JAR | files("data pack"))
    assert contents(read_pack(jar)) == contents(read_pack())


def test_load__gives_the_same_book_from_anywhere(tmp_path: Path, book: RecipeBook) -> None:
    jar = write_zip(tmp_path / "1.16.5.jar", IN_A_JAR | files("data pack of 1.21"))
    folder = write_folder(tmp_path / "folder", files("plain"))
    for place in (jar, str(jar), folder, BUNDLED):
        assert facts(RecipeBook.load(place, tags=book.tags)) == facts(book)


def newer(entry: object) -> object:
    """Spell an ingredient as Minecraft does since 1.21.2."""
    if isinstance(entry, list):
        return [newer(item) for item in entry]
    assert isinstance(entry, dict)
    return entry["item"] if "item" in entry else "#" + entry["tag"]


def test_load__reads_the_newer_spelling_of_everything(tmp_path: Path, book: RecipeBook) -> None:
    pack = read_pack()
    respelled = {}
    for id, (file, data) in pack.recipes.items():
        data = dict(data)
        if data["type"] in ("minecraft:crafting_shaped", "minecraft:crafting_shapeless"):
            if "key" in data:
                data["key"] = {symbol: newer(entry) for symbol, entry in data["key"].items()}
            else:
                data["ingredients"] = newer(data["ingredients"])
            data["result"] = {"id": data["result"]["item"], "count": data["result"].get("count", 1)}
        respelled[id] = PackFile(file, data)
    write_bundle(pack._replace(recipes=respelled), tmp_path)
    assert "#minecraft:planks" in (tmp_path / "recipes.jsonl").read_text()
    assert facts(RecipeBook.load(tmp_path, tags=book.tags)) == facts(book)


def test_read_pack__does_not_mind_the_order_of_files(tmp_path: Path) -> None:
    members = list(files("data pack").items())
    random.Random(1).shuffle(members)
    shuffled = read_pack(write_zip(tmp_path / "pack.zip", dict(members)))
    assert contents(shuffled) == contents(read_pack())


def test_read_pack__does_not_mind_the_order_of_lines(tmp_path: Path) -> None:
    for name in BUNDLE_FILES:
        lines = (BUNDLED / name).read_bytes().splitlines(keepends=True)
        random.Random(1).shuffle(lines)
        (tmp_path / name).write_bytes(b"".join(lines))
    assert contents(read_pack(tmp_path)) == contents(read_pack())


def test_read_pack__keeps_namespaces_and_subfolders_apart(tmp_path: Path) -> None:
    for name in (
        "data/minecraft/recipes/a.json",
        "data/mod/recipes/a.json",
        "data/mod/recipes/deep/a.json",
    ):
        write_json(tmp_path / name, shapeless("a", "b"))
    assert list(read_pack(tmp_path).recipes) == ["minecraft:a", "mod:a", "mod:deep/a"]


def test_write_bundle__gives_the_committed_bytes(tmp_path: Path) -> None:
    write_bundle(
        read_pack(write_zip(tmp_path / "pack.zip", files("wheel"))), tmp_path / "deep" / "bundle"
    )
    for name in BUNDLE_FILES:
        assert (tmp_path / "deep" / "bundle" / name).read_bytes() == (BUNDLED / name).read_bytes()


@pytest.mark.parametrize("name", BUNDLE_FILES)
def test_bundle__has_the_digest_that_its_source_states(name: str) -> None:
    source = (BUNDLED / "SOURCE.md").read_text(encoding="utf-8")
    stated = re.search(rf"SHA-256 of `{re.escape(name)}` \| `([0-9a-f]{{64}})`", source)
    assert stated
    assert hashlib.sha256((BUNDLED / name).read_bytes()).hexdigest() == stated[1]


RECIPE = json.dumps(shapeless("a", "b")).encode()
BAD_JSON = {
    "no JSON": (b"{'type': 1}", "not JSON"),
    "cut off": (RECIPE[:-5], "not JSON"),
    "empty": (b"", "not JSON"),
    "a list": (b"[1]", "expected a JSON object, got list"),
    "null": (b"null", "expected a JSON object, got NoneType"),
    "a text": (b'"a"', "expected a JSON object, got str"),
    "deeply nested": (b"[" * 200_000 + b"]" * 200_000, "not JSON"),
    "nested": (b'{"values": ' + b"[" * 64 + b"]" * 64 + b"}", "nested more than 64 deep"),
    "a number of 5000 digits": (b'{"values": [' + b"9" * 5000 + b"]}", "not JSON"),
    "not UTF-8": (b'{"type": "\xff\xfe"}', "not JSON"),
}


@pytest.mark.parametrize(("raw", "reason"), BAD_JSON.values(), ids=BAD_JSON)
@pytest.mark.parametrize("name", ["recipes/bad.json", "tags/bad.json"])
def test_read_pack__skips_a_file_that_is_not_a_json_object(
    raw: bytes, reason: str, name: str, tmp_path: Path
) -> None:
    members = {"recipes/a.json": RECIPE, name: raw}
    for place in (
        write_folder(tmp_path / "pack", members),
        write_zip(tmp_path / "pack.zip", members),
    ):
        pack = read_pack(place)
        assert list(pack.recipes) == ["minecraft:a"]
        (skipped,) = map(str, pack.skipped)
        assert skipped.startswith(f"{place}/{name}: {reason}")
        with pytest.warns(UserWarning, match=f"^skipped {re.escape(skipped)}$"):
            RecipeBook.load(place)


def bundle(folder: Path, recipes: Iterable[bytes], tags: Iterable[bytes] = ()) -> Path:
    for name, lines in zip(BUNDLE_FILES, (recipes, tags), strict=True):
        (folder / name).write_bytes(b"".join(line + b"\n" for line in lines))
    return folder


BAD_LINES = {
    "no JSON": (b"{", "not JSON"),
    "blank": (b"", "not JSON"),
    "not UTF-8": (b'{"id": "\xff"}', "not JSON"),
    "a list": (b"[]", "expected a JSON object"),
    "no id": (b"{}", "expected an id"),
    "id is no text": (b'{"id": 1}', "expected an id"),
    "the same id": (
        b'{"id": "minecraft:a", "values": []}',
        "duplicate (recipe|tag) minecraft:a: also in .*:1",
    ),
}


@pytest.mark.parametrize(("line", "reason"), BAD_LINES.values(), ids=BAD_LINES)
def test_read_pack__skips_a_line_of_a_bundle(line: bytes, reason: str, tmp_path: Path) -> None:
    good = b'{"id": "minecraft:a", "values": ["b"], ' + RECIPE[1:]
    lines = [good, line]
    skipped = [
        *read_pack(bundle(tmp_path, lines)).skipped,
        *read_pack(bundle(tmp_path, [good], lines)).skipped,
    ]
    for error, name in zip(skipped, BUNDLE_FILES, strict=True):
        assert re.match(f"{re.escape(str(tmp_path))}/{name}:2: .*{reason}", str(error))


def not_there(folder: Path) -> Path:
    return folder / "nowhere"


def no_archive(folder: Path) -> Path:
    (folder / "pack.zip").write_bytes(b"PK, but no zip")
    return folder / "pack.zip"


def truncated_zip(folder: Path) -> Path:
    file = write_zip(folder / "pack.zip", {"recipes/a.json": RECIPE})
    file.write_bytes(file.read_bytes()[:-30])
    return file


def damaged_zip(folder: Path) -> Path:
    file = write_zip(folder / "pack.zip", {"recipes/a.json": RECIPE})
    file.write_bytes(file.read_bytes().replace(b"crafting", b"drafting"))
    return file


def large_member(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "pack.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("recipes/a.json", RECIPE + b" " * MAX_FILE_BYTES)
    return folder / "pack.zip"


def empty_folder(folder: Path) -> Path:
    return folder


def zip_without_recipes(folder: Path) -> Path:
    return write_zip(
        folder / "pack.zip", {"tags/a.json": b'{"values": ["b"]}', "advancements/x.json": b"{}"}
    )


def empty_bundle(folder: Path) -> Path:
    return bundle(folder, [])


def half_a_bundle(folder: Path) -> Path:
    (bundle(folder, [b'{"id": "a"}']) / "tags.jsonl").unlink()
    return folder


def only_smelting(folder: Path) -> Path:
    return write_pack(folder, {"a": {"type": "minecraft:smelting"}})


@pytest.mark.parametrize(
    ("make", "file", "reason"),
    [
        (not_there, "/nowhere", "no such file or folder"),
        (no_archive, "/pack.zip", "expected a folder, a zip or a game jar"),
        (truncated_zip, "/pack.zip", "expected a folder, a zip or a game jar"),
        (damaged_zip, "/pack.zip", "no recipe can be read: "),
        (large_member, "/pack.zip", "no recipe can be read: "),
        (empty_folder, "", "no recipes here"),
        (zip_without_recipes, "/pack.zip", "no recipes here"),
        (empty_bundle, "", "no recipes here"),
        (half_a_bundle, "/tags.jsonl", "no such file"),
        (only_smelting, "", "no recipe for a crafting table"),
    ],
)
def test_load__names_the_place_and_the_reason(
    make: Callable[[Path], Path], file: str, reason: str, tmp_path: Path
) -> None:
    place = make(tmp_path)
    with pytest.raises(RecipeError) as raised:
        RecipeBook.load(place)
    assert str(raised.value).startswith(f"{tmp_path}{file}: {reason}")


def skipped(place: Path) -> list[str]:
    return [str(error).removeprefix(f"{place}/") for error in read_pack(place).skipped]


def test_read_pack__takes_a_member_of_exactly_the_largest_size(tmp_path: Path) -> None:
    padded = RECIPE + b" " * (MAX_FILE_BYTES - len(RECIPE))
    members = {"recipes/a.json": padded, "recipes/b.json": padded + b" "}
    for place in (
        write_zip(tmp_path / "pack.zip", members),
        write_folder(tmp_path / "pack", members),
    ):
        assert list(read_pack(place).recipes) == ["minecraft:a"]
        assert skipped(place) == [f"recipes/b.json: larger than {MAX_FILE_BYTES} bytes"]


def test_read_pack__refuses_what_is_too_large_together_before_it_is_all_read(
    tmp_path: Path,
) -> None:
    """65 MiB that pack into 65 kB."""
    place = tmp_path / "pack.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(65):
            archive.writestr(
                f"recipes/a{number}.json", RECIPE + b" " * (MAX_FILE_BYTES - len(RECIPE))
            )
        archive.writestr("assets/huge.json", b" " * MAX_FILE_BYTES)
    assert place.stat().st_size < 1 << 18
    with pytest.raises(
        RecipeError,
        match=f"pack.zip: recipes and tags are larger than {MAX_PACK_BYTES} bytes in total",
    ):
        read_pack(place)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_read_pack__reads_no_more_than_an_archive_states(method: int, tmp_path: Path) -> None:
    """A member of 200 MB whose header states 100 bytes is damaged, and takes no memory."""
    raw = (
        RECIPE + b" " * 200_000_000 if method == zipfile.ZIP_DEFLATED else RECIPE + b" " * 2_000_000
    )
    place = tmp_path / "pack.zip"
    with zipfile.ZipFile(place, "w", method, compresslevel=1) as archive:
        archive.writestr("recipes/good.json", RECIPE)
        archive.writestr("recipes/liar.json", raw)
    place.write_bytes(
        place.read_bytes().replace(struct.pack("<I", len(raw)), struct.pack("<I", 100))
    )
    del raw
    tracemalloc.start()
    lines = skipped(place)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    assert len(lines) == 1
    assert lines[0].startswith("recipes/liar.json: damaged or locked: ")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_read_pack__skips_what_is_packed_by_a_method_without_a_bound(
    method: int, tmp_path: Path
) -> None:
    place = write_zip(tmp_path / "pack.zip", {"recipes/a.json": RECIPE})
    with zipfile.ZipFile(place, "a", method) as archive:
        archive.writestr("recipes/b.json", RECIPE)
    assert skipped(place) == ["recipes/b.json: damaged or locked: unsupported compression method"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_read_pack__keeps_the_first_of_a_recipe_that_stands_there_twice(tmp_path: Path) -> None:
    """By name and then by place: of both spellings of a folder it is the newer one."""
    place = tmp_path / "pack.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for name in ("data/m/recipes/a.json", "data/m/recipe/a.json", "data/m/recipe/a.json"):
            archive.writestr(name, RECIPE)
    pack = read_pack(place)
    assert pack.recipes["m:a"].file == f"{place}/data/m/recipe/a.json"
    twice = f"duplicate recipe m:a: also in {place}/data/m/recipe/a.json"
    assert skipped(place) == [f"data/m/recipe/a.json: {twice}", f"data/m/recipes/a.json: {twice}"]


def test_read_pack__writes_and_reads_nothing_outside_of_an_archive(tmp_path: Path) -> None:
    """Names that climb out of their folder are no more than names."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "secret.json").write_bytes(RECIPE)
    (tmp_path / "inside").mkdir()
    names = [
        "data/../../recipes/secret.json",
        "data/m/recipes/../../../x.json",
        "/data/m/recipes/a.json",
        "data/m/recipes/B C.json",
    ]
    place = write_zip(
        tmp_path / "inside" / "pack.zip",
        {"data/m/recipes/a.json": RECIPE} | dict.fromkeys(names, b"1"),
    )
    before = sorted(tmp_path.rglob("*"))
    pack = read_pack(place)
    write_bundle(pack, tmp_path / "bundle")
    assert list(pack.recipes) == ["m:a"]
    assert sorted(tmp_path.rglob("*")) == sorted(
        [*before, *(tmp_path / "bundle" / name for name in ("", *BUNDLE_FILES))]
    )


def test_read_pack__reads_the_jar_inside_the_jar_of_a_server(tmp_path: Path) -> None:
    inner = write_zip(
        tmp_path / "inner.jar", IN_A_JAR | {"data/minecraft/recipe/a.json": RECIPE}
    ).read_bytes()
    outer = write_zip(
        tmp_path / "server.jar",
        {"META-INF/versions/1.21/server-1.21.jar": inner, "META-INF/x.json": b"{}"},
    )
    assert list(read_pack(outer).recipes) == ["minecraft:a"]
    nested = write_zip(
        tmp_path / "nested.jar", {"META-INF/versions/1.21/server-1.21.jar": outer.read_bytes()}
    )
    with pytest.raises(
        RecipeError, match=r"nested.jar/META-INF/versions/1.21/server-1.21.jar: no recipes here"
    ):
        read_pack(nested)
    broken = write_zip(
        tmp_path / "broken.jar", {"META-INF/versions/1.21/server-1.21.jar": inner[:-9]}
    )
    with pytest.raises(RecipeError, match=r"server-1\.21\.jar: damaged archive"):
        read_pack(broken)


def test_read_pack__leaves_the_packs_inside_a_jar_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "game.jar", "w") as archive:
        archive.writestr("data/minecraft/recipes/a.json", RECIPE)
        archive.writestr("data/minecraft/datapacks/next/data/minecraft/recipes/a.json", RECIPE)
        archive.writestr("data/minecraft/datapacks/next/data/minecraft/recipes/b.json", RECIPE)
    assert list(read_pack(tmp_path / "game.jar").recipes) == ["minecraft:a"]


def test_read_pack__passes_over_a_folder_named_like_a_file(tmp_path: Path) -> None:
    (tmp_path / "recipes" / "folder.json").mkdir(parents=True)
    (tmp_path / "recipes" / "a.json").write_bytes(RECIPE)
    assert list(read_pack(tmp_path).recipes) == ["minecraft:a"]


def test_write_bundle__keeps_the_id_of_the_file(tmp_path: Path) -> None:
    write_bundle(Pack("here", {"minecraft:a": PackFile("a.json", {"id": "other"})}, {}), tmp_path)
    assert list(read_pack(tmp_path).recipes) == ["minecraft:a"]


def test_read_pack__never_raises_another_error_for_a_damaged_zip(tmp_path: Path) -> None:
    whole = write_zip(
        tmp_path / "whole.zip", {f"recipes/{name}.json": RECIPE for name in "abcdefgh"}
    ).read_bytes()
    damaged = tmp_path / "damaged.zip"
    refused = skipping = 0
    for bit in range(0, 8 * len(whole), 7):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(flipped)
        try:
            skipping += bool(read_pack(damaged).skipped)
        except RecipeError:
            refused += 1
    assert refused > 20
    assert skipping > 100
