"""The core plays without any package of an extra, and what needs one says which."""

from __future__ import annotations

import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.registration import BUNDLED

ROOT = Path(__file__).parents[1]
NEEDS = {"WebShopLite-v0": "webshop", "HotpotQA-v0": "hotpotqa"}
"""The worlds that need an extra."""
MODULES = {"PyStemmer": "Stemmer", "xllamacpp": "xllamacpp"}
"""Modules whose names are not those of their packages."""
CORE = ("filelock", "gymnasium", "numpy")

BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""
PLAY = """
import textcraft_gym
from textcraft_gym import RunSpec, evaluate
(record,) = evaluate(RunSpec(sys.argv[1], None, "expert", model=None, limit=1), sys.argv[2])
print(record["won"])
"""
MAKE = """
import gymnasium as gym, textcraft_gym
try:
    gym.make(sys.argv[1])
except ImportError as error:
    print(error)
"""
COMMAND = "from textcraft_gym.cli.main import main; main()"
VERSION = """
import sys
from textcraft_gym.cli.main import main
try:
    main()
finally:
    print(*sys.modules)
"""


def extras() -> dict[str, list[str]]:
    """Return the requirements of each extra, without their versions."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    return {
        name: re.findall(r"^([\w-]+(?:\[[\w,]+\])?)", lines, re.MULTILINE)
        for name, lines in setup["options.extras_require"].items()
    }


def modules(requirements: list[str]) -> set[str]:
    packages = {name for name in requirements if not name.startswith("textcraft-gym")}
    return {MODULES.get(name, name.replace("-", "_")) for name in packages}


OPTIONAL = modules(
    [requirement for requirements in extras().values() for requirement in requirements]
)


def without(blocked: set[str], code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code where no module of a name can be imported."""
    command = [sys.executable, "-c", BLOCK.format(blocked=blocked) + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def message(package: str, extra: str) -> str:
    hint = f"pip install '.[{extra}]' in a clone of textcraft_gym"
    return f"this needs the package {package}: {hint}\n"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run."""
    folder = tmp_path_factory.mktemp("played") / "run"
    evaluate(RunSpec("TextCraft-v0", None, "expert", model=None, limit=1), folder)
    return folder


def test_core__requires_three_packages():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    required = setup["options"]["install_requires"].split()
    assert tuple(name.partition(">")[0] for name in required) == CORE


def test_all__has_the_worlds_and_the_commands():
    (gathered,) = extras()["all"]
    named = set(gathered.partition("[")[2].rstrip("]").split(","))
    assert named == {"cli", "report", "openai", "shop", "view", *NEEDS.values()}
    assert named <= set(extras())


@pytest.mark.parametrize("env", [env for env in BUNDLED if env not in NEEDS])
def test_world__is_played_without_any_extra(env: str, tmp_path: Path):
    played = without(OPTIONAL, PLAY, env, str(tmp_path / "run"))
    assert played.stdout == "True\n", played.stderr


@pytest.mark.parametrize(("env", "extra"), NEEDS.items())
def test_world__says_which_extra_it_needs(env: str, extra: str):
    made = without(OPTIONAL, MAKE, env)
    assert made.stdout == message("Stemmer", extra), made.stderr


def test_webshop__needs_the_measure_of_its_reward():
    assert without({"rapidfuzz"}, MAKE, "WebShopLite-v0").stdout == message("rapidfuzz", "webshop")


@pytest.mark.parametrize(
    ("blocked", "arguments", "package", "extra"),
    [
        ("typer", [], "typer", "cli"),
        ("typer", ["--version"], "typer", "cli"),
        ("Stemmer", ["tasks", "WebShopLite-v0"], "Stemmer", "webshop"),
        ("Stemmer", ["papers"], "Stemmer", "webshop"),
        ("jinja2", ["report", "RUN", "--out", "page.html"], "jinja2", "report"),
        ("jinja2", ["reproduce", "adapt/table2", "--out", "OUT"], "jinja2", "report"),
        ("flask", ["shop"], "flask", "shop"),
        ("flask", ["view", "RUN"], "flask", "view"),
        ("jinja2", ["view", "RUN", "--bundle", "OUT"], "jinja2", "report"),
    ],
)
def test_command__says_which_extra_it_needs(
    blocked: str, arguments: list[str], package: str, extra: str, played: Path, tmp_path: Path
):
    paths = {"RUN": str(played), "OUT": str(tmp_path / "out")}
    said = without({blocked}, COMMAND, *(paths.get(word, word) for word in arguments))
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == f"textcraft-gym: {message(package, extra)}"


@pytest.mark.parametrize(
    ("blocked", "model", "package", "extra"),
    [("aiohttp", "openai:NAME", "aiohttp", "openai"), ("jinja2", "local", "jinja2", "local")],
)
def test_model__says_which_extra_it_needs(blocked: str, model: str, package: str, extra: str):
    said = without({blocked}, COMMAND, "models", "check", model)
    assert (said.returncode, said.stderr) == (2, "")
    expected = f"It cannot be used: {model}: {message(package, extra)}"
    assert said.stdout.split() == expected.split()


@pytest.mark.parametrize(
    ("code", "package", "extra"),
    [
        ("import textcraft_gym.integrations.agentgym.app", "pydantic", "serve"),
        ("import textcraft_gym.integrations.inspect_ai", "inspect_ai", "inspect"),
        ("import textcraft_gym.integrations.mcp", "mcp", "mcp"),
        ("import textcraft_gym.integrations.openenv", "fastapi", "openenv"),
        ("import textcraft_gym.integrations.stable_baselines3", "stable_baselines3", "rl"),
        ("import textcraft_gym.integrations.verifiers", "openai", "verifiers"),
        (
            "from textcraft_gym.integrations.trl import dataset; dataset('TextCraft-v0', 'dev')",
            "datasets",
            "trl",
        ),
    ],
)
def test_integration__says_which_extra_it_needs(code: str, package: str, extra: str):
    caught = f"try: {code}\nexcept ImportError as error: print(error)"
    said = without({package}, caught)
    assert said.stdout == message(package, extra), said.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["envs"], ["agents"]])
def test_command_line__needs_its_own_extra_only(arguments: list[str]):
    rich = {"typer", "rich", "prompt_toolkit"}
    shown = without(OPTIONAL - rich, COMMAND, *arguments)
    assert (shown.returncode, shown.stderr) == (0, "")


def test_version__imports_no_command():
    shown = subprocess.run(
        [sys.executable, "-c", VERSION, "--version"], capture_output=True, text=True, check=True
    )
    version, imported = shown.stdout.splitlines()
    assert version.startswith("textcraft-gym ")
    heavy = OPTIONAL - {"typer"} | {
        f"textcraft_gym.{room}"
        for room in ("cli.commands", "cli.tables", "envs", "episodes", "papers", "recipes", "reports", "runs")
    }  # fmt: skip
    assert not heavy & set(imported.split())
