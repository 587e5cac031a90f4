"""What can be shown of Windows without it: line ends, names of files, drive letters, and what its
Python lacks."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym
from tests.envs.alfworld.test_problem import MADE, known_logic
from tests.envs.hotpotqa.wiki.test_official import LISTS
from tests.envs.webshop import folder as shop
from textcraft_gym import RunSpec, evaluate
from textcraft_gym.agents import prompts
from textcraft_gym.agents.models.spec import recorded_spec
from textcraft_gym.agents.models.weights import find_files as find_model_files
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.alfworld.export import export_game
from textcraft_gym.envs.alfworld.problem import read_game
from textcraft_gym.envs.hotpotqa.wiki.official import read_corpus
from textcraft_gym.envs.webshop.files import find_files, read_shop
from textcraft_gym.plugins import key_values, split_fields
from textcraft_gym.recipes.pack import BUNDLED
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.runs.sweep import grid, sweep
from textcraft_gym.verify.recheck import verify
from textcraft_gym.wrappers import TranscriptRecorder

ROOT = Path(__file__).parents[1]
MARKS = (b"", b"\xef\xbb\xbf")
PACKAGES = ("textcraft_gym", "wrappers", "recipes", "agents")
MODULES = sorted({file.resolve() for folder in PACKAGES for file in (ROOT / folder).rglob("*.py")})
REFUSED = re.compile(
    r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE
)
POSIX_MODULES = {
    "crypt",
    "fcntl",
    "grp",
    "posix",
    "pty",
    "pwd",
    "resource",
    "syslog",
    "termios",
    "tty",
}
POSIX_NAMES = {
    "os": {
        "fork",
        "getuid",
        "geteuid",
        "killpg",
        "register_at_fork",
        "setsid",
        "sched_getaffinity",
        "mkfifo",
    },
    "signal": {"SIGKILL", "SIGHUP", "SIGALRM", "alarm", "pthread_sigmask", "setitimer"},
}


def refused(folder: Path) -> list[str]:
    """Return the names below a folder that Windows refuses, or takes for the same as another."""
    names = [
        path.relative_to(folder) for path in folder.rglob("*") if "__pycache__" not in path.parts
    ]
    folded = [str(name).casefold() for name in names]
    return [
        str(name)
        for name in names
        if any(map(REFUSED.search, name.parts)) or folded.count(str(name).casefold()) > 1
    ]


def calls(module: Path) -> Iterator[ast.Call]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def with_crlf(file: Path, mark: bytes = b"") -> None:
    """Write a file as a Windows editor does, which may begin it with a byte-order mark."""
    file.write_bytes(mark + file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


# Source


@pytest.mark.parametrize("folder", [*PACKAGES, "tests", "docs", "examples", "benchmarks"])
def test_source__has_no_name_that_windows_refuses(folder):
    assert refused(ROOT / folder) == []


def test_source__names_the_encoding_of_every_text_and_the_line_end_of_every_one_that_it_writes():
    wrong = []
    for module in MODULES:
        for call in calls(module):
            name = (
                call.func.attr
                if isinstance(call.func, ast.Attribute)
                else getattr(call.func, "id", "")
            )
            named = {keyword.arg for keyword in call.keywords}
            texts = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
            mode = next(
                (
                    text
                    for text in texts
                    if isinstance(text, str) and re.fullmatch(r"[rwaxbt+]{1,3}", text)
                ),
                "r",
            )
            opens = name == "open" and "b" not in mode and _opens(call)
            reads = opens or (name == "read_text" and not call.args)
            writes = name == "write_text" or (opens and set(mode) & set("wax"))
            needed = {"encoding", "newline"} if writes else {"encoding"} if reads else set()
            if needed - named:
                wrong.append(f"{module.relative_to(ROOT)}:{call.lineno}")
    assert wrong == []


def _opens(call: ast.Call) -> bool:
    """Return whether this opens a file: a function, or a method that is given nothing but a
    mode."""
    constants = all(isinstance(argument, ast.Constant) for argument in call.args)
    return isinstance(call.func, ast.Name) or constants


def test_source__uses_what_windows_lacks_only_where_it_asks_for_it():
    wrong = []
    for module in MODULES:
        text = module.read_text(encoding="utf-8")
        tree = ast.parse(text)
        tried = {
            node for block in ast.walk(tree) if isinstance(block, ast.Try) for node in block.body
        }
        for node in ast.walk(tree):
            if node in tried:
                continue
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                imported = [node.module or ""]
            wrong += [f"{module.name}: {name}" for name in imported if name in POSIX_MODULES]
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                lacking = node.attr in POSIX_NAMES.get(node.value.id, ())
                if lacking and f'hasattr({node.value.id}, "{node.attr}")' not in text:
                    wrong.append(f"{module.name}: {node.value.id}.{node.attr}")
    assert wrong == []


WITHOUT = """
import os, signal, sys
for module in ("fcntl", "grp", "pwd", "resource", "termios", "tty"):
    sys.modules[module] = None
import asyncio, multiprocessing, random, subprocess
import gymnasium
lacking = {os: ("register_at_fork", "getuid", "sched_getaffinity"), signal: ("pthread_sigmask", "alarm")}
for module, names in lacking.items():
    for name in names:
        delattr(module, name)
from textcraft_gym import RunSpec, evaluate
import textcraft_gym.cli.commands.evaluate, textcraft_gym.runs.backends.process
import textcraft_gym.agents.models.llama_server
records = evaluate(RunSpec("TextCraft-v0", "test", "expert", model=None, limit=2), "run")
print(*(record["won"] for record in records))
"""


def test_python__that_lacks_what_windows_lacks_plays(tmp_path: Path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WITHOUT]
    played = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert played.stdout == "True True\n", played.stderr


@pytest.mark.parametrize(
    "command",
    [("envs",), ("agents",), ("tasks", "WebShopLite-v0", "--split", "test"), ("report", "run")],
)
def test_output__can_be_sent_to_a_file_in_the_code_page_of_windows(command, tmp_path: Path):
    if "run" in command:
        evaluate(RunSpec("TextCraft-v0", "test", "expert", model=None, limit=2), tmp_path / "run")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "cp1252:strict",
        "PYTHONUTF8": "0",
    }
    program = [sys.executable, "-m", "textcraft_gym", *command]
    printed = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True)
    assert printed.returncode == 0, printed.stderr.decode(errors="replace")[-2000:]
    assert printed.stdout


# Line ends


def test_splits__with_the_line_ends_of_windows_are_the_same(tmp_path: Path):
    file = tmp_path / "my.jsonl"
    made = textcraft_gym.make_splits(out=file)
    with_crlf(file, b"\xef\xbb\xbf")
    for name, ids in made.splits.items():
        assert [task.id for task in textcraft_gym.tasks("TextCraft-v0", f"{file}:{name}")] == list(
            ids
        )


def test_recipes__with_the_line_ends_of_windows_are_the_same(tmp_path: Path):
    for name in ("recipes.jsonl", "tags.jsonl"):
        shutil.copy(BUNDLED / name, tmp_path / name)
        with_crlf(tmp_path / name)
    for seed in range(5):
        own = gym.make("TextCraft-v0", recipes=tmp_path).reset(seed=seed)
        assert own == gym.make("TextCraft-v0").reset(seed=seed)


def test_household__with_the_line_ends_of_windows_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = export_game(MADE, "task/trial", tmp_path, [], known_logic(tmp_path, monkeypatch))
    with_crlf(file)
    assert read_game(file) == MADE


@pytest.mark.parametrize("mark", MARKS, ids=["plain", "mark"])
def test_shop__with_the_line_ends_of_windows_is_the_same(tmp_path: Path, mark):
    contents = (
        json.dumps(content, indent=1) for content in (shop.ENTRIES, shop.ATTRIBUTES, shop.HUMAN)
    )
    files = find_files(shop.write(tmp_path, *contents), "human")
    read = list(read_shop(files, 0, lambda read, size: None))
    for file in tmp_path.iterdir():
        with_crlf(file, mark)
    assert list(read_shop(files, 0, lambda read, size: None)) == read
    assert len(read) == len(shop.ENTRIES)


@pytest.mark.parametrize("mark", MARKS, ids=["plain", "mark"])
def test_wiki__with_the_line_ends_of_windows_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark
):
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "hotpot_dev_distractor_v1.json"
    file.write_text(json.dumps([LISTS], indent=1), encoding="utf-8")
    corpus = read_corpus(file)
    with_crlf(file, mark)
    again = read_corpus(file)
    assert [*again.splits["dev"]] == [*corpus.splits["dev"]] != []
    assert [again.wiki.page(title) for title in again.wiki] == [
        corpus.wiki.page(title) for title in corpus.wiki
    ]


@pytest.mark.parametrize("mark", MARKS, ids=["plain", "mark"])
def test_prompts__with_the_line_ends_of_windows_are_the_same(tmp_path: Path, mark):
    for file in Path(prompts.__file__).parent.glob("react/*.txt"):
        (tmp_path / "react").mkdir(exist_ok=True)
        own = shutil.copy(file, tmp_path / "react" / file.name)
        with_crlf(Path(own), mark)
        for dialect in (None, "0.3", "reflexion"):
            expected = Prompts(None, dialect).of("react", file.stem)
            assert Prompts(tmp_path, dialect).of("react", file.stem) == expected


def test_run__with_the_line_ends_of_windows_resumes_and_verifies(tmp_path: Path):
    spec = RunSpec("TextCraft-v0", "test", "react", model="tests.doubles:Crafter,reach=2", limit=3)
    records = evaluate(spec, tmp_path / "run")
    config = read_config(tmp_path / "run")
    for file in (tmp_path / "run").iterdir():
        with_crlf(file)
    assert (list(read_records(tmp_path / "run")), read_config(tmp_path / "run")) == (
        records,
        config,
    )
    played: list[Any] = []
    assert evaluate(spec, tmp_path / "run", on_episode=played.append) == records
    assert played == []
    assert verify(tmp_path / "run").identical


# Names


def test_run__writes_no_name_that_windows_refuses(tmp_path: Path):
    spec = RunSpec("TextCraft-v0", "test", limit=1, cassette=tmp_path / "tape")
    sweep(
        spec,
        grid(["react", "adapt"], models=["tests.doubles:Crafter,reach=3,slip=0.1"], d_max=[2]),
        tmp_path / "sweep",
    )
    assert len(list(tmp_path.rglob("episodes.jsonl"))) == 2
    assert refused(tmp_path) == []


def test_drive_letters__are_no_part_of_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    file = r"C:\games\my.jsonl"  # on other systems a name like any other
    made = textcraft_gym.make_splits(out=file)
    assert [task.id for task in textcraft_gym.tasks("TextCraft-v0", f"{file}:dev")] == list(
        made.splits["dev"]
    )
    assert (
        split_fields(r"TranscriptRecorder,path=C:\new\t.jsonl,style=sharegpt")[1]
        == r"path=C:\new\t.jsonl"
    )
    assert key_values([r"recipes=C:\new\data", "n=2"]) == {"recipes": r"C:\new\data", "n": 2}


@pytest.mark.parametrize("form", ["local:{},threads=2", "local:file={}", "local:{},adapter={}"])
def test_drive_letters__are_part_of_a_model_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form
):
    monkeypatch.chdir(tmp_path)
    file = Path(r"C:\models\new.gguf")
    file.write_bytes(b"GGUF")
    spec = form.format(file, file)
    digest = find_model_files(str(file), str(file) if "adapter" in form else None).digest
    assert recorded_spec(spec) == f"{spec},digest={digest}"


def test_recorder__ends_a_line_with_one_character_on_every_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    flags: list[int] = []
    real: Callable[..., int] = os.open

    def opened(path: Any, flag: int, *mode: Any, **options: Any) -> int:
        flags.append(flag)
        return real(path, flag & ~(1 << 30), *mode, **options)

    monkeypatch.setattr(os, "O_BINARY", 1 << 30, raising=False)
    monkeypatch.setattr(os, "open", opened)
    env = TranscriptRecorder(gym.make("TextCraft-v0"), tmp_path / "t.jsonl")
    env.reset(seed=0)
    env.step("inventory")
    env.close()
    assert flags
    assert all(flag & 1 << 30 for flag in flags)
