"""Every command that reads a run, on runs that were changed at random: a line says what is wrong,
and no traceback."""

from __future__ import annotations

import json
import random
import shutil
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.cli.app import app
from textcraft_gym.cli.shop.recording import read_run, replayed
from textcraft_gym.cli.shop.session import Storefront
from textcraft_gym.errors import TextCraftGymError

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1 << 62, 1 << 70, 0.5, -1e308, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "\x1b[2J",
    "a|b\nc", "[bold]", "/dev/zero", "9" * 5000, [], [[]], [None], [[None, None]], {}, {"": {}}, {"executor": -5},
)  # fmt: skip
"""Values of every type, at their bounds, and of forms that something might obey."""

SPECS = {
    "crafting": RunSpec(
        "TextCraft-v0",
        "dev",
        "adapt",
        limit=3,
        repeats=2,
        temperature=0.5,
        model="tests.doubles:Crafter,reach=2",
    ),
    "shop": RunSpec(
        "WebShopLite-v0",
        "dev",
        "lats",
        limit=2,
        model="tests.doubles:Recorded,tape=shop",
        max_steps=20,
    ),
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a run, which is not to be changed."""
    folders = {name: tmp_path_factory.mktemp("runs") / name for name in SPECS}
    for name, spec in SPECS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluate(spec, folders[name])
    return folders.__getitem__


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return each container within a JSON value with each of its keys or indices."""
    keys = (
        list(value)
        if isinstance(value, dict)
        else list(range(len(value)))
        if isinstance(value, list)
        else []
    )
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


def changed(rng: random.Random, text: str) -> str:
    """Return a JSON text with a value changed, removed or added, or bytes that are damaged."""
    kind = rng.randrange(8)
    try:
        value = json.loads(text)
    except ValueError:  # damaged already
        value = None
    if kind == 0 or not value or not isinstance(value, dict):
        start = rng.randrange(len(text) + 1)
        return (
            text[:start]
            + rng.choice(["", "\0", "\n", "}", '"', "\xff", text])
            + text[start + rng.randrange(9) :]
        )
    if kind == 1:
        return json.dumps(rng.choice(ODD))
    top = [(value, key) for key in value]
    container, key = rng.choice(top if kind < 5 else places(value))
    if kind == 2:
        del container[key]
    elif kind == 3 and isinstance(container, dict):
        container[rng.choice(["spent_before", "", "\x1b"])] = rng.choice(ODD)
    else:
        container[key] = rng.choice(ODD)
    return json.dumps(value)


def damage(rng: random.Random, folder: Path) -> None:
    """Change one thing in a run folder."""
    name = rng.choice(["episodes.jsonl"] * 5 + ["config.json"] * 3 + ["summary.json", "report.md"])
    lines = (folder / name).read_text(encoding="utf-8").splitlines(keepends=True)
    if name == "config.json":
        lines = [changed(rng, "".join(lines))]
    else:
        number = rng.randrange(len(lines))
        lines[number] = (
            changed(rng, lines[number]) + "\n"
            if name == "episodes.jsonl"
            else rng.choice(["", "\0\n", "[]"])
        )
    (folder / name).write_text(
        "".join(lines), encoding="utf-8", errors="surrogatepass", newline="\n"
    )


def commands(run: Path, whole: Path, name: str) -> list[list[str]]:
    page, dialogues = str(run / "page.html"), str(run / "dialogues.jsonl")
    spec = SPECS[name]
    again = [
        "--env",
        spec.env,
        "--split",
        "dev",
        "--agent",
        str(spec.agent),
        "--model",
        str(spec.model),
        "--limit",
    ]
    return [
        ["report", str(run)],
        ["report", "--json", str(run), str(whole)],
        ["report", str(run), str(whole), "--out", page],
        ["compare", str(run), str(whole)],
        ["compare", str(whole), str(run), "--errors", "count", "--json"],
        ["export", str(run), "--out", dialogues],
        ["verify", str(run), "--json"],
        ["evaluate", *again, str(spec.limit), "--out", str(run), "--dry-run"],
        ["evaluate", *again, str(spec.limit), "--out", str(run)],
    ]


def try_all(folder: Path, whole: Path, name: str, front: Storefront) -> None:
    """Give the run to each command, and to the shop."""
    for command in commands(folder, whole, name):
        try:
            result = CliRunner().invoke(app, command, catch_exceptions=False)
        except UnicodeEncodeError:
            raise
        except (
            TextCraftGymError,
            ModelError,
            OSError,
            ValueError,
        ):  # of which main() makes one line, and status 2
            continue
        else:
            assert result.exit_code in (0, 1, 2), command
            assert not any(character in result.output for character in "\x1b\0"), command
    with suppress(TextCraftGymError):
        for record in read_run(folder).records:
            replayed(front, record)


def try_damaged(seed: int, played: Callable[[str], Path], tmp_path: Path) -> None:
    rng = random.Random(seed)
    name = rng.choice(list(SPECS))
    folder = Path(shutil.copytree(played(name), tmp_path / str(seed)))
    for _ in range(rng.choice([1, 1, 2])):
        damage(rng, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try_all(folder, played(name), name, Storefront.open("dev", {}))
    shutil.rmtree(folder)


@pytest.mark.parametrize("seed", range(12))
def test_commands__say_in_a_line_what_is_wrong_with_a_run(played, tmp_path, seed):
    try_damaged(seed, played, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(25))
def test_commands__say_what_is_wrong_with_2500_runs(played, tmp_path, hundred):
    for seed in range(100):
        try_damaged(1000 + 100 * hundred + seed, played, tmp_path)
