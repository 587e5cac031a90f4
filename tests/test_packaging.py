"""The package as users get it: built, installed into a new virtual environment, and used from
elsewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("textcraft_gym", "wrappers", "recipes", "agents")
FILES = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")
EPISODE = """
import gymnasium as gym, textcraft_gym, textcraft_gym.agents, textcraft_gym.recipes, textcraft_gym.wrappers
from textcraft_gym.agents.baselines.expert import ExpertAgent
env = gym.make("TextCraft-v0", split="test", expert=True)
episode = textcraft_gym.run_episode(env, ExpertAgent(), task="minecraft:beehive", seed=0)
for module in (textcraft_gym, textcraft_gym.agents, textcraft_gym.recipes, textcraft_gym.wrappers):
    print(module.__file__)
print(episode.won, episode.steps)
"""
SCRIPT = """
import gymnasium as gym
import textcraft_gym
from textcraft_gym.agents.baselines.expert import ExpertAgent
from textcraft_gym.wrappers import TextHistory

env = TextHistory(gym.make("TextCraft-v0", expert=True), turns=3)
episode = textcraft_gym.run_episode(env, ExpertAgent(), seed=0)
wrong: str = episode.steps
"""


def run(*command: str | Path, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    result = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_adapters__take_at_most_12_mb_together():
    adapters = [*(ROOT / "agents" / "models" / "adapters").glob("*.gguf")]
    assert adapters
    assert sum(file.stat().st_size for file in adapters) <= 12e6


def copy_sources(to: Path) -> Path:
    """Copy what a build needs: builds leave folders behind, and tests run in parallel."""
    for folder in FOLDERS:
        shutil.copytree(
            ROOT / folder, to / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    for file in FILES:
        shutil.copy(ROOT / file, to / file)
    return to


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_sources(tmp_path_factory.mktemp("sources"))
    offline = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *offline,
        "--wheel-dir",
        folder / "dist",
        folder,
        cwd=folder,
    )
    (built,) = (folder / "dist").glob("*.whl")
    return built


def test_sdist__has_what_a_wheel_has_and_no_tests(wheel: Path, tmp_path: Path):
    folder = copy_sources(tmp_path / "sources")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text("")
    build = "from setuptools import build_meta; build_meta.build_sdist('dist')"
    run(sys.executable, "-c", build, cwd=folder)
    (built,) = (folder / "dist").glob("*.tar.gz")
    with tarfile.open(built) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    assert not [name for name in packed if name.startswith("tests")]
    installed = [
        name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("textcraft_gym/")
    ]
    moved = re.compile(r"textcraft_gym/(?=(agents|recipes|wrappers)/)")
    assert {moved.sub("", name) for name in installed} <= packed


@pytest.fixture
def new_environment(tmp_path: Path) -> Path:
    """The Python of a virtual environment that has our dependencies but not the package itself.

    A plain path in a .pth file lends the packages that the tests run with; an editable install
    among these is not followed, because files of that kind count in an environment's own folder
    only.
    """
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env", cwd=tmp_path)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    folder = run(
        python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])", cwd=tmp_path
    ).strip()
    (Path(folder) / "lent.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    code = "import gymnasium, textcraft_gym"
    missing = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "No module named 'textcraft_gym'" in missing.stderr
    return python


@pytest.mark.parametrize("editable", [False, True], ids=["wheel", "editable"])
def test_install__plays_an_episode_from_another_folder(
    request: pytest.FixtureRequest, new_environment: Path, tmp_path: Path, editable: bool
):
    source = copy_sources(tmp_path / "checkout") if editable else request.getfixturevalue("wheel")
    what = ["--editable", source] if editable else [source]
    pip = (sys.executable, "-m", "pip", "--python", new_environment)
    how = ("--no-deps", "--no-build-isolation", "--no-index", "--no-compile")
    run(*pip, "install", *how, *what, cwd=tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    *files, played = run(new_environment, "-c", EPISODE, cwd=elsewhere).splitlines()
    home = tmp_path / ("checkout" if editable else "env")
    assert all(Path(file).is_relative_to(home) for file in files), files
    assert played == "True 5"
    command = new_environment.with_name("textcraft-gym")
    assert "beehive" in run(command, "recipes", "show", "minecraft:beehive", cwd=elsewhere)


def test_wheel__holds_its_import_roots_its_data_and_nothing_else(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    roots = {"textcraft_gym", "textcraft_gym_verifiers", wheel.name.split("-py3")[0] + ".dist-info"}
    assert {name.split("/")[0] for name in names} == roots
    integrations = (
        "textcraft_gym/integrations/"  # by the name of a module of its own verifiers finds it
    )
    files = {
        f"{'' if folder == 'textcraft_gym' else 'textcraft_gym/'}{file.relative_to(ROOT).as_posix()}".replace(
            f"{integrations}textcraft_gym_verifiers/", "textcraft_gym_verifiers/"
        )
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert files == {name for name in names if ".dist-info/" not in name}
    assert len(files) > len([file for file in files if file.endswith(".py")]) + 8


@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "notebooks").glob("*.py")), ids=lambda notebook: notebook.stem
)
def test_notebooks__import_only_what_a_wheel_has(notebook: Path, wheel: Path):
    """They run after a plain installation: nothing of the checkout is beside the package."""
    text = notebook.read_text(encoding="utf-8")
    assert "sys.path" not in text
    names = {name.removesuffix(".py") for name in zipfile.ZipFile(wheel).namelist()}
    beside = {
        file.stem for folder in ("benchmarks", "examples") for file in (ROOT / folder).glob("*.py")
    }
    for module in re.findall(r"(?m)^(?:from|import) ([\w.]+)", text):
        assert module not in beside
        if module.startswith("textcraft_gym."):
            file = module.replace(".", "/")
            assert {file, f"{file}/__init__"} & names, module


def test_imports__point_one_way(tmp_path: Path):
    checkout = copy_sources(tmp_path)
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert linter, "import-linter is not installed"

    def lint() -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        return subprocess.run(
            [linter, "--no-cache"], cwd=checkout, env=environment, capture_output=True, text=True
        )

    assert lint().returncode == 0, lint().stdout
    with (checkout / "agents" / "baselines" / "random_agent.py").open("a") as file:
        file.write("\nfrom textcraft_gym.envs.textcraft import rules\n")
    assert "Agents see text only BROKEN" in lint().stdout


@pytest.mark.slow
def test_types__are_checked_in_every_folder(tmp_path: Path):
    checkout = copy_sources(tmp_path)

    def check() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mypy", "--package", "textcraft_gym"]
        return subprocess.run(command, cwd=checkout, capture_output=True, text=True)

    assert check().returncode == 0, check().stdout
    for folder in ("agents", "recipes", "wrappers", "textcraft_gym/envs/textcraft"):
        with (checkout / folder / "__init__.py").open("a") as file:
            file.write("\nplanted: int = 'a string'\n")
    output = check().stdout
    assert output.count('has type "str", variable has type "int"') == 4, output


def pyright(*arguments: str | Path, cwd: Path) -> list[dict[str, Any]]:
    """Return Pyright's diagnostics."""
    program = shutil.which("pyright")
    if not program:
        pytest.skip("needs the program pyright on the PATH: npm install --global pyright")
    command = [program, "--pythonpath", sys.executable, "--outputjson", *map(str, arguments)]
    output = subprocess.run(command, cwd=cwd, capture_output=True, text=True).stdout
    diagnostics: list[dict[str, Any]] = json.loads(output)["generalDiagnostics"]
    return diagnostics


@pytest.mark.slow
def test_pyright__resolves_every_import_of_ours_in_the_checkout():
    unresolved = [
        diagnostic["message"]
        for diagnostic in pyright(cwd=ROOT)
        if diagnostic.get("rule") == "reportMissingImports"
    ]
    local = {
        file.stem for folder in ("benchmarks", "examples") for file in (ROOT / folder).glob("*.py")
    }
    modules = {message.split('"')[1].partition(".")[0] for message in unresolved}
    assert not modules & {"textcraft_gym", "tests", *local}, unresolved


def test_pyright__knows_the_types_in_a_script_outside_the_checkout(tmp_path: Path):
    (tmp_path / "script.py").write_text(SCRIPT)
    assert [
        diagnostic["message"].splitlines()[0] for diagnostic in pyright("script.py", cwd=tmp_path)
    ] == ['Type "int" is not assignable to declared type "str"']
