"""The same bytes whatever the hash seed, the order of files and the order of play; and the same as
ever."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from textcraft_gym import recipes

PLAYER = Path(__file__).parent / "play_everything.py"
GOLDEN = {
    # A new digest of episodes is a new version of the environment; one of plans need not be:
    # shortest plans may tie.
    "TextCraft-v0": {
        "episodes": "494dbb3ae17c572d416263b5ce41eb82273ce8c9a1ef1a0130f9c0dd902da386",
        "plans": "79386640a1b5385f6d4dd0e099ebfcafc390bb83516abc7ffed812d459c78270",
    },
    "TextCraftTags-v0": {
        "episodes": "3c1878d22c56c74d01a9bf6c3601edc1bc292448aa3d04f810867f9ffa00a9ed",
        "plans": "e7257d511da260b64c28b46f1d4eac6d66cf85aadc0abeca5507c1bd43c9482f",
    },
    "WebShopLite-v0": {
        "episodes": "4530cb29927af1d133cd421a8cd25fa2af7750d706a1a51e0bf4167eeab14bdd",
        "plans": "a83cf87bd515b69e13b68528706ce3b0898d846ba95457bc6c49b0596f031015",
    },
}


def write_shuffled_pack(file: Path, seed: int) -> None:
    """The bundled recipes as a data pack, its files in some other order."""
    folder = Path(recipes.__file__).parent / "data"
    files: list[tuple[str, str]] = []
    for name, place in (("recipes.jsonl", "recipes"), ("tags.jsonl", "tags/items")):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            namespace, _, path = data.pop("id").partition(":")
            files.append((f"data/{namespace}/{place}/{path}.json", json.dumps(data)))
    random.Random(seed).shuffle(files)
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in files:
            archive.writestr(path, text)


@pytest.mark.parametrize(
    ("hash_seed", "order"),
    [(4242, "reverse"), pytest.param(0, "forward", marks=pytest.mark.slow)],
)
def test_all_tasks__read_alike_in_any_process_and_order(hash_seed, order, tmp_path):
    pack = tmp_path / "pack.zip"
    write_shuffled_pack(pack, hash_seed)
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    run = subprocess.run(
        [sys.executable, str(PLAYER), str(pack), order],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    printed = [line.split() for line in run.stdout.splitlines()]
    assert [env_id for env_id, _, _ in printed] == list(GOLDEN)
    for env_id, episodes, plans in printed:
        assert {"episodes": episodes, "plans": plans} == GOLDEN[env_id]
